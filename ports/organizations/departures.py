"""Storage of what organizations gave to users, and of what ends when they leave or change their address."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from core.organizations.departures import EndedLink, EndedSessions, LinkOrigin


class Departures(Protocol):
    """Links to services, their sessions and subscriptions, and identities of connections.

    A link with a subscription that the payment provider bills is not ended: its user pays for it.
    """

    def end_sessions(
        self, organization_id: UUID, user_ids: Sequence[UUID], origins: Sequence[LinkOrigin]
    ) -> Sequence[EndedSessions]:
        """End the sessions of services by links of these origins, and those by the organization's connections."""
        ...

    def end_links(
        self, organization_id: UUID, user_ids: Sequence[UUID], origins: Sequence[LinkOrigin]
    ) -> Sequence[EndedLink]:
        """Delete the links of these origins with their subscriptions."""
        ...

    def end_unconfirmed_links(self, user_id: UUID) -> Sequence[EndedLink]:
        """Delete the links that a user has never used, with their subscriptions."""
        ...

    def lock_link(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> None:
        """Lock the link of a user to a service, if there is one: what begins to hang on it waits."""
        ...

    def end_own_link(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> Sequence[EndedLink]:
        """End the link to a service that its user made, unless the user has a live subscription to it."""
        ...

    def end_links_since(self, user_id: UUID, since: datetime) -> Sequence[EndedLink]:
        """Delete the links of a user that were made since then, and those never used, with their subscriptions."""
        ...

    def unlink_identities(self, organization_id: UUID, user_ids: Sequence[UUID], *, remembers: bool) -> None:
        """Delete the identities by which the organization's connections sign these users in.

        With `remembers` they are kept as those of users who have left, else what is kept of them as such is deleted.
        """
        ...

    def organization_of_mail_domain(self, domain: str) -> UUID | None:
        """Return the organization that has verified a mail domain; None without one."""
        ...

    def unconfirm(self, user_id: UUID) -> None:
        """Make everything unconfirmed again that organizations gave to a user."""
        ...

    def is_waiting(self, user_id: UUID, organization_slug: str, service_slug: str | None) -> bool:
        """Return whether a user has not confirmed a membership in an organization, or the link to a service of it."""
        ...
