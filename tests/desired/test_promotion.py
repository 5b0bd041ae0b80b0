"""What one overlay runs, carried over to another."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitops.desired.compose import compose
from gitops.desired.edits import Edited
from gitops.desired.overlay_file import read_overlay
from gitops.desired.promotion import Promotion, promote
from gitops.errors import InvalidInput
from tests.desired.in_memory import OVERLAY, POLICY, SHOOT, Files
from tests.desired.test_image_vectors import BASE, OVERWRITE

DEV = OVERLAY.replace("  waves:", "{more}  waves:")
PROD = """\
# Production.
apiVersion: shoot-gitops/v1alpha1
kind: Overlay
metadata: {name: prod}
spec:
    garden: {identity: prod, namespaces: [garden-dev]}   # the only namespace
    resources: [../../clusters]
    policies:
    -   path: ../../policies        # as it is
        shoots: {matchLabels: {cpu: balloons}}
{more}
    # First one, then all.
    waves:
    - {name: one, shoots: {matchLabels: {wave: canary}}, soak: 1h}
    - {name: all}
"""
PROD_FILE = "overlays/prod/overlay.yaml"


def repository(dev: str = "", prod: str = "", **files: str) -> Files:
    return Files(
        {
            "clusters/one.yaml": SHOOT,
            "policies/default.yaml": POLICY,
            "overlays/dev/overlay.yaml": DEV.replace("{more}", dev),
            PROD_FILE: PROD.replace("{more}\n", prod),
            **{name.replace("__", "/") + ".yaml": text for name, text in files.items()},
        }
    )


def promoted(files: Files | Edited) -> Promotion:
    return promote(files, read_overlay(files, "dev", {}), files, read_overlay(files, "prod", {}))


def texts(found: Promotion) -> dict[str, str]:
    return {edit.path: edit.after.decode() for edit in found.edits}


def test_overlays_that_declare_the_same_need_no_edit() -> None:
    assert promoted(repository()) == Promotion((), ())


VECTOR = """\
  imageVectors:
  - extension: nri-extension
    registration: ControllerDeployment
    form: String
    path: vector.yaml
    base: images.yaml
"""
IN_PROD = (
    VECTOR.replace("\n", "\n  ")
    .removesuffix("  ")
    .replace("  imageVectors", "    imageVectors", 1)
    .replace("ControllerDeployment", "Extension")
)
FILES = {"overlays__dev__vector": OVERWRITE, "overlays__dev__images": BASE}


def test_a_vectors_files_are_copied() -> None:
    files = repository(VECTOR, IN_PROD, **FILES, overlays__prod__vector="images: []\n", overlays__prod__images=BASE)
    found = promoted(files)
    assert texts(found) == {"overlays/prod/vector.yaml": OVERWRITE}
    assert found.summary == ("image vector nri-extension: taken over, with overlays/prod/vector.yaml",)


def test_a_vector_that_is_new_there_comes_before_the_waves_and_their_comments() -> None:
    found = promoted(repository(VECTOR, **FILES))
    assert found.summary == ("image vector nri-extension: added",)
    assert texts(found) == {
        "overlays/prod/images.yaml": BASE,
        "overlays/prod/vector.yaml": OVERWRITE,
        PROD_FILE: PROD.replace(
            "{more}\n",
            """\
    imageVectors:
    - extension: nri-extension
      registration: ControllerDeployment
      form: String
      path: vector.yaml
      base: images.yaml
