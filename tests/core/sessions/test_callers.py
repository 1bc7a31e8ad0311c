"""What can be asked of whoever asks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from core.errors import Forbidden
from core.sessions.callers import Caller

START = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
ADA = Caller(
    user_id=uuid4(),
    email="ada@example.com",
    email_verified_at=None,
    is_platform_owner=False,
    user_created_at=START,
    session_id=uuid4(),
    amr=["pwd"],
    authenticated_at=START,
    device_id=None,
    organization_id=None,
    organization_slug=None,
    organization_status=None,
    role=None,
    custom_permissions=None,
    service_id=None,
    service_slug=None,
    service_client_id=None,
    is_end_user=False,
    impersonator_id=None,
)
ORGANIZATION = replace(ADA, organization_id=uuid4(), organization_slug="acme", organization_status="active")
SERVICE = replace(ORGANIZATION, service_id=uuid4(), service_slug="shop", service_client_id=uuid4())


def test_without_a_context_everybody_belongs_to_it() -> None:
    assert ADA.belongs_to_context


def test_to_an_organization_belong_its_members() -> None:
    assert replace(ORGANIZATION, role="member").belongs_to_context
    assert not ORGANIZATION.belongs_to_context


def test_to_a_service_belong_its_end_users_and_a_membership_is_not_enough() -> None:
    assert replace(SERVICE, is_end_user=True).belongs_to_context
    assert not replace(SERVICE, role="owner").belongs_to_context


@pytest.mark.parametrize(
    ("amr", "has_it"),
    [(["pwd"], False), (["pwd", "otp", "mfa"], True), (["pwd", "trusted"], True), (["user", "mfa"], True)],
)
def test_a_second_factor_is_one_that_was_given_or_is_remembered(amr: list[str], has_it: bool) -> None:
    assert replace(ADA, amr=amr).has_second_factor is has_it


def test_an_address_is_verified_since_some_moment() -> None:
    assert not ADA.is_verified
    assert replace(ADA, email_verified_at=START).is_verified


def test_what_an_impersonator_must_not_do_is_refused_to_impersonators_alone() -> None:
    ADA.forbid_impersonated()

    with pytest.raises(Forbidden):
        replace(ADA, impersonator_id=uuid4()).forbid_impersonated()
