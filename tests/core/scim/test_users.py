"""Users as SCIM shows them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from adapters.domain_names import IdnaDomainNames
from core.scim.users import DirectoryProfile, StoredUser, described, names_from

to_ascii = IdnaDomainNames().to_ascii
NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
STORED = StoredUser(
    id=UUID(int=1),
    user_id=UUID(int=1),
    membership_id=UUID(int=2),
    email="ada@xn--bcher-kva.example",
    role="member",
    is_active=True,
    created_at=NOW,
    updated_at=NOW,
    profile=None,
)


@pytest.mark.parametrize(
    ("email", "names"),
    [
        ("ada.lovelace@example.com", ("Ada", "Lovelace")),
        ("ada_king-noel@example.com", ("Ada", "King Noel")),
        ("ada+news@example.com", ("Ada", "Example")),
        ("ADA@example.com", ("Ada", "Example")),
        ("+@example.com", ("+", "Example")),
    ],
)
def test_names_are_derived_from_an_address(email: str, names: tuple[str, str]) -> None:
    assert names_from(email) == names


@pytest.mark.parametrize(
    ("user_name", "shown"),
    [
        ("Ada@bücher.example", "Ada@bücher.example"),
        ("ADA@XN--BCHER-KVA.example", "ADA@XN--BCHER-KVA.example"),
        ("ada", "ada"),
        ("old@bücher.example", "ada@xn--bcher-kva.example"),
    ],
)
def test_a_user_name_is_shown_as_it_was_sent_while_it_names_the_account(user_name: str, shown: str) -> None:
    user = described(replace(STORED, profile=DirectoryProfile(user_name=user_name)), to_ascii)

    assert user.profile.user_name == shown


@pytest.mark.parametrize(
    ("profile", "formatted"),
    [
        (None, "Ada Xn--bcher-kva"),
        (DirectoryProfile(user_name="ada"), None),
        (DirectoryProfile(user_name="ada", given_name="Ada"), "Ada"),
        (DirectoryProfile(user_name="ada", given_name="Ada", formatted_name="Countess"), "Countess"),
    ],
)
def test_a_whole_name_is_made_of_its_parts_unless_it_was_sent(
    profile: DirectoryProfile | None, formatted: str | None
) -> None:
    assert described(replace(STORED, profile=profile), to_ascii).formatted_name == formatted


def test_a_version_differs_when_anything_that_is_shown_does() -> None:
    user = described(STORED, to_ascii)
    others = [
        replace(user, is_active=False),
        replace(user, email="other@example.com"),
        replace(user, updated_at=NOW.replace(hour=13)),
        replace(user, profile=replace(user.profile, display_name="Ada")),
    ]

    assert len({user.version, *(other.version for other in others)}) == 1 + len(others)
    assert user.version == described(STORED, to_ascii).version
