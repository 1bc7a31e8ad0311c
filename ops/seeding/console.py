"""What pages of the console list, in the first organization: as much as a large one has after months.

PostgreSQL makes the rows from numbers, in a fraction of the time of copying them. What is sealed cannot be opened, and
nothing is due, so the service sends nothing of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final, LiteralString, TypeAlias
from uuid import UUID

from psycopg import sql

from adapters.postgres.audit.sign_in_counts import PostgresSignInCounts
from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.services.sales import PostgresSalesBook
from core.audit.sign_in_counts import DAYS_KEPT, SETTLES_AFTER
from core.ids import first_id_at
from ops.seeding.copying import in_transaction
from ops.seeding.population import Plan, dashed

Say: TypeAlias = Callable[[str], None]


# Beside the services of the plan; each of all of them has a plan.
SERVICES: Final = 100
DELIVERIES: Final = 1_000_000
SIGN_INS: Final = 500_000
RECENT_SIGN_INS: Final = 20_000
SUBSCRIPTIONS: Final = 200_000
DIRECTORY_CALLS: Final = 1_000_000
COUNTED_SIGN_INS: Final = 20_000
ADDED_CHANGES: Final = 20_000
# The ids of what has a page of its own.
WEBHOOK_ID: Final = UUID(int=0x5EED_0001)
FAILING_WEBHOOK_ID: Final = UUID(int=0x5EED_0002)
CONNECTION_ID: Final = UUID(int=0x5EED_0003)
JOB_ID: Final = UUID(int=0x5EED_0004)
PLATFORM_JOB_ID: Final = UUID(int=0x5EED_0005)
KEY_ID: Final = UUID(int=0x5EED_0006)
SUBSCRIPTION_ID: Final = UUID(int=0x5EED_0007)
DELIVERY_ID: Final = UUID(int=0x5EED_0008)
ROLE: Final = "seed-role-1"
RARE_EVENT: Final = "user.invited"

_COUNTS: Final = (
    *("sign_in_counts", "platform_sign_in_counts", "active_days"),
    *("active_user_changes", "platform_active_user_changes"),
)
_SALES: Final = ("subscription_changes", "subscription_days", "subscription_totals", "currency_totals")
# A UUIDv7 of a time, distinct for each number `n` of a statement.
_ID: Final = """
    (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3)
     || '8' || substr(md5(n::text), 4, 15))::uuid
