"""Reading services as OAuth clients."""

from typing import Protocol
from uuid import UUID

from core.openid.clients import Client


class Clients(Protocol):
    """Services by their client ids, with the hash of the secret; only what authenticates a client reads it."""

    def find(self, client_id: UUID) -> Client | None:
        """Return a client, in one statement; None when no service has the id."""
        ...

    def is_confidential(self, organization_id: UUID, service_id: UUID) -> bool:
        """Return whether a service of an organization is a confidential client."""
        ...
