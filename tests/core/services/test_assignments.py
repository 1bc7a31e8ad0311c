"""Assignments of a customer's people to a service, and their roles."""

from __future__ import annotations

from uuid import UUID

import pytest

from core.errors import BadRequest
from core.services import assignments
from core.services.assignments import ASSIGNMENTS_MAX, Assignment, SubjectKind

ID = UUID(int=0xABC)


def assigned(subject: str, *roles: str) -> Assignment:
    """Return an assignment."""
    return Assignment(subject=subject, roles=list(roles))


def test_assignments_are_stored_in_lower_case_with_each_role_once_and_in_order() -> None:
    wanted = [assigned(f"user:{str(ID).upper()}", "b", "a", "b"), assigned("everyone"), assigned("role:Admin")]

    checked = assignments.checked(wanted)

    assert checked == [assigned(f"user:{ID}", "a", "b"), assigned("everyone"), assigned("role:Admin")]
    assert [(one.kind, one.named) for one in checked] == [
        (SubjectKind.USER, str(ID)),
        (SubjectKind.EVERYONE, ""),
        (SubjectKind.ROLE, "Admin"),
    ]


@pytest.mark.parametrize(
    "subject", ["", "all", "everyone:", "everyone:x", "role", "role:", "group:", "user:x", f"user:{ID.hex}", f"x:{ID}"]
)
def test_a_subject_of_another_form_is_refused(subject: str) -> None:
    with pytest.raises(BadRequest) as refused:
        assignments.checked([assigned(subject)])

    assert [one.field for one in refused.value.details] == ["assignments"]


def test_each_subject_is_named_once_and_at_most_200_are() -> None:
    many = [assigned(f"role:{number}") for number in range(ASSIGNMENTS_MAX + 1)]

    assert len(assignments.checked(many[1:])) == ASSIGNMENTS_MAX
    for wrong in (many, [assigned(f"user:{ID}", "a"), assigned(f"user:{str(ID).upper()}", "b")]):
        with pytest.raises(BadRequest):
            assignments.checked(wrong)


def test_assignments_are_within_others_that_give_their_subjects_as_many_roles() -> None:
    others = [assigned("everyone", "a", "b"), assigned("role:admin")]

    for within in ([], others, [assigned("everyone", "b")], [assigned("everyone"), assigned("role:admin")]):
        assert assignments.are_within(within, others), within
    for beyond in ([assigned("everyone", "c")], [assigned("role:admin", "a")], [assigned("role:owner")]):
        assert not assignments.are_within(beyond, others), beyond


def test_a_subject_is_assigned_and_unassigned_by_one() -> None:
    present = [assigned("everyone", "a"), assigned("role:admin")]

    assert assignments.with_one(present, "everyone", ["b"]) == [assigned("role:admin"), assigned("everyone", "b")]
    assert assignments.without(present, "everyone") == [assigned("role:admin")]
    assert assignments.without(present, "role:owner") == present
