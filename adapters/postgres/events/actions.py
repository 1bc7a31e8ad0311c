"""Audit entries, written to the tables `audit_entries` and `platform_audit_entries`.

Each has what says that the caller was impersonated, whatever wrote it (`Transaction.impersonation`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.driver.connection import Connection
from adapters.postgres.transaction import Aggregate
from core.events.actions import AlikeTargets, AuditAction, PlatformAction
from core.lazy_dataclasses import dataclass


class PostgresAuditEntries(Aggregate):
    """The port `AuditEntries`."""

    def add(
        self,
        action: AuditAction,
        target_id: UUID | str,
        /,
        *,
        organization_id: UUID,
        actor_user_id: UUID | None,
        success: bool,
        details: Mapping[str, Any],
        has_origin: bool = True,
    ) -> None:
        self._transaction.mark_due([organization_id])
        origin = self._transaction.origin
        self._connection.execute_later(
            """
            INSERT INTO audit_entries (id, organization_id, actor_user_id, action, target_type, target_id,
                                       ip_address, user_agent, request_id, success, details, created_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                self._transaction.randomness.new_id(),
                organization_id,
                actor_user_id,
                action.value,
                action.target_type.value,
                str(target_id),
                *((origin.ip_address, origin.user_agent, origin.request_id) if has_origin else (None, None, None)),
                success,
                Jsonb({**details, **self._transaction.impersonation}),
                self._transaction.now,
            ),
        )

    def add_alike(self, action: AuditAction, alike: Sequence[AlikeTargets], /) -> None:
        origin, impersonated = self._transaction.origin, self._transaction.impersonation
        named = [AlikeTargets(targets=one.targets, details={**one.details, **impersonated}) for one in alike]
        for part in parts_of(self._connection, named):
            self._transaction.mark_due(part.organization_ids)
            self._connection.execute_later(
                """
                INSERT INTO audit_entries (id, organization_id, action, target_type, target_id, ip_address, user_agent,
                                           request_id, success, details, created_at)
                SELECT entry.id, entry.organization_id, %s, %s, entry.target_id::text, %s, %s, %s, true, kind.details,
                       %s
                FROM   unnest(%s::uuid[], %s::uuid[], %s::uuid[], %s::integer[])
                       AS entry (id, organization_id, target_id, kind)
                JOIN   unnest(%s::jsonb[]) WITH ORDINALITY AS kind (details, number) ON kind.number = entry.kind
                """,
                (
                    action.value,
                    action.target_type.value,
                    origin.ip_address,
                    origin.user_agent,
                    origin.request_id,
                    self._transaction.now,
                    [self._transaction.randomness.new_id() for _ in part.organization_ids],
                    part.organization_ids,
                    part.target_ids,
                    part.kinds,
                    part.details,
                ),
            )

    def add_each_without_origin(
        self, action: AuditAction, entries: Sequence[tuple[UUID, UUID, Mapping[str, Any]]], /
    ) -> None:
        self._transaction.mark_due(organization_id for organization_id, _, _ in entries)
        impersonated = self._transaction.impersonation
        self._connection.execute_later(
            """
            INSERT INTO audit_entries (id, organization_id, action, target_type, target_id, success, details,
                                       created_at)
            SELECT entry.id, entry.organization_id, %s, %s, entry.target_id::text, true, entry.details, %s
            FROM   unnest(%s::uuid[], %s::uuid[], %s::uuid[], %s::jsonb[])
                   AS entry (id, organization_id, target_id, details)
            """,
            (
                action.value,
                action.target_type.value,
                self._transaction.now,
                [self._transaction.randomness.new_id() for _ in entries],
                [organization_id for organization_id, _, _ in entries],
                [target_id for _, target_id, _ in entries],
                [Jsonb({**details, **impersonated}) for _, _, details in entries],
            ),
        )


class PostgresPlatformAuditEntries(Aggregate):
    """The port `PlatformAuditEntries`."""

    def add(
        self,
        action: PlatformAction,
        target_id: UUID | str,
        /,
        *,
        actor_user_id: UUID | None,
        organization_id: UUID | None,
        details: Mapping[str, Any],
    ) -> UUID:
        entry_id = self._transaction.randomness.new_id()
        self._connection.execute_later(
            """
            INSERT INTO platform_audit_entries (id, actor_user_id, action, target_type, target_id, organization_id,
                                                ip_address, user_agent, request_id, success, details, created_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, true, %s, %s)
            """,
            (
                entry_id,
                actor_user_id,
                action.value,
                action.target_type.value,
                str(target_id),
                organization_id,
                self._transaction.origin.ip_address,
                self._transaction.origin.user_agent,
                self._transaction.origin.request_id,
                Jsonb({**details, **self._transaction.impersonation}),
                self._transaction.now,
            ),
        )
        return entry_id


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOfAlike:
    """Targets of one action with details that many share, as the columns of a statement.

    For each target there is the number of its details, which counts from 1.
    """

    organization_ids: list[UUID]
    target_ids: list[UUID]
    kinds: list[int]
    details: list[Jsonb]


def parts_of(connection: Connection, alike: Sequence[AlikeTargets]) -> Iterator[PartOfAlike]:
    """Yield the targets in parts, as `Connection.in_parts` does."""
    rows = ((number, *target) for number, one in enumerate(alike) for target in one.targets)
    for part in connection.in_parts(rows):
        first, last = part[0][0], part[-1][0]
        yield PartOfAlike(
            organization_ids=[organization_id for _, organization_id, _ in part],
            target_ids=[target_id for _, _, target_id in part],
            kinds=[number - first + 1 for number, _, _ in part],
            details=[Jsonb(one.details) for one in alike[first : last + 1]],
        )
