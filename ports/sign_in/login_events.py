"""Port for stored login events."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.sign_in.login_events import LoginEvent
from core.sign_in.risk import Habits


class LoginEvents(Protocol):
    """Every attempt to sign in to an existing account."""

    def add(self, event: LoginEvent, *, organization_id: UUID | None, service_id: UUID | None) -> None:
        """Store a sign-in; nothing is stored when the account does not exist.

        An event with its id is that of the same sign-in, which has waited for a second factor, and is replaced.
        """
        ...

    def add_unfinished(
        self,
        event: LoginEvent,
        *,
        organization_slug: str | None,
        service_slug: str | None,
        customer: UUID | str | None,
        affiliated_only: bool,
        since: datetime,
        rows_max: int,
    ) -> None:
        """Store an attempt that was refused or waits, or replace the event with its id likewise.

        Nothing is stored when the account does not exist, or has `rows_max` events with the reason and the organization
        since a moment. With `affiliated_only` the event names the organization, and belongs to it, only when the user
        is a member of it or uses one of its services. It belongs to the customer of the service as well that is named
        by its id or slug, if the user has confirmed to be a member of it; a sign-in that waits keeps its customer.
        """
        ...

    def defer_habits(
        self, user_id: UUID, *, since: datetime, sign_ins_max: int, failures_since: datetime, failures_max: int
    ) -> Deferred[Habits]:
        """Defer reading a user's habits: the newest sign-ins since a moment, and the number of refused attempts.

        At most `sign_ins_max` sign-ins and `failures_max` refused attempts count.
        """
        ...
