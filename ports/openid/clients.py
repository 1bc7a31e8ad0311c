"""Reading services as OAuth clients."""

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from core.openid.clients import Client


class Clients(Protocol):
    """Services by their client ids, with the hash of the secret; only what authenticates a client reads it."""

    def find(self, client_id: UUID) -> Client | None:
        """Return a client, in one statement; None when no service has the id."""
        ...

    def audience_among(self, candidates: Sequence[str], organization_id: UUID | None) -> str | None:
        """Return the first of these that is the audience of a service of an active organization, None without one.

        With an organization, only an audience of its services is one.
        """
        ...

    def is_organization_known_to(self, organization_id: UUID, user_id: UUID) -> bool:
        """Return whether a user belongs to an organization, or has used one of its services."""
        ...

    def is_child(self, session_id: UUID, *, parent_id: UUID) -> bool:
        """Return whether a session of a service began from this browser session."""
        ...

    def children_with_pages(self, parent_id: UUID) -> Mapping[UUID, str]:
        """Return the page for signing out of each live session that began from a browser session, if it has one."""
        ...

    def with_page(self, session_id: UUID) -> Mapping[UUID, str]:
        """Return the same for one session of a service; empty when its service has no such page."""
        ...
