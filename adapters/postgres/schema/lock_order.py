"""The one order of locks on tables, for migrations and for the transactions beside them.

A transaction that writes reads the caller, the organization and the objects of the request, then writes rows, and
appends to the logs last. A migration takes its locks in the same order, all of them before the first statement that
needs one, so that it seldom waits for a transaction that waits for it. Reads of tables follow no order, so it also
waits for all of them together for less time than PostgreSQL takes to look for a deadlock: no request ends by one
(`ops/decisions/0092-locks-of-migrations.md`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema.migration_files import Migration, MigrationStatement, statements
from adapters.postgres.schema.statement_locks import Held, Lock, NotUnderstood, locks
from core.lazy_dataclasses import dataclass

FIRST: Final = (
    # The caller.
    *("sessions", "organization_keys", "api_keys", "workloads", "scim_tokens", "users", "identities"),
    # Where, and with what rights.
    *("organizations", "memberships", "group_rules", "upstream_connections", "services", "service_users"),
)
# Every other table comes between these, by its name.
LAST: Final = (
    # The marks of due work, before the marked rows: the log of events, its deliveries, and their attempts.
    *("mail_dues", "mails", "log_dues", "event_positions", "events"),
    *("webhooks", "webhook_queues", "webhook_deliveries", "webhook_attempts", "siem_streams"),
    # The logs: what happened, before its seal.
    *("login_events", "mfa_events", "scim_log_entries", "audit_chains", "audit_entries", "audit_seals"),
    "platform_audit_entries",
)
_PLACES: Final = {table: place for place, table in enumerate((*FIRST, "", *LAST))}
# For tables that the text of a migration does not name, and for rows, after the locks are granted: less time.
_SHARE_AFTERWARDS: Final = 0.5
# What writes wait for.
_BLOCKING: Final = Lock.SHARE
_TABLE_OF: Final = "SELECT indrelid::regclass::text FROM pg_index WHERE indexrelid = to_regclass(%s)"
# PostgreSQL waits that long for each table, and a log has one for each month: what is left is set before each of them.
_SET_LEFT: Final = (
    "PERFORM set_config('lock_timeout', "
    "greatest(1, ceil(1000 * extract(epoch FROM until - clock_timestamp())))::bigint || 'ms', true);"
)
# No partition comes or goes once the table itself is locked.
_LOCKING: Final = """
    {left}
    LOCK TABLE ONLY {table} IN {mode} MODE;
    FOR part IN SELECT inhrelid FROM pg_inherits WHERE inhparent = '{table}'::regclass ORDER BY inhrelid LOOP
        {left}
        EXECUTE format('LOCK TABLE %s IN {mode} MODE', part);
    END LOOP;
"""
_ARE_THERE: Final = """
    SELECT name
    FROM   unnest(%s::text[]) AS name
    JOIN   pg_class ON oid = to_regclass(name)
    WHERE  relkind IN ('r', 'p')
"""


def place(table: str) -> tuple[int, str]:
    """Return what orders tables as they are locked."""
    return _PLACES.get(table, _PLACES[""]), table


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The tables from which a migration keeps writers, each with its lock, in the order of locks.

    They are locked before the statement with this number. What comes earlier, such as filling a column, may take long
    beside writers.
    """

    before: int
    locks: tuple[tuple[str, Lock], ...]


NOTHING: Final = Wanted(before=0, locks=())


def wanted(connection: RawConnection, migration: Migration) -> Wanted:
    """Return the tables that a migration locks, without those it makes itself, which no one else uses yet."""
    taken = [_taken(connection, statement) for statement in statements(migration)]
    names = {table for of_statement in taken for table in of_statement}
    there = {name for (name,) in connection.execute(_ARE_THERE, (list(names),)).fetchall()}
    strongest, before = dict[str, Lock](), len(taken)
    for number, of_statement in enumerate(taken):
        for table, lock in of_statement.items():
            if table in there:
                before = min(before, number)
                strongest[table] = max(lock, strongest.get(table, lock))
    return Wanted(before=before, locks=tuple((table, strongest[table]) for table in sorted(strongest, key=place)))


def statement_of(wanted: Wanted, *, seconds_max: float) -> str:
    """Return a statement that takes these locks, and waits so long for all of them together; "" for none.

    From then on the transaction waits less for each further one.
    """
    if not wanted.locks:
        return ""
    taken = "".join(_LOCKING.format(table=table, mode=lock.title, left=_SET_LEFT) for table, lock in wanted.locks)
    return (
        f"DO $locks$\nDECLARE\n    until timestamptz := clock_timestamp() + interval '{seconds_max * 1000:.0f} ms';\n"
        f"    part regclass;\nBEGIN\n{taken}"
        f"    PERFORM set_config('lock_timeout', '{seconds_max * 1000 * _SHARE_AFTERWARDS:.0f}ms', true);\n"
        "END $locks$"
    )


def _taken(connection: RawConnection, statement: MigrationStatement) -> Mapping[str, Lock]:
    """Return the tables from which a statement keeps writers, each with its lock."""
    try:
        found = locks(statement.sql)
    except NotUnderstood:
        # It waits for its locks when it comes.
        return {}
    return {table: held.lock for held in found if held.lock >= _BLOCKING for table in _tables_of(connection, held)}


def _tables_of(connection: RawConnection, held: Held) -> Sequence[str]:
    if not held.index:
        return [held.table]
    return [table for (table,) in connection.execute(_TABLE_OF, (held.index,)).fetchall()]
