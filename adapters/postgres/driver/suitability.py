"""Whether Gatehouse can work with a server that it has reached: it takes writes, and a pooler between them suits.

It is checked when a connection is opened, and never again for that connection.

PgBouncer in transaction mode gives each transaction any of its sessions. From 1.21 it keeps the prepared statements of
its clients, under names of its own in the sessions, by which it is recognized. An older one passes our names on, so a
statement is missing in the next session.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import psycopg

from adapters.postgres.driver.columns import tuple_row
from adapters.postgres.driver.statements import Statements

# `gatehouse.session` is set in every session that was checked. Only a pooler that gives one session to several clients
# lets a new connection find it; one that keeps a session for a client resets it in between (PgBouncer's `DISCARD ALL`).
_CHECK: Final = """
    SELECT ARRAY(SELECT current_setting(name) FROM unnest(%s::text[]) AS name),
           current_setting('transaction_read_only') = 'on',
           coalesce(current_setting('gatehouse.session', true), '') <> '',
           NOT EXISTS (SELECT FROM pg_prepared_statements WHERE starts_with(name, %s)),
           quote_ident(current_user),
           set_config('gatehouse.session', 'in use', false)
"""
_MANUAL: Final = "see Poolers in ops/docs/database.md"
# Parts of the messages of PgBouncer and of libpq.
_PARAMETER_REFUSED: Final = "unsupported startup parameter"
_TRANSACTIONS_REFUSED: Final = "transaction blocks not allowed in statement pooling mode"
_SESSION_READ_ONLY: Final = "session is read-only"
_DISK_FULL: Final = "No space left on device"
# libpq has no codes for why TLS failed, so the cause is found by parts of its messages, which are not translated here,
# with what to do. None of the sentences contains a colon (`reason`).
_CAUSES: Final = {
    "certificate verify failed": (
        "its certificate is not from an authority in sslrootcert, or is not valid any more. Check sslrootcert in"
        " GATEHOUSE_DATABASE_URL, and that no other server answers at this address"
    ),
    "does not match host name": (
        "its certificate is for another name. Use the name in the certificate as the host in GATEHOUSE_DATABASE_URL,"
        " and check that no other server answers at this address"
    ),
    "server does not support SSL": (
        "it does not speak TLS, which sslmode in GATEHOUSE_DATABASE_URL asks for. Set ssl = on in PostgreSQL"
    ),
    "root certificate file": (
        "the file with its authority cannot be read. Check sslrootcert in GATEHOUSE_DATABASE_URL, and that the user of"
        " Gatehouse may read it"
    ),
}


class ServerUnsuitable(psycopg.OperationalError):
    """The server was reached, but Gatehouse cannot work with it; the message says why and what to do."""


class PoolerUnsuitable(ServerUnsuitable):
    """A pooler between Gatehouse and PostgreSQL changes the session; waiting does not help."""


class SessionShared(PoolerUnsuitable):
    """A pooler suits transactions, and this connection needs a session of its own."""

    def __init__(self) -> None:
        super().__init__(
            "a connection pooler gives one session of PostgreSQL to several clients, as in transaction mode, but"
            " notifications and migrations need one of their own. Set GATEHOUSE_DATABASE_LISTEN_URL to an address of"
            f" the same database without a pooler; {_MANUAL}"
        )


class ServerUntrusted(ServerUnsuitable):
    """TLS to the server failed; waiting does not help."""


class ServerReadOnly(ServerUnsuitable):
    """The server takes no writes, for instance because it is a standby."""

    def __init__(self) -> None:
        super().__init__(
            "the server is read-only, for instance a standby. Promote it, or name all servers in"
            " GATEHOUSE_DATABASE_URL, so that the writable one is found"
        )


def require_suitable(
    connection: psycopg.Connection[Any], settings: Mapping[str, str], *, takes_writes: bool = True
) -> bool:
    """Return whether a pooler shares the session among its clients.

    Raise `ServerUnsuitable` unless the session has these settings, takes writes if it has to, and is shared only by a
    pooler that keeps prepared statements and has transactions.
    """
    found, is_read_only, is_shared, is_pooled, role = _checked(connection, settings)
    if different := {
        name: (value, expected)
        for (name, expected), value in zip(settings.items(), found, strict=True)
        if value != expected
    }:
        raise PoolerUnsuitable(_dropped(different, role))
    if is_shared and not is_pooled:
        raise PoolerUnsuitable(
            "a connection pooler gives one session of PostgreSQL to several clients and keeps no prepared statements,"
            " as PgBouncer before 1.21 in transaction mode. Use PgBouncer 1.21 or later with max_prepared_statements ="
            f" 500, or pool_mode = session, or connect to PostgreSQL directly; {_MANUAL}"
        )
    if is_read_only and takes_writes:
        raise ServerReadOnly
    if is_pooled:
        # In statement mode the BEGIN is refused.
        connection.execute("BEGIN", prepare=False)
        connection.execute("COMMIT", prepare=False)
    return is_pooled


def _checked(connection: psycopg.Connection[Any], settings: Mapping[str, str]) -> tuple[Any, ...]:
    statements = Statements(connection)
    parameters = (list(settings), statements.prefix.decode())
    check = statements.add(_CHECK, parameters, is_binary=False, is_prepared=True)
    connection.wait(statements.round_trip())
    [[*found, _]] = statements.rows(check, tuple_row)
    connection.wait(statements.close())
    return tuple(found)


def _dropped(different: Mapping[str, tuple[str, str]], role: str) -> str:
    name, (value, expected) = next(iter(different.items()))
    statements = "; ".join(f"ALTER ROLE {role} SET {name} = '{expected}'" for name, (_, expected) in different.items())
    return (
        f"{name} is {value} instead of {expected}, because a connection pooler dropped the start-up parameter"
        f" `options`. Run in PostgreSQL `{statements}`, and then RECONNECT in the console of the pooler; {_MANUAL}"
    )


def explained(error: Exception) -> Exception:
    """Return the `ServerUnsuitable` that a failed attempt to connect means, else the error itself."""
    if _PARAMETER_REFUSED in str(error):
        return PoolerUnsuitable(
            "a connection pooler refuses the start-up parameter `options`, which sets our time limits. Set"
            f" ignore_startup_parameters = options in pgbouncer.ini, or connect to PostgreSQL directly; {_MANUAL}"
        )
    if _TRANSACTIONS_REFUSED in str(error):
        return PoolerUnsuitable(
            "a connection pooler in statement mode refuses transactions. Set pool_mode = transaction in pgbouncer.ini,"
            f" or connect to PostgreSQL directly; {_MANUAL}"
        )
    if _DISK_FULL in str(error):
        return ServerUnsuitable(
            "the disk of PostgreSQL is full. Free space where it keeps its data; see The disk of PostgreSQL is full in"
            " ops/runbooks/database-outage.md"
        )
    if untrusted := _distrust(str(error)):
        return ServerUntrusted(f"the server is not trusted, because {untrusted}")
    # When several servers were tried, the message names what each of them answered.
    if _SESSION_READ_ONLY in str(error) and "\n- host: " not in str(error):
        return ServerReadOnly()
    return error


def reason(error: Exception) -> str:
    """Return why connecting failed, without the address of the database."""
    first, *others = str(error).split("\n")
    attempts = [line for line in others if line.startswith("- host: ")] or [first]
    return "; ".join(dict.fromkeys(line.rpartition(": ")[2].strip() for line in attempts))


def _distrust(message: str) -> str | None:
    """Return why the server is not trusted, and what to do; None when an attempt failed for another reason."""
    # When several servers were tried, the message names what each of them answered.
    if "\n- host: " in message:
        return None
    return next((sentence for part, sentence in _CAUSES.items() if part in message), None)
