"""What nobody may do in somebody else's name: whatever opens the account, shuts others out of it, or ends it.

Every route that changes something of the person who calls is in one of the two tables; a new one fails the first test
until somebody has decided which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from entrypoints import capabilities
from entrypoints.web.credentials import CredentialKind
from tests.world.builder import PASSWORD
from tests.world.platform import PLATFORM_OWNER, Platform
from tests.world.world import World, assert_refused

if TYPE_CHECKING:
    from uuid import UUID

    from entrypoints.web.routes import Route
    from tests.world.passkeys import Keyring

NEW_PASSWORD = "another horse battery"
ID = "0191d3c1-0000-7000-8000-00000000000f"
CREDENTIAL = {
    "id": "AA",
    "rawId": "AA",
    "type": "public-key",
    "response": {"clientDataJSON": "AA", "attestationObject": "AA"},
}
# With a body that would be good.
FORBIDDEN: dict[str, Any] = {
    "POST /api/user/set-password": {"new_password": NEW_PASSWORD},
    "POST /api/user/change-password": {"current_password": PASSWORD, "new_password": NEW_PASSWORD},
    "PATCH /api/user": {"email": "mine@example.com"},
    "POST /api/user/mfa/setup": None,
    "POST /api/user/mfa/verify": {"code": "123456"},
    "DELETE /api/user/mfa": None,
    "POST /api/user/mfa/backup-codes/regenerate": None,
    "POST /api/auth/passkeys/register/start": None,
    "POST /api/auth/passkeys/register/finish": {"challenge_id": ID, "credential": CREDENTIAL},
    "PATCH /api/auth/passkeys/:id": {"name": "mine"},
    "DELETE /api/auth/passkeys/:id": None,
    "DELETE /api/user/sessions": None,
    "DELETE /api/user/sessions/:id": None,
    "DELETE /api/user/devices/:id": None,
    "DELETE /api/privacy/forget/:user_id": None,
}
ALLOWED = {
    # It ends the impersonation.
    "POST /api/auth/logout",
    # It opens nothing.
    "PATCH /api/user/devices/:id",
}
# Below these, what somebody changes is their own account.
OWN = ("/api/user", "/api/auth", "/api/privacy")


def changing_oneself() -> list[Route]:
    return [
        route
        for route in capabilities.routes(is_development=True)
        if route.who.kind is CredentialKind.ACCESS_TOKEN and route.path.startswith(OWN) and route.method != "GET"
    ]


def test_of_every_route_that_changes_ones_own_account_it_is_decided() -> None:
    assert {route.name for route in changing_oneself()} == ALLOWED | set(FORBIDDEN)


def test_what_is_forbidden_is_declared_as_done_in_person() -> None:
    declared = {route.name for route in capabilities.routes(is_development=True) if route.who.is_in_person}

    assert declared == set(FORBIDDEN)


@pytest.mark.parametrize("name", sorted(FORBIDDEN))
async def test_what_is_wrong_with_the_input_is_not_spoken_of(platform: Platform, world: World, name: str) -> None:
    acting = await platform.impersonate(world.user())
    method, path = name.split()

    answer = await platform.request(method, path, ["no object"], by=acting)

    assert_refused(answer, 403, "FORBIDDEN")


@pytest.mark.parametrize("name", sorted(FORBIDDEN))
async def test_it_cannot_be_done_in_somebody_elses_name(
    platform: Platform, world: World, keyring: Keyring, name: str
) -> None:
    await keyring.sign_up()
    await keyring.registered()
    user_id = world.value("SELECT id FROM users WHERE email = 'ada@example.com'")
    acting = await platform.impersonate(user_id)
    method, path = name.split()
    before = everything_of(world, user_id)

    answer = await platform.request(method, filled(world, path, user_id), FORBIDDEN[name], by=acting)

    assert_refused(answer, 403, "FORBIDDEN")
    assert everything_of(world, user_id) == before


@pytest.mark.parametrize("name", sorted(FORBIDDEN))
async def test_nor_by_a_service_that_a_platform_owner_uses(platform: Platform, world: World, name: str) -> None:
    world.service(world.organization("market"))
    shopping = await world.sign_in(PLATFORM_OWNER, org_slug="market", service_slug="shop")
    method, path = name.split()
    before = world.rows("SELECT t::text FROM users AS t ORDER BY 1")

    answer = await platform.request(method, path, ["no object"], by=shopping)

    assert_refused(answer, 403, "FORBIDDEN")
    assert answer.json["error"].startswith("This token was issued to a service")
    assert world.rows("SELECT t::text FROM users AS t ORDER BY 1") == before


async def test_of_everybody_else_a_service_may_show_the_pages_that_look_after_the_account(
    platform: Platform, world: World
) -> None:
    world.user()
    world.service(world.organization("market"))
    shopping = await world.sign_in(org_slug="market", service_slug="shop")

    answer = await platform.request("POST", "/api/user/mfa/setup", by=shopping)

    assert answer.status == 200, answer.text


async def test_whoever_acts_can_sign_out_and_name_a_device(platform: Platform, world: World) -> None:
    user_id = world.user()
    await world.sign_in()
    acting = await platform.impersonate(user_id)
    device = world.value("SELECT id FROM devices WHERE user_id = %s", user_id)

    named = await platform.request("PATCH", f"/api/user/devices/{device}", {"name": "Old one"}, by=acting)
    gone = await platform.request("POST", "/api/auth/logout", by=acting)

    assert (named.status, gone.status) == (200, 200)


def filled(world: World, path: str, user_id: UUID) -> str:
    """Put ids of what is really there into a path."""
    table = next((name for name in ("passkeys", "sessions", "devices") if name in path), None)
    if table is None:
        return path.replace(":user_id", str(user_id))
    [row, *_] = world.rows(f"SELECT id FROM {table} WHERE user_id = %s ORDER BY id", user_id)
    return path.replace(":id", str(row[0]))


def everything_of(world: World, user_id: UUID) -> list[Any]:
    """What somebody signs in with, and is signed in with."""
    return [
        world.rows(f"SELECT t::text FROM {table} AS t WHERE {column} = %s ORDER BY 1", user_id)
        for table, column in [
            ("users", "id"),
            ("sessions", "user_id"),
            ("devices", "user_id"),
            ("passkeys", "user_id"),
            ("passkey_challenges", "user_id"),
            ("totp_secrets", "user_id"),
            ("backup_codes", "user_id"),
        ]
    ]
