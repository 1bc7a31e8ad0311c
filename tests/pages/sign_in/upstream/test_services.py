"""Sign-ins that a service begins: what they ask for, where they lead, and what they are confined to."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.upstream_provider import CLIENT_ID, Account
from tests.world.acme_shop import AcmeShop
from tests.world.authorization import ISSUER, led_back
from tests.world.builder import EMAIL
from tests.world.second_factors import Person
from tests.world.signing_in import claims_of
from tests.world.upstream import Upstream, parameters_of
from tests.world.world import World

# The example of RFC 7636, appendix B.
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def path_of(shop: AcmeShop, provider: str = "codehost", **changes: str) -> str:
    """Return the path with which a service begins a sign-in."""
    query = {
        "org": shop.org_slug,
        "service": shop.service_slug,
        "redirect_uri": shop.redirect_uri,
        "state": "of the service",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        **changes,
    }
    return f"/auth/{provider}?{urlencode({name: value for name, value in query.items() if value})}"


async def turn_mfa_on(world: World) -> None:
    """Give the user a second factor; that takes a password, which another user lends."""
    world.user("other@example.com")
    world.connection.execute(
        "UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email = 'other@example.com')"
    )
    await Person(world, world.user_id(EMAIL), EMAIL).turn_mfa_on()


async def test_the_browser_goes_on_to_the_authorization_endpoint_with_the_request_of_the_service(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    answer = await upstream.come_back(path_of(acme_shop))

    location = answer.headers["Location"]
    assert location.startswith("/auth/authorize/continue?")
    assert parameters_of(location) == {
        "response_type": "code",
        "client_id": str(world.value("SELECT client_id FROM services")),
        "redirect_uri": acme_shop.redirect_uri,
        "state": "of the service",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }
    assert upstream.visitor.has_session


async def test_the_service_exchanges_the_code_that_comes_back_for_tokens(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    world.connection.execute("UPDATE services SET service_type = 'mobile', client_secret_hash = NULL")
    asked = await upstream.sign_in(path_of(acme_shop))
    first = led_back(await upstream.visitor.submit(asked, "/auth/authorize/allow"), acme_shop.redirect_uri)
    # After a form of the sign-in a browser follows no redirect to another site, but it follows a page.
    again = await upstream.sign_in(path_of(acme_shop))

    answer = await world.client.post(
        "/auth/token",
        body={
            "grant_type": "authorization_code",
            "client_id": str(world.value("SELECT client_id FROM services")),
            "code": first["code"],
            "redirect_uri": acme_shop.redirect_uri,
            "code_verifier": VERIFIER,
        },
    )

    assert "Shop" in asked.text
    assert (first["state"], first["iss"]) == ("of the service", ISSUER)
    assert answer.status == 200, answer.text
    assert claims_of(answer.json["access_token"])["email"] == EMAIL
    assert (again.status, led_back(again, acme_shop.redirect_uri)["iss"]) == (200, ISSUER)


async def test_a_redirect_uri_that_is_not_registered_is_refused_before_the_browser_leaves(
    upstream: Upstream, acme_shop: AcmeShop, subtests: pytest.Subtests
) -> None:
    for redirect_uri in (
        "https://shop.example/welcome?more=1",
        "https://shop.example/welcome/",
        "https://shop.example/welcome#fragment",
        "https://shop.example:8443/welcome",
        "https://user@shop.example/welcome",
        "https://shop.example@evil.example/welcome",
        "https://shop.example.evil.example/welcome",
        "https://SHOP.example/welcome",
        "https://shop.example/welcome/../evil",
        "https://xn--shp-tlc.example/welcome",
        "http://127.0.0.1:4000/welcome",
    ):
        with subtests.test(redirect_uri=redirect_uri):
            answer = await upstream.visitor.send("GET", path_of(acme_shop, redirect_uri=redirect_uri))

            assert answer.status == 400
            assert upstream.stand_in.requests == []


async def test_without_an_address_the_only_registered_one_is_meant(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    only = [acme_shop.redirect_uri]
    world.connection.execute("UPDATE services SET redirect_uris = %s", (only,))
    asked = await upstream.sign_in(path_of(acme_shop, redirect_uri=""))
    assert "code" in led_back(await upstream.visitor.submit(asked, "/auth/authorize/allow"), acme_shop.redirect_uri)

    world.connection.execute("UPDATE services SET redirect_uris = %s", ([*only, "https://shop.example/other"],))
    several = await upstream.visitor.send("GET", path_of(acme_shop, redirect_uri=""))
    assert several.status == 400
    to_page = await upstream.visitor.send("GET", path_of(acme_shop, redirect_uri="", return_to="/app/account"))
    assert to_page.status == 303

    world.connection.execute("UPDATE services SET redirect_uris = '{}'")
    assert (await upstream.visitor.send("GET", path_of(acme_shop, redirect_uri=""))).status == 303


async def test_a_request_that_is_not_valid_is_refused_before_the_browser_leaves(
    upstream: Upstream, acme_shop: AcmeShop, subtests: pytest.Subtests
) -> None:
    for changes, status in (
        ({"org": "unknown"}, 404),
        ({"service": "unknown"}, 404),
        ({"org": ""}, 400),
        ({"service": ""}, 400),
        ({"code_challenge": "too-short"}, 400),
        ({"code_challenge_method": "plain"}, 400),
        ({"code_challenge_method": ""}, 400),
        ({"state": "x" * 2001}, 400),
    ):
        with subtests.test(changes=changes, status=status):
            answer = await upstream.visitor.send("GET", path_of(acme_shop, **changes))

            assert answer.status == status


async def test_an_organization_that_is_not_active_signs_nobody_in(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    world.set_organization_status(acme_shop.organization_id, "suspended")

    answer = await upstream.visitor.send("GET", path_of(acme_shop))

    assert answer.status == 403


async def test_a_public_service_must_send_a_challenge(world: World, upstream: Upstream, acme_shop: AcmeShop) -> None:
    world.connection.execute(
        "UPDATE services SET service_type = 'desktop', client_secret_hash = NULL,"
        " redirect_uris = redirect_uris || '{http://127.0.0.1/welcome}'"
    )

    without = await upstream.visitor.send("GET", path_of(acme_shop, code_challenge="", code_challenge_method=""))
    on_loopback = await upstream.visitor.send("GET", path_of(acme_shop, redirect_uri="http://127.0.0.1:4321/welcome"))

    assert without.status == 400
    # The authorization endpoint compares all of it but the port.
    assert on_loopback.status == 303


async def test_a_service_that_keeps_a_secret_needs_no_challenge(upstream: Upstream, acme_shop: AcmeShop) -> None:
    answer = await upstream.visitor.send("GET", path_of(acme_shop, code_challenge="", code_challenge_method=""))

    assert answer.status == 303


async def test_the_scopes_of_the_service_are_asked_for_too(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    world.connection.execute("UPDATE services SET codehost_scopes = '{repo,user:email}'")

    address = await upstream.depart(path_of(acme_shop))

    assert parameters_of(address)["scope"] == "read:user user:email repo"


async def test_a_user_code_leads_to_the_page_of_the_device(upstream: Upstream) -> None:
    answer = await upstream.come_back("/auth/codehost?user_code=ABCD-EFGH")

    assert answer.headers["Location"] == "/auth/device?user_code=ABCD-EFGH"


async def test_an_identity_of_a_service_signs_in_to_nothing_else(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    await upstream.sign_in(path_of(acme_shop))
    upstream.visitor.cookies.clear()

    page = await upstream.sign_in("/auth/codehost")

    # The address has a proved account by now, which is linked to the platform only by signing in to it.
    assert not upstream.visitor.has_session
    assert "/app/sign-in" in page.text
    assert world.rows("SELECT organization_id, service_id FROM identities") == [
        (acme_shop.organization_id, acme_shop.service_id)
    ]


async def test_a_session_by_the_identity_of_a_service_is_confined_to_it(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    await upstream.sign_in(path_of(acme_shop))

    assert world.rows("SELECT confined_to, confined_to_service FROM sessions") == [
        (acme_shop.organization_id, acme_shop.service_id)
    ]


async def test_a_second_factor_later_keeps_the_session_confined(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    await upstream.sign_in(path_of(acme_shop))
    world.connection.execute("UPDATE users SET mfa_enabled_at = now()")
    upstream.visitor.cookies.clear()

    await upstream.sign_in(path_of(acme_shop))

    [(context,)] = world.rows("SELECT context FROM mfa_challenges")
    assert context["confinement"] == {
        "organization_id": str(acme_shop.organization_id),
        "service_id": str(acme_shop.service_id),
    }


async def test_a_session_without_limits_is_not_continued_by_a_confined_sign_in(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    await upstream.sign_in(path_of(acme_shop))
    world.connection.execute("UPDATE sessions SET confined_to = NULL, confined_to_service = NULL, amr = '{pwd}'")

    await upstream.sign_in(path_of(acme_shop))

    live = world.rows("SELECT amr, confined_to FROM sessions WHERE revoked_at IS NULL")
    assert live == [(["fed"], acme_shop.organization_id)]


async def own_credentials(world: World, acme_shop: AcmeShop, **body: Any) -> None:
    owner = await world.signed_in_member(acme_shop.organization_id, email="owner@example.com")
    answer = await world.client.put(
        "/api/organizations/acme/oauth-credentials/codehost",
        token=owner.token,
        body={"client_id": "acme-at-codehost", "client_secret": "the-secret-of-Acme", **body},
    )
    assert answer.status == 200, answer.text


async def test_the_credentials_of_an_organization_win_over_those_of_the_platform(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    upstream.stand_in.clients["acme-at-codehost"] = "the-secret-of-Acme"
    await own_credentials(world, acme_shop)

    address = await upstream.depart(path_of(acme_shop))
    await upstream.visitor.send("GET", upstream.stand_in.sign_in(address, Account()))

    assert parameters_of(address)["client_id"] == "acme-at-codehost"
    assert upstream.visitor.has_session
    assert parameters_of(await upstream.depart("/auth/codehost"))["client_id"] == CLIENT_ID


async def test_a_sign_in_by_the_credentials_of_an_organization_is_confined_to_it(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    upstream.stand_in.clients["acme-at-codehost"] = "the-secret-of-Acme"
    await own_credentials(world, acme_shop)

    page = await upstream.sign_in("/auth/codehost?org=acme")

    assert EMAIL in page.text
    assert world.value("SELECT confined_to FROM sessions WHERE provider = 'codehost'") == acme_shop.organization_id


async def test_credentials_that_were_replaced_meanwhile_end_the_sign_in(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    address = await upstream.depart(path_of(acme_shop))
    await own_credentials(world, acme_shop)

    answer = await upstream.visitor.send("GET", upstream.stand_in.sign_in(address, Account()))

    assert answer.status == 400
    assert not upstream.visitor.has_session


async def test_the_sign_in_page_offers_the_providers(upstream: Upstream) -> None:
    page = await upstream.visitor.open("/app/sign-in?return_to=/app")

    assert "/auth/codehost?return_to=%2Fapp" in page.text
    assert "Continue with Google" in page.text


async def test_a_member_of_an_organization_that_requires_two_factors_sets_one_up_after_the_provider(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    await upstream.come_back(path_of(acme_shop))
    world.connection.execute("UPDATE organizations SET mfa_required = true")
    world.member(world.value("SELECT id FROM organizations"), world.value("SELECT id FROM users"))

    page = await upstream.sign_in(path_of(acme_shop))

    assert "/app/second-factor/set-up" in page.text
    assert world.value("SELECT count(*) FROM service_users") == 0


async def test_a_second_factor_that_is_due_after_the_provider_can_be_cancelled(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    asked = await upstream.sign_in(path_of(acme_shop))
    led_back(await upstream.visitor.submit(asked, "/auth/authorize/allow"), acme_shop.redirect_uri)
    await turn_mfa_on(world)
    upstream.visitor.cookies.clear()

    code = await upstream.sign_in(path_of(acme_shop))
    back = led_back(await upstream.visitor.submit(code, "/auth/authorize/cancel"), acme_shop.redirect_uri)
    again = await upstream.visitor.submit(code, "/auth/authorize/cancel")

    assert "Enter your code" in code.text
    assert (back["error"], back["state"], back["iss"]) == ("access_denied", "of the service", ISSUER)
    assert "This request is over" in again.text


async def test_a_request_that_has_become_invalid_meanwhile_is_refused_as_such(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    asked = await upstream.sign_in(path_of(acme_shop, code_challenge="", code_challenge_method=""))
    led_back(await upstream.visitor.submit(asked, "/auth/authorize/allow"), acme_shop.redirect_uri)
    await turn_mfa_on(world)
    upstream.visitor.cookies.clear()
    code = await upstream.sign_in(path_of(acme_shop, code_challenge="", code_challenge_method=""))
    # Public services must use PKCE.
    world.connection.execute("UPDATE services SET service_type = 'mobile', client_secret_hash = NULL")

    back = led_back(await upstream.visitor.submit(code, "/auth/authorize/cancel"), acme_shop.redirect_uri)

    assert back["error"] == "invalid_request"


async def test_signing_in_to_link_an_account_can_be_cancelled(
    world: World, upstream: Upstream, acme_shop: AcmeShop
) -> None:
    world.user(EMAIL)

    page = await upstream.sign_in(path_of(acme_shop))
    back = led_back(await upstream.visitor.submit(page, "/auth/authorize/cancel"), acme_shop.redirect_uri)

    assert 'action="/app/sign-in"' in page.text
    assert back["error"] == "access_denied"
    assert world.value("SELECT count(*) FROM identities") == 0
