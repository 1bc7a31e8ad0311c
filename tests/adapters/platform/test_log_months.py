"""Logs by month: partitions are made before they are needed, and dropped when nothing of them is kept any more."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from adapters.postgres.driver.connection import Connection
from core.ids import first_id_at
from core.platform import log_months
from core.platform.log_months import MONTHS_AHEAD, Log
from tests.clock import SettableClock
from tests.postgres import connected
from tests.world.builder import Builder

LOG = Log.SCIM_LOG_ENTRIES
# Long after what was written before there were months.
LATER = datetime(2031, 11, 20, tzinfo=UTC)


def partitions(connection: Connection, log: Log = LOG) -> list[str]:
    """Return the partitions of a log, except the two that each has from the beginning."""
    found = connection.execute(
        "SELECT name FROM log_partitions WHERE log = %s AND first_id IS NOT NULL ORDER BY name", (log.value,)
    )
    return [name for (name,) in found.fetchall()]


def write(connection: Connection, organization_id: UUID, at: datetime) -> UUID:
    """Write an entry of that moment, and return its id."""
    entry_id = UUID(int=first_id_at(at).int + 1)
    connection.execute(
        """
        INSERT INTO scim_log_entries (id, organization_id, token_id, token_name, method, path, status, created_at)
        VALUES (%s, %s, %s, '', 'GET', '/', 200, %s)
        """,
        (entry_id, organization_id, UUID(int=7), at),
    )
    return entry_id


def partition_of(connection: Connection, entry_id: UUID) -> str:
    """Return where an entry is stored."""
    partitions = connection.execute("SELECT name FROM log_partitions WHERE log = 'scim_log_entries'").fetchall()
    # Not by its table, which on a cluster is a shard.
    [name] = [
        name
        for (name,) in partitions
        if connection.execute(f"SELECT 1 FROM {name} WHERE id = %s".encode(), (entry_id,)).rowcount
    ]
    return name


def make_all(transact: Callable[..., Any]) -> list[date]:
    """Make the months of the log that are not there."""
    made: list[date] = []
    while (month := transact(log_months.make_next, LOG)) is not None:
        made.append(month)
    return made


def test_this_month_and_those_ahead_are_made_once(
    transact: Callable[..., Any], connection: Connection, clock: SettableClock
) -> None:
    clock.now = LATER

    assert make_all(transact) == [date(2031, 11, 1), date(2031, 12, 1), date(2032, 1, 1), date(2032, 2, 1)]
    assert partitions(connection) == [
        f"scim_log_entries_{month}" for month in ("2031_11", "2031_12", "2032_01", "2032_02")
    ]
    assert make_all(transact) == []
    clock.now += timedelta(days=30)
    assert make_all(transact) == [date(2032, 3, 1)]
    assert MONTHS_AHEAD == 3


def test_a_row_goes_to_its_month_and_until_it_is_made_to_the_last_partition(
    transact: Callable[..., Any], connection: Connection, clock: SettableClock, builder: Builder
) -> None:
    clock.now = LATER
    organization_id = builder.organization("acme")
    early = write(connection, organization_id, LATER)
    beyond = write(connection, organization_id, LATER + timedelta(days=200))
    assert partition_of(connection, early) == "scim_log_entries_after"
    assert transact(log_months.with_strays) == [LOG]

    make_all(transact)

    assert partition_of(connection, early) == "scim_log_entries_2031_11"
    assert partition_of(connection, beyond) == "scim_log_entries_after"
    assert partition_of(connection, write(connection, organization_id, datetime(2031, 12, 1, tzinfo=UTC))) == (
        "scim_log_entries_2031_12"
    )
    assert transact(log_months.with_strays) == [LOG]
    connection.execute("DELETE FROM scim_log_entries WHERE id = %s", (beyond,))
    assert transact(log_months.with_strays) == []


def test_a_month_has_what_the_log_has(
    transact: Callable[..., Any], connection: Connection, clock: SettableClock
) -> None:
    clock.now = LATER
    make_all(transact)

    def described(table: str) -> list[tuple[str, ...]]:
        return connection.execute(
            """
            SELECT regexp_replace(pg_get_indexdef(indexrelid), ' INDEX .* USING ', ' ') FROM pg_index
            WHERE  indrelid = %(table)s::regclass
            UNION
            SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %(table)s::regclass
            ORDER  BY 1
            """,
            {"table": table},
        ).fetchall()

    assert described("scim_log_entries_2031_11") == described("scim_log_entries")
    assert described("scim_log_entries_before") == described("scim_log_entries")
    assert described("scim_log_entries_after") == described("scim_log_entries")


def test_a_month_is_dropped_when_it_is_over_for_that_long_and_empty(
    transact: Callable[..., Any], connection: Connection, clock: SettableClock, builder: Builder
) -> None:
    clock.now = LATER
    make_all(transact)
    organization_id = builder.organization("acme")
    entry_id = write(connection, organization_id, LATER)
    earlier_id = write(connection, organization_id, datetime(2026, 1, 1, tzinfo=UTC))
    assert transact(log_months.drop_next, LOG, LOG.kept_for) is None
    connection.execute("DELETE FROM scim_log_entries WHERE id = %s", (earlier_id,))
    # What was written before is long over.
    assert transact(log_months.drop_next, LOG, LOG.kept_for) == "scim_log_entries_before"
    assert transact(log_months.drop_next, LOG, LOG.kept_for) is None
    assert LOG.kept_for is not None

    clock.now = datetime(2031, 12, 1, tzinfo=UTC) + LOG.kept_for
    assert transact(log_months.drop_next, LOG, LOG.kept_for) is None
    connection.execute("DELETE FROM scim_log_entries WHERE id = %s", (entry_id,))
    clock.now -= timedelta(milliseconds=1)
    assert transact(log_months.drop_next, LOG, LOG.kept_for) is None
    clock.now += timedelta(milliseconds=1)
    assert transact(log_months.drop_next, LOG, LOG.kept_for) == "scim_log_entries_2031_11"
    assert transact(log_months.drop_next, LOG, None) is None


@pytest.mark.long
def test_two_processes_make_a_month_once(
    transact: Callable[..., Any], database_url: str, connection: Connection, clock: SettableClock
) -> None:
    clock.now = LATER
    with connected(database_url) as other:
        # A month of an uncommitted transaction is not seen, and its table has the name.
        other.execute("BEGIN")
        other.execute("SELECT add_log_month('scim_log_entries', '2031-11-01')")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            transact(log_months.make_next, LOG)
        other.execute("COMMIT")

    assert make_all(transact) == [date(2031, 12, 1), date(2032, 1, 1), date(2032, 2, 1)]


@pytest.mark.long
def test_a_log_that_others_hold_is_given_up(
    transact: Callable[..., Any], database_url: str, clock: SettableClock
) -> None:
    clock.now = LATER
    make_all(transact)
    clock.now += timedelta(days=90)
    with connected(database_url) as other:
        other.execute("BEGIN")
        other.execute("SELECT 1 FROM scim_log_entries")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            transact(log_months.drop_next, LOG, LOG.kept_for)
        other.execute("ROLLBACK")
    assert transact(log_months.drop_next, LOG, LOG.kept_for) == "scim_log_entries_2031_11"


def test_what_has_an_id_of_a_dropped_month_is_stored_and_no_later_month_is_dropped_with_it(
    transact: Callable[..., Any], connection: Connection, clock: SettableClock, builder: Builder
) -> None:
    clock.now = LATER
    make_all(transact)
    # A clock that is some hours ahead is enough, when the clock of the database is too.
    clock.now += timedelta(days=90)
    assert transact(log_months.drop_next, LOG, LOG.kept_for) == "scim_log_entries_2031_11"

    entry_id = write(connection, builder.organization("acme"), LATER)

    assert partition_of(connection, entry_id) == "scim_log_entries_before"
    assert transact(log_months.drop_next, LOG, LOG.kept_for) is None
    connection.execute("DELETE FROM scim_log_entries")
    dropped = [transact(log_months.drop_next, LOG, LOG.kept_for) for _ in range(3)]
    assert dropped == ["scim_log_entries_before", "scim_log_entries_2031_12", None]


def test_the_first_partition_that_is_made_again_has_what_the_log_has(
    transact: Callable[..., Any], connection: Connection, clock: SettableClock
) -> None:
    clock.now = LATER
    make_all(transact)
    connection.execute("GRANT SELECT ON scim_log_entries_before TO PUBLIC")
    clock.now += timedelta(days=90)
    transact(log_months.drop_next, LOG, LOG.kept_for)

    [readable] = connection.execute(
        "SELECT count(*) FROM pg_class, aclexplode(relacl) WHERE relname = 'scim_log_entries_before' AND grantee = 0"
    ).fetchall()
    assert readable == (1,)
    found = connection.execute(
        """
        SELECT count(*), count(DISTINCT pg_get_constraintdef(oid))
        FROM   pg_constraint
        WHERE  conrelid IN ('scim_log_entries'::regclass, 'scim_log_entries_before'::regclass)
        """
    ).fetchall()
    [(of_both, different)] = found
    assert of_both == 2 * different


def test_a_month_is_made_while_the_tables_are_written_whose_rows_its_log_names(
    transact: Callable[..., Any], database_url: str, clock: SettableClock
) -> None:
    clock.now = LATER
    with connected(database_url) as other:
        other.execute("BEGIN")
        for table in ("users", "services", "organizations", "webhooks"):
            other.execute(f"UPDATE {table} SET name = ''")
        for log in Log:
            assert transact(log_months.make_next, log) == date(2031, 11, 1)


def test_who_may_read_the_last_partition_may_go_on_when_a_month_is_cut_off(
    transact: Callable[..., Any], connection: Connection, clock: SettableClock
) -> None:
    clock.now = LATER
    connection.execute("GRANT SELECT, DELETE ON scim_log_entries_after TO PUBLIC")

    make_all(transact)

    found = connection.execute(
        """
        SELECT privilege_type FROM pg_class, aclexplode(relacl)
        WHERE  oid = 'scim_log_entries_after'::regclass AND grantee = 0
        ORDER  BY 1
        """
    ).fetchall()
    assert found == [("DELETE",), ("SELECT",)]


def test_a_temporary_table_of_the_caller_does_not_stand_for_the_partitions(connection: Connection) -> None:
    connection.execute(
        """
        CREATE TEMPORARY TABLE log_partitions AS
        SELECT 'a log' AS log, 'mail_counts' AS name, NULL::uuid AS first_id, first_id_at(now()) AS end_id,
               is_last
        FROM   (VALUES (true), (false)) AS one (is_last)
        """
    )
    connection.execute("GRANT ALL ON log_partitions TO PUBLIC")
    try:
        [dropped] = connection.execute("SELECT drop_log_month('a log', %s, false)", (first_id_at(LATER),)).fetchall()
        with pytest.raises(psycopg.errors.RaiseException, match="no log"):
            connection.execute("SELECT add_log_month('a log', '2031-11-01')")
    finally:
        connection.execute("DROP TABLE pg_temp.log_partitions")

    assert dropped == (None,)
    assert connection.execute("SELECT to_regclass('mail_counts') IS NOT NULL").fetchone() == (True,)


@pytest.mark.parametrize("name", ["users", "nothing", "scim_log_entries_before", "scim_log_entries; DROP TABLE users"])
def test_only_a_log_has_months(connection: Connection, name: str) -> None:
    with pytest.raises(psycopg.errors.RaiseException):
        connection.execute("SELECT add_log_month(%s, '2031-11-01')", (name,))


def test_the_months_of_the_audit_log_are_never_dropped(connection: Connection) -> None:
    with pytest.raises(psycopg.errors.RaiseException):
        connection.execute("SELECT drop_log_month('audit_entries', %s, true)", (first_id_at(LATER),))


def test_every_partitioned_table_is_a_declared_log(connection: Connection) -> None:
    found = connection.execute("SELECT DISTINCT log FROM log_partitions ORDER BY log").fetchall()

    assert [name for (name,) in found] == sorted(log.value for log in Log)


def test_the_key_of_every_log_begins_with_its_organization_or_its_person(connection: Connection) -> None:
    found = connection.execute(
        """
        SELECT DISTINCT log, pg_get_constraintdef(c.oid)
        FROM   log_partitions
        JOIN   pg_constraint c ON c.conrelid = log::regclass AND c.contype = 'p'
        ORDER  BY log
        """
    ).fetchall()

    assert dict(found) == {
        log.value: "PRIMARY KEY (user_id, id)" if log.value == "mfa_events" else "PRIMARY KEY (organization_id, id)"
        for log in Log
    }
