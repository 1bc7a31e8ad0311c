"""A person who used a provider of the platform at one service is known at the next service."""

from __future__ import annotations

from typing import LiteralString
from urllib.parse import urlencode
from uuid import UUID

import pytest

from tests.application import Answer
from tests.upstream_provider import Account
from tests.world.authorization import address_of, led_back
from tests.world.builder import EMAIL, PASSWORD, PASSWORD_HASH
from tests.world.relying_party import PKCE, REDIRECT_URI, RelyingParty
from tests.world.upstream import Upstream
from tests.world.visitor import forms_of
from tests.world.world import World

ALLOW = "/auth/authorize/allow"
BASE = "http://localhost:8000"
OTHER = "bob@example.com"
# The organization and the slug of each service.
SERVICES = {"shop": "acme", "desk": "acme", "till": "globex"}


@pytest.fixture
def parties(world: World) -> dict[str, RelyingParty]:
    """Three services: two of Acme, and one of Globex."""
    organizations = {slug: world.organization(slug) for slug in ("acme", "globex")}
    made = dict[str, RelyingParty]()
    for name, slug in SERVICES.items():
        service = world.service(organizations[slug], name, redirect_uris=[REDIRECT_URI])
        made[name] = RelyingParty(world, organizations[slug], service.id, service.client_id, slug, name)
        made[name].set(service_type="mobile")
    return made


def path_of(name: str, provider: str = "codehost") -> str:
    """Return the path with which a service begins a sign-in by a provider."""
    named = {"org": SERVICES[name], "service": name, "redirect_uri": REDIRECT_URI, **PKCE}
    return f"/auth/{provider}?{urlencode(named)}"


def asks(page: Answer) -> bool:
    """Return whether a page asks a user to agree to the first visit."""
    return any(form.action == ALLOW for form in forms_of(page))


async def come(upstream: Upstream, name: str, *, in_new_browser: bool = True, account: Account | None = None) -> Answer:
    """Sign in to a service by the provider, and return what follows, before a code leaves for the service."""
    if in_new_browser:
        upstream.visitor.cookies.clear()
    answer = await upstream.come_back(path_of(name), account)
    while answer.headers.get("Location", "").startswith("/"):
        answer = await upstream.visitor.send("GET", answer.headers["Location"])
    return answer


async def visit(upstream: Upstream, name: str) -> None:
    """Come to a service for the first time, and agree."""
    asked = await come(upstream, name)
    assert asks(asked), asked.text
    assert "code" in led_back(await upstream.visitor.submit(asked, ALLOW))


def identities(world: World) -> list[tuple[str | None, UUID]]:
    """Return the slugs of the services at which identities are linked, and the linked accounts."""
    return world.rows(
        "SELECT s.slug, i.user_id FROM identities i LEFT JOIN services s ON s.id = i.service_id ORDER BY s.slug"
    )


async def test_the_next_service_of_the_organization_knows_them_and_asks_nothing(
    world: World, upstream: Upstream, parties: dict[str, RelyingParty]
) -> None:
    await visit(upstream, "shop")

    led = await come(upstream, "desk")

    assert "code" in led_back(led)
    ada = world.user_id(EMAIL)
    assert identities(world) == [("desk", ada), ("shop", ada)]
    assert world.value("SELECT count(DISTINCT access_token_sealed) FROM identities") == 2
    last = "SELECT confined_to_service FROM sessions WHERE parent_id IS NULL ORDER BY created_at DESC, id DESC LIMIT 1"
    assert world.value(last) == parties["desk"].service_id


async def test_a_service_of_another_organization_asks_once(
    world: World, upstream: Upstream, parties: dict[str, RelyingParty]
) -> None:
    await visit(upstream, "shop")
    told = len(world.events("user.login.success"))

    asked = await come(upstream, "till")

    assert asks(asked)
    assert "till" in asked.text.lower()
    new = world.events("user.login.success")[told:]
    assert parties["till"].organization_id not in {organization_id for organization_id, _, _ in new}
    assert "code" in led_back(await upstream.visitor.submit(asked, ALLOW))
    assert "code" in led_back(await come(upstream, "till"))
    assert world.value("SELECT count(*) FROM users WHERE email = %s", EMAIL) == 1


