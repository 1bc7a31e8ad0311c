"""The migration to confirmed identities: people who have left are unlinked, and all others sign in as before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema import migrations
from adapters.postgres.sign_in.upstream.connections.connections import with_changed_issuer
from tests.world.builder import FREE_TIER, new_id

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)


class Before:
    """A database of the version before: Acme with connections, and people who sign in by one."""

    def __init__(self, connection: RawConnection) -> None:
        self.connection = connection
        self.organization_id = new_id()
        connection.execute(
            """
            INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
            VALUES (%s, 'acme', 'Acme', 'active', %s, %s, %s)
            """,
            (self.organization_id, FREE_TIER, NOW, NOW),
        )
        self.connection_id = self.connect("https://idp.acme.example")

    def connect(self, issuer: str) -> UUID:
        """Insert a connection."""
        connection_id = new_id()
        self.connection.execute(
            """
            INSERT INTO upstream_connections (id, organization_id, type, name, issuer, client_id, client_secret_sealed,
                                              scopes, attribute_mapping, trust_mfa, enabled, created_at, updated_at)
            VALUES (%s, %s, 'oidc', 'Acme', %s, 'x', 'x', '{}', '{}', false, true, %s, %s)
            """,
            (connection_id, self.organization_id, issuer, NOW, NOW),
        )
        return connection_id

    def route(self, domain: str, failing_since: datetime | None) -> None:
        """Insert a verified domain."""
        self.connection.execute(
            """
            INSERT INTO domain_routes (id, organization_id, domain, connection_id, enforced, value, status, verified_at,
                                       failing_since)
            VALUES (%s, %s, %s, %s, false, 'x', %s, %s, %s)
            """,
            (
                new_id(),
                self.organization_id,
                domain,
                self.connection_id,
                "failing" if failing_since else "verified",
                NOW,
                failing_since,
            ),
        )

    def person(self, email: str) -> UUID:
        """Insert a user with an identity of the connection and a session by it."""
        user_id = new_id()
        self.connection.execute(
            "INSERT INTO users (id, email, created_at, updated_at) VALUES (%s, %s, %s, %s)", (user_id, email, NOW, NOW)
        )
        self.connection.execute(
            """
            INSERT INTO identities (id, user_id, provider, subject, connection_id, organization_id, linked_at, used_at)
            VALUES (%s, %s, 'upstream', %s, %s, %s, %s, %s)
            """,
            (new_id(), user_id, email, self.connection_id, self.organization_id, NOW, NOW),
        )
        self.connection.execute(
            """
            INSERT INTO sessions (id, user_id, provider, amr, authenticated_at, refresh_hash, refreshed_at, expires_at,
                                  confined_to, connection_id, created_at)
            VALUES (%s, %s, 'upstream', '{fed}', %s, 'x', %s, %s, %s, %s, %s)
            """,
            (new_id(), user_id, NOW, NOW, NOW, self.organization_id, self.connection_id, NOW),
        )
        return user_id

    def record(self, connection_id: UUID, change: str, issuer: str) -> None:
        """Insert an audit entry about a connection."""
        self.connection.execute(
            """
            INSERT INTO audit_entries (id, organization_id, action, target_type, target_id, success, details,
                                       created_at)
            VALUES (%s, %s, 'organization.updated', 'organization', %s, true,
                    jsonb_build_object('change', %s::text, 'provider_id', %s::text, 'issuer', %s::text), %s)
            """,
            (new_id(), self.organization_id, str(self.organization_id), change, str(connection_id), issuer, NOW),
        )

    def rows(self, sql: str, *parameters: Any) -> list[Any]:
        """Return the first column."""
        return [row[0] for row in self.connection.execute(sql.encode(), parameters).fetchall()]


def test_people_who_have_left_are_unlinked_and_others_count_as_confirmed(empty_database_url: str) -> None:
    known = migrations.known()
    [version] = [migration.version for migration in known if migration.name == "connections"]
    reported: list[str] = []
    with migrations.connected(empty_database_url) as connection:
        migrations.migrate(connection, lambda _: None, known[: version - 1])
        acme = Before(connection)
        acme.route("acme.example", None)
        acme.route("lapsed.example", datetime.now(UTC) - timedelta(days=8))
        employee, member = acme.person("ada@acme.example"), acme.person("bob@private.example")
        connection.execute(
            """
            INSERT INTO memberships (id, organization_id, user_id, role, created_at, suspended_at)
            VALUES (%s, %s, %s, 'member', %s, %s)
            """,
            (new_id(), acme.organization_id, member, NOW, NOW),
        )
        for email in ("carl@private.example", "dan@lapsed.example", "erin@sub.acme.example"):
            acme.person(email)
        changed = acme.connect("https://idp.new.example")
        acme.record(changed, "upstream_provider.created", "https://idp.old.example")
        acme.record(changed, "upstream_provider.changed", "https://idp.new.example")
        acme.record(acme.connection_id, "upstream_provider.created", "https://idp.acme.example")
        acme.record(acme.connection_id, "upstream_provider.changed", "https://idp.acme.example")

        migrations.migrate(connection, reported.append)

        assert set(acme.rows("SELECT user_id FROM identities WHERE confirmed_at IS NOT NULL")) == {employee, member}
        assert acme.rows("SELECT count(*) FROM identities") == [2]
        assert set(acme.rows("SELECT user_id FROM sessions WHERE revoked_at IS NULL")) == {employee, member}
        assert with_changed_issuer(connection) == [changed]
        later = acme.person("frank@acme.example")
        assert acme.rows("SELECT confirmed_at IS NULL FROM identities WHERE user_id = %s", later) == [True]
    assert any(line.endswith("identities of people who have left their organization, unlinked: 3") for line in reported)
    assert any(line.endswith("for gatehouse doctor to list: 1") for line in reported)
