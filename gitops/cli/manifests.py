"""`gitops manifests`: what a cluster needs to run the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from gitops.cli.exits import Exit
from gitops.cli.forge import place_options
from gitops.cli.options import Duration, Source, source_options
from gitops.clock import SystemClock
from gitops.deploy import settings as sound
from gitops.deploy.dockerfile import BASE, dockerfile
from gitops.deploy.manifests import manifests as all_manifests
from gitops.deploy.printed import Part, Printed, document_text, kustomization_text, yaml_text
from gitops.deploy.settings import Forge, Mode, Secrets, Settings
from gitops.desired.compose import Desired
from gitops.desired.overlay_file import overlay_names
from gitops.desired.whole import compose_whole
from gitops.errors import InvalidInput, Refused, Violation
from gitops.notify.place import find_forge

_ALL = "all"


class _Sound(click.ParamType[str]):
    """A text that one of `gitops.deploy.settings`' functions finds sound."""

    def __init__(self, name: str, check: Callable[[str], str]) -> None:
        self.name = name
        self._check = check

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Read it, or fail as a usage error with the reason."""
        try:
            return self._check(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


_SECRET = _Sound("name", sound.subdomain)
_DEFAULTS = Settings("", "")


@click.command()
@click.argument("overlays", metavar="[OVERLAY...]", nargs=-1)
@source_options
@click.option(
    "-o", "--output", type=click.Choice(["yaml"]), default="yaml", show_default=True, help="How results are printed."
)
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write one file for each object instead, with a kustomization.yaml for each cluster.",
)
@click.option(
    "--part",
    type=click.Choice([_ALL, *(part.value for part in Part)]),
    default=_ALL,
    show_default=True,
    help="For which cluster, and for whom: where it runs, the garden's projects, the garden's operators, or the "
    "garden's runtime cluster.",
)
@click.option("--image", type=_Sound("image", sound.image), metavar="IMAGE", help="The image with its version.")
@click.option(
    "--url", type=_Sound("url", sound.url), metavar="URL", help="Where pods read the repository.  [default: --repo]"
)
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    default=_DEFAULTS.mode.value,
    show_default=True,
    help="A run at each time of a schedule, `gitops serve`, or both.",
)
@click.option(
    "--namespace",
    type=_Sound("name", sound.label),
    default=_DEFAULTS.namespace,
    show_default=True,
    help="Where it runs.",
)
@click.option("--create-namespace", is_flag=True, help="Print the namespace too.")
@click.option(
    "--schedule", type=_Sound("cron", sound.schedule), default=_DEFAULTS.schedule, show_default=True, help="When."
)
@click.option(
    "--time-zone",
    type=_Sound("zone", sound.time_zone),
    default=_DEFAULTS.time_zone,
    show_default=True,
    help="Of the schedule.",
)
@click.option(
    "--deadline",
    type=Duration(),
    default=_DEFAULTS.deadline,
    show_default="2h",
    help="End a run of the CronJob after this time.",
)
@click.option("--in-cluster", is_flag=True, help="It runs in the garden itself, and needs no kubeconfig.")
@click.option(
    "--garden-secret",
    type=_SECRET,
    default=_DEFAULTS.secrets.garden,
    show_default=True,
    help="Secret with the garden's `kubeconfig`.",
)
@click.option(
    "--runtime-secret",
    type=_SECRET,
    default=_DEFAULTS.secrets.runtime,
    show_default=True,
    help="Secret with the `kubeconfig` of the garden's runtime cluster, where operator Extensions are declared.",
)
@click.option(
    "--git-secret",
    type=_SECRET,
    metavar="NAME",
    help="Secret with `ssh-privatekey` and `known_hosts`, or with `.git-credentials`.",
)
@click.option("--pull-secret", type=_SECRET, metavar="NAME", help="Secret that opens the image's registry.")
@click.option(
    "--forge-secret",
    type=_SECRET,
    metavar="NAME",
    help="Secret with the `token` that sets commit statuses.",
)
@place_options
@click.option(
    "--signers-secret",
    type=_SECRET,
    metavar="NAME",
    help="Secret with the `allowed_signers` by one of whom every commit must be signed.",
)
@click.option(
    "--webhook-secret",
    type=_SECRET,
    default=_DEFAULTS.secrets.webhook,
    show_default=True,
    help="Secret with the `secret` that forges sign with.",
)
@click.option(
    "--dashboard-token-secret",
    type=_SECRET,
    metavar="NAME",
    help="Secret with the `token` that opens the dashboard of `gitops serve`. Or:",
)
@click.option(
    "--dashboard-password-secret",
    type=_SECRET,
    metavar="NAME",
    help="Secret with the `passwords` that open it, lines of `gitops password`.",
)
@click.option(
    "--host", "hosts", type=_Sound("host", sound.subdomain), multiple=True, help="Print an Ingress for this host name."
)
@click.option(
    "--ingress-class",
    type=_Sound("name", sound.subdomain),
    metavar="NAME",
    help="Ingress controller of the hosts; the cluster's default otherwise.",
)
@click.option(
    "--tls-secret",
    type=_SECRET,
    default=_DEFAULTS.secrets.tls,
    show_default=True,
    help="Secret with the certificate of the hosts.",
)
@click.option(
    "--replicas",
    type=click.IntRange(min=1),
    default=_DEFAULTS.replicas,
    show_default=True,
    help="Pods of `gitops serve`.",
)
@click.option("--service-monitor", is_flag=True, help="Print a ServiceMonitor; the Prometheus operator must be there.")
@click.option("--dockerfile", "as_dockerfile", is_flag=True, help="Print a Dockerfile for the image instead.")
@click.option(
    "--base",
    type=_Sound("image", sound.image),
    default=BASE,
    show_default=True,
    metavar="IMAGE",
    help="Base image of the Dockerfile.",
)
def manifests(
    overlays: tuple[str, ...],
    source: Source,
    folder: Path | None,
    part: str,
    as_dockerfile: bool,
    base: str,
    **chosen: Any,
) -> int:
    """Print what a cluster needs to run OVERLAY... from there, as YAML for kubectl or kustomize.

    Rights in the garden are as small as what the overlays declare lets them be. Without OVERLAY, all overlays are
    meant.
    """
    if as_dockerfile:
        click.echo(dockerfile(base), nl=False)
        return Exit.OK
    settings = _settings(source, chosen)
    wanted = [each for each in Part if part in {_ALL, each.value}]
    objects = [each for each in all_manifests(_composed(source, overlays), settings) if each.part in wanted]
    if folder is None:
        click.echo(yaml_text(objects), nl=False)
    else:
        _write(folder, objects, wanted)
    return Exit.OK


def _settings(source: Source, chosen: dict[str, Any]) -> Settings:
    if chosen["image"] is None:
        raise click.UsageError("--image is missing: an image that --dockerfile describes, such as registry/image:tag")
    url = chosen["url"]
    if url is None:
        try:
            url = sound.url(source.repo)
        except ValueError as error:
            raise click.UsageError(f"--url is missing: pods cannot read {source.repo} ({error})") from error
    if chosen["dashboard_token_secret"] and chosen["dashboard_password_secret"]:
        raise click.UsageError("a token or passwords open the dashboard: name one Secret")
    _refuse_unused(Mode(chosen["mode"]))
    secrets = Secrets(
        garden="" if chosen["in_cluster"] else chosen["garden_secret"],
        runtime=chosen["runtime_secret"],
        git=chosen["git_secret"] or "",
        webhook=chosen["webhook_secret"],
        forge=chosen["forge_secret"] or "",
        dashboard_token=chosen["dashboard_token_secret"] or "",
        dashboard_passwords=chosen["dashboard_password_secret"] or "",
        signers=chosen["signers_secret"] or "",
        pull=chosen["pull_secret"] or "",
        tls=chosen["tls_secret"],
    )
    same = ("image", "namespace", "schedule", "time_zone", "deadline", "hosts", "replicas", "service_monitor")
    named = {name: chosen[name] for name in (*same, "create_namespace")}
    return Settings(
        url=url,
        mode=Mode(chosen["mode"]),
        secrets=secrets,
        forge=_forge(url, chosen),
        ingress_class=chosen["ingress_class"] or "",
        **named,
    )


def _refuse_unused(mode: Mode) -> None:
    """Nothing that was asked for is left out in silence.

    Raises:
        UsageError: an option was given, or stands in the environment, that does nothing in this mode.
    """
    context = click.get_current_context()
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is not ParameterSource.DEFAULT
        if given and option.name in _OF_NO_USE.get(mode, ()):
            raise click.UsageError(f"{option.opts[0]} does nothing with --mode {mode.value}")


_OF_NO_USE = {
    Mode.CRONJOB: {
        *("webhook_secret", "dashboard_token_secret", "dashboard_password_secret"),
        *("hosts", "ingress_class", "tls_secret", "replicas", "service_monitor"),
    },
    Mode.SERVE: {"deadline"},
}
"""What is of `gitops serve` alone, and of a CronJob alone."""


def _forge(url: str, chosen: dict[str, Any]) -> Forge:
    """What is said of the forge, if that is enough to find it.

    Raises:
        UsageError: nobody would tell it anything.
        Refused: it could not be known at run time either.
    """
    kind, address, repository = (chosen[name] for name in ("forge", "forge_url", "forge_repository"))
    if chosen["forge_secret"]:
        find_forge(url, forge=kind, address=address, repository=repository)
    elif kind or address or repository:
        raise click.UsageError("a forge takes nothing without a token: name its Secret with --forge-secret")
    return Forge(kind or "", address or "", repository or "")


def _composed(source: Source, names: Sequence[str]) -> list[Desired]:
    now = SystemClock().now()
    with source.opened() as artifact:
        known = overlay_names(artifact)
        if not names and not known:
            message = f"{artifact.repository} has no overlays/<name>/overlay.yaml at {artifact.revision[:12]}"
            raise InvalidInput([Violation("overlays", 0, "", "no-overlay", message)])
        return [compose_whole(artifact, name, now) for name in dict.fromkeys(names or known)]


def _write(folder: Path, objects: Sequence[Printed], parts: Iterable[Part]) -> None:
    """One folder for each cluster; files that hold the same already stay untouched.

    Raises:
        Refused: a file could not be written, or the folder holds a manifest that is printed no longer.
    """
    texts: dict[Path, str] = {}
    for part in parts:
        files = {printed.file_name: document_text(printed) for printed in objects if printed.part is part}
        if files:
            texts |= {folder / part.value / name: text for name, text in files.items()}
            texts[folder / part.value / "kustomization.yaml"] = kustomization_text(files)
    left = sorted({file for part in parts for file in (folder / part.value).glob("*.yaml")} - set(texts))
    if left:
        raise Refused(f"{left[0]} is not printed any more: remove it, here and where it was applied")
    try:
        for file, text in texts.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.exists() or file.read_text(encoding="utf-8") != text:
                file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Refused(f"{error.filename} cannot be written: {error.strerror}") from error
    click.echo("\n".join(str(file) for file in texts), err=True)