""",
        ),
    }


def test_a_vector_in_the_overlay_itself_is_taken_over_with_its_layout() -> None:
    dev = VECTOR.replace(
        "    path: vector.yaml\n", "    inline:\n      images: # ours\n      - name: balloons\n        ref: m:v2\n"
    )
    prod = IN_PROD.replace("      path: vector.yaml\n", "      inline: {images: []}   # none\n")
    found = promoted(repository(dev, prod, **FILES, overlays__prod__images=BASE))
    after = IN_PROD.replace(
        "      path: vector.yaml\n",
        "      inline:\n        images: # ours\n        - name: balloons\n          ref: m:v2   # none\n",
    )
    assert texts(found) == {PROD_FILE: PROD.replace("{more}\n", after)}


def test_a_vector_that_is_declared_in_another_way_is_taken_over_as_a_whole() -> None:
    entry = "extension: nri-extension, registration: ControllerDeployment, form: Object, path: ../v.yaml"
    prod = f"    imageVectors: [{{{entry}}}]   # one\n"
    found = promoted(repository(VECTOR, prod, **FILES, overlays__v=OVERWRITE))
    edited = yaml.safe_load(texts(found)[PROD_FILE])
    assert edited["spec"]["imageVectors"] == yaml.safe_load(VECTOR)["imageVectors"]


def test_the_controllers_image_is_taken_over() -> None:
    dev = VECTOR + "    image: {repository: m/ext, tag: v2}\n    components:\n    - {name: c, path: c.yaml}\n"
    prod = IN_PROD + "      image: {repository: m/ext, tag: v1}\n      components:\n      - {name: c, path: c.yaml}\n"
    both = {**FILES, "overlays__prod__vector": OVERWRITE, "overlays__prod__images": BASE}
    found = promoted(repository(dev, prod, **both, overlays__dev__c="images: []\n"))
    assert texts(found) == {
        "overlays/prod/c.yaml": "images: []\n",
        PROD_FILE: PROD.replace("{more}\n", prod.replace("tag: v1", "tag: v2")),
    }


def test_a_policys_version_is_its_path_and_the_selector_stays() -> None:
    dev = repository(v2__policies="").files
    assert "v2/policies.yaml" in dev
    files = repository(v2__policies__default=POLICY)
    changed = DEV.replace("{more}", "").replace("../../policies", "../../v2/policies")
    files = Files({path: files.read(path) for path in files.files} | {"overlays/dev/overlay.yaml": changed})
    found = promoted(files)
    assert texts(found) == {PROD_FILE: PROD.replace("{more}\n", "").replace("../../policies ", "../../v2/policies ")}
    assert found.summary == ("policy ../../v2/policies: taken over",)


def test_policies_in_the_overlays_own_folder_are_copied() -> None:
    own = POLICY.replace("name: default", "name: group.a")
    dev = "  - path: own\n    shoots: {matchLabels: {a: b}}\n"
    found = promoted(repository(dev, overlays__dev__own__a=own))
    assert texts(found) == {
        "overlays/prod/own/a.yaml": own,
        PROD_FILE: PROD.replace(
            "        shoots: {matchLabels: {cpu: balloons}}\n{more}\n",
            "        shoots: {matchLabels: {cpu: balloons}}\n    - path: own\n      shoots: {matchLabels: {a: b}}\n",
        ),
    }


def test_each_of_several_policies_of_one_name_has_its_own_counterpart() -> None:
    dev = "  - {path: ../../a/more, shoots: {matchLabels: {x: z}}}\n  - path: ../../b/more\n"
    prod = "    - path: ../../old/more\n    - {path: ../../older/more, shoots: {matchLabels: {tier: critical}}}\n"
    more = {f"{folder}__more__m": POLICY.replace("name: default", f"name: node.{folder}") for folder in ("a", "b")}
    found = promoted(repository(dev, prod, **more))
    expected = prod.replace("../../old/", "../../b/").replace("../../older/", "../../a/")
    assert texts(found) == {PROD_FILE: PROD.replace("{more}\n", expected)}


PATCHES = """\
  patches:
  - target: {kind: BalloonsPolicy}
    patch: |
      # More for the system.
      - {op: replace, path: /spec/reservedResources/cpu, value: "2"}

      - {op: add, path: /spec/pinCPU, value: true}
"""


def test_a_patch_keeps_its_layout_wherever_it_is_put() -> None:
    prod = """\
    patches:
    - shoots: {matchLabels: {tier: critical}}     # only there
      patch: {apiVersion: config.nri/v1alpha1, kind: BalloonsPolicy, metadata: {name: default}}
    - patch: '[{op: replace, path: /spec/reservedResources/cpu, value: "1"}]'   # to be changed
      target: {kind: BalloonsPolicy}
