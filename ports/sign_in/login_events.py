"""Port for stored login events."""

from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.sign_in.login_events import LoginEvent, NamedPlace, RefusedAttempt
from core.sign_in.reasons import SignInReason
from core.sign_in.risk import Habits


class LoginEvents(Protocol):
    """Every attempt to sign in to an existing account, and what the next one is compared with."""

    def add(self, event: LoginEvent, *, has_waited: bool) -> None:
        """Store an attempt of a person whose account this transaction holds, and keep it among their habits.

        An event with its id and organization, if it `has_waited`, is that of the same sign-in, and is replaced; but not
        one that was completed.
        """
        ...

    def pass_over(self, event: LoginEvent) -> None:
        """Store nothing, by statements that take as long."""
        ...

    def defer_refused(self, user_id: UUID, reason: SignInReason, named: NamedPlace) -> Deferred[RefusedAttempt]:
        """Defer reading to what a refused attempt belongs, and whether as many of its kind are stored as may be.

        Those of the last fifteen minutes count, with the same reason and organization. An organization knows its
        members, and the users of its services. The attempt belongs to the customer of the service as well that is
        named, if the user has confirmed to be a member of it. The organization that it belongs to is not deleted
        before the transaction ends.
        """
        ...

    def defer_habits(self, user_id: UUID) -> Deferred[Habits]:
        """Defer reading a user's habits: within the windows and bounds of `core/sign_in/risk.py`."""
        ...
