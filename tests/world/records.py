"""What a test reads from the tables: rows, events, and the entries of both audit logs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from adapters.postgres.driver.connection import Connection
from core.ids import PLATFORM

AUDIT_COLUMNS = ("organization_id", "actor_user_id", "target_id", "details")
PLATFORM_AUDIT_COLUMNS = ("actor_user_id", "target_id", "details")


@dataclass(frozen=True)
class Records:
    """Reads a test's database."""

    connection: Connection

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query, sorted where it asks for no order: the server may return those in any."""
        found = self.connection.execute(query.encode(), values).fetchall()
        return found if "ORDER BY" in query else sorted(found, key=repr)

    def value(self, query: str, *values: Any) -> Any:
        """Return the one column of the one row of a query."""
        [[value]] = self.rows(query, *values)
        return value

    def has_lock_waiter(self) -> bool:
        """Return whether a connection waits for a lock."""
        waiting = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return self.value(waiting) > 0

    def user_id(self, email: str) -> UUID:
        """Return the id of the account with an address."""
        return self.value("SELECT id FROM users WHERE email = %s", email)

    def has_user(self, email: str) -> bool:
        """Return whether an account has an address."""
        return bool(self.rows("SELECT FROM users WHERE email = %s", email))

    def role_of(self, organization_id: UUID, email: str) -> str | None:
        """Return the role of a user in an organization, or None if they are no member."""
        rows = self.rows(
            """
            SELECT role
            FROM   memberships JOIN users ON users.id = user_id
            WHERE  organization_id = %s AND email = %s
            """,
            organization_id,
            email,
        )
        return rows[0][0] if rows else None

    def events(self, event_type: str) -> list[tuple[UUID | None, str | None, dict[str, Any]]]:
        """List the events of a type, the oldest first: organization, email address of the actor, and data."""
        found = self.rows(
            "SELECT organization_id, actor_email, data FROM events WHERE type = %s ORDER BY id", event_type
        )
        return [(_organization(organization_id), email, data) for organization_id, email, data in found]

    def mfa_notifications(self) -> list[tuple[str, UUID | None]]:
        """List the events about second factors with their organizations, the oldest first."""
        found = self.rows("SELECT type, organization_id FROM events WHERE type LIKE %s ORDER BY id", "%mfa%")
        return [(event_type, _organization(organization_id)) for event_type, organization_id in found]

    def mfa_log(self, user_id: UUID) -> list[str]:
        """List the types of a user's entries in the log of second factors, the oldest first."""
        found = self.rows("SELECT event_type FROM mfa_events WHERE user_id = %s ORDER BY id", user_id)
        return [event_type for (event_type,) in found]

    def audit_entries(
        self, action: str | None = None, *columns: str, organization_id: UUID | None = None
    ) -> list[tuple[Any, ...]]:
        """List audit entries of organizations, the oldest first: all, or of one action, or of one organization."""
        return self.rows(
            f"""
            SELECT   {", ".join(columns or AUDIT_COLUMNS)}
            FROM     audit_entries
            WHERE    action = coalesce(%s, action) AND organization_id = coalesce(%s, organization_id)
            ORDER BY id
            """,
            action,
            organization_id,
        )

    def platform_audit_entries(self, action: str | None = None, *columns: str) -> list[tuple[Any, ...]]:
        """List entries of the platform's audit log, the oldest first: all, or of one action."""
        return self.rows(
            f"""
            SELECT   {", ".join(columns or PLATFORM_AUDIT_COLUMNS)}
            FROM     platform_audit_entries
            WHERE    action = coalesce(%s, action)
            ORDER BY id
            """,
            action,
        )


def _organization(organization_id: UUID) -> UUID | None:
    """Return the organization of an event; None for the platform, whose id stands for none."""
    return organization_id if organization_id != PLATFORM else None
