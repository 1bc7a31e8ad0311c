"""What follows a restore, in its transaction: what was asked for.

The schema may be an older one, which is migrated afterwards, so a statement runs only where its columns exist.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, LiteralString

from psycopg.sql import SQL, Composed, Identifier

from adapters.crypto.vault import Vault
from adapters.postgres.backup.dumping import holds
from adapters.postgres.schema.rewrap import SEALED_COLUMNS, SealedColumn
from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from adapters.postgres.driver.connection import RawConnection

# A new random secret replaces a lost one, until the organization sets another.
PLACEHOLDER_BYTES: Final = 32

# Unfinished sign-ins, mailed links and codes; devices, which are trusted in place of a second factor; and secrets that
# are still to be shown to a session.
ENDED_TABLES: Final = (
    "authorization_codes",
    "authorization_requests",
    "browser_returns",
    "device_codes",
    "device_tokens",
    "mfa_challenges",
    "one_time_tokens",
    "passkey_challenges",
    "request_sign_ins",
    "saml_requests",
    "shown_secrets",
    "upstream_sign_ins",
)
# Tells the services that have a URI for it, by a trigger.
_END_SESSIONS: Final = "UPDATE sessions SET revoked_at = %(now)s WHERE revoked_at IS NULL AND expires_at > %(now)s"

# What happens to rows whose value no present key opens. A row that is useless without the value is deleted; a row that
# other rows refer to gets a random, unknown secret, and is switched off.
DROPPED: Final[Mapping[str, LiteralString]] = {
    "mails.values_sealed": """
        UPDATE mails
        SET    values_sealed = NULL, leased_until = NULL,
               last_error = CASE WHEN state IN ('queued', 'routed', 'kept')
                                 THEN 'Its master key was lost before a restore.' ELSE last_error END,
               state = CASE WHEN state IN ('queued', 'routed', 'kept') THEN 'failed' ELSE state END
        WHERE  {unreadable}
    """,
    "invitations.token_sealed": "UPDATE invitations SET token_sealed = NULL WHERE {unreadable}",
    "saml_certificates.private_key_sealed": "DELETE FROM saml_certificates WHERE {unreadable}",
    "server_secrets.value_sealed": "DELETE FROM server_secrets WHERE {unreadable}",
    "signing_keys.private_pem_sealed": "DELETE FROM signing_keys WHERE {unreadable}",
    "elliptic_signing_keys.private_pem_sealed": "DELETE FROM elliptic_signing_keys WHERE {unreadable}",
    # Without the second factor, a stolen password alone must not open the account: it takes a mailed link.
    "totp_secrets.secret_sealed": """
        WITH lost AS (DELETE FROM totp_secrets WHERE {unreadable} RETURNING user_id),
             codes AS (DELETE FROM backup_codes WHERE user_id IN (SELECT user_id FROM lost))
        UPDATE users
        SET    password_hash = NULL,
               -- An older schema has no such column.
               mfa_enabled_at = CASE WHEN (to_jsonb(users) ->> 'has_passkey_factor')::boolean THEN mfa_enabled_at END
        WHERE  id IN (SELECT user_id FROM lost) AND mfa_enabled_at IS NOT NULL
    """,
    "identities.access_token_sealed": "UPDATE identities SET access_token_sealed = NULL WHERE {unreadable}",
    "identities.refresh_token_sealed": "UPDATE identities SET refresh_token_sealed = NULL WHERE {unreadable}",
    "upstream_sign_ins.proven_sealed": "DELETE FROM upstream_sign_ins WHERE {unreadable}",
    # Who signs out then is asked by the provider.
    "provider_sessions.id_token_sealed": "UPDATE provider_sessions SET id_token_sealed = NULL WHERE {unreadable}",
    "mfa_challenges.id_token_sealed": "UPDATE mfa_challenges SET id_token_sealed = NULL WHERE {unreadable}",
    "oauth_credentials.client_secret_sealed": "DELETE FROM oauth_credentials WHERE {unreadable}",
    "upstream_connections.client_secret_sealed": """
        UPDATE upstream_connections SET enabled = false, client_secret_sealed = {placeholder} WHERE {unreadable}
    """,
    "connection_keys.private_key_sealed": "DELETE FROM connection_keys WHERE {unreadable}",
    "webhooks.secret_sealed": """
        UPDATE webhooks SET is_active = false, secret_sealed = {placeholder} WHERE {unreadable}
    """,
    "webhooks.previous_secret_sealed": """
        UPDATE webhooks SET previous_secret_sealed = NULL, previous_secret_until = NULL WHERE {unreadable}
    """,
    "siem_streams.token_sealed": "UPDATE siem_streams SET token_sealed = NULL, enabled = false WHERE {unreadable}",
    "mail_servers.password_sealed": "DELETE FROM mail_servers WHERE {unreadable}",
    "shown_secrets.secrets_sealed": "DELETE FROM shown_secrets WHERE {unreadable}",
}
_PEPPER: Final = "server_secrets.value_sealed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How many sessions were ended, None when they were left; and of each column, how many values were dropped."""

    sessions_ended: int | None
    dropped: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterRestore:
    """What was asked for: ending all sessions, and dropping what the vault, with the present keys, does not open."""

    now: datetime
    ends_sessions: bool
    drops_unreadable_with: Vault | None

    def run(self, connection: RawConnection) -> Done:
        """Do it in the transaction that the connection is in."""
        dropped = self._drop_unreadable(connection)
        # Tokens are derived from the installation's key, and none is accepted without it.
        ended = _end_sessions(connection, self.now) if self.ends_sessions or dropped.get(_PEPPER) else None
        return Done(sessions_ended=ended, dropped=dropped)

    def _drop_unreadable(self, connection: RawConnection) -> dict[str, int]:
        vault = self.drops_unreadable_with
        if vault is None:
            return {}
        counts = {str(column): _drop(connection, vault, column) for column in SEALED_COLUMNS}
        if counts[_PEPPER]:
            # Backup codes are keyed hashes.
            connection.execute("DELETE FROM backup_codes")
        return {column: count for column, count in counts.items() if count}


