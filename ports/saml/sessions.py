"""Storage of the sessions that service providers know."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.saml.providers import SamlProvider
from core.saml.sessions import SamlSession, SessionState
from core.services.services import Service
from core.sessions.sessions import Session


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
