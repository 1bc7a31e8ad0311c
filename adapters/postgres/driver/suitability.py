"""Whether Gatehouse can work with a server that it has reached: it takes writes, and no pooler changes the session.

It is checked when a connection is opened, in one round trip, and never again for that connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import psycopg

from adapters.postgres.driver import server_trust

if TYPE_CHECKING:
    from collections.abc import Mapping

# Set in every session that was checked. Only a pooler that gives one session to several clients lets a new connection
# find it; one that keeps a session for one client resets it in between (PgBouncer's `DISCARD ALL`).
_CHECK: Final = """
    SELECT ARRAY(SELECT current_setting(name) FROM unnest(%s::text[]) AS name),
           current_setting('transaction_read_only') = 'on',
           coalesce(current_setting('gatehouse.session', true), '') <> '',
           set_config('gatehouse.session', 'in use', false)
"""
_REMEDY: Final = "Connect to PostgreSQL directly, or see Poolers in ops/docs/database.md"
# Parts of the messages of PgBouncer and of libpq.
_PARAMETER_REFUSED: Final = "unsupported startup parameter"
_SESSION_READ_ONLY: Final = "session is read-only"


class ServerUnsuitable(psycopg.OperationalError):
    """The server was reached, but Gatehouse cannot work with it; the message says why and what to do."""


class PoolerUnsuitable(ServerUnsuitable):
    """A pooler between Gatehouse and PostgreSQL changes the session; waiting does not help."""


class ServerUntrusted(ServerUnsuitable):
    """TLS to the server failed; waiting does not help."""


class ServerReadOnly(ServerUnsuitable):
    """The server takes no writes, for instance because it is a standby."""

    def __init__(self) -> None:
        super().__init__(
            "the server is read-only, for instance a standby. Promote it, or name all servers in"
            " GATEHOUSE_DATABASE_URL, so that the writable one is found"
        )


def require_suitable(connection: psycopg.Connection[Any], settings: Mapping[str, str]) -> None:
    """Raise `ServerUnsuitable` unless the session has these settings, is not shared, and takes writes."""
    row = connection.execute(_CHECK, (list(settings),), prepare=False).fetchone()
    assert row is not None, "a SELECT without FROM has one row"
    found, is_read_only, is_shared, _ = row
    for (name, expected), value in zip(settings.items(), found, strict=True):
        if value != expected:
            raise PoolerUnsuitable(
                f"{name} is {value} instead of {expected}, because a connection pooler dropped the start-up parameter"
                f" `options`. {_REMEDY}"
            )
    if is_shared:
        raise PoolerUnsuitable(
            f"a connection pooler gives one session of PostgreSQL to several clients, as in transaction mode. {_REMEDY}"
        )
    if is_read_only:
        raise ServerReadOnly


def explained(error: Exception) -> Exception:
    """Return the `ServerUnsuitable` that a failed attempt to connect means, else the error itself."""
    if _PARAMETER_REFUSED in str(error):
        return PoolerUnsuitable(
            f"a connection pooler refuses the start-up parameter `options`, which sets our time limits. {_REMEDY}"
        )
    if untrusted := server_trust.problem(str(error)):
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
