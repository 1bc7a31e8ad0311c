"""Provisioned members in the tables of profiles, memberships and accounts, by the key of the profiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from adapters.postgres.affiliations import DIRECTORY_NAME
from adapters.postgres.scim.user_filters import IS_ACTIVE
from adapters.postgres.transaction import Aggregate
from core.positions import Position
from core.scim.directory import ProvisionedMember

_FILTERED: Final = """
    FROM   scim_profiles p
    WHERE  p.organization_id = %(organization_id)s
      AND  (%(part)s = '' OR strpos(lower(p.user_name), %(part)s) > 0
            OR p.user_id IN (
                SELECT u.id
                FROM   users u
                WHERE  u.id = ANY (ARRAY(SELECT user_id FROM scim_profiles WHERE organization_id = %(organization_id)s))
                  AND  strpos(u.email, %(part)s) > 0))
"""
PAGE: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT p.*
        {_FILTERED}
          AND  (%(after)s::uuid IS NULL OR p.user_id > %(after)s)
        ORDER BY p.user_id
        LIMIT  %(limit)s)
    SELECT   u.id, u.email, p.user_name, p.external_id, m.role, {IS_ACTIVE} AS is_active, p.updated_at,
             {DIRECTORY_NAME.format(organization_id="p.organization_id", user_id="p.user_id")} AS name
    FROM     page p
    JOIN     memberships m ON m.organization_id = p.organization_id AND m.user_id = p.user_id
    JOIN     users u ON u.id = p.user_id
    ORDER BY p.user_id
"""
COUNT: Final = f"SELECT count(*) FROM (SELECT {_FILTERED} LIMIT %(counted_max)s) AS counted"


class PostgresScimDirectory(Aggregate):
    """The port `ScimDirectory`."""

    def page(
        self, organization_id: UUID, *, part: str, after: Position | None, limit: int
    ) -> Sequence[ProvisionedMember]:
        return self._all(
            ProvisionedMember,
            PAGE,
            {
                "organization_id": organization_id,
                "part": part,
                "after": after.id if after is not None else None,
                "limit": limit,
            },
            prepare=False,
        )

    def count(self, organization_id: UUID, *, part: str, counted_max: int) -> int:
        return self._value(COUNT, {"organization_id": organization_id, "part": part, "counted_max": counted_max})
