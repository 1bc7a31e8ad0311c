"""Entries of an audit log for the tests of its pages, and what the pages show of them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape
from typing import Any, cast
from uuid import UUID

from psycopg.types.json import Jsonb

from actors.audit_tails import MemoryAuditTails
from core.audit import chain
from core.ids import first_id_at
from tests.application import Answer
from tests.waiting import eventually
from tests.world.world import World

PAGE = "/app/organizations/acme/audit"
HOSTILE = "<b onclick=alert(1)>Bolt</b>"
NOON = datetime(2026, 2, 3, 12, tzinfo=UTC)
KEY = "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"


def write(world: World, organization_id: UUID, minute: int, **columns: Any) -> UUID:
    """Insert an entry that was written at this minute after noon; return its id."""
    written_at = NOON.replace(minute=minute)
    values: dict[str, Any] = {
        "id": UUID(int=first_id_at(written_at).int | (organization_id.int & (2**60 - 1))),
        "organization_id": organization_id,
        "actor_user_id": None,
        "action": "service.updated",
        "target_type": "service",
        "target_id": str(minute),
        "ip_address": None,
        "user_agent": None,
        "request_id": None,
        "success": True,
        "details": {},
        "created_at": written_at,
    } | columns
    values["details"] = Jsonb(values["details"])
    world.connection.execute(
        f"INSERT INTO audit_entries ({', '.join(values)}) VALUES ({', '.join(['%s'] * len(values))})".encode(),
        tuple(values.values()),
    )
    return values["id"]


def rows(page: Answer) -> list[str]:
    """Return the rows of the table of a page, as text without markup."""
    assert page.status == 200, page.text
    table = page.text.partition("<tbody")[2].partition("</tbody>")[0]
    return [" ".join(unescape(re.sub(r"<[^>]*>", " ", row)).split()) for row in re.split(r"<tr[^>]*>", table)[1:]]


async def seal(world: World) -> None:
    """Seal what is written."""
    while await world.installation.database.transact(chain.seal_next, 100):
        pass


def tails_of(world: World) -> MemoryAuditTails:
    """Return the readers of the application."""
    return cast("MemoryAuditTails", world.installation.audit_tails)


async def waiting(world: World, log: UUID) -> None:
    """Return when a reader waits for a log."""

    async def is_followed() -> bool:
        return log in tails_of(world).followed()

    await eventually(is_followed)
