"""One tree of errors; every one of them is a sentence for the person who reads the terminal.

    GitopsError
    ├── InvalidInput          what git declares is wrong: violations with file, line, object and rule
    ├── SourceError           the commit cannot be read: no repository, unknown revision, git failed
    ├── Refused               we could, and must not: wrong garden, another tool's object, deletion budget
    │   ├── LeaseHeld         another run is at work on the overlay
    │   ├── LeaseLost         another run may be at work by now, so that ours writes nothing any more
    │   ├── Suspended         somebody asked for nothing to be written now
    │   └── Untrusted         the commit does not carry the signature that is required
    ├── CredentialsError      no usable kubeconfig or shoot credential
    └── ApiError              a request to an API server failed
        ├── Absent            404: the object, or its kind, is not there
        ├── Forbidden         401, 403: we may not know whether it is there
        ├── Conflict          409: it changed since we read it, or another field manager owns the field
        ├── Rejected          400, 422 and the like: the server understood and says no
        ├── Throttled         429: not now
        └── Unreachable       no answer: connection, TLS, timeout, 5xx

Absent, forbidden and unreachable are three different things, and no code turns one into another.
"""

from __future__ import annotations

from dataclasses import dataclass


class GitopsError(Exception):
    """What can go wrong and is ours to explain; anything else is a bug and shows its traceback.

    Attributes:
        revision: the commit that was being read when it came up, 40 hex digits; empty where none was.
    """

    revision: str = ""


@dataclass(frozen=True, order=True)
class Violation:
    """One broken rule in what git declares."""

    file: str
    """Path inside the repository; empty when the rule is about the whole."""
    line: int
    """1-based; 0 when no line can be named."""
    object: str
    """The object it concerns, such as `Shoot garden-local/local`; empty when there is none."""
    rule: str
    """The rule's stable name in kebab case, for scripts and searching."""
    message: str
    """What is wrong and what to do about it."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        parts = [part for part in (place, self.object, f"{self.message} [{self.rule}]") if part]
        return ": ".join(parts)


class InvalidInput(GitopsError):  # noqa: N818 - reads as what it is, like its siblings
    """What git declares breaks rules; all that were found are told at once.

    Attributes:
        violations: at least one, in the order of file and line.
    """

    def __init__(self, violations: list[Violation]) -> None:
        self.violations = sorted(violations)
        super().__init__("\n".join(str(violation) for violation in self.violations))


class SourceError(GitopsError):
    """The commit, or something in it, cannot be read."""


class Refused(GitopsError):  # noqa: N818
    """We could, and must not."""


class LeaseHeld(Refused):
    """Another run is at work on the overlay, and this one has waited for it as long as it may."""


class LeaseLost(Refused):
    """Another run may be at work on the overlay by now, so that this one must not write any more."""


class Suspended(Refused):
    """Somebody asked for nothing to be written now.

    Attributes:
        shoot: the only one it is about, `<namespace>/<name>`; None when it is the whole overlay.
    """

    def __init__(self, message: str, *, shoot: str | None) -> None:
        self.shoot = shoot
        super().__init__(message)


class Untrusted(Refused):
    """The commit, or the tag that names it, does not carry the signature that is required.

    Attributes:
        rule: which rule it breaks, in kebab case, for scripts and searching.
        signer: a principal or fingerprint as far as it is known; empty when nobody signed.
    """

    def __init__(self, message: str, *, rule: str, signer: str = "") -> None:
        self.rule = rule
        self.signer = signer
        super().__init__(f"{message} [{rule}]")


class CredentialsError(GitopsError):
    """There is no credential that could be used; never holds the credential itself."""


class ApiError(GitopsError):
    """A request to an API server failed.

    Attributes:
        status: the HTTP status; 0 when there was no answer.
        reason: the `reason` of the server's Status object, such as `Invalid`; may be empty.
        request: method and path, without query and without host.
        causes: `(field, message)` pairs of the server's Status, as the server wrote them.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        reason: str = "",
        request: str = "",
        causes: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.status = status
        self.reason = reason
        self.request = request
        self.causes = causes
        super().__init__(f"{request}: {message}" if request else message)


class Absent(ApiError):  # noqa: N818
    """404: the object is not there, or the server does not know its kind."""


class Forbidden(ApiError):  # noqa: N818
    """401 or 403: we are not allowed to, so we do not know."""


class Conflict(ApiError):  # noqa: N818
    """409: the object changed since it was read, or another field manager owns what we apply."""


class Rejected(ApiError):  # noqa: N818
    """The server read the request and says no: schema, admission, immutable fields."""


class Throttled(ApiError):  # noqa: N818
    """429: the server asks us to come back.

    Attributes:
        retry_after: seconds, as the server asked; None when it did not say.
    """

    def __init__(self, message: str, *, retry_after: float | None = None, request: str = "") -> None:
        self.retry_after = retry_after
        super().__init__(message, status=429, reason="TooManyRequests", request=request)


class Unreachable(ApiError):  # noqa: N818
    """No answer that could be used: connection refused, TLS failure, timeout, or a 5xx."""


def told(error: Exception) -> GitopsError:
    """What others are told of an error that a run or a look met; the text of a bug is for the log."""
    if isinstance(error, GitopsError):
        return error
    return GitopsError(f"{type(error).__name__}: this is a bug, and its traceback is in the log")
