"""Explaining a sign-in reads rows by indexes: no large table whole, and no more attempts than are shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from core.platform import why_answers, why_asked
from core.platform.sign_in_questions import SignInQuestion
from core.platform.why import ATTEMPTS_MAX, SignInExplanation
from ports.unit_of_work import UnitOfWork
from tests.plans import explained_statements, rows_read, tables_read_whole
from tests.world.builder import Builder

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
MANY = 4_000
EMAIL = "user-1@acme.example"
LARGE = {
    "domain_routes",
    "identities",
    "login_events",
    "memberships",
    "organizations",
    "service_users",
    "services",
    "sign_in_failures",
    "upstream_connections",
    "upstream_failures",
    "users",
}


def add_many(connection: Connection, organization_id: UUID) -> None:
    """Insert many organizations with a service and a connection each, and many users of them."""
    values = {"many": MANY, "now": NOW, "organization_id": organization_id}
    for statement in (
        """
        INSERT INTO users (id, email, email_verified_at, created_at, updated_at)
        SELECT gen_random_uuid(), 'user-' || n || '@acme.example', %(now)s, %(now)s, %(now)s
        FROM   generate_series(1, %(many)s) AS n
        """,
        """
        INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
        SELECT gen_random_uuid(), 'org-' || n, 'Organization', 'active', t.id, %(now)s, %(now)s
        FROM   generate_series(1, %(many)s) AS n, (SELECT id FROM tiers LIMIT 1) AS t
        """,
        """
        INSERT INTO services (id, organization_id, slug, name, service_type, client_id, redirect_uris, created_at,
                              updated_at)
        SELECT gen_random_uuid(), id, 'shop', 'Shop', 'web', gen_random_uuid(), '{}', %(now)s, %(now)s
        FROM   organizations
        """,
        """
        INSERT INTO upstream_connections (id, organization_id, type, name, scopes, attribute_mapping, trust_mfa,
                                          enabled, created_at, updated_at)
        SELECT gen_random_uuid(), id, 'saml', 'Directory', '{}', '{}', false, false, %(now)s, %(now)s
        FROM   organizations
        """,
        """
        INSERT INTO domain_routes (id, organization_id, domain, connection_id, enforced, value, status, verified_at,
                                   proved_at)
        SELECT gen_random_uuid(), c.organization_id, o.slug || '.example', c.id, true, 'value', 'verified', %(now)s,
               %(now)s
        FROM   upstream_connections c JOIN organizations o ON o.id = c.organization_id
        """,
        """
        INSERT INTO upstream_failures (organization_id, connection_id, problem, first_at, last_at, occurrences,
                                       last_request_id)
        SELECT organization_id, id, 'declined', %(now)s, %(now)s, 1, 'request' FROM upstream_connections
        """,
        """
        INSERT INTO memberships (id, organization_id, user_id, role, created_at, confirmed_at)
        SELECT gen_random_uuid(), %(organization_id)s, id, 'member', %(now)s, %(now)s FROM users
        """,
        """
        INSERT INTO service_users (service_id, organization_id, user_id, first_login_at, last_login_at, origin)
        SELECT s.id, s.organization_id, u.id, %(now)s, %(now)s, 'self'
        FROM   users u, services s
        WHERE  s.organization_id = %(organization_id)s
        """,
        """
        INSERT INTO identities (id, user_id, provider, subject, organization_id, connection_id, linked_at, used_at)
        SELECT gen_random_uuid(), u.id, 'upstream', u.email, c.organization_id, c.id, %(now)s, %(now)s
        FROM   users u, upstream_connections c
        WHERE  c.organization_id = %(organization_id)s
        """,
        """
        INSERT INTO sign_in_failures (id, email_hash, network, created_at, has_failed)
        SELECT gen_random_uuid(), sha256(email::bytea), '192.0.2.0/24', %(now)s, true FROM users
        """,
        """
        INSERT INTO login_events (id, user_id, organization_id, provider, success, reason, risk_score, risk_factors,
                                  created_at)
        SELECT overlay(gen_random_uuid()::text placing left(first_id_at(at)::text, 13) from 1)::uuid, u.id,
               %(organization_id)s, 'password', false, 'wrong_password', 0, '{}', at
        FROM   users u, generate_series(1, 20) AS n
        CROSS  JOIN LATERAL (SELECT %(now)s::timestamptz + n * interval '1 second') AS moments (at)
        """,
    ):
        connection.execute(statement, values)
    connection.execute("VACUUM ANALYZE")


@pytest.mark.one_server
@pytest.mark.long
@pytest.mark.parametrize("is_platform", [False, True])
def test_no_large_table_is_read_whole(
    connection: Connection, builder: Builder, transact: Callable[..., Any], *, is_platform: bool
) -> None:
    organization_id = builder.organization("acme")
    add_many(connection, organization_id)
    question = SignInQuestion(email=EMAIL, service_slug="shop")

    def ask(uow: UnitOfWork) -> SignInExplanation:
        if is_platform:
            return why_answers.to_platform(uow, "acme", why_asked.named(uow, question), question, are_limits_on=True)
        organization = uow.organizations.by_slug("acme")
        assert organization is not None
        return why_answers.to_organization(uow, organization, question, are_limits_on=True)

    with explained_statements(connection) as plans:
        told = transact(ask)

    assert told.account.email == EMAIL
    assert len(told.attempts) == ATTEMPTS_MAX
    assert len(told.walks) == 4
    read_whole = {table for plan in plans for table in tables_read_whole(plan)}
    assert not read_whole & LARGE
    assert sum(rows_read(plan, "login_events") for plan in plans) <= 3 * ATTEMPTS_MAX


@pytest.mark.one_server
def test_an_address_elsewhere_takes_the_statements_of_an_unknown_one(
    connection: Connection, builder: Builder, transact: Callable[..., Any]
) -> None:
    builder.organization("acme")
    other = builder.organization("bolt")
    builder.member(other, builder.user("member@bolt.example"))
    builder.user("unproved@bolt.example", is_verified=False)

    def statements(email: str) -> int:
        question = SignInQuestion(email=email, service_slug="shop")

        def ask(uow: UnitOfWork) -> SignInExplanation:
            organization = uow.organizations.by_slug("acme")
            assert organization is not None
            return why_answers.to_organization(uow, organization, question, are_limits_on=True)

        with explained_statements(connection) as plans:
            transact(ask)
        return len(plans)

    found = {statements(f"{name}@bolt.example") for name in ("member", "unproved", "unknown")}

    assert len(found) == 1
