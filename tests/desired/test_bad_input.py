"""Every rule an overlay's repository can break: found without a cluster, with file and line."""

from __future__ import annotations

import pytest

from gitops.desired.compose import compose
from gitops.errors import InvalidInput, Violation
from tests.desired.in_memory import (
    OVERLAY,
    OVERLAY_FILE,
    POLICY,
    POLICY_FILE,
    SHOOT,
    SHOOT_FILE,
    Files,
    overlay,
    repository,
)

COMPLETE = compose(Files(repository()), "dev")


def violations(files: dict[str, str | bytes], name: str = "dev") -> list[Violation]:
    with pytest.raises(InvalidInput) as refused:
        compose(Files(files), name)
    return refused.value.violations


def test_the_repository_the_tables_start_from_is_sound() -> None:
    assert COMPLETE.warnings == ()
    assert list(COMPLETE.shoots) == ["garden-dev/one"]


PATCH = "  patches:\n  - target: {kind: BalloonsPolicy}\n    patch: |\n      "

OVERLAYS = [
    pytest.param("  colour: red\n", 11, "unknown-key", "spec has no key 'colour': known are adopt", id="unknown-key"),
    pytest.param("  patchs: []\n", 11, "unknown-key", "did you mean 'patches'?", id="misspelt-key"),
    pytest.param("  gate: {timeout: 10}\n", 11, "wrong-type", "spec.gate.timeout must be text", id="wrong-type"),
    pytest.param("  gate:\n    timeout: 10 minutes\n", 12, "wrong-value", "a duration such as 10m", id="duration"),
    pytest.param("  extensions: {type: a}\n", 11, "wrong-type", "must be a list, not a map", id="map-for-list"),
    pytest.param("  extensions:\n  - {type: a}\n", 12, "missing-key", "extensions[0] lacks 'state'", id="missing-key"),
    pytest.param(
        "  extensions:\n  - type: a\n    state: On\n", 13, "ambiguous-value", "'On' is a boolean", id="ambiguous-state"
    ),
    pytest.param("  extensions:\n  - type: a\n    state: Off1\n", 13, "wrong-value", "Enabled or Disabled", id="state"),
    pytest.param("  prerequisites: {nri: Install}\n", 11, "wrong-value", "Enable, Require or Ignore", id="nri"),
    pytest.param("  prerequisites: {cgroupV2: Enable}\n", 11, "wrong-value", "Require or Ignore", id="cgroup"),
    pytest.param("  prerequisites: {dBus: Install}\n", 11, "unknown-key", "did you mean 'dbus'", id="dbus"),
    pytest.param("  verification: {placement: true}\n", 11, "wrong-value", "Require or Ignore", id="placement"),
    pytest.param("  adopt: [Kluctl]\n", 11, "wrong-value", "Flux, ArgoCD or Helm", id="unknown-tool"),
    pytest.param(
        "  nodeWaves:\n  - policies: [fast]\n",
        12,
        "wrong-value",
        "default, group.<GROUP> or node.<NODE>",
        id="node-wave",
    ),
    pytest.param("  prune: {maxDeletions: -1}\n", 11, "wrong-value", "a number from 0", id="negative-budget"),
    pytest.param(
        "  ignore:\n  - {kind: Shoot, paths: [spec]}\n", 12, "wrong-value", "a path such as", id="ignore-path"
    ),
    pytest.param("  ignore:\n  - {kind: Shoot, paths: []}\n", 12, "too-few", "at least one", id="ignore-nothing"),
    pytest.param(
        "  extensions:\n  - {type: a, state: Enabled}\n  - {type: a, state: Disabled}\n",
        13,
        "extension-twice",
        "extension 'a' already has a rule for this shoot on line 12",
        id="extension-twice",
    ),
    pytest.param(
        "  extensions:\n  - {type: a, state: Enabled, replaces: [b]}\n  - {type: b, state: Enabled}\n",
        13,
        "extension-twice",
        "'b' already",
        id="replaced-then-enabled",
    ),
    pytest.param(
        "  extensions:\n  - {type: b, state: Enabled}\n  - {type: a, state: Enabled, replaces: [b]}\n",
        13,
        "extension-twice",
        "'b' already",
        id="enabled-then-replaced",
    ),
    pytest.param(
        "  extensions:\n  - {type: a, state: Enabled, replaces: [a]}\n", 12, "extension", "replace itself", id="self"
    ),
    pytest.param(
        "  extensions:\n  - {type: a, state: Disabled, replaces: [b]}\n",
        12,
        "extension",
        "replaces nothing",
        id="disabled",
    ),
    pytest.param(
        "  extensions:\n  - type: a\n    state: Enabled\n    shoots:\n      matchExpressions:\n"
        "      - {key: a, operator: In}\n",
        14,
        "selector",
        "needs at least one value",
        id="selector-values",
    ),
    pytest.param(
        "  extensions:\n  - type: a\n    state: Enabled\n    shoots: {matchlabels: {a: b}}\n",
        14,
        "unknown-key",
        "did you mean 'matchLabels'?",
        id="selector-key",
    ),
    pytest.param("  patches:\n  - target: {kind: Shoot}\n", 12, "patch-text", "exactly one of", id="patch-nothing"),
    pytest.param("  patches:\n  - {patch: a, path: b}\n", 12, "patch-text", "exactly one of", id="patch-both"),
    pytest.param(
        "  patches:\n  - {path: no.yaml}\n", 12, "patch-text", "no file 'overlays/dev/no.yaml'", id="patch-file"
    ),
    pytest.param(
        "  patches:\n  - {path: ../../../x}\n", 12, "patch-text", "leads out of the repository", id="patch-escape"
    ),
    pytest.param(PATCH + "- {op: nope}\n", 12, "patch-text", "operation 1 must be a map whose op", id="operation"),
    pytest.param(PATCH + "- {op: add, path: /x}\n", 12, "patch-text", "lacks 'value'", id="operation-value"),
    pytest.param(PATCH + "- {op: add,\n        op: add}\n", 15, "duplicate-key", "line 1", id="patch-duplicate-key"),
    pytest.param(PATCH + "just words\n", 12, "patch-text", "a patch is a list", id="patch-words"),
    pytest.param(PATCH + "# nothing\n", 12, "patch-text", "empty", id="patch-empty"),
    pytest.param(
        "  patches:\n  - target: {name: '*'}\n    patch: |\n      []\n", 12, "patch-text", "any text is `.*`", id="glob"
    ),
    pytest.param(
        PATCH + "- {op: test, path: /spec/pinCPU, value: true}\n",
        12,
        "patch-does-not-apply",
        "policies/default.yaml:1",
        id="failing-test",
    ),
    pytest.param(
        PATCH + "- {op: remove, path: /spec/nothing}\n", 12, "patch-does-not-apply", "nothing", id="missing-path"
    ),
    pytest.param(
        PATCH + "- {op: add, path: /spec/reservedResources/cpu, value: 2}\n",
        0,
        "not-a-string",
        'spec.reservedResources.cpu must be text, and 2 is not: quote it as it should read, such as "2"',
        id="patched-number",
    ),
    pytest.param(
        "  patches:\n  - target: {kind: Shoot}\n    patch: [{op: replace, path: /metadata/name, value: two}]\n",
        0,
        "patch-renames-shoot",
        "another Shoot",
        id="rename-shoot",
    ),
    pytest.param(
        "  patches:\n  - target: {kind: Shoot}\n    patch: |\n      kind: Shoot\n      metadata: {name: x}\n"
        "      $patch: delete\n",
        12,
        "patch-does-not-apply",
        "nothing here ever does",
        id="delete-shoot",
    ),
]


