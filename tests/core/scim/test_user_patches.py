"""What the operations of a PATCH make of a user."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from core.scim.patches import NAMES_CHARACTERS_MAX, OPERATIONS_MAX, PATH_CHARACTERS_MAX, operation, operations_of
from core.scim.refusals import InvalidPath, InvalidSyntax, InvalidValue, NoTarget, ReadOnlyAttribute, TooMany
from core.scim.user_patches import Email, UserValues, email_in, patched
from core.scim.users import DirectoryProfile, DirectoryUser

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
PROFILE = DirectoryProfile(
    user_name="Ada@example.com",
    external_id="1",
    formatted_name=None,
    given_name="Ada",
    family_name="Byron",
    display_name="Ada B.",
)
ADA = DirectoryUser(
    id=UUID(int=1),
    user_id=UUID(int=1),
    membership_id=UUID(int=2),
    email="ada@example.com",
    role="member",
    is_active=True,
    created_at=NOW,
    updated_at=NOW,
    profile=PROFILE,
)
UNCHANGED = UserValues(
    user_name="Ada@example.com",
    external_id="1",
    given_name="Ada",
    family_name="Byron",
    display_name="Ada B.",
    is_active=True,
)
CORE = "urn:ietf:params:scim:schemas:core:2.0:User"
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"


def after(*operations: tuple[str, str | None, Any], user: DirectoryUser = ADA) -> UserValues:
    return patched(user, [operation(*one) for one in operations])


@pytest.mark.parametrize(
    ("operations", "changed"),
    [
        ([("replace", "active", False)], {"is_active": False}),
        ([("Replace", "active", "False")], {"is_active": False}),
        ([("REPLACE", None, {"active": "false"})], {"is_active": False}),
        ([("replace", None, {"ACTIVE": False, "displayname": "Ada"})], {"is_active": False, "display_name": "Ada"}),
        ([("add", "displayName", "Ada")], {"display_name": "Ada"}),
        ([("remove", "displayName", None)], {"display_name": None}),
        ([("Add", "externalId", "2"), ("replace", "externalId", "3")], {"external_id": "3"}),
        ([("replace", "userName", "ada2@example.com")], {"user_name": "ada2@example.com"}),
        ([("replace", f"{CORE}:userName", "a@b.example")], {"user_name": "a@b.example"}),
        ([("replace", None, {CORE: {"displayName": "Ada"}})], {"display_name": "Ada"}),
        ([("replace", "name.givenName", "Augusta")], {"given_name": "Augusta"}),
        ([("replace", None, {"name.familyName": "King"})], {"family_name": "King"}),
        ([("replace", "name", {"familyName": "King", "middleName": "x"})], {"family_name": "King"}),
        ([("remove", "name", None)], {"given_name": None, "family_name": None}),
        ([("remove", "name.givenName", None)], {"given_name": None}),
        (
            [("replace", 'emails[type eq "work"].value', "new@example.com")],
            {"user_name": None, "email": "new@example.com"},
        ),
        (
            [("replace", None, {'emails[type eq "work"].value': "new@example.com"})],
            {"user_name": None, "email": "new@example.com"},
        ),
        (
            [("replace", "emails", [{"value": "x@example.com"}, {"value": "new@example.com", "primary": True}])],
            {"user_name": None, "email": "new@example.com"},
        ),
        (
            [("add", "emails", {"Value": "new@example.com", "type": "work"})],
            {"user_name": None, "email": "new@example.com"},
        ),
        ([("replace", "emails.value", "ADA@example.com")], {"email": "ADA@example.com"}),
        (
            [("replace", "emails", "new@example.com"), ("replace", "userName", "b@example.com")],
            {"user_name": "b@example.com", "email": "new@example.com"},
        ),
        ([("replace", 'emails[type eq "home"].value', "home@example.com")], {}),
        ([("remove", 'emails[type eq "work"]', None)], {}),
        ([("replace", "emails", [])], {}),
        ([("replace", 'emails[type eq "work"].primary', False)], {"is_primary": False}),
        (
            [("replace", "emails", [{"value": "ada@example.com", "primary": False}])],
            {"email": "ada@example.com", "is_primary": False},
        ),
        ([("replace", "emails.type", "home"), ("replace", "title", "Countess"), ("add", "schemas", [])], {}),
        ([("replace", f"{ENTERPRISE}:department", "Engines")], {}),
        ([("replace", None, {"id": "x", "meta": {}, "not a name": 1, "title": None})], {}),
        ([("remove", "nothing", None), ("remove", "name.middleName", None)], {}),
    ],
)
def test_operations_change_what_they_name(
    operations: list[tuple[str, str | None, Any]], changed: dict[str, Any]
) -> None:
    assert after(*operations) == replace(UNCHANGED, **changed)


def test_a_user_name_that_is_no_address_stays_when_the_address_changes() -> None:
    user = replace(ADA, profile=replace(PROFILE, user_name="ada"))

    values = after(("replace", "emails.value", "new@example.com"), user=user)

    assert (values.user_name, values.email) == ("ada", "new@example.com")


@pytest.mark.parametrize(
    ("operations", "refusal"),
    [
        ([("remove", None, None)], NoTarget),
        ([("replace", None, "x")], InvalidValue),
        ([("replace", "active", "yes")], InvalidValue),
        ([("remove", "active", None)], InvalidValue),
        ([("remove", "userName", None)], InvalidValue),
        ([("replace", "userName", 1)], InvalidValue),
        ([("replace", "displayName", ["x"])], InvalidValue),
        ([("replace", "name", "x")], InvalidValue),
        ([("replace", "emails", [1])], InvalidValue),
        ([("replace", "id", "x")], ReadOnlyAttribute),
        ([("replace", "meta.created", "x")], ReadOnlyAttribute),
        ([("replace", "nothing", "x")], InvalidPath),
        ([("replace", None, {"nothing": "x"})], InvalidPath),
    ],
)
def test_operations_that_cannot_be_applied_are_refused(
    operations: list[tuple[str, str | None, Any]], refusal: type[Exception]
) -> None:
    with pytest.raises(refusal):
        after(*operations)


def test_an_operation_is_one_of_three_and_has_a_valid_path() -> None:
    with pytest.raises(InvalidSyntax):
        operation("move", "userName", "x")
    with pytest.raises(InvalidPath):
        operation("add", "a b", "x")
    with pytest.raises(InvalidPath):
        operation("add", "a" * (PATH_CHARACTERS_MAX + 1), "x")


def test_the_number_of_operations_is_limited() -> None:
    one = ("replace", "title", "x")

    assert len(operations_of([one] * OPERATIONS_MAX)) == OPERATIONS_MAX
    with pytest.raises(TooMany):
        operations_of([one] * (OPERATIONS_MAX + 1))
    with pytest.raises(InvalidSyntax):
        operations_of([])


def test_the_paths_of_a_request_are_limited_together_wherever_they_stand() -> None:
    path = "a" * PATH_CHARACTERS_MAX
    names = {path + str(number): "x" for number in range(NAMES_CHARACTERS_MAX // PATH_CHARACTERS_MAX)}

    assert len(operations_of([("add", path, "x")] * (NAMES_CHARACTERS_MAX // PATH_CHARACTERS_MAX))) == 200
    for one in (("add", path, names), ("add", None, names), ("add", None, {CORE: names})):
        with pytest.raises(TooMany):
            operations_of([one])


def test_the_object_of_a_schema_has_no_other_inside() -> None:
    inner: dict[str, Any] = {"displayName": "lost"}
    for _ in range(2_000):
        inner = {CORE: inner}

    assert after(("add", None, {CORE: {"displayName": "kept", CORE: inner}})).display_name == "kept"


@pytest.mark.parametrize(
    ("value", "email"),
    [
        ([], None),
        ([{"type": "work"}, {"value": " "}], None),
        ([{"value": "a"}, {"value": "b", "type": "work"}], Email("b", is_primary=True)),
        ([{"value": "a", "type": "work"}, {"value": "b", "primary": True}], Email("b", is_primary=True)),
        ([{"value": "a", "primary": "False"}, {"value": "b", "primary": False}], Email("a", is_primary=False)),
        ("a", Email("a", is_primary=True)),
    ],
)
def test_the_address_is_the_primary_one_or_that_of_work_or_the_first(value: Any, email: Email | None) -> None:
    assert email_in(value) == email
