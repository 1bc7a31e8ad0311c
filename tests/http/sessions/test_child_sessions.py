"""Signing in to a service from a browser begins a session of its own, the child of the browser's."""

from __future__ import annotations

import contextlib
from datetime import timedelta
from uuid import UUID

import pytest
import trio

from core.errors import Forbidden, NotFound
from core.secrets import hash_token
from core.sessions import browser_sessions, sessions
from core.sessions.browser_sessions import BrowserSession
from core.sessions.refresh import SessionOver
from core.sign_in import child_sessions
from core.sign_in.mfa_challenges import BegunSession
from core.sign_in.proofs import Destination
from core.sign_in.reasons import SecondFactorDue
from tests.clock import SettableClock
from tests.world.acme_shop import AcmeShop
from tests.world.builder import EMAIL
from tests.world.visitor import Visitor
from tests.world.world import World

ROUNDS = 10


@pytest.fixture
def visitor(world: World) -> Visitor:
    """A browser without a session."""
    return Visitor(world.client)


async def browser_of(world: World, visitor: Visitor) -> BrowserSession:
    """Return the session of a browser that has signed in."""
    found = await world.installation.database.read(browser_sessions.find, visitor.cookies["gatehouse_session"])
    assert found is not None
    return found


async def begin(world: World, browser: BrowserSession, service: str | None = "shop") -> BegunSession:
    """Sign in to the shop, or only to its organization, from the browser."""
    return await world.installation.database.transact(
        child_sessions.begin,
        browser.session_id,
        browser.user_id,
        Destination(organization_slug="acme", service_slug=service),
    )


def alive(world: World, session_id: UUID) -> bool:
    """Return whether a session has not been revoked."""
    return world.value("SELECT revoked_at IS NULL FROM sessions WHERE id = %s", session_id)


async def test_a_child_belongs_to_the_service_and_states_when_and_how_the_browser_signed_in(
    world: World, visitor: Visitor, acme_shop: AcmeShop, clock: SettableClock
) -> None:
    world.user()
    await visitor.sign_in()
    signed_in_at = clock()
    clock.advance(timedelta(minutes=20))

    child = await begin(world, await browser_of(world, visitor))

    caller = await world.installation.database.read(lambda uow: uow.callers.of_session(child.session.id))
    assert caller is not None
    assert (caller.place.organization_slug, caller.place.service_slug, caller.session.amr) == ("acme", "shop", ["pwd"])
    assert caller.session.authenticated_at == signed_in_at
    assert world.value("SELECT count(*) FROM service_users") == 1
    assert world.value("SELECT client_id FROM services WHERE id = %s", acme_shop.service_id) == caller.place.client_id


async def test_signing_out_in_the_browser_ends_its_children_and_tells_each_organization(
    world: World, visitor: Visitor, acme_shop: AcmeShop
) -> None:
    world.user()
    home = await visitor.sign_in()
    child = await begin(world, await browser_of(world, visitor))

    await visitor.submit(home, "/app/sign-out")

    assert not alive(world, child.session.id)
    [(organization_id, email, data)] = world.events("session.revoked")
    assert (organization_id, email, data["sessions"]) == (acme_shop.organization_id, EMAIL, 1)


async def test_a_person_who_ends_the_session_elsewhere_ends_its_children_too(
    world: World, visitor: Visitor, acme_shop: AcmeShop
) -> None:
    world.user()
    await visitor.sign_in()
    browser = await browser_of(world, visitor)
    child = await begin(world, browser)
    tokens = await world.sign_in()

    answer = await world.client.delete(f"/api/user/sessions/{browser.session_id}", token=tokens.access_token)

    assert answer.status == 204
    assert not alive(world, child.session.id)
    assert acme_shop.organization_id in {organization_id for organization_id, _, _ in world.events("session.revoked")}