"""
    found = promoted(repository(PATCHES, prod))
    after = prod.replace(
        """patch: '[{op: replace, path: /spec/reservedResources/cpu, value: "1"}]'   # to be changed""",
        """\
patch: |
        # More for the system.
        - {op: replace, path: /spec/reservedResources/cpu, value: "2"}

        - {op: add, path: /spec/pinCPU, value: true}   # to be changed""",
    )
    assert after != prod
    assert found.summary[0].startswith("patch")
    assert yaml.safe_load(texts(found)[PROD_FILE])["spec"]["patches"][0] == yaml.safe_load(prod)["patches"][0]


def test_what_only_the_other_overlay_has_is_kept_and_told() -> None:
    prod = "    patches:\n    - target: {kind: BalloonsPolicy}\n      patch: []\n"
    found = promoted(repository("", prod))
    assert found.edits == ()
    assert found.summary == (f'patch {{"kind": "BalloonsPolicy"}}: only in {PROD_FILE}: kept',)


@pytest.mark.parametrize(
    ("dev", "prod", "says"),
    [
        pytest.param(PATCHES, "    patches: []\n", "takes no new entry", id="one-line"),
        pytest.param(
            PATCHES, "    patches:\n    - {target: {kind: BalloonsPolicy}, path: p.yaml}\n", "bring the", id="other-way"
        ),
        pytest.param(
            VECTOR,
            IN_PROD.replace("      base: images.yaml\n", ""),
            "another registration",
            id="registration",
        ),
        pytest.param(VECTOR.replace("  - extension", "  - &v\n    extension"), "", "has an anchor", id="anchor"),
    ],
)
def test_what_cannot_be_edited_is_refused(dev: str, prod: str, says: str) -> None:
    files = repository(dev, prod, **FILES, overlays__prod__vector=OVERWRITE, overlays__prod__p="[]\n")
    with pytest.raises(InvalidInput, match=says) as refused:
        promoted(files)
    assert {violation.rule for violation in refused.value.violations} == {"promotion"}


def test_an_overlay_in_one_line_is_refused_before_it_breaks() -> None:
    prod = str(yaml.safe_load(PROD.replace("{more}\n", ""))).replace("'", '"')
    files = repository(VECTOR, **FILES)
    files = Files({path: files.read(path) for path in files.files} | {PROD_FILE: prod})
    with pytest.raises(InvalidInput, match="more would change than is promoted"):
        promoted(files)


patch_texts = st.sampled_from(
    [
        "'[]'",
        '"[]"',
        "[]",
        "|\n      []\n\n      # end",
        "\n      - {op: add, path: /spec/pinCPU, value: true}",
        "|-\n      []",
    ]
)
kinds = st.sampled_from(["BalloonsPolicy", "Template.*", "Shoot"])
entries = st.lists(st.tuples(kinds, patch_texts), max_size=4, unique_by=lambda entry: entry[0])


def section(patches: list[tuple[str, str]], indent: int) -> str:
    written = "".join(f"  - target: {{kind: {kind}}}\n    patch: {text}\n    # after\n\n" for kind, text in patches)
    lines = ("  patches:\n" + written if patches else "").splitlines(keepends=True)
    return "".join(" " * indent + line if line.strip() else line for line in lines)


@given(entries, entries)
def test_promotion_promotes_everything_once_and_changes_nothing_else(
    dev: list[tuple[str, str]], prod: list[tuple[str, str]]
) -> None:
    files = repository(section(dev, 0), section(prod, 2))
    found = promoted(files)
    edited = Edited(files, found.edits)
    after, before = (yaml.safe_load(one.read(PROD_FILE))["spec"] for one in (edited, files))
    ours = yaml.safe_load(files.read("overlays/dev/overlay.yaml"))["spec"].get("patches", [])
    theirs = after.pop("patches", [])
    kept = [entry for entry in before.pop("patches", []) if entry["target"] not in [one["target"] for one in ours]]
    assert after == before
    assert sorted(map(str, theirs)) == sorted(map(str, [*ours, *kept]))
    assert promoted(edited).edits == ()
    compose(edited, "prod")
