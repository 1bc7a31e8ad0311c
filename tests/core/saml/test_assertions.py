"""What an assertion says of a user: groups, and what they are for a customer of the service."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from core.saml.assertions import attributes
from core.saml.configuration import SOURCE_FIELDS
from core.saml.visits import AdmissionStanding
from core.sessions.customer_contexts import CustomerContext
from core.sessions.mfa_methods import MfaMethods
from core.sessions.places import CallerPlace

MEMBER = AdmissionStanding(
    role="admin",
    name="Ada L.",
    is_confirmed=True,
    is_suspended=False,
    is_linked=False,
    has_used=False,
    is_own=False,
)
CUSTOMER = CustomerContext(
    id=UUID(int=2),
    organization_id=UUID(int=3),
    slug="globex",
    name="Globex",
    external_id="crm-7",
    role="member",
    service_roles=["editor", "viewer"],
    groups=None,
    requires_mfa=False,
    mfa_methods=MfaMethods.ANY,
)


@pytest.mark.parametrize(
    ("groups", "value"),
    [
        (None, "admin"),
        (["Audit", "Sales"], ["Audit", "Sales"]),
        ([], None),
        ([f"g{number}" for number in range(101)], None),
    ],
    ids=["none that the service learns of", "some", "no group", "too many"],
)
def test_groups_are_the_names_that_the_service_learns_of_else_the_role(
    groups: list[str] | None, value: str | list[str] | None
) -> None:
    standing = replace(MEMBER, groups=groups)

    found = attributes({"groups": "memberOf"}, user_id=UUID(int=1), email="ada@example.com", standing=standing)

    assert found == (("memberOf", value),)


def _all(customer: CustomerContext | None, standing: AdmissionStanding = MEMBER) -> dict[str, Any]:
    mapping = {field: field for field in SOURCE_FIELDS}
    subject: Any = SimpleNamespace(caller=SimpleNamespace(place=CallerPlace(customer=customer)), own_attributes={})
    return dict(attributes(mapping, user_id=UUID(int=1), email="ada@example.com", standing=standing, subject=subject))


def test_for_a_customer_an_assertion_says_nothing_of_the_vendor() -> None:
    groups = [{"id": str(UUID(int=4)), "name": "Sales"}]

    assert _all(replace(CUSTOMER, groups=groups)) == {
        "email": "ada@example.com",
        "id": str(UUID(int=1)),
        "name": "Ada L.",
        "groups": ["Sales"],
        "customer.id": str(UUID(int=2)),
        "customer.slug": "globex",
        "customer.name": "Globex",
        "customer.role": "member",
        "customer.external_id": "crm-7",
        "customer.service_roles": ["editor", "viewer"],
    }


def test_what_a_customer_does_not_say_is_no_attribute() -> None:
    too_many = [{"id": str(UUID(int=number)), "name": f"g{number}"} for number in range(101)]

    found = _all(replace(CUSTOMER, external_id=None, service_roles=[], groups=too_many))

    assert not {"role", "groups", "customer.external_id", "customer.service_roles"} & found.keys()


def test_without_a_customer_nothing_is_said_of_one() -> None:
    assert _all(None) == {
        "email": "ada@example.com",
        "id": str(UUID(int=1)),
        "name": "Ada L.",
        "role": "admin",
        "groups": "admin",
    }


def test_a_name_that_nobody_has_told_is_not_made_of_the_address() -> None:
    nameless = replace(MEMBER, name=None)

    assert _all(None, nameless)["name"] is None
    assert "name" not in _all(CUSTOMER, nameless)


def test_a_claim_of_the_product_is_said_as_xml_can() -> None:
    said = {"groups": ["Sales"], "paid": True, "seats": 5}
    subject: Any = SimpleNamespace(caller=SimpleNamespace(place=CallerPlace()), own_attributes=said)

    found = attributes({}, user_id=UUID(int=1), email="ada@example.com", standing=MEMBER, subject=subject)

    assert {name: dict(found)[name] for name in said} == {"groups": ["Sales"], "paid": "true", "seats": "5"}
