"""How many members an organization may have, and what sets the limit."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from core.organizations.members import MEMBERS_MAX_DEFAULT, LimitSource, MemberLimits, limits_of
from core.organizations.organizations import Organization, OrganizationStatus

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
ACME = Organization(
    id=UUID(int=1),
    slug="acme",
    name="Acme",
    status=OrganizationStatus.ACTIVE,
    tier_id=UUID(int=2),
    max_services=None,
    max_users=None,
    mfa_required=False,
    device_trust_days=30,
    created_at=NOW,
    updated_at=NOW,
    approved_at=None,
    approved_by=None,
    rejected_at=None,
    rejection_reason=None,
    suspended_at=None,
    suspension_reason=None,
)


@pytest.mark.parametrize(
    ("own", "has_tier", "of_tier", "max_users", "source"),
    [
        (7, True, 100, 7, LimitSource.ORGANIZATION),
        (0, True, 100, 0, LimitSource.ORGANIZATION),
        (7, False, None, 7, LimitSource.ORGANIZATION),
        (None, True, 100, 100, LimitSource.TIER),
        (None, True, 0, 0, LimitSource.TIER),
        (None, True, None, None, LimitSource.TIER),
        (None, False, None, MEMBERS_MAX_DEFAULT, LimitSource.DEFAULT),
    ],
)
def test_the_limit_comes_from_the_organization_or_its_tier_or_the_default(
    own: int | None, has_tier: bool, of_tier: int | None, max_users: int | None, source: LimitSource
) -> None:
    limits = limits_of(replace(ACME, max_users=own), has_tier=has_tier, tier_max_users=of_tier)

    assert limits == MemberLimits(max_users=max_users, source=source)
