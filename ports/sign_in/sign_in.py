"""What signing in asks of storage besides accounts and sessions: attempts, events, and one-time tokens."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from core.accounts.one_time_tokens import OneTimeToken, TokenPurpose
from core.accounts.sign_in_failures import SignInFailure
from core.deferred import Deferred
from core.sign_in.login_events import LoginEvent
from core.sign_in.risk import Habits


class SignInFailures(Protocol):
    """Refused sign-ins of the last minutes, by the keyed hash of an address."""

    def add(self, attempt_id: UUID, email_hash: bytes, network: str, *, at: datetime) -> None:
        """Count an attempt, and let nobody else count one for the address before this transaction ends."""
        ...

    def since(self, email_hash: bytes, moment: datetime) -> Sequence[SignInFailure]:
        """List the attempts since then, the newest first."""
        ...

    def remove(self, attempt_id: UUID) -> None:
        """Take an attempt back."""
        ...


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


class OneTimeTokens(Protocol):
    """What was mailed to people, as hashes; each is used once."""

    def add(self, token: OneTimeToken, token_hash: bytes) -> None:
        """Store a token."""
        ...

    def find(self, token_hash: bytes, purpose: TokenPurpose) -> OneTimeToken | None:
        """Find a token of that purpose, used and expired ones included."""
        ...

    def use(self, token_hash: bytes, purpose: TokenPurpose, *, at: datetime) -> OneTimeToken | None:
        """Use a token up: of two racers one gets it. None when it is unknown, of another purpose, used or expired."""
        ...

    def withdraw(
        self, user_id: UUID, purpose: TokenPurpose, *, at: datetime, issued_since: datetime | None = None
    ) -> None:
        """Use up every token of a person and purpose, because a newer one took their place or they mean nothing now.

        Those that were issued before a moment can be spared.
        """
        ...

    def is_waiting_at(self, email: str, purpose: TokenPurpose, *, besides_user_id: UUID, at: datetime) -> bool:
        """Say whether an address has a token of that purpose that another account's person may yet use."""
        ...


class MfaEvents(Protocol):
    """The separate log about second factors and about the security of accounts."""

    def add(self, user_id: UUID, event_type: str, *, is_success: bool, details: dict[str, Any]) -> None:
        """Write an event of operations 6.3 down, or another one that the security of the account is about."""
        ...
