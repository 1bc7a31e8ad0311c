"""What a later version no longer supports: one table, for `gatehouse doctor` and for ops/docs/upgrading.md.

The version that deprecates something adds a line; the version that removes it deletes the line.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Deprecation:
    """Something that still works."""

    name: str
    """A setting, or a program with its major version, such as PostgreSQL 14."""
    since: str
    """The version of Gatehouse that has deprecated it."""
    gone: str | None
    """The version that no longer supports it; None while that is not decided."""
    instead: str
    """What to do, as sentences."""

    @property
    def sentence(self) -> str:
        """What an operator who uses it reads; what to do stands in `instead`."""
        until = "a later version does not take it" if self.gone is None else f"{self.gone} does not take it any more"
        return f"{self.name} is deprecated since {self.since}, and {until}."


DEPRECATIONS: Final[tuple[Deprecation, ...]] = (
    Deprecation(
        name="PostgreSQL 14",
        since="0.3.0",
        gone=None,
        instead="Move to PostgreSQL 15 or newer: 14 has had its last corrections in November 2026.",
    ),
)


def in_use(names: Collection[str], table: Sequence[Deprecation] | None = None) -> list[Deprecation]:
    """Return what of the table is among the names of the settings that are set, or of the programs that are used."""
    return [deprecation for deprecation in (DEPRECATIONS if table is None else table) if deprecation.name in names]
