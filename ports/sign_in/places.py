"""Port for the places that sign-ins lead to."""

from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.sign_in.places import Place


class SignInPlaces(Protocol):
    """Organizations and their services, as a user sees them who signs in."""

    def defer(self, user_id: UUID, organization_slug: str | None, service_slug: str | None) -> Deferred[Place]:
        """Defer reading the place of a sign-in; of what is not named or does not exist, nothing is in it."""
        ...