async def test_an_identity_of_the_platform_counts_at_services(
    world: World, upstream: Upstream, parties: dict[str, RelyingParty]
) -> None:
    await upstream.sign_in("/auth/codehost")

    asked = await come(upstream, "till")

    assert asks(asked)
    ada = world.user_id(EMAIL)
    assert identities(world) == [("till", ada), (None, ada)]


async def test_on_the_page_of_a_service_they_are_asked_as_with_a_session(
    world: World, upstream: Upstream, parties: dict[str, RelyingParty]
) -> None:
    await visit(upstream, "shop")
    upstream.visitor.cookies.clear()

    asked = await upstream.sign_in(f"/auth/codehost?{await way_to(upstream, address_of(parties['till']))}")

    assert asks(asked)
    assert "code" in led_back(await upstream.visitor.submit(asked, ALLOW))
    assert world.value("SELECT bool_and(confined_to IS NOT NULL) FROM sessions WHERE provider = 'codehost'")
    upstream.visitor.cookies.clear()
    led = await upstream.come_back(f"/auth/codehost?{await way_to(upstream, address_of(parties['till']))}")
    assert upstream.visitor.has_session
    assert "/auth/authorize" in led.headers["Location"]


async def way_to(upstream: Upstream, path: str) -> str:
    """Return what the sign-in page carries on that a path leads to."""
    page = await upstream.visitor.open(path)
    [form] = [form for form in forms_of(page) if form.action == "/app/sign-in"]
    return urlencode({name: form.fields[name] for name in ("return_to", "return_id") if form.fields.get(name)})


async def test_where_an_identity_stands_for_two_accounts_its_user_signs_in_to_one_first(
    world: World, upstream: Upstream, parties: dict[str, RelyingParty]
) -> None:
    await visit(upstream, "shop")
    bob, carl = world.user(OTHER), world.user("carl@example.com")
    world.connection.execute("UPDATE identities SET user_id = %s", (bob,))
    world.user("dora@example.com")
    world.connection.execute(
        """
        INSERT INTO identities (id, user_id, provider, subject, scopes, linked_at, used_at, confirmed_at)
        VALUES (gen_random_uuid(), %s, 'codehost', '4711', '{}', now(), now(), now())
        """,
        (carl,),
    )

    asked = await come(upstream, "till", account=Account(email="new@example.com"))

    assert [form.action for form in forms_of(asked)][:1] == ["/app/sign-in"]
    assert not upstream.visitor.has_session
    await by_stranger(upstream, asked)
    assert not any(slug == "till" for slug, _ in identities(world))
    asked = await come(upstream, "till")
    methods = await upstream.visitor.submit(asked, "/app/sign-in", email=OTHER)
    page = await upstream.visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)
    assert ("till", bob) in identities(world), page.text
    assert world.value("SELECT count(*) FROM users WHERE email = 'new@example.com'") == 0


async def by_stranger(upstream: Upstream, asked: Answer) -> None:
    """Sign in as a user who does not have the identity, which links nothing."""
    methods = await upstream.visitor.submit(asked, "/app/sign-in", email="dora@example.com")
    refused = await upstream.visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)
    assert refused.status == 403


