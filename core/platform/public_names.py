"""Names that stand in mails and on pages, and that are older than their rule (`core/text.py`, decisions 5.1).

They keep working, and mails have a neutral word in their place. `gatehouse doctor` lists them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.lazy_dataclasses import dataclass
from core.text import mentions_web_address

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicName:
    """A name, and what it names: the slugs of a service, and the id of what has no slug."""

    place: str
    name: str


def breaking_the_rule(uow: UnitOfWork) -> Sequence[PublicName]:
    """List the names of services, plans and connections that mention an address of the web."""
    return [one for one in uow.public_names.dotted() if mentions_web_address(one.name)]
