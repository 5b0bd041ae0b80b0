from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from gitops.gardener.image_vector.reading import Finding, read_vector
from gitops.gardener.image_vector.vector import ImageSource

NOW = datetime(2026, 6, 1, tzinfo=UTC)
KEY = ec.generate_private_key(ec.SECP256R1())


def certificate(end: datetime) -> str:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "registry")])
    built = x509.CertificateBuilder(name, name, KEY.public_key(), 1, end - timedelta(days=1), end)
    return built.sign(KEY, SHA256()).public_bytes(Encoding.PEM).decode()


def read(text: str, now: datetime | None = None) -> tuple[Finding, ...]:
    return read_vector(yaml.safe_load(text), now).findings


def test_every_field_of_an_entry_is_read() -> None:
    entry: dict[str, Any] = {
        "name": "a",
        "runtimeVersion": ">= 1.30",
        "targetVersion": "1.31.x",
        "architectures": ["amd64"],
        "repository": "r",
        "tag": "v1",
        "version": "1",
        "sourceRepository": "s",
        "labels": [],
        "resourceId": {"name": "x"},
    }
    vector = read_vector({"images": [entry, {"name": "b", "ref": "r:v2"}]})
    assert vector.findings == ()
    first = ImageSource("a", ">= 1.30", "1.31.x", ("amd64",), None, "r", "v1", "1")
    assert vector.images == (first, ImageSource("b", ref="r:v2"))


@pytest.mark.parametrize("text", ["images:\n", "images: []\n", "{}"])
def test_an_empty_vector_is_one(text: str) -> None:
    assert read(text) == ()


@pytest.mark.parametrize(
    ("entry", "at", "rule", "says"),
    [
        pytest.param("{repository: r}", ("name",), "image-name", "needs its name", id="no-name"),
        pytest.param("{name: a, tag: v2}", (), "image-incomplete", "before it merges", id="tag-only"),
        pytest.param("{name: a, ref: r, repository: r}", ("ref",), "image-twice", "leave out", id="ref-repository"),
        pytest.param("{name: a, ref: r, tag: v1}", ("ref",), "image-twice", "leave out", id="ref-tag"),
        pytest.param("{name: a, ref: ''}", ("ref",), "image-empty", "must not be empty", id="empty-ref"),
        pytest.param("{name: a, repository: r, tag: ''}", ("tag",), "image-empty", "tag must not", id="empty-tag"),
        pytest.param("{name: a, repository: ''}", ("repository",), "image-empty", "repository", id="empty-repository"),
        pytest.param(
            "{name: a, ref: r, targetVersion: new}", ("targetVersion",), "version-constraint", "'new' is", id="target"
        ),
        pytest.param(
            "{name: a, ref: r, runtimeVersion: '>'}", ("runtimeVersion",), "version-constraint", "'>' is", id="runtime"
        ),
        pytest.param(
            "{name: a, ref: r, architectures: []}", ("architectures",), "architectures-empty", "no", id="none"
        ),
        pytest.param("{name: a, ref: r, architectures: x}", ("architectures",), "wrong-type", "a list", id="arch-text"),
        pytest.param("{name: a, ref: r, architectures: [1]}", ("architectures",), "wrong-type", "a list", id="arch-1"),
        pytest.param("{name: a, repository: r, tag: 1.10}", ("tag",), "not-a-string", "quote it", id="number"),
        pytest.param("{name: a, repository: r, tag: [v1]}", ("tag",), "wrong-type", "must be text", id="list"),
        pytest.param("{name: a, repository: r, Tag: v1}", ("Tag",), "key-letters", "write 'tag'", id="letters"),
        pytest.param(
            "{name: a, ref: r, targetVersions: '1'}", ("targetVersions",), "unknown-key", "'targetVersion'?", id="key"
        ),
        pytest.param("~", (), "wrong-type", "Gardener crashes", id="null"),
    ],
)
def test_what_gardener_refuses_or_misreads_is_a_finding(entry: str, at: tuple[str, ...], rule: str, says: str) -> None:
    (found,) = read(f"images:\n- {{name: fine, ref: r}}\n- {entry}\n")
    assert (found.at, found.rule) == (("images", 1, *at), rule)
    assert says in found.message


@pytest.mark.parametrize(
    ("text", "at"),
    [
        pytest.param("[]", (), id="list"),
        pytest.param("images: {a: b}", ("images",), id="map-of-images"),
        pytest.param("caBundle: text", ("caBundle",), id="bundle-text"),
        pytest.param("caBundle: {inline: 1}", ("caBundle",), id="bundle-number"),
    ],
)
def test_a_vector_of_another_shape_is_refused(text: str, at: tuple[str, ...]) -> None:
    (found,) = read(text)
    assert (found.at, found.rule) == (at, "wrong-type")


def test_all_that_is_wrong_is_told_at_once() -> None:
    rules = [found.rule for found in read("Images: []\nimages:\n- {tag: ''}\ncaBundle: {inline: x}\n")]
    assert rules == ["key-letters", "ca-bundle", "image-name", "image-incomplete", "image-empty"]


def test_a_certificate_may_be_used_until_it_ends() -> None:
    data = {"caBundle": {"inline": "comment\n" + certificate(NOW)}}
    assert read_vector(data, NOW).findings == ()
    assert read_vector(data).findings == ()
    (found,) = read_vector(data, NOW + timedelta(seconds=1)).findings
    assert (found.rule, found.message) == ("ca-bundle", "the certificate ended on 2026-06-01")


def test_only_the_first_certificate_counts() -> None:
    bundle = certificate(NOW + timedelta(days=9)) + certificate(NOW - timedelta(days=9))
    assert read_vector({"caBundle": {"inline": bundle}}, NOW).findings == ()


@pytest.mark.parametrize(
    "bundle",
    [
        pytest.param("", id="empty"),
        pytest.param("registry.crt", id="path"),
        pytest.param(certificate(NOW).replace("\n", "", 1), id="no-line"),
        pytest.param(KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(), id="key"),
        pytest.param(certificate(NOW).replace(" CERTIFICATE", " X509 CERTIFICATE"), id="other-label"),
        pytest.param("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", id="no-certificate"),
        pytest.param("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n", id="no-base64"),
    ],
)
def test_what_is_no_certificate_is_refused(bundle: str) -> None:
    (found,) = read_vector({"caBundle": {"inline": bundle}}, NOW).findings
    assert (found.at, found.rule) == (("caBundle", "inline"), "ca-bundle")
    assert "PRIVATE" not in found.message
