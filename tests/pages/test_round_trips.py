"""What frequent operations ask of the database, in round trips and statements: at once what they can, nothing twice."""

from __future__ import annotations

import pytest
from psycopg.abc import PQGen

from adapters.postgres.driver.statements import Statements
from tests.openid_provider import running_openid_provider
from tests.pages.saml.logout_steps import index_of, redirected_to, send, statuses
from tests.service_provider import posted_form
from tests.world.authorization import address_of, sign_in
from tests.world.builder import EMAIL, PASSWORD, Service
from tests.world.directory import PATCH, insert_directory
from tests.world.fixtures import saml, saml_shop
from tests.world.inviter import Inviter
from tests.world.openid_acme import openid_acme
from tests.world.relying_party import insert_relying_party
from tests.world.saml import SamlService
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

__all__ = ["saml", "saml_shop"]


class RoundTrips:
    """Counts round trips, and the statements in them, from the last call of `begin`."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Count from zero."""
        self.count = 0
        self.statements = 0


@pytest.fixture
def round_trips(monkeypatch: pytest.MonkeyPatch) -> RoundTrips:
    """The round trips of the application, and of the test's own connection."""
    counted = RoundTrips()
    send = Statements.round_trip

    def round_trip(statements: Statements) -> PQGen[None]:
        texts = statements.deferred_texts()
        # A new connection is checked first. Which test opens one depends on the tests before it.
        if not any(b"gatehouse.session" in text for text in texts):
            counted.count += 1
            counted.statements += len(texts)
        return send(statements)

    monkeypatch.setattr(Statements, "round_trip", round_trip)
    return counted


async def test_a_sign_in_by_password_takes_four_round_trips(world: World, round_trips: RoundTrips) -> None:
    world.user(EMAIL)
    round_trips.begin()

    answer = await world.client.post("/api/auth/login", body={"email": EMAIL, "password": PASSWORD})

    assert (answer.status, round_trips.count, round_trips.statements) == (200, 4, 21)


async def test_a_sign_in_from_a_known_device_takes_four(world: World, round_trips: RoundTrips) -> None:
    world.user(EMAIL)
    token = (await world.sign_in(EMAIL)).device_token
    round_trips.begin()

    answer = await world.log_in(EMAIL, headers={"X-Device-Token": token})

    assert (answer.status, round_trips.count, round_trips.statements) == (200, 4, 21)


async def test_a_refused_sign_in_takes_four(world: World, round_trips: RoundTrips) -> None:
    world.user(EMAIL)
    round_trips.begin()

    answer = await world.log_in(EMAIL, "wrong")

    assert (answer.status, round_trips.count, round_trips.statements) == (401, 4, 17)


async def test_a_sign_in_to_an_organization_takes_five(team: Team, round_trips: RoundTrips) -> None:
    credentials = {"email": "member@example.com", "password": PASSWORD, "org_slug": "acme"}
    round_trips.begin()

    answer = await team.world.client.post("/api/auth/login", body=credentials)

    assert (answer.status, round_trips.count) == (200, 5)


async def test_the_first_page_of_a_sign_in_for_a_service_takes_three(
    world: World, visitor: Visitor, round_trips: RoundTrips
) -> None:
    begun = await visitor.send("GET", address_of(insert_relying_party(world)))
    round_trips.begin()

    page = await visitor.send("GET", begun.headers["Location"])

    assert (page.status, round_trips.count) == (200, 3)


async def test_an_authorization_of_a_browser_that_is_signed_in_takes_three(
    world: World, visitor: Visitor, round_trips: RoundTrips
) -> None:
    world.user(EMAIL)
    shop = insert_relying_party(world)
    await sign_in(visitor, shop)
    round_trips.begin()

    answer = await visitor.send("GET", address_of(shop))

    assert "code=" in answer.headers["Location"]
    assert (round_trips.count, round_trips.statements) == (3, 16)


async def test_the_exchange_of_a_code_takes_two(world: World, visitor: Visitor, round_trips: RoundTrips) -> None:
    world.user(EMAIL)
    shop = insert_relying_party(world)
    code = (await sign_in(visitor, shop))["code"]
    round_trips.begin()

    answer = await shop.redeem(code)

    assert (answer.status, round_trips.count, round_trips.statements) == (200, 2, 6)


