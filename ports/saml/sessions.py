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
    """Sessions of service providers; a row stays when its session has ended, until that is deleted."""

    def add(self, session: SamlSession) -> None:
        """Store what a service provider is told about a new session."""
        ...

    def find(self, session_id: UUID) -> SamlSession | None:
        """Return a session; None when no service provider knows it."""
        ...

    def named(
        self, provider: SamlProvider, name: str, indexes: Sequence[str], *, domain_id: UUID | None, limit: int
    ) -> Sequence[UUID]:
        """List the sessions of a service under this name, ended ones too, the newest first.

        Only those that began under the custom domain, or under the base URL without one: at each host Gatehouse is
        another identity provider. With indexes only those; a name and an index of different sessions match none.
        """
        ...

    def states(self, session_ids: Sequence[UUID]) -> Sequence[SessionState]:
        """Return the states of sessions, in no order."""
        ...

    def end_earlier(self, session: Session, parent_id: UUID, provider: SamlProvider) -> None:
        """End the sessions of a service provider that this one replaces, and that are stored here.

        They began from the same parent, for the same customer or for none.
        """
        ...

    def count_live(self, service: Service, *, counted_max: int) -> int:
        """Count the live sessions that the service provider of a service knows, at most as many."""
        ...

    def defer_alive_of(
        self, user_id: UUID, parent_ids: Sequence[UUID], *, service_id: UUID | None = None, limit: int
    ) -> Deferred[Sequence[UUID]]:
        """Defer listing the live sessions of service providers that began from these of a user, the oldest first."""
        ...