async def test_a_child_outlives_a_browser_session_that_expires(
    world: World, visitor: Visitor, acme_shop: AcmeShop, clock: SettableClock
) -> None:
    world.user()
    await visitor.sign_in()
    child = await begin(world, await browser_of(world, visitor))

    clock.advance(timedelta(days=2))

    refreshed = await world.refresh(child.refresh_token.reveal())
    assert refreshed.status == 200, refreshed.text


async def test_an_organization_that_ends_its_sessions_leaves_those_of_others_alone(
    world: World, visitor: Visitor, acme_shop: AcmeShop
) -> None:
    user_id = world.user()
    globex = world.organization("globex")
    world.member(globex, user_id, "member")
    await visitor.sign_in()
    browser = await browser_of(world, visitor)
    child = await begin(world, browser)
    world.connection.execute("UPDATE sessions SET organization_id = %s WHERE id = %s", (globex, browser.session_id))

    await world.installation.database.transact(sessions.end_in_organization, globex, user_id)

    assert alive(world, child.session.id)
    assert not alive(world, browser.session_id)


async def test_no_child_begins_of_a_session_that_has_ended_or_of_another_user(
    world: World, visitor: Visitor, acme_shop: AcmeShop
) -> None:
    world.user()
    other = world.user("eve@example.com")
    home = await visitor.sign_in()
    browser = await browser_of(world, visitor)

    with pytest.raises(SessionOver):
        await world.installation.database.transact(
            child_sessions.begin,
            browser.session_id,
            other,
            Destination(organization_slug="acme", service_slug="shop"),
        )
    await visitor.submit(home, "/app/sign-out")
    with pytest.raises(SessionOver):
        await begin(world, browser)


async def test_a_child_passes_the_checks_of_every_sign_in(world: World, visitor: Visitor, acme_shop: AcmeShop) -> None:
    user_id = world.user()
    await visitor.sign_in()
    browser = await browser_of(world, visitor)

    with pytest.raises(NotFound):
        await begin(world, browser, "nowhere")
    with pytest.raises(Forbidden):
        await begin(world, browser, None)
    world.connection.execute("UPDATE users SET mfa_enabled_at = now() WHERE id = %s", (user_id,))
    with pytest.raises(SecondFactorDue):
        await begin(world, browser)
    assert world.value("SELECT count(*) FROM mfa_challenges") == 0


async def test_a_browser_session_has_no_refresh_token(world: World, visitor: Visitor) -> None:
    world.user()
    await visitor.sign_in()
    secret = visitor.cookies["gatehouse_session"]

    assert (await world.refresh(secret)).status == 401
    assert world.value("SELECT refresh_hash = %s FROM sessions", hash_token(secret)) is False


async def test_a_browser_session_is_listed_with_its_own_end(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    world.user()
    await visitor.sign_in()
    tokens = await world.sign_in()

    listed = (await world.list_sessions(tokens)).json["sessions"]

    ends = {one["expires_at"] for one in listed}
    assert f"{clock() + timedelta(hours=12):%Y-%m-%dT%H:%M:%SZ}" in ends
    assert len(listed) == 2


async def test_no_child_survives_a_parent_that_ends_while_it_begins(
    world: World, visitor: Visitor, acme_shop: AcmeShop
) -> None:
    world.user()
    for _ in range(ROUNDS):
        await visitor.sign_in()
        browser = await browser_of(world, visitor)

        async def begin_child(browser: BrowserSession) -> None:
            with contextlib.suppress(SessionOver):
                await begin(world, browser)

        async def end_parent(browser: BrowserSession) -> None:
            await world.installation.database.transact(
                sessions.sign_out, browser.session_id, browser.user_id, browser.email
            )

        async with trio.open_nursery() as nursery:
            nursery.start_soon(begin_child, browser)
            nursery.start_soon(end_parent, browser)

        assert world.value("SELECT count(*) FROM sessions WHERE revoked_at IS NULL") == 0
