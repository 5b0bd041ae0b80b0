from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitops.gardener.image_vector.cases import Demand
from gitops.gardener.image_vector.check import check_overwrite, resolutions
from gitops.gardener.image_vector.lookup import find, merge
from gitops.gardener.image_vector.probes import probes
from gitops.gardener.image_vector.reading import read_vector
from gitops.gardener.image_vector.vector import ImageSource, Lookup
from tests.gardener.generated_vectors import CONSTRAINTS

DEMANDS = [Demand("1.34.2", "amd64"), Demand("1.35", "amd64"), Demand("1.35", "arm64")]


def built_in(name: str = "a", at: str = "", **fields: object) -> ImageSource:
    return ImageSource(name, repository=f"built-in{at}", tag="v1", **fields)  # type: ignore[arg-type]


def own(name: str = "a", **fields: object) -> ImageSource:
    return ImageSource(name, repository="own", tag="v2", **fields)  # type: ignore[arg-type]


def problems(base: list[ImageSource], overwrite: list[ImageSource], **others: list[str]) -> list[tuple[str, str]]:
    return [(found.rule, found.message) for found in check_overwrite(base, overwrite, DEMANDS, **others).problems]


BOTH = ("amd64", "arm64")


@pytest.mark.parametrize(
    ("base", "overwrite"),
    [
        pytest.param([built_in()], [own()], id="plain"),
        pytest.param([built_in(target_version=">= 1.31")], [own(target_version=">= 1.31")], id="versions"),
        pytest.param([built_in(architectures=BOTH)], [own(architectures=BOTH)], id="architectures"),
        pytest.param([built_in(architectures=BOTH)], [own(architectures=("arm64",))], id="one-of-two"),
        pytest.param([built_in()], [own(architectures=("amd64",))], id="added-amd64"),
        pytest.param([built_in(target_version=">= 1.31")], [own(target_version="= 1.35.1")], id="closer-version"),
        pytest.param(
            [built_in(), built_in(at="-arm", architectures=("arm64",))], [own()], id="only-the-general-one-is-replaced"
        ),
        pytest.param(
            [built_in(target_version="1.34.x"), built_in(target_version=">= 1.35")],
            [own(target_version="1.34.x"), own(target_version=">= 1.35")],
            id="each-version",
        ),
        pytest.param([built_in(target_version="< 1.34")], [], id="nothing"),
    ],
)
def test_an_overwrite_that_wins_is_no_problem(base: list[ImageSource], overwrite: list[ImageSource]) -> None:
    assert [rule for rule, _ in problems(base, overwrite) if rule != "image-not-found"] == []


@pytest.mark.parametrize(
    ("base", "overwrite", "says"),
    [
        pytest.param(
            [built_in(target_version=">= 1.31")],
            [own(target_version=">=1.31")],
            [
                "loses to built-in:v1 for Kubernetes 1.34.2 on amd64: ",
                "targetVersion is '>=1.31' here and '>= 1.31' there",
            ],
            id="other-spelling",
        ),
        pytest.param(
            [built_in(target_version=">= 1.31")],
            [own()],
            ["for Kubernetes 1.34.2 on amd64: targetVersion is absent here and '>= 1.31' there"],
            id="missing-target-version",
        ),
        pytest.param(
            [built_in()],
            [own(target_version=">= 1.31")],
            [
                "for Kubernetes 1.34.2 on amd64, where an extension looks it up without target version: ",
                "targetVersion is '>= 1.31' here and absent there",
            ],
            id="added-target-version",
        ),
        pytest.param(
            [built_in(architectures=BOTH)],
            [own(architectures=("arm64", "amd64"))],
            ["architectures is '[arm64, amd64]' here and '[amd64, arm64]' there"],
            id="architectures-in-another-order",
        ),
        pytest.param(
            [built_in()],
            [own(architectures=BOTH)],
            ["architectures is '[amd64, arm64]' here and absent there"],
            id="added-architectures",
        ),
        pytest.param(
            [built_in()],
            [own(architectures=("arm64",))],
            ["for Kubernetes 1.35.0 on arm64, where an extension looks it up without architecture"],
            id="added-arm64",
        ),
        pytest.param(
            [built_in(architectures=("amd64",)), built_in(architectures=("arm64",))],
            [own()],
            ["loses to built-in:v1", "architectures is absent here and '[amd64]' there"],
            id="one-for-both",
        ),
        pytest.param(
            [built_in(target_version="1.35.1"), built_in(target_version=">= 1.31")],
            [own(target_version="1.35.x")],
            ["for Kubernetes 1.35.0 on amd64"],
            id="no-closer-than-the-built-in",
        ),
        pytest.param(
            [built_in(runtime_version=">= 1.31")],
            [own(runtime_version="> 1.31.0")],
            ["runtimeVersion is '> 1.31.0' here and '>= 1.31' there"],
            id="runtime-version",
        ),
        pytest.param(
            [built_in(target_version=">= 1.40")],
            [own(target_version=">=1.40")],
            ["loses to built-in:v1: targetVersion"],
            id="a-version-that-no-shoot-has-yet",
        ),
        pytest.param(
            [ImageSource("a", repository="built-in", target_version=">= 1.31")],
            [own(target_version=">=1.31")],
            ["loses to built-in:v1.34.2 for"],
            id="tag-of-the-version",
        ),
    ],
)
def test_an_overwrite_that_loses_is_told_with_the_winner(
    base: list[ImageSource], overwrite: list[ImageSource], says: list[str]
) -> None:
    found = [message for rule, message in problems(base, overwrite) if rule == "overwrite-loses"]
    assert len(found) == 1
    assert all(part in found[0] for part in says), found


