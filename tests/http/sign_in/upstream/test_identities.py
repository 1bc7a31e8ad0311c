"""Identities: listing, linking and unlinking them, and what becomes of them with the account."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from core.openid import device as device_codes
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from entrypoints.upstream_settings import external_providers
from tests.application import Answer, serving
from tests.concurrency import at_once, statuses_of
from tests.upstream_provider import Account
from tests.world.acme_shop import AcmeShop
from tests.world.builder import EMAIL
from tests.world.signing_in import SignedInUser, claims_of
from tests.world.upstream import Upstream
from tests.world.world import World, assert_refused

BASE = "http://localhost:8000"
PATH = "/api/user/identities"


async def link(
    upstream: Upstream, user: SignedInUser, provider: str = "codehost", account: Account | None = None
) -> Answer:
    """Link an account of a provider in a browser that is signed in as the user."""
    asked = await user.post(f"/api/user/identities/{provider}/link")
    assert asked.status == 200, asked.text
    return await upstream.come_back(asked.json["authorization_url"].removeprefix(BASE), account)


def link_on(page: Answer, provider: str) -> str:
    """Return the address on a page that begins to link an account."""
    begin = f"/auth/{provider}?link="
    return begin + page.text.partition(begin)[2].partition('"')[0]


async def test_a_linked_account_is_listed_and_signs_in(world: World, upstream: Upstream) -> None:
    user = await world.signed_in_user()
    await upstream.visitor.sign_in()

    answer = await link(upstream, user)

    assert answer.headers["Location"] == "/app/account/identities?done=linked"
    assert (await user.get("/api/user/identities")).json == [
        {
            "provider": "codehost",
            "provider_user_id": "4711",
            "email": EMAIL,
            "linked_at": "2026-02-03T04:05:06Z",
        }
    ]
    assert [message.template for message in await world.mails()] == ["identity_linked"]
    upstream.visitor.cookies.clear()
    await upstream.sign_in()
    assert upstream.visitor.has_session


async def test_a_sign_in_at_a_provider_leads_by_the_device_flow_to_the_token_of_an_organization(
    world: World, upstream: Upstream
) -> None:
    user = await world.signed_in_user()
    await upstream.visitor.sign_in()
    await link(upstream, user)
    world.member(world.organization("acme"), user.id, "admin")
    upstream.visitor.cookies.clear()
    await upstream.sign_in()
    # As the manual says it (ops/docs/single-sign-on.md).
    client_id = {"client_id": "00000000-0000-7000-8000-0000000000c1"}
    device = (await world.client.post("/auth/device/code", body=client_id)).json
    page = await upstream.visitor.open(device["verification_uri_complete"].removeprefix(BASE))
    await upstream.visitor.submit(page, "/auth/device/approve")
    grant = {"grant_type": device_codes.GRANT_TYPE, "device_code": device["device_code"], **client_id}
    tokens = (await world.client.post("/auth/token", body=grant)).json

    selected = await world.client.post("/api/organizations/acme/select", token=tokens["access_token"])

    assert selected.status == 200, selected.text
    claims = claims_of(selected.json["access_token"])
    assert (claims["org"], claims["role"]) == ("acme", "admin")


async def test_linking_takes_a_browser_that_is_signed_in(world: World, upstream: Upstream) -> None:
    user = await world.signed_in_user()
    asked = await user.post("/api/user/identities/codehost/link")

    page = await upstream.visitor.open(asked.json["authorization_url"].removeprefix(BASE))

    assert "Sign in" in page.text
    methods = await upstream.visitor.submit(page, "/app/sign-in", email=EMAIL)
    fields = {"password": "correct horse battery"}
    signed_in = await upstream.visitor.submit(methods, "/app/sign-in/password", fields, is_followed=False)
    departure = await upstream.visitor.send("GET", signed_in.headers["Location"])
    await upstream.visitor.send("GET", upstream.stand_in.sign_in(departure.headers["Location"], Account()))
    assert len((await user.get("/api/user/identities")).json) == 1


async def test_a_link_is_begun_once(world: World, upstream: Upstream) -> None:
    user = await world.signed_in_user()
    await upstream.visitor.sign_in()
    asked = await user.post("/api/user/identities/codehost/link")
    path = asked.json["authorization_url"].removeprefix(BASE)

    answers = await at_once(*[partial(upstream.visitor.send, "GET", path)] * 2)

    assert statuses_of(answers) == [303, 400]


async def test_a_browser_that_has_signed_out_meanwhile_links_nothing(world: World, upstream: Upstream) -> None:
    user = await world.signed_in_user()
    await upstream.visitor.sign_in()
    asked = await user.post("/api/user/identities/codehost/link")
    address = await upstream.depart(asked.json["authorization_url"].removeprefix(BASE))
    page = await upstream.visitor.open("/app")
    await upstream.visitor.submit(page, "/app/sign-out")

    answer = await upstream.visitor.send("GET", upstream.stand_in.sign_in(address, Account()))

    assert answer.status == 403
    assert (await user.get("/api/user/identities")).json == []


async def test_an_account_of_a_provider_is_linked_to_one_user(world: World, upstream: Upstream) -> None:
    await upstream.sign_in(account=Account(email="first@example.com"))
    upstream.visitor.cookies.clear()
    user = await world.signed_in_user()
    await upstream.visitor.sign_in()

    answer = await link(upstream, user)

    assert answer.status == 409
    assert "linked to another user" in answer.text


async def test_a_user_links_one_account_of_a_provider(world: World, upstream: Upstream) -> None:
    user = await world.signed_in_user()
    await upstream.visitor.sign_in()
    await link(upstream, user)

    another = await link(upstream, user, account=Account(id=4712))
    again = await link(upstream, user)

    assert another.status == 409
    assert again.status == 303
    assert len((await user.get("/api/user/identities")).json) == 1


async def test_unlinking_keeps_the_last_way_to_sign_in(world: World, upstream: Upstream) -> None:
    user = await world.signed_in_user()
    await upstream.visitor.sign_in()
    await link(upstream, user)
    world.remove_password()

    assert_refused(await user.delete("/api/user/identities/codehost"), 400, "BAD_REQUEST")
    assert_refused(await user.delete("/api/user/identities/websuite"), 404, "NOT_FOUND")
    assert_refused(await user.delete("/api/user/identities/unknown"), 404, "NOT_FOUND")
    await link(upstream, user, "websuite")
    assert (await user.delete("/api/user/identities/codehost")).status == 204
    assert [one["provider"] for one in (await user.get("/api/user/identities")).json] == ["websuite"]


async def test_of_two_identities_that_are_unlinked_at_once_one_stays(world: World, upstream: Upstream) -> None:
    user = await world.signed_in_user()
    await upstream.visitor.sign_in()
    for provider in ("codehost", "websuite"):
        await link(upstream, user, provider)
    world.remove_password()

    answers = await at_once(
        *[partial(user.delete, f"/api/user/identities/{provider}") for provider in ("codehost", "websuite")]
    )

    assert statuses_of(answers) == [204, 400]


async def test_an_unlinked_account_signs_in_no_more(world: World, upstream: Upstream) -> None:
    user = await world.signed_in_user()
    await upstream.visitor.sign_in()
    await link(upstream, user)
    await user.delete("/api/user/identities/codehost")
    upstream.visitor.cookies.clear()

    await upstream.sign_in()

    assert not upstream.visitor.has_session


async def test_a_provider_without_credentials_cannot_be_linked(world: World) -> None:
    user = await world.signed_in_user()

    assert_refused(await user.post("/api/user/identities/unknown/link"), 404, "NOT_FOUND")


async def test_the_token_of_a_service_links_for_that_service_alone(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    user = await world.signed_in_user()
    at_shop = await world.sign_in_as(user.id, EMAIL, org_slug=acme_shop.org_slug, service_slug=acme_shop.service_slug)
    await upstream.visitor.sign_in()

    await link(upstream, at_shop)

    assert world.rows("SELECT service_id FROM identities") == [(acme_shop.service_id,)]
    # Without limits the user sees what is linked anywhere, and links for the account as well.
    for session in (user, at_shop):
        assert [one["provider"] for one in (await session.get("/api/user/identities")).json] == ["codehost"]
    assert "/account/identities/link" in (await upstream.visitor.open("/app/account/identities")).text
    assert "identity_linked" in {message.template for message in await world.mails()}


async def test_what_a_service_has_linked_opens_nothing_of_the_account(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    world.member(world.organization("globex"), world.user())
    at_shop = await world.sign_in_as(
        world.user_id(EMAIL), EMAIL, org_slug=acme_shop.org_slug, service_slug=acme_shop.service_slug
    )
    await upstream.visitor.sign_in()
    await link(upstream, at_shop)
    upstream.visitor.cookies.clear()
    await upstream.sign_in(f"/auth/codehost?org={acme_shop.org_slug}&service={acme_shop.service_slug}")

    page = await upstream.visitor.open("/app/account/identities")
    linking = await upstream.visitor.submit(page, "/app/account/identities/link", provider="websuite")
    address = await upstream.depart(link_on(linking, "websuite"))
    await upstream.visitor.send("GET", upstream.stand_in.sign_in(address, Account()))

    # What is linked there belongs to the service as well.
    assert world.value("SELECT count(*) FROM identities WHERE organization_id IS NULL") == 0


async def test_a_session_without_limits_sees_and_unlinks_what_is_linked_anywhere(
    world: World, acme_shop: AcmeShop
) -> None:
    user_id = world.user()
    world.connection.execute(
        """
        INSERT INTO identities (id, user_id, provider, subject, organization_id, service_id, linked_at, used_at)
        VALUES (gen_random_uuid(), %(user)s, 'codehost', '1', NULL, NULL, now(), now()),
               (gen_random_uuid(), %(user)s, 'codehost', '2', %(acme)s, %(shop)s, now(), now()),
               (gen_random_uuid(), %(user)s, 'upstream', '3', %(acme)s, NULL, now(), now())
        """,
        {"user": user_id, "acme": acme_shop.organization_id, "shop": acme_shop.service_id},
    )
    own = await world.sign_in()
    at_shop = await world.sign_in(org_slug="acme", service_slug="shop")

    async def seen(token: str) -> list[str]:
        return sorted(one["provider_user_id"] for one in (await world.client.get(PATH, token=token)).json)

    assert await seen(own.access_token) == ["1", "2", "3"]
    assert await seen(at_shop.access_token) == ["2"]
    assert (await world.client.delete(f"{PATH}/upstream", token=own.access_token)).status == 204
    assert (await world.client.delete(f"{PATH}/codehost", token=own.access_token)).status == 204
    assert await seen(own.access_token) == []


async def test_proving_the_address_in_another_way_removes_what_was_linked_before(
    world: World, upstream: Upstream
) -> None:
    user = await world.signed_in_user()
    await upstream.visitor.sign_in()
    await link(upstream, user)
    world.connection.execute("UPDATE users SET email_verified_at = NULL")
    await world.mails()
    await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL})
    message = await world.mail()

    answer = await world.client.post("/api/auth/magic-link/verify", body={"token": message.values["token"]})

    assert answer.status == 200, answer.text
    assert world.value("SELECT count(*) FROM identities") == 0


async def test_identities_are_exported_and_forgotten_with_the_person(world: World, upstream: Upstream) -> None:
    user = await world.signed_in_user()
    await upstream.visitor.sign_in()
    await link(upstream, user)
    owner = await world.signed_in_platform_owner()

    exported = await user.get(f"/api/privacy/export/{user.id}")
    await owner.delete(f"/api/privacy/forget/{user.id}")

    assert exported.json["oauth_identities"] == [
        {
            "provider": "codehost",
            "provider_user_id": "4711",
            "linked_at": "2026-02-03T04:05:06Z",
            "own_id": None,
            "name": None,
            "given_name": None,
            "family_name": None,
            "left_at": None,
        }
    ]
    assert world.value("SELECT count(*) FROM identities") == 0
    assert world.value("SELECT count(*) FROM upstream_sign_ins WHERE user_id IS NOT NULL") == 0


async def test_the_page_links_and_unlinks(world: World, upstream: Upstream) -> None:
    world.user()
    page = await upstream.visitor.sign_in(path="/app/account/identities")

    linking = await upstream.visitor.submit(page, "/app/account/identities/link", provider="codehost")
    shown = await upstream.sign_in(link_on(linking, "codehost"))

    assert "The account is linked." in shown.text
    after = await upstream.visitor.submit(shown, "/app/account/identities/unlink")
    assert "No account is linked to yours." in after.text


async def test_a_provider_without_credentials_is_neither_offered_nor_linked(
    world: World, upstream: Upstream, installation: Installation
) -> None:
    user = await world.signed_in_user()
    await upstream.visitor.sign_in()
    asked = await user.post("/api/user/identities/codehost/link")
    client = serving(replace(installation, external_providers=external_providers(Settings(dev=True))))
    upstream.visitor.client = client

    begun = await upstream.visitor.send("GET", "/auth/codehost")
    went_on = await upstream.visitor.send("GET", asked.json["authorization_url"].removeprefix(BASE))
    again = await client.post("/api/user/identities/codehost/link", token=user.token)

    assert [begun.status, went_on.status, again.status] == [404, 404, 404]
