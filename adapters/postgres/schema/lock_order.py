"""The one order of locks on tables, for migrations and for what is written beside them (decision 0092).

A transaction that writes looks at who asks, at the organization and at what it is about, then writes rows, and marks
and appends to the logs at last. A migration takes its locks in that order as well, all of them before its first
statement, so that it seldom waits for a transaction that waits for it. Reads of tables follow no order, so it also
waits for all of them together for less time than PostgreSQL takes to look for a deadlock: no request is ended for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema.migration_files import Migration, statements
from adapters.postgres.schema.statement_locks import Held, Lock, NotUnderstood, locks

FIRST: Final = (
    # Who asks.
    *("sessions", "organization_keys", "api_keys", "workloads", "scim_tokens", "users", "identities"),
    # Where, and with what rights.
    *("organizations", "memberships", "group_rules", "upstream_connections", "services", "service_users"),
)
# Every other table comes between these, by its name.
LAST: Final = (
    # The marks of what is due, before what they mark: the log of events, its deliveries, and their attempts.
    *("mail_dues", "mails", "log_dues", "event_positions", "events"),
    *("webhooks", "webhook_queues", "webhook_deliveries", "webhook_attempts", "siem_streams"),
    # The logs: what happened, before its seal.
    *("login_events", "mfa_events", "scim_log_entries", "audit_chains", "audit_entries", "audit_seals"),
    "platform_audit_entries",
)
_PLACES: Final = {table: place for place, table in enumerate((*FIRST, "", *LAST))}
# After the locks are granted, for what the text of a migration does not name, and for rows: a part of the time before.
_SHARE_AFTERWARDS: Final = 0.5
# What writes wait for.
_BLOCKING: Final = Lock.SHARE
_TABLE_OF: Final = "SELECT indrelid::regclass::text FROM pg_index WHERE indexrelid = to_regclass(%s)"
_ARE_THERE: Final = """
    SELECT name
    FROM   unnest(%s::text[]) AS name
    JOIN   pg_class ON oid = to_regclass(name)
    WHERE  relkind IN ('r', 'p')
"""


def place(table: str) -> tuple[int, str]:
    """Return what orders tables as they are locked."""
    return _PLACES.get(table, _PLACES[""]), table


def wanted(connection: RawConnection, migration: Migration) -> Sequence[tuple[str, Lock]]:
    """Return the tables from which a migration keeps writers, each with its lock, in the order of locks.

    Those that it makes itself are nobody else's yet.
    """
    strongest = dict[str, Lock]()
    for table, lock in _taken(connection, migration):
        strongest[table] = max(lock, strongest.get(table, lock))
    blocking = [table for table, lock in strongest.items() if lock >= _BLOCKING]
    there = {name for (name,) in connection.execute(_ARE_THERE, (blocking,)).fetchall()}
    return [(table, strongest[table]) for table in sorted(there, key=place)]


def statement_of(locked: Sequence[tuple[str, Lock]], *, seconds_max: float) -> str:
    """Return a statement that takes these locks, and waits so long for all of them together; "" for none.

    From then on the transaction waits less for each further one.
    """
    if not locked:
        return ""
    left = "greatest(1, ceil(1000 * extract(epoch FROM until - clock_timestamp())))::bigint || 'ms'"
    taken = "".join(
        f"    PERFORM set_config('lock_timeout', {left}, true);\n    LOCK TABLE {table} IN {lock.title} MODE;\n"
        for table, lock in locked
    )
    return (
        f"DO $locks$\nDECLARE\n    until timestamptz := clock_timestamp() + interval '{seconds_max * 1000:.0f} ms';\n"
        f"BEGIN\n{taken}"
        f"    PERFORM set_config('lock_timeout', '{seconds_max * 1000 * _SHARE_AFTERWARDS:.0f}ms', true);\n"
        "END $locks$;\n"
    )


def _taken(connection: RawConnection, migration: Migration) -> Iterable[tuple[str, Lock]]:
    for statement in statements(migration):
        try:
            found = locks(statement.sql)
        except NotUnderstood:
            # It waits for its locks when it comes.
            continue
        for held in found:
            for table in _tables_of(connection, held):
                yield table, held.lock


def _tables_of(connection: RawConnection, held: Held) -> Sequence[str]:
    if not held.index:
        return [held.table]
    return [table for (table,) in connection.execute(_TABLE_OF, (held.index,)).fetchall()]
