"""When a key of an organization expires."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from core.organizations.access import Capability
from core.organizations.keys import MadeOrganizationKey, OrganizationKey

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
KEY = OrganizationKey(
    id=UUID(int=1),
    name="Export",
    prefix="gk_a1B2c3",
    permissions=[Capability.END_USERS_VIEW],
    created_at=NOW - timedelta(days=1),
    expires_at=NOW,
    last_used_at=None,
)


def test_a_key_has_expired_from_its_expiry_on() -> None:
    made = MadeOrganizationKey(key=KEY, maker_email="ann@example.com")

    assert not made.has_expired(NOW - timedelta(microseconds=1))
    assert made.has_expired(NOW)


def test_a_key_without_an_expiry_never_expires() -> None:
    made = MadeOrganizationKey(key=replace(KEY, expires_at=None), maker_email="ann@example.com")

    assert not made.has_expired(datetime.max.replace(tzinfo=UTC))


def test_workloads_name_a_key_by_its_id() -> None:
    assert KEY.client_id == f"key:{KEY.id}"
