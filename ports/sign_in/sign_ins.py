"""Port for reading the sign-ins of a user."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.sign_in.sign_ins import Affiliation, Scope, SignIn


class SignIns(Protocol):
    """The login events of a user, for people who help; newest first is the descending order of their ids."""

    def affiliation(self, organization_id: UUID, user_id: UUID) -> Affiliation | None:
        """Return since when an organization may see the sign-ins of its member or end user; None for anyone else."""
        ...

    def affiliated(self, organization_id: UUID, email: str) -> UUID | None:
        """Return the member or end user of an organization who has an address; None when there is none."""
        ...

    def defer_count(self, user_id: UUID, scope: Scope | None) -> Deferred[int]:
        """Defer counting the sign-ins of a user in a scope; None means all."""
        ...

    def page(self, user_id: UUID, scope: Scope | None, *, limit: int, offset: int) -> Sequence[SignIn]:
        """Return a part of the sign-ins of a user in a scope, the newest first; None means all.

        In the scope of an organization only its own connections are named.
        """
        ...

    def find(self, user_id: UUID, sign_in_id: UUID, scope: Scope | None) -> SignIn | None:
        """Return a sign-in of a user, as `page` does; None when the scope has none with that id."""
        ...

    def following(self, user_id: UUID, scope: Scope | None, *, after: UUID | None, limit: int) -> Sequence[SignIn]:
        """Return the newest sign-ins of a user in a scope, or those before the one with an id, as `page` does."""
        ...