"""
_SEALED: Final = r"'\x00'::bytea"
_HASH: Final = "sha256(n::text::bytea)"
_TABLES: Final[Mapping[str, LiteralString]] = {
    "services": """
        INSERT INTO services (id, organization_id, slug, name, service_type, client_id, redirect_uris, created_at,
                              updated_at)
        SELECT md5('service' || n)::uuid, %(organization)s, 'more-' || n, 'More ' || n, 'web',
               md5('client' || n)::uuid, ARRAY['https://app.seed.example/' || n], at, at
        FROM   (SELECT n, now() - n * interval '1 day' AS at FROM generate_series(1, %(services)s) AS n) AS made
    """,
    "plans": """
        INSERT INTO plans (id, organization_id, service_id, name, price_cents, currency, features, is_default,
                           created_at, updated_at)
        SELECT md5('plan' || s.id)::uuid, s.organization_id, s.id, 'Free', 0, 'usd', '{{}}', true, s.created_at,
               s.created_at
        FROM   services s
        WHERE  s.organization_id = %(organization)s AND NOT EXISTS (SELECT FROM plans p WHERE p.service_id = s.id)
        UNION ALL
        SELECT md5('more plan' || n)::uuid, %(organization)s, %(service)s, 'Plan ' || n, n * 100,
               CASE WHEN n %% 10 = 0 THEN 'eur' ELSE 'usd' END, ARRAY['feature one', 'feature two'], false, now(), now()
        FROM   generate_series(1, 99) AS n
    """,
    # Each user of the first service has one of the others as well.
    "service_users": """
        INSERT INTO service_users (service_id, organization_id, user_id, email, first_login_at, last_login_at)
        SELECT s.id, s.organization_id, u.user_id, '', u.first_login_at, u.last_login_at
        FROM   (SELECT *, row_number() OVER () AS n
                FROM   services
                WHERE  organization_id = %(organization)s AND slug LIKE 'more-%%') AS s
        JOIN   (SELECT *, row_number() OVER () AS n FROM service_users WHERE service_id = %(service)s) AS u
               ON u.n %% %(services)s + 1 = s.n
    """,
    "plans of others": """
        INSERT INTO plans (id, organization_id, service_id, name, price_cents, currency, features, is_default,
                           created_at, updated_at)
        SELECT md5('paid plan' || id)::uuid, organization_id, id, 'Paid', 100 * (1 + abs(hashtext(id::text)) %% 90),
               CASE WHEN hashtext(slug) %% 3 = 0 THEN 'eur' ELSE 'usd' END, '{{}}', false, created_at, created_at
        FROM   services
        WHERE  organization_id <> %(organization)s
    """,
    # Triggers record each of these, and each change of them. Half of them are to one plan.
    "subscriptions": """
        INSERT INTO subscriptions (id, organization_id, service_id, user_id, plan_id, status, created_at, updated_at)
        SELECT CASE WHEN n = 1 THEN %(subscription)s::uuid ELSE md5('subscription' || user_id)::uuid END,
               organization_id, service_id, user_id,
               md5('more plan' || CASE WHEN n %% 2 = 0 THEN 1 ELSE n %% 99 + 1 END)::uuid, 'active', at, at
        FROM   (SELECT *, now() - interval '365 days' * n / %(subscriptions)s AS at
                FROM   (SELECT *, row_number() OVER (ORDER BY md5(user_id::text)) AS n
                        FROM   service_users
                        WHERE  service_id = %(service)s) AS users
                WHERE  n <= %(subscriptions)s) AS made
    """,
    # In the other services of the first organization, without a price, and in services of other organizations.
    "subscriptions of other services": """
        INSERT INTO subscriptions (id, organization_id, service_id, user_id, plan_id, status, created_at, updated_at)
        SELECT md5('subscription' || service_id || user_id)::uuid, organization_id, service_id, user_id, plan_id,
               'active', at, at
        FROM   (SELECT u.*, p.id AS plan_id, now() - interval '1 minute' * (abs(hashtext(u.user_id::text)) %% 525600)
                       AS at
                FROM   service_users u
                JOIN   plans p ON p.service_id = u.service_id
                               AND p.is_default = (u.organization_id = %(organization)s)
                WHERE  u.service_id <> %(service)s
                ORDER  BY md5(u.service_id::text || u.user_id)
                LIMIT  %(subscriptions)s) AS made
    """,
    "subscriptions that moved": """
        UPDATE subscriptions
        SET    plan_id = md5('more plan' || abs(hashtext(id::text)) %% 99 + 1)::uuid,
               updated_at = created_at + (now() - created_at) / 3
        WHERE  service_id = %(service)s AND hashtext(id::text) %% 3 = 0
    """,
    "subscriptions that are late": """
        UPDATE subscriptions
        SET    status = 'past_due', updated_at = created_at + (now() - created_at) / 2
        WHERE  organization_id = %(organization)s AND abs(hashtext(id::text)) %% 20 = 1
    """,
    "subscriptions that ended": """
        UPDATE subscriptions
        SET    status = CASE WHEN hashtext(id::text) %% 2 = 0 THEN 'cancelled' ELSE 'expired' END,
               updated_at = created_at + (now() - created_at) * 2 / 3
        WHERE  organization_id = %(organization)s AND abs(hashtext(id::text)) %% 5 = 2
    """,
    "api_keys": """
        INSERT INTO api_keys (id, organization_id, service_id, name, prefix, key_hash, permissions, created_at,
                              created_by)
        SELECT CASE WHEN n = 1 THEN %(key)s::uuid ELSE md5('key' || n)::uuid END, %(organization)s, %(service)s,
               'Key ' || n, substr(md5(n::text), 1, 8), {hash}, ARRAY['read:users'], now() - n * interval '1 day',
               %(owner)s
        FROM   generate_series(1, 100) AS n
    """,
    "service_grants": """
        INSERT INTO service_grants (service_id, organization_id, user_id, relation, granted_by, created_at)
        SELECT %(service)s, organization_id, user_id, 'viewer', %(owner)s, now()
        FROM   memberships
        WHERE  organization_id = %(organization)s
        LIMIT  20000
    """,
    "saml_configurations": """
        INSERT INTO saml_configurations (service_id, organization_id, enabled, entity_id, acs_url, slo_binding,
                                         sign_assertions, sign_response, members_only, updated_at)
        VALUES (%(service)s, %(organization)s, false, 'https://app.seed.example', 'https://app.seed.example/acs',
                'redirect', true, true, true, now())
    """,
    "organization_roles": """
        INSERT INTO organization_roles (organization_id, slug, name, permissions, created_at, updated_at)
        SELECT %(organization)s, 'seed-role-' || n, 'Role ' || n, ARRAY['services.view', 'audit_logs.view'], now(),
               now()
        FROM   generate_series(1, 50) AS n
    """,
    "memberships": """
        UPDATE memberships
        SET    role = 'seed-role-1'
        WHERE  id IN (SELECT id
                      FROM   memberships
                      WHERE  organization_id = %(organization)s AND role = 'member'
                      LIMIT  5000)
    """,
    "organization_keys": """
        INSERT INTO organization_keys (id, organization_id, created_by, name, prefix, key_hash, permissions,
                                       has_second_factor, created_at)
        SELECT md5('organization key' || n)::uuid, %(organization)s, %(owner)s, 'Key ' || n, substr(md5(n::text), 1, 8),
               {hash}, ARRAY['services.view'], false, now() - n * interval '1 day'
        FROM   generate_series(1, 50) AS n
    """,
    "setup_links": """
        INSERT INTO setup_links (id, organization_id, parts, secret_hash, created_by, created_at, expires_at)
        SELECT md5('link' || n)::uuid, %(organization)s, ARRAY['scim', 'siem'], {hash}, %(owner)s, now(),
               now() + interval '7 days'
        FROM   generate_series(1, 20) AS n
    """,
    "upstream_connections": """
        INSERT INTO upstream_connections (id, organization_id, type, name, issuer, client_id, client_secret_sealed,
                                          scopes, attribute_mapping, trust_mfa, enabled, created_at, updated_at)
        SELECT CASE WHEN n = 1 THEN %(connection)s::uuid ELSE md5('connection' || n)::uuid END, %(organization)s,
               'oidc', 'Connection ' || n, 'https://login.seed.example/' || n, 'client', {sealed},
               ARRAY['openid', 'email'], '{{}}', false, true, now(), now()
        FROM   generate_series(1, 20) AS n
    """,
    "domain_routes": """
        INSERT INTO domain_routes (id, organization_id, domain, connection_id, enforced, value, status, verified_at,
                                   proved_at, checked_at, next_check_at)
        SELECT md5('domain' || n)::uuid, %(organization)s, 'mail-' || n || '.example', %(connection)s, false, 'value',
               'verified', now(), now(), now(), now() + interval '7 days'
        FROM   generate_series(1, 50) AS n
    """,
    "webhooks": """
        INSERT INTO webhooks (id, organization_id, name, url, events, secret_sealed, created_at, updated_at)
        SELECT CASE n WHEN 1 THEN %(webhook)s::uuid WHEN 2 THEN %(failing)s::uuid ELSE md5('webhook' || n)::uuid END,
               %(organization)s, 'Webhook ' || n, 'https://hooks.seed.example/' || n, ARRAY['user.login.success'],
               {sealed}, now() - interval '90 days', now()
        FROM   generate_series(1, 10) AS n
    """,
    "webhooks of others": """
        INSERT INTO webhooks (id, organization_id, name, url, events, secret_sealed, created_at, updated_at)
        SELECT md5('webhook' || id)::uuid, id, 'Webhook', 'https://hooks.seed.example/', ARRAY['user.login.success'],
               {sealed}, now() - interval '90 days', now()
        FROM   organizations
        WHERE  id <> %(organization)s
        LIMIT  3000
    """,
    "webhook_queues": """
        INSERT INTO webhook_queues (webhook_id, organization_id)
        SELECT id, organization_id FROM webhooks
    """,
    "events": """
        INSERT INTO events (id, type, organization_id, data, occurred_at, position)
        SELECT {id}, 'user.login.success', %(organization)s, '{{}}', at, n
        FROM   (SELECT n, now() - n * interval '1 hour' AS at FROM generate_series(1, 1000) AS n) AS made
    """,
    # A tenth of the deliveries are to a webhook that takes none; of the others one in fifty failed or waits.
    "webhook_deliveries": """
        INSERT INTO webhook_deliveries (id, organization_id, webhook_id, event_id, event_type, queued_at, attempt_count,
                                        next_retry_at, delivered, response_status_code, delivery_error, created_at,
                                        updated_at)
        SELECT CASE WHEN n = 1 THEN %(delivery)s::uuid ELSE {id} END, %(organization)s,
               CASE WHEN n %% 10 = 0 THEN %(failing)s::uuid ELSE %(webhook)s::uuid END,
               event_id,
               CASE WHEN n %% 100000 = 1 THEN 'user.invited' WHEN n %% 4 = 0 THEN 'session.revoked'
                    ELSE 'user.login.success' END,
               at, 1, CASE WHEN n %% 500 = 1 THEN now() + interval '1 day' END, n %% 10 <> 0 AND n %% 50 <> 1,
               CASE WHEN n %% 10 <> 0 THEN 200 ELSE 500 END, CASE WHEN n %% 10 = 0 THEN 'The receiver refused.' END, at,
               at
        FROM   (SELECT n, now() - interval '30 days' * (%(deliveries)s - n) / %(deliveries)s AS at,
                       event_ids[n %% cardinality(event_ids) + 1] AS event_id
                FROM   generate_series(1, %(deliveries)s) AS n,
                       (SELECT array_agg(id) AS event_ids FROM events WHERE organization_id = %(organization)s)
                           AS events) AS made
    """,
    "webhook_deliveries of others": """
        INSERT INTO webhook_deliveries (id, organization_id, webhook_id, event_id, event_type, queued_at, attempt_count,
                                        created_at, updated_at)
        SELECT {id}, organization_id, webhook_id,
               (SELECT id FROM events WHERE organization_id = %(organization)s LIMIT 1), 'user.login.success', at, 9,
               at, at
        FROM   (SELECT organization_id, id AS webhook_id, id::text AS n, now() - interval '1 hour' AS at
                FROM   webhooks
                WHERE  organization_id <> %(organization)s) AS made
    """,
    "webhook_attempts": """
        INSERT INTO webhook_attempts (id, organization_id, webhook_id, delivery_id, attempted_at, duration_ms,
                                      request_headers, status_code, error)
        SELECT id, organization_id, webhook_id, id, created_at, 20 + length(id::text), '{{"User-Agent": "Gatehouse"}}',
               response_status_code, delivery_error
        FROM   webhook_deliveries
        WHERE  organization_id = %(organization)s
    """,
    "siem_streams": """
        INSERT INTO siem_streams (id, organization_id, provider, endpoint, options, enabled, position, failures,
                                  last_error, due_at, created_at, updated_at)
        VALUES (gen_random_uuid(), %(organization)s, 'http', 'https://siem.seed.example/', '{{"start": "now"}}', true,
                0, 3, 'The receiver refused.', now() + interval '1 day', now(), now())
    """,
    "scim_tokens": """
        INSERT INTO scim_tokens (id, organization_id, name, prefix, token_hash, created_at, created_by)
        SELECT md5('token' || n)::uuid, %(organization)s, 'Token ' || n, substr(md5(n::text), 1, 8), {hash}, now(),
               %(owner)s
        FROM   generate_series(1, 10) AS n
    """,
    # A tenth of them are of the first organization, of which one in ten was refused.
    "scim_log_entries": """
        INSERT INTO scim_log_entries (id, organization_id, token_id, token_name, method, path, user_name, status,
                                      detail, created_at)
        SELECT {id}, CASE WHEN n %% 10 = 0 THEN %(organization)s::uuid ELSE ids[n %% cardinality(ids) + 1] END,
               md5('token1')::uuid, 'Token 1', 'PATCH', '/scim/v2/Users', 'person@seed.example',
               CASE WHEN n %% 100 = 0 THEN 409 ELSE 200 END, CASE WHEN n %% 100 = 0 THEN 'There is one.' END, at
        FROM   (SELECT n, now() - interval '29 days' * (%(calls)s - n) / %(calls)s AS at
                FROM   generate_series(1, %(calls)s) AS n) AS made,
               (SELECT array_agg(id) AS ids FROM organizations WHERE id <> %(organization)s) AS others
    """,
    "bulk_jobs": """
        INSERT INTO bulk_jobs (id, organization_id, kind, details, maker_id, session_id, state, rows, done, due_at,
                               created_at, finished_at)
        SELECT CASE n WHEN 1 THEN %(job)s::uuid WHEN 2 THEN %(platform_job)s::uuid ELSE md5('job' || n)::uuid END,
               CASE WHEN n %% 2 = 1 THEN %(organization)s::uuid END,
               CASE WHEN n %% 2 = 1 THEN 'invitations.send' ELSE 'organizations.approve' END,
               CASE WHEN n %% 2 = 1 THEN '{{"role": "member"}}'::jsonb ELSE '{{}}' END, %(owner)s, %(owner)s,
               'finished', 10000, 10000, at, at, at
        FROM   (SELECT n, now() - n * interval '1 minute' AS at FROM generate_series(1, 2000) AS n) AS made
    """,
    "bulk_job_rows": """
        INSERT INTO bulk_job_rows (job_id, number, label, seen, state)
        SELECT job_id, n, 'person-' || n || '@seed.example', '', 'done'
        FROM   unnest(ARRAY[%(job)s, %(platform_job)s]::uuid[]) AS job_id, generate_series(1, 10000) AS n
    """,
    # Sign-ins of a year, and of the last hour, which pages count themselves.
    "login_events": """
        INSERT INTO login_events (id, user_id, organization_id, service_id, provider, success, ip_address, risk_score,
                                  risk_factors, created_at, reason)
        SELECT {id}, user_id, coalesce(organization_id, user_id),
               CASE WHEN organization_id IS NOT NULL THEN service_id END,
               (ARRAY['password', 'passkey', 'magic_link', 'saml'])[n %% 4 + 1], n %% 11 <> 0,
               '198.18.0.' || n %% 250, 0, '{{}}', at, CASE WHEN n %% 11 = 0 THEN 'wrong_password' END
        FROM   (SELECT n, user_ids[n %% cardinality(user_ids) + 1] AS user_id,
                       CASE WHEN n %% 2 = 0 OR n <= %(sign_ins)s THEN %(organization)s::uuid END AS organization_id,
                       service_ids[n / 7 %% cardinality(service_ids) + 1] AS service_id,
                       CASE WHEN n <= %(sign_ins)s
                            THEN now() - interval '2 hours'
                                 - interval '365 days' * (%(sign_ins)s - n) / %(sign_ins)s
                            ELSE now() - interval '55 minutes' * (%(all_sign_ins)s - n) / %(recent_sign_ins)s END AS at
                FROM   generate_series(1, %(all_sign_ins)s) AS n,
                       (SELECT array_agg(id) AS service_ids FROM services WHERE organization_id = %(organization)s)
                           AS services,
                       (SELECT array_agg(user_id) AS user_ids
                        FROM   (SELECT user_id FROM service_users WHERE service_id = %(service)s LIMIT 20000) AS found)
                           AS users) AS made
    """,
}


def seed_console(connection: RawConnection, plan: Plan, say: Say, *, share: float = 1.0) -> None:
    """Add the rows, or a share of the many ones, to a seeded database; the connection is in autocommit mode."""
    parameters = _parameters(plan, share)
    for name, statement in _TABLES.items():
        began_at = time.monotonic()
        connection.execute(statement.format(id=_ID, sealed=_SEALED, hash=_HASH), parameters)
        _vacuum(connection, name.partition(" ")[0])
        say(f"{name} of the console: {time.monotonic() - began_at:.0f} s")


def count_sign_ins(connection: RawConnection, say: Say) -> None:
    """Count the sign-ins as the actor does, but more of them at a time."""
    ours = Connection(connection)
    total = 0
    while counted := in_transaction(
        ours, lambda now: PostgresSignInCounts(now).count_next(first_id_at(now.now - SETTLES_AFTER), COUNTED_SIGN_INS)
    ):
        total += counted
        say(f"sign_in_counts: {total:,} sign-ins counted")
    in_transaction(
        ours, lambda now: PostgresSignInCounts(now).forget_days(now.now.date() - DAYS_KEPT, COUNTED_SIGN_INS * 1_000)
    )
    for name in _COUNTS:
        _vacuum(connection, name)


def add_up_sales(connection: RawConnection, say: Say) -> None:
    """Add up what is sold as the actor does, but more of it at a time."""
    ours = Connection(connection)
    while added := in_transaction(ours, lambda now: PostgresSalesBook(now).add_up(ADDED_CHANGES)):
        say(f"subscription_days: {added:,} changes added up")
    for name in _SALES:
        _vacuum(connection, name)


def _vacuum(connection: RawConnection, name: str) -> None:
    connection.execute(sql.SQL("VACUUM (ANALYZE) {}").format(sql.Identifier(name)))


def _parameters(plan: Plan, share: float) -> dict[str, Any]:
    def part(rows: int) -> int:
        return max(1_000, round(rows * share))

    return {
        "organization": dashed(plan.organization_id(0)),
        "owner": dashed(plan.user_id(plan.member(0, 0))),
        "service": dashed(plan.service_id(0)),
        "services": SERVICES,
        "subscriptions": part(SUBSCRIPTIONS),
        "subscription": SUBSCRIPTION_ID,
        "key": KEY_ID,
        "connection": CONNECTION_ID,
        "webhook": WEBHOOK_ID,
        "failing": FAILING_WEBHOOK_ID,
        "delivery": DELIVERY_ID,
        "deliveries": part(DELIVERIES),
        "calls": part(DIRECTORY_CALLS),
        "job": JOB_ID,
        "platform_job": PLATFORM_JOB_ID,
        "sign_ins": part(SIGN_INS),
        "recent_sign_ins": part(RECENT_SIGN_INS),
        "all_sign_ins": part(SIGN_INS) + part(RECENT_SIGN_INS),
    }