def test_a_patch_release_that_git_does_not_say_is_thought_of() -> None:
    base = [built_in(target_version="< 1.35.3"), built_in(target_version=">= 1.35.3")]
    overwrite = [own(target_version="< 1.35.3"), own(target_version="> 1.35.2")]
    ((rule, message),) = problems(base, overwrite)
    assert (rule, "for Kubernetes 1.35.3 on amd64" in message) == ("overwrite-loses", True)


def test_a_shoot_without_a_version_stands_for_all() -> None:
    base, overwrite = [built_in(target_version="> 1.36")], [own(target_version=">= 1.37")]
    assert problems(base, overwrite) == [("image-not-found", problems(base, overwrite)[0][1])]
    check = check_overwrite(base, overwrite, [Demand(None, "amd64")])
    assert [found.rule for found in check.problems] == ["overwrite-loses"]
    assert "Kubernetes 1.37.0" in check.problems[0].message


def test_images_that_nobody_asks_for_are_told() -> None:
    assert problems([built_in("balloons")], [own("baloons")])[0] == (
        "unknown-image",
        "the extension asks for no image 'baloons', so the entry does nothing: did you mean 'balloons'?",
    )
    ((_, message),) = problems([built_in("a")], [own("zzz")])
    assert message.endswith("it asks for a")
    assert problems([built_in("a")], [own("zzz")], needed=["zzz"]) == []


def test_an_image_that_the_chart_needs_must_be_somewhere() -> None:
    ((rule, message),) = problems([built_in("a")], [own("a")], needed=["a", "nri-config-manager"])
    assert (rule, "nri-config-manager" in message) == ("image-not-covered", True)


def test_the_init_container_of_a_plugin_is_thought_of() -> None:
    plugin = ImageSource("balloons", ref="ghcr.io/containers/nri-plugins/nri-resource-policy-balloons:latest@sha256:1")
    (warning,) = check_overwrite([plugin], [], DEMANDS).warnings
    assert (warning.rule, "nri-config-manager" in warning.message) == ("image-not-covered", True)
    manager = ImageSource("manager", repository="mirror/nri-config-manager", tag="v1")
    assert check_overwrite([plugin, manager], [], DEMANDS).warnings == ()


def test_an_entry_that_is_given_twice_is_told() -> None:
    ((rule, message),) = problems([built_in()], [own(), own()])
    assert (rule, message) == (
        "image-repeated",
        "entry 1 is for the same image, versions and architectures: keep one",
    )


def test_a_vector_that_shrinks_when_it_is_overwritten_is_told() -> None:
    """As the falco extension's does, which tells its entries apart by `version` itself."""
    base = [built_in(version="1"), built_in(version="2"), built_in("b")]
    assert check_overwrite(base, [], DEMANDS).warnings == ()
    (warning,) = check_overwrite(base, [own("b")], DEMANDS).warnings
    assert (warning.rule, "keeps only the last" in warning.message) == ("image-repeated", True)


def test_a_machine_without_an_image_is_told() -> None:
    base = [built_in(target_version=">= 1.35", architectures=("amd64",))]
    (warning,) = check_overwrite(base, [], DEMANDS).warnings
    assert warning.message.startswith("no entry of image a fits Kubernetes 1.34.2 on amd64; Kubernetes 1.35 on arm64:")
    overwrite = [own(target_version=">= 1.35", architectures=("amd64",))]
    assert [rule for rule, _ in problems(base, overwrite)] == ["image-not-found"]


