"""Secrets from files, read when they are used, so that a rotated one is taken up without a restart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gitops.errors import CredentialsError

_LONGEST = 64 * 1024


@dataclass(frozen=True)
class SecretFile:
    """A secret that lies in a file; what it holds is in no repr and no message."""

    path: Path
    what: str
    """What it is, as messages call it, such as `the forge's token`."""

    def read(self) -> str:
        """The secret without the line's end.

        Raises:
            CredentialsError: the file cannot be read, or holds no single line of text.
        """
        try:
            with self.path.open("rb") as file:
                text = file.read(_LONGEST + 1).decode().strip()
        except OSError as error:
            raise CredentialsError(f"{self.what} cannot be read from {self.path}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise CredentialsError(f"{self.what} in {self.path} is no text") from None
        if not text or len(text) > _LONGEST or not text.isprintable():
            raise CredentialsError(f"{self.path} holds no single line of text, and {self.what} is one")
        return text
