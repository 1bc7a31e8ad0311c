"""What the tuples `object#relation@subject` mean (decisions 5.5)."""

from __future__ import annotations

from uuid import UUID

import pytest

from core.organizations.access import Capability, capabilities_of
from core.organizations.relations import Object, Relation, holds

ACME = Object(organization_id=UUID(int=1))
SHOP = Object(organization_id=UUID(int=1), service_id=UUID(int=2))
TILL = Object(organization_id=UUID(int=1), service_id=UUID(int=3))
BOLT = Object(organization_id=UUID(int=4))
ADA = f"user:{UUID(int=5)}"


def of(object_: Object, relation: str, custom_permissions: list[str] | None = None) -> Relation:
    return Relation(object=str(object_), relation=relation, subject=ADA, custom_permissions=custom_permissions)


def test_a_tuple_is_written_as_one_text() -> None:
    assert str(of(ACME, "admin")) == f"organization:{UUID(int=1)}#admin@user:{UUID(int=5)}"
    assert str(of(SHOP, "viewer")) == f"service:{UUID(int=2)}#viewer@user:{UUID(int=5)}"


@pytest.mark.parametrize(
    ("role", "manages", "sees"), [("owner", True, True), ("admin", True, True), ("member", False, True)]
)
def test_a_role_in_the_organization_is_worth_something_on_each_of_its_services(
    role: str, manages: bool, sees: bool
) -> None:
    for service in (SHOP, TILL):
        assert (holds([of(ACME, role)], service, "manager"), holds([of(ACME, role)], service, "viewer")) == (
            manages,
            sees,
        )


@pytest.mark.parametrize(
    ("permissions", "manages", "sees"),
    [
        ([], False, False),
        (["billing.manage"], False, False),
        (["services.create"], False, False),
        (["services.view"], False, True),
        (["services.manage"], True, True),
    ],
)
def test_a_custom_role_is_worth_what_it_lists(permissions: list[str], manages: bool, sees: bool) -> None:
    tuples = [of(ACME, "keeper", permissions)]

    assert (holds(tuples, SHOP, "manager"), holds(tuples, SHOP, "viewer")) == (manages, sees)


@pytest.mark.parametrize(("relation", "manages"), [("manager", True), ("viewer", False)])
def test_a_grant_counts_on_its_own_service_alone(relation: str, manages: bool) -> None:
    tuples = [of(ACME, "biller", ["billing.manage"]), of(SHOP, relation)]

    assert (holds(tuples, SHOP, "manager"), holds(tuples, SHOP, "viewer")) == (manages, True)
    assert (holds(tuples, TILL, "manager"), holds(tuples, TILL, "viewer")) == (False, False)


def test_a_grant_makes_nothing_in_the_organization() -> None:
    tuples = [of(SHOP, "manager")]

    assert not any(holds(tuples, ACME, word) for word in ("manager", "member", "services.manage", "services.view"))


def test_what_somebody_is_elsewhere_counts_nothing_here() -> None:
    assert not holds([of(BOLT, "owner")], SHOP, "viewer")
    assert not holds([of(BOLT, "owner")], ACME, "owner")


@pytest.mark.parametrize("role", ["owner", "admin", "member"])
def test_to_the_organization_somebody_is_their_role_and_may_what_it_allows(role: str) -> None:
    tuples = [of(ACME, role)]

    assert [word for word in ("owner", "admin", "member") if holds(tuples, ACME, word)] == [role]
    assert {word for word in Capability if holds(tuples, ACME, word)} == capabilities_of(role, None)


def test_nobody_is_nothing() -> None:
    assert not holds([], ACME, "member")
    assert not holds([], SHOP, "viewer")