async def test_introspection_takes_one(world: World, visitor: Visitor, round_trips: RoundTrips) -> None:
    world.user(EMAIL)
    shop = insert_relying_party(world)
    token = (await shop.redeem((await sign_in(visitor, shop))["code"])).json["access_token"]
    round_trips.begin()

    answer = await shop.post("/auth/introspect", {"token": token})

    assert (answer.json["active"], round_trips.count, round_trips.statements) == (True, 1, 2)


async def test_a_sign_in_by_saml_takes_four(
    team: Team, visitor: Visitor, saml_shop: SamlService, round_trips: RoundTrips
) -> None:
    assert team.ids
    await visitor.sign_in("member@example.com")
    round_trips.begin()

    page = await visitor.open(saml_shop.sso(saml_shop.sp.authn_request()))

    assert posted_form(page.text).statuses == ["Success"]
    assert (round_trips.count, round_trips.statements) == (4, 24)


async def test_a_sign_in_by_saml_for_a_customer_reads_once_more_what_its_user_is_there(
    team: Team, visitor: Visitor, saml_shop: SamlService, world: World, round_trips: RoundTrips
) -> None:
    organization_id = world.organization("globex")
    world.member(organization_id, team.ids["member"])
    world.customer(Service(id=saml_shop.service_id, client_id=saml_shop.service_id), organization_id)
    await visitor.sign_in("member@example.com")
    question = await visitor.open(f"{saml_shop.sso()}&customer=globex")
    await visitor.submit(question, f"{saml_shop.path}/authenticate/customer")
    round_trips.begin()

    page = await visitor.open(f"{saml_shop.sso()}&customer=globex")

    assert posted_form(page.text).statuses == ["Success"]
    # The visit, the hour of the customer, the month of the person and the confirmation are stored in place of the link.
    assert (round_trips.count, round_trips.statements) == (5, 27)


async def test_a_logout_by_saml_takes_twelve(
    team: Team, visitor: Visitor, saml_shop: SamlService, round_trips: RoundTrips
) -> None:
    assert team.ids
    await visitor.sign_in("member@example.com")
    request = saml_shop.sp.logout_request("member@example.com", index_of(await saml_shop.signed_in(visitor)))
    round_trips.begin()

    answer = await send(visitor, saml_shop, request)

    assert statuses(redirected_to(answer, saml_shop.sp.slo_url, "SAMLResponse")) == ["Success"]
    assert round_trips.count == 12


async def test_deactivating_a_user_by_scim_takes_eight(team: Team, round_trips: RoundTrips) -> None:
    directory = insert_directory(team)
    operations = [{"op": "replace", "path": "active", "value": False}]
    round_trips.begin()

    answer = await directory.request(
        "PATCH", f"/Users/{team.ids['member']}", {"schemas": [PATCH], "Operations": operations}
    )

    assert (answer.status, round_trips.count) == (200, 8)


async def test_an_invitation_takes_seven(inviter: Inviter, round_trips: RoundTrips) -> None:
    round_trips.begin()

    answer = await inviter.send()

    assert (answer.status, round_trips.count) == (200, 7)


async def test_a_sign_in_by_a_connection_takes_one_more_with_rules_of_groups(
    world: World, visitor: Visitor, round_trips: RoundTrips
) -> None:
    with running_openid_provider() as provider:
        acme = await openid_acme(world, visitor, provider)
        await acme.change(joins_as="member")
        world.custom_role(acme.organization_id, "sales", "services.view")
        counts: list[int] = []
        for groups, rules in ((None, []), (["Sales"], []), (["Sales"], ["Sales"]), (["Sales"], ["Sales"])):
            wanted = [{"source": acme.connection_id, "group": group, "role": "sales"} for group in rules]
            path = "/api/organizations/acme/group-rules"
            await world.client.request("PUT", path, body={"rules": wanted}, token=acme.owner.token)
            visitor.cookies.clear()
            named = {"groups": groups} if groups is not None else {}
            provider.claims = {"sub": "ada", "email": "ada@acme.example", **named}
            returned = provider.sign_in(await acme.depart())
            round_trips.begin()
            await visitor.send("GET", returned)
            counts.append(round_trips.count)

    assert world.role_of(acme.organization_id, "ada@acme.example") == "sales"
    # The first one makes the account, and the role of the third is given by the rules that were saved before it.
    assert counts[1] < counts[0]
    assert counts[2:] == [counts[1] + 1] * 2
