"""What follows a restore: sessions that end on demand, and secrets whose master key is lost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import psycopg
import pytest

from adapters.crypto.vault import MasterKey, Vault
from adapters.postgres.backup import after_restore
from adapters.postgres.driver.connection import Connection
from adapters.postgres.schema.rewrap import SEALED_COLUMNS
from core.endings import Issued
from tests.adapters.backup.databases import backed_up, restored
from tests.world.builder import Builder, new_id
from tests.world.directory import insert_directory
from tests.world.issued import Everything, issue_everything
from tests.world.issued_rows import ALIVE
from tests.world.team import Team
from tests.world.world import World

LOST, PRESENT, NEW = MasterKey(bytes([1]) * 32), MasterKey(bytes([2]) * 32), MasterKey(bytes([3]) * 32)
BEFORE: Final = Vault([LOST, PRESENT])
AFTER: Final = Vault([NEW, PRESENT])
# Sessions, whatever leads to one, and what stands for a second factor.
ENDED: Final = {
    Issued.ACCOUNT_SESSION,
    Issued.ORGANIZATION_SESSION,
    Issued.SERVICE_SESSION,
    Issued.VISITOR_SESSION,
    Issued.CONNECTION_SESSION,
    Issued.CUSTOMER_SESSION,
    Issued.BROWSER_COOKIE,
    Issued.CLIENT_GRANT,
    Issued.AUTHORIZATION_CODE,
    Issued.DEVICE_APPROVAL,
    Issued.SAML_SESSION,
    Issued.ADMITTED_SESSION,
    Issued.SECOND_FACTOR_CHALLENGE,
    Issued.MAILED_SIGN_IN,
    Issued.MAILED_RESET,
    Issued.MAILED_CONFIRMATION,
    Issued.REQUESTED_ADDRESS,
    Issued.PROVIDER_LINKING,
    Issued.DEVICE,
}


@pytest.fixture
async def everything(world: World) -> Everything:
    """A member with everything that is issued."""
    team: Team = world.team("acme")
    team.add("owner", "owner")
    world.mail_domain(team.organization_id, "acme.example")
    insert_directory(team)
    user_id = world.user("ada@example.com", has_mfa=True)
    world.member(team.organization_id, user_id)
    return issue_everything(team, user_id, "ada@example.com")


def alive(url: str, one: Everything) -> set[Issued]:
    with psycopg.connect(url) as connection:
        return {
            issued
            for issued, held in one.ids.items()
            if connection.execute(ALIVE[issued].encode(), {"id": held, "user": one.user_id}).fetchone() == (True,)
        }


async def test_without_a_wish_everything_that_was_issued_still_holds(
    everything: Everything, database_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    backed_up(database_url, tmp_path / "backup.tar")

    done = restored(empty_database_url, tmp_path / "backup.tar")

    assert alive(empty_database_url, everything) == set(Issued)
    assert done.sessions_ended is None


async def test_ending_all_sessions_ends_what_leads_to_one_and_leaves_credentials(
    everything: Everything, database_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    backed_up(database_url, tmp_path / "backup.tar")

    done = restored(empty_database_url, tmp_path / "backup.tar", ends_sessions=True, now=everything.world.clock())

    assert set(Issued) - alive(empty_database_url, everything) == ENDED
    assert done.sessions_ended == 7


def test_what_is_done_to_a_sealed_column_is_declared_for_each() -> None:
    assert set(after_restore.DROPPED) == {str(column) for column in SEALED_COLUMNS}


# ----------------------------------------------------------------------------------------------------------------------
# A lost master key

# A row for each table with a sealed column; what is sealed is written afterwards.
ROWS: Final[Mapping[str, str]] = {
    "mails": """
        INSERT INTO mails (organization_id, id, recipient, template, values_sealed, state, attempts, due_at, created_at)
        VALUES ('00000000-0000-0000-0000-000000000000',
                %(id)s, 'ada@example.com', 'test', '', 'queued', 0, now(), now())
    """,
    "invitations": """
        INSERT INTO invitations (id, organization_id, email, role, status, token_hash, token_sealed, proof_hash,
                                 created_at, expires_at)
        VALUES (%(id)s, %(acme)s, 'guest@example.com', 'member', 'pending', %(hash)s, '', %(hash)s, now(), now())
    """,
    "saml_certificates": """
        INSERT INTO saml_certificates (id, organization_id, service_id, public_key, private_key_sealed, valid_from,
                                       valid_until, is_active, created_at)
        VALUES (%(id)s, %(acme)s, %(shop)s, '', '', now(), now(), false, now())
    """,
    "server_secrets": "INSERT INTO server_secrets (name, value_sealed, created_at) VALUES (%(name)s, '', now())",
    "signing_keys": """
        INSERT INTO signing_keys (kid, state, public_pem, private_pem_sealed, created_at)
        VALUES (%(name)s, 'retired', '', '', now())
    """,
    "elliptic_signing_keys": """
        INSERT INTO elliptic_signing_keys (kid, state, public_pem, private_pem_sealed, created_at)
        VALUES (%(name)s, 'retired', '', '', now())
    """,
    "totp_secrets": """
        INSERT INTO totp_secrets (user_id, secret_sealed, created_at, enabled_at) VALUES (%(user)s, '', now(), now())
    """,
    "identities": """
        INSERT INTO identities (id, user_id, provider, subject, linked_at, used_at, access_token_sealed,
                                refresh_token_sealed)
        VALUES (%(id)s, %(user)s, 'codehost', %(name)s, now(), now(), '', '')
    """,
    "upstream_sign_ins": """
        INSERT INTO upstream_sign_ins (id, state_hash, provider, return_to, return_id, proven_sealed, expires_at)
        VALUES (%(id)s, %(hash)s, 'codehost', '/app', '', '', now())
    """,
    "oauth_credentials": """
        INSERT INTO oauth_credentials (id, organization_id, provider, client_id, client_secret_sealed, updated_at)
        VALUES (%(id)s, %(acme)s, %(name)s, 'client', '', now())
    """,
    "upstream_connections": """
        INSERT INTO upstream_connections (id, organization_id, type, name, issuer, client_id, client_secret_sealed,
                                          scopes, attribute_mapping, trust_mfa, enabled, created_at, updated_at)
        VALUES (%(id)s, %(acme)s, 'oidc', %(name)s, %(name)s, 'client', '', '{}', '{}', false, true, now(), now())
    """,
    "connection_keys": """
        INSERT INTO connection_keys (id, organization_id, connection_id, public_key, private_key_sealed, valid_from,
                                     valid_until, is_active, created_at)
        SELECT %(id)s, organization_id, id, '', '', now(), now(), false, now() FROM upstream_connections LIMIT 1
    """,
    "webhooks": """
        INSERT INTO webhooks (id, organization_id, name, url, events, secret_sealed, previous_secret_sealed,
                              previous_secret_until, created_at, updated_at)
        VALUES (%(id)s, %(acme)s, %(name)s, 'https://hooks.example/', '{user.joined}', '', '', now(), now(), now())
    """,
    "siem_streams": """
        INSERT INTO siem_streams (id, organization_id, provider, endpoint, token_sealed, options, enabled, position,
                                  created_at, updated_at)
        VALUES (%(id)s, %(acme)s, 'http', 'https://siem.example/', '', '{}', true, 0, now(), now())
    """,
    "mail_servers": """
        INSERT INTO mail_servers (organization_id, host, port, tls, username, password_sealed, from_name, from_email,
                                  created_at, updated_at)
        VALUES (%(acme)s, 'mail.example', 587, 'tls', 'ann', '', 'Acme', 'id@example.com', now(), now())
    """,
    "shown_secrets": """
        WITH session AS (
            INSERT INTO sessions (id, user_id, provider, amr, authenticated_at, refresh_hash, refreshed_at, expires_at,
                                  created_at)
            VALUES (%(id)s, %(user)s, 'password', '{}', now(), %(hash)s, now(), '2000-01-01', now())
            RETURNING id)
        INSERT INTO shown_secrets (id, session_id, page, secrets_sealed, expires_at)
        SELECT %(id)s, id, '/app', '', now() FROM session
    """,
    "provider_sessions": """
        INSERT INTO provider_sessions (session_id, organization_id, connection_id, name_id, id_token_sealed)
        SELECT s.id, c.organization_id, c.id, %(name)s, ''
        FROM   sessions s
        JOIN   upstream_connections c ON c.organization_id = %(acme)s
        WHERE  s.user_id = %(user)s
    """,
    "mfa_challenges": """
        INSERT INTO mfa_challenges (id, user_id, context, created_at, expires_at, id_token_sealed)
        VALUES (%(id)s, %(user)s, '{}', now(), now(), '')
    """,
}


def insert_sealed(connection: Connection, builder: Builder, slug: str, vault: Vault) -> UUID:
    """Insert a row with secrets into every table that has them, below an organization; return its user."""
    acme, user_id = builder.organization(slug), builder.user(f"{slug}@example.com", has_mfa=True)
    values: dict[str, Any] = {"acme": acme, "user": user_id, "shop": builder.service(acme, "shop").id, "name": slug}
    connection.execute(
        "INSERT INTO backup_codes (id, user_id, code_hash, created_at) VALUES (%s, %s, %s, now())",
        (new_id(), user_id, slug.encode()),
    )
    for statement in ROWS.values():
        row_id = new_id()
        connection.execute(statement.encode(), {**values, "id": row_id, "hash": row_id.bytes})
    for column in SEALED_COLUMNS:
        fresh = f"SELECT {column.key} FROM {column.table} WHERE {column.column} = ''"
        for (key,) in connection.execute(fresh.encode()).fetchall():
            sealed = vault.seal(slug.encode(), table=column.table, column=column.column, row=key)
            update = f"UPDATE {column.table} SET {column.column} = %s WHERE {column.key} = %s"
            connection.execute(update.encode(), (sealed, key))
    return user_id


def opened(url: str) -> dict[str, list[bytes]]:
    """Return what each sealed column has, opened with the keys that are present."""
    with psycopg.connect(url) as connection:
        return {
            str(column): sorted(
                AFTER.open(sealed, table=column.table, column=column.column, row=key)
                for key, sealed in connection.execute(
                    f"SELECT {column.key}, {column.column} FROM {column.table}".encode()
                )
                if sealed is not None
            )
            for column in SEALED_COLUMNS
        }


def test_without_the_lost_key_exactly_its_secrets_are_dropped(
    connection: Connection, builder: Builder, database_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    lost = insert_sealed(connection, builder, "lost", Vault([LOST]))
    kept = insert_sealed(connection, builder, "kept", Vault([PRESENT]))
    manifest = backed_up(database_url, tmp_path / "backup.tar")

    done = restored(empty_database_url, tmp_path / "backup.tar", drops_with=AFTER)

    assert set(manifest.master_keys) == set(BEFORE.key_ids)
    assert done.dropped == {str(column): 1 for column in SEALED_COLUMNS}
    # What other rows hang on has a new secret, which only we could open.
    found = opened(empty_database_url)
    placeholders = {column: [one for one in values if one != b"kept"] for column, values in found.items()}
    assert {column for column, values in placeholders.items() if values} == {
        "upstream_connections.client_secret_sealed",
        "webhooks.secret_sealed",
    }
    # A sign-in that is not complete ends with the sessions, and so does what a session is about to be shown.
    assert {column for column, values in found.items() if values.count(b"kept") != 1} == {
        "mfa_challenges.id_token_sealed",
        "shown_secrets.secrets_sealed",
        "upstream_sign_ins.proven_sealed",
    }
    with psycopg.connect(empty_database_url) as restored_connection:

        def rows(statement: str) -> list[tuple[Any, ...]]:
            return restored_connection.execute(statement.encode()).fetchall()

        assert rows("SELECT name, is_active FROM webhooks ORDER BY name") == [("kept", True), ("lost", False)]
        assert rows("SELECT name, enabled FROM upstream_connections ORDER BY name") == [("kept", True), ("lost", False)]
        assert rows("SELECT state, count(*)::int FROM mails GROUP BY state ORDER BY state") == [
            ("failed", 1),
            ("queued", 1),
        ]
        # A stolen password alone must not open an account that had two factors.
        assert sorted(rows("SELECT id, password_hash IS NULL, mfa_enabled_at IS NULL FROM users")) == sorted(
            [(lost, True, True), (kept, False, False)]
        )
        # Backup codes are hashed with a key that is lost; and so is every token.
        assert rows("SELECT FROM backup_codes") == []
    assert done.sessions_ended == 0


def test_with_every_key_nothing_is_dropped(
    connection: Connection, builder: Builder, database_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    insert_sealed(connection, builder, "kept", Vault([PRESENT]))
    backed_up(database_url, tmp_path / "backup.tar")

    done = restored(empty_database_url, tmp_path / "backup.tar", drops_with=AFTER)

    assert (done.dropped, done.sessions_ended) == ({}, None)
    assert {value for values in opened(empty_database_url).values() for value in values} == {b"kept"}
