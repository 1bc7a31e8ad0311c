"""Port for the places that sign-ins lead to."""

from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.sign_in.places import Place
from core.sign_in.proofs import Target


class SignInPlaces(Protocol):
    """Organizations and their services, as a user who signs in may see them."""

    def defer(
        self,
        user_id: UUID,
        organization_slug: str | None,
        service_slug: str | None,
        *,
        holds: bool = False,
    ) -> Deferred[Place]:
        """Defer reading the place of a sign-in, without the parts that are not named or do not exist.

        With `holds` the organization is not deleted before the transaction ends.
        """
        ...

    def defer_of_client(self, user_id: UUID, client_id: UUID) -> Deferred[Place]:
        """Defer reading the place of a service by its client id, and hold it; the place of an unknown one is empty.

        This is cheap for a service without customers that is open to everyone.
        """
        ...

    def defer_target(self, return_hash: bytes | None, organization_slug: str | None) -> Deferred[Target | None]:
        """Defer reading the organization and service that a return names, expired or not.

        If it names none, read the organization with the slug; None when there is none.
        """
        ...