def test_what_every_image_resolves_to_can_be_shown() -> None:
    base = [built_in(target_version="1.34.x"), built_in("b", at="-b")]
    shown = [(r.name, str(r.demand), r.reference, r.overwritten) for r in resolutions(base, [own("b")], DEMANDS[:2])]
    assert shown == [
        ("a", "Kubernetes 1.34.2 on amd64", "built-in:v1", False),
        ("a", "Kubernetes 1.35 on amd64", None, False),
        ("b", "Kubernetes 1.34.2 on amd64", "own:v2", True),
        ("b", "Kubernetes 1.35 on amd64", "own:v2", True),
    ]


SAMPLES = sorted((Path(__file__).parents[1] / "data" / "samples" / "imagevector").glob("*.yaml"))
MACHINES = [Demand("1.36", arch) for arch in BOTH]


def sample(path: Path) -> list[ImageSource]:
    """A real vector, as far as Gardener's own key tells its entries apart."""
    return list(merge(read_vector(yaml.safe_load(path.read_bytes())).images))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_mirror_of_a_real_vector_wins_everywhere(path: Path) -> None:
    base = sample(path)
    mirror = [replace(source, repository=f"mirror/{source.name}", tag="v9") for source in base]
    assert check_overwrite(base, mirror, MACHINES).problems == ()
    assert all(found.overwritten for found in resolutions(base, mirror, MACHINES))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_mirror_that_forgets_target_versions_loses_wherever_there_are_some(path: Path) -> None:
    base = sample(path)
    names = dict.fromkeys(source.name for source in base)
    mirror = [ImageSource(name, repository=f"mirror/{name}", tag="v9") for name in names]
    plain = {source.name for source in base if source.target_version is None}
    losers = [name for name in names if name not in plain]
    told = [finding.at for finding in check_overwrite(base, mirror, MACHINES).problems]
    assert told == [("images", list(names).index(name)) for name in losers]


entries = st.builds(
    ImageSource,
    name=st.just("a"),
    target_version=st.sampled_from([None, ">= 1.34", ">=1.34", "1.34.x", "1.35", "= 1.35.1"]),
    architectures=st.sampled_from([None, BOTH, BOTH[::-1], BOTH[:1], BOTH[1:]]),
    repository=st.just("r"),
)


@given(st.lists(entries, max_size=3), st.lists(entries, max_size=3), st.integers(33, 36), st.integers(0, 3))
def test_an_overwrite_without_a_problem_is_used_wherever_it_fits(
    base: list[ImageSource], overwrite: list[ImageSource], minor: int, patch: int
) -> None:
    """For an extension that says all it knows: whatever fits in an entry that replaces none, wins."""
    check = check_overwrite(base, overwrite, [Demand(f"1.{minor}", arch) for arch in BOTH])
    if any(found.rule in {"overwrite-loses", "unknown-image"} for found in check.problems):
        return
    loose = [source for source in overwrite if source.key not in {entry.key for entry in base}]
    merged = merge(base, overwrite)
    for arch in BOTH:
        lookup = Lookup("a", None, f"1.{minor}.{patch}", arch)
        if find(loose, lookup) is not None:
            winner = find(merged, lookup)
            assert winner is not None
            assert winner.key in {source.key for source in overwrite}


@given(st.sampled_from(CONSTRAINTS), st.integers(0, 40))
def test_no_patch_release_answers_otherwise_than_the_probes(constraint: str, patch: int) -> None:
    sources = [ImageSource("a", target_version=constraint, repository="r")]

    def fits(version: str | None) -> bool:
        return find(sources, Lookup("a", None, version)) is not None

    answers = {fits(version) for version in probes("1.31", [constraint])}
    assert fits(f"1.31.{patch}") in answers


@pytest.mark.parametrize(
    ("declared", "constraints", "versions"),
    [
        pytest.param("1.35.2", ["1.35.x"], ["1.35.2"], id="whole"),
        pytest.param("v1.35", [], ["1.35.0"], id="minor"),
        pytest.param("1.35", [">= 1.35.2", "< 1.34.7"], ["1.35.0", "1.35.1", "1.35.2", "1.35.3"], id="patches"),
        pytest.param(None, [], [None], id="nothing-to-tell-apart"),
        pytest.param(None, ["1.1"], ["1.0.0", "1.1.0", "1.1.1", "1.2.0"], id="any"),
    ],
)
def test_probes(declared: str | None, constraints: list[str], versions: list[str | None]) -> None:
    assert list(probes(declared, constraints)) == versions


def test_a_demand_sorts_with_and_without_a_version() -> None:
    every = [Demand(version, arch) for version, arch in product((None, "1.35"), BOTH)]
    assert resolutions([built_in()], [], every)
