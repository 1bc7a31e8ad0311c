"""Logs on a cluster: `migrate` distributes them by organization, and their months are made and dropped there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import psycopg
import pytest

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema import distribution, migrations
from adapters.postgres.schema.migration_files import NO_TRANSACTION, Migration
from core.ids import first_id_at
from core.platform.log_months import Log
from tests.citus_databases import CitusDatabases
from tests.postgres import connected

pytestmark = pytest.mark.long

ORGANIZATIONS: Final = 40


@pytest.fixture
def local_url(citus_databases: CitusDatabases) -> Iterator[str]:
    """A migrated database of a coordinator that has no workers yet."""
    with citus_databases.without_workers() as url:
        yield url


def migrate(url: str) -> list[str]:
    """Run the migrations; return what they reported."""
    lines = list[str]()
    with migrations.connected(url) as connection:
        assert migrations.migrate(connection, lines.append) == []
    return lines


def write_mails(connection: RawConnection) -> None:
    """Write a mail of each of many organizations."""
    connection.execute(
        """
        INSERT INTO mails (id, organization_id, recipient, template, state, attempts, due_at, created_at)
        SELECT gen_random_uuid(), gen_random_uuid(), 'a@example.com', 'welcome', 'sent', 1, now(), now()
        FROM   generate_series(1, %s)
        """,
        (ORGANIZATIONS,),
    )


def value(connection: RawConnection, statement: str) -> object:
    """Return the one value of a statement."""
    [[found]] = connection.execute(statement.encode()).fetchall()
    return found


def test_migrate_distributes_the_logs_once_there_are_workers_and_only_once(
    citus_databases: CitusDatabases, local_url: str
) -> None:
    assert migrate(local_url) == [
        "The database is the coordinator of a cluster (citus) with 0 nodes that hold shards: no log has to be"
        " distributed."
    ]
    with psycopg.connect(local_url, autocommit=True) as connection:
        write_mails(connection)
    citus_databases.connect_workers(local_url)

    first, second = migrate(local_url), migrate(local_url)

    assert first[0].endswith("with 2 nodes that hold shards: distributing 8 logs.")
    assert [line.split()[1] for line in first[1:]] == list(distribution.LOGS)
    assert second == [first[0].replace("distributing 8 logs.", "no log has to be distributed.")]
    with migrations.connected(local_url) as connection:
        assert list(distribution.distributed(connection)) == list(distribution.LOGS)
        local = "SELECT name::regclass FROM log_partitions EXCEPT SELECT logicalrelid FROM pg_dist_partition"
        assert connection.execute(local).fetchall() == []
        assert value(connection, "SELECT count(DISTINCT colocationid) FROM pg_dist_partition") == 1
        assert value(connection, "SELECT count(*) FROM mails") == ORGANIZATIONS
        # Nothing stays on the coordinator, where no statement sees it.
        assert value(connection, "SELECT sum(pg_relation_size(name::regclass)) FROM log_partitions") == 0
        nodes = "SELECT count(DISTINCT nodename) FROM citus_shards WHERE table_name = 'mails'::regclass"
        assert value(connection, nodes) == 2
        # One node alone has the rows of an organization.
        plan = connection.execute(
            "EXPLAIN SELECT * FROM mails WHERE organization_id = '00000000-0000-0000-0000-000000000007'"
        ).fetchall()
        assert "Task Count: 1" in "\n".join(line for (line,) in plan)


def test_an_interrupted_distribution_goes_on_with_the_next_log(citus_databases: CitusDatabases, local_url: str) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(line: str) -> None:
        if line.startswith("Distributed audit_seals"):
            raise Interrupted

    citus_databases.connect_workers(local_url)
    with pytest.raises(Interrupted), migrations.connected(local_url) as connection:
        migrations.migrate(connection, interrupt)
    waits = replace(migrations.TABLE_WAITS, try_seconds=0.2, between_seconds=0.1, total_seconds=0.4)
    with connected(local_url) as other:
        other.execute("BEGIN")
        other.execute("LOCK TABLE events")
        with (
            pytest.raises(migrations.MigrationError, match=r"Distributing events .* Nothing of it was moved"),
            migrations.connected(local_url) as connection,
        ):
            migrations.migrate(connection, lambda _: None, table_waits=waits)
        other.execute("ROLLBACK")
    with migrations.connected(local_url) as connection:
        assert list(distribution.distributed(connection)) == ["audit_entries", "audit_seals"]

    assert [line.split()[1] for line in migrate(local_url)[1:]] == list(distribution.LOGS[2:])


def test_months_are_made_and_dropped_on_every_node(citus_databases: CitusDatabases) -> None:
    later = first_id_at(datetime(2032, 1, 1, tzinfo=UTC))
    with citus_databases.migrated() as url, connected(url) as connection:
        for log in Log:
            made = connection.execute("SELECT add_log_month(%s, '2031-11-01')", (log.value,)).fetchone()
            again = connection.execute("SELECT add_log_month(%s, '2031-11-01')", (log.value,)).fetchone()
            assert (made, again) == ((True,), (False,))
        assert shards_of_months(citus_databases, url) == {log.value for log in Log}

        for log in Log:
            if log is Log.AUDIT_ENTRIES:
                continue
            dropped = connection.execute("SELECT drop_log_month(%s, %s, true)", (log.value, later)).fetchone()
            assert dropped == (f"{log.value}_2031_11",)
        assert shards_of_months(citus_databases, url) == {"audit_entries"}


def test_a_later_migration_changes_the_logs_on_every_node(citus_databases: CitusDatabases) -> None:
    present = migrations.known()
    number = present[-1].version
    column = Migration(
        version=number + 1,
        name="column",
        sql="""
            ALTER TABLE mails ADD COLUMN weight integer;
            -- By itself: Citus takes no column with its constraint.
            ALTER TABLE mails ADD CONSTRAINT mails_weight_check CHECK (weight > 0);
            COMMENT ON COLUMN mails.weight IS 'What it weighs.';
        """,
    )
    index = Migration(
        version=number + 2,
        name="index",
        sql=f"{NO_TRANSACTION}\nCREATE INDEX CONCURRENTLY IF NOT EXISTS mails_weight ON mails (weight);",
    )
    with citus_databases.migrated() as url, migrations.connected(url) as connection:
        applied = migrations.migrate(connection, lambda _: None, [*present, column, index])

        assert applied == [column, index]
        write_mails(connection)
        with pytest.raises(psycopg.errors.CheckViolation):
            connection.execute("UPDATE mails SET weight = 0")
        # Each shard has it, on the log and on its partitions.
        counted = """
            SELECT result FROM run_command_on_shards('mails', $$
                SELECT bool_and(indisvalid) AND count(*) >= 3
                FROM   pg_partition_tree('%s') part
                JOIN   pg_index i ON i.indrelid = part.relid
                JOIN   pg_class x ON x.oid = i.indexrelid AND x.relname LIKE '%%weight%%'
            $$)
        """
        assert {result for (result,) in connection.execute(counted).fetchall()} == {"t"}


def shards_of_months(databases: CitusDatabases, url: str) -> set[str]:
    """Return the logs of which the workers have shards of the month; each worker has some of each."""
    found = list[set[str]]()
    for worker in databases.nodes_of(url)[1:]:
        with psycopg.connect(worker) as connection:
            # Otherwise it hides them.
            connection.execute("SET citus.show_shards_for_app_name_prefixes = '*'")
            rows = connection.execute(
                r"SELECT DISTINCT regexp_replace(relname, '_2031_11_\d+$', '') FROM pg_class"
                r" WHERE relkind = 'r' AND relname ~ '_2031_11_\d+$'"
            ).fetchall()
            found.append({name for (name,) in rows})
    assert all(each == found[0] for each in found)
    return found[0]
