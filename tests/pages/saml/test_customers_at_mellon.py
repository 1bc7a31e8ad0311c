"""mod_auth_mellon as one application of many customers tells their people apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import pytest

from core.saml.messages import NameIdFormat
from tests.clock import SettableClock
from tests.mellon import mellon
from tests.pages.saml.peers import metadata_of
from tests.pages.saml.test_mod_auth_mellon import Browser, browsers
from tests.service_provider import key_pair, posted_form
from tests.world.builder import Service
from tests.world.saml import BASE_URL, SamlService, SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

pytestmark = pytest.mark.long

ADA, BOB, CARL = "ada@globex.example", "bob@initech.example", "carl@example.com"


@dataclass(frozen=True)
class Wiki:
    """An application of two customers, with a person of each, and Carl, who belongs to both."""

    service: SamlService
    globex: UUID
    initech: UUID

    @property
    def choice(self) -> str:
        """The path to which a page sends the choice of a customer."""
        return f"{self.service.path}/authenticate/customer"

    async def come(self, browser: Browser, visitor: Visitor, customer: UUID) -> Mapping[str, str]:
        """Sign in at Apache for a customer, which the user is asked for; return what Apache knows of them."""
        page = await visitor.open(browser.leave().removeprefix(BASE_URL))
        answered = await visitor.submit(page, self.choice, {"customer": str(customer)})
        back = browser.post(posted_form(answered.text))
        assert back.status_code == 303, browser.apache.errors
        secret = browser.open()
        assert (secret.status_code, secret.text) == (200, "a secret")
        return secret.headers


@pytest.fixture
async def wiki(team: Team, saml: SamlWorld, world: World, clock: SettableClock) -> Wiki:
    """The application, whose service provider is not known yet."""
    clock.now = datetime.now(UTC)
    made = await saml.service(
        team.organization_id,
        "acme",
        attribute_mapping={"email": "mail", "customer.id": "tenant", "customer.service_roles": "roles"},
    )
    service = Service(id=made.service_id, client_id=made.service_id)
    world.serve_customers(service, "editor", "viewer")
    people = {email: world.user(email) for email in (ADA, BOB, CARL)}
    ids: list[UUID] = []
    for slug, email, roles in (("globex", ADA, ("editor", "viewer")), ("initech", BOB, ("viewer",))):
        organization_id = world.organization(slug)
        for one in (email, CARL):
            world.member(organization_id, people[one])
        ids.append(world.customer(service, organization_id))
        world.assign(ids[-1], "everyone", *roles)
    return Wiki(made, *ids)


async def _introduce(team: Team, wiki: Wiki, browser: Browser) -> None:
    """Give Gatehouse the metadata of Apache, which asks for persistent names."""
    document = browser.open("/mellon/metadata").text
    imported = await team.request("owner", "POST", "/services/shop/saml/metadata", body={"metadata": document})
    assert imported.status == 200, imported.text
    assert imported.json["name_id_format"] == NameIdFormat.PERSISTENT


async def test_it_tells_the_people_of_two_customers_apart(wiki: Wiki, team: Team, visitor: Visitor) -> None:
    with (
        mellon(
            metadata=await metadata_of(wiki.service), key=key_pair("mellon"), name_format=NameIdFormat.PERSISTENT
        ) as apache,
        browsers(apache) as (first, second),
        browsers(apache) as (third, fourth),
    ):
        await _introduce(team, wiki, first)
        others = [Visitor(visitor.client), Visitor(visitor.client)]
        for one, email in zip((visitor, *others), (CARL, ADA, BOB), strict=True):
            await one.sign_in(email)

        carl_at_globex = await wiki.come(first, visitor, wiki.globex)
        carl_at_initech = await wiki.come(second, visitor, wiki.initech)
        ada = await wiki.come(third, others[0], wiki.globex)
        bob = await wiki.come(fourth, others[1], wiki.initech)

        found = [carl_at_globex, carl_at_initech, ada, bob]
        assert [one["X-Mail"] for one in found] == [CARL, CARL, ADA, BOB]
        assert [one["X-Tenant"] for one in found] == [str(one) for one in (wiki.globex, wiki.initech) * 2]
        assert [one["X-Roles"] for one in found] == ["editor viewer", "viewer (null)"] * 2
        assert len({one["X-Name-Id"] for one in found}) == 4


async def test_its_address_of_gatehouse_may_name_the_customer(wiki: Wiki, team: Team, visitor: Visitor) -> None:
    metadata = (await metadata_of(wiki.service)).replace('/sso"', '/sso?customer=initech"')
    with (
        mellon(metadata=metadata, key=key_pair("mellon"), name_format=NameIdFormat.PERSISTENT) as apache,
        browsers(apache) as (browser, other),
    ):
        await _introduce(team, wiki, browser)
        await visitor.sign_in(CARL)

        asked = await wiki.come(browser, visitor, wiki.initech)
        page = await visitor.open(other.leave().removeprefix(BASE_URL))
        other.post(posted_form(page.text))
        again = other.open().headers

        assert [one["X-Tenant"] for one in (asked, again)] == [str(wiki.initech)] * 2
        assert asked["X-Name-Id"] == again["X-Name-Id"]