@pytest.mark.parametrize(("spec", "line", "rule", "says"), OVERLAYS)
def test_an_overlay_that_breaks_a_rule(spec: str, line: int, rule: str, says: str) -> None:
    found = violations(repository(overlay=overlay(spec)))
    assert [violation.rule for violation in found] == [rule]
    if line:
        assert (found[0].file, found[0].line) == (OVERLAY_FILE, line)
    assert says in str(found[0])


def _windowed(schedule: str, duration: str, zone: str) -> tuple[str, str]:
    lines = f"\n    windows:\n    - schedule: {schedule}\n      duration: {duration}\n      zone: {zone}"
    return "{name: all}", f"name: all{lines}"


WHOLE_OVERLAYS = [
    pytest.param(("name: dev", "name: prod"), 3, "overlay-name", "metadata.name is 'prod'", id="name"),
    pytest.param(
        ("kind: Overlay", "kind: Overlai"), 2, "wrong-value", "kind is 'Overlai'; expected Overlay", id="kind"
    ),
    pytest.param(("v1alpha1", "v2"), 1, "wrong-value", "expected shoot-gitops/v1alpha1", id="version"),
    pytest.param(("[garden-dev]", "[]"), 5, "too-few", "spec.garden.namespaces", id="no-namespaces"),
    pytest.param(("[garden-dev]", "[garden-dev, garden]"), 5, "namespace-garden", "ManagedSeeds", id="garden"),
    pytest.param(("identity: test, ", ""), 5, "missing-key", "spec.garden lacks 'identity'", id="identity"),
    pytest.param(("../../clusters", "../../../clusters"), 6, "path", "leads out of the repository", id="escape"),
    pytest.param(("../../clusters", "/clusters"), 6, "path", "inside this repository", id="absolute"),
    pytest.param(("../../clusters", "https://x/y"), 6, "path", "inside this repository", id="url"),
    pytest.param(("../../clusters", "'../../clusters/*.yaml'"), 6, "path", "patterns are not supported", id="glob"),
    pytest.param(("../../clusters", "../../nothing"), 6, "path", "no file and no folder 'nothing'", id="missing"),
    pytest.param(("../../policies", "../../nothing"), 8, "path", "no file and no folder", id="missing-policy"),
    pytest.param(("../../policies", "../../notes"), 8, "path", "no .yaml", id="folder-without-manifests"),
    pytest.param(
        ("../../clusters", "../../comments"), 6, "no-shoots", "an empty state is never applied", id="no-shoots"
    ),
    pytest.param(("{name: all}", "{name: garden}"), 10, "wave-name", "choose another", id="wave-garden"),
    pytest.param(("{name: all}", "{name: a}\n  - {name: a}"), 11, "wave-name", "already given on line 10", id="waves"),
    pytest.param(
        ("{name: all}", "{name: all, approval: Always}"), 10, "wrong-value", "Required or NotRequired", id="approval"
    ),
    pytest.param(("{name: all}", "{name: all, windows: []}"), 10, "too-few", "at least one entry", id="windows"),
    pytest.param(_windowed("0 22 * *", "4h", "UTC"), 12, "window", "has five fields", id="window-schedule"),
    pytest.param(_windowed("61 * * * *", "4h", "UTC"), 12, "window", "bad minute", id="window-minute"),
    pytest.param(_windowed("0 22 * * *", "0s", "UTC"), 13, "window", "never be open", id="window-never"),
    pytest.param(_windowed("0 22 * * *", "4 hours", "UTC"), 13, "wrong-value", "a duration", id="window-duration"),
    pytest.param(_windowed("0 22 * * *", "4h", "Mars/Olympus"), 14, "window", "is unknown", id="window-zone"),
    pytest.param(("{name: all}", "{name: all, maxConcurrent: 0}"), 10, "wrong-value", "a number from 1", id="zero"),
    pytest.param(("{name: all}", "{name: all, maxConcurrent: 0%}"), 10, "wrong-value", "25%", id="zero-percent"),
    pytest.param(("{name: all}", "{name: all, maxConcurrent: 101%}"), 10, "wrong-value", "25%", id="percent"),
    pytest.param(("  - {name: all}\n", ""), 9, "wrong-type", "spec.waves must be a list, not empty", id="no-waves"),
    pytest.param(("kind: Overlay", "kind: Overlay\nkind: Overlay"), 3, "duplicate-key", "line 2", id="duplicate-key"),
    pytest.param(("metadata:", "---\nmetadata:"), 4, "overlay-file", "exactly one Overlay", id="two-documents"),
]


