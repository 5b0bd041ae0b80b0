"""The certificate of a server that runs for years: whoever connects after it was renewed sees the new one."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger(__name__)


class Renewable:
    """Looks at its files in each handshake. What cannot be used leaves the certificate that was there before."""

    def __init__(self, certificate: Path, key: Path | None) -> None:
        """Nothing is read yet.

        Args:
            certificate: PEM.
            key: PEM; None where it stands in the certificate's file.
        """
        self._files = tuple(filter(None, (certificate, key)))
        self._shown = certificate

    def context(self, make: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
        """A context whose handshakes use the newest certificate.

        Args:
            make: a context with the certificate as it is in the files now; raises OSError where it cannot.

        Raises:
            OSError: the files cannot be read or used.
        """
        read = self._state()
        listening = newest = make()

        def renew(connection: ssl.SSLObject | ssl.SSLSocket, _: str | None, __: ssl.SSLContext) -> None:
            nonlocal read, newest
            found = self._state()
            if found != read:
                read = found
                try:
                    newest = make()
                    log.info("the certificate in %s was renewed", self._shown)
                except OSError as error:
                    log.warning("the certificate in %s cannot be used, the one before stays: %s", self._shown, error)
            connection.context = newest

        listening.sni_callback = renew  # called in every handshake, whether or not the client names the server
        return listening

    def _state(self) -> object:
        """What differs as soon as a file is another one; each may be written at a time of its own."""
        try:
            facts = [file.stat() for file in self._files]
        except OSError as error:
            return type(error)
        return [(fact.st_dev, fact.st_ino, fact.st_mtime_ns, fact.st_size) for fact in facts]
