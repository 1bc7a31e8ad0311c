"""Second factors at service providers, as the organization and the account require them."""

from __future__ import annotations

import pytest

from core.saml.message_checks import MFA_CONTEXT
from tests.service_provider import posted_form
from tests.world.builder import PASSWORD
from tests.world.saml import SamlService
from tests.world.second_factors import Person, insert_person
from tests.world.visitor import Visitor


@pytest.fixture
async def person(saml_shop: SamlService) -> Person:
    """A member of the team with a second factor."""
    person = insert_person(saml_shop.world)
    saml_shop.world.member(saml_shop.organization_id, person.id)
    await person.sign_in()
    await person.turn_mfa_on()
    person.next_step()
    return person


async def sign_in(visitor: Visitor, person: Person, *, trust: str = "") -> None:
    asked = await visitor.sign_in(person.email)
    await visitor.submit(asked, "/app/second-factor", code=person.code(), trust=trust)
    person.next_step()


async def sign_in_on_a_trusted_device(visitor: Visitor, person: Person) -> None:
    await sign_in(visitor, person, trust="on")
    await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out")
    await visitor.sign_in(person.email)


@pytest.mark.parametrize("is_required", [True, False])
async def test_a_proved_second_factor_opens_the_service_and_is_said(
    visitor: Visitor, saml_shop: SamlService, person: Person, *, is_required: bool
) -> None:
    saml_shop.world.connection.execute("UPDATE organizations SET mfa_required = %s", (is_required,))
    await sign_in(visitor, person)

    form = await saml_shop.signed_in(visitor)

    assert form.texts("//saml:AuthnContextClassRef/text()") == [MFA_CONTEXT]


@pytest.mark.parametrize("is_required", [True, False])
async def test_a_device_that_was_trusted_too_long_ago_is_asked_for_a_code(
    visitor: Visitor, saml_shop: SamlService, person: Person, *, is_required: bool
) -> None:
    await sign_in_on_a_trusted_device(visitor, person)
    saml_shop.world.connection.execute(
        "UPDATE organizations SET mfa_required = %s, device_trust_days = 0", (is_required,)
    )

    asked = await visitor.open(saml_shop.sso())
    answered = await visitor.submit(asked, "/app/sign-in-again", code=person.code(), password=PASSWORD)

    assert posted_form(answered.text).statuses == ["Success"]


@pytest.mark.long
async def test_a_trusted_device_opens_the_service(visitor: Visitor, saml_shop: SamlService, person: Person) -> None:
    saml_shop.world.connection.execute("UPDATE organizations SET mfa_required = true")
    await sign_in_on_a_trusted_device(visitor, person)

    form = await saml_shop.signed_in(visitor)

    assert form.texts("//saml:AuthnContextClassRef/text()") != [MFA_CONTEXT]


@pytest.mark.long
async def test_a_passive_request_is_not_followed_by_a_code(
    visitor: Visitor, saml_shop: SamlService, person: Person
) -> None:
    await sign_in_on_a_trusted_device(visitor, person)
    saml_shop.world.connection.execute("UPDATE organizations SET device_trust_days = 0")

    form = await saml_shop.signed_in(visitor, saml_shop.sp.authn_request(IsPassive="true"))

    assert form.statuses == ["Responder", "NoPassive"]
