"""Port for reading the connections of organizations by which a user signs in."""

from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.sign_in.own_ways import NamedConnection


class WaysOfUser(Protocol):
    """Connections by which a user signs in, with their names."""

    def defer_required(self, user_id: UUID, *, of_owners: bool = False) -> Deferred[NamedConnection | None]:
        """Defer reading the connection by which a user has to sign in; None when every way is open. It locks nothing.

        With `of_owners`, return it also for the owner of its organization, who is exempt.
        """
        ...

    def defer_connection_of(self, session_id: UUID) -> Deferred[NamedConnection | None]:
        """Defer reading the connection by which a session began; None when it began otherwise."""
        ...
