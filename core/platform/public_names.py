"""Names in mails and on pages that are older than the rule against web addresses in names (`core/text.py`).

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
    """A name, and its owner: the slugs of a service, and the id of a thing without a slug."""

    place: str
    name: str


def breaking_the_rule(uow: UnitOfWork) -> Sequence[PublicName]:
    """List the names of services, plans and connections that contain a web address."""
    return [one for one in uow.public_names.dotted() if mentions_web_address(one.name)]
