"""What each way asks before it has proved an identity, in every state of its facts, compared with a table."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any, Final

import pytest

from core.accounts.sign_in_failures import FAILURES_FROM_NETWORK_MAX, WINDOW, SignInFailure
from core.accounts.users import User
from core.sign_in import judgement
from core.sign_in.judgement import Failures, LinkFacts, PasskeyFacts, PasswordFacts, Verdict, judge
from core.sign_in.reasons import SignInReason
from core.sign_in.rules import Asks, Depends, Rule
from core.sign_in.upstream.connection_rules import ConnectionFacts
from tests.tenants import small_scope as scope
from tests.tenants.given_values import USER

NETWORK = "192.0.2.0/24"
NOW = scope.NOW
USERS: Final[tuple[User | None, ...]] = (
    None,
    USER,
    replace(USER, deactivated_at=NOW),
    replace(USER, locked_at=NOW),
    replace(USER, disowned_at=NOW),
    replace(USER, closed_at=NOW),
)


def failures(number: int, network: str | None = NETWORK) -> Failures:
    """Return so many failed attempts of one network, and an attempt from a network."""
    return Failures.of_next([SignInFailure(NETWORK, NOW)] * number, network, NOW)


NO_FAILURES, MANY_FAILURES = failures(0), failures(FAILURES_FROM_NETWORK_MAX)


def first(*rules: tuple[Rule, bool]) -> Rule | None:
    """Return the first rule that refuses, as the table says."""
    return next((rule for rule, refuses in rules if refuses), None)


def is_unusable(user: User | None) -> bool:
    """Return whether an account is deactivated or locked."""
    return user is not None and (user.deactivated_at is not None or user.locked_at is not None)


def passwords(rules: Any) -> list[str]:
    """Return the cases in which rules judge passwords otherwise than the table."""
    found = list[str]()
    for is_known, user, has_password, is_right, counted in product(
        (False, True), USERS, (False, True), (False, True), (None, NO_FAILURES, MANY_FAILURES)
    ):
        facts = PasswordFacts(
            is_place_known=is_known, user=user, has_password=has_password, is_right=is_right, failures=counted
        )
        right = first(
            (Rule.ORGANIZATION, not is_known),
            (Rule.FAILURES, counted is MANY_FAILURES),
            (Rule.ACCOUNT, user is None),
            (Rule.ACTIVATED, is_unusable(user)),
            (Rule.CREDENTIAL, not (has_password and is_right)),
        )
        found += _difference(rules, facts, right)
    return found


def links(rules: Any) -> list[str]:
    """Return the cases in which rules judge mailed links otherwise than the table."""
    found = list[str]()
    for is_known, user, again_at in product((False, True), USERS, (None, NOW)):
        right = first(
            (Rule.ORGANIZATION, not is_known),
            (Rule.ACCOUNT, user is None),
            (Rule.ACTIVATED, is_unusable(user)),
            (Rule.CREDENTIAL, user is not None and user.disowned_at is not None),
        )
        facts = LinkFacts(is_place_known=is_known, user=user, mailed_again_at=again_at)
        found += _difference(rules, facts, right)
        depends = [check.rule for check in judge(rules, facts).trace if check.verdict is Verdict.DEPENDS]
        if depends != ([Rule.MAIL_LIMIT] if right is None and again_at is not None else []):
            found.append(f"{facts} depends by {depends}")
    return found


def passkeys(rules: Any) -> list[str]:
    """Return the cases in which rules judge passkeys otherwise than the table."""
    found = list[str]()
    for is_known, user, is_accepted, has_regressed in product((False, True), USERS, (False, True), (False, True)):
        facts = PasskeyFacts(is_place_known=is_known, user=user, is_accepted=is_accepted, has_regressed=has_regressed)
        right = first(
            (Rule.ORGANIZATION, not is_known),
            (Rule.ACCOUNT, user is None),
            (Rule.CREDENTIAL, not is_accepted or has_regressed),
        )
        found += _difference(rules, facts, right)
    return found


def _difference(rules: Any, facts: Any, right: Rule | None) -> list[str]:
    judged = judge(rules, facts)
    refused = judged.rule if judged.refusal is not None else None
    return [] if refused is right else [f"{facts} is refused by {refused}, and was to be by {right}"]


WAYS: Final = ((judgement.OF_PASSWORD, passwords), (judgement.OF_LINK, links), (judgement.OF_PASSKEY, passkeys))


@pytest.mark.parametrize(("rules", "differences"), WAYS)
def test_a_way_is_judged_as_the_table_says(rules: Any, differences: Any) -> None:
    assert differences(rules) == []


@pytest.mark.parametrize(
    ("rules", "differences", "number"),
    [(rules, differences, number) for rules, differences in WAYS for number in range(len(rules))],
)
def test_each_rule_of_a_way_that_is_undone_is_found(rules: Any, differences: Any, number: int) -> None:
    assert differences([rule for place, rule in enumerate(rules) if place != number])


@pytest.mark.parametrize("is_linked", [False, True])
@pytest.mark.parametrize("user", [None, USER, replace(USER, email_verified_at=None)])
def test_a_connection_asks_what_its_table_says(user: User | None, is_linked: bool) -> None:
    for is_open, vouches, at_once, joins, has_room in product((False, True), repeat=5):
        facts = ConnectionFacts(
            is_open=is_open,
            is_linked=is_linked,
            vouches=vouches,
            user=user,
            links_at_once=at_once,
            joins=joins,
            has_room=has_room,
        )
        asks = not is_linked and user is not None and user.is_verified and not at_once
        right = first(
            (Rule.CONNECTION_OPEN, not is_open),
            (Rule.MAIL_DOMAIN, not is_linked and not vouches),
            (Rule.LINK, asks),
            (Rule.SEAT, joins and not has_room),
        )
        judged = judge(facts.rules, facts)
        stopped = judged.rule if judged.answer is not None else None
        assert stopped is right, facts
        assert isinstance(judged.answer, Asks) == (right is Rule.LINK)


def test_where_the_network_is_not_known_it_depends_on_that() -> None:
    facts = PasswordFacts(
        is_place_known=True, user=USER, has_password=True, failures=failures(FAILURES_FROM_NETWORK_MAX, None)
    )

    judged = judge(judgement.OF_PASSWORD, facts)

    assert judged.refusal is None
    answers = [check.answer for check in judged.trace if check.verdict is Verdict.DEPENDS]
    until = NOW + WINDOW
    assert answers == [Depends(reason=SignInReason.TOO_MANY_FAILURES, until=until, networks=(NETWORK,))]
    assert failures(FAILURES_FROM_NETWORK_MAX - 1, None).blocked_networks == {}
    assert MANY_FAILURES.blocked_until == NOW + WINDOW
