"""Audit entries for tests of their chain: writing them, sealing them all, and verifying a chain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.driver.connection import Connection
from core.audit import chain
from core.audit.chain_verification import ChainVerifier, KeptHead
from ports.unit_of_work import UnitOfWork
from tests.clock import SettableClock
from tests.marks import mark_due
from tests.world.builder import new_id
from tests.world.team import Team

BATCH_ENTRIES = 100
# The entries of the log of most tests, and what verifying it says.
ENTRIES = 5
OK = "Verified 5 entries of 1 log: nothing was changed, removed or put in between."


def add_entry(
    connection: Connection,
    organization_id: UUID,
    clock: SettableClock,
    *,
    ip_address: str | None = "203.0.113.7",
    action: str = "service.updated",
    **details: Any,
) -> UUID:
    """Insert an audit entry, and return its id."""
    entry_id = new_id()
    mark_due(connection, organization_id)
    connection.execute(
        """
        INSERT INTO audit_entries (id, organization_id, action, target_type, target_id, ip_address, user_agent, success,
                                   details, created_at)
        VALUES (%s, %s, %s, 'service', %s, %s, 'curl/8.5', true, %s, %s)
        """,
        (entry_id, organization_id, action, str(entry_id), ip_address, Jsonb(details), clock()),
    )
    return entry_id


def seal_all(transact: Callable[..., Any]) -> int:
    """Seal every entry, and return how many batches that took."""
    batches = 0
    while transact(chain.seal_next, BATCH_ENTRIES):
        batches += 1
    return batches


def verify(uow: UnitOfWork, organization_id: UUID) -> int:
    """Verify a chain, and return its length; raise `ChainBroken`."""
    end = uow.audit_chains.end(organization_id)
    verifier = ChainVerifier()
    for sealed in uow.sealed_entries.page(organization_id, after=0, through=end.sealed_through, limit=10_000):
        verifier.check(chain.line_of(sealed))
    verifier.finish(KeptHead(position=end.sealed_through, hash=end.hash))
    return verifier.position


async def export_of(team: Team) -> bytes:
    """Return the export of a log, as an admin downloads it."""
    return (await team.request("admin", "GET", "/audit-log/export")).content
