"""Ending what an organization gave to users when they leave it or change their address."""

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
        """End the sessions at services with links of these origins, and those by the organization's connections."""
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
        """Lock the link of a user to a service, if there is one, so that no new row refers to it."""
        ...

    def end_own_link(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> Sequence[EndedLink]:
        """End the link to a service that its user made, unless the user has a live subscription to it."""
        ...

    def end_links_since(self, user_id: UUID, since: datetime) -> Sequence[EndedLink]:
        """Delete the links of a user that were made since then or never used, with their subscriptions."""
        ...

    def unlink_identities(self, organization_id: UUID, user_ids: Sequence[UUID], *, remembers: bool) -> None:
        """Delete the identities by which the organization's connections sign these users in.

        With `remembers`, record them, so that they can be linked again when the users return; else delete that record.
        """
        ...

    def organization_of_mail_domain(self, domain: str) -> UUID | None:
        """Return the organization that has verified a mail domain; None without one."""
        ...

    def unconfirm(self, user_id: UUID) -> None:
        """Mark everything that organizations gave to a user as unconfirmed again."""
        ...

    def is_waiting(self, user_id: UUID, organization_slug: str, service_slug: str | None) -> bool:
        """Return whether a user's membership in an organization, or the link to its service, is not confirmed."""
        ...
