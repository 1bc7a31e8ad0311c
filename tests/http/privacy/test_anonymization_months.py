"""Forgetting a person reaches every month of every log, and no proof of an audit log breaks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from core.platform.log_months import Log
from tests.audit_chains import export_of, seal_all
from tests.entrypoints.operator.audit_verifications import in_database, in_file, proof_of, published_keys
from tests.http.privacy.anonymizing import anonymize
from tests.log_partitions import PARTITIONS, id_at, make_months, times
from tests.world.platform import Platform
from tests.world.team import Team
from tests.world.world import World

Transact = Callable[..., Any]


BOB: Final = "bob@example.com"
NETWORK: Final = "198.51.100.77"
USER_AGENT: Final = "Quixotic/9.9"
TRACES: Final = [f"%{trace}%" for trace in (BOB, NETWORK, USER_AGENT)]
LOGS: Final = (Log.AUDIT_ENTRIES, Log.SCIM_LOG_ENTRIES, Log.MAILS)


@pytest.fixture
def team(world: World) -> Team:
    """An organization with an owner who is no platform owner, and an admin."""
    team = world.team()
    team.add("head", "owner")
    team.add("admin", "admin")
    return team


def add_entry(team: Team, moment: datetime, number: int, **columns: Any) -> None:
    """Insert an entry of this time that names the person in the columns."""
    entry = {"actor_user_id": None, "target_id": "x", "ip_address": None, "user_agent": None, "details": {}} | columns
    team.world.connection.execute(
        """
        INSERT INTO audit_entries (id, organization_id, actor_user_id, action, target_type, target_id, ip_address,
                                   user_agent, success, details, created_at)
        VALUES (%(id)s, %(organization_id)s, %(actor_user_id)s, 'service.updated', 'service', %(target_id)s,
                %(ip_address)s, %(user_agent)s, true, %(details)s, %(at)s)
        """,
        entry
        | {
            "id": id_at(moment, number),
            "organization_id": team.organization_id,
            "details": Jsonb(entry["details"]),
            "at": moment,
        },
    )


def fill(team: Team, bob: UUID) -> None:
    """Insert what names the person into all months."""
    origin = {"ip_address": NETWORK, "user_agent": USER_AGENT}
    for moment in [*times(1), times(1)[-1] + timedelta(days=60)]:
        add_entry(team, moment, 1, actor_user_id=bob, **origin)
        add_entry(team, moment, 2, details={"reason": f"Asked by {BOB}.", "count": 3})
        add_entry(team, moment, 3, details={"impersonator_id": str(bob)}, **origin)
        add_entry(team, moment, 4, details={"reason": "Asked by eve@example.com."})
        team.world.connection.execute(
            """
            INSERT INTO scim_log_entries (id, organization_id, token_id, token_name, method, path, user_name, status,
                                          created_at)
            VALUES (%s, %s, %s, '', 'POST', '/Users', %s, 201, %s)
            """,
            (id_at(moment), team.organization_id, id_at(moment), BOB, moment),
        )
        team.world.connection.execute(
            """
            INSERT INTO mails (organization_id, id, recipient, template, state, attempts, due_at, created_at)
            VALUES ('00000000-0000-0000-0000-000000000000', %s, %s, 'test', 'sent', 1, %s, %s)
            """,
            (id_at(moment), BOB, moment, moment),
        )


def traces(connection: Connection, log: Log) -> set[str]:
    """Return the partitions of a log with a row that names the person anywhere."""
    found = connection.execute(
        f"SELECT DISTINCT tableoid::regclass::text FROM {log.value} AS entry WHERE entry::text ILIKE ANY (%s)".encode(),
        (TRACES,),
    )
    return {partition for (partition,) in found.fetchall()}


async def test_no_month_of_a_log_names_a_forgotten_person_and_every_proof_holds(
    platform: Platform, team: Team, transact: Transact, connection: Connection, database: PostgresDatabase
) -> None:
    bob = team.add("bob", "member")
    make_months(connection, *LOGS)
    fill(team, bob)
    seal_all(transact)
    export, proof, keys = await export_of(team), await proof_of(team), await published_keys(team)
    for log in LOGS:
        # Also in the partition after the last month.
        assert len(traces(connection, log)) == PARTITIONS

    assert (await anonymize(platform, bob)).status == 200

    for log in LOGS:
        assert traces(connection, log) == set()
    [salts] = connection.execute(
        "SELECT count(*) FROM audit_seals WHERE salts ?| ARRAY['ip_address', 'user_agent'] AND entry_id = ANY (%s)",
        ([id_at(moment, number) for moment in times(1) for number in (1, 3)],),
    ).fetchall()
    assert salts == (0,)
    seal_all(transact)
    assert "nothing was changed, removed or put in between" in (await in_database(database, proof=proof))[0]
    # What was exported before is as good as what is exported now.
    for content in (export, await export_of(team)):
        assert "nothing was changed, removed or put in between" in (await in_file(content, proof, keys))[0]
