"""The rules of signing in for people who help a user: a check for each rule, in order.

The checks are read from the judgements of `core/sign_in/judgement.py`, for a user who is not signing in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.sign_in.facts import SignInFacts, amended, answered
from core.sign_in.judgement import Check, Judgement, Verdict, judge
from core.sign_in.own_account import NamedConnection
from core.sign_in.reasons import SignInReason, reason_of
from core.sign_in.rules import Amend, Asks, Depends, Facts, Rule


class SignInWay(StrEnum):
    """A way in that a walk follows."""

    PASSWORD = "password"  # noqa: S105 - the name of a way
    LINK = "link"
    PASSKEY = "passkey"
    CONNECTION = "connection"


class RuleVerdict(StrEnum):
    """The verdict of a rule; asking for something, or depending on the attempt, ends no walk."""

    PASSES = "passes"
    REFUSES = "refuses"
    # The user has to do something more, and then goes on.
    ASKS = "asks"
    # It refuses some attempts and not others; `networks` or the reason says which.
    DEPENDS = "depends"
    NOT_REACHED = "not_reached"
    # It concerns the account alone, and its person has not confirmed that they belong to the organization that asks.
    NOT_TOLD = "not_told"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCheck:
    """The check of a rule; `reason` says why it refuses, asks or depends, and `until` how long that lasts.

    Attempts from `networks` are refused, and `required` is the connection by which the user has to sign in.
    """

    rule: Rule
    verdict: RuleVerdict
    reason: SignInReason | None = None
    until: datetime | None = None
    networks: tuple[str, ...] = ()
    required: NamedConnection | None = None

    @property
    def reason_text(self) -> str | None:
        """The reason in words for people who help; None for a rule that passes."""
        return self.reason.text if self.reason is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkedConnection:
    """The connection of a walk."""

    id: UUID
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInWalk:
    """The rules in their order on a way; `connection` is set only for the way by a connection."""

    way: SignInWay
    connection: WalkedConnection | None
    checks: tuple[RuleCheck, ...]

    @property
    def refusal(self) -> RuleCheck | None:
        """The rule that refuses; None when none does."""
        return next((check for check in self.checks if check.verdict is RuleVerdict.REFUSES), None)


_VERDICTS: Final = {
    Verdict.PASSED: RuleVerdict.PASSES,
    Verdict.AMENDED: RuleVerdict.PASSES,
    Verdict.REFUSED: RuleVerdict.REFUSES,
    Verdict.ASKS: RuleVerdict.ASKS,
    Verdict.DEPENDS: RuleVerdict.DEPENDS,
    Verdict.NOT_REACHED: RuleVerdict.NOT_REACHED,
    Verdict.NOT_TOLD: RuleVerdict.NOT_TOLD,
}


def judge_to_end(judged: Judgement[Facts]) -> Judgement[Facts]:
    """Return a judgement after all rules, or after a rule that refuses or needs facts that are not read.

    The facts get the changes that a sign-in would make, and the proofs that it would ask for.
    """
    while judged.answer is not None and judged.refusal is None:
        judged = judge(judged.rules, _after(judged), judged, hidden=judged.hidden)
    return judged


def _after(judged: Judgement[Facts]) -> Facts:
    facts, answer = judged.facts, judged.answer
    if not isinstance(facts, SignInFacts):
        return facts
    if answer is Amend.RECLAIM:
        return amended(facts)
    return answered(facts) if answer == Asks(SignInReason.SECOND_FACTOR_ASKED) else facts


def checks_of(*traces: Iterable[Check]) -> tuple[RuleCheck, ...]:
    """Return one check for each rule: the one that refuses, else the first."""
    found = dict[Rule, RuleCheck]()
    for trace in traces:
        for check in trace:
            if check.rule not in found or check.verdict is Verdict.REFUSED:
                found[check.rule] = _check(check)
    return tuple(found.values())


def _check(check: Check) -> RuleCheck:
    answer, told = check.answer, RuleCheck(rule=check.rule, verdict=_VERDICTS[check.verdict])
    match answer:
        case Refusal():
            return replace(told, reason=reason_of(answer.reason))
        case Asks():
            return replace(told, reason=answer.reason)
        case Depends():
            return replace(told, reason=answer.reason, until=answer.until, networks=answer.networks)
        case _:
            return told
