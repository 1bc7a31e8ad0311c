"""The page of one's own sessions."""

from __future__ import annotations

import pytest

from core.sign_in.own_account import OWN_SESSIONS_MAX
from tests.world.authorization import sign_in
from tests.world.builder import EMAIL
from tests.world.platform import Platform
from tests.world.relying_party import insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

PAGE = "/app/account/sessions"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
async def ada(world: World, visitor: Visitor) -> Visitor:
    """A browser in which Ada has just signed in."""
    world.user()
    await visitor.sign_in()
    return visitor


async def test_the_sessions_are_listed_with_their_places_and_this_one_is_marked(world: World, ada: Visitor) -> None:
    await world.sign_in(headers={"User-Agent": f"curl/8.0 {HOSTILE}"})
    world.connection.execute("UPDATE sessions SET ip_address = '198.51.100.7'")

    page = await ada.open(PAGE)

    assert page.text.count("This session") == 1
    assert page.text.count("From the network address 198.51.100.7") == 2
    # A program on the platform is apart from browsers.
    assert page.text.index("Programs and devices") < page.text.index("curl")
    assert "Other browsers" not in page.text
    assert HOSTILE not in page.text


async def test_one_session_is_ended(world: World, ada: Visitor) -> None:
    one, other = await world.sign_in(), await world.sign_in()

    page = await ada.submit(await ada.open(PAGE), f"{PAGE}/{claims_of(one.access_token)['sid']}/end")

    assert "The session has ended." in page.text
    assert (await world.list_sessions(one)).status == 401
    assert (await world.list_sessions(other)).status == 200


async def test_all_other_sessions_are_ended_and_this_one_stays(world: World, ada: Visitor) -> None:
    others = [await world.sign_in(), await world.sign_in()]

    page = await ada.submit(await ada.open(PAGE), f"{PAGE}/end-others")

    assert "All other sessions have ended." in page.text
    assert [(await world.list_sessions(one)).status for one in others] == [401, 401]
    assert (await ada.open(PAGE)).status == 200


async def test_the_session_of_another_user_is_not_found(world: World, ada: Visitor) -> None:
    world.user("bob@example.com")
    bob = await world.sign_in("bob@example.com")
    page = await ada.open(PAGE)
    form = page.text.split('name="form_token" value="')[1].split('"')[0]

    refused = await ada.post(f"{PAGE}/{claims_of(bob.access_token)['sid']}/end", {"form_token": form})

    assert refused.status == 404
    assert (await world.list_sessions(bob)).status == 200


class TestGroups:
    """Sessions by what they are."""

    async def test_an_application_is_shown_under_its_browser_and_with_all_its_sessions(
        self, world: World, visitor: Visitor
    ) -> None:
        world.user()
        shop = insert_relying_party(world)
        other = Visitor(visitor.client)
        await sign_in(visitor, shop)
        await sign_in(other, shop)
        await world.sign_in(org_slug="acme", service_slug="shop", headers={"User-Agent": "okhttp/4.1"})

        page = await visitor.open(PAGE)

        assert page.text.index("This browser") < page.text.index("Other browsers") < page.text.index("3 sessions")
        assert page.text.count("Applications signed in to from") == 2
        assert page.text.count("Shop of Acme") > 3
        assert "2 began from browsers above" in page.text
        assert "okhttp" in page.text

    async def test_all_sessions_of_an_application_are_ended_and_the_others_stay(
        self, world: World, visitor: Visitor
    ) -> None:
        world.user()
        shop = insert_relying_party(world)
        await sign_in(visitor, shop)
        mobile = await world.sign_in(org_slug="acme", service_slug="shop")
        elsewhere = await world.sign_in()
        [(service_id,)] = world.connection.execute("SELECT id FROM services").fetchall()

        page = await visitor.submit(await visitor.open(PAGE), f"{PAGE}/at/{service_id}/end")
        again = await visitor.post(f"{PAGE}/at/{service_id}/end", forms_of(page)[0].fields)

        assert "All your sessions at the application have ended." in page.text
        assert "Shop of Acme" not in page.text
        assert (await world.list_sessions(mobile)).status == 401
        assert (await world.list_sessions(elsewhere)).status == 200
        assert again.status == 404

    async def test_only_the_sessions_of_one_s_own_end(self, world: World, ada: Visitor) -> None:
        world.user("bob@example.com")
        world.service(world.organization(), "shop")
        bob = await world.sign_in("bob@example.com", org_slug="acme", service_slug="shop")
        [(service_id,)] = world.connection.execute("SELECT id FROM services").fetchall()
        fields = forms_of(await ada.open(PAGE))[0].fields

        refused = await ada.post(f"{PAGE}/at/{service_id}/end", fields)

        assert refused.status == 404
        assert (await world.list_sessions(bob)).status == 200

    async def test_the_support_of_the_platform_is_named_and_can_be_ended(
        self, world: World, ada: Visitor, platform: Platform
    ) -> None:
        tokens = await platform.impersonate(world.user_id(EMAIL))

        page = await ada.open(PAGE)
        await ada.submit(page, f"{PAGE}/{claims_of(tokens.access_token)['sid']}/end")

        assert "Support of the platform" in page.text
        assert "root@" not in page.text
        assert (await world.list_sessions(tokens)).status == 401

    async def test_many_sessions_are_counted_and_the_ones_used_last_are_listed(
        self, world: World, ada: Visitor
    ) -> None:
        world.connection.execute(
            """
            INSERT INTO sessions (id, user_id, provider, amr, authenticated_at, refresh_hash, refreshed_at, expires_at,
                                  created_at)
            SELECT gen_random_uuid(), user_id, 'password', '{pwd}', authenticated_at, '', refreshed_at, expires_at,
                   created_at
            FROM   sessions, generate_series(1, %s)
            """,
            (OWN_SESSIONS_MAX,),
        )

        page = await ada.open(PAGE)

        assert f"These are the {OWN_SESSIONS_MAX} used last, of {OWN_SESSIONS_MAX + 1}." in page.text
        assert "This session" in page.text
