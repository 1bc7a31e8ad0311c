"""The migration of SCIM tokens that setup links have made: each keeps the roles of its link alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from psycopg.types.json import Jsonb

from adapters.postgres.schema import migrations
from tests import ids
from tests.world.builder import FREE_TIER, new_id

NAME = "roles_of_what_links_made"
BY_LINK = "Setup link"


def test_a_token_of_a_setup_link_keeps_the_roles_of_its_link_alone(empty_database_url: str) -> None:
    known = migrations.known()
    [version] = [migration.version for migration in known if migration.name == NAME]
    lines: list[str] = []
    now = ids.now()
    with migrations.connected(empty_database_url) as connection:
        migrations.migrate(connection, lambda _: None, known[: version - 1])
        organization_id, user_id = new_id(), new_id()
        connection.execute(
            """
            INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
            VALUES (%s, 'acme', 'Acme', 'active', %s, %s, %s)
            """,
            (organization_id, FREE_TIER, now, now),
        )
        connection.execute(
            "INSERT INTO users (id, email, created_at, updated_at) VALUES (%s, 'owner@example.com', %s, %s)",
            (user_id, now, now),
        )
        connection.execute(
            """
            INSERT INTO organization_roles (organization_id, slug, name, permissions, created_at, updated_at)
            VALUES (%s, 'sales', 'Sales', '{services.view,webhooks.manage}', %s, %s)
            """,
            (organization_id, now, now),
        )

        def record(action: str, details: dict[str, Any]) -> None:
            connection.execute(
                """
                INSERT INTO audit_entries (id, organization_id, action, target_type, target_id, success, details,
                                           created_at)
                VALUES (%s, %s, %s, 'organization', 'acme', true, %s, %s)
                """,
                (new_id(), organization_id, action, Jsonb(details), now),
            )

        def add(prefix: str, *roles: str, name: str = BY_LINK, by_link: bool = True, is_there: bool = False) -> None:
            link_id, token_id = str(new_id()), new_id()
            if is_there:
                connection.execute(
                    """
                    INSERT INTO setup_links (id, organization_id, parts, roles, secret_hash, created_by, created_at,
                                             expires_at)
                    VALUES (%s, %s, '{scim,groups}', %s, %s, %s, %s, %s)
                    """,
                    (link_id, organization_id, list(roles), prefix.encode(), user_id, now, now + timedelta(days=7)),
                )
            else:
                created = {"id": link_id, "parts": ["scim"], "action": "created"}
                record("organization.updated", {"setup_link": created | ({"roles": roles} if roles else {})})
            connection.execute(
                """
                INSERT INTO scim_tokens (id, organization_id, name, prefix, token_hash, created_at, created_by,
                                         maker_role)
                VALUES (%s, %s, %s, %s, '', %s, %s, 'owner')
                """,
                (token_id, organization_id, name, prefix, now, user_id),
            )
            link = {"setup_link_id": link_id} if by_link else {}
            record("scim_token.created", {"scim_token_id": str(token_id), **link})

        add("a member", name="Okta", by_link=False)
        add("a member, named so", by_link=False)
        add("admin", "admin", "sales")
        add("none")
        add("sales", "sales", "member")
        add("there", "sales", is_there=True)
        migrations.migrate(connection, lines.append, known[:version])

        rows = connection.execute(
            "SELECT prefix, maker_role, maker_permissions, link_roles FROM scim_tokens ORDER BY prefix"
        ).fetchall()
    of_sales = ["org.roles.manage", "services.view", "webhooks.manage"]
    assert rows == [
        ("a member", "owner", None, None),
        ("a member, named so", "owner", None, None),
        ("admin", "admin", None, ["admin", "sales"]),
        ("none", None, None, []),
        ("sales", "", of_sales, ["sales"]),
        ("there", "", of_sales, ["sales"]),
    ]
    [said] = [line.partition(": ")[2] for line in lines if line.startswith(f"{version:04}_{NAME}: ")]
    assert said.startswith("4 ")
