"""The pages that lock an account: one's own, one of the organization's own, and any account for the platform."""

from __future__ import annotations

from uuid import UUID

from tests.world.builder import EMAIL
from tests.world.directory import insert_directory
from tests.world.visitor import Visitor
from tests.world.world import World


def is_locked(world: World, email: str) -> bool:
    return world.value("SELECT locked_at IS NOT NULL FROM users WHERE email = %s", email)


async def test_a_person_locks_the_account_from_the_page_of_sessions(world: World) -> None:
    world.user(EMAIL)
    browser = Visitor(world.client)
    await browser.sign_in(EMAIL, path="/app/account/sessions")

    sessions = await browser.open("/app/account/sessions")
    page = await browser.open("/app/account/lock")
    done = await browser.submit(page, "/app/account/lock")

    assert "/app/account/lock" in sessions.text
    assert "choose a new password by a mail" in page.text
    assert "The account is locked" in done.text
    assert is_locked(world, EMAIL)
    assert not browser.has_session


async def test_an_organization_locks_an_account_of_its_own(world: World) -> None:
    team = world.team("acme")
    team.add("owner", "owner")
    world.mail_domain(team.organization_id, "acme.example")
    user_id = UUID((await insert_directory(team).create("ada@acme.example"))["id"])
    browser = Visitor(world.client)
    await browser.sign_in("owner@example.com", path="/app/organizations/acme/people")
    path = f"/app/organizations/acme/people/lock/{user_id}"

    person = await browser.open(f"/app/organizations/acme/people/{user_id}")
    done = await browser.submit(await browser.open(path), path)
    refused = await browser.open(f"/app/organizations/acme/people/lock/{team.ids['owner']}")

    assert path in person.text
    assert "The account is locked." in done.text
    assert is_locked(world, "ada@acme.example")
    assert refused.status == 403


async def test_the_platform_locks_and_unlocks_an_account(world: World) -> None:
    user_id = world.user(EMAIL)
    await world.signed_in_platform_owner()
    browser = Visitor(world.client)
    await browser.sign_in("root@example.com", path="/app/platform/users")
    path = f"/app/platform/users/{user_id}"

    locked = await browser.submit(await browser.open(f"{path}/lock"), f"{path}/lock")
    assert is_locked(world, EMAIL)
    unlocked = await browser.submit(await browser.open(f"{path}/lock"), f"{path}/unlock")

    assert "The account is locked." in locked.text
    assert "The account is unlocked." in unlocked.text
    assert not is_locked(world, EMAIL)
