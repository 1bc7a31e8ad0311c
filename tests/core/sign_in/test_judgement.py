"""The judge of sign-ins, on values alone: each rule has facts that it refuses, or changes, and that pass without it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.accounts.sign_in_methods import Provider
from core.accounts.single_sign_on import RequiredConnection
from core.organizations.organizations import OrganizationStatus
from core.platform.sign_in_checks import RuleVerdict, checks_of, judge_to_end
from core.services.services import Admission
from core.sessions.caller_limits import Confinement
from core.sessions.mfa_methods import MfaMethods
from core.sessions.security_profiles import SecurityProfile
from core.sign_in.customer_choices import CustomersOfUser, CustomerStanding
from core.sign_in.facts import Circumstances, SignInFacts, amended
from core.sign_in.judgement import Verdict, judge, session_proof
from core.sign_in.places import Place
from core.sign_in.proofs import FEDERATED, Destination, IdentityProof
from core.sign_in.reasons import SignInReason, reason_of
from core.sign_in.rules import RULES, Amend, Answer, Asks, Depends, Rule, SignInRule
from tests.tenants import small_scope as scope
from tests.tenants.given_values import ORGANIZATION, USER, service_of, standing_of
from tests.tenants.words import Belonging, Word

ACME = ORGANIZATION.id
GLOBEX = scope.ORGANIZATIONS[scope.A]
CONNECTION = scope.CONNECTIONS[scope.A]
OF_ACME = Confinement(organization_id=ACME, connection_id=CONNECTION)
SHOP = service_of("all", serves_customers=False)
DESK = service_of("others")
REQUIRED = RequiredConnection(connection_id=CONNECTION, organization_id=ACME)
CUSTOMER = CustomerStanding(
    id=scope.RECORDS[scope.A],
    organization_id=GLOBEX,
    slug=scope.A,
    name=scope.A,
    is_confirmed=True,
    is_in_mail_domain=False,
    last_sign_in_at=scope.NOW,
    requires_mfa=False,
    mfa_methods=MfaMethods.ANY,
    device_trust=timedelta(days=30),
    connection_id=None,
)
MEMBER = standing_of(Belonging(role="member"), Word())


def facts(**changes: Any) -> SignInFacts:
    """Return the facts of a user with a password who signs in to no organization, with some of them changed."""
    user = replace(USER, **changes.pop("user", {}))
    proof = replace(
        IdentityProof(user_id=USER.id, provider=Provider.PASSWORD, amr=("pwd",)), **changes.pop("proof", {})
    )
    place = changes.pop("place", Place())
    destination = replace(
        Destination(
            organization_slug=place.organization.slug if place.organization is not None else None,
            service_slug=place.service.slug if place.service is not None else None,
        ),
        **changes.pop("destination", {}),
    )
    circumstances = Circumstances.of(
        proof, destination, place, place.target, changes.pop("required", None), changes.pop("standing", None)
    )
    return replace(
        SignInFacts(user=user, proof=proof, destination=destination, now=scope.NOW, circumstances=circumstances),
        **changes,
    )


def at_acme(**changes: Any) -> Place:
    """Return Acme for a member, with some of it changed."""
    organization = replace(ORGANIZATION, **changes.pop("organization", {}))
    return replace(Place(organization=organization, is_member=True), **changes)


def for_customers(*customers: CustomerStanding, **changes: Any) -> Place:
    """Return a service at which some customers are open to the user, who is of another one."""
    found = CustomersOfUser(standings=customers, is_of_customer=True, is_of_vendor=False, has_come_alone=False)
    return at_acme(service=DESK, is_member=False, customers=found, **changes)


BY_CONNECTION: Final = {"provider": Provider.UPSTREAM, "amr": (FEDERATED,), "confinement": OF_ACME}
UNPROVED: Final = {"email_verified_at": None}
CHANGED: Final = {"changed_by_service_at": scope.NOW}
# For each of the rules, by its number, facts for which it alone answers as it does.
EXAMPLES: Final[tuple[tuple[Rule, SignInReason | Amend, SignInFacts], ...]] = (
    (Rule.ACTIVATED, SignInReason.DEACTIVATED, facts(user={"deactivated_at": scope.NOW})),
    (
        Rule.REOPENING,
        SignInReason.CLOSED,
        facts(user={"closed_at": scope.NOW}, proof=BY_CONNECTION, standing=MEMBER),
    ),
    (Rule.ADDRESS_VERIFIED, SignInReason.EMAIL_NOT_VERIFIED, facts(user=UNPROVED)),
    (
        Rule.ADDRESS_OWNED,
        SignInReason.MAILED_PROOF_REQUIRED,
        facts(user=CHANGED, place=at_acme(), has_unconfirmed_access=True),
    ),
    (
        Rule.CONNECTION_KEPT,
        SignInReason.CONNECTION_CLOSED,
        facts(proof=BY_CONNECTION, standing=replace(MEMBER, is_enabled=False)),
    ),
    (
        Rule.AFFILIATION,
        SignInReason.NOT_OF_ORGANIZATION,
        facts(proof=BY_CONNECTION, standing=replace(MEMBER, role=None)),
    ),
    (
        Rule.ADDRESS_CONFIRMED,
        SignInReason.ADDRESS_NOT_CONFIRMED,
        facts(
            proof=BY_CONNECTION | {"confinement": replace(OF_ACME, role="member")},
            standing=replace(MEMBER, role="admin"),
        ),
    ),
    (Rule.SINGLE_SIGN_ON, SignInReason.SSO_REQUIRED, facts(required=REQUIRED)),
    (Rule.ORGANIZATION, SignInReason.UNKNOWN_ORGANIZATION, facts(destination={"organization_slug": "none"})),
    (Rule.MEMBERSHIP, SignInReason.NOT_A_MEMBER, facts(place=at_acme(is_member=False))),
    (
        Rule.ORGANIZATION_ACTIVE,
        SignInReason.ORGANIZATION_NOT_ACTIVE,
        facts(place=at_acme(organization={"status": OrganizationStatus.SUSPENDED})),
    ),
    (Rule.SERVICE, SignInReason.UNKNOWN_SERVICE, facts(place=at_acme(), destination={"service_slug": "none"})),
    (Rule.NOT_SUSPENDED, SignInReason.SUSPENDED, facts(place=at_acme(service=SHOP, is_suspended=True))),
    (Rule.CUSTOMER, SignInReason.NO_CUSTOMER, facts(place=for_customers())),
    (
        Rule.SECURITY_PROFILE,
        SignInReason.OTHER_WAY,
        facts(place=at_acme(service=replace(SHOP, security_profile=SecurityProfile.FAPI2))),
    ),
    (
        Rule.SAML_ADMISSION,
        SignInReason.NOT_ADMITTED,
        facts(place=at_acme(service=SHOP), is_admitted_by_saml=False),
    ),
    (
        Rule.ACCESS,
        SignInReason.NOT_ASSIGNED,
        facts(place=at_acme(service=replace(SHOP, access=Admission.ASSIGNED), is_confirmed=True)),
    ),
    (
        Rule.CONFINEMENT,
        SignInReason.CONFINED_ELSEWHERE,
        facts(proof={"confinement": Confinement(organization_id=GLOBEX)}, place=at_acme()),
    ),
    (Rule.SECOND_FACTOR, SignInReason.SECOND_FACTOR_ASKED, facts(user={"mfa_enabled_at": scope.NOW})),
    (
        Rule.CUSTOMER,
        SignInReason.CUSTOMER_ASKED,
        facts(place=for_customers(replace(CUSTOMER, last_sign_in_at=None))),
    ),
    (
        Rule.REQUIRED_SECOND_FACTOR,
        SignInReason.SECOND_FACTOR_REQUIRED,
        facts(place=at_acme(organization={"mfa_required": True})),
    ),
    (
        Rule.CONNECTION_KEPT,
        SignInReason.SESSION_OVER_THERE,
        facts(proof=BY_CONNECTION | {"bounded_until": scope.NOW}, standing=MEMBER),
    ),
)


def reason_for(answer: Answer) -> SignInReason | Amend | None:
    """Return why a judgement has stopped; None for one that has not."""
    match answer:
        case Asks() | Depends():
            return answer.reason
        case Amend() | None:
            return answer
        case _:
            return reason_of(answer.reason)


def test_each_rule_has_an_example() -> None:
    assert [rule for rule, _, _ in EXAMPLES] == [rule.name for rule in RULES]


@pytest.mark.parametrize("number", range(len(RULES)), ids=lambda number: f"{number}-{RULES[number].name}")
def test_each_rule_answers_where_no_other_one_does(number: int) -> None:
    rule, reason, given_facts = EXAMPLES[number]

    judged = judge(RULES, given_facts)
    without = judge([one for one in RULES if one.name is not rule], given_facts)

    assert (judged.rule, reason_for(judged.answer)) == (rule, reason)
    assert judged.position == number + 1
    assert without.answer is None


def test_facts_that_no_rule_refuses_pass_all_of_them() -> None:
    judged = judge(RULES, facts(place=at_acme()))

    assert judged.answer is None
    assert {check.verdict for check in judged.trace} == {Verdict.PASSED}


@pytest.mark.parametrize(
    ("given_facts", "rule"),
    [
        (facts(user=UNPROVED, proof={"proves_address": True}), Rule.ADDRESS_VERIFIED),
        (
            facts(user=CHANGED, proof={"proves_address": True}, place=at_acme(), has_unconfirmed_access=True),
            Rule.ADDRESS_OWNED,
        ),
        (
            facts(
                user=CHANGED,
                proof={"proves_address": True},
                destination={"customer": scope.A},
                place=for_customers(replace(CUSTOMER, is_confirmed=False)),
                has_unconfirmed_access=False,
            ),
            Rule.CUSTOMER,
        ),
    ],
)
def test_a_proof_of_the_address_changes_the_account_and_the_walk_goes_on_behind_it(
    given_facts: SignInFacts, rule: Rule
) -> None:
    judged = judge(RULES, given_facts)
    after = judge(RULES, amended(given_facts), judged)

    assert (judged.rule, judged.answer) == (rule, Amend.RECLAIM)
    assert after.answer is None
    assert [check.rule for check in after.trace if check.verdict is Verdict.AMENDED] == [rule]


def test_a_customer_that_a_proof_of_the_address_has_closed_is_refused() -> None:
    arriving = facts(
        user=CHANGED,
        proof={"proves_address": True},
        destination={"customer": scope.A},
        place=for_customers(replace(CUSTOMER, is_confirmed=False)),
        has_unconfirmed_access=False,
    )
    closed = replace(amended(arriving), circumstances=facts(place=for_customers()).circumstances)

    judged = judge(RULES, closed, judge(RULES, arriving))

    assert (judged.rule, reason_for(judged.refusal)) == (Rule.CUSTOMER, SignInReason.NO_CUSTOMER)
    [told] = [check for check in checks_of(judged.trace) if check.rule is Rule.CUSTOMER]
    assert told.reason is SignInReason.NO_CUSTOMER


def test_a_judgement_stops_for_what_is_not_read() -> None:
    unread = replace(facts(user=CHANGED, place=at_acme()), circumstances=None)

    judged = judge(RULES, unread)
    assert judged.stage is not None
    assert judged.answer is None
    with_unconfirmed_access = judge(RULES, replace(unread, has_unconfirmed_access=False), judged)
    assert with_unconfirmed_access.stage is not judged.stage
    assert with_unconfirmed_access.stage is not None


def test_what_is_not_told_stops_nothing() -> None:
    judged = judge(RULES, facts(required=REQUIRED), hidden=frozenset({Rule.SINGLE_SIGN_ON}))

    assert judged.answer is None
    assert [check.rule for check in judged.trace if check.verdict is Verdict.NOT_TOLD] == [Rule.SINGLE_SIGN_ON]


def test_a_fact_that_is_not_known_makes_it_depend() -> None:
    profile = at_acme(service=replace(SHOP, security_profile=SecurityProfile.FAPI2))

    judged = judge(RULES, facts(place=profile, destination={"is_pushed": None}))

    assert judged.answer is None
    assert [check.rule for check in judged.trace if check.verdict is Verdict.DEPENDS] == [Rule.SECURITY_PROFILE]


def test_a_session_without_the_required_connection_opens_its_target_alone() -> None:
    required = replace(REQUIRED, organization_id=GLOBEX)
    there = facts(required=required, place=at_acme())

    assert judge(RULES, there).answer is None
    limits = session_proof(there).confinement
    assert limits == Confinement(organization_id=ACME, lacks_connection=True)


@given(
    base=st.sampled_from([one for _, _, one in EXAMPLES]),
    account=st.fixed_dictionaries(
        {},
        optional={
            name: st.just(scope.NOW)
            for name in ("deactivated_at", "locked_at", "closed_at", "mfa_enabled_at", "disowned_at")
        },
    ),
    is_verified=st.booleans(),
    has_unconfirmed_access=st.booleans(),
    has_waited=st.booleans(),
    proves_address=st.booleans(),
)
def test_the_refusal_the_log_and_why_have_one_reason(
    base: SignInFacts,
    account: Any,
    is_verified: bool,
    has_unconfirmed_access: bool,
    has_waited: bool,
    proves_address: bool,
) -> None:
    user = replace(base.account, email_verified_at=scope.NOW if is_verified else None, **account)
    proof = replace(base.proof, proves_address=proves_address)
    drawn = replace(base, user=user, proof=proof, has_unconfirmed_access=has_unconfirmed_access, has_waited=has_waited)

    judged = judge_to_end(judge(RULES, drawn))

    told = [check for check in checks_of(judged.trace) if check.verdict is RuleVerdict.REFUSES]
    if judged.refusal is None:
        assert told == []
    else:
        # The log has the reason of the refusal (`core/sign_in/effects.py`).
        assert [(check.rule, check.reason) for check in told] == [(judged.rule, reason_of(judged.refusal.reason))]
        assert told[0].reason is not None


MEASURED: Final = """
import sys
import core.sign_in.{module}
print(*sorted(name for name in sys.modules if name.startswith(("core.", "ports"))))
"""


def modules_with(module: str) -> set[str]:
    """Return the modules of core and the ports that a module imports, without packages."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED.format(module=module)], capture_output=True, text=True, check=True
    )
    found = set(done.stdout.split()) - {f"core.sign_in.{module}"}
    return {name for name in found if not any(other.startswith(f"{name}.") for other in found)}


@pytest.mark.parametrize("module", ["facts", "rules", "judgement"])
def test_the_judge_imports_no_port(module: str) -> None:
    assert not [name for name in modules_with(module) if name.startswith("ports")]


def test_the_rules_reach_few_modules() -> None:
    assert len(modules_with("rules")) <= 45


def test_a_walk_that_stops_at_its_last_rule_ends_behind_it() -> None:
    last = [SignInRule(Rule.LINK, lambda _facts: Asks(SignInReason.LINK_REQUIRED))]

    assert judge_to_end(judge(last, facts())).answer is None
