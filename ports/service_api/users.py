"""Storage of the users of services, as the backends of services see them."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.service_api.users import ServiceUsersPage
from core.services.api_keys import ServiceCaller


class ServiceUsers(Protocol):
    """The users of services. A user of no other service is ever returned."""

    def defer_page_of_key(self, *, limit: int, offset: int) -> Deferred[ServiceUsersPage]:
        """Defer reading a page of the users of the service whose key the request presents, and their number.

        They come in the order of their ids, the highest first. Its cost depends neither on the number of users nor on
        the offset.
        """
        ...

    def link(self, caller: ServiceCaller, user_id: UUID, *, at: datetime) -> None:
        """Make an account a user of the service who has not signed in to it; one who is keeps the times."""
        ...

    def hold(self, caller: ServiceCaller, known_id: UUID) -> UUID | None:
        """Return the account that an id means, which remains a user of the service until this transaction ends.

        None when it is no user of the service.
        """
        ...

    def lock(self, caller: ServiceCaller, known_id: UUID) -> tuple[UUID, datetime] | None:
        """Lock the account that an id means against every row that would refer to it.

        Return its id, and since when it is a user of the service; None when it is none.
        """
        ...

    def unlink(self, caller: ServiceCaller, user_id: UUID) -> None:
        """Delete what a user has of the service: the link, the subscriptions and the sign-ins."""
        ...

    def count_changes(self, limit: int) -> int:
        """Add at most `limit` recorded changes to the numbers of users; return how many."""
        ...

    def add_milestones(self) -> int:
        """Store milestones where many users lie between two; return how many."""
        ...
