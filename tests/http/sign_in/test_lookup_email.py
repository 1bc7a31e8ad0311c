"""Looking up how an email address signs in."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlencode
from uuid import UUID

import pytest

from core.networks import throttled_network
from core.sign_in import lookup_email
from ports.unit_of_work import UnitOfWork
from tests.application import Answer, Client, serving_with_rate_limits
from tests.world.builder import EMAIL, Service
from tests.world.relying_party import PKCE, REDIRECT_URI
from tests.world.visitor import Visitor
from tests.world.world import World, assert_refused


async def test_a_domain_without_a_provider_signs_in_by_password(client: Client) -> None:
    answer = await client.post("/api/auth/lookup-email", body={"email": " Ada@Example.com"})

    assert answer.status == 200
    assert answer.json == {
        "domain": "example.com",
        "auth_method": "password",
        "connection_id": None,
        "provider_name": None,
        "organization": None,
        "sso_required": False,
        "login_url": None,
    }


async def test_the_lookup_does_not_reveal_whether_an_account_exists(world: World) -> None:
    await world.register_and_verify()

    answers = [
        await world.client.post("/api/auth/lookup-email", body={"email": email})
        for email in (EMAIL, "nobody@example.com")
    ]

    assert answers[0].content == answers[1].content


async def test_an_invalid_address_is_refused(client: Client, subtests: pytest.Subtests) -> None:
    for email in ("", "ada", "@example.com", "ada@"):
        with subtests.test(email=email):
            answer = await client.post("/api/auth/lookup-email", body={"email": email})

            assert (answer.status, answer.json["details"][0]["field"]) == (400, "email")


@pytest.fixture
def shop(world: World) -> Service:
    """A service of a vendor, which has customers."""
    service = world.service(world.organization("vendor"), "shop", redirect_uris=[REDIRECT_URI])
    world.serve_customers(service)
    return service


def _routed(world: World, name: str) -> UUID:
    """Make an organization whose mail domain signs in by its connection."""
    organization_id = world.organization(name)
    world.mail_domain(organization_id, f"{name}.example")
    world.connection.execute(
        "UPDATE upstream_connections SET enabled = true, issuer = %s WHERE organization_id = %s",
        ("https://idp.example", organization_id),
    )
    return organization_id


async def test_at_a_service_one_network_looks_up_sixty_domains_an_hour(shop: Service, world: World) -> None:
    client = serving_with_rate_limits(world.installation)
    for index in range(61):
        organization_id = _routed(world, f"corp-{index}")
        if index % 2 == 0:
            world.customer(shop, organization_id)

    async def look_up(index: int, host: int = 1, network: int = 1, **named: str) -> Answer:
        return await client.post(
            "/api/auth/lookup-email",
            body={"email": f"ada@corp-{index}.example", "org_slug": "vendor", "service_slug": "shop", **named},
            address=f"10.0.{network}.{host}",
        )

    found = [await look_up(index, host=index + 1) for index in range(60)]
    over = await look_up(60, host=99)
    known = await look_up(2, host=99)
    elsewhere = await look_up(60, network=2)
    without_route = await client.post(
        "/api/auth/lookup-email",
        body={"email": "ada@nowhere.example", "org_slug": "vendor", "service_slug": "shop"},
        address="10.0.1.100",
    )
    world.clock.advance(timedelta(hours=1))
    later = await look_up(60, host=101)

    assert [answer.json["auth_method"] for answer in found] == ["upstream", "password"] * 30
    assert_refused(over, 429, "RATE_LIMIT_EXCEEDED")
    assert 0 < int(over.headers["Retry-After"]) <= 3600
    for answer in (known, elsewhere, later):
        assert answer.json["auth_method"] == "upstream"
    assert without_route.json["auth_method"] == "password"


async def test_the_sign_in_page_offers_no_connection_beyond_sixty_domains_and_has_other_ways(
    shop: Service, world: World
) -> None:
    world.customer(shop, _routed(world, "corp"))
    visitor = Visitor(serving_with_rate_limits(world.installation))
    wanted = {"client_id": str(shop.client_id), "response_type": "code", "redirect_uri": REDIRECT_URI, **PKCE}
    asked = await visitor.open(f"/auth/authorize?{urlencode(wanted)}")
    offered = await visitor.submit(asked, "/app/sign-in", email="ada@corp.example")
    world.connection.execute("DELETE FROM mail_counts")
    full = [world.clock()] * lookup_email.DOMAINS_MAX

    def fill(uow: UnitOfWork) -> None:
        key = uow.pepper.mark("domains of customers", throttled_network(visitor.address).encode())
        for at in full:
            uow.mail_counts.add(key, lookup_email.DOMAINS_MAX, lookup_email.WINDOW, at=at)

    await world.installation.database.transact(fill)
    methods = await visitor.submit(asked, "/app/sign-in", email="ada@corp.example")

    assert "/auth/upstream" in offered.text
    assert "/auth/upstream" not in methods.text
    assert "/app/sign-in/password" in methods.text


async def test_a_lookup_at_a_service_without_customers_is_not_counted(world: World) -> None:
    world.service(world.organization("vendor"), "shop")
    _routed(world, "corp")
    client = serving_with_rate_limits(world.installation)

    for body in ({"service_slug": "shop"}, {"service_slug": "unknown"}, {}):
        answer = await client.post(
            "/api/auth/lookup-email", body={"email": "ada@corp.example", "org_slug": "vendor", **body}
        )
        assert answer.json["auth_method"] == "password"
    assert world.value("SELECT count(*) FROM mail_counts") == 0
