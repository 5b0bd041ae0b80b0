"""Comparisons in constant time, of every secret whichever one fits: their order in the file leaks nothing."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Sequence
from datetime import datetime, timedelta

TOLERANCE = timedelta(minutes=5)
"""How far a signed timestamp may be from now, either way: Standard Webhooks' recommendation."""
_WHSEC = "whsec_"


def hex_holds(signature: str, signed: bytes, secrets: Sequence[str]) -> bool:
    """Whether a hexadecimal HMAC-SHA256 of these bytes was made with one of the secrets."""
    given = signature.encode()
    made = [hmac.new(secret.encode(), signed, "sha256").hexdigest().encode() for secret in secrets]
    return _any_equal(given, made)


def base64_holds(signatures: str, signed: bytes, secrets: Sequence[str]) -> bool:
    """The same for a header of Standard Webhooks: `v1,<base64>` several times, with spaces between.

    A secret that begins with `whsec_` is base64 behind it, as that specification has it; any other is used as it is.
    """
    made = [
        b"v1," + base64.b64encode(hmac.new(key, signed, "sha256").digest())
        for key in (_standard_key(secret) for secret in secrets)
        if key is not None
    ]
    return any([_any_equal(given.encode(), made) for given in signatures.split(" ")[:8]])  # noqa: C419 - all of them, always


def token_holds(token: str, secrets: Sequence[str]) -> bool:
    """Whether the secret itself was sent."""
    return _any_equal(token.encode(), [secret.encode() for secret in secrets])


def is_fresh(timestamp: str, now: datetime) -> bool:
    """Whether seconds since 1970, as a decimal text, are close to now."""
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        return False
    return abs(now.timestamp() - int(timestamp)) <= TOLERANCE.total_seconds()


def _standard_key(secret: str) -> bytes | None:
    if not secret.startswith(_WHSEC):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(_WHSEC), validate=True) or None  # anybody has no key at all
    except ValueError:  # no base64, or not even ASCII
        return None


def _any_equal(given: bytes, made: Sequence[bytes]) -> bool:
    return any([hmac.compare_digest(given, one) for one in made])  # noqa: C419 - all of them, always
