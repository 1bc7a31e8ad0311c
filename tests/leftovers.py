"""Inserts rows of each kind of leftover, for the tests of housekeeping."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import LiteralString

from adapters.postgres.driver.connection import Connection
from core.platform.housekeeping import Leftover
from core.platform.retention import FOR_EVER

DAY = timedelta(days=1)
USER = "00000000-0000-7000-8000-00000000000a"
DEVICE = "00000000-0000-7000-8000-00000000000d"
ORGANIZATION = "00000000-0000-7000-8000-0000000000b0"
WEBHOOK = "00000000-0000-7000-8000-00000000000b"
SESSION = "00000000-0000-7000-8000-00000000000f"
EVENT = "00000000-0000-7000-8000-00000000000e"
IDS = {
    "user": USER,
    "device": DEVICE,
    "organization": ORGANIZATION,
    "webhook": WEBHOOK,
    "event": EVENT,
    "session": SESSION,
}


@dataclass(frozen=True)
class Kind:
    """A statement that inserts rows of a kind with given ends, and how long the rows are kept after that."""

    ends: str
    kept_for: timedelta
    insert: LiteralString


# Each statement reads the times at which its rows end from `ends`.
KINDS = {
    Leftover.SIGN_IN_FAILURES: Kind(
        "created_at",
        timedelta(minutes=15),
        "INSERT INTO sign_in_failures (id, email_hash, network, created_at)"
        " SELECT gen_random_uuid(), '', '-', ended FROM ends",
    ),
    Leftover.RECENT_REFUSALS: Kind(
        "created_at",
        timedelta(hours=2),
        """
        INSERT INTO recent_refusals (id, user_id, organization_id, reason, created_at)
        SELECT overlay(gen_random_uuid()::text placing left(first_id_at(ended)::text, 13) from 1)::uuid, %(user)s,
               %(user)s, 'wrong_password', ended
        FROM   ends
        """,
    ),
    Leftover.RECENT_ACTS: Kind(
        "done_at",
        timedelta(days=8),
        """
        , owner AS (
            INSERT INTO organizations (id, slug, name, status, tier_id, mfa_required, created_at, updated_at)
            SELECT gen_random_uuid(), 'acts', 'Acts', 'active', id, false, now(), now() FROM tiers LIMIT 1
            RETURNING id)
        INSERT INTO recent_acts (organization_id, credential_id, act, object_id, user_id, done_at)
        SELECT owner.id, gen_random_uuid(), 'linked', gen_random_uuid(), %(user)s, ended
        FROM   ends, owner
        """,
    ),
    Leftover.SIGN_IN_HABITS: Kind(
        "expires_at",
        timedelta(),
        """
        , people AS (
            INSERT INTO users (id, email, created_at, updated_at)
            SELECT id, id || '@example.com', ended, ended
            FROM   (SELECT gen_random_uuid() AS id, ended FROM ends) AS one
            RETURNING id, created_at)
        INSERT INTO sign_in_habits (user_id, hours, countries, expires_at)
        SELECT id, '{}', '', created_at
        FROM   people
        """,
    ),
    Leftover.MFA_CHALLENGES: Kind(
        "expires_at",
        DAY,
        "INSERT INTO mfa_challenges (id, user_id, context, created_at, expires_at)"
        " SELECT gen_random_uuid(), %(user)s, '{}', ended, ended FROM ends",
    ),
    Leftover.PASSKEY_CHALLENGES: Kind(
        "expires_at",
        DAY,
        "INSERT INTO passkey_challenges (id, purpose, challenge, created_at, expires_at)"
        " SELECT gen_random_uuid(), 'authenticate', '', ended, ended FROM ends",
    ),
    Leftover.DEVICE_TOKENS: Kind(
        "expires_at",
        DAY,
        "INSERT INTO device_tokens (token_hash, device_id, created_at, expires_at)"
        " SELECT sha256(gen_random_uuid()::text::bytea), %(device)s, ended, ended FROM ends",
    ),
    Leftover.ONE_TIME_TOKENS: Kind(
        "expires_at",
        30 * DAY,
        "INSERT INTO one_time_tokens (token_hash, purpose, email, created_at, expires_at)"
        " SELECT sha256(gen_random_uuid()::text::bytea), 'verify_email', '', ended, ended FROM ends",
    ),
    Leftover.OPEN_REGISTRATIONS: Kind(
        "expires_at",
        timedelta(),
        "INSERT INTO open_registrations (id, user_id, email, password_hash, data, created_at, expires_at)"
        " SELECT gen_random_uuid(), %(user)s, '', '', '{}', ended, ended FROM ends",
    ),
    Leftover.SESSIONS: Kind(
        "expires_at",
        30 * DAY,
        "INSERT INTO sessions (id, user_id, provider, amr, authenticated_at, refresh_hash, refreshed_at, expires_at,"
        " created_at)"
        " SELECT gen_random_uuid(), %(user)s, 'password', '{}', ended, '', ended, ended, ended FROM ends",
    ),
    Leftover.REQUEST_SIGN_INS: Kind(
        "expires_at",
        timedelta(),
        "INSERT INTO request_sign_ins (session_id, request_key, expires_at)"
        " SELECT %(session)s, sha256(gen_random_uuid()::text::bytea), ended FROM ends",
    ),
    Leftover.SHOWN_SECRETS: Kind(
        "expires_at",
        timedelta(),
        "INSERT INTO shown_secrets (id, session_id, page, secrets_sealed, expires_at)"
        " SELECT gen_random_uuid(), %(session)s, '/app', '', ended FROM ends",
    ),
    Leftover.BROWSER_RETURNS: Kind(
        "expires_at",
        DAY,
        "INSERT INTO browser_returns (id_hash, target, expires_at)"
        " SELECT sha256(gen_random_uuid()::text::bytea), '/app', ended FROM ends",
    ),
    Leftover.AUTHORIZATION_REQUESTS: Kind(
        "expires_at",
        timedelta(),
        "INSERT INTO authorization_requests (id_hash, organization_id, service_id, is_pushed, parameters, created_at,"
        " expires_at)"
        " SELECT sha256(gen_random_uuid()::text::bytea), %(user)s, %(device)s, true, '{}', ended, ended FROM ends",
    ),
    Leftover.AUTHORIZATION_CODES: Kind(
        "expires_at",
        DAY,
        "INSERT INTO authorization_codes (code_hash, organization_id, service_id, session_id, redirect_uri, scopes,"
        " created_at, expires_at)"
        " SELECT sha256(gen_random_uuid()::text::bytea), %(user)s, %(device)s, %(session)s, '', '{}', ended, ended"
        " FROM ends",
    ),
    Leftover.DEVICE_CODES: Kind(
        "expires_at",
        DAY,
        "INSERT INTO device_codes (device_code_hash, user_code_hash, organization_id, service_id, scopes, created_at,"
        " expires_at, interval_seconds)"
        " SELECT sha256(gen_random_uuid()::text::bytea), sha256(gen_random_uuid()::text::bytea), %(user)s,"
        " %(device)s, '{}', ended, ended, 5 FROM ends",
    ),
    Leftover.SINGLE_USES: Kind(
        "expires_at",
        timedelta(),
        "INSERT INTO single_uses (id_hash, expires_at) SELECT sha256(gen_random_uuid()::text::bytea), ended FROM ends",
    ),
    Leftover.UPSTREAM_SIGN_INS: Kind(
        "expires_at",
        timedelta(),
        "INSERT INTO upstream_sign_ins (id, state_hash, provider, return_to, return_id, expires_at)"
        " SELECT gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), 'codehost', '', '', ended FROM ends",
    ),
    Leftover.MAIL_COUNTS: Kind(
        "expires_at",
        timedelta(),
        "INSERT INTO mail_counts (key, sent_at, expires_at)"
        " SELECT sha256(gen_random_uuid()::text::bytea), '{}', ended FROM ends",
    ),
    Leftover.ADDRESS_CONFLICTS: Kind(
        "occurred_at",
        timedelta(hours=1),
        "INSERT INTO address_conflicts (organization_id, occurred_at) SELECT %(user)s, ended FROM ends",
    ),
    Leftover.SAML_REQUESTS: Kind(
        "expires_at",
        timedelta(),
        "INSERT INTO saml_requests (id, organization_id, service_id, message_id, state_hash, browser_hash, terms,"
        " created_at, expires_at)"
        " SELECT gen_random_uuid(), %(user)s, %(device)s, gen_random_uuid()::text,"
        " sha256(gen_random_uuid()::text::bytea), '', '{}', ended, ended FROM ends",
    ),
    Leftover.SAML_LOGOUTS: Kind(
        "expires_at",
        timedelta(),
        "INSERT INTO saml_logouts (id, state_hash, browser_hash, is_signed, named, has_begun, to_tell, status,"
        " created_at, expires_at)"
        " SELECT gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), '', true, '{}', true, '{}', '{}', ended,"
        " ended FROM ends",
    ),
    Leftover.BILLING_CHECKOUTS: Kind(
        "created_at",
        30 * DAY,
        "INSERT INTO billing_checkouts (id, mode, organization_id, service_id, user_id, plan_id, price_id, success_url,"
        " cancel_url, created_at)"
        " SELECT gen_random_uuid(), 'live', %(user)s, %(device)s, %(user)s, gen_random_uuid(), '', '', '', ended"
        " FROM ends",
    ),
    Leftover.BILLING_CANCELLATIONS: Kind(
        "created_at",
        90 * DAY,
        "INSERT INTO billing_cancellations (id, mode, created_at)"
        " SELECT gen_random_uuid()::text, 'live', ended FROM ends",
    ),
    Leftover.SANDBOX_SESSIONS: Kind(
        "expires_at",
        DAY,
        "INSERT INTO sandbox_sessions (id, kind, customer_id, return_url, expires_at, created_at)"
        " SELECT gen_random_uuid()::text, 'portal', 'cus_1', '', ended, ended FROM ends",
    ),
    Leftover.SETUP_LINKS: Kind(
        "expires_at",
        DAY,
        "INSERT INTO setup_links (id, organization_id, parts, secret_hash, created_by, created_at, expires_at)"
        " SELECT gen_random_uuid(), %(organization)s, '{domain}', sha256(random()::text::bytea), %(user)s, ended, ended"
        " FROM ends",
    ),
    Leftover.ORGANIZATION_KEYS: Kind(
        "expires_at",
        90 * DAY,
        "INSERT INTO organization_keys (id, organization_id, created_by, name, prefix, key_hash, permissions,"
        " has_second_factor, created_at, expires_at)"
        " SELECT gen_random_uuid(), %(organization)s, %(user)s, '', 'gk_abcdef', '', '{services.view}', false, ended,"
        " ended FROM ends",
    ),
    Leftover.DEVICES: Kind(
        "last_used_at",
        365 * DAY,
        "INSERT INTO devices (id, user_id, name, device_type, last_used_at, created_at, updated_at)"
        " SELECT gen_random_uuid(), %(user)s, '', 'cli', ended, ended, ended FROM ends",
    ),
    Leftover.WEBHOOK_DELIVERIES: Kind(
        "created_at",
        90 * DAY,
        "INSERT INTO webhook_deliveries (id, organization_id, webhook_id, event_id, event_type, queued_at, created_at,"
        " updated_at)"
        " SELECT (left(first_id_at(ended)::text, 14) || substr(gen_random_uuid()::text, 15))::uuid,"
        " %(organization)s, %(webhook)s, %(event)s, 'webhook.test', ended, ended, ended"
        " FROM ends",
    ),
    Leftover.EVENTS: Kind(
        "occurred_at",
        90 * DAY,
        "INSERT INTO events (id, organization_id, type, actor_user_id, actor_email, data, occurred_at)"
        " SELECT (left(first_id_at(ended)::text, 14) || substr(gen_random_uuid()::text, 15))::uuid, %(organization)s,"
        " 'webhook.test', %(user)s, 'ada@' || ended::date || '.example', '{}', ended"
        " FROM ends",
    ),
    Leftover.UPSTREAM_FAILURES: Kind(
        "last_at",
        90 * DAY,
        ", connection AS (INSERT INTO upstream_connections (id, organization_id, type, name, scopes,"
        " attribute_mapping, trust_mfa, enabled, created_at, updated_at) VALUES (gen_random_uuid(), %(organization)s,"
        " 'saml', 'Acme', '{}', '{}', false, false, now(), now()) RETURNING organization_id, id)"
        " INSERT INTO upstream_failures (organization_id, connection_id, problem, first_at, last_at, occurrences,"
        " last_request_id) SELECT organization_id, id, ended::text, ended, ended, 1, '' FROM connection, ends",
    ),
    Leftover.CLIENT_PROBLEMS: Kind(
        "noted_at",
        30 * DAY,
        ", service AS (INSERT INTO services (id, organization_id, slug, name, service_type, client_id, created_at,"
        " updated_at) VALUES (gen_random_uuid(), %(organization)s, 'troubled', 'Troubled', 'web', gen_random_uuid(),"
        " now(), now()) RETURNING organization_id, id)"
        " INSERT INTO client_problems (organization_id, service_id, kind, network, minute, noted_at, ip_address,"
        " registered) SELECT organization_id, id, 'grant', ended::text, ended, ended, '', '{}' FROM service, ends",
    ),
    Leftover.BULK_JOBS: Kind(
        "created_at",
        30 * DAY,
        "INSERT INTO bulk_jobs (id, kind, details, maker_id, session_id, rows, due_at, created_at)"
        " SELECT gen_random_uuid(), 'organizations.approve', '{}', %(user)s, gen_random_uuid(), 1, ended, ended"
        " FROM ends",
    ),
    Leftover.TRIAL_SIGN_INS: Kind(
        "expires_at",
        90 * DAY,
        ", connection AS (INSERT INTO upstream_connections (id, organization_id, type, name, scopes,"
        " attribute_mapping, trust_mfa, enabled, created_at, updated_at) VALUES (gen_random_uuid(), %(organization)s,"
        " 'saml', 'Acme', '{}', '{}', false, false, now(), now()) RETURNING organization_id, id)"
        " INSERT INTO trial_sign_ins (organization_id, id, connection_id, user_id, session_id, state_hash, tested_as,"
        " expires_at) SELECT organization_id, gen_random_uuid(), id, %(user)s, gen_random_uuid(),"
        " gen_random_uuid()::text::bytea, '', ended FROM connection, ends",
    ),
    Leftover.LOGIN_EVENTS: Kind(
        "created_at",
        400 * DAY,
        """
        , counting AS (
            INSERT INTO sign_in_counting (counted_through) VALUES ('ffffffff-ffff-ffff-ffff-ffffffffffff')
            ON CONFLICT DO NOTHING)
        INSERT INTO login_events (id, user_id, organization_id, provider, success, risk_score, risk_factors, created_at)
        SELECT overlay(gen_random_uuid()::text placing left(first_id_at(ended)::text, 13) from 1)::uuid, %(user)s,
               %(user)s, 'password', true, 0, '{}', ended
        FROM   ends
        """,
    ),
    Leftover.MFA_EVENTS: Kind(
        "created_at",
        FOR_EVER,
        """
        INSERT INTO mfa_events (id, user_id, event_type, success, details, created_at)
        SELECT overlay(gen_random_uuid()::text placing left(first_id_at(ended)::text, 13) from 1)::uuid, %(user)s,
               'mfa_enabled', true, '{}', ended
        FROM   ends
        """,
    ),
    Leftover.SCIM_LOG_ENTRIES: Kind(
        "created_at",
        30 * DAY,
        "INSERT INTO scim_log_entries (id, organization_id, token_id, token_name, method, path, status, created_at)"
        " SELECT (left(first_id_at(ended)::text, 14) || substr(gen_random_uuid()::text, 15))::uuid, %(organization)s,"
        " gen_random_uuid(), '', 'GET', '', 404, ended FROM ends",
    ),
    Leftover.ENDED_LOG_OWNERS: Kind(
        "ended_at",
        timedelta(hours=1),
        "INSERT INTO ended_log_owners (organization_id, webhook_id, ended_at)"
        " SELECT gen_random_uuid(), gen_random_uuid(), ended FROM ends",
    ),
    Leftover.INVITATIONS: Kind(
        "answered_at",
        400 * DAY,
        "INSERT INTO invitations (id, organization_id, email, role, status, token_hash, proof_hash, created_at,"
        " expires_at, answered_at)"
        " SELECT gen_random_uuid(), %(organization)s, 'eve@example.com', 'member', 'rejected',"
        " sha256(gen_random_uuid()::text::bytea), '', ended, ended + interval '7 days', ended FROM ends",
    ),
    # The service of the device's id belongs to the organization of the user's id.
    Leftover.CUSTOMER_OFFERS: Kind(
        "offer_expires_at",
        timedelta(),
        "INSERT INTO service_customers (id, vendor_id, service_id, offered_slug, offered_to, offer_expires_at,"
        " created_at)"
        " SELECT gen_random_uuid(), %(user)s, %(device)s, gen_random_uuid()::text, %(organization)s, ended, ended"
        " FROM ends",
    ),
    Leftover.CUSTOMER_CLAIMS: Kind(
        "expires_at",
        30 * DAY,
        """
        , customers AS MATERIALIZED (SELECT gen_random_uuid() AS id, ended FROM ends),
          kept AS (
            INSERT INTO service_customers (id, vendor_id, service_id, ended_at, ended_organization_id, created_at)
            SELECT id, %(user)s, %(device)s, ended, %(organization)s, ended FROM customers)
        INSERT INTO customer_claims (customer_id, vendor_id, email, token_hash, created_at, expires_at)
        SELECT id, %(user)s, 'ann@example.com', sha256(id::text::bytea), ended, ended FROM customers
        """,
    ),
    Leftover.UNPROVED_ACCOUNTS: Kind(
        "unproved_since",
        30 * DAY,
        "INSERT INTO users (id, email, created_at, updated_at, unproved_since)"
        " SELECT gen_random_uuid(), gen_random_uuid() || '@example.com', ended, ended, ended FROM ends",
    ),
}


def put_owners(connection: Connection, now: datetime) -> None:
    """Insert the owners of all rows: a user with a device, and an organization with a webhook and an event."""
    values = {**IDS, "now": now}
    connection.execute(
        "INSERT INTO users (id, email, created_at, updated_at) VALUES (%(user)s, 'ada@example.com', %(now)s, %(now)s)",
        values,
    )
    connection.execute(
        """
        INSERT INTO devices (id, user_id, name, device_type, last_used_at, created_at, updated_at)
        VALUES (%(device)s, %(user)s, '', 'cli', %(now)s, %(now)s, %(now)s)
        """,
        values,
    )
    # An organization and a service with the ids of the user and the device, and a customer of the sandbox.
    connection.execute(
        """
        INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
        SELECT %(user)s, 'acme', 'Acme', 'active', id, %(now)s, %(now)s FROM tiers WHERE name = 'free'
        """,
        values,
    )
    connection.execute(
        """
        INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
        SELECT %(organization)s, 'bolt', 'Bolt', 'active', id, %(now)s, %(now)s FROM tiers WHERE name = 'free'
        """,
        values,
    )
    connection.execute(
        """
        INSERT INTO memberships (id, organization_id, user_id, role, created_at)
        VALUES (%(user)s, %(organization)s, %(user)s, 'owner', %(now)s)
        """,
        values,
    )
    connection.execute(
        """
        INSERT INTO services (id, organization_id, slug, name, service_type, client_id, created_at, updated_at)
        VALUES (%(device)s, %(user)s, 'shop', 'Shop', 'web', %(device)s, %(now)s, %(now)s)
        """,
        values,
    )
    connection.execute(
        """
        INSERT INTO sessions (id, user_id, provider, amr, authenticated_at, refresh_hash, refreshed_at, expires_at,
                              created_at)
        VALUES (%(session)s, %(user)s, 'password', '{}', %(now)s, '', %(now)s, %(now)s, %(now)s)
        """,
        values,
    )
    connection.execute(
        """
        INSERT INTO webhooks (id, organization_id, name, url, events, secret_sealed, created_at, updated_at)
        VALUES (%(webhook)s, %(organization)s, 'hook', 'https://example.com', '{webhook.test}', '', %(now)s, %(now)s)
        """,
        values,
    )
    connection.execute(
        """
        INSERT INTO sandbox_customers (id, organization_id, idempotency_key, name, created_at)
        VALUES ('cus_1', %(user)s, '', '', %(now)s)
        """,
        values,
    )
    connection.execute(
        """
        INSERT INTO events (id, type, organization_id, data, occurred_at)
        VALUES (%(event)s, 'webhook.test', %(organization)s, '{}', %(now)s)
        """,
        values,
    )


def put(connection: Connection, leftover: Leftover, *ends: datetime) -> None:
    """Insert rows that end at these times."""
    connection.execute(
        b"WITH ends AS (SELECT unnest(%(ends)s::timestamptz[]) AS ended) " + KINDS[leftover].insert.encode(),
        {**IDS, "ends": list(ends)},
    )
