"""The position of the primary, for comparison with its replicas (ops/decisions/0082)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimaryPlace:
    """The PostgreSQL system and database of the primary, and its position in the log of changes."""

    system_identifier: int
    database: str
    position: str


def primary_place(uow: UnitOfWork) -> PrimaryPlace:
    """Return the present position of the primary."""
    return uow.primary.place()
