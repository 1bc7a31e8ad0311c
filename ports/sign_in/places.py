"""Port for the places that sign-ins lead to."""

from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.sign_in.places import Place
from core.sign_in.proofs import Target


class SignInPlaces(Protocol):
    """Organizations and their services, as a user sees them who signs in."""

    def defer(
        self,
        user_id: UUID,
        organization_slug: str | None,
        service_slug: str | None,
        *,
        holds: bool = False,
    ) -> Deferred[Place]:
        """Defer reading the place of a sign-in; of what is not named or does not exist, nothing is in it.

        With `holds` the organization is not deleted before the transaction ends.
        """
        ...

    def defer_of_client(self, user_id: UUID, client_id: UUID) -> Deferred[Place]:
        """Defer reading the place of a service by its client id, and hold it; nothing is in that of an unknown one.

        That is cheap for a service that is open to everyone, without customers.
        """
        ...

    def defer_target(self, return_hash: bytes | None, organization_slug: str | None) -> Deferred[Target | None]:
        """Defer reading the organization and service that the return with that hash of its id names, expired or not.

        Without them it is the organization of that slug; None when there is none.
        """
        ...