@pytest.mark.parametrize(("change", "line", "rule", "says"), WHOLE_OVERLAYS)
def test_an_overlay_that_is_wrong_as_a_whole(change: tuple[str, str], line: int, rule: str, says: str) -> None:
    extra: dict[str, str | bytes] = {
        "comments/empty.yaml": "# nothing\n",
        "comments/two.yaml": "---\n",
        "notes/a.md": "a",
    }
    found = violations(repository(overlay=OVERLAY.replace(*change)) | extra)
    assert [(violation.file, violation.line, violation.rule) for violation in found] == [(OVERLAY_FILE, line, rule)]
    assert says in found[0].message


SHOOTS = [
    pytest.param(("name: one", "nmae: one"), 3, "no-name", "metadata.name must be text", id="no-name"),
    pytest.param(("name: one", "name: 1"), 4, "no-name", "not 1", id="number-name"),
    pytest.param(("  namespace: garden-dev\n", ""), 3, "no-namespace", "such as garden-dev", id="no-namespace"),
    pytest.param(("garden-dev", "garden-other"), 5, "foreign-namespace", "not among", id="foreign-namespace"),
    pytest.param(("garden-dev", "garden"), 5, "namespace-garden", "ManagedSeeds", id="garden"),
    pytest.param(("namespace: garden-dev", "namespace: ''"), 5, "namespace", "must be text", id="empty-namespace"),
    pytest.param(("name: one", "name: One"), 4, "shoot-name", "'One' is no name", id="upper-case"),
    pytest.param(
        ("apiVersion: core.gardener.cloud/v1beta1\n", ""), 1, "no-apiversion", "no apiVersion", id="no-version"
    ),
    pytest.param(("kind: Shoot\n", ""), 1, "no-kind", "no kind", id="no-kind"),
    pytest.param(("v1beta1", "v1alpha1"), 1, "shoot-version", "core.gardener.cloud/v1beta1", id="old-version"),
    pytest.param(("kind: Shoot", "kind: CloudProfile"), 2, "not-a-shoot", "CloudProfile", id="other-kind"),
    pytest.param(("  labels:", "  uid: 5d\n  labels:"), 6, "server-field", "metadata.uid", id="uid"),
    pytest.param(("  labels:", '  resourceVersion: "1"\n  labels:'), 6, "server-field", "remove it", id="version"),
    pytest.param(
        ("  labels:", "  managedFields: []\n  labels:"), 6, "server-field", "managedFields", id="managed-fields"
    ),
    pytest.param(("  labels:", "  generation: 4\n  labels:"), 6, "server-field", "generation", id="generation"),
    pytest.param(("  labels:", "  creationTimestamp: null\n  labels:"), 6, "server-field", "creation", id="created"),
    pytest.param(("spec:", "status: {}\nspec:"), 7, "server-field", "status is what a server reports", id="status"),
    pytest.param(("{cpu: balloons}", "{cpu: 5}"), 6, "not-a-string", "metadata.labels.cpu must be text", id="label"),
    pytest.param(("{cpu: balloons}", "[cpu]"), 6, "wrong-type", "must be a map", id="labels"),
    pytest.param(('"1.35"', "1.35"), 8, "not-a-string", 'such as "1.35"', id="version-number"),
    pytest.param(
        ('{version: "1.35"}', '"1.35"\n  extensions: [{type: a}, {type: a}]'),
        9,
        "duplicate-element",
        "'a' twice",
        id="extension-twice",
    ),
    pytest.param(
        ('{version: "1.35"}', "{}\n  extensions:\n  - {disabled: true}"), 10, "no-list-key", "type", id="untyped"
    ),
    pytest.param(('{version: "1.35"}', "{}\n  extensions: {a: b}"), 9, "wrong-type", "must be a list", id="extensions"),
    pytest.param(
        ('{version: "1.35"}', "{}\n  provider:\n    workers:\n    - {name: a}\n    - {name: a}"),
        12,
        "duplicate-element",
        "'a' twice",
        id="worker-twice",
    ),
    pytest.param(
        ('{version: "1.35"}', "{}\n  cloudProfile: {name: a}\n  cloudProfileName: a"),
        10,
        "two-cloud-profiles",
        "keep cloudProfile",
        id="profiles",
    ),
    pytest.param(
        ("  labels:", '  annotations:\n    confirmation.gardener.cloud/deletion: "true"\n  labels:'),
        7,
        "order-in-git",
        "by hand",
        id="deletion",
    ),
    pytest.param(
        ("  labels:", "  annotations: {gardener.cloud/operation: retry}\n  labels:"),
        6,
        "order-in-git",
        "again and again",
        id="operation",
    ),
    pytest.param(
        ('spec:\n  kubernetes: {version: "1.35"}', "spec: 5"), 7, "wrong-type", "spec must be a map", id="spec"
    ),
    pytest.param(("kind: Shoot", "kind: Shoot\n\tx"), 3, "yaml-syntax", "not YAML", id="syntax"),
    pytest.param(("kind: Shoot", "kind: Shoot\nkind: Shoot"), 3, "duplicate-key", "line 2", id="duplicate-key"),
]


