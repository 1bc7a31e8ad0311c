"""The migration of names that SCIM made of addresses, and of services, whose tokens keep their groups."""

from __future__ import annotations

from adapters.postgres.schema import migrations
from tests import ids
from tests.world.builder import FREE_TIER, new_id

NAME = "groups_and_names_that_were_told"


def test_what_was_made_of_a_domain_is_known_and_services_stay_as_they_are(empty_database_url: str) -> None:
    known = migrations.known()
    [version] = [migration.version for migration in known if migration.name == NAME]
    now = ids.now()
    with migrations.connected(empty_database_url) as connection:
        migrations.migrate(connection, lambda _: None, known[: version - 1])
        organization_id = new_id()
        connection.execute(
            """
            INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
            VALUES (%s, 'acme', 'Acme', 'active', %s, %s, %s)
            """,
            (organization_id, FREE_TIER, now, now),
        )
        connection.execute(
            """
            INSERT INTO services (id, organization_id, slug, name, service_type, client_id, created_at, updated_at)
            VALUES (%s, %s, 'shop', 'Shop', 'web', %s, %s, %s)
            """,
            (new_id(), organization_id, new_id(), now, now),
        )

        def add(email: str, given: str | None, family: str | None, formatted: str | None = None) -> None:
            user_id = new_id()
            connection.execute(
                "INSERT INTO users (id, email, created_at, updated_at) VALUES (%s, %s, %s, %s)",
                (user_id, email, now, now),
            )
            connection.execute(
                """
                INSERT INTO memberships (id, organization_id, user_id, role, created_at)
                VALUES (%s, %s, %s, 'member', %s)
                """,
                (new_id(), organization_id, user_id, now),
            )
            connection.execute(
                """
                INSERT INTO scim_profiles (organization_id, user_id, user_name, given_name, family_name, formatted_name,
                                           updated_at)
                VALUES (%s, %s, %s, %s, %s, %s, %s)
                """,
                (organization_id, user_id, email, given, family, formatted, now),
            )

        add("dan2@example.com", "Dan2", "Example")
        add("eva+x@example.com", "Eva", "Example")
        # Two words may come from a directory as well.
        add("ada.lovelace@example.com", "Ada", "Lovelace")
        add("ann@example.com", "Ann", "Other")
        add("bob@example.com", "Bob", "Example", "Bob E.")
        add("cleo@example.com", None, None)

        migrations.migrate(connection, lambda _: None, known[:version])

        made = connection.execute(
            "SELECT user_name, made_given_name, made_family_name FROM scim_profiles WHERE made_family_name IS NOT NULL"
        ).fetchall()
        forms = connection.execute("SELECT groups_as FROM services").fetchall()
    assert sorted(made) == [("dan2@example.com", "Dan2", "Example"), ("eva+x@example.com", "Eva", "Example")]
    assert forms == [("objects",)]
