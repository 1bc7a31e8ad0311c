"""What browsers return to after a sign-in, in the tables `browser_returns` and `request_sign_ins`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.postgres.transaction import Aggregate
from core.sign_in.browser_returns import BrowserReturn

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


class PostgresBrowserReturns(Aggregate):
    """The port `BrowserReturns`."""

    def add(self, wanted: BrowserReturn, id_hash: bytes, *, expires_at: datetime) -> None:
        self._connection.execute_later(
            """
            INSERT INTO browser_returns
                (id_hash, target, organization_slug, service_slug, email, language, request_target, request_key,
                 expires_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                id_hash,
                wanted.target,
                wanted.organization_slug,
                wanted.service_slug,
                wanted.email,
                wanted.language,
                wanted.request_target,
                wanted.request_key,
                expires_at,
            ),
        )

    def find(self, id_hash: bytes, *, at: datetime) -> BrowserReturn | None:
        return self._one(
            BrowserReturn,
            """
            SELECT r.target, r.organization_slug, r.service_slug, r.email, r.language, r.request_target,
                   coalesce(s.name, o.name, '') AS place,
                   CASE WHEN s.id IS NULL THEN '' ELSE o.name END AS owner
            FROM   browser_returns r
            LEFT   JOIN organizations o ON o.slug = r.organization_slug AND o.status = 'active'
            LEFT   JOIN services s      ON s.organization_id = o.id AND s.slug = r.service_slug
            WHERE  r.id_hash = %s AND r.expires_at > %s
            """,
            (id_hash, at),
        )

    def find_lapsed(self, id_hash: bytes, *, at: datetime) -> BrowserReturn | None:
        return self._one(
            BrowserReturn,
            """
            SELECT target, organization_slug, service_slug, email, language, request_target
            FROM   browser_returns
            WHERE  id_hash = %s AND expires_at <= %s
            """,
            (id_hash, at),
        )

    def use(self, id_hash: bytes, *, at: datetime) -> BrowserReturn | None:
        return self._one(
            BrowserReturn,
            """
            DELETE FROM browser_returns
            WHERE  id_hash = %s AND expires_at > %s
            RETURNING target, organization_slug, service_slug, email, language, request_target
            """,
            (id_hash, at),
        )

    def record_sign_in(self, id_hash: bytes, session_id: UUID, *, at: datetime, expires_at: datetime) -> None:
        self._connection.execute_later(
            """
            INSERT INTO request_sign_ins (session_id, request_key, expires_at)
            SELECT %s, request_key, %s
            FROM   browser_returns
            WHERE  id_hash = %s AND expires_at > %s AND request_key IS NOT NULL
            ON CONFLICT (session_id, request_key) DO UPDATE SET expires_at = EXCLUDED.expires_at
            """,
            (session_id, expires_at, id_hash, at),
        )

    def has_signed_in(self, request_key: bytes, session_id: UUID, *, at: datetime) -> bool:
        return self._value(
            """
            SELECT EXISTS (SELECT FROM request_sign_ins
                           WHERE  session_id = %s AND request_key = %s AND expires_at > %s)
            """,
            (session_id, request_key, at),
        )
