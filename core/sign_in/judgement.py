"""Whether a sign-in is accepted: a walk through the rules in their order, and the verdict of each.

A walk stops where a rule refuses, changes what the next ones judge, asks for something, or needs what is not read. It
goes on behind that rule with the facts as they are then, so that the order of the rules is defined in one place.

The rules of a way before it has proved an identity stand here, of the same kind as those of every proof, with facts of
their own. A connection of an organization has other rules (`upstream/connection_rules.py`). Signing in carries out the
answers, and the explanation for those who help reads the same answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, Generic, TypeAlias
from uuid import UUID

from core.accounts import sign_in_failures
from core.accounts.sign_in_failures import SignInFailure
from core.accounts.users import User
from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.sessions.caller_limits import Confinement
from core.sign_in import places
from core.sign_in.facts import SignInFacts
from core.sign_in.reasons import SignInReason, SignInRefused, reason_of_account
from core.sign_in.rules import Amend, Answer, Asks, Depends, Facts, Rule, SignInRule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from core.sign_in.facts import Stage
    from core.sign_in.proofs import IdentityProof, Target


class Verdict(Enum):
    """The verdict of a rule."""

    PASSED = auto()
    REFUSED = auto()
    AMENDED = auto()
    ASKS = auto()
    DEPENDS = auto()
    NOT_REACHED = auto()
    # The person who asks why may not know it, so it stops nothing.
    NOT_TOLD = auto()


@dataclass(frozen=True, slots=True)
class Check:
    """A rule, its verdict, and its answer; None where it has given none."""

    rule: Rule
    verdict: Verdict
    answer: Answer = None


@dataclass(frozen=True, slots=True)
class Judgement(Generic[Facts]):
    """What the rules say of facts, as far as the walk has come.

    `answers` has those that are not None, by the number of their rule; `position` is the number of the next rule.
    A walk has stopped for an `answer`, or because the next rule needs a `stage`; with neither it has ended. The rules
    in `hidden` stop nothing.
    """

    rules: Sequence[SignInRule[Facts]]
    facts: Facts
    hidden: frozenset[Rule]
    answers: Mapping[int, Answer]
    position: int
    answer: Answer = None
    stage: Stage | None = None

    @classmethod
    def unjudged(
        cls, rules: Sequence[SignInRule[Facts]], facts: Facts, *, hidden: frozenset[Rule] = frozenset()
    ) -> Judgement[Facts]:
        """Return a walk that has not begun."""
        return cls(rules, facts, hidden, {}, 0)

    @property
    def rule(self) -> Rule:
        """The rule for whose answer the walk has stopped."""
        return self.rules[self.position - 1].name

    @property
    def refusal(self) -> Refusal | None:
        """The refusal for which the walk has stopped; None without one."""
        return self.answer if isinstance(self.answer, Refusal) else None

    @property
    def trace(self) -> Iterator[Check]:
        """The verdict of each rule, in their order."""
        for number, rule in enumerate(self.rules):
            if rule.name in self.hidden:
                yield Check(rule.name, Verdict.NOT_TOLD)
            elif number >= self.position:
                yield Check(rule.name, Verdict.NOT_REACHED)
            else:
                answer = self.answers.get(number)
                yield Check(rule.name, _verdict_of(answer), answer)


def judge(
    rules: Sequence[SignInRule[Facts]],
    facts: Facts,
    before: Judgement[Facts] | None = None,
    *,
    hidden: frozenset[Rule] = frozenset(),
) -> Judgement[Facts]:
    """Walk to the first rule that stops, or to the end; go on behind a walk `before`, with the facts since then."""
    answers = dict(before.answers) if before is not None else dict[int, Answer]()
    first = before.position if before is not None else 0
    for number in range(first, len(rules)):
        rule = rules[number]
        if rule.needs is not None and _lacks(facts, rule.needs):
            return Judgement(rules, facts, hidden, answers, number, stage=rule.needs)
        answer = rule.judge(facts)
        if answer is None or (rule.name in hidden and answer is not Amend.RECLAIM):
            continue
        answers[number] = answer
        if not isinstance(answer, Depends):
            return Judgement(rules, facts, hidden, answers, number + 1, answer)
    return Judgement(rules, facts, hidden, answers, len(rules))


def session_proof(facts: SignInFacts) -> IdentityProof:
    """Return the proof of a sign-in that every rule accepts, with the limits of its session.

    Without the connection that another organization requires, it opens nothing but its target.
    """
    proof, here = facts.proof, facts.here
    lacking = here.lacking_connection
    if lacking is not None and not lacking.is_of_owner and proof.confinement is None:
        proof = _limited_to(proof, here.target)
    return replace(proof, amr=facts.methods)


def _limited_to(proof: IdentityProof, target: Target) -> IdentityProof:
    """Return a proof without limits as one whose session opens a target alone."""
    assert target.organization_id is not None, "a sign-in without the required connection leads to no organization"
    limits = Confinement(organization_id=target.organization_id, service_id=target.service_id, lacks_connection=True)
    return replace(proof, confinement=limits)


def _lacks(facts: object, stage: Stage) -> bool:
    # The facts of a way are all read before.
    return isinstance(facts, SignInFacts) and facts.lacks(stage)


def _verdict_of(answer: Answer) -> Verdict:
    match answer:
        case None:
            return Verdict.PASSED
        case Refusal():
            return Verdict.REFUSED
        case Amend():
            return Verdict.AMENDED
        case Asks():
            return Verdict.ASKS
        case _:
            return Verdict.DEPENDS


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordFacts:
    """A sign-in by a password; `user` is None without an account, and `has_password` says whether one is compared.

    `failures` are None where limits are off, and for an attempt that is counted already. `is_right` is True while the
    password is not compared.
    """

    is_place_known: bool
    user: User | None
    has_password: bool
    failures: Failures | None = None
    is_right: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """The attempts for an address that count, the newest first, and what is known of the attempt that is judged.

    That attempt is among them, mostly as the first: another process may have recorded a later one before it. `network`
    is the attempt's, None where it is not known, because the user is not signing in.
    """

    attempts: Sequence[SignInFailure]
    network: str | None
    now: datetime
    is_known_device: bool = False
    session_id: UUID | None = None

    @classmethod
    def of_next(cls, counted: Sequence[SignInFailure], network: str | None, now: datetime) -> Failures:
        """Return the failures for a next attempt, which has not been made, after those that count."""
        return cls(attempts=[SignInFailure(network or "", now), *counted], network=network, now=now)

    @property
    def blocked_until(self) -> datetime | None:
        """Until when this attempt is refused, wherever it comes from; None while it is not."""
        return sign_in_failures.blocked_until(
            self.attempts, self.network or "", is_known_device=self.is_known_device, session_id=self.session_id
        )

    @property
    def blocked_networks(self) -> dict[str, datetime]:
        """Until when each network is refused, where the network of this attempt is not known."""
        counted = self.attempts[1:] if self.network is None else ()
        networks = sorted({failure.network for failure in counted})
        found = {network: Failures.of_next(counted, network, self.now).blocked_until for network in networks}
        return {network: until for network, until in found.items() if until is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFacts:
    """A sign-in by a mailed link or code; `mailed_again_at` is when the next may be mailed, None for now."""

    is_place_known: bool
    user: User | None
    mailed_again_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyFacts:
    """A sign-in by a passkey: whether the account accepts its answer, and whether the counter went back."""

    is_place_known: bool
    user: User | None
    is_accepted: bool
    has_regressed: bool = False


WayFacts: TypeAlias = PasswordFacts | LinkFacts | PasskeyFacts


def _organization(facts: WayFacts) -> Answer:
    return None if facts.is_place_known else places.unknown()


def _failures(facts: PasswordFacts) -> Answer:
    """Refuse while too many attempts count; where only some networks are refused, it depends on the attempt's."""
    if facts.failures is None:
        return None
    until = facts.failures.blocked_until
    if until is not None:
        return sign_in_failures.too_many(until, at=facts.failures.now)
    blocked = facts.failures.blocked_networks
    if not blocked:
        return None
    return Depends(reason=SignInReason.TOO_MANY_FAILURES, until=max(blocked.values()), networks=tuple(blocked))


