"""Whether a sign-in is accepted: a walk through the rules in their order, and the verdict of each.

A walk stops where a rule refuses, changes what the next ones judge, asks for something, or needs what is not read. It
goes on behind that rule with the facts as they are then, so that the order of the rules is defined in one place.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto
from typing import TYPE_CHECKING, Generic

from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.sessions.limits import Confinement
from core.sign_in.facts import SignInFacts
from core.sign_in.rules import Amend, Answer, Asks, Depends, Facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from core.sign_in.facts import Stage
    from core.sign_in.proofs import IdentityProof, Target
    from core.sign_in.rules import Rule, SignInRule


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
    in `untold` stop nothing.
    """

    rules: Sequence[SignInRule[Facts]]
    facts: Facts
    untold: frozenset[Rule]
    answers: Mapping[int, Answer]
    position: int
    answer: Answer = None
    stage: Stage | None = None

    @classmethod
    def unjudged(
        cls, rules: Sequence[SignInRule[Facts]], facts: Facts, *, untold: frozenset[Rule] = frozenset()
    ) -> Judgement[Facts]:
        """Return a walk that has not begun."""
        return cls(rules, facts, untold, {}, 0)

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
            if rule.name in self.untold:
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
    untold: frozenset[Rule] = frozenset(),
) -> Judgement[Facts]:
    """Walk to the first rule that stops, or to the end; go on behind a walk `before`, with the facts since then."""
    answers = dict(before.answers) if before is not None else dict[int, Answer]()
    first = before.position if before is not None else 0
    for number in range(first, len(rules)):
        rule = rules[number]
        if rule.needs is not None and _lacks(facts, rule.needs):
            return Judgement(rules, facts, untold, answers, number, stage=rule.needs)
        answer = rule.judge(facts)
        if answer is None or (rule.name in untold and answer is not Amend.RECLAIM):
            continue
        answers[number] = answer
        if not isinstance(answer, Depends):
            return Judgement(rules, facts, untold, answers, number + 1, answer)
    return Judgement(rules, facts, untold, answers, len(rules))


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
