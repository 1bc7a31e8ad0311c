"""Storage of the SAML identity provider: configurations, certificates, requests, sessions, logouts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.saml.configuration import ConfigurationView, SamlConfiguration
from core.saml.identity_providers import SamlProvider
from core.saml.logout_steps import Logout
from core.saml.requests import LastContact, OpenTarget, PendingRequest
from core.saml.sessions import SamlSession, SessionState
from core.saml.visits import AdmissionStanding
from core.services.services import Service
from core.sessions.sessions import Session


class SamlConfigurations(Protocol):
    """The SAML configurations of services, at most one each."""

    def view(self, service: Service) -> ConfigurationView:
        """Return the configuration of a service, and whether it has an active certificate; the defaults without one."""
        ...

    def save(self, configuration: SamlConfiguration, *, at: datetime) -> None:
        """Store the configuration of a service; if its entity id changes, delete the record of received requests."""
        ...

    def last_contact(self, service: Service) -> LastContact | None:
        """Return when the service provider was last accepted and last refused; None without a configuration."""
        ...

    def record_request(self, provider: SamlProvider, *, at: datetime, unless_since: datetime) -> None:
        """Store when a request was accepted, unless another one was after `unless_since`."""
        ...

    def record_error(self, provider: SamlProvider, error: str, *, at: datetime, unless_since: datetime) -> None:
        """Store why a request was refused, unless another one was after `unless_since`."""
        ...


class SamlProviders(Protocol):
    """The identity providers of services, for requests of browsers and service providers."""

    def find(self, organization_slug: str, service_slug: str) -> SamlProvider | None:
        """Return the identity provider of a service with a configuration, in one statement; else None."""
        ...

    def by_id(self, organization_id: UUID, service_id: UUID) -> SamlProvider | None:
        """Return the identity provider of a service with a configuration, in one statement; else None."""
        ...

    def defer_standing(self, provider: SamlProvider, user_id: UUID) -> Deferred[AdmissionStanding | None]:
        """Defer reading a user's standing at the organization and the service; None when there is no such account."""
        ...


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


class SamlSessions(Protocol):
    """Sessions of service providers; a row stays after the session has ended, until the session is deleted."""

    def add(self, session: SamlSession) -> None:
        """Store the name and index that a service provider gets for a new session."""
        ...

    def find(self, session_id: UUID) -> SamlSession | None:
        """Return a session; None when no service provider knows it."""
        ...

    def named(
        self, provider: SamlProvider, name: str, indexes: Sequence[str], *, domain_id: UUID | None, limit: int
    ) -> Sequence[UUID]:
        """List the sessions of a service under this name, ended ones too, the newest first.

        Only sessions that began under the custom domain, or under the base URL without one: each host is an identity
        provider of its own. With indexes, only sessions that have both the name and one of the indexes.
        """
        ...

    def states(self, session_ids: Sequence[UUID]) -> Sequence[SessionState]:
        """Return the states of sessions, in no order."""
        ...

    def end_earlier(self, session: Session, parent_id: UUID, provider: SamlProvider) -> None:
        """End the earlier sessions of a service provider that this one replaces.

        They began from the same parent, for the same customer or for none.
        """
        ...

    def count_live(self, service: Service, *, counted_max: int) -> int:
        """Count the live sessions of a service's service provider, up to `counted_max`."""
        ...

    def defer_alive_of(
        self, user_id: UUID, parent_ids: Sequence[UUID], *, service_id: UUID | None = None, limit: int
    ) -> Deferred[Sequence[UUID]]:
        """Defer listing the live sessions of service providers that began from these of a user, the oldest first."""
        ...


class SamlLogouts(Protocol):
    """Logouts under the hash of their state, each bound to the hash of the key of a browser."""

    def add(self, logout: Logout, *, state_hash: bytes, browser_hash: bytes) -> bool:
        """Store a new logout; False when its service, or its connection, has one with its message id.

        A logout that a concurrent call stores counts too.
        """
        ...

    def lock(self, state_hash: bytes, browser_hash: bytes, *, at: datetime) -> Logout | None:
        """Lock a logout of a browser and return it; None when it is over or expired."""
        ...

    def lock_awaiting(self, state_hash: bytes, *, at: datetime) -> Logout | None:
        """Lock a logout that awaits an answer and return it; None when it awaits none, is over or has expired."""
        ...

    def save(self, logout: Logout) -> None:
        """Store the new state of a locked logout."""
        ...

    def remove(self, logout: Logout) -> None:
        """Mark a locked logout as over."""
        ...
