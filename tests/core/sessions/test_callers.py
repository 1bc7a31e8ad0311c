"""The properties of a caller."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from core.errors import Forbidden
from core.sessions.callers import Caller
from core.sessions.tokens import IssuedElsewhere

START = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
ADA = Caller(
    user_id=UUID(int=1),
    email="ada@example.com",
    email_verified_at=None,
    is_platform_owner=False,
    user_created_at=START,
    session_id=UUID(int=2),
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
ORGANIZATION = replace(ADA, organization_id=UUID(int=3), organization_slug="acme", organization_status="active")
SERVICE = replace(ORGANIZATION, service_id=UUID(int=4), service_slug="shop", service_client_id=UUID(int=5))


def test_a_caller_without_a_context_belongs_to_it() -> None:
    assert ADA.belongs_to_context


def test_members_belong_to_the_context_of_their_organization() -> None:
    assert replace(ORGANIZATION, role="member").belongs_to_context
    assert not ORGANIZATION.belongs_to_context


def test_end_users_belong_to_the_context_of_a_service_and_members_do_not() -> None:
    assert replace(SERVICE, is_end_user=True).belongs_to_context
    assert not replace(SERVICE, role="owner").belongs_to_context


@pytest.mark.parametrize(
    ("amr", "has_it"),
    [(["pwd"], False), (["pwd", "otp", "mfa"], True), (["pwd", "trusted"], True), (["user", "mfa"], True)],
)
def test_a_second_factor_is_given_or_remembered_by_the_device(amr: list[str], has_it: bool) -> None:
    assert replace(ADA, amr=amr).has_second_factor is has_it


def test_an_address_with_a_verification_time_is_verified() -> None:
    assert not ADA.is_verified
    assert replace(ADA, email_verified_at=START).is_verified


def test_forbid_impersonated_refuses_only_impersonators() -> None:
    ADA.forbid_impersonation()

    with pytest.raises(Forbidden):
        replace(ADA, impersonator_id=uuid4()).forbid_impersonation()


def test_a_confined_session_works_within_its_organization_alone() -> None:
    own, other = uuid4(), uuid4()
    confined = replace(ADA, confined_to=own)

    confined.require_within(own)
    ADA.require_within(other)
    with pytest.raises(Forbidden):
        confined.require_within(other)
    with pytest.raises(Forbidden):
        confined.forbid_service_tokens()


def test_the_token_of_a_service_works_within_no_organization() -> None:
    own = uuid4()

    for service in (SERVICE, replace(SERVICE, confined_to=own)):
        with pytest.raises(Forbidden):
            service.require_within(own)


def test_a_platform_owner_acts_as_one_in_person_and_in_a_session_without_limits_only() -> None:
    owner = replace(ADA, is_platform_owner=True)

    assert owner.acts_as_platform_owner
    assert not ADA.acts_as_platform_owner
    for limited in (replace(SERVICE, is_platform_owner=True), replace(owner, confined_to=uuid4())):
        assert not limited.acts_as_platform_owner
    assert not replace(owner, impersonator_id=uuid4()).acts_as_platform_owner


def test_a_token_of_another_host_keeps_its_claims() -> None:
    assert IssuedElsewhere({"iss": "https://id.acme.example"}).claims == {"iss": "https://id.acme.example"}
