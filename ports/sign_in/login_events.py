"""Port for stored login events."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.sign_in.login_events import LoginEvent
from core.sign_in.risk import Habits


class LoginEvents(Protocol):
    """Every attempt to sign in to an existing account."""

    def add(self, event: LoginEvent) -> None:
        """Store an attempt; nothing is stored when the account does not exist."""
        ...

    def defer_habits(
        self, user_id: UUID, *, since: datetime, sign_ins_max: int, failures_since: datetime, failures_max: int
    ) -> Deferred[Habits]:
        """Defer reading a user's habits: the newest sign-ins since a moment, and the number of refused attempts.

        At most `sign_ins_max` sign-ins and `failures_max` refused attempts count.
        """
        ...
