"""Port for reading by which connections of organizations a user signs in."""

from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.sign_in.own_ways import NamedConnection


class WaysOfUser(Protocol):
    """Connections by which a user signs in, with their names."""

    def defer_required(self, user_id: UUID, *, of_owners: bool = False) -> Deferred[NamedConnection | None]:
        """Defer reading the connection by which a user has to sign in; None when every way is open.

        With `of_owners` also one that exempts them as the owner of its organization. It locks nothing.
        """
        ...

    def defer_connection_of(self, session_id: UUID) -> Deferred[NamedConnection | None]:
        """Defer reading the connection by which a session began; None for another beginning."""
        ...
