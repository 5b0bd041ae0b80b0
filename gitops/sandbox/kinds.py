"""What a cluster serves: resources, their names and schemas, and the kinds that are built in."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gitops.sandbox.schema import Schema
from gitops.sandbox.wire import Cause, Manifest


@dataclass(frozen=True)
class Context:
    """What admission may look at besides the object."""

    user: str
    """Who writes."""
    now: str
    """When, RFC 3339."""
    find: Callable[[str, str, str], Manifest | None]
    """Finds another object of the same cluster by plural, namespace and name."""
    all: Callable[[str], Iterable[Manifest]]
    """Lists all objects of a built-in resource by its plural."""


def _keep(_: Manifest) -> None:
    """Default nothing."""


def _admit(_new: Manifest, _old: Manifest | None, _context: Context) -> None:
    """Admit everything."""


def _valid(_new: Manifest, _old: Manifest | None) -> Iterable[Cause]:
    """Find everything valid."""
    return ()


def spec_changed(new: Manifest, old: Manifest) -> bool:
    """Tell whether a write raises an ordinary generation: more than metadata and status changed."""
    skipped = {"metadata", "status"}
    return any(new.get(key) != old.get(key) for key in (new.keys() | old.keys()) - skipped)


@dataclass(frozen=True)
class Rules:
    """What is special about a kind. The writer owns defaults, nobody owns what admission changes."""

    default: Callable[[Manifest], None] = _keep
    """Fills in defaults, in place."""
    mutate: Callable[[Manifest, Manifest | None, Context], None] = _admit
    """Mutating admission: changes the new object in place, or refuses by raising."""
    prepare: Callable[[Manifest, Manifest | None], None] | None = None
    """Last changes before validation, after the generation has been decided."""
    raises_generation: Callable[[Manifest, Manifest], bool] | None = None
    """Whether a write raises the generation, given new and old; None for kinds without one."""
    validate: Callable[[Manifest, Manifest | None], Iterable[Cause]] = _valid
    """Yields causes for a 422."""
    review: Callable[[Manifest, Manifest | None, Context], None] = _admit
    """Validating admission: refuses by raising."""
    delete: Callable[[Manifest], None] = _keep
    """Refuses a deletion by raising."""


@dataclass(frozen=True)
class Column:
    """One column of `kubectl get`."""

    name: str
    """The heading."""
    cell: Callable[[Manifest], object]
    """The value for one object."""
    priority: int = 0
    """Above 0 only with -o wide."""


@dataclass(frozen=True)
class Resource:
    """One resource in one version."""

    group: str
    """Empty for the core group."""
    version: str
    """The version it is served in."""
    kind: str
    """e.g. ConfigMap."""
    plural: str
    """e.g. configmaps."""
    schema: Schema = field(compare=False)
    """Of the whole object."""
    namespaced: bool = True
    """Whether objects live in namespaces."""
    custom: bool = False
    """Whether a CRD defines it: then unknown fields are pruned and the CRD's defaults apply."""
    storage_version: str = ""
    """The version objects are kept in; the same as `version` where empty."""
    subresources: tuple[str, ...] = ()
    """e.g. status."""
    short_names: tuple[str, ...] = ()
    """e.g. cm."""
    categories: tuple[str, ...] = ()
    """e.g. all."""
    columns: tuple[Column, ...] = ()
    """Between NAME and AGE."""
    rules: Rules = Rules()
    """What is special about the kind."""
    zero: Manifest = field(default_factory=dict, compare=False)
    """Parts that Go prints even where nobody has set them: no writer owns them as such."""
    blind_update: bool = True
    """Whether a PUT may come without a resourceVersion."""

    @property
    def api_version(self) -> str:
        """Group and version as manifests spell them."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def stored_version(self) -> str:
        """The apiVersion objects are kept in."""
        version = self.storage_version or self.version
        return f"{self.group}/{version}" if self.group else version


def at(manifest: Manifest, path: str) -> object:
    """Return the value at a dotted path, or None where there is none."""
    value: object = manifest
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value
