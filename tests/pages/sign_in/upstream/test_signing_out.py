"""Signing out here also signs out at the OpenID provider, where the connection says so, and leads on from there."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.application import Answer
from tests.openid_provider import CLIENT_ID, OpenIdProvider
from tests.shown_text import shows
from tests.world.openid_acme import Acme
from tests.world.upstream import parameters_of
from tests.world.visitor import Visitor
from tests.world.world import World

SIGN_OUT = "/app/sign-out"
GOODBYE = "https://portal.acme.example/bye"
SIGNED_OUT_THERE = "http://localhost:8000/auth/upstream/signed-out"


@pytest.fixture
async def leaving(acme: Acme, provider: OpenIdProvider) -> Acme:
    """Acme, whose connection leads who signs out on to its provider."""
    provider.document = {"end_session_endpoint": f"{provider.url}/logout?tenant=acme"}
    provider.claims = {"sid": "session-1"}
    await acme.change(signs_out_at_provider=True)
    return acme


def sealed(world: World) -> int:
    """Return how many ID tokens are kept."""
    return world.value("SELECT count(*) FROM provider_sessions WHERE id_token_sealed IS NOT NULL")


def left_to(page: Answer) -> str:
    """Return the address to which a page leads a browser on."""
    return page.headers["Refresh"].partition("url=")[2]


async def sign_out(visitor: Visitor) -> Answer:
    """Press the button that signs out here."""
    return await visitor.submit(await visitor.open(SIGN_OUT), SIGN_OUT)


async def sign_out_of_service(acme: Acme) -> Answer:
    """Sign out at the request of a service, which wants the browser to go to an address of its own."""
    service = acme.world.service(acme.organization_id, "portal")
    acme.world.connection.execute("UPDATE services SET post_logout_redirect_uris = %s", ([GOODBYE],))
    wanted = {"client_id": str(service.client_id), "post_logout_redirect_uri": GOODBYE, "state": "s-1"}
    asked = await acme.visitor.open(f"/auth/logout?{urlencode(wanted)}")
    return await acme.visitor.submit(asked, "/auth/logout/confirm")


async def test_the_browser_is_led_to_the_provider_with_the_id_token_of_its_session(leaving: Acme, world: World) -> None:
    await leaving.sign_in()
    assert sealed(world) == 1

    page = await sign_out(leaving.visitor)

    address = left_to(page)
    assert address.startswith(f"{leaving.provider.url}/logout?tenant=acme&")
    given = parameters_of(address)
    assert given.pop("id_token_hint").count(".") == 2
    assert given == {"tenant": "acme", "client_id": CLIENT_ID, "post_logout_redirect_uri": SIGNED_OUT_THERE}
    assert leaving.live_sessions == 0
    # It has done what it was kept for.
    assert sealed(world) == 0
    back = await leaving.visitor.open("/auth/upstream/signed-out")
    assert "You are signed out" in back.text


async def test_the_provider_that_comes_next_gets_no_id_token_of_the_one_before(leaving: Acme, world: World) -> None:
    await leaving.sign_in()
    assert sealed(world) == 1

    await leaving.change(issuer="https://other.example", client_secret="its-own")

    assert sealed(world) == 0


async def test_from_there_the_browser_is_led_to_where_the_service_wanted_it(leaving: Acme) -> None:
    await leaving.sign_in()

    page = await sign_out_of_service(leaving)

    state = parameters_of(left_to(page))["state"]
    back = await leaving.visitor.send("GET", f"/auth/upstream/signed-out?{urlencode({'state': state})}")
    assert (back.status, back.headers["Location"]) == (303, f"{GOODBYE}?state=s-1")
    again = await leaving.visitor.send("GET", f"/auth/upstream/signed-out?{urlencode({'state': state})}")
    assert again.headers["Location"] == SIGN_OUT


async def test_without_the_wish_signing_out_ends_here_and_no_token_is_kept(acme: Acme, world: World) -> None:
    acme.provider.document = {"end_session_endpoint": f"{acme.provider.url}/logout"}
    await acme.sign_in()
    assert sealed(world) == 0

    page = await sign_out(acme.visitor)

    assert shows(page.text, "You are signed out")
    assert world.rows("SELECT name_id, session_index FROM provider_sessions") == [("employee-1", None)]


async def test_a_provider_without_the_address_or_that_is_away_ends_nothing_here(leaving: Acme, world: World) -> None:
    for document in ({}, {"issuer": "https://other.example"}):
        leaving.visitor.cookies.clear()
        leaving.provider.document = {"end_session_endpoint": f"{leaving.provider.url}/logout"}
        await leaving.sign_in()
        leaving.provider.document = document
        assert (await leaving.owner.post(f"{leaving.path}/test")).status == 200

        page = await sign_out_of_service(leaving) if not document else await sign_out(leaving.visitor)

        assert leaving.live_sessions == 0, document
        if document:
            assert "You are signed out" in page.text
        else:
            # The page ends what follows from a form; then the browser goes to the service.
            assert left_to(page) == SIGN_OUT
            last = await leaving.visitor.send("GET", SIGN_OUT)
            assert last.headers["Location"] == f"{GOODBYE}?state=s-1"


async def test_a_sign_in_that_waits_for_a_second_factor_keeps_its_token_sealed(leaving: Acme, world: World) -> None:
    await leaving.sign_in()
    world.connection.execute("UPDATE users SET mfa_enabled_at = now() WHERE email = 'ada@acme.example'")
    leaving.visitor.cookies.clear()

    await leaving.sign_in()

    [(stored, token)] = world.rows("SELECT context -> 'provider_session', id_token_sealed FROM mfa_challenges")
    assert (stored["name_id"], "id_token" in stored) == ("employee-1", False)
    assert token is not None
    assert b"eyJ" not in token


async def test_a_connection_by_saml_has_no_such_wish(acme: Acme) -> None:
    made = await acme.owner.post(
        "/api/organizations/acme/upstream-providers", {"type": "saml", "name": "S", "signs_out_at_provider": True}
    )

    assert made.invalid_fields == ["signs_out_at_provider"]
