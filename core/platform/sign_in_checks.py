"""What a walk by the rules of signing in answers (`sign_in_walks.py`): a check for each rule, in their order."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.sign_in.own_ways import NamedConnection
from core.sign_in.reasons import SignInReason
from core.sign_in.rules import Rule


class SignInWay(StrEnum):
    """A way in that a walk follows."""

    PASSWORD = "password"  # noqa: S105 - the name of a way
    LINK = "link"
    PASSKEY = "passkey"
    CONNECTION = "connection"


class RuleVerdict(StrEnum):
    """What a rule answers. What it asks for, or makes depend on the attempt, ends no walk."""

    PASSES = "passes"
    REFUSES = "refuses"
    # The user has to do something more, and then goes on.
    ASKS = "asks"
    # It refuses some attempts and not others: `networks` says which, or the reason does.
    DEPENDS = "depends"
    NOT_REACHED = "not_reached"
    # It concerns the account alone, which has not confirmed that it belongs to the organization that asks.
    NOT_TOLD = "not_told"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCheck:
    """What one rule answers; `reason` says why it refuses, asks or depends, and `until` how long that lasts.

    `networks` are those whose attempts are refused, and `required` is the connection by which the user has to sign in.
    """

    rule: Rule
    verdict: RuleVerdict
    reason: SignInReason | None = None
    until: datetime | None = None
    networks: tuple[str, ...] = ()
    required: NamedConnection | None = None

    @property
    def reason_text(self) -> str | None:
        """The reason for those who help; None for a rule that passes."""
        return self.reason.text if self.reason is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkedConnection:
    """The connection by which a walk goes."""

    id: UUID
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInWalk:
    """The rules in the order in which a way meets them; `connection` is set for that way alone."""

    way: SignInWay
    connection: WalkedConnection | None
    checks: tuple[RuleCheck, ...]

    @property
    def refusal(self) -> RuleCheck | None:
        """The rule that refuses; None when none does."""
        return next((check for check in self.checks if check.verdict is RuleVerdict.REFUSES), None)
