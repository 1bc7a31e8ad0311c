"""Organizations as the platform lists them."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from adapters.postgres.admissions import IS_SHOWN
from adapters.postgres.driver.columns import taken
from adapters.postgres.organizations.organizations import ORGANIZATION, organization_row
from adapters.postgres.transaction import Aggregate
from core.organizations.organizations import OrganizationStatus
from core.organizations.tiers import TierSummary
from core.platform.organizations import OWNER_GONE, OrganizationOwner, OrganizationPage, PlatformOrganization

_REQUESTED: Final = f"""
    WITH requested AS NOT MATERIALIZED (
        SELECT *
        FROM   organizations
        WHERE  {IS_SHOWN} AND (%(status)s::text IS NULL OR status = %(status)s)
          AND  (%(tier_id)s::uuid IS NULL OR tier_id = %(tier_id)s)
    )
"""
_TIER_AND_OWNER: Final = """
    t.id                AS tier_id,
    t.name              AS tier_name,
    t.display_name      AS tier_display_name,
    u.id                AS owner_id,
    u.email             AS owner_email,
    u.is_platform_owner AS owner_is_platform_owner,
    u.created_at        AS owner_created_at
"""
# At least one row, for the total. Owners and tiers are joined for the few rows of the page alone.
_PAGE: Final = """
    FROM     (SELECT count(*) AS total FROM requested) AS c
    LEFT     JOIN (SELECT   *
                   FROM     requested
                   ORDER BY created_at DESC, id DESC
                   LIMIT    %(limit)s OFFSET %(offset)s) AS o ON true
    LEFT     JOIN tiers t       ON t.id = o.tier_id
    LEFT     JOIN memberships m ON m.organization_id = o.id AND m.role = 'owner'
    LEFT     JOIN users u       ON u.id = m.user_id
    ORDER BY o.created_at DESC, o.id DESC
"""
PAGE: Final = f"{_REQUESTED} SELECT c.total, {ORGANIZATION}, o.is_unclaimed, {_TIER_AND_OWNER} {_PAGE}"


class PostgresPlatformOrganizations(Aggregate):
    """The port `PlatformOrganizations`."""

    def page(
        self, *, status: OrganizationStatus | None, tier_id: UUID | None, limit: int, offset: int
    ) -> OrganizationPage:
        rows = self._rows(
            PAGE,
            {
                "status": status.value if status is not None else None,
                "tier_id": tier_id,
                "limit": limit,
                "offset": offset,
            },
        )
        return OrganizationPage(
            organizations=[_governed(row) for row in rows if row["organization_id"] is not None],
            total=rows[0]["total"],
        )


def _governed(columns: dict[str, Any]) -> PlatformOrganization:
    return PlatformOrganization(
        organization=organization_row(**taken(columns, "organization_")),
        owner=None if columns["is_unclaimed"] else _owner(**taken(columns, "owner_")),
        unclaimed=columns["is_unclaimed"],
        tier=TierSummary(**taken(columns, "tier_")),
    )


def _owner(*, id: UUID | None, **columns: Any) -> OrganizationOwner:  # noqa: A002 - the name of the column
    return OrganizationOwner(id=str(id), **columns) if id is not None else OWNER_GONE
