"""Storage of authorization requests."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.openid.requests import StoredRequest


class AuthorizationRequests(Protocol):
    """Requests that were pushed, or that wait for their user."""

    def add(self, id_hash: bytes, request: StoredRequest, *, expires_at: datetime) -> None:
        """Store a request."""
        ...

    def open(
        self, id_hash: bytes, organization_id: UUID, service_id: UUID, *, expires_at: datetime
    ) -> StoredRequest | None:
        """Return a pushed request of a service; None when it is unknown, used or has expired.

        The first call, when a browser opens the request, replaces its expiry by `expires_at`.
        """
        ...

    def use(self, id_hash: bytes, organization_id: UUID, service_id: UUID, *, is_pushed: bool) -> StoredRequest | None:
        """Use up a request of a service; None when there is none, or it was used or has expired.

        Of several concurrent calls one gets the request.
        """
        ...

    def find(self, id_hash: bytes) -> tuple[UUID, StoredRequest] | None:
        """Return a request with its client id, also when it is used or has expired; None when it is no longer kept."""
        ...
