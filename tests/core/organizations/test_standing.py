"""What a role lacks for an operation."""

from dataclasses import replace
from typing import cast

import pytest

from core.organizations.access import Capability, Operation, RequiredStanding
from core.organizations.management import OrganizationMembership
from core.organizations.organizations import Membership, MembershipStatus, OrganizationStatus
from core.organizations.standing import Standing
from core.organizations.tiers import Tier
from core.services.services import Service
from core.services.standing import ServiceStanding
from tests.core.organizations.test_members import ACME
from tests.world.builder import new_id


@pytest.mark.parametrize(
    ("role", "capabilities", "operation", "lacking"),
    [
        ("owner", frozenset(Capability), Operation.MEMBER_CHANGE, None),
        ("admin", frozenset(Capability), Operation.MEMBER_CHANGE, RequiredStanding.OWNER),
        ("admin", frozenset(Capability), Operation.KEYS_READ, None),
        ("clerk", frozenset(Capability), Operation.KEYS_READ, RequiredStanding.ADMIN),
        ("clerk", frozenset(), Operation.MEMBERS_LIST, Capability.ORG_MEMBERS_VIEW),
        ("clerk", frozenset(), Operation.ORGANIZATION_READ, None),
        (
            "clerk",
            frozenset({Capability.INTEGRATIONS_MANAGE}),
            Operation.SCIM_TOKEN_CREATE,
            Capability.ORG_MEMBERS_MANAGE,
        ),
    ],
)
def test_a_standing_names_what_the_role_lacks(
    role: str,
    capabilities: frozenset[Capability],
    operation: Operation,
    lacking: Capability | RequiredStanding | None,
) -> None:
    standing = Standing(organization=ACME, user_id=new_id(), role=role, capabilities=capabilities, owner_email=None)

    assert standing.lacks(operation) is lacking


@pytest.mark.parametrize(
    ("role", "operation", "lacking"),
    [
        ("owner", Operation.KEY_CREATE, RequiredStanding.IN_PERSON),
        ("owner", Operation.KEYS_READ, None),
        ("clerk", Operation.KEYS_READ, RequiredStanding.ADMIN),
    ],
)
def test_who_acts_as_another_person_makes_no_credential(
    role: str, operation: Operation, lacking: RequiredStanding | None
) -> None:
    standing = Standing(
        organization=ACME,
        user_id=new_id(),
        role=role,
        capabilities=frozenset(Capability),
        owner_email=None,
        is_impersonated=True,
    )

    assert standing.lacks(operation) is lacking


def test_an_impersonator_lacks_what_would_outlast_the_impersonation() -> None:
    person = Standing(
        organization=ACME, user_id=new_id(), role="owner", capabilities=frozenset(Capability), owner_email=None
    )
    impersonator = replace(person, is_impersonated=True)

    assert person.lacks_lasting(Operation.MEMBER_CHANGE) is None
    assert impersonator.lacks(Operation.MEMBER_CHANGE) is None
    assert impersonator.lacks_lasting(Operation.MEMBER_CHANGE) is RequiredStanding.IN_PERSON
    assert impersonator.lacks(Operation.SCIM_TOKEN_CREATE) is RequiredStanding.IN_PERSON
    assert impersonator.lacks_lasting(Operation.MEMBERS_LIST) is None


def test_what_an_impersonator_lacks_on_a_service_is_what_they_lack_in_its_organization() -> None:
    reader = Standing(
        organization=ACME,
        user_id=new_id(),
        role="owner",
        capabilities=frozenset(Capability),
        owner_email=None,
        is_impersonated=True,
    )
    at = ServiceStanding(reader=reader, service=cast("Service", None), granted=frozenset())

    assert at.lacks_lasting(Operation.SERVICE_UPDATE) is RequiredStanding.IN_PERSON
    assert at.lacks_lasting(Operation.SERVICES_LIST) is None


def test_a_membership_is_usable_while_it_and_its_organization_are_active() -> None:
    def is_usable(status: OrganizationStatus, *, is_suspended: bool) -> bool:
        organization = replace(ACME, status=status)
        mine = OrganizationMembership(
            organization=organization,
            membership=cast("Membership", None),
            tier=cast("Tier", None),
            is_suspended=is_suspended,
        )
        return mine.is_usable

    assert is_usable(OrganizationStatus.ACTIVE, is_suspended=False)
    assert not is_usable(OrganizationStatus.ACTIVE, is_suspended=True)
    assert not is_usable(OrganizationStatus.SUSPENDED, is_suspended=False)


def test_the_status_of_a_membership_says_whether_it_is_active() -> None:
    assert [MembershipStatus.of(is_active=is_active) for is_active in (True, False)] == ["active", "inactive"]
