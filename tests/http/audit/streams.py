"""Streams of audit logs: entries are inserted, and the streamer does its work when the test says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.audit import siem_stream
from core.audit.siem_stream import Progress
from tests.audit_chains import add_entry
from tests.siem_receivers import Receiver
from tests.world.team import Team

Transact = Callable[..., Any]


BEGINNING = {"start": "beginning"}
END_SECONDS_MAX = 120.0


def add_entries(team: Team, count: int, **details: Any) -> list[str]:
    """Insert entries of the organization, and return their ids."""
    world = team.world
    return [str(add_entry(world.connection, team.organization_id, world.clock, n=n, **details)) for n in range(count)]


async def stream_once(team: Team) -> list[Progress | None]:
    """Do what the streamer does once, for every stream that is due."""
    installation = team.world.installation
    database = installation.database
    made: list[Progress | None] = []
    for stream in await database.transact(siem_stream.lease, 10):
        batch = await database.read(siem_stream.next_batch, stream)
        receipt = siem_stream.StreamReceipt(received=0, status_code=None, error=None)
        if batch.events:
            receipt = await installation.siem_sender.send(stream.target, siem_stream.to_send(stream, batch))
        made.append(await database.transact(siem_stream.record, stream, batch, receipt))
    return made


async def show(team: Team) -> dict[str, Any]:
    """Return the configuration and the state."""
    # The access token may have expired, because these tests move the clock.
    team.tokens.clear()
    return (await team.request("admin", "GET", "/siem")).json


def entries_of(receiver: Receiver) -> list[str]:
    """Return the ids that were received, without the entries of the configuration itself."""
    return [entry["id"] for entry in receiver.entries if entry["action"] != "siem.configured"]
