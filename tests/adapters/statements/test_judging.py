"""The judgement of single statements: each fault beside the statement without it."""

from __future__ import annotations

from typing import Final

import pytest

from tests.adapters.statements.judging import NotUnderstoodError, unbound_tables
from tests.adapters.statements.tenants import Schema, schema

# What a statement is like, the statement with a fault, the tables that are unbound in it, and the right statement.
FAULTS: Final = {
    "select by id": (
        "SELECT email FROM invitations WHERE id = %s",
        {"invitations"},
        "SELECT email FROM invitations WHERE organization_id = %s AND id = %s",
    ),
    "update": (
        "UPDATE invitations SET status = 'cancelled' WHERE invited_by = %s AND status = 'pending'",
        {"invitations"},
        "UPDATE invitations SET status = 'cancelled' WHERE invited_by = %s AND organization_id = %s",
    ),
    "delete": (
        "DELETE FROM webhooks WHERE id = %s",
        {"webhooks"},
        "DELETE FROM webhooks WHERE (organization_id, id) = (%s, %s)",
    ),
    "update from": (
        "UPDATE plans p SET name = %s FROM services s WHERE s.id = p.service_id",
        {"plans", "services"},
        "UPDATE plans p SET name = %s FROM services s WHERE s.id = p.service_id AND s.organization_id = %s",
    ),
    "delete using": (
        "DELETE FROM api_keys k USING services s WHERE s.organization_id = %s AND s.slug = k.name",
        {"api_keys"},
        "DELETE FROM api_keys k USING services s WHERE s.organization_id = %s AND s.id = k.service_id",
    ),
    "exists": (
        "SELECT EXISTS (SELECT FROM subscriptions WHERE plan_id = %s)",
        {"subscriptions"},
        "SELECT EXISTS (SELECT FROM subscriptions WHERE organization_id = %s AND plan_id = %s)",
    ),
    "not exists says nothing about the rows around it": (
        "SELECT FROM services s WHERE NOT EXISTS (SELECT FROM plans WHERE organization_id = %s AND service_id = s.id)",
        {"services"},
        "SELECT FROM services s WHERE EXISTS (SELECT FROM plans WHERE organization_id = %s AND service_id = s.id)",
    ),
    "join on a person": (
        "SELECT m.role FROM memberships o JOIN memberships m ON m.user_id = o.user_id WHERE o.organization_id = %s",
        {"memberships"},
        """SELECT m.role FROM memberships o JOIN memberships m ON m.organization_id = o.organization_id
           WHERE o.organization_id = %s""",
    ),
    "two tables bound to each other alone": (
        "SELECT FROM services s JOIN plans p ON p.organization_id = s.organization_id",
        {"plans", "services"},
        "SELECT FROM services s JOIN plans p USING (organization_id) WHERE s.organization_id = %s",
    ),
    "optional side": (
        "SELECT FROM services s LEFT JOIN plans p ON p.service_id = s.id AND s.organization_id = %s",
        {"services", "plans"},
        "SELECT FROM services s LEFT JOIN plans p ON p.service_id = s.id WHERE s.organization_id = %s",
    ),
    "absence of the optional side": (
        "SELECT FROM users u LEFT JOIN memberships m ON m.user_id = u.id WHERE m.organization_id IS NULL",
        {"memberships"},
        "SELECT FROM users u LEFT JOIN memberships m ON m.user_id = u.id AND m.organization_id = %s",
    ),
    "count": (
        "SELECT count(*) FROM login_events WHERE user_id = %s",
        {"login_events"},
        "SELECT count(*) FROM login_events WHERE organization_id = ANY (%s) AND user_id = %s",
    ),
    "cte": (
        "WITH page AS (SELECT id FROM mails WHERE state = %s) SELECT FROM page JOIN mails m ON m.id = page.id",
        {"mails"},
        """WITH page AS (SELECT id FROM mails WHERE organization_id = %s)
           SELECT FROM page JOIN mails m ON m.id = page.id""",
    ),
    "a cte that one of two readers filters": (
        """WITH all_plans AS (SELECT organization_id, name FROM plans)
           SELECT FROM all_plans a, all_plans b WHERE a.organization_id = %s""",
        {"plans"},
        """WITH all_plans AS (SELECT organization_id, name FROM plans)
           SELECT FROM all_plans a, all_plans b WHERE a.organization_id = %s AND b.organization_id = %s""",
    ),
    "a cte that writes": (
        """WITH gone AS (DELETE FROM plans WHERE id = %s RETURNING organization_id)
           SELECT FROM gone WHERE organization_id = %s""",
        {"plans"},
        "WITH gone AS (DELETE FROM plans WHERE organization_id = %s RETURNING id) SELECT FROM gone",
    ),
    "recursive cte": (
        """WITH RECURSIVE chain AS (SELECT id, organization_id FROM plans WHERE id = %s
           UNION ALL SELECT p.id, p.organization_id FROM plans p JOIN chain c ON c.id = p.id) SELECT FROM chain""",
        {"plans"},
        """WITH RECURSIVE chain AS (SELECT id, organization_id FROM plans WHERE organization_id = %s
           UNION ALL SELECT p.id, p.organization_id FROM plans p JOIN chain c ON c.id = p.id) SELECT FROM chain""",
    ),
    "insert of another tenant's rows": (
        "INSERT INTO plans (organization_id, name) SELECT %s, name FROM plans WHERE id = %s",
        {"plans"},
        "INSERT INTO plans (organization_id, name) SELECT organization_id, name FROM plans WHERE organization_id = %s",
    ),
    "insert without an organization": (
        "INSERT INTO identities (id, user_id) VALUES (%s, %s)",
        {"identities"},
        "INSERT INTO identities (id, user_id, organization_id) VALUES (%s, %s, %s)",
    ),
    "conflict with another tenant's row": (
        """INSERT INTO services (id, organization_id) VALUES (%s, %s)
           ON CONFLICT (id) DO UPDATE SET name = excluded.name""",
        {"services"},
        """INSERT INTO services (id, organization_id) VALUES (%s, %s)
           ON CONFLICT (organization_id, slug) DO UPDATE SET name = excluded.name""",
    ),
    "lateral": (
        """SELECT FROM services s CROSS JOIN LATERAL (SELECT FROM plans WHERE name = s.name LIMIT 1) AS p
           WHERE s.organization_id = %s""",
        {"plans"},
        """SELECT FROM services s CROSS JOIN LATERAL (SELECT FROM plans WHERE service_id = s.id LIMIT 1) AS p
           WHERE s.organization_id = %s""",
    ),
    "or": (
        "SELECT FROM webhooks WHERE organization_id = %s OR is_active",
        {"webhooks"},
        "SELECT FROM webhooks WHERE organization_id = %s OR (organization_id = %s AND is_active)",
    ),
    "union": (
        "SELECT id FROM plans WHERE organization_id = %s UNION SELECT id FROM services",
        {"services"},
        """SELECT FROM (SELECT id, organization_id FROM plans UNION SELECT id, organization_id FROM services) AS both
           WHERE organization_id = %s""",
    ),
    "in": (
        "SELECT FROM plans WHERE service_id IN (SELECT id FROM services)",
        {"plans", "services"},
        "SELECT FROM plans WHERE service_id IN (SELECT id FROM services WHERE organization_id = %s)",
    ),
    "coalesce": (
        "SELECT FROM plans WHERE coalesce(organization_id, %s) = %s",
        {"plans"},
        "SELECT FROM billing_customers WHERE coalesce(organization_id, seller_organization_id) = %s",
    ),
    "window": (
        """SELECT FROM (SELECT organization_id, count(*) OVER () AS total FROM plans) AS counted
           WHERE organization_id = %s""",
        {"plans"},
        "SELECT count(*) OVER () AS total FROM plans WHERE organization_id = %s",
    ),
    "limit": (
        """WITH page AS (SELECT id FROM plans ORDER BY id LIMIT %s)
           SELECT FROM page JOIN plans p ON p.id = page.id AND p.organization_id = %s""",
        {"plans"},
        """WITH page AS (SELECT id FROM plans WHERE organization_id = %s ORDER BY id LIMIT %s)
           SELECT FROM page JOIN plans p ON p.id = page.id AND p.organization_id = %s""",
    ),
    "a scalar of the select list": (
        "SELECT (SELECT count(*) FROM plans WHERE service_id = %s) FROM services WHERE organization_id = %s",
        {"plans"},
        "SELECT (SELECT count(*) FROM plans WHERE service_id = s.id) FROM services s WHERE organization_id = %s",
    ),
    "unnested parameters": (
        "SELECT FROM unnest(%s::uuid[]) AS given (id) JOIN plans p ON p.id = given.id",
        {"plans"},
        """SELECT FROM unnest(%s::uuid[], %s::uuid[]) AS given (organization_id, id)
           JOIN plans p ON p.organization_id = given.organization_id AND p.id = given.id""",
    ),
    "view": (
        "SELECT relation FROM relations WHERE user_id = %s",
        {"memberships", "service_grants"},
        "SELECT relation FROM relations WHERE organization_id = %s AND user_id = %s",
    ),
    "partition": (
        "SELECT FROM audit_entries_2026_01 WHERE id = %s",
        {"audit_entries"},
        "SELECT FROM audit_entries_2026_01 WHERE organization_id = %s",
    ),
    "secret": (
        "SELECT FROM invitations WHERE email = %s",
        {"invitations"},
        "SELECT FROM invitations WHERE token_hash = %s",
    ),
    "session": (
        "SELECT FROM sessions s JOIN organizations o ON o.id = s.organization_id WHERE s.user_id = %s",
        {"organizations"},
        "SELECT FROM sessions s JOIN organizations o ON o.id = s.organization_id WHERE s.id = %s",
    ),
}


