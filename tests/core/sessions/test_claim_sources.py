"""The sources of a product's claims, in each context of a token."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from core.errors import BadRequest
from core.services import own_claims
from core.services.registered_claims import REGISTERED
from core.sessions.caller_limits import Confinement
from core.sessions.callers import Caller
from core.sessions.claim_sources import METADATA_SOURCES, SOURCES, ClaimFacts, OwnClaim, claims_of, value_of
from core.sessions.customer_contexts import CustomerContext
from core.sessions.group_forms import GroupsAs
from core.sessions.mfa_methods import MfaMethods
from core.sessions.places import ServicePlan
from tests.caller_values import AT_SERVICE, changed

AT = datetime(2026, 2, 3, 4, 5, 6, 789, tzinfo=UTC)
IDS = [UUID(int=number) for number in range(1, 8)]
GROUPS = [{"id": str(IDS[0]), "name": "Sales"}]
CALLER = changed(
    AT_SERVICE,
    account={"id": IDS[0], "email_verified_at": AT, "created_at": AT},
    place={"organization_id": IDS[2], "role": "auditor", "custom_permissions": []},
    service={
        "plan": ServicePlan(
            id=IDS[5], name="Pro", features=["x"], subscription_status="active", current_period_end=None
        )
    },
)
FACTS = ClaimFacts(
    name="Ada",
    organization_name="Acme",
    tier="free",
    organization_metadata={"n": 1},
    user_metadata={"n": 2},
    customer_metadata={"n": 3},
    shares_directory=True,
    directory={"given_name": "Ada", "family_name": "L.", "display_name": "Ada L.", "external_id": "e-1"},
    groups=GROUPS,
)
CUSTOMER = CustomerContext(
    id=IDS[6],
    organization_id=IDS[5],
    slug="beta",
    name="Beta",
    external_id="b-1",
    role="admin",
    service_roles=["editor"],
    groups=[{"id": str(IDS[1]), "name": "Theirs"}],
    requires_mfa=False,
    mfa_methods=MfaMethods.ANY,
)
FOR_CUSTOMER = changed(CALLER, place={"role": None, "customer_id": CUSTOMER.id, "customer": CUSTOMER})
ALONE = {
    "user.id": str(IDS[0]),
    "user.email": "ada@example.com",
    "user.email_verified": True,
    "user.name": "Ada",
    "user.created_at": "2026-02-03T04:05:06.000789Z",
    "membership.role": "auditor",
    "organization.id": str(IDS[2]),
    "organization.slug": "acme",
    "organization.name": "Acme",
    "organization.tier": "free",
    "organization.metadata.n": 1,
    "service_user.metadata.n": 2,
    "subscription.plan": "Pro",
    "subscription.status": "active",
    "subscription.features": ["x"],
    "directory.name.given": "Ada",
    "directory.name.family": "L.",
    "directory.display_name": "Ada L.",
    "directory.external_id": "e-1",
    "directory.groups": GROUPS,
}
OF_CUSTOMER = {
    "service_roles": ["editor"],
    "customer.id": str(IDS[6]),
    "customer.slug": "beta",
    "customer.name": "Beta",
    "customer.role": "admin",
    "customer.external_id": "b-1",
    "customer.metadata.n": 3,
    "directory.groups": CUSTOMER.groups,
}
ALL = [*SOURCES, *(f"{prefix}n" for prefix in METADATA_SOURCES)]


def _said(caller: Caller, facts: ClaimFacts = FACTS) -> dict[str, Any]:
    return {source: value for source in ALL if (value := value_of(source, caller, facts)) is not None}


def test_without_a_customer_nothing_is_said_of_one() -> None:
    assert _said(CALLER) == ALONE


def test_for_a_customer_the_organization_is_the_vendors_and_its_membership_says_nothing() -> None:
    expected = {name: value for name, value in ALONE.items() if name != "membership.role"}

    assert _said(FOR_CUSTOMER) == expected | OF_CUSTOMER


def test_a_customer_that_is_closed_or_shares_no_directory_says_nothing_of_it() -> None:
    closed = _said(changed(FOR_CUSTOMER, place={"customer": None}))
    assert not set(closed) & (OF_CUSTOMER.keys() - {"directory.groups"})
    assert "directory.groups" not in closed

    apart = _said(FOR_CUSTOMER, replace(FACTS, shares_directory=False, directory={}))
    assert not any(name.startswith("directory.") for name in apart)


def test_a_source_without_a_value_is_left_out_and_an_empty_list_is_a_value() -> None:
    caller = changed(CALLER, place={"role": None}, service={"plan": None, "groups": []})
    said = _said(caller, ClaimFacts())

    assert said == {
        "user.id": str(IDS[0]),
        "user.email": "ada@example.com",
        "user.email_verified": True,
        "user.created_at": "2026-02-03T04:05:06.000789Z",
        "organization.id": str(IDS[2]),
        "organization.slug": "acme",
        "directory.groups": [],
    }


def test_a_role_that_the_session_does_not_open_is_none() -> None:
    limited = changed(CALLER, limits={"confinement": Confinement(organization_id=IDS[2], role="member")})

    assert value_of("membership.role", limited, FACTS) is None


def test_groups_are_those_that_the_record_names_and_left_out_beyond_a_hundred() -> None:
    named = changed(CALLER, service={"groups": [{"id": "1", "name": "Named"}]})
    assert value_of("directory.groups", named, FACTS) == [{"id": "1", "name": "Named"}]
    for form, told in ((GroupsAs.NAMES, ["Named"]), (GroupsAs.IDS, ["1"])):
        assert value_of("directory.groups", changed(named, service={"groups_as": form}), FACTS) == told
    many = [{"id": str(number), "name": "x"} for number in range(101)]
    assert value_of("directory.groups", CALLER, replace(FACTS, groups=many)) is None


def test_some_claims_are_lists_always_and_an_unknown_source_says_nothing() -> None:
    claims = [
        OwnClaim(claim="roles", source="membership.role"),
        OwnClaim(claim="Groups", source="directory.groups"),
        OwnClaim(claim="entitlements", source="subscription.plan"),
        OwnClaim(claim="plain", source="subscription.plan"),
        OwnClaim(claim="later", source="a.source.of.a.later.version"),
    ]

    assert claims_of(claims, CALLER, FACTS) == {
        "roles": ["auditor"],
        "Groups": GROUPS,
        "entitlements": ["Pro"],
        "plain": "Pro",
    }


@pytest.mark.parametrize(
    "claim",
    [
        *("sub", "iss", "aud", "exp", "iat", "jti", "act", "cnf", "scope", "sid", "amr", "client_id", "acr", "nonce"),
        *("SUB", "Scope", "org", "role", "plan", "features", "email", "Name", "is_platform_owner", "impersonator"),
        *("customer", "customer_id", "Customer_Role", "service_roles", "groups_overage", "session_expiry", "title"),
        *("gatehouse_x", "GateHouse_", "userinfo_claims", "active", "username", "token_type", "at_hash", "metadata"),
        *("", "two words", "nul\0", "s\u0443b", "\u017fub", "a" * 201, "<b>", "a\n", 'quote"', "caf\u00e9"),
    ],
)
def test_a_claim_that_has_a_meaning_or_an_odd_name_is_refused(claim: str) -> None:
    with pytest.raises(BadRequest):
        own_claims.require_claims([OwnClaim(claim=claim, source="user.id")], [])


@pytest.mark.parametrize(
    "source",
    ["", "user", "user.password_hash", "user.metadata.x", "organization.metadata.", "customer.metadata.a b", "role"],
)
def test_what_is_no_source_is_refused(source: str) -> None:
    with pytest.raises(BadRequest):
        own_claims.require_claims([OwnClaim(claim="x", source=source)], [])


def test_names_of_products_are_taken_and_each_stands_once() -> None:
    good = ["https://acme.example/claims/plan", "acme:plan", "x-1", "groups", "roles", "entitlements"]
    own_claims.require_claims([OwnClaim(claim=one, source="user.id") for one in good], [])

    for claims, groups in (
        ([OwnClaim(claim="x", source="user.id"), OwnClaim(claim="X", source="user.email")], []),
        ([OwnClaim(claim=f"c{number}", source="user.id") for number in range(31)], []),
        ([OwnClaim(claim="Groups", source="directory.groups")], ["all"]),
    ):
        with pytest.raises(BadRequest):
            own_claims.require_claims(claims, groups)


def test_the_registry_is_in_the_case_in_which_names_are_compared() -> None:
    assert {name.lower() for name in REGISTERED} == REGISTERED
