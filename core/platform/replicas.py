"""Where the primary is, which its replicas are compared with; which of them are read is not decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimaryPlace:
    """Which installation of PostgreSQL and which database the primary is, and where it is in its log of changes."""

    system_identifier: int
    database: str
    position: str


def primary_place(uow: UnitOfWork) -> PrimaryPlace:
    """Return where the primary is now."""
    return uow.primary.place()
