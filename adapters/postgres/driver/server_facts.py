"""What a server of PostgreSQL says of the connection, of the role and of its own limits, for `gatehouse doctor`."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Final

from adapters.postgres.driver.connection import RawConnection
from core.lazy_dataclasses import dataclass

# `pg_stat_activity` shows every role who is connected to which database, and a session's statement to its own role.
_FACTS: Final = """
    SELECT current_user,
           rolsuper,
           EXISTS (SELECT FROM pg_class WHERE relowner = r.oid AND relnamespace = 'public'::regnamespace),
           least(
               current_setting('max_connections')::integer
                   - current_setting('superuser_reserved_connections')::integer
                   -- From PostgreSQL 16 on.
                   - coalesce(current_setting('reserved_connections', true)::integer, 0),
               nullif(datconnlimit, -1),
               nullif(rolconnlimit, -1)
           ),
           (SELECT count(*) FROM pg_stat_activity
            WHERE  datid IS NOT NULL AND usesysid IS NOT NULL AND usesysid <> r.oid)
    FROM   pg_roles r, pg_database
    WHERE  rolname = current_user AND datname = current_database()
"""
# In the units of PostgreSQL, such as pages of 8 kB. A switch of the planner is shown only where it was turned off.
_SETTINGS: Final = """
    SELECT name, setting
    FROM   pg_settings
    WHERE  name = ANY (%s::text[]) OR (starts_with(name, 'enable_') AND boot_val = 'on' AND setting = 'off')
"""
_VERIFYING: Final = ("verify-ca", "verify-full")
# Settings that an administrator may have changed to our disadvantage.
SETTINGS: Final = (
    "autovacuum",
    "default_transaction_isolation",
    "fsync",
    "full_page_writes",
    "idle_session_timeout",
    "jit",
    "log_min_duration_sample",
    "log_min_duration_statement",
    "log_parameter_max_length",
    "log_parameter_max_length_on_error",
    "log_statement",
    "plan_cache_mode",
    "shared_buffers",
    "synchronous_commit",
    "track_counts",
    "transaction_timeout",
    "work_mem",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What a server says of itself; the version is in PostgreSQL's own numbers: 180001 is 18.1."""

    version: int
    role: str
    is_superuser: bool
    owns_tables: bool
    connections_max: int
    """The limit for this role, from which the connections of other roles are not subtracted."""
    connections_of_others: int
    is_local: bool
    is_encrypted: bool
    is_verified: bool
    """Whether the certificate of the server is checked, and its name as well."""
    is_authority_checked: bool
    """Whether its authority is checked, with or without its name."""
    settings: Mapping[str, str]
    """The settings of the session that matter to us, as far as this version of PostgreSQL has them."""


def of(connection: RawConnection) -> ServerFacts:
    """Return what the server at the other end of the connection says."""
    row = connection.execute(_FACTS).fetchone()
    assert row is not None, "the role and the database of a session exist"
    role, is_superuser, owns_tables, connections_max, connections_of_others = row
    modes = [option.val for option in connection.pgconn.info if option.keyword == b"sslmode"]
    mode = (modes[0] or b"").decode() if modes else ""
    return ServerFacts(
        version=connection.info.server_version,
        role=role,
        is_superuser=is_superuser,
        owns_tables=owns_tables,
        connections_max=connections_max,
        connections_of_others=connections_of_others,
        is_local=_is_local(connection.info.host, connection.info.hostaddr),
        is_encrypted=connection.pgconn.ssl_in_use,
        is_verified=mode == _VERIFYING[-1],
        is_authority_checked=mode in _VERIFYING,
        settings=dict(connection.execute(_SETTINGS, (list(SETTINGS),)).fetchall()),
    )


def _is_local(host: str, address: str) -> bool:
    """Return whether the connection stays on this machine: by a socket, or by the loopback network."""
    if host.startswith(("/", "@")):
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
