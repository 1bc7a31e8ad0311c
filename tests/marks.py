"""The marks of organizations whose events were inserted by SQL."""

from __future__ import annotations

from uuid import UUID

from adapters.postgres.driver.connection import Connection


def mark_due(connection: Connection, organization_id: UUID) -> None:
    """Mark an organization as every transaction does that writes events of it."""
    connection.execute("SELECT mark_due(%s)", (organization_id,))
