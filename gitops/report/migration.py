"""What `migrate` did, for the person who goes through the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitops.manifest import get
from gitops.nri.migration.migrate import ABOUT_ALL, Migration
from gitops.nri.migration.translation import Translation
from gitops.report.style import Style, Tone
from gitops.report.words import printable


def migration_text(migrations: Mapping[str, Migration], style: Style) -> str:
    """One paragraph a file, then what changes for everybody; empty when there was nothing to migrate.

    Args:
        migrations: by file.
        style: how it is to look.
    """
    lines = [line for file, migration in migrations.items() for line in _of_file(file, migration, style)]
    if lines:
        lines += [style.paint("changes for everybody:", Tone.STRONG), *(f"  {note}" for note in ABOUT_ALL)]
    return "\n".join(lines)


def _of_file(file: str, migration: Migration, style: Style) -> Iterator[str]:
    if migration.empty:
        return
    yield style.paint(f"{printable(file)}:", Tone.PLACE)
    for translation in migration.translations:
        yield from _of_policy(translation, style)
    for refusal in migration.refusals:
        word = style.paint("not migrated", Tone.REMOVED)
        yield f"  {word}: {printable(refusal.name)}: {printable(refusal.message)} [{refusal.rule}]"
    yield from (f"  {printable(note)}" for note in migration.notes)


def _of_policy(translation: Translation, style: Style) -> Iterator[str]:
    policy = translation.policy
    name = f"{get(policy, 'kind')} {get(policy, 'metadata', 'namespace')}/{get(policy, 'metadata', 'name')}"
    yield f"  {style.paint('migrated', Tone.ADDED)}: {printable(name)}"
    yield from (f"    {style.paint('no counterpart', Tone.WARNED)}: {printable(lost)}" for lost in translation.lost)
    yield from (f"    {style.paint('changed', Tone.CHANGED)}: {printable(changed)}" for changed in translation.changed)
