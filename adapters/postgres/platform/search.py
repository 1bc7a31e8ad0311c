"""Finding anything on the platform: look-ups by the indexes of single values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.admissions import IS_SHOWN, is_shown
from adapters.postgres.log_times import first_kept_id
from adapters.postgres.transaction import Aggregate
from core.platform.search import SHOWN_MAX, HitKind, SearchHit

BY_ID: Final = f"""
    SELECT 'user' AS kind, u.id, u.email AS title, coalesce(u.name, '') AS about
    FROM   users u
    WHERE  u.id = %(id)s AND (NOT %(hides_owners)s OR NOT u.is_platform_owner)
    UNION  ALL
    SELECT 'organization', o.id, o.name, o.slug
    FROM   organizations o
    WHERE  o.id = %(id)s AND {is_shown("o")}
    UNION  ALL
    SELECT 'session', u.id, u.email, ''
    FROM   sessions s
    JOIN   users u ON u.id = s.user_id
    WHERE  s.id = %(id)s AND (NOT %(hides_owners)s OR NOT u.is_platform_owner)
    UNION  ALL
    SELECT 'service', o.id, s.name, o.name
    FROM   services s
    JOIN   organizations o ON o.id = s.organization_id
    WHERE  s.client_id = %(id)s OR s.id = %(id)s
"""
# People read the id on a page that refuses a sign-in; an index of every sign-in would cost each one a write.
BY_REQUEST: Final = """
    SELECT 'sign_in' AS kind, u.id, u.email AS title, '' AS about
    FROM   login_events e
    JOIN   users u ON u.id = e.user_id
    WHERE  e.request_id = %(request_id)s AND NOT e.success AND e.id >= %(kept_id)s
      AND  (NOT %(hides_owners)s OR NOT u.is_platform_owner)
    LIMIT  %(limit)s
"""
_BY_SLUG: Final = f"""
    SELECT 'organization' AS kind, o.id, o.name AS title, o.slug AS about
    FROM   organizations o
    WHERE  o.slug = %(text)s AND {IS_SHOWN}
"""
# A domain has a dot, and so the three characters that its index takes.
_BY_DOMAIN: Final = """
    SELECT 'domain' AS kind, o.id, d.domain AS title, o.name AS about
    FROM   (SELECT organization_id, domain
            FROM   custom_domains
            WHERE  letter_groups(domain) @> letter_groups(%(text)s) AND domain = %(text)s
            UNION
            SELECT organization_id, domain
            FROM   domain_routes
            WHERE  letter_groups(domain) @> letter_groups(%(text)s) AND domain = %(text)s AND made_for IS NULL
            LIMIT  %(limit)s) AS d
    JOIN   organizations o ON o.id = d.organization_id
    ORDER BY o.slug
"""


class PostgresPlatformSearches(Aggregate):
    """The port `PlatformSearches`."""

    def by_id(self, row_id: UUID, *, hides_owners: bool) -> Sequence[SearchHit]:
        return self._all(_hit, BY_ID, {"id": row_id, "hides_owners": hides_owners})

    def by_request(self, request_id: str, *, hides_owners: bool) -> Sequence[SearchHit]:
        parameters = {
            "request_id": request_id,
            "kept_id": first_kept_id(self._transaction.now),
            "hides_owners": hides_owners,
            "limit": SHOWN_MAX,
        }
        return self._all(_hit, BY_REQUEST, parameters)

    def by_slug_or_domain(self, text: str) -> Sequence[SearchHit]:
        statement = _BY_DOMAIN if "." in text[1:-1] else _BY_SLUG
        return self._all(_hit, statement, {"text": text, "limit": SHOWN_MAX}, prepare=False)


def _hit(*, kind: str, **columns: Any) -> SearchHit:
    return SearchHit(kind=HitKind(kind), **columns)
