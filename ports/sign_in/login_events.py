"""Port for stored login events."""

from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.sign_in.login_events import LoginEvent, NamedPlace, RefusedAttempt
from core.sign_in.reasons import SignInReason
from core.sign_in.risk import Habits


class LoginEvents(Protocol):
    """Every attempt to sign in to an existing account, and the habits that the next one is compared with."""

    def add(self, event: LoginEvent, *, has_waited: bool) -> None:
        """Store an attempt of a person whose account this transaction holds, and add it to their habits.

        If the sign-in `has_waited`, its earlier event with this id and organization is replaced, unless that one was
        completed.
        """
        ...

    def pass_over(self, event: LoginEvent) -> None:
        """Store nothing, by statements that take as long as those of `add`."""
        ...

    def defer_refused(self, user_id: UUID, reason: SignInReason, named: NamedPlace) -> Deferred[RefusedAttempt]:
        """Defer reading what a refused attempt belongs to, and whether the most allowed of its kind are stored already.

        Its kind are the attempts of the last fifteen minutes with the same reason and organization. It belongs to an
        organization only if the user is its member or uses its services, and to the named customer of the service only
        if the user is a confirmed member of that customer. Its organization is not deleted before the transaction ends.
        """
        ...

    def defer_habits(self, user_id: UUID) -> Deferred[Habits]:
        """Defer reading a user's habits: within the windows and bounds of `core/sign_in/risk.py`."""
        ...
