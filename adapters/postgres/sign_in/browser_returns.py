"""What browsers return to after a sign-in, in the tables `browser_returns` and `request_sign_ins`."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.admissions import is_shown
from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.organizations.settings.branding import BRANDING_COLUMNS, PICTURE_TABLES
from adapters.postgres.transaction import Aggregate
from core.organizations.settings.branding import BrandedOrganization, Branding
from core.sign_in.browser_returns import BrowserReturn

_OF_BRANDING: Final = frozenset(field.name for field in fields(Branding))
# What is read for the pages, and is not stored.
_SHOWN: Final = ("place", "owner", "is_closed", "brand")


class PostgresBrowserReturns(Aggregate):
    """The port `BrowserReturns`."""

    def add(self, wanted: BrowserReturn, id_hash: bytes, *, expires_at: datetime) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO browser_returns (id_hash, expires_at, {columns(BrowserReturn, without=_SHOWN)})
            VALUES (%(id_hash)s, %(expires_at)s, {placeholders(BrowserReturn, without=_SHOWN)})
            """,
            values(wanted) | {"id_hash": id_hash, "expires_at": expires_at},
        )

    def find(self, id_hash: bytes, *, at: datetime) -> BrowserReturn | None:
        return self._one(
            _return,
            f"""
            SELECT r.target, r.organization_slug, r.service_slug, r.email, r.language, r.request_target,
                   r.not_in_session,
                   coalesce(s.name, o.name, '') AS place,
                   CASE WHEN s.id IS NULL THEN '' ELSE o.name END AS owner,
                   coalesce(s.access <> 'everyone', false)
                       OR (starts_with(coalesce(r.request_target, r.target), '/saml/')
                           AND EXISTS (SELECT FROM saml_configurations c
                                       WHERE  c.organization_id = s.organization_id AND c.service_id = s.id
                                         AND  c.members_only)) AS is_closed,
                   b.organization_id AS branded_id, o.name AS branded_name, {BRANDING_COLUMNS}
            FROM   browser_returns r
            LEFT   JOIN organizations o ON o.slug = r.organization_slug AND o.status = 'active' AND {is_shown("o")}
            LEFT   JOIN services s      ON s.organization_id = o.id AND s.slug = r.service_slug
            LEFT   JOIN brandings b     ON b.organization_id = o.id
            {PICTURE_TABLES}
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


def _return(*, branded_id: UUID | None, branded_name: str | None, **columns: Any) -> BrowserReturn:
    branding = Branding(**{name: columns.pop(name) for name in _OF_BRANDING})
    if branded_id is None or branded_name is None:
        return BrowserReturn(**columns)
    brand = BrandedOrganization(organization_id=branded_id, name=branded_name, branding=branding)
    return BrowserReturn(**columns, brand=brand)
