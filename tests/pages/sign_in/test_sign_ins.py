"""The pages of one's own sign-ins."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest

from core.audit.sign_in_counts import count_next
from core.sign_in.reasons import SignInReason
from core.sign_in.risk import RiskFactor
from entrypoints.pages.sign_in.reasons import REASONS, RISKS
from tests.application import Answer
from tests.shown_text import shows
from tests.world.builder import EMAIL
from tests.world.platform import Platform
from tests.world.second_factors import Person
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/account/sign-ins"


@pytest.fixture
async def ada(world: World, visitor: Visitor) -> Visitor:
    """A browser in which Ada has just signed in."""
    world.user()
    await visitor.sign_in()
    return visitor


def ids_in(text: str) -> list[str]:
    """Return the sign-ins that a page lists."""
    return re.findall(rf'href="{PAGE}/([0-9a-f-]{{36}})"', text)


def add(world: World, email: str = EMAIL, *, number: int = 1) -> None:
    """Store refused sign-ins of one moment, after what happened at the present one."""
    world.connection.execute(
        """
        INSERT INTO login_events (id, user_id, organization_id, provider, success, reason, risk_score, risk_factors,
                                  created_at)
        SELECT overlay(gen_random_uuid()::text placing left(first_id_at(later)::text, 13) from 1)::uuid, u.id, u.id,
               'password', false, 'wrong_password', 30, '{new_device,failed_attempt}', later - interval '1 second'
        FROM   users u, (SELECT %s::timestamptz + interval '1 second') AS moment (later), generate_series(1, %s)
        WHERE  u.email = %s
        """,
        (world.clock(), number, email),
    )


def test_every_reason_and_every_risk_has_a_text() -> None:
    assert set(REASONS) == set(SignInReason)
    assert set(RISKS) == {factor.value for factor in RiskFactor}


async def test_a_sign_in_and_a_refusal_are_shown_with_place_browser_and_reason(world: World, ada: Visitor) -> None:
    world.service(world.organization(), "shop")
    await world.sign_in(org_slug="acme", service_slug="shop", headers={"User-Agent": "curl/8.5.0"})
    await world.log_in(EMAIL, "wrong", address="198.51.100.7")

    page = await ada.open(PAGE)

    assert page.text.index("The password was wrong.") < page.text.index("Shop of Acme")
    assert "From the network address 198.51.100.7" in page.text
    assert "New device" in page.text
    assert "curl" in page.text
    assert len(ids_in(page.text)) == 3


async def test_every_part_has_an_address_and_none_is_shown_twice(world: World, ada: Visitor) -> None:
    add(world, number=4)

    first = await ada.open(f"{PAGE}?limit=2")
    second = await ada.open(f"{PAGE}?after={ids_in(first.text)[-1]}&limit=2")
    third = await ada.open(f"{PAGE}?after={ids_in(second.text)[-1]}&limit=2")

    shown = [ids_in(page.text) for page in (first, second, third)]
    assert [len(part) for part in shown] == [2, 2, 1]
    assert len({one for part in shown for one in part}) == 5
    assert f'href="{PAGE}?after={shown[0][-1]}&amp;limit=2"' in first.text
    assert "Newest sign-ins" not in first.text
    assert "Older sign-ins" not in third.text
    assert f'href="{PAGE}?limit=2"' in third.text


async def test_what_is_not_one_s_own_is_not_found(world: World, ada: Visitor) -> None:
    world.user("bob@example.com")
    add(world, "bob@example.com")
    bobs = world.value("SELECT id FROM login_events WHERE reason = 'wrong_password'")

    for path in (f"{PAGE}/{bobs}", f"{PAGE}?after={bobs}", f"{PAGE}/{uuid4()}"):
        assert (await ada.open(path)).status == 404, path
    assert not shows((await ada.open(PAGE)).text, "wrong")


async def test_a_stranger_s_sign_in_leads_to_ending_sessions_and_a_new_password(world: World, ada: Visitor) -> None:
    stranger = await world.sign_in()
    [newest, *_] = ids_in((await ada.open(PAGE)).text)

    page = await ada.open(f"{PAGE}/{newest}")
    ended = await ada.submit(page, "/app/account/sessions/end-others")

    assert "Another person was in your account." in page.text
    assert 'href="/app/account/password"' in page.text
    assert "All other sessions have ended." in ended.text
    assert (await world.list_sessions(stranger)).status == 401


async def test_a_stranger_who_was_refused_is_told_apart(world: World, ada: Visitor) -> None:
    add(world)
    world.remove_password()
    [newest, *_] = ids_in((await ada.open(PAGE)).text)

    page = await ada.open(f"{PAGE}/{newest}")

    assert "The other person was not let in." in page.text
    assert "Change the password of your mailbox" in page.text
    assert not shows(page.text, "end-others")
    assert page.text.count("After wrong attempts") == 1


async def test_the_support_of_the_platform_is_told_apart_also_when_it_is_over(
    world: World, ada: Visitor, platform: Platform
) -> None:
    await platform.impersonate(world.user_id(EMAIL))
    world.connection.execute("UPDATE sessions SET revoked_at = now() WHERE impersonator_id IS NOT NULL")

    page = await ada.open(PAGE)

    assert "An operator of this platform acted as you" in page.text
    assert "root@" not in page.text
    assert len(ids_in(page.text)) == 1
    world.connection.execute(
        "UPDATE sessions SET confined_to = %s FROM browser_sessions WHERE session_id = id", (world.organization(),)
    )
    assert "An operator" not in (await ada.open(PAGE)).text


async def test_a_second_factor_that_did_not_follow_is_no_refusal(world: World, ada: Visitor) -> None:
    add(world)
    world.connection.execute("UPDATE login_events SET reason = 'second_factor_asked' WHERE NOT success")

    assert "Not completed" in (await ada.open(PAGE)).text


async def test_a_confined_session_shows_what_concerns_its_organization(world: World, ada: Visitor) -> None:
    user_id = world.user_id(EMAIL)
    acme, globex = world.organization("acme"), world.organization("globex")
    world.member(acme, user_id)
    world.member(globex, user_id)
    await world.sign_in(org_slug="acme")
    await world.sign_in(org_slug="globex")
    own, foreign = (
        world.value("SELECT id FROM login_events WHERE organization_id = %s", one) for one in (acme, globex)
    )
    world.connection.execute(
        "UPDATE sessions SET confined_to = %s FROM browser_sessions WHERE session_id = id", (acme,)
    )

    shown = await ada.open(PAGE)

    assert ids_in(shown.text) == [str(own)]
    assert not shows(shown.text, "Globex")
    assert (await ada.open(f"{PAGE}/{own}")).status == 200
    for path in (f"{PAGE}/{foreign}", f"{PAGE}?after={foreign}"):
        assert (await ada.open(path)).status == 404, path
    world.connection.execute("DELETE FROM memberships WHERE organization_id = %s", (acme,))
    assert ids_in((await ada.open(PAGE)).text) == []


async def test_a_sign_in_by_mail_says_whether_it_was_the_link_or_the_code(world: World, ada: Visitor) -> None:
    acme, user_id = world.organization(), world.user_id(EMAIL)
    world.member(acme, user_id)
    world.member(acme, world.user("owner@example.com"), "owner")
    world.user("root@example.com", is_platform_owner=True)
    person = Person(world, user_id, EMAIL)

    async def mailed(*, by_code: bool) -> Answer:
        """Sign in by the mail that was sent."""
        asked = await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL, "org_slug": "acme"})
        values = (await world.mails())[-1].values
        proof = (
            {"challenge_id": asked.json["challenge_id"], "code": values["code"]}
            if by_code
            else {"token": values["token"]}
        )
        return await world.client.post("/api/auth/magic-link/verify", body=proof)

    # The oldest is one of an earlier version, and the newest goes on with a second factor.
    await mailed(by_code=True)
    world.connection.execute("UPDATE login_events SET mailed_proof = NULL")
    assert (await mailed(by_code=False)).status == 200
    await person.turn_mfa_on()
    person.next_step()
    waiting = await mailed(by_code=True)
    assert (await person.verify(waiting.json["access_token"], person.code())).status == 200

    await world.installation.database.transact(count_next, 100)
    owner, root = Visitor(world.client), Visitor(world.client)
    await owner.sign_in("owner@example.com")
    await root.sign_in("root@example.com")
    for browser, path in (
        (ada, PAGE),
        (owner, f"/app/organizations/acme/people/{user_id}"),
        (owner, "/app/organizations/acme/analytics/sign-ins"),
        (owner, f"/app/organizations/acme/why?email={EMAIL}"),
        (root, f"/app/platform/users/{user_id}/sign-ins"),
        (root, "/app/platform/sign-ins"),
    ):
        page = re.sub("(?s)<option.*?</option>", "", (await browser.open(path)).text)
        ways = re.findall("Mailed link or code|Link by mail|Code by mail", page.partition("Last attempts")[2] or page)
        assert [way for way in ways if way != "Mailed link or code"] == ["Code by mail", "Link by mail"], path
        assert "Mailed link or code" in ways, path
    newest = ids_in((await ada.open(PAGE)).text)[0]
    assert "Code by mail" in (await ada.open(f"{PAGE}/{newest}")).text
    kept = world.rows("SELECT provider, mailed_proof FROM login_events WHERE provider = 'magic_link' ORDER BY id")
    assert kept == [("magic_link", None), ("magic_link", "link"), ("magic_link", "code")]
