from __future__ import annotations

from gitops.desired.image_vector_rule import ImageVectorRule, Registration
from gitops.desired.image_vectors import DeclaredVector
from gitops.gardener.image_vector.cases import Demand
from gitops.gardener.image_vector.check import Resolution
from gitops.gardener.image_vector.rendering import Form
from gitops.report.image_vectors import image_vectors_document, image_vectors_text
from gitops.report.style import PLAIN

RULE = ImageVectorRule("ext", Registration.CONTROLLER_DEPLOYMENT, Form.STRING, None, None, (), None, (), ("spec",))
AMD, ARM = Demand("1.35", "amd64"), Demand("1.35", "arm64")
VECTOR = DeclaredVector(
    RULE,
    {"imageVectorOverwrite": "images: []\n"},
    (
        Resolution("a", AMD, "r:v1", overwritten=True),
        Resolution("a", ARM, "r:v1", overwritten=True),
        Resolution("b", ARM, None, overwritten=False),
    ),
)


def test_machines_that_get_the_same_image_share_a_line() -> None:
    assert image_vectors_text("dev", [VECTOR], PLAIN) == (
        "EXTENSION  IMAGE  FROM       REFERENCE  MACHINES\n"
        "ext        a      overwrite  r:v1       Kubernetes 1.35 on amd64; Kubernetes 1.35 on arm64\n"
        "ext        b      built-in   none       Kubernetes 1.35 on arm64\n"
    )


def test_nothing_proven_is_said() -> None:
    assert image_vectors_text("dev", [], PLAIN) == "dev: no image vector is proven; declare `base` for each.\n"


def test_every_machine_is_in_the_document() -> None:
    (extension,) = image_vectors_document("dev", [VECTOR])["extensions"]
    assert extension["values"] == VECTOR.values
    assert extension["images"][2] == {
        "name": "b",
        "kubernetesVersion": "1.35",
        "architecture": "arm64",
        "reference": None,
        "overwritten": False,
    }
