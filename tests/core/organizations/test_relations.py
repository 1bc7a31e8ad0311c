"""The meaning of the tuples `object#relation@subject`."""

from __future__ import annotations

from uuid import UUID

import pytest

from core.organizations.access import Capability, capabilities_of
from core.organizations.relations import Relation, RelationObject, holds

ACME = RelationObject(organization_id=UUID(int=1))
SHOP = RelationObject(organization_id=UUID(int=1), service_id=UUID(int=2))
TILL = RelationObject(organization_id=UUID(int=1), service_id=UUID(int=3))
BOLT = RelationObject(organization_id=UUID(int=4))
ADA = f"user:{UUID(int=5)}"


def relation_of_ada(object_: RelationObject, relation: str, custom_permissions: list[str] | None = None) -> Relation:
    return Relation(object=str(object_), relation=relation, subject=ADA, custom_permissions=custom_permissions)


def test_a_tuple_has_a_text_notation() -> None:
    assert str(relation_of_ada(ACME, "admin")) == f"organization:{UUID(int=1)}#admin@user:{UUID(int=5)}"
    assert str(relation_of_ada(SHOP, "viewer")) == f"service:{UUID(int=2)}#viewer@user:{UUID(int=5)}"


@pytest.mark.parametrize(
    ("role", "manages", "views"), [("owner", True, True), ("admin", True, True), ("member", False, True)]
)
def test_a_role_in_the_organization_implies_relations_to_each_of_its_services(
    role: str, manages: bool, views: bool
) -> None:
    for service in (SHOP, TILL):
        assert (
            holds([relation_of_ada(ACME, role)], service, "manager"),
            holds([relation_of_ada(ACME, role)], service, "viewer"),
        ) == (
            manages,
            views,
        )


@pytest.mark.parametrize(
    ("permissions", "manages", "views"),
    [
        ([], False, False),
        (["billing.manage"], False, False),
        (["services.create"], False, True),
        (["services.view"], False, True),
        (["services.manage"], True, True),
    ],
)
def test_a_custom_role_implies_only_what_its_permissions_imply(
    permissions: list[str], manages: bool, views: bool
) -> None:
    tuples = [relation_of_ada(ACME, "keeper", permissions)]

    assert (holds(tuples, SHOP, "manager"), holds(tuples, SHOP, "viewer")) == (manages, views)


@pytest.mark.parametrize(("relation", "manages"), [("manager", True), ("viewer", False)])
def test_a_grant_applies_only_to_its_own_service(relation: str, manages: bool) -> None:
    tuples = [relation_of_ada(ACME, "biller", ["billing.manage"]), relation_of_ada(SHOP, relation)]

    assert (holds(tuples, SHOP, "manager"), holds(tuples, SHOP, "viewer")) == (manages, True)
    assert (holds(tuples, TILL, "manager"), holds(tuples, TILL, "viewer")) == (False, False)


def test_a_grant_gives_no_relation_to_the_organization() -> None:
    tuples = [relation_of_ada(SHOP, "manager")]

    assert not any(holds(tuples, ACME, word) for word in ("manager", "member", "services.manage", "services.view"))


def test_a_role_in_another_organization_does_not_apply() -> None:
    assert not holds([relation_of_ada(BOLT, "owner")], SHOP, "viewer")
    assert not holds([relation_of_ada(BOLT, "owner")], ACME, "owner")


@pytest.mark.parametrize("role", ["owner", "admin", "member"])
def test_the_relations_to_the_organization_are_the_role_and_its_capabilities(role: str) -> None:
    tuples = [relation_of_ada(ACME, role)]

    assert [word for word in ("owner", "admin", "member") if holds(tuples, ACME, word)] == [role]
    assert {word for word in Capability if holds(tuples, ACME, word)} == capabilities_of(role, None)


def test_without_tuples_there_is_no_relation() -> None:
    assert not holds([], ACME, "member")
    assert not holds([], SHOP, "viewer")
