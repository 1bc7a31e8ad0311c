"""The rules of signing in as those read them who help: a check for each rule, in their order.

They are a reading of the judgements of `core/sign_in/judgement.py`, for a user who is not signing in.
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
from core.sign_in.own_ways import NamedConnection
from core.sign_in.reasons import SignInReason, reason_of
from core.sign_in.rules import Amend, Asks, Depends, Facts, Rule


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
    """Return a judgement gone on with until a rule refuses, or needs what is not read, or the last has judged.

    What a sign-in would change, the facts are changed by, and what it would ask for, they are given.
    """
    while judged.answer is not None and judged.refusal is None:
        judged = judge(judged.rules, _after(judged), judged, untold=judged.untold)
    return judged


def _after(judged: Judgement[Facts]) -> Facts:
    facts, answer = judged.facts, judged.answer
    if not isinstance(facts, SignInFacts):
        return facts
    if answer is Amend.RECLAIM:
        return amended(facts)
    return answered(facts) if answer == Asks(SignInReason.SECOND_FACTOR_ASKED) else facts


def checks_of(*traces: Iterable[Check]) -> tuple[RuleCheck, ...]:
    """Return what is said of each rule, once: where it refuses, else where it is judged for the first time."""
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
