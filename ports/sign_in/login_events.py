"""Stored login events."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.sign_in.login_events import LoginEvent
from core.sign_in.risk import Habits


class LoginEvents(Protocol):
    """Every attempt to sign in to a known account."""

    def add(self, event: LoginEvent) -> None:
        """Write an attempt down; of an account that is not there nothing is stored."""
        ...

    def defer_habits(
        self, user_id: UUID, *, since: datetime, sign_ins_max: int, failures_since: datetime, failures_max: int
    ) -> Deferred[Habits]:
        """Ask to look back at the newest of a person's sign-ins since then, and count the refused attempts of late."""
        ...