@pytest.fixture(scope="module")
def tables() -> Schema:
    return schema()


def test_a_statement_without_its_organization_is_found_and_one_with_it_is_not(
    tables: Schema, subtests: pytest.Subtests
) -> None:
    for name, (fault, unbound, right) in FAULTS.items():
        with subtests.test(statement=name):
            assert unbound_tables(fault, tables) == unbound
            assert unbound_tables(right, tables) == frozenset()


def test_a_statement_that_is_bound_if_a_parameter_is_given_is_told_from_one_that_is_not(tables: Schema) -> None:
    optional = "SELECT FROM mails WHERE %(only)s::uuid IS NULL OR organization_id = %(only)s"

    assert unbound_tables(optional, tables) == {"mails"}
    assert unbound_tables(optional, tables, if_given=True) == frozenset()
    assert unbound_tables("SELECT FROM mails WHERE %s IS NULL OR id = %s", tables, if_given=True) == {"mails"}


def test_what_is_compared_with_an_excepted_table_counts_as_bound(tables: Schema) -> None:
    due = "SELECT FROM mails m JOIN mail_servers s ON s.organization_id = m.organization_id JOIN webhooks w ON true"

    assert unbound_tables(due, tables, excepted={"mails"}) == {"webhooks"}


def test_an_unknown_statement_or_table_is_refused(tables: Schema) -> None:
    for text in ("TRUNCATE plans", "SELECT FROM planz WHERE organization_id = %s"):
        with pytest.raises(NotUnderstoodError):
            unbound_tables(text, tables)
