"""Trying a service from the console: a real sign-in whose tokens are shown, and are of no use to anyone else."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.application import Answer
from tests.pages.services.shop import CONSOLE, shop_of
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

TRYOUT = f"{CONSOLE}/shop/tryout"


@pytest.fixture
def people(world: World) -> Team:
    """An organization with an owner, an admin and a service."""
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "admin")
    team.add("cid", "member")
    shop_of(world, team)
    return team


@pytest.fixture
async def ann(people: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


def claim(page: Answer, part: str, name: str) -> str:
    """Return the value of a claim that a page shows."""
    section = page.text.partition(f'<section class="panel" id="{part}"')[2].partition("</section>")[0]
    found = re.search(rf"<code>{name}</code>.*?<code>(.*?)</code>", section, re.DOTALL)
    assert found is not None, name
    return unescape(found[1])


async def begun(visitor: Visitor) -> str:
    """Begin a try, and return the address to which the browser is led."""
    answer = await visitor.submit(await visitor.open(TRYOUT), TRYOUT, is_followed=False)
    assert answer.status == 303
    return answer.headers["Location"]


async def answered(visitor: Visitor) -> str:
    """Begin a try, and return the address of its answer, which is not opened."""
    answer = await visitor.send("GET", await begun(visitor))
    assert answer.status == 303
    parts = urlsplit(answer.headers["Location"])
    assert parts.path == f"{TRYOUT}/answer"
    return f"{parts.path}?{parts.query}"


@pytest.mark.parametrize("service_type", ["web", "mobile", "desktop", "api"])
async def test_a_try_shows_what_is_in_the_tokens_and_ends_their_session(
    world: World, people: Team, ann: Visitor, service_type: str
) -> None:
    world.connection.execute("UPDATE services SET service_type = %s", (service_type,))
    [(client_id,)] = world.connection.execute("SELECT client_id FROM services").fetchall()

    page = await ann.submit(await ann.open(TRYOUT), TRYOUT)

    assert "The sign-in works." in page.text
    assert claim(page, "id-token", "email") == "ann@example.com"
    assert claim(page, "id-token", "aud") == str(client_id)
    assert claim(page, "id-token", "sub") == str(people.ids["ann"])
    assert claim(page, "access-token", "service") == "shop"
    assert claim(page, "userinfo", "email_verified") == "true"
    assert re.search(r"eyJ[\w-]+\.eyJ", page.text) is None
    assert page.headers["Cache-Control"] == "no-store"
    live = world.connection.execute(
        "SELECT count(*) FROM sessions WHERE service_id IS NOT NULL AND revoked_at IS NULL"
    ).fetchone()
    assert live == (0,)
    linked = world.connection.execute("SELECT user_id FROM service_users").fetchall()
    assert linked == [(people.ids["ann"],)]


async def test_user_information_is_that_of_the_endpoint(world: World, people: Team, ann: Visitor) -> None:
    world.connection.execute("UPDATE users SET name = 'Ann Lee' WHERE email = 'ann@example.com'")

    page = await ann.submit(await ann.open(TRYOUT), TRYOUT)
    tokens = await world.sign_in("ann@example.com")
    answer = await world.client.request("GET", "/auth/userinfo", token=tokens.access_token)

    assert {name: claim(page, "userinfo", name) for name in answer.json} == {
        name: value if isinstance(value, str) else str(value).lower() for name, value in answer.json.items()
    }


async def test_the_answer_is_good_once(ann: Visitor) -> None:
    address = await answered(ann)

    first, second = await ann.open(address), await ann.open(address)

    assert "The sign-in works." in first.text
    assert second.status == 409
    assert "This try is over." in second.text


async def test_another_browser_gets_nothing_for_the_answer(people: Team, ann: Visitor) -> None:
    bob = Visitor(ann.client)
    await bob.sign_in("bob@example.com")
    address = await answered(ann)

    stolen = await bob.open(address)
    own = await ann.open(address)

    assert stolen.status == 409
    assert "ann@example.com" not in stolen.text
    # What another browser tries does not use the request up.
    assert "The sign-in works." in own.text


async def test_the_address_of_a_try_is_none_that_a_request_may_name(world: World, people: Team, ann: Visitor) -> None:
    [(client_id,)] = world.connection.execute("SELECT client_id FROM services").fetchall()
    begun_at = urlsplit(await answered(ann))
    address = f"http://localhost{TRYOUT}/answer"

    for more in ("", "&tried_at=" + address, "&is_pushed=yes"):
        answer = await ann.send(
            "GET",
            f"/auth/authorize?response_type=code&client_id={client_id}&scope=openid&redirect_uri={address}{more}",
        )
        assert answer.status == 400
        assert "not registered with the application" in answer.text
    for reference in (parse_qs(begun_at.query)["state"][0], "x"):
        answer = await ann.send(
            "GET",
            f"/auth/authorize?client_id={client_id}&request_uri=urn:ietf:params:oauth:request_uri:{reference}",
        )
        assert answer.status == 400


async def test_a_code_of_a_try_is_redeemed_by_nobody_else(world: World, people: Team, ann: Visitor) -> None:
    world.connection.execute("UPDATE services SET service_type = 'mobile'")
    [(client_id,)] = world.connection.execute("SELECT client_id FROM services").fetchall()
    query = parse_qs(urlsplit(await answered(ann)).query)

    answer = await world.client.request(
        "POST",
        "/auth/token",
        body={
            "grant_type": "authorization_code",
            "client_id": str(client_id),
            "redirect_uri": f"http://localhost:8000{TRYOUT}/answer",
            "code": query["code"][0],
            "code_verifier": "a" * 43,
        },
    )

    assert answer.status == 400
    assert answer.json["error"] == "invalid_grant"


async def test_a_request_of_a_try_belongs_to_its_service_alone(world: World, people: Team, ann: Visitor) -> None:
    blog = world.service(people.organization_id, "blog")
    parts = parse_qs(urlsplit(await begun(ann)).query)

    answer = await ann.send("GET", f"/auth/authorize?client_id={blog.client_id}&request_uri={parts['request_uri'][0]}")
    code = await answered(ann)
    elsewhere = await ann.open(code.replace("/shop/", "/blog/"))

    assert answer.status == 400
    assert elsewhere.status == 409


@pytest.mark.parametrize("state", ["", "x", "%00"])
async def test_an_answer_that_nobody_has_asked_for_shows_nothing(ann: Visitor, state: str) -> None:
    for more in ("&code=x", "&error=access_denied", ""):
        answer = await ann.open(f"{TRYOUT}/answer?state={state}{more}")

        assert answer.status in {400, 409}
        assert "You have cancelled the sign-in" not in answer.text


async def test_a_try_ends_with_the_session_in_which_it_was_begun(ann: Visitor) -> None:
    address = await answered(ann)
    ann.cookies.clear()
    await ann.sign_in("ann@example.com")

    answer = await ann.open(address)

    assert answer.status == 409


async def test_a_code_that_is_too_old_is_said(world: World, ann: Visitor) -> None:
    address = await answered(ann)
    world.connection.execute("UPDATE authorization_codes SET expires_at = created_at")

    answer = await ann.open(address)

    assert answer.status == 409
    assert "could not be exchanged for tokens" in answer.text


async def test_an_answer_to_another_request_is_none_of_this_try(world: World, ann: Visitor) -> None:
    address = await answered(ann)
    world.connection.execute("UPDATE authorization_codes SET nonce = 'of another request'")

    answer = await ann.open(address)

    assert answer.status == 409
    assert "This try is over." in answer.text


async def test_a_sign_in_that_is_cancelled_is_said(world: World, people: Team, ann: Visitor) -> None:
    address = await answered(ann)
    state = parse_qs(urlsplit(address).query)["state"][0]

    page = await ann.open(f"{TRYOUT}/answer?state={state}&error=access_denied")

    assert "You have cancelled the sign-in, or did not agree." in page.text


async def test_a_service_with_a_security_profile_says_why_it_cannot_be_tried(
    world: World, people: Team, ann: Visitor
) -> None:
    form, waiting = await ann.open(TRYOUT), await answered(ann)
    world.connection.execute("UPDATE services SET security_profile = 'fapi2', jwks_uri = 'https://shop.example/jwks'")

    shown, refused, late = await ann.open(TRYOUT), await ann.submit(form, TRYOUT), await ann.open(waiting)

    assert "Only the service has these keys" in shown.text
    assert f'action="{TRYOUT}"' not in shown.text
    assert (refused.status, late.status) == (400, 400)


async def test_a_member_sees_that_trying_is_closed(people: Team, visitor: Visitor) -> None:
    await visitor.sign_in("cid@example.com")

    page = await visitor.open(TRYOUT)

    assert "<code>services.manage</code>" in page.text
    assert f'action="{TRYOUT}"' not in page.text