def _account(facts: WayFacts) -> Answer:
    return _refused(SignInReason.UNKNOWN_ACCOUNT) if facts.user is None else None


def _activated(facts: WayFacts) -> Answer:
    reason = reason_of_account(facts.user) if facts.user is not None else None
    return _refused(reason) if reason is not None else None


def _password(facts: PasswordFacts) -> Answer:
    if not facts.has_password:
        return _refused(SignInReason.NO_PASSWORD)
    return None if facts.is_right else _refused(SignInReason.WRONG_PASSWORD)


def _mailbox(facts: LinkFacts) -> Answer:
    is_mailed = facts.user is None or facts.user.receives_links
    return None if is_mailed else _refused(SignInReason.ADDRESS_DISOWNED)


def _mail_limit(facts: LinkFacts) -> Answer:
    """Say until when no further link is mailed; one that was mailed before goes on to sign in."""
    return Depends(until=facts.mailed_again_at) if facts.mailed_again_at is not None else None


def _passkey(facts: PasskeyFacts) -> Answer:
    if not facts.is_accepted:
        return _refused(SignInReason.WRONG_PASSKEY)
    return _refused(SignInReason.SIGN_COUNT_REGRESSED) if facts.has_regressed else None


def _refused(reason: SignInReason) -> SignInRefused:
    return SignInRefused().because(reason)


BEFORE_COMPARISON: Final[tuple[SignInRule[PasswordFacts], ...]] = (
    SignInRule(Rule.ORGANIZATION, _organization),
    SignInRule(Rule.FAILURES, _failures),
)
# The refusal of the account follows the comparison, which takes as long without an account.
BY_COMPARISON: Final[tuple[SignInRule[PasswordFacts], ...]] = (
    SignInRule(Rule.ACCOUNT, _account),
    SignInRule(Rule.ACTIVATED, _activated),
    SignInRule(Rule.CREDENTIAL, _password),
)
OF_PASSWORD: Final = (*BEFORE_COMPARISON, *BY_COMPARISON)
OF_LINK: Final[tuple[SignInRule[LinkFacts], ...]] = (
    SignInRule(Rule.ORGANIZATION, _organization),
    SignInRule(Rule.ACCOUNT, _account),
    SignInRule(Rule.ACTIVATED, _activated),
    SignInRule(Rule.CREDENTIAL, _mailbox),
    SignInRule(Rule.MAIL_LIMIT, _mail_limit),
)
# The rules for the answer of a passkey: an unknown passkey belongs to no account that could be named.
OF_ANSWER: Final[tuple[SignInRule[PasskeyFacts], ...]] = (SignInRule(Rule.CREDENTIAL, _passkey),)
OF_PASSKEY: Final[tuple[SignInRule[PasskeyFacts], ...]] = (
    SignInRule(Rule.ORGANIZATION, _organization),
    SignInRule(Rule.ACCOUNT, _account),
    *OF_ANSWER,
)