def _drop(connection: RawConnection, vault: Vault, column: SealedColumn) -> int:
    """Drop the values of a column that the vault cannot open; return how many."""
    if not holds(connection, column.table, column.column):
        return 0
    name = Identifier(column.column)
    length = len(vault.current_mark)
    unreadable = SQL("{name} IS NOT NULL AND substring({name} FROM 1 FOR {length}) <> ALL({marks})").format(
        name=name, length=length, marks=list(vault.marks)
    )
    statement = SQL(DROPPED[str(column)])
    count = SQL("SELECT {key} FROM {table} WHERE {unreadable}").format(
        key=Identifier(column.key), table=Identifier(column.table), unreadable=unreadable
    )
    keys = [key for (key,) in connection.execute(count)]
    if "{placeholder}" not in DROPPED[str(column)]:
        connection.execute(statement.format(unreadable=unreadable))
        return len(keys)
    for key in keys:
        connection.execute(statement.format(placeholder=_placeholder(vault, column, key), unreadable=_row(column, key)))
    return len(keys)


def _placeholder(vault: Vault, column: SealedColumn, key: Any) -> bytes:
    secret = secrets.token_urlsafe(PLACEHOLDER_BYTES).encode()
    return vault.seal(secret, table=column.table, column=column.column, row=key)


def _row(column: SealedColumn, key: Any) -> Composed:
    return SQL("{} = {}").format(Identifier(column.key), key)


def _end_sessions(connection: RawConnection, now: datetime) -> int:
    """End every session, and what a session could come of; return how many sessions."""
    ended = connection.execute(_END_SESSIONS, {"now": now}).rowcount
    for table in ENDED_TABLES:
        # An older schema may not have it.
        if _exists(connection, table):
            connection.execute(SQL("DELETE FROM {}").format(Identifier(table)))
    return ended


def _exists(connection: RawConnection, table: str) -> bool:
    return bool(connection.execute("SELECT WHERE to_regclass(%s) IS NOT NULL", (table,)).rowcount)
