"""The limits of a session that began with the word of another party, or without a required sign-in."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """The organization beyond which a session signs in to nothing, and possibly the one service of it.

    `role` is set while nothing but the word of a connection says whose session it is: then the session opens only that
    role and `member`.

    Such a session began with the word of another party: an identity provider of the organization, or an account that a
    service may have linked. Or it `lacks_connection`: it began without the sign-in that another organization requires
    of its user.

    At a service that customers use, the word of another party speaks for its own organization alone. So a session by
    the connection of a customer opens that service for this customer, and a vendor's own connection opens it for none.
    A connection that the vendor has made for a customer opens the same, and nothing else of the customer. `customer_id`
    limits what the token of such a service shows to the customer for which it acts.
    """

    organization_id: UUID
    service_id: UUID | None = None
    connection_id: UUID | None = None
    role: str | None = None
    lacks_connection: bool = False
    customer_id: UUID | None = None

    def opens_role(self, role: str | None) -> bool:
        """Return whether its sessions act with a role that their user has in the organization."""
        return self.role is None or role in {None, "member", self.role}

    def allows(self, organization_id: UUID | None, service_id: UUID | None) -> bool:
        """Return whether its sessions may sign in there without a customer; with one, `allows_customer` decides.

        In a browser they are on the platform, without any context.
        """
        if organization_id is None:
            return True
        return organization_id == self.organization_id and self.service_id in {None, service_id}

    def allows_customer(self, of_customer: Collection[UUID | None], organization_id: UUID, service_id: UUID) -> bool:
        """Return whether its sessions may sign in to a service for a customer.

        `of_customer` are the customer's organization, and the internal one of what the vendor has made for it.
        """
        if self.lacks_connection:
            return self.allows(organization_id, service_id)
        return self.service_id is None and self.organization_id in of_customer

    def covers(
        self,
        own: Confinement | None,
        organization_id: UUID | None,
        service_id: UUID | None,
        customer_id: UUID | None = None,
    ) -> bool:
        """Return whether a session with limits of its own opens nothing beyond these: it is confined, or a service's.

        A session that has only selected the organization can go on to another one. The token of a service shows the
        sessions for one customer, or those for none.
        """
        if self.service_id is not None and customer_id != self.customer_id:
            return False
        if own is not None and self.allows(own.organization_id, own.service_id):
            return True
        return service_id is not None and self.allows(organization_id, service_id)
