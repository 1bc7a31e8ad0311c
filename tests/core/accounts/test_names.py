"""The names of people: their form, and whether the person's own or the directory's counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.accounts import names
from core.accounts.names import PersonNames
from core.errors import BadRequest


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("  Ada Lovelace ", "Ada Lovelace"),
        ("A\u0301. Lovelace", "\u00c1. Lovelace"),
        ("O'Neill-Śmigły", "O'Neill-Śmigły"),
        ("李", "李"),
        ("\u2764\u200d", "\u2764\u200d"),
        ("a" * 100, "a" * 100),
    ],
)
def test_a_name_is_trimmed_and_has_one_form_of_each_letter(given: str, stored: str) -> None:
    assert names.checked(given) == stored


@pytest.mark.parametrize(
    "given",
    ["", "   ", "a" * 101, "Ada\nLovelace", "Ada\u202eevil", "Ada\u200b", "Ada\x00", "\u200d\u200d", "ada.example.com"],
)
def test_a_name_is_one_line_that_can_be_seen_and_no_address(given: str) -> None:
    with pytest.raises(BadRequest) as refused:
        names.checked(given, "called")

    assert [detail.field for detail in refused.value.details] == ["called"]


@pytest.mark.parametrize(
    ("known", "shown"),
    [
        (PersonNames(own=None), None),
        (PersonNames(own="Ada", display_name="Lovelace, A."), "Ada"),
        (PersonNames(own=None, display_name="Lovelace, A.", formatted_name="Ada L."), "Lovelace, A."),
        (PersonNames(own=None, formatted_name="Ada L.", given_name="Ada"), "Ada L."),
        (PersonNames(own=None, given_name="Ada", family_name="Lovelace"), "Ada Lovelace"),
        (PersonNames(own=None, family_name="Lovelace"), "Lovelace"),
    ],
)
def test_what_the_person_has_set_comes_before_what_the_directory_says(known: PersonNames, shown: str | None) -> None:
    assert known.shown == shown


def test_the_claims_are_those_that_are_known() -> None:
    assert PersonNames(own=None).profile_claims == {}
    told = PersonNames(own=None, display_name="Ada", given_name="Augusta Ada", family_name="King")
    assert told.profile_claims == {"name": "Ada", "given_name": "Augusta Ada", "family_name": "King"}
    # The parts are no parts of a name of one's own.
    assert replace(told, own="Countess").profile_claims == {"name": "Countess"}
