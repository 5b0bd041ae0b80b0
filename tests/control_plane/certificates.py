"""The certificates of a control plane: authorities, serving and client certificates, all in memory until written."""

from __future__ import annotations

import base64
import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

SERVING_NAMES = ("localhost", "kubernetes", "kubernetes.default.svc", "gardener-apiserver.kube-system.svc")
_LIFETIME = dt.timedelta(days=30)
_SKEW = dt.timedelta(hours=1)


@dataclass(frozen=True)
class Pair:
    """A certificate and its private key."""

    key: rsa.RSAPrivateKey
    certificate: x509.Certificate

    @property
    def certificate_pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    @property
    def key_pem(self) -> str:
        """PKCS#1, the only form that gardener-apiserver reads from `<shoot>.ca-client`."""
        return key_pem(self.key)

    @property
    def certificate_base64(self) -> str:
        """As kubeconfigs and `caBundle` fields have it."""
        return base64.b64encode(self.certificate_pem.encode()).decode()

    @property
    def key_base64(self) -> str:
        return base64.b64encode(self.key_pem.encode()).decode()

    def write(self, folder: Path, name: str) -> tuple[str, str]:
        """The paths of `<name>.crt` and `<name>.key` below `folder`."""
        certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
        certificate.write_text(self.certificate_pem)
        key.write_text(self.key_pem)
        return str(certificate), str(key)


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def key_pem(key: rsa.RSAPrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    ).decode()


def authority(name: str) -> Pair:
    """A self-signed certificate authority."""
    key = new_key()
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        _builder(subject, subject, key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
    )
    return Pair(key, builder.sign(key, hashes.SHA256()))


def client(issuer: Pair, user: str, *groups: str) -> Pair:
    """A client certificate: Kubernetes reads the user from CN and the groups from O."""
    names = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    names.append(x509.NameAttribute(NameOID.COMMON_NAME, user))
    return _leaf(issuer, x509.Name(names), ExtendedKeyUsageOID.CLIENT_AUTH)


def serving(issuer: Pair) -> Pair:
    """A certificate for 127.0.0.1 and `SERVING_NAMES`."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    return _leaf(
        issuer,
        subject,
        ExtendedKeyUsageOID.SERVER_AUTH,
        x509.SubjectAlternativeName(
            [
                *(x509.DNSName(name) for name in SERVING_NAMES),
                x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
            ]
        ),
    )


def _leaf(
    issuer: Pair, subject: x509.Name, usage: x509.ObjectIdentifier, *further: x509.SubjectAlternativeName
) -> Pair:
    key = new_key()
    builder = (
        _builder(subject, issuer.certificate.subject, key)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key()), critical=False)
    )
    for extension in further:
        builder = builder.add_extension(extension, critical=False)
    return Pair(key, builder.sign(issuer.key, hashes.SHA256()))


def _builder(subject: x509.Name, issuer: x509.Name, key: rsa.RSAPrivateKey) -> x509.CertificateBuilder:
    start = dt.datetime.now(dt.UTC) - _SKEW
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + _LIFETIME)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=not signs_certificates,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )
