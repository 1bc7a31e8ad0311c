"""People whose organization enforces its connection, at a service provider of another organization."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from tests.application import Answer
from tests.service_provider import posted_form
from tests.world.builder import PASSWORD
from tests.world.openid_connection import enforce
from tests.world.saml import BASE_URL, SamlService, SamlWorld
from tests.world.second_factors import Person
from tests.world.team import Team
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

MEMBER = "member@example.com"


def asks_to_sign_in(page: Answer) -> bool:
    """Return whether a page is the first one of the sign-in."""
    return page.status == 200 and any(form.action == "/app/sign-in" for form in forms_of(page))


async def test_a_password_signs_in_there_and_opens_nothing_else(
    team: Team, visitor: Visitor, saml: SamlWorld, saml_shop: SamlService
) -> None:
    other = await saml.service(saml_shop.world.organization("initech"), "initech", members_only=False)
    await enforce(team.world, "globex", "example.com")

    page = await visitor.sign_in(MEMBER, path=saml_shop.sso())

    assert posted_form(page.text).statuses == ["Success"]
    assert (await saml_shop.signed_in(visitor)).statuses == ["Success"]
    assert asks_to_sign_in(await visitor.open(other.sso()))
    assert asks_to_sign_in(await visitor.open("/app/account"))
    passive = await visitor.open(other.sso(other.sp.authn_request(IsPassive="true")))
    assert posted_form(passive.text).statuses == ["Responder", "NoPassive"]


async def test_a_session_from_before_signs_in_there_and_not_at_the_enforcing_organization(
    team: Team, browser: Visitor, saml: SamlWorld, saml_shop: SamlService
) -> None:
    await enforce(team.world, "globex", "example.com")
    own = await saml.service(team.world.value("SELECT id FROM organizations WHERE slug = 'globex'"), "globex")
    own.world.connection.execute("UPDATE saml_configurations SET members_only = false")

    assert (await saml_shop.signed_in(browser)).statuses == ["Success"]
    question = await browser.open(own.sso())
    assert asks_to_sign_in(await browser.submit(question, f"{own.path}/authenticate"))


async def test_a_program_signs_in_for_the_request_that_waits(
    team: Team, world: World, visitor: Visitor, saml_shop: SamlService
) -> None:
    await enforce(world, "globex", "example.com")
    person = Person(world, world.user_id(MEMBER), MEMBER)

    async def state() -> str:
        answer = await visitor.send("GET", saml_shop.sso())
        return parse_qs(urlsplit(answer.headers["Location"]).query)["saml_state"][0]

    async def leads_back(signed_in: Answer) -> None:
        assert signed_in.status == 200, signed_in.text
        path = signed_in.json["saml_redirect_url"].removeprefix(BASE_URL)
        assert posted_form((await visitor.send("GET", path)).text).statuses == ["Success"]

    assert team.ids
    await leads_back(await world.log_in(MEMBER, PASSWORD, saml_state=await state()))
    person.token = (await world.log_in(MEMBER, PASSWORD, org_slug="acme")).json["access_token"]
    world.connection.execute("UPDATE domain_routes SET enforced = false")
    await person.turn_mfa_on()
    world.connection.execute("UPDATE domain_routes SET enforced = true")
    person.next_step()

    first = await world.log_in(MEMBER, PASSWORD, saml_state=await state())
    await leads_back(await person.verify(first.json["preauth_token"], person.code()))

    assert world.rows("SELECT DISTINCT confined_to FROM sessions WHERE parent_id IS NOT NULL") == [
        (saml_shop.organization_id,)
    ]
