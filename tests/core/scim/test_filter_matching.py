"""Filters of values in memory."""

from __future__ import annotations

from typing import Any

import pytest

from core.scim.filters import matches, parse

GROUP: dict[str, Any] = {
    "id": "0196C9F2",
    "displayname": "Acme",
    "externalid": None,
    "size": 3,
    "isopen": True,
    "meta": {"resourcetype": "Group"},
    "members": [{"value": "1", "type": "User"}, {"value": "2", "type": "User"}],
}


@pytest.mark.parametrize(
    "text",
    [
        'displayName eq "Acme"',
        'DISPLAYNAME co "cm"',
        'displayName sw "A" and displayName ew "e"',
        'displayName ne "acme"',
        'displayName gt "Abc" and displayName ge "Acme" and displayName lt "B" and displayName le "Acme"',
        'meta.resourceType eq "group"',
        "displayName pr",
        "not (externalId pr)",
        "externalId eq null",
        "displayName ne null",
        "isOpen eq true",
        "size eq 3",
        'members eq "1"',
        'members.value eq "2"',
        'members[value eq "2" and type eq "user"]',
        "members pr",
        'nothing eq "x" or id pr',
    ],
)
def test_a_filter_selects_a_value(text: str) -> None:
    assert matches(parse(text), GROUP)
    assert not matches(parse(f"not ({text})"), GROUP)


@pytest.mark.parametrize(
    "text",
    [
        'displayName eq "acme"',
        'displayName eq "Acme" and id eq "x"',
        'externalId eq "x"',
        "displayName eq null",
        "displayName gt null",
        "isOpen eq 1",
        "isOpen gt false",
        'size gt "1"',
        'members[value eq "1" and value eq "2"]',
        'displayName[value eq "Acme"]',
        'displayName.value eq "Acme"',
        "members.display pr",
    ],
)
def test_a_filter_does_not_select_another_value(text: str) -> None:
    assert not matches(parse(text), GROUP)
