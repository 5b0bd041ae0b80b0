"""CA certificates as Gardener judges them (gardener pkg/utils/encoding.go, imagevector_validation.go)."""

from __future__ import annotations

import base64
import binascii
import re
from datetime import datetime

from cryptography import x509

_BLOCK = re.compile(r"-----BEGIN ([^-\n]+)-----\s(.*?)-----END \1-----", re.DOTALL)


def certificate_end(text: str) -> datetime:
    """When the first certificate of a PEM text ends, in UTC; Gardener looks at no other.

    Raises:
        ValueError: its first block is no certificate.
    """
    block = _BLOCK.search(text)
    if block is None or block[1] != "CERTIFICATE":
        raise ValueError("it must begin with a PEM block -----BEGIN CERTIFICATE-----")
    try:
        certificate = x509.load_der_x509_certificate(base64.b64decode("".join(block[2].split()), validate=True))
    except (binascii.Error, ValueError) as error:
        raise ValueError("its first PEM block holds no X.509 certificate") from error
    return certificate.not_valid_after_utc
