"""Storage of the requests of service providers that wait for their answer."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.saml.providers import SamlProvider
from core.saml.requests import OpenTarget, PendingRequest


class SamlRequests(Protocol):
    """Requests under the hash of their state, each bound to the hash of the key of a browser."""

    def add(self, pending: PendingRequest, *, state_hash: bytes, browser_hash: bytes) -> Deferred[bool]:
        """Defer storing a request; False when the service has one with its message id, also from a concurrent call."""
        ...

    def find(
        self, provider: SamlProvider, *, state_hash: bytes, browser_hash: bytes, at: datetime
    ) -> PendingRequest | None:
        """Return a request of a service that is neither answered nor expired; None without one."""
        ...

    def claim(self, pending: PendingRequest, *, at: datetime) -> Deferred[bool]:
        """Defer marking a request as answered; False when it is already, as for the loser of concurrent calls."""
        ...

    def open_target(self, state_hash: bytes, *, at: datetime) -> OpenTarget | None:
        """Return the organization and service of a request; None when it is unknown, answered or expired."""
        ...

    def put_ticket(
        self, state_hash: bytes, *, ticket_hash: bytes, session_id: UUID, at: datetime, expires_at: datetime
    ) -> tuple[str, str] | None:
        """Store the ticket of a request, replacing an earlier one.

        Return the slugs of the organization and the service; None when the request is answered or expired.
        """
        ...

    def renew_ticket(
        self, pending: PendingRequest, *, ticket_hash: bytes, session_id: UUID, expires_at: datetime
    ) -> None:
        """Store the ticket of a request, replacing an earlier one, unless the request is answered."""
        ...

    def use_ticket(self, request_id: UUID, ticket_hash: bytes, *, at: datetime) -> tuple[UUID, UUID] | None:
        """Remove the ticket of a request and return its session and its user.

        None when it is another one, used or expired.
        """
        ...
