import ssl
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from gitops.errors import CredentialsError
from gitops.kube.tls import in_memory, present, trust
from tests.kube.certificates import Authority


def test_content_is_readable_inside_the_block_and_gone_after_it() -> None:
    with in_memory(b"x" * 300_000) as path:
        assert Path(path).read_bytes() == b"x" * 300_000
        assert Path(path).read_bytes() == b"x" * 300_000

    assert not Path(path).exists()


def test_an_encrypted_key_is_refused_without_asking_for_its_password(authority: Authority) -> None:
    pair = authority.issue("x")
    key = serialization.load_pem_private_key(pair.key, None)
    encrypted = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"hunter2"),
    )

    with pytest.raises(CredentialsError, match="not be encrypted"):
        present(trust(None), pair.certificate, encrypted)


def test_a_key_of_another_certificate_is_refused(authority: Authority) -> None:
    with pytest.raises(CredentialsError, match="belong together"):
        present(trust(None), authority.issue("x").certificate, authority.issue("y").key)


def test_only_the_given_authority_is_trusted(authority: Authority) -> None:
    context = trust(authority.certificate)

    assert len(context.get_ca_certs()) == 1
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