@pytest.mark.parametrize(("change", "line", "rule", "says"), SHOOTS)
def test_a_shoot_that_breaks_a_rule(change: tuple[str, str], line: int, rule: str, says: str) -> None:
    changed = SHOOT.replace(*change)
    assert changed != SHOOT
    found = violations(repository(shoot=changed))
    assert [(violation.file, violation.line, violation.rule) for violation in found] == [(SHOOT_FILE, line, rule)]
    assert says in found[0].message


POLICIES = [
    pytest.param(
        ("  namespace: kube-system\n", ""), 3, "no-namespace", "kube-system with the upstream", id="namespace"
    ),
    pytest.param(('cpu: "1"', "cpu: 1"), 7, "not-a-string", 'such as "1"', id="number"),
    pytest.param(("spec:", "status: {}\nspec:"), 6, "server-field", "remove it", id="status"),
    pytest.param(("config.nri/v1alpha1", "core.gardener.cloud/v1beta1"), 2, "garden-object", "resources", id="garden"),
    pytest.param(
        ("config.nri/v1alpha1\nkind: BalloonsPolicy", "v1\nkind: ConfigMap\ndata: {a: 1}"),
        3,
        "not-a-string",
        "data.a",
        id="data",
    ),
    pytest.param(
        ("config.nri/v1alpha1\nkind: BalloonsPolicy", "v1\nkind: Namespace"),
        5,
        "needless-namespace",
        "cluster-scoped",
        id="cluster-scope",
    ),
    pytest.param(
        ("  namespace: kube-system\n", "  namespace: kube-system\n  labels: {applyset.kubernetes.io/part-of: x}\n"),
        6,
        "reserved-label",
        "remove it",
        id="reserved",
    ),
]


