"""TLS contexts from bytes; a private key never touches a file."""

from __future__ import annotations

import contextlib
import os
import ssl
from collections.abc import Iterator

from gitops.errors import CredentialsError


def trust(ca: bytes | None, *, verify: bool = True) -> ssl.SSLContext:
    """A client context that trusts one CA only.

    Args:
        ca: PEM certificates; None trusts the system's, as for a shoot's `wildcard-tls-seed-bound` address.
        verify: False accepts any server, for kubeconfigs that say `insecure-skip-tls-verify`.

    Raises:
        CredentialsError: `ca` holds no certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    if ca is None:
        context.load_default_certs()
        return context
    try:
        context.load_verify_locations(cadata=ca.decode("ascii"))
    except (ssl.SSLError, ValueError):
        raise CredentialsError("certificate-authority-data holds no PEM certificate") from None
    return context


def present(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Make a context present a client certificate on connections made from now on, in place of any other.

    OpenSSL reads certificates by path only, so the path leads to anonymous memory, which is gone on return.

    Raises:
        CredentialsError: they are no PEM, do not belong together, or the key is encrypted.
    """
    with in_memory(certificate) as certificate_path, in_memory(key) as key_path:
        try:
            context.load_cert_chain(certificate_path, key_path, password=lambda: b"")
        except (ssl.SSLError, ValueError, OSError):
            raise CredentialsError(
                "the client certificate and key cannot be used: they must be PEM, belong together, and the key must "
                "not be encrypted"
            ) from None


@contextlib.contextmanager
def in_memory(content: bytes) -> Iterator[str]:
    """A path that reads as `content` inside the block, backed by anonymous memory (memfd_create(2))."""
    descriptor = os.memfd_create("shoot-gitops", os.MFD_CLOEXEC)
    try:
        os.write(descriptor, content)
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
