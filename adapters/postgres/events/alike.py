"""Targets of one action with details that many share, so many at once as one statement records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.driver.connection import Connection
from core.events.actions import AlikeTargets
from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOfAlike:
    """The columns of a statement: for each target the number of its details, which counts from 1."""

    organization_ids: list[UUID]
    target_ids: list[UUID]
    kinds: list[int]
    details: list[Jsonb]


def parts_of(connection: Connection, alike: Sequence[AlikeTargets]) -> Iterator[PartOfAlike]:
    """Yield the targets in parts, as `Connection.in_parts` does."""
    rows = ((number, *target) for number, one in enumerate(alike) for target in one.targets)
    for part in connection.in_parts(rows):
        first, last = part[0][0], part[-1][0]
        yield PartOfAlike(
            organization_ids=[organization_id for _, organization_id, _ in part],
            target_ids=[target_id for _, _, target_id in part],
            kinds=[number - first + 1 for number, _, _ in part],
            details=[Jsonb(one.details) for one in alike[first : last + 1]],
        )
