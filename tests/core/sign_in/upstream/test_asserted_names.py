"""The name of a person, as the provider of a connection sends it."""

from __future__ import annotations

from typing import Any

import pytest

from core.sign_in.identities import AssertedNames
from core.sign_in.upstream import asserted

WHOLE = AssertedNames(name="Ada Byron", given_name="Ada", family_name="Byron")


@pytest.mark.parametrize(
    ("claims", "mapping", "named"),
    [
        ({"name": "Ada Byron", "given_name": "Ada", "family_name": "Byron"}, {}, WHOLE),
        ({"name": "ada", "cn": "Ada Byron"}, {"name": "cn"}, AssertedNames(name="Ada Byron")),
        ({"name": " Ada ", "given_name": 7, "family_name": "\u0000"}, {}, AssertedNames(name="Ada")),
        ({"name": "x" * 1000, "given_name": ""}, {}, None),
        ({}, {}, None),
    ],
)
def test_claims_name_a_person(claims: dict[str, Any], mapping: dict[str, str], named: AssertedNames | None) -> None:
    assert asserted.names_in_claims(claims, mapping) == named


@pytest.mark.parametrize(
    ("attributes", "mapping", "named"),
    [
        (
            {
                "urn:oid:2.16.840.1.113730.3.1.241": ["Ada Byron"],
                "urn:oid:2.5.4.42": ["Ada"],
                "urn:oid:2.5.4.4": ["Byron"],
            },
            {},
            WHOLE,
        ),
        ({"displayName": ["Ada Byron"], "givenName": ["Ada"], "sn": ["Byron"]}, {}, WHOLE),
        ({"displayName": ["", "Ada Byron"]}, {}, AssertedNames(name="Ada Byron")),
        ({"displayName": ["Ada Byron"]}, {"name": "nick"}, None),
        ({"nick": ["ada"]}, {"given_name": "nick"}, AssertedNames(given_name="ada")),
        ({}, {}, None),
    ],
)
def test_attributes_name_a_person(
    attributes: dict[str, list[str]], mapping: dict[str, str], named: AssertedNames | None
) -> None:
    assert asserted.names_in_attributes(attributes, mapping) == named
