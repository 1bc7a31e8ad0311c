"""The unit of work over one connection: the aggregates, made when first asked for, and what every change can leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from adapters.postgres.figures import PostgresFigures
from adapters.postgres.mail import PostgresMailOutbox
from adapters.postgres.signing_keys import PostgresSigningKeys
from adapters.postgres.users import PostgresCredentials, PostgresUsers
from ports.doorbells import Bell

if TYPE_CHECKING:
    # To a type checker a cached property is no property, and a property is what the protocol asks for.
    cached_property = property
else:
    from functools import cached_property

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from adapters.crypto.vault import Vault
    from adapters.postgres.pool import Connection
    from core.audit import AuditAction
    from core.callers import Origin
    from core.events import EventType
    from ports.clock import Clock, Randomness


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What every unit of work is given besides its connection."""

    clock: Clock
    randomness: Randomness
    vault: Vault


class PostgresUnitOfWork:
    """The port `UnitOfWork`; lives as long as its transaction."""

    def __init__(self, connection: Connection, origin: Origin, tools: Tools) -> None:
        self.origin = origin
        self.randomness = tools.randomness
        self.bells: set[Bell] = set()
        self._connection = connection
        self._tools = tools

    @cached_property
    def now(self) -> datetime:
        """The moment of this transaction, in UTC."""
        return self._tools.clock()

    @cached_property
    def users(self) -> PostgresUsers:
        """Accounts, without anything secret about them."""
        return PostgresUsers(self._connection)

    @cached_property
    def credentials(self) -> PostgresCredentials:
        """What accounts sign in with."""
        return PostgresCredentials(self._connection)

    @cached_property
    def mail(self) -> PostgresMailOutbox:
        """Mail that leaves when this transaction commits."""
        return PostgresMailOutbox(self._connection, self._tools.vault, wake=lambda: self.bells.add(Bell.MAIL))

    @cached_property
    def signing_keys(self) -> PostgresSigningKeys:
        """The key pairs that sign tokens."""
        return PostgresSigningKeys(self._connection, self._tools.vault)

    @cached_property
    def figures(self) -> PostgresFigures:
        """Counts for the gauges."""
        return PostgresFigures(self._connection)

    def audit(
        self,
        action: AuditAction,
        target_id: UUID | str,
        /,
        *,
        organization_id: UUID,
        actor_user_id: UUID | None = None,
        success: bool = True,
        **details: Any,
    ) -> None:
        """Write a line of the organization's audit log in this transaction."""
        self._connection.execute(
            """
            INSERT INTO audit_entries (id, organization_id, actor_user_id, action, target_type, target_id,
                                       ip_address, user_agent, success, details, created_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                self.randomness.new_id(),
                organization_id,
                actor_user_id,
                action.value,
                action.target_type.value,
                str(target_id),
                self.origin.ip_address,
                self.origin.user_agent,
                success,
                Jsonb(details),
                self.now,
            ),
        )

    def publish(
        self,
        event: EventType,
        /,
        *,
        organization_id: UUID | None = None,
        actor_user_id: UUID | None = None,
        actor_email: str | None = None,
        **data: Any,
    ) -> None:
        """Say that something happened; receivers learn of it after the commit, at least once."""
        self._connection.execute(
            """
            INSERT INTO events (id, type, organization_id, actor_user_id, actor_email, data, occurred_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s)
            """,
            (
                self.randomness.new_id(),
                event.value,
                organization_id,
                actor_user_id,
                actor_email,
                Jsonb(data),
                self.now,
            ),
        )
        self.bells.add(Bell.EVENTS)
