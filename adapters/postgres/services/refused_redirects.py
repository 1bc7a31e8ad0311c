"""The redirect URIs that were refused last, in the table `refused_redirects`."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.services.redirect_changes import RefusedRedirect


class PostgresRefusedRedirects(Aggregate):
    """The port `RefusedRedirects`."""

    def find(self, organization_id: UUID, service_id: UUID) -> RefusedRedirect | None:
        return self._one(
            RefusedRedirect,
            "SELECT redirect_uri, refused_at FROM refused_redirects WHERE organization_id = %s AND service_id = %s",
            (organization_id, service_id),
        )

    def save(
        self, organization_id: UUID, service_id: UUID, refused: RefusedRedirect, *, unless_since: datetime
    ) -> None:
        # A row that another transaction holds is skipped, so that many refusals at once form no queue. The first one of
        # a service may wait for another first one, and is not kept while the service is being deleted.
        self._connection.execute(
            """
            WITH free AS (
                SELECT organization_id, service_id
                FROM   refused_redirects
                WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s
                  AND  refused_at <= %(unless_since)s
                FOR    UPDATE SKIP LOCKED
            ), replaced AS (
                UPDATE refused_redirects r
                SET    redirect_uri = %(redirect_uri)s, refused_at = %(refused_at)s
                FROM   free
                WHERE  r.organization_id = free.organization_id AND r.service_id = free.service_id
            )
            INSERT INTO refused_redirects (organization_id, service_id, redirect_uri, refused_at)
            SELECT organization_id, id, %(redirect_uri)s, %(refused_at)s
            FROM   services
            WHERE  organization_id = %(organization_id)s AND id = %(service_id)s
              AND  NOT EXISTS (SELECT FROM refused_redirects
                               WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s)
            FOR    KEY SHARE SKIP LOCKED
            ON CONFLICT DO NOTHING
            """,
            {
                "organization_id": organization_id,
                "service_id": service_id,
                "redirect_uri": refused.redirect_uri,
                "refused_at": refused.refused_at,
                "unless_since": unless_since,
            },
        )

    def remove(self, organization_id: UUID, service_id: UUID) -> None:
        self._connection.execute_later(
            "DELETE FROM refused_redirects WHERE organization_id = %s AND service_id = %s",
            (organization_id, service_id),
        )
