"""What a role lacks for an operation."""

import pytest

from core.organizations.access import Capability, Operation, RequiredStanding
from core.organizations.standing import Standing
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
