"""What the operations of a PATCH make of the members of a group."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from core.scim.directory_group_patches import with_read_members
from core.scim.group_patches import MemberChange, member_changes
from core.scim.patches import NAMES_CHARACTERS_MAX, OperationKind, operation, operations_of
from core.scim.refusals import InvalidPath, InvalidValue, NoTarget, ReadOnlyAttribute, TooMany

ONE, TWO = UUID(int=1), UUID(int=2)
HELD = {"id": "1", "displayname": "Acme"}
ADD, REMOVE, REPLACE = OperationKind.ADD, OperationKind.REMOVE, OperationKind.REPLACE


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("members", [{"value": str(ONE)}, {"VALUE": str(TWO)}], frozenset({ONE, TWO})),
        ("Members", [], frozenset()),
        (None, {"Members": [str(ONE)], "displayName": "Sales"}, {"Members": frozenset({ONE}), "displayName": "Sales"}),
        # What is no list of users is left for the operation to refuse.
        ("members", [{"value": "nobody"}], [{"value": "nobody"}]),
        ("members", [{"value": str(ONE), "type": "Group"}], [{"value": str(ONE), "type": "Group"}]),
        ("members", {"value": str(ONE)}, {"value": str(ONE)}),
        ("emails", [{"value": "ada@example.com"}], [{"value": "ada@example.com"}]),
        (None, "Sales", "Sales"),
    ],
)
def test_lists_of_members_are_read_to_ids_and_nothing_else_is(path: str | None, value: Any, expected: Any) -> None:
    assert with_read_members(path, value) == expected


def test_ids_that_were_read_change_members_as_the_list_does() -> None:
    read = frozenset({ONE, TWO})

    assert changes(("add", "members", read), ("remove", "members", frozenset({ONE}))) == [(ADD, read), (REMOVE, {ONE})]


def test_more_names_than_may_be_are_not_read() -> None:
    many = dict.fromkeys(map(str, range(NAMES_CHARACTERS_MAX + 2)))

    for value in (many, {"urn:example": many}):
        with pytest.raises(TooMany):
            operations_of([("add", None, value)])


def changes(*operations: tuple[str, str | None, Any]) -> list[tuple[OperationKind, set[UUID]]]:
    found: list[MemberChange] = list(member_changes([operation(*one) for one in operations], HELD))
    return [(change.kind, set(change.ids)) for change in found]


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ([("add", "members", [{"value": str(ONE)}, {"VALUE": str(TWO)}])], [(ADD, {ONE, TWO})]),
        ([("Add", None, {"members": [{"value": str(ONE)}]})], [(ADD, {ONE})]),
        ([("add", "members", {"value": str(ONE)})], [(ADD, {ONE})]),
        ([("add", "members", [str(ONE)])], [(ADD, {ONE})]),
        ([("add", "members", None)], [(ADD, set())]),
        ([("remove", f'members[value eq "{ONE}"]', None)], [(REMOVE, {ONE})]),
        ([("remove", f'members[value eq "{ONE}" or value eq "{TWO}"]', None)], [(REMOVE, {ONE, TWO})]),
        # As the document of the interface writes it.
        ([("remove", f"members[value eq {ONE}]", None)], [(REMOVE, {ONE})]),
        ([("Remove", "members", [{"value": str(ONE)}])], [(REMOVE, {ONE})]),
        ([("remove", "members", None)], [(REPLACE, set())]),
        ([("replace", "members", [{"value": str(ONE)}])], [(REPLACE, {ONE})]),
        (
            [("add", "members", [str(ONE)]), ("add", None, {"members": [str(TWO)]}), ("remove", "members", [str(ONE)])],
            [(ADD, {ONE, TWO}), (REMOVE, {ONE})],
        ),
        ([("replace", "members", [str(ONE)]), ("replace", "members", None)], [(REPLACE, {ONE}), (REPLACE, set())]),
        ([("replace", None, {"id": "1", "displayName": "Acme", "schemas": [], "externalId": "x"})], []),
        ([("replace", "displayName", "Acme")], []),
    ],
)
def test_operations_change_members(operations: list[tuple[str, str | None, Any]], expected: Any) -> None:
    assert changes(*operations) == expected


@pytest.mark.parametrize(
    ("operations", "refusal"),
    [
        ([("remove", None, None)], NoTarget),
        ([("add", None, [])], InvalidValue),
        ([("add", "members", [{"value": "x"}])], InvalidValue),
        ([("add", "members", [{"display": "x"}])], InvalidValue),
        ([("remove", 'members[display eq "x"]', None)], InvalidPath),
        ([("remove", "members[value pr]", None)], InvalidPath),
        ([("replace", f'members[value eq "{ONE}"]', {"value": str(TWO)})], InvalidPath),
        ([("replace", "members.value", "x")], InvalidPath),
        ([("replace", f'members[value eq "{ONE}"].value', "x")], InvalidPath),
        ([("add", "owners", "x")], InvalidPath),
        ([("add", None, {"a b": "x"})], InvalidPath),
        ([("replace", "displayName", "Other")], ReadOnlyAttribute),
        ([("replace", None, {"id": "2"})], ReadOnlyAttribute),
        ([("remove", "displayName", None)], ReadOnlyAttribute),
    ],
)
def test_operations_that_cannot_be_applied_are_refused(
    operations: list[tuple[str, str | None, Any]], refusal: type[Exception]
) -> None:
    with pytest.raises(refusal):
        changes(*operations)