@pytest.mark.parametrize(("change", "line", "rule", "says"), POLICIES)
def test_a_policy_that_breaks_a_rule(change: tuple[str, str], line: int, rule: str, says: str) -> None:
    changed = POLICY.replace(*change)
    assert changed != POLICY
    found = violations(repository(policy=changed))
    assert [(violation.file, violation.line, violation.rule) for violation in found] == [(POLICY_FILE, line, rule)]
    assert says in found[0].message


@pytest.mark.parametrize(
    ("policy", "line", "rule"),
    [
        pytest.param("# nothing yet\n", 0, "empty-file", id="empty"),
        pytest.param("apiVersion: v1\nkind: Namespace\nmetadata: name\n", 3, "no-name", id="metadata-is-text"),
        pytest.param(OVERLAY, 2, "not-for-a-server", id="overlay-as-policy"),
    ],
)
def test_a_policy_file_that_holds_something_else(policy: str, line: int, rule: str) -> None:
    found = violations(repository(policy=policy))
    assert [(violation.file, violation.line, violation.rule) for violation in found] == [(POLICY_FILE, line, rule)]


def test_naming_the_whole_repository_is_no_way_to_name_its_policies() -> None:
    found = violations(repository(overlay=OVERLAY.replace("../../policies", "../..")))
    assert {violation.rule for violation in found} == {"garden-object", "not-for-a-server"}


def test_an_unknown_overlay_lists_the_known_ones() -> None:
    files = repository() | {"overlays/prod/overlay.yaml": OVERLAY, "overlays/notes.md": "x"}
    (violation,) = violations(files, "stage")
    assert violation.rule == "unknown-overlay"
    assert violation.message.endswith("the overlays are dev, prod")


def test_a_repository_without_overlays_says_where_they_belong() -> None:
    (violation,) = violations({"README.md": "x"})
    assert "add overlays/<name>/overlay.yaml" in violation.message


def test_a_shoot_in_no_wave_is_an_error_on_the_shoot() -> None:
    (violation,) = violations(
        repository(overlay=OVERLAY.replace("{name: all}", "{name: all, shoots: {matchLabels: {x: z}}}"))
    )
    assert (violation.file, violation.line, violation.rule) == (SHOOT_FILE, 1, "no-wave")
    assert violation.object == "Shoot garden-dev/one"


def test_one_shoot_declared_twice_names_both_places() -> None:
    (violation,) = violations(repository() | {"clusters/two.yaml": "# again\n" + SHOOT})
    assert (violation.file, violation.line, violation.rule) == ("clusters/two.yaml", 2, "declared-twice")
    assert f"{SHOOT_FILE}:1" in violation.message


def test_one_object_declared_twice_for_a_shoot_names_both_places() -> None:
    (violation,) = violations(repository() | {"policies/other.yaml": POLICY})
    assert (violation.file, violation.line, violation.rule) == ("policies/other.yaml", 1, "declared-twice")
    assert f"{POLICY_FILE}:1" in violation.message
    assert "garden-dev/one" in violation.message


def test_one_file_that_two_entries_name_is_one_declaration() -> None:
    text = OVERLAY.replace(
        "  - path: ../../policies\n", "  - path: ../../policies\n  - path: ../../policies/default.yaml\n"
    )
    assert compose(Files(repository(overlay=text)), "dev").shoots == COMPLETE.shoots


