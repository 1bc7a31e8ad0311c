"""The properties of a caller."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from core.errors import Forbidden
from core.sessions.caller_limits import Act, Confinement
from core.sessions.tokens import IssuedElsewhere
from tests.caller_values import ADA, AT_SERVICE, IN_ORGANIZATION, changed


def confined_to(organization_id: UUID) -> dict[str, Any]:
    """Return the limits of a session for one organization alone."""
    return {"confinement": Confinement(organization_id=organization_id)}


def test_a_caller_without_a_context_belongs_to_it() -> None:
    assert ADA.belongs_to_context


def test_members_belong_to_the_context_of_their_organization() -> None:
    assert changed(IN_ORGANIZATION, place={"role": "member"}).belongs_to_context
    assert not IN_ORGANIZATION.belongs_to_context


def test_end_users_belong_to_the_context_of_a_service_and_members_do_not() -> None:
    assert AT_SERVICE.belongs_to_context
    assert not changed(AT_SERVICE, place={"role": "owner"}, service={"is_user": False}).belongs_to_context


@pytest.mark.parametrize(
    ("amr", "has_it"),
    [(["pwd"], False), (["pwd", "otp", "mfa"], True), (["pwd", "trusted"], True), (["user", "mfa"], True)],
)
def test_a_second_factor_is_given_or_remembered_by_the_device(amr: list[str], has_it: bool) -> None:
    assert changed(ADA, session={"amr": amr}).session.has_second_factor is has_it


def test_an_address_with_a_verification_time_is_verified() -> None:
    assert ADA.account.is_verified
    assert not changed(ADA, account={"email_verified_at": None}).account.is_verified


def test_forbid_impersonated_refuses_only_impersonators() -> None:
    ADA.require(Act.IN_PERSON)

    with pytest.raises(Forbidden):
        changed(ADA, limits={"impersonator_id": uuid4()}).require(Act.IN_PERSON)


def test_a_confined_session_works_within_its_organization_alone() -> None:
    own, other = uuid4(), uuid4()
    confined = changed(ADA, limits=confined_to(own))

    confined.require_within(own)
    ADA.require_within(other)
    with pytest.raises(Forbidden):
        confined.require_within(other)
    with pytest.raises(Forbidden):
        confined.require(Act.WITHOUT_CONTEXT)


def test_the_token_of_a_service_works_within_no_organization() -> None:
    own = uuid4()

    for service in (AT_SERVICE, changed(AT_SERVICE, limits=confined_to(own))):
        with pytest.raises(Forbidden):
            service.require_within(own)


def test_a_platform_owner_acts_as_one_in_person_and_in_a_session_without_limits_only() -> None:
    owner = changed(ADA, account={"is_platform_owner": True})

    assert owner.acts_as_platform_owner
    assert not ADA.acts_as_platform_owner
    for limited in (
        changed(AT_SERVICE, account={"is_platform_owner": True}),
        changed(owner, limits=confined_to(uuid4())),
    ):
        assert not limited.acts_as_platform_owner
    assert not changed(owner, limits={"impersonator_id": uuid4()}).acts_as_platform_owner


def test_a_token_of_another_host_keeps_its_claims() -> None:
    assert IssuedElsewhere({"iss": "https://id.acme.example"}).claims == {"iss": "https://id.acme.example"}
