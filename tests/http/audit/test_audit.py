"""An audit entry and its change exist together or not at all.

A constraint makes the log refuse every entry. A request then fails and changes nothing; the same request succeeds, with
an entry, as soon as the log accepts entries again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from psycopg import DatabaseError

from adapters.postgres.driver.connection import Connection
from core.invitations import invitations
from tests.world.builder import FREE_TIER, PASSWORD
from tests.world.world import World, assert_refused

ACME = "/api/organizations/acme"
LOG = "audit_entries"
PLATFORM_LOG = "platform_audit_entries"
ADA = "ada@example.com"
BOB = "bob@example.com"
ROOT = "root@example.com"
# An attempt to use a password is counted before the decision, in a transaction of its own.
EXEMPT_TABLES = {"sign_in_failures"}

# The actor, the method, the path and the body; `{bob}` and the like are filled in.
CHANGES: dict[str, tuple[str, str, str, dict[str, Any] | None]] = {
    "password": (
        ADA,
        "POST",
        "/api/user/change-password",
        {"current_password": PASSWORD, "new_password": "another horse battery"},
    ),
    "organization": (ADA, "PATCH", ACME, {"name": "Another name", "mfa_required": False}),
    "member role changed": (ADA, "PATCH", f"{ACME}/members/{{bob}}", {"role": "member"}),
    "member removed": (ADA, "POST", f"{ACME}/members/{{bob}}", None),
    "ownership": (ADA, "POST", f"{ACME}/transfer-ownership", {"new_owner_user_id": "{bob}"}),
    "role created": (
        ADA,
        "POST",
        f"{ACME}/roles",
        {"slug": "auditor", "name": "Auditor", "description": "Reads.", "permissions": ["audit_logs.view"]},
    ),
    "invitation": (ADA, "POST", f"{ACME}/invitations", {"email": "eve@example.com", "role": "member"}),
    "invitation revoked": (ADA, "POST", f"{ACME}/invitations/{{invitation}}", None),
    "invitation accepted for the invitee": (ADA, "POST", f"{ACME}/invitations/{{invitation}}/accept", None),
    "invitation accepted": (ADA, "POST", "/api/invitations/accept", {"token": "{token}"}),
    "invitation declined": (ADA, "POST", "/api/invitations/decline", {"token": "{token}"}),
    "service grant": (ADA, "PUT", f"{ACME}/services/shop/grants/{{bob}}", {"relation": "viewer"}),
    "anonymization": (ROOT, "DELETE", "/api/privacy/forget/{bob}", None),
    "role changed": (ADA, "PATCH", f"{ACME}/roles/clerk", {"permissions": ["analytics.view"]}),
    "role deleted": (ADA, "DELETE", f"{ACME}/roles/clerk", None),
    "service grant taken back": (ADA, "DELETE", f"{ACME}/services/shop/grants/{{ada}}", None),
    "mfa turned off by force": (ROOT, "DELETE", "/api/platform/users/{bob}/mfa", {"reason": "lost the phone"}),
    "approval": (ROOT, "POST", "/api/platform/organizations/{waiting}/approve", {}),
    "rejection": (ROOT, "POST", "/api/platform/organizations/{waiting}/reject", {"reason": "spam"}),
    "suspension": (ROOT, "POST", "/api/platform/organizations/{acme}/suspend", {"reason": "unpaid"}),
    "activation": (ROOT, "POST", "/api/platform/organizations/{closed}/activate", None),
    "tier": (ROOT, "PATCH", "/api/platform/organizations/{acme}/tier", {"tier_id": str(FREE_TIER), "max_users": 7}),
}
PLATFORM_CHANGES = {
    "anonymization": CHANGES["anonymization"],
    "mfa turned off by force": CHANGES["mfa turned off by force"],
    "approval": CHANGES["approval"],
    "rejection": CHANGES["rejection"],
    "suspension": CHANGES["suspension"],
    "activation": CHANGES["activation"],
    "tier": CHANGES["tier"],
    "platform owner demoted": (ROOT, "DELETE", "/api/platform/owners/{other_root}", None),
    "platform owner": (ROOT, "POST", "/api/platform/owners", {"user_id": "{bob}"}),
    "organization deleted": (ROOT, "DELETE", "/api/platform/organizations/{acme}", None),
    "impersonation": (ROOT, "POST", "/api/platform/impersonate/{bob}", {"reason": "asked for help"}),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_change_without_its_audit_entry_is_rolled_back(
    world: World, connection: Connection, change: str
) -> None:
    await require_change_and_entry(world, connection, LOG, *CHANGES[change])


@pytest.mark.parametrize("change", PLATFORM_CHANGES)
async def test_a_change_without_its_platform_audit_entry_is_rolled_back(
    world: World, connection: Connection, change: str
) -> None:
    await require_change_and_entry(world, connection, PLATFORM_LOG, *PLATFORM_CHANGES[change])


async def test_an_invitation_does_not_expire_on_acceptance_without_its_audit_entry(
    world: World, connection: Connection
) -> None:
    names = await insert_participants(world)
    connection.execute("UPDATE invitations SET expires_at = created_at")
    break_log(connection, LOG)
    before = all_rows(connection)

    refused = await world.client.post("/api/invitations/accept", body={"token": names["token"]})

    assert_refused(refused, 500, "DATABASE_ERROR")
    assert all_rows(connection) == before

    mend_log(connection, LOG)
    assert_refused(
        await world.client.post("/api/invitations/accept", body={"token": names["token"]}), 400, "INVITATION_EXPIRED"
    )
    assert all_rows(connection)[LOG] != before[LOG]


@pytest.mark.parametrize("log", [LOG, "events"])
async def test_the_sweep_expires_no_invitation_without_its_audit_entry_and_its_event(
    world: World, connection: Connection, transact: Callable[..., Any], log: str
) -> None:
    await insert_participants(world)
    connection.execute("UPDATE invitations SET expires_at = created_at")
    break_log(connection, log)
    before = all_rows(connection)

    with pytest.raises(DatabaseError, match='violates check constraint "broken"'):
        transact(invitations.sweep, None, 10)

    assert all_rows(connection) == before

    mend_log(connection, log)
    assert transact(invitations.sweep, None, 10).expired == 1
    assert all_rows(connection)[log] != before[log]


async def require_change_and_entry(
    world: World,
    connection: Connection,
    log: str,
    actor_email: str,
    method: str,
    path: str,
    body: dict[str, Any] | None,
) -> None:
    """Require that a change fails while the log refuses entries, and succeeds with an entry afterwards."""
    names = await insert_participants(world)
    path = path.format_map(names)
    body = {name: value.format_map(names) if isinstance(value, str) else value for name, value in (body or {}).items()}
    token = (await world.sign_in(actor_email)).access_token
    break_log(connection, log)
    before = all_rows(connection)

    refused = await world.client.request(method, path, token=token, body=body or None)

    assert_refused(refused, 500, "DATABASE_ERROR")
    assert all_rows(connection) == before

    mend_log(connection, log)
    done = await world.client.request(method, path, token=token, body=body or None)
    assert done.status < 300, done.text
    assert all_rows(connection)[log] != before[log]


async def insert_participants(world: World) -> dict[str, str]:
    """Insert an organization with an owner, an admin and an invitation, and two platform owners; return ids by name."""
    acme, ada, bob = world.organization(), world.user(ADA), world.user(BOB, has_mfa=True)
    world.member(acme, ada, "owner")
    world.member(acme, bob, "admin")
    world.user(ROOT, is_platform_owner=True)
    other_root = world.user("other.root@example.com", is_platform_owner=True)
    shop = world.service(acme)
    world.custom_role(acme, "clerk")
    world.grant(acme, shop.id, ada, "viewer")
    token = (await world.sign_in(ADA)).access_token
    invited = await world.client.post(
        f"{ACME}/invitations", token=token, body={"email": "carl@example.com", "role": "member"}
    )
    assert invited.status == 200, invited.text
    return {
        "acme": str(acme),
        "waiting": str(world.organization("waiting", status="pending")),
        "closed": str(world.organization("closed", status="suspended")),
        "ada": str(ada),
        "other_root": str(other_root),
        "bob": str(bob),
        "invitation": invited.json["invitation"]["id"],
        "token": invited.json["token"],
    }


def break_log(connection: Connection, log: str) -> None:
    """Make a log refuse every entry, in the database of this test alone."""
    connection.execute(f"ALTER TABLE {log} ADD CONSTRAINT broken CHECK (false) NOT VALID".encode())


def mend_log(connection: Connection, log: str) -> None:
    """Let a log take entries again."""
    connection.execute(f"ALTER TABLE {log} DROP CONSTRAINT broken".encode())


def all_rows(connection: Connection) -> dict[str, list[str]]:
    """Return all rows of all tables."""
    tables = connection.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        " AND relkind IN ('r', 'p') AND NOT relispartition"
    ).fetchall()
    return {
        table: [row for (row,) in connection.execute(f"SELECT t::text FROM {table} AS t ORDER BY 1".encode())]
        for (table,) in tables
        if table not in EXEMPT_TABLES
    }
