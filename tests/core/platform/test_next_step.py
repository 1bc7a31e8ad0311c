"""The next step of a person whose organization requires its identity provider."""

from __future__ import annotations

from uuid import UUID

import pytest

from core.platform.sign_in_checks import RuleCheck, RuleVerdict, SignInWalk, SignInWay, WalkedConnection
from core.platform.why import AwaitedStep, NextStep, SignInExplanation
from core.sign_in.own_account import NamedConnection
from core.sign_in.rules import Rule

REQUIRED = NamedConnection(id=UUID(int=1), name="Acme", organization_id=UUID(int=2), organization_name="Acme")
LED = RuleCheck(rule=Rule.SINGLE_SIGN_ON, verdict=RuleVerdict.REFUSES, required=REQUIRED)


def explained(*checks: RuleCheck, by_password: RuleCheck = LED, connection: UUID = REQUIRED.id) -> SignInExplanation:
    """Explain the sign-in of a person whose password leads on to a connection with these checks."""
    walks = (
        SignInWalk(way=SignInWay.PASSWORD, connection=None, checks=(by_password,)),
        SignInWalk(
            way=SignInWay.CONNECTION, connection=WalkedConnection(id=connection, name="Acme"), checks=tuple(checks)
        ),
    )
    return SignInExplanation(account=None, walks=walks, attempts=(), problems=())


@pytest.mark.parametrize(
    ("rule", "verdict", "step"),
    [
        (Rule.LINK, RuleVerdict.PASSES, AwaitedStep.CONNECTION),
        (Rule.LINK, RuleVerdict.ASKS, AwaitedStep.MAILED_CODE),
        (Rule.LINK, RuleVerdict.NOT_TOLD, None),
        (Rule.ADDRESS_CONFIRMED, RuleVerdict.REFUSES, AwaitedStep.MAILED_CODE),
        (Rule.ACTIVATED, RuleVerdict.REFUSES, None),
    ],
)
def test_the_walk_by_the_required_connection_says_what_it_takes(
    rule: Rule, verdict: RuleVerdict, step: AwaitedStep | None
) -> None:
    found = explained(RuleCheck(rule=rule, verdict=verdict)).next_step

    assert found == (NextStep(step=step, connection=REQUIRED) if step is not None else None)


def test_without_a_rule_about_links_the_connection_alone_is_the_step() -> None:
    assert explained().next_step == NextStep(step=AwaitedStep.CONNECTION, connection=REQUIRED)


def test_who_is_led_nowhere_waits_for_no_step() -> None:
    passes = RuleCheck(rule=Rule.SINGLE_SIGN_ON, verdict=RuleVerdict.PASSES)

    assert explained(by_password=passes).next_step is None
    assert explained(connection=UUID(int=2)).next_step is None
