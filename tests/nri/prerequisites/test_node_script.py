"""The node script in a scratch root: what it makes of every state that a node may be found in."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.nri.prerequisites.scratch_node import CONFIG, DBUS, DROP_IN, NRI, SCRIPT, ScratchNode

SECTION = '[plugins."io.containerd.nri.v1.nri"]'
IMPORTS = 'imports = ["/etc/containerd/conf.d/*.toml"]\n'
V2_OFF = (
    f"version = 2\n{IMPORTS}\n[plugins]\n  {SECTION}\n    disable = true\n    socket_path = '/var/run/nri/nri.sock'\n"
)
RESTART = "systemctl restart containerd.service"


@pytest.fixture
def node(tmp_path: Path) -> Iterator[ScratchNode]:
    node = ScratchNode(tmp_path)
    yield node
    node.close()


@dataclass(frozen=True)
class State:
    """One starting state, and what a repair of both must make of it."""

    name: str
    prepare: Callable[[ScratchNode], object]
    changed: tuple[str, ...] = ()
    """In order."""
    error: str = ""
    """A pattern; empty where the repair succeeds."""
    log: tuple[str, ...] | None = None
    """What the stand-ins were asked; None where the case is not about that."""
    dbus: str = "socket"
    nri: str = "enabled"


NRI_DONE = ("wrote /etc/containerd/conf.d/zz-shoot-gitops-nri.toml", "restarted containerd")
IMPORTED = "made /etc/containerd/config.toml import /etc/containerd/conf.d/*.toml"


def nri_is_fine(node: ScratchNode) -> None:
    node.file(CONFIG, "version = 2\n" + SECTION + "\ndisable = false\n")
    node.bind(node.root / NRI)


def nri_is_fine_and(prepare: Callable[[ScratchNode], object]) -> Callable[[ScratchNode], None]:
    def both(node: ScratchNode) -> None:
        nri_is_fine(node)
        prepare(node)

    return both


def a_directory(node: ScratchNode) -> None:
    (node.root / DBUS).unlink()
    (node.root / DBUS).mkdir()


def a_full_directory(node: ScratchNode) -> None:
    a_directory(node)
    node.file(f"{DBUS}/somebodys", "data")


def a_directory_and_no_dbus(node: ScratchNode) -> None:
    node.no_dbus()
    (node.root / DBUS).mkdir(parents=True)
    node.tool("apt-get")


def a_dangling_link(node: ScratchNode) -> None:
    node.dbus_stopped()
    (node.root / DBUS).symlink_to("/nowhere")


def a_link_to_a_socket(node: ScratchNode) -> None:
    (node.root / DBUS).rename(node.root / "run/dbus/elsewhere")
    (node.root / DBUS).symlink_to("elsewhere")


def a_plain_file(node: ScratchNode) -> None:
    node.dbus_stopped()
    node.file(DBUS, "notes")


def missing(*managers: str, **says: str) -> Callable[[ScratchNode], None]:
    def prepare(node: ScratchNode) -> None:
        node.no_dbus()
        for manager in managers:
            node.tool(manager)
        for name, content in says.items():
            node.say(name, content)

    return prepare


def masked(node: ScratchNode) -> None:
    node.dbus_stopped()
    for unit in ("dbus.socket", "dbus.service"):
        node.unit(unit, enabled="masked")


def masked_for_good(node: ScratchNode) -> None:
    masked(node)
    node.unit("dbus.socket", fails="Failed to unmask unit: Access denied")


def does_not_start(node: ScratchNode) -> None:
    node.dbus_stopped()
    (node.state / "units/dbus.service.fails").write_text("Job for dbus.service failed.\n")


def no_socket_appears(node: ScratchNode) -> None:
    node.dbus_stopped()
    (node.state / "dbus.sock").unlink()


def a_socket_nobody_listens_on(node: ScratchNode) -> None:
    for unit in ("dbus.socket", "dbus.service"):
        node.unit(unit, active="inactive")


def systemd_is_silent(node: ScratchNode) -> None:
    node.dbus_stopped()
    node.say("system", "offline\n")


def config(content: str, *more: tuple[str, str]) -> Callable[[ScratchNode], None]:
    def prepare(node: ScratchNode) -> None:
        node.file(CONFIG, content)
        for path, text in more:
            node.file(path, text)

    return prepare


def containerd_2(content: str | None) -> Callable[[ScratchNode], None]:
    def prepare(node: ScratchNode) -> None:
        node.say("containerd", "v2.1.4\n")
        if content is not None:
            node.file(CONFIG, content)
        if content is None or "true" not in content:
            node.bind(node.root / NRI)

    return prepare


def no_containerd(node: ScratchNode) -> None:
    node.without("containerd")
    node.tool("crio", "#!/bin/sh\n")


def restart_fails(node: ScratchNode) -> None:
    node.file(CONFIG, V2_OFF)
    node.unit("containerd.service", fails="Job for containerd.service failed.")


def cut_off_before_the_restart(node: ScratchNode) -> None:
    node.file(CONFIG, V2_OFF)
    node.file(DROP_IN, f"version = 2\n{SECTION}\n  disable = false\n")


def folder_is_a_file(node: ScratchNode) -> None:
    node.file(CONFIG, V2_OFF)
    node.file("etc/containerd/conf.d", "")


STATES = [
    State("all-is-well", nri_is_fine, log=()),
    State("link-to-a-socket", nri_is_fine_and(a_link_to_a_socket), log=()),
    State(
        "directory",
        nri_is_fine_and(a_directory),
        ("removed the directory /run/dbus/system_bus_socket", "started dbus.socket", "started dbus.service"),
    ),
    State("full-directory", nri_is_fine_and(a_full_directory), error="cannot be removed", log=(), dbus="directory"),
    State(
        "directory-and-no-dbus",
        nri_is_fine_and(a_directory_and_no_dbus),
        (
            "removed the directory /run/dbus/system_bus_socket",
            "installed D-Bus",
            "started dbus.socket",
            "started dbus.service",
        ),
    ),
    State(
        "dangling-link",
        nri_is_fine_and(a_dangling_link),
        ("removed the dangling link /run/dbus/system_bus_socket", "started dbus.socket", "started dbus.service"),
    ),
    State("plain-file", nri_is_fine_and(a_plain_file), error="plain file of somebody's", log=(), dbus="file"),
    State(
        "stopped",
        nri_is_fine_and(ScratchNode.dbus_stopped),
        ("started dbus.socket", "started dbus.service"),
    ),
    State(
        "socket-nobody-listens-on",
        nri_is_fine_and(a_socket_nobody_listens_on),
        ("started dbus.socket", "started dbus.service"),
        log=("systemctl start dbus.socket", "systemctl start dbus.service"),
    ),
    *(
        State(
            f"missing-{manager}",
            nri_is_fine_and(missing(manager)),
            ("installed D-Bus", "started dbus.socket", "started dbus.service"),
        )
        for manager in ("apt-get", "zypper", "dnf")
    ),
    State(
        "missing-and-stale-package-lists",
        nri_is_fine_and(missing("apt-get", stale="")),
        ("installed D-Bus", "started dbus.socket", "started dbus.service"),
    ),
    State(
        "missing-and-no-mirror",
        nri_is_fine_and(missing("dnf", offline="")),
        error="cannot be installed: Could not resolve the mirror's name",
        dbus="absent",
    ),
    State(
        "missing-and-no-package-manager",
        nri_is_fine_and(missing()),
        error="no apt-get, zypper or dnf: put it into the machine image",
        log=(),
        dbus="absent",
    ),
    State(
        "masked",
        nri_is_fine_and(masked),
        ("unmasked dbus.socket", "unmasked dbus.service", "started dbus.socket", "started dbus.service"),
    ),
    State(
        "masked-for-good", nri_is_fine_and(masked_for_good), error="cannot be unmasked.*Access denied", dbus="absent"
    ),
    State(
        "service-does-not-start",
        nri_is_fine_and(does_not_start),
        ("started dbus.socket",),
        error="dbus.service does not start: Job for dbus.service failed",
    ),
    State(
        "no-socket-appears",
        nri_is_fine_and(no_socket_appears),
        ("started dbus.socket", "started dbus.service"),
        error="system_bus_socket does not appear",
        dbus="absent",
    ),
    State(
        "systemd-is-silent", nri_is_fine_and(systemd_is_silent), error="systemd does not answer", log=(), dbus="absent"
    ),
    State("v2-disabled-with-import", config(V2_OFF), NRI_DONE, log=(RESTART,)),
    State("v2-disabled-without-import", config(V2_OFF.replace(IMPORTS, "")), (IMPORTED, *NRI_DONE), log=(RESTART,)),
    State(
        "v2-disabled-with-other-imports",
        config(V2_OFF.replace(IMPORTS, 'imports = ["/etc/more.toml"]\n'), ("etc/more.toml", "version = 2\n")),
        (IMPORTED, *NRI_DONE),
    ),
    State(
        "v2-disabled-with-imports-over-lines",
        config(V2_OFF.replace(IMPORTS, 'imports = [\n  "/etc/more.toml", # more\n]\n')),
        (IMPORTED, *NRI_DONE),
    ),
    State(
        "v2-imports-another-folder",
        config(V2_OFF.replace("conf.d", "drop-ins")),
        ("wrote /etc/containerd/drop-ins/zz-shoot-gitops-nri.toml", "restarted containerd"),
    ),
    State("v2-relative-import", config(V2_OFF.replace("/etc/containerd/conf.d", "conf.d")), NRI_DONE),
    State("v2-without-a-section", config(f"version = 2\n{IMPORTS}"), NRI_DONE),
    State(
        "v2-disabled-by-a-dotted-key",
        config('version = 2\nplugins."io.containerd.nri.v1.nri".disable = true\n'),
        (IMPORTED, *NRI_DONE),
    ),
    State(
        "v2-disabled-by-an-import",
        config(
            f"version = 2\n{IMPORTS}{SECTION}\ndisable = false\n",
            ("etc/containerd/conf.d/10-off.toml", f"version = 2\n{SECTION}\ndisable = true\n"),
        ),
        NRI_DONE,
    ),
    State(
        "v2-disabled-by-an-import-after-ours",
        config(
            f"version = 2\n{IMPORTS}", ("etc/containerd/conf.d/zzz.toml", f"version = 2\n{SECTION}\ndisable = true\n")
        ),
        error="does not take the drop-in .*: it is disabled with it",
        log=(),
        nri="disabled",
    ),
    State(
        "v2-in-disabled-plugins",
        config('version = 2\ndisabled_plugins = [\n "io.containerd.grpc.v1.cri",\n "io.containerd.nri.v1.nri"]\n'),
        error="lists io.containerd.nri.v1.nri in disabled_plugins.*remove it there",
        log=(),
        nri="disabled-plugin",
    ),
    State("v1", config('[plugins.cri]\n  sandbox_image = "x"\n'), error="version 1", log=(), nri="disabled"),
    State(
        "v3-disabled",
        containerd_2(f"version = 3\n{SECTION.replace(chr(34), chr(39))}\n  disable = true\n"),
        (IMPORTED, *NRI_DONE),
    ),
    State("v3-default", containerd_2("version = 3\n"), log=()),
    State("v3-no-config", containerd_2(None), log=()),
    State("no-config", lambda _: None, (IMPORTED, *NRI_DONE), log=(RESTART,)),
    State("empty-config", config("\n# nothing\n"), (IMPORTED, *NRI_DONE), log=(RESTART,)),
    State(
        "broken-config",
        config("version BROKEN\n"),
        error="cannot read its configuration: toml: line 1",
        log=(),
        nri="broken",
    ),
    State(
        "config-is-a-folder",
        lambda node: (node.root / CONFIG).mkdir(parents=True),
        error="cannot be read",
        log=(),
        nri="unreadable",
    ),
    State("cri-o", no_containerd, error="this node has cri-o", log=(), nri="unknown"),
    State(
        "containerd-does-not-restart",
        restart_fails,
        error="containerd does not restart: Job for containerd.service failed",
        log=(RESTART, RESTART),
        nri="disabled",
    ),
    State("cut-off-before-the-restart", cut_off_before_the_restart, ("restarted containerd",), log=(RESTART,)),
    State(
        "drop-in-cannot-be-written",
        folder_is_a_file,
        error="zz-shoot-gitops-nri.toml cannot be written",
        log=(),
        nri="disabled",
    ),
    State(
        "enabled-by-somebody-and-not-restarted",
        config(f"version = 2\n{SECTION}\n  disable = false\n"),
        error="nri.sock does not appear: restart containerd by hand",
        log=(),
    ),
]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
def test_a_repair_does_what_it_can_explains_the_rest_and_is_done(node: ScratchNode, state: State) -> None:
    state.prepare(node)
    found = node.snapshot()

    probe = node.run("probe")

    assert (probe["changed"], probe["error"], node.log) == ([], "", [])
    assert node.snapshot() == found, "a probe changes nothing"

    first = node.run("repair", "dbus", "nri")

    after, log = node.snapshot(), node.log
    assert re.search(state.error, first["error"]) if state.error else first["error"] == ""
    assert tuple(first["changed"]) == state.changed
    assert (first["dbus"], first["nri"]) == (state.dbus, state.nri)
    assert state.log is None or tuple(log) == state.log
    assert sockets(found) <= sockets(after)
    if not state.changed:
        assert after == found
        assert first == {**probe, "error": first["error"]}

    second = node.run("repair", "dbus", "nri")

    assert node.snapshot() == after, "a second repair changes nothing"
    if not first["error"]:
        assert second == {**first, "changed": []}
        assert node.log == log


def sockets(snapshot: dict[str, str]) -> set[str]:
    return {path for path, content in snapshot.items() if content == "socket"}


def test_what_else_the_section_says_is_kept_by_the_drop_in(node: ScratchNode) -> None:
    below = "  [plugins.'io.containerd.nri.v1.nri'.default_validator]\n    enable = true\n"
    node.file(CONFIG, V2_OFF + below + '[plugins."io.containerd.grpc.v1.cri"]\n  sandbox_image = "x"\n')

    node.run("repair", "nri")

    assert node.read(DROP_IN) == (
        "# Written by shoot-gitops (prerequisites.nri: Enable).\n"
        "version = 2\n\n"
        f"{SECTION}\n"
        "  disable = false\n"
        "  socket_path = '/var/run/nri/nri.sock'\n"
        "  [plugins.'io.containerd.nri.v1.nri'.default_validator]\n"
        "  enable = true\n"
    )


def test_the_rest_of_the_main_config_stays_as_it_is(node: ScratchNode) -> None:
    node.file(CONFIG, "# mine\nversion = 3\nroot = '/x' # here\n\n[grpc]\n  uid = 0\n")
    node.say("containerd", "v1.7.27\n")

    node.run("repair", "nri")

    assert node.read(CONFIG) == f"# mine\nversion = 3\n{IMPORTS}root = '/x' # here\n\n[grpc]\n  uid = 0\n"
    assert "version = 3\n" in node.read(DROP_IN)


def test_only_what_is_asked_for_is_repaired(node: ScratchNode) -> None:
    node.dbus_stopped()
    node.file(CONFIG, V2_OFF)

    assert node.run("repair", "dbus")["nri"] == "disabled"
    assert node.run("repair", "nri")["changed"] == list(NRI_DONE)


@pytest.mark.parametrize(
    ("prepare", "expected"),
    [
        (lambda _: None, {"cgroup": 2, "cgroupDriver": "systemd", "systemd": "running", "runtimeVersion": "1.7.27"}),
        (lambda node: (node.root / "sys/fs/cgroup/cgroup.controllers").unlink(), {"cgroup": 1}),
        (
            lambda node: node.file("var/lib/kubelet/config/kubelet", 'cgroupDriver: "cgroupfs"\n'),
            {"cgroupDriver": "cgroupfs"},
        ),
        (lambda node: (node.root / "var/lib/kubelet/config/kubelet").unlink(), {"cgroupDriver": "unknown"}),
        (lambda node: (node.root / "run/systemd/system").rmdir(), {"systemd": "absent", "dbusDaemon": "inactive"}),
        (lambda node: node.say("system", "degraded\n"), {"systemd": "running", "dbusDaemon": "active"}),
        (nri_is_fine, {"nri": "enabled", "nriSocket": True, "configVersion": 2}),
    ],
    ids=["well", "cgroup-v1", "cgroupfs", "no-kubelet-config", "no-systemd", "degraded", "nri"],
)
def test_a_probe_reports(node: ScratchNode, prepare: Callable[[ScratchNode], object], expected: dict[str, Any]) -> None:
    prepare(node)

    assert node.run("probe").items() >= expected.items()


def test_words_of_others_make_no_broken_json(node: ScratchNode) -> None:
    node.file(CONFIG, V2_OFF)
    words = 'a "quoted"\\ path\twith\n\x1b[31mcolours\n' + "x" * 5000
    node.unit("containerd.service", fails=words)

    error = node.run("repair", "nri")["error"]

    assert 'a "quoted"\\ path with' in error or error.startswith("containerd does not restart")
    assert len(error) <= 600


@pytest.mark.parametrize("arguments", [(), ("look",), ("repair", "everything")])
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(["/bin/sh", SCRIPT, *arguments], check=False, capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (64, "")


def test_a_read_only_root(tmp_path: Path) -> None:
    """The node's file system as an immutable image has it, in a mount namespace of its own."""
    node = ScratchNode(tmp_path)
    node.file(CONFIG, V2_OFF)
    a_directory(node)
    mount = f"mount --bind {node.root} {node.root} && mount -o remount,bind,ro {node.root}"
    tools = f"STATE={node.state} NODE_ROOT={node.root} NODE_PATIENCE=0 NODE_PATH={node.state}/bin"
    script = f"{mount} && {tools} exec /bin/sh {SCRIPT} repair dbus nri"
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", script], check=False, capture_output=True, text=True
    )
    node.close()
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no mount namespaces here: {done.stderr.strip()}")

    assert "Read-only file system" in done.stdout
    assert '"changed":[]' in done.stdout


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shellcheck_finds_nothing() -> None:
    done = subprocess.run(
        ["shellcheck", "--shell=sh", "--enable=all", "--exclude=SC2250,SC2312,SC2310,SC2311", SCRIPT],
        check=False,
        capture_output=True,
        text=True,
    )

    assert done.stdout == ""


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox"])
def test_other_shells_read_it_alike(node: ScratchNode, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = node.state / "sh"
    path.symlink_to(shutil.which(shell) or "")
    a_directory(node)
    node.file(CONFIG, V2_OFF)

    report = node.run("repair", "dbus", "nri", shell=str(path))

    assert report["error"] == ""
    assert report["changed"][-1] == "restarted containerd"