async def test_an_identity_of_an_organization_s_own_credentials_counts_among_its_services(
    world: World, upstream: Upstream, parties: dict[str, RelyingParty]
) -> None:
    upstream.stand_in.clients["acme-at-codehost"] = "the-secret-of-Acme"
    await visit(upstream, "till")
    owner = await world.signed_in_member(parties["shop"].organization_id, email="owner@example.com")
    body = {"client_id": "acme-at-codehost", "client_secret": "the-secret-of-Acme"}
    answer = await world.client.put("/api/organizations/acme/oauth-credentials/codehost", token=owner.token, body=body)
    assert answer.status == 200, answer.text

    # The platform's word is none for the credentials of Acme.
    first = await come(upstream, "shop")
    assert "/app/sign-in" in [form.action for form in forms_of(first)]
    methods = await upstream.visitor.submit(first, "/app/sign-in", email=EMAIL)
    page = await upstream.visitor.submit(methods, "/app/sign-in/link")
    [*_, mail] = [one for one in await world.mails() if one.template == "magic_link"]
    await upstream.visitor.submit(page, "/app/sign-in/code", code=mail.values["code"])
    assert [slug for slug, _ in identities(world)] == ["shop", "till"]

    await come(upstream, "desk")

    assert [slug for slug, _ in identities(world)] == ["desk", "shop", "till"]
    # They are no word for a service of another organization, to which a page leads.
    upstream.visitor.cookies.clear()
    way = await way_to(upstream, address_of(parties["till"]))
    page = await upstream.sign_in(f"/auth/codehost?org=acme&{way}")
    assert "/app/sign-in" in [form.action for form in forms_of(page)]


async def test_tokens_that_have_gone_say_nothing_of_the_credentials(
    world: World, upstream: Upstream, parties: dict[str, RelyingParty]
) -> None:
    await visit(upstream, "shop")
    world.connection.execute("UPDATE identities SET client_id = NULL, access_token_sealed = NULL")

    asked = await come(upstream, "desk")

    assert [form.action for form in forms_of(asked)][:1] == ["/app/sign-in"]


@pytest.mark.parametrize("column", ["deactivated_at", "closed_at"])
async def test_an_account_that_nothing_opens_gets_no_further_identity(
    world: World, upstream: Upstream, parties: dict[str, RelyingParty], column: LiteralString
) -> None:
    await visit(upstream, "shop")
    world.connection.execute(f"UPDATE users SET {column} = now() WHERE email = %s", (EMAIL,))

    refused = await come(upstream, "desk")

    assert refused.status == 401
    assert [slug for slug, _ in identities(world)] == ["shop"]


async def test_a_service_that_serves_customers_and_the_platform_are_not_opened(
    world: World, upstream: Upstream, parties: dict[str, RelyingParty]
) -> None:
    await visit(upstream, "shop")
    parties["till"].set(customers="any", individuals="all")

    for path in (path_of("till"), "/auth/codehost", address_of(parties["till"]), "/app/organizations/acme"):
        upstream.visitor.cookies.clear()
        begun = path if path.startswith("/auth/codehost") else f"/auth/codehost?{await way_to(upstream, path)}"
        page = await upstream.sign_in(begun)

        assert "/app/sign-in" in [form.action for form in forms_of(page)], path
        assert not upstream.visitor.has_session
    assert [slug for slug, _ in identities(world)] == ["shop"]


async def test_what_a_confined_session_links_signs_in_at_its_own_service_alone(
    world: World, upstream: Upstream, parties: dict[str, RelyingParty]
) -> None:
    # Another person may have begun the link, and the service holds a token.
    await visit(upstream, "shop")
    ada, thief = world.user_id(EMAIL), Account(id=4712, email="thief@evil.example")
    world.connection.execute("UPDATE users SET password_hash = %s", (PASSWORD_HASH,))
    at_shop = await world.sign_in_as(ada, EMAIL, org_slug="acme", service_slug="shop")
    asked = await at_shop.post("/api/user/identities/websuite/link")
    linked = await upstream.come_back(asked.json["authorization_url"].removeprefix(BASE), thief)
    assert linked.status == 303, linked.text

    for name in ("desk", "till"):
        upstream.visitor.cookies.clear()
        await upstream.come_back(path_of(name, "websuite"), thief)

    opened = [slug for slug, user_id in identities(world) if user_id == ada]
    assert opened == ["shop", "shop"]
    upstream.visitor.cookies.clear()
    await upstream.come_back(path_of("shop", "websuite"), thief)
    assert world.value("SELECT user_id FROM sessions ORDER BY created_at DESC, id DESC LIMIT 1") == ada
