"""Reading services as OAuth clients."""

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from core.openid.clients import Client


class Clients(Protocol):
    """Services by their client ids, with the hash of the secret, which only the authentication of clients reads."""

    def find(self, client_id: UUID) -> Client | None:
        """Return a client, in one statement; None when no service has the id."""
        ...

    def audience_among(self, candidates: Sequence[str], organization_id: UUID | None) -> str | None:
        """Return the first of these that is an audience of a service of an active organization; None without one.

        With an organization, only audiences of its services count.
        """
        ...

    def is_organization_known_to(self, organization_id: UUID, user_id: UUID) -> bool:
        """Return whether a user belongs to an organization, or has used one of its services."""
        ...

    def is_child(self, session_id: UUID, *, parent_id: UUID) -> bool:
        """Return whether a session of a service began from this browser session."""
        ...

    def children_with_pages(self, parent_id: UUID) -> Mapping[UUID, str]:
        """Return the front-channel logout pages of the live sessions that began from a browser session."""
        ...

    def with_page(self, session_id: UUID) -> Mapping[UUID, str]:
        """Return the front-channel logout page of one session of a service; empty when its service has none."""
        ...
