"""The progress of a connection, among very many people who sign in by it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.organizations.setup_links import PostgresSetupLinks
from adapters.postgres.sign_in.upstream.connections.failures import PostgresUpstreamFailures
from core.sign_in.upstream.provider_problems import ProviderProblem
from tests.plans import explained_statements, rows_read
from tests.transactions import transaction_on
from tests.world.builder import Builder

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
PEOPLE = 5_000


def add_people(connection: Connection, organization_id: UUID, *, people: int) -> None:
    """Insert people who have signed in by the connection of an organization, one each minute until now."""
    connection.execute(
        """
        INSERT INTO users (id, email, created_at, updated_at)
        SELECT gen_random_uuid(), 'user-' || n || '@example.com', %(now)s, %(now)s
        FROM   generate_series(1, %(people)s) AS n
        """,
        {"now": NOW, "people": people},
    )
    connection.execute(
        """
        INSERT INTO identities (id, user_id, provider, subject, connection_id, organization_id, email, linked_at,
                                used_at)
        SELECT gen_random_uuid(), u.id, 'upstream', u.id::text, c.id, c.organization_id, u.email, %(now)s,
               %(now)s::timestamptz - (row_number() OVER () - 1) * interval '1 minute'
        FROM   users u, upstream_connections c
        WHERE  c.organization_id = %(organization_id)s
        """,
        {"now": NOW, "organization_id": organization_id},
    )
    connection.execute("VACUUM ANALYZE identities")


@pytest.mark.one_server
def test_the_last_sign_in_is_found_without_reading_all_people(connection: Connection, builder: Builder) -> None:
    organization_id = builder.organization()
    builder.mail_domain(organization_id, "acme.example")
    add_people(connection, organization_id, people=PEOPLE)
    transaction = transaction_on(connection, now=NOW + timedelta(hours=1))

    with explained_statements(connection) as plans:
        [of_connection] = PostgresUpstreamFailures(transaction).progress(organization_id)
        of_parts = PostgresSetupLinks(transaction).progress(organization_id, None)

    assert of_connection.last_sign_in_at == NOW
    assert {one.part: one.used_at for one in of_parts}["upstream"] == NOW
    assert [rows_read(plan, "identities") for plan in plans] == [1, 1]


@pytest.mark.parametrize("problem", list(ProviderProblem))
@pytest.mark.parametrize("has_signed_in", [False, True])
def test_after_a_sign_in_the_matters_of_one_person_are_no_failing_connection(
    connection: Connection, builder: Builder, problem: ProviderProblem, *, has_signed_in: bool
) -> None:
    organization_id = builder.organization()
    builder.mail_domain(organization_id, "acme.example")
    if has_signed_in:
        add_people(connection, organization_id, people=1)
    at = NOW + timedelta(minutes=1)
    transaction = transaction_on(connection, now=at)
    connection_id = builder.value("SELECT id FROM upstream_connections")
    upstream_failures = PostgresUpstreamFailures(transaction)
    upstream_failures.add(organization_id, connection_id, problem, at=at, request_id="1", series=timedelta(days=1))

    [of_connection] = upstream_failures.progress(organization_id)
    of_parts = PostgresSetupLinks(transaction).progress(organization_id, None)

    expected = None if has_signed_in and problem.is_of_one_sign_in else at
    assert of_connection.failing_since == expected
    assert {one.part: one.failing_since for one in of_parts}["upstream"] == expected


def test_a_problem_that_a_later_version_has_recorded_is_another_one(connection: Connection, builder: Builder) -> None:
    organization_id = builder.organization()
    builder.mail_domain(organization_id, "acme.example")
    transaction = transaction_on(connection, now=NOW)
    connection_id = builder.value("SELECT id FROM upstream_connections")
    upstream_failures = PostgresUpstreamFailures(transaction)
    upstream_failures.add(
        organization_id, connection_id, ProviderProblem.BUSY, at=NOW, request_id="1", series=timedelta(days=1)
    )
    connection.execute("UPDATE upstream_failures SET problem = 'of_a_later_version'")
    connection.execute("UPDATE upstream_connections SET checked_at = %s, check_problem = 'of_a_later_version'", (NOW,))

    [failure] = upstream_failures.of_connection(organization_id, connection_id, limit=10)
    [of_connection] = upstream_failures.progress(organization_id)

    assert (failure.problem, of_connection.problem) == (ProviderProblem.OTHER, ProviderProblem.OTHER)
