"""Under the custom domain of an organization, Gatehouse is another SAML identity provider."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.application import Answer
from tests.pages.saml.peers import next_address
from tests.service_provider import PostedForm, inflated
from tests.world.builder import PASSWORD
from tests.world.domains import DOMAIN, insert_verified
from tests.world.saml import SamlService, SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

MEMBER = "member@example.com"


@pytest.fixture
def there(team: Team, saml_shop: SamlService) -> SamlService:
    """The service with SAML, whose service provider knows the identity provider of the domain."""
    insert_verified(team.world, team.organization_id)
    return replace(saml_shop, sp=replace(saml_shop.sp, idp=f"http://{DOMAIN}:8000{saml_shop.path}"))


def browser_at(world: World, host: str) -> Visitor:
    """Return a browser that opens the pages under a host."""
    visitor = Visitor(world.client)
    visitor.headers["Host"] = host
    return visitor


def index_of(form: PostedForm) -> str:
    [index] = form.texts("//saml:AuthnStatement/@SessionIndex")
    return index


def status_of(answer: Answer) -> list[str]:
    """Return the status of the answer to a logout, its parts shortened."""
    message = inflated(parse_qs(urlsplit(next_address(answer)).query)["SAMLResponse"][0])
    return [one.rpartition(":")[2] for one in message.xpath("//@Value")]


async def test_metadata_name_the_host_that_they_are_asked_from(there: SamlService, world: World) -> None:
    async def metadata(host: str) -> str:
        return (await world.client.get(f"{there.path}/metadata", headers={"Host": host})).text

    found = [await metadata(DOMAIN), await metadata("localhost")]

    assert f'entityID="http://{DOMAIN}:8000{there.path}"' in found[0]
    assert f'entityID="http://localhost:8000{there.path}"' in found[1]
    assert f'Location="http://{DOMAIN}:8000{there.path}/sso"' in found[0]
    assert DOMAIN not in found[1]


async def test_the_identity_provider_of_another_organization_is_not_there(
    there: SamlService, saml: SamlWorld, world: World
) -> None:
    other = await saml.service(world.organization("globex"), "globex")

    for path in ("metadata", "sso", "slo", "authenticate"):
        answer = await world.client.get(f"{other.path}/{path}", headers={"Host": DOMAIN})
        assert answer.status == 404, path


async def test_a_sign_in_under_the_domain_is_answered_by_its_identity_provider(
    there: SamlService, world: World
) -> None:
    browser = browser_at(world, DOMAIN)
    await browser.sign_in(MEMBER)

    form = await there.signed_in(browser)

    assert form.statuses == ["Success"]
    assert set(form.texts("//saml:Issuer/text()")) == {f"http://{DOMAIN}:8000{there.path}"}


async def test_a_user_who_is_not_signed_in_there_is_asked_there(there: SamlService, world: World) -> None:
    browser = browser_at(world, DOMAIN)

    asked = await browser.open(there.sso())
    methods = await browser.submit(asked, "/app/sign-in", email=MEMBER)
    answered = await browser.submit(methods, "/app/sign-in/password", password=PASSWORD)

    assert answered.status == 200
    assert f"http://{DOMAIN}:8000{there.path}" not in asked.text
    assert 'name="SAMLResponse"' in answered.text


async def test_a_request_for_the_one_host_is_refused_under_the_other(
    there: SamlService, saml_shop: SamlService, world: World
) -> None:
    answers = [
        await browser_at(world, DOMAIN).open(saml_shop.sso()),
        await browser_at(world, "localhost").open(there.sso()),
    ]

    assert [(answer.status, "Its Destination is another address." in answer.text) for answer in answers] == [
        (400, True)
    ] * 2


async def test_a_logout_under_the_domain_ends_sessions_of_the_domain_alone(
    there: SamlService, saml_shop: SamlService, world: World
) -> None:
    at_domain, at_base = browser_at(world, DOMAIN), browser_at(world, "localhost")
    for browser in (at_domain, at_base):
        await browser.sign_in(MEMBER)
    own = index_of(await there.signed_in(at_domain))
    other = index_of(await saml_shop.signed_in(at_base))

    async def log_out(service: SamlService, browser: Visitor, index: str) -> list[str]:
        request = service.sp.logout_request(MEMBER, index)
        return status_of(await browser.send("GET", f"{service.path}/slo?{service.sp.query(request)}"))

    foreign = [await log_out(there, at_domain, other), await log_out(saml_shop, at_base, own)]
    ended = await log_out(there, at_domain, own)

    assert foreign == [["Requester", "UnknownPrincipal"]] * 2
    assert ended == ["Success"]
    assert not world.value("SELECT revoked_at IS NULL FROM sessions WHERE id = %s", own)
    assert world.value("SELECT revoked_at IS NULL FROM sessions WHERE id = %s", other)
