"""What a walk by the rules of signing in answers."""

from __future__ import annotations

from core.platform.sign_in_checks import RuleCheck, RuleVerdict, SignInWalk, SignInWay
from core.sign_in.reasons import SignInReason
from core.sign_in.rules import Rule

PASSES = RuleCheck(rule=Rule.ACCOUNT, verdict=RuleVerdict.PASSES)
REFUSES = RuleCheck(rule=Rule.ACTIVATED, verdict=RuleVerdict.REFUSES, reason=SignInReason.DEACTIVATED)


def test_the_rule_that_refuses_is_that_of_the_walk() -> None:
    walk = SignInWalk(way=SignInWay.PASSWORD, connection=None, checks=(PASSES, REFUSES))

    assert walk.refusal is REFUSES
    assert SignInWalk(way=SignInWay.PASSWORD, connection=None, checks=(PASSES,)).refusal is None


def test_a_reason_has_a_text() -> None:
    assert REFUSES.reason_text == "The account is deactivated."
    assert PASSES.reason_text is None
