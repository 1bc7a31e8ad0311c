"""The groups that identity providers name, in claims and in attributes."""

from __future__ import annotations

from typing import Any

import pytest

from core.sign_in.identities import AssertedGroups
from core.sign_in.upstream import asserted
from core.sign_in.upstream.asserted import groups_in_attributes, groups_in_claims

TOO_MANY = [f"g{number}" for number in range(asserted.GROUPS_MAX + 1)]
LINK = "http://schemas.microsoft.com/claims/groups.link"


@pytest.mark.parametrize(
    ("claims", "mapped", "values"),
    [
        ({"groups": ["b", "a", "b"]}, None, ["a", "b"]),
        ({"groups": []}, None, []),
        ({"groups": "a"}, None, ["a"]),
        ({"groups": ["a", 7, None, "", "x" * 256, "hid\u202eden"]}, None, ["a"]),
        ({"realm": {"roles": ["a"]}}, "realm.roles", ["a"]),
        ({"realm.roles": ["a"], "realm": {"roles": ["b"]}}, "realm.roles", ["a"]),
        ({"groups": TOO_MANY}, None, None),
        ({"_claim_names": {"groups": "src1"}}, None, None),
        ({"hasgroups": "true"}, None, None),
    ],
)
def test_a_claim_names_groups_or_says_that_they_are_too_many(
    claims: dict[str, Any], mapped: str | None, values: list[str] | None
) -> None:
    found = groups_in_claims(claims, mapped)

    assert found == AssertedGroups(values=values)
    assert AssertedGroups(values=values).is_overage is (values is None)


@pytest.mark.parametrize(
    ("claims", "mapped"),
    [({}, None), ({"groups": {"a": 1}}, None), ({"realm": "x"}, "realm.roles.all"), ({"_claim_names": "groups"}, None)],
)
def test_a_claim_that_is_no_list_says_nothing(claims: dict[str, Any], mapped: str | None) -> None:
    assert groups_in_claims(claims, mapped) is None


@pytest.mark.parametrize(
    ("attributes", "mapped", "found"),
    [
        ({"memberOf": ["b", "a"]}, None, AssertedGroups(values=["a", "b"])),
        ({"http://schemas.xmlsoap.org/claims/Group": []}, None, AssertedGroups(values=[])),
        ({"groups": ["a"], "teams": ["b"]}, "teams", AssertedGroups(values=["b"])),
        ({"groups": ["a"]}, "teams", None),
        ({LINK: ["https://graph.example"]}, None, AssertedGroups(values=None)),
        ({}, None, None),
    ],
)
def test_attributes_name_groups(
    attributes: dict[str, list[str]], mapped: str | None, found: AssertedGroups | None
) -> None:
    assert groups_in_attributes(attributes, mapped) == found
