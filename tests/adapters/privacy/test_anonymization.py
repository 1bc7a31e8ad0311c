"""Anonymizing a user among very many entries: every statement uses an index, and every address is found."""

from __future__ import annotations

import re
from uuid import UUID, uuid4

import pytest
from psycopg.types.json import Jsonb

from adapters.postgres.driver.connection import Connection
from adapters.postgres.privacy import personal_data
from core.privacy.anonymization import without_addresses

ENTRIES = 2_000
BIG = (
    *("audit_entries", "events", "login_events", "mails", "invitations"),
    *("platform_audit_entries", "mfa_events", "sign_in_failures"),
)
STATEMENTS = (
    *personal_data.CREDENTIALS,
    *(find for find, _ in (*personal_data.ADDRESSES_IN_LOGS, *personal_data.ORIGINS_IN_LOGS)),
    *(
        change
        for _, changes in (*personal_data.ADDRESSES_IN_LOGS, *personal_data.ORIGINS_IN_LOGS)
        for change in changes
        if "target_id" not in change
    ),
    *personal_data.ADDRESSES,
    personal_data.DETAILS,
    *(find for find, _ in (*personal_data.WORDS, *personal_data.ORIGINS)),
    *(change for _, change in personal_data.ORIGINS),
)


def test_every_address_in_a_value_is_found(connection: Connection, subtests: pytest.Subtests) -> None:
    for value, addresses in (
        ({"invited_email": "ada@example.com", "role": "member"}, ["ada@example.com"]),
        ({"reason": "Asked by Ada@Example.com."}, ["ada@example.com"]),
        ({"reason": "line\nada@example.com\tnext"}, ["ada@example.com"]),
        ({"a": ["<a.b+c@x.example>", {"b": "(bob@x.example), 'eve@x.example'"}]}, None),
        ({"reason": "größe@bücher.example"}, ["größe@bücher.example"]),
        ({"reason": "nobody @ all", "count": 7}, []),
    ):
        with subtests.test(value=value, addresses=addresses):
            [[found]] = connection.execute("SELECT addresses_in(%s)", (Jsonb(value),)).fetchall()

            assert sorted(found) == (
                addresses if addresses is not None else ["a.b+c@x.example", "bob@x.example", "eve@x.example"]
            )
            # The core replaces every address that is found.
            for address in found:
                assert address not in str(without_addresses(value, [address], "gone@deleted.local")).lower()


@pytest.fixture
def crowded(connection: Connection) -> tuple[Connection, UUID]:
    """Logs with very many entries of many users, and the id of one of the users."""
    organization_id, user_id = uuid4(), uuid4()
    connection.execute(
        """
        INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
        SELECT %s, 'acme', 'Acme', 'active', id, now(), now() FROM tiers WHERE name = 'free'
        """,
        (organization_id,),
    )
    connection.execute(
        """
        INSERT INTO users (id, email, created_at, updated_at)
        SELECT CASE n WHEN 1 THEN %s ELSE gen_random_uuid() END, 'person' || n || '@example.com', now(), now()
        FROM   generate_series(1, 200) AS n
        """,
        (user_id,),
    )
    for table, columns, values in [
        (
            "audit_entries",
            "organization_id, actor_user_id, action, target_type, target_id, success, details, created_at",
            "%(organization_id)s, u.id, 'x', 'user', n::text, true, jsonb_build_object('email', u.email), now()",
        ),
        (
            "platform_audit_entries",
            "actor_user_id, action, target_type, target_id, success, details, created_at",
            "u.id, 'x', 'user', n::text, true, jsonb_build_object('reason', u.email), now()",
        ),
        (
            "events",
            "organization_id, type, actor_user_id, actor_email, data, occurred_at",
            "%(organization_id)s, 'x', u.id, u.email, jsonb_build_object('email', u.email), now()",
        ),
        (
            "login_events",
            "user_id, organization_id, provider, success, risk_score, risk_factors, created_at",
            "u.id, u.id, 'password', true, 0, '{}', now()",
        ),
        (
            "mfa_events",
            "user_id, event_type, success, details, created_at",
            "u.id, CASE n %% 99 WHEN 0 THEN 'mfa_force_disabled_by_admin' ELSE 'x' END, true, '{}', now()",
        ),
        (
            "mails",
            "organization_id, recipient, template, state, attempts, due_at, created_at",
            "%(organization_id)s, u.email, 'test', 'kept', 0, now(), now()",
        ),
        ("sign_in_failures", "email_hash, network, created_at", "u.email::bytea, '10.0.0.0/24', now()"),
        (
            "invitations",
            "organization_id, email, role, status, token_hash, proof_hash, created_at, expires_at",
            "%(organization_id)s, u.email, 'member', 'expired', n::text::bytea, 'proof', now(), now()",
        ),
    ]:
        connection.execute(
            f"""
            INSERT INTO {table} (id, {columns})
            SELECT (left(first_id_at(now())::text, 14) || substr(gen_random_uuid()::text, 15))::uuid, {values}
            FROM   generate_series(1, {ENTRIES}) AS n
            JOIN   (SELECT id, email, row_number() OVER () AS number FROM users) AS u ON u.number = 1 + n %% 200
            """.encode(),
            {"organization_id": organization_id},
        )
    connection.execute("ANALYZE")
    return connection, user_id


@pytest.mark.one_server
def test_no_statement_scans_a_whole_log(crowded: tuple[Connection, UUID]) -> None:
    connection, user_id = crowded
    values = {
        "user_id": user_id,
        "addresses": ["person1@example.com"],
        "marks": [b"person1@example.com"],
        "placeholder": "gone@deleted.local",
        "ip_address": "0.0.0.0",
        "user_agent": "anonymized",
        "forced": "mfa_force_disabled_by_admin",
        "at": None,
        "now": None,
        "ids": [user_id],
        "organization_id": user_id,
        "mentioning": [user_id],
    }

    for statement in STATEMENTS:
        rows = connection.execute(b"EXPLAIN " + statement.encode(), values).fetchall()
        plan = "\n".join(line for (line,) in rows)
        # The rows of a log with months are in its first partition; the others are empty.
        assert not [table for table in BIG if re.search(rf"Seq Scan on {table}(_before)?\b(?!_)", plan)], plan
