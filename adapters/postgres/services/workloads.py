"""Workloads in their table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.driver.columns import columns, json_or_null
from adapters.postgres.transaction import Aggregate
from core.services.workload_rules import RefusalReason, RefusedAssertion, Workload
from core.services.workloads import HeldKey, WorkloadHolder

_COLUMNS: Final = f"{columns(Workload, without=('last_refused',))}, refused_at, refused_reason, refused_claims"
_OF_SERVICE: Final = "organization_id = %(organization_id)s AND service_id = %(service_id)s"
_OF_KEY: Final = "organization_id = %(organization_id)s AND key_id = %(key_id)s"
OF_SERVICE: Final = f"SELECT {_COLUMNS} FROM workloads WHERE {_OF_SERVICE} ORDER BY created_at DESC, id DESC"
OF_KEY: Final = f"SELECT {_COLUMNS} FROM workloads WHERE {_OF_KEY} ORDER BY created_at DESC, id DESC"


class PostgresWorkloads(Aggregate):
    """The port `Workloads`."""

    def of_holder(self, holder: WorkloadHolder) -> Sequence[Workload]:
        return self._all(_workload, OF_SERVICE if holder.key_id is None else OF_KEY, _named(holder))

    def add(
        self,
        holder: WorkloadHolder,
        workload: Workload,
        *,
        created_by: UUID,
        has_second_factor: bool,
        is_phishing_resistant: bool,
    ) -> None:
        self._connection.execute_later(
            """
            INSERT INTO workloads (id, organization_id, service_id, key_id, name, issuer, jwks_uri, jwks, audience,
                                   match, created_at, created_by, has_second_factor, is_phishing_resistant)
            VALUES (%(id)s, %(organization_id)s, %(service_id)s, %(key_id)s, %(name)s, %(issuer)s, %(jwks_uri)s,
                    %(jwks)s, %(audience)s, %(match)s, %(created_at)s, %(created_by)s, %(has_second_factor)s,
                    %(is_phishing_resistant)s)
            """,
            {
                **_named(holder),
                "id": workload.id,
                "name": workload.name,
                "issuer": workload.issuer,
                "jwks_uri": workload.jwks_uri,
                "jwks": json_or_null(workload.jwks),
                "audience": workload.audience,
                "match": Jsonb(workload.match),
                "created_at": workload.created_at,
                "created_by": created_by,
                "has_second_factor": has_second_factor,
                "is_phishing_resistant": is_phishing_resistant,
            },
        )

    def remove(self, holder: WorkloadHolder, workload_id: UUID) -> Workload | None:
        return self._one(
            _workload,
            f"""
            DELETE FROM workloads
            WHERE     organization_id = %(organization_id)s AND id = %(id)s
              AND     service_id IS NOT DISTINCT FROM %(service_id)s AND key_id IS NOT DISTINCT FROM %(key_id)s
            RETURNING {_COLUMNS}
            """,
            {**_named(holder), "id": workload_id},
        )

    def key(self, key_id: UUID) -> HeldKey | None:
        return self._one(
            HeldKey,
            """
            SELECT k.id, k.organization_id, o.slug AS organization_slug, o.status AS organization_status, k.expires_at
            FROM   organization_keys k
            JOIN   organizations o ON o.id = k.organization_id AND o.status <> 'deleting'
            JOIN   users u         ON u.id = k.created_by AND u.deactivated_at IS NULL AND u.locked_at IS NULL
            WHERE  k.id = %s
            """,
            (key_id,),
        )

    def is_live(self, holder: WorkloadHolder, workload_id: UUID) -> bool:
        return self._finds_any(
            f"SELECT FROM workloads WHERE {_OF_SERVICE} AND id = %(id)s", {**_named(holder), "id": workload_id}
        )

    def remove_of_makers(
        self, user_ids: Sequence[UUID], organization_id: UUID | None
    ) -> Sequence[tuple[UUID, Workload]]:
        return self._all(
            _of_organization,
            f"""
            DELETE FROM workloads
            WHERE     created_by = ANY (%(user_ids)s) AND key_id IS NOT NULL
              AND     (%(organization_id)s::uuid IS NULL OR organization_id = %(organization_id)s)
            RETURNING organization_id, {_COLUMNS}
            """,
            {"user_ids": list(user_ids), "organization_id": organization_id},
        )

    def record_use(self, holder: WorkloadHolder, workload_id: UUID, *, at: datetime) -> None:
        self._connection.execute_later(
            """
            UPDATE workloads
            SET    last_used_at = %s
            WHERE  id = (SELECT id
                         FROM   workloads
                         WHERE  organization_id = %s AND id = %s
                         FOR    NO KEY UPDATE SKIP LOCKED)
            """,
            (at, holder.organization_id, workload_id),
        )

    def record_refusals(
        self, holder: WorkloadHolder, refusals: Sequence[tuple[UUID, RefusedAssertion]], *, every: timedelta
    ) -> None:
        self._connection.execute_later(
            """
            WITH free AS (
                SELECT id
                FROM   workloads
                WHERE  organization_id = %(organization_id)s AND id = ANY (%(ids)s)
                  AND  (refused_at IS NULL OR refused_at <= %(before)s)
                ORDER  BY id
                FOR    NO KEY UPDATE SKIP LOCKED)
            UPDATE workloads w
            SET    refused_at = %(at)s, refused_reason = r.reason, refused_claims = r.claims
            FROM   free, unnest(%(ids)s::uuid[], %(reasons)s::text[], %(claims)s::jsonb[]) AS r (id, reason, claims)
            WHERE  w.organization_id = %(organization_id)s AND w.id = free.id AND r.id = w.id
            """,
            {
                "organization_id": holder.organization_id,
                "ids": [workload_id for workload_id, _ in refusals],
                "reasons": [refusal.reason.value for _, refusal in refusals],
                "claims": [Jsonb(refusal.claims) for _, refusal in refusals],
                "at": self._transaction.now,
                "before": self._transaction.now - every,
            },
        )


def _named(holder: WorkloadHolder) -> dict[str, Any]:
    return {
        "organization_id": holder.organization_id,
        "service_id": holder.service_id,
        "key_id": holder.key_id,
    }


def _of_organization(*, organization_id: UUID, **columns: Any) -> tuple[UUID, Workload]:
    return organization_id, _workload(**columns)


def _workload(
    *,
    refused_at: datetime | None,
    refused_reason: str | None,
    refused_claims: dict[str, Any] | None,
    **columns: Any,
) -> Workload:
    last_refused = None
    if refused_at is not None and refused_reason is not None and refused_claims is not None:
        reason = RefusalReason(refused_reason)
        last_refused = RefusedAssertion(at=refused_at, reason=reason, claims=refused_claims)
    return Workload(**columns, last_refused=last_refused)
