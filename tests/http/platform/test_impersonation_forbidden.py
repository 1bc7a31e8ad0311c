"""What an impersonator may not do: give access to the account, lock the user out of it, or end it.

Every route that changes the caller's own account is in one of the two tables; a new route fails the first test until it
is in one of them.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from entrypoints import capabilities
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.routes import Route
from tests.world.builder import PASSWORD
from tests.world.passkeys import Keyring
from tests.world.platform import PLATFORM_OWNER, Platform
from tests.world.world import World, assert_refused

NEW_PASSWORD = "another horse battery"
ID = "0191d3c1-0000-7000-8000-00000000000f"
CREDENTIAL = {
    "id": "AA",
    "rawId": "AA",
    "type": "public-key",
    "response": {"clientDataJSON": "AA", "attestationObject": "AA"},
}
# Each with a valid body.
FORBIDDEN: dict[str, Any] = {
    "DELETE /api/user": None,
    "POST /api/user/lock": None,
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
# It shows tokens, with which an impersonator could answer without leaving a trace.
CONFIDENTIAL: dict[str, Any] = {"GET /api/invitations": None}
# What belongs to the context of the token: the platform, or a service, which may do it with the token of its user.
IN_CONTEXT: dict[str, Any] = {
    "POST /api/user/identities/:provider/link": None,
    "DELETE /api/user/identities/:provider": None,
    "GET /api/provider-token/:provider": None,
}
REFUSED = FORBIDDEN | CONFIDENTIAL | IN_CONTEXT
ALLOWED = {
    # It ends the impersonation.
    "POST /api/auth/logout",
    # It gives no access to the account.
    "PATCH /api/user/devices/:id",
}
# Routes below these paths change the caller's own account.
OWN = ("/api/user", "/api/auth", "/api/privacy")


def routes_that_change_the_callers_account() -> list[Route]:
    return [
        route
        for route in capabilities.routes(is_development=True)
        if route.who.kind is CredentialKind.ACCESS_TOKEN and route.path.startswith(OWN) and route.method != "GET"
    ]


def test_every_route_that_changes_the_callers_account_is_in_a_table() -> None:
    assert {route.name for route in routes_that_change_the_callers_account()} == ALLOWED | set(FORBIDDEN) | {
        name for name in IN_CONTEXT if not name.startswith("GET")
    }


def test_the_forbidden_routes_are_those_declared_as_in_person() -> None:
    declared = {
        route.name
        for route in capabilities.routes(is_development=True)
        if route.who.is_in_person and route.who.kind is CredentialKind.ACCESS_TOKEN
    }

    assert declared == set(REFUSED)


async def test_a_forbidden_route_refuses_before_it_validates_the_input(
    platform: Platform, world: World, subtests: pytest.Subtests
) -> None:
    acting = await platform.impersonate(world.user())

    for name in sorted(REFUSED):
        with subtests.test(name=name):
            method, path = name.split()

            answer = await platform.request(method, path, ["no object"], by=acting)

            assert_refused(answer, 403, "FORBIDDEN")


async def test_a_forbidden_route_refuses_an_impersonator(
    platform: Platform, world: World, keyring: Keyring, subtests: pytest.Subtests
) -> None:
    await keyring.sign_up()
    await keyring.registered()
    user_id = world.value("SELECT id FROM users WHERE email = 'ada@example.com'")
    acting = await platform.impersonate(user_id)

    for name in sorted(REFUSED):
        with subtests.test(name=name):
            method, path = name.split()
            before = everything_of(world, user_id)

            answer = await platform.request(method, filled(world, path, user_id), REFUSED[name], by=acting)

            assert_refused(answer, 403, "FORBIDDEN")
            assert everything_of(world, user_id) == before


async def test_a_forbidden_route_refuses_a_service_that_a_platform_owner_uses(
    platform: Platform, world: World, subtests: pytest.Subtests
) -> None:
    world.service(world.organization("market"))
    shopping = await world.sign_in(PLATFORM_OWNER, org_slug="market", service_slug="shop")

    for name in sorted(FORBIDDEN | CONFIDENTIAL):
        with subtests.test(name=name):
            method, path = name.split()
            before = world.rows("SELECT t::text FROM users AS t ORDER BY 1")

            answer = await platform.request(method, path, ["no object"], by=shopping)

            assert_refused(answer, 403, "FORBIDDEN")
            assert answer.json["error"].startswith("This token was issued to a service")
            assert world.rows("SELECT t::text FROM users AS t ORDER BY 1") == before


async def test_a_service_may_manage_the_account_of_an_ordinary_user(platform: Platform, world: World) -> None:
    world.user()
    world.service(world.organization("market"))
    shopping = await world.sign_in(org_slug="market", service_slug="shop")

    answer = await platform.request("POST", "/api/user/mfa/setup", by=shopping)

    assert answer.status == 200, answer.text


async def test_an_impersonator_can_sign_out_and_rename_a_device(platform: Platform, world: World) -> None:
    user_id = world.user()
    await world.sign_in()
    acting = await platform.impersonate(user_id)
    device = world.value("SELECT id FROM devices WHERE user_id = %s", user_id)

    renamed = await platform.request("PATCH", f"/api/user/devices/{device}", {"name": "Old one"}, by=acting)
    signed_out = await platform.request("POST", "/api/auth/logout", by=acting)

    assert (renamed.status, signed_out.status) == (200, 200)


def filled(world: World, path: str, user_id: UUID) -> str:
    """Insert the ids of existing rows into a path."""
    table = next((name for name in ("passkeys", "sessions", "devices") if name in path), None)
    if table is None:
        return path.replace(":user_id", str(user_id)).replace(":provider", "codehost")
    [row, *_] = world.rows(f"SELECT id FROM {table} WHERE user_id = %s ORDER BY id", user_id)
    return path.replace(":id", str(row[0]))


def everything_of(world: World, user_id: UUID) -> list[Any]:
    """Return the rows of a user's account, credentials and sessions."""
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