def test_a_patch_that_gives_two_objects_one_name_is_refused() -> None:
    spec = PATCH + "- {op: replace, path: /metadata/name, value: default}\n"
    other = POLICY.replace("name: default", "name: group.a")
    (violation,) = violations(repository(overlay=overlay(spec)) | {"policies/other.yaml": other})
    assert (violation.file, violation.rule) == ("policies/other.yaml", "declared-twice")


@pytest.mark.parametrize(
    ("path", "mode", "rule"),
    [
        pytest.param(SHOOT_FILE, "120000", "symlink", id="file"),
        pytest.param("clusters/linked-folder", "120000", "symlink", id="folder"),
        pytest.param("clusters/submodule", "160000", "submodule", id="submodule"),
        pytest.param(OVERLAY_FILE, "120000", "symlink", id="overlay"),
    ],
)
def test_what_is_no_file_is_refused_and_never_left_out(path: str, mode: str, rule: str) -> None:
    files = repository() | ({path: "elsewhere"} if path not in repository() else {})
    with pytest.raises(InvalidInput) as refused:
        compose(Files(files, {path: mode}), "dev")
    assert [(violation.file, violation.rule) for violation in refused.value.violations] == [(path, rule)]


def test_files_that_nobody_names_are_not_judged() -> None:
    files = repository() | {"other/broken.yaml": "a: [", "clusters/README.md": "\0", "link": "x"}
    assert compose(Files(files, {"link": "120000"}), "dev") == COMPLETE


def test_a_symlink_among_the_folders_is_named_as_the_reason() -> None:
    text = OVERLAY.replace("../../clusters", "../../link/clusters")
    found = violations(repository(overlay=text) | {"link": "x"})
    assert "'link' is not a folder; symlinks are not followed" in found[0].message


def test_a_submodule_among_the_folders_is_named_as_the_reason() -> None:
    text = OVERLAY.replace("../../clusters", "../../module/clusters")
    with pytest.raises(InvalidInput, match="'module' is a submodule; other repositories are not read"):
        compose(Files(repository(overlay=text) | {"module": ""}, {"module": "160000"}), "dev")


def test_everything_that_is_wrong_is_told_at_once_in_order() -> None:
    files = repository(
        shoot=SHOOT.replace('"1.35"', "1.35").replace("  labels:", "  uid: x\n  labels:"),
        policy=POLICY.replace('"1"', "1"),
        overlay=overlay(PATCH + "- {op: remove, path: /spec/no}\n"),
    )
    files["clusters/broken.yaml"] = "a: [\n"
    assert [(violation.file, violation.line) for violation in violations(files)] == [
        ("clusters/broken.yaml", 2),
        (SHOOT_FILE, 6),
        (SHOOT_FILE, 9),
        (POLICY_FILE, 7),
    ]


WARNINGS = [
    pytest.param(
        "  extensions:\n  - {type: a, state: Enabled, shoots: {matchLabels: {none: x}}}\n",
        12,
        "selects-nothing",
        id="extension",
    ),
    pytest.param(
        "  ignore:\n  - {kind: Shoot, paths: [/spec], shoots: {matchLabels: {none: x}}}\n",
        12,
        "selects-nothing",
        id="ignore",
    ),
    pytest.param(
        "  patches:\n  - {patch: [], target: {kind: Shoot}, shoots: {matchLabels: {none: x}}}\n",
        12,
        "selects-nothing",
        id="patch",
    ),
    pytest.param("  patches:\n  - {patch: [], target: {kind: Shot}}\n", 12, "patch-without-target", id="target"),
]


@pytest.mark.parametrize(("spec", "line", "rule"), WARNINGS)
def test_what_does_nothing_is_a_warning(spec: str, line: int, rule: str) -> None:
    desired = compose(Files(repository(overlay=overlay(spec))), "dev")
    assert [(warning.file, warning.line, warning.rule) for warning in desired.warnings] == [(OVERLAY_FILE, line, rule)]
    assert desired.shoots == COMPLETE.shoots


def test_a_wave_that_no_shoot_is_left_for_is_a_warning() -> None:
    selector = "shoots: {matchLabels: {cpu: balloons}}"
    waves = f"{{name: all, {selector}}}\n  - {{name: b, {selector}}}\n  - {{name: rest}}"
    desired = compose(Files(repository(overlay=OVERLAY.replace("{name: all}", waves))), "dev")
    assert [(warning.line, warning.rule) for warning in desired.warnings] == [(11, "empty-wave")]
