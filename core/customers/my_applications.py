"""My applications: the services that a person may open, and the customers for which they have signed in at one.

The applications are the services of the person's organizations, services that they use or were given, and services that
their organizations use as customers, once for each customer. The same code decides as for sessions
(`adapters/postgres/sessions/customer_contexts.py`) and their limits (`Confinement`). No stranger puts a service here:
what the person has not confirmed counts only where its organization has proved the mail domain.

The token of a service shows the customers that are still open to its user, so that its pages can offer to switch. A
session by the connection of an organization shows that organization alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.ids import id_or_none
from core.lazy_dataclasses import dataclass
from core.saml import visits
from core.sessions import callers
from core.sessions.caller_limits import Confinement

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

TILES_MAX: Final = 100
_BETWEEN: Final = "_"


class OpenedBy(StrEnum):
    """How one of our pages opens a service."""

    START_PAGE = "start_page"  # its own page that begins a sign-in, by `/auth/start`
    SAML = "saml"  # a sign-in by SAML that begins here
    ITSELF = "itself"  # its own page, whose address is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class TilePosition:
    """The place of a tile: by the name of the service in lower case, the service, and the customer, none first."""

    name: str
    service_id: UUID
    customer_id: UUID | None

    def __str__(self) -> str:
        """Return the position as it stands in the address of a page."""
        return _BETWEEN.join([str(self.service_id), str(self.customer_id or ""), self.name])


def position_of(text: str) -> TilePosition | None:
    """Return the position that a text in an address names; None, the beginning, when it is empty or damaged."""
    service, _, rest = text.partition(_BETWEEN)
    customer, _, name = rest.partition(_BETWEEN)
    service_id, customer_id = id_or_none(service), id_or_none(customer)
    if service_id is None or (customer and customer_id is None):
        return None
    return TilePosition(name=name, service_id=service_id, customer_id=customer_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A service that a person may open, for a customer of it or as themselves.

    `sort_name` is the form of the service's name that orders the tiles. `is_member` concerns the organization of the
    service, and `is_linked` says that a key has made the person an end user.
    """

    sort_name: str
    service_id: UUID
    service_slug: str
    service_name: str
    client_id: UUID
    organization_id: UUID
    organization_slug: str
    organization_name: str
    customer_id: UUID | None
    customer_organization_id: UUID | None
    internal_id: UUID | None
    customer_name: str | None
    serves_customers: bool
    has_start_page: bool
    has_saml: bool
    members_only: bool
    is_member: bool
    is_linked: bool

    @property
    def position(self) -> TilePosition:
        """The place of the tile."""
        return TilePosition(name=self.sort_name, service_id=self.service_id, customer_id=self.customer_id)

    @property
    def opened_by(self) -> OpenedBy:
        """How one of our pages opens the service."""
        if self.has_start_page:
            return OpenedBy.START_PAGE
        return OpenedBy.SAML if self.has_saml and self._is_admitted else OpenedBy.ITSELF

    @property
    def customer(self) -> str | None:
        """The customer that the link names, empty to come without one; None where the service has no customers."""
        if not self.serves_customers:
            return None
        return str(self.customer_id) if self.customer_id is not None else ""

    @property
    def _is_admitted(self) -> bool:
        """Whether a sign-in by SAML that begins here ends with an assertion."""
        if self.customer_id is not None:
            return True
        if not self.serves_customers:
            # Only members are admitted (`core/saml/answering.py`).
            return self.is_member
        return visits.is_admitted(members_only=self.members_only, is_member=self.is_member, is_linked=self.is_linked)

    def is_open_within(self, limits: Confinement | None) -> bool:
        """Return whether a session with these limits goes there."""
        if limits is None:
            return True
        if self.customer_organization_id is None:
            return limits.allows(self.organization_id, self.service_id)
        return limits.allows_customer(
            {self.customer_organization_id, self.internal_id}, self.organization_id, self.service_id
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles:
    """A part of the tiles of a person; the list goes on at `next`, None at its end."""

    tiles: Sequence[Tile]
    next: TilePosition | None


def list_mine(uow: UnitOfWork, *, after: TilePosition | None) -> Tiles:
    """Return the services that the caller may open in this session, by name, at most `TILES_MAX`."""
    caller = uow.caller
    found = uow.my_applications.page(
        caller.account.id,
        # A session that may be another person's shows nothing that was given to the address and is not confirmed.
        has_address=caller.account.is_verified and not caller.limits.lacks_mailed_proof,
        limits=caller.shown_within,
        after=after,
        limit=TILES_MAX + 1,
    )
    shown = found[:TILES_MAX]
    return Tiles(
        tiles=[tile for tile in shown if tile.is_open_within(caller.shown_within)],
        next=shown[-1].position if len(found) > TILES_MAX else None,
    )


# More than a person works for; the latest come first.
CUSTOMERS_SHOWN_MAX: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCustomer:
    """A customer for which a user has signed in to a service, and when they last did; the id is the record's."""

    id: UUID
    organization_id: UUID
    internal_id: UUID | None
    slug: str
    name: str
    last_sign_in_at: datetime


def list_my_customers(uow: UnitOfWork) -> Sequence[OwnCustomer]:
    """List the open customers that the caller has signed in for at the service of the session, the latest first.

    A session without a service has none.
    """
    caller = callers.require_caller(uow)
    if caller.place.service_id is None:
        return []
    assert caller.place.organization_id is not None, "a session of a service names no organization"
    vendor_id, service_id, limits = caller.place.organization_id, caller.place.service_id, caller.limits.confinement
    found = uow.own_customers.of_user(vendor_id, service_id, caller.account.id, limit=CUSTOMERS_SHOWN_MAX)
    return [
        one
        for one in found
        if limits is None or limits.allows_customer({one.organization_id, one.internal_id}, vendor_id, service_id)
    ]
