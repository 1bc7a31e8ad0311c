"""Searching the users of the platform."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from tests.statements import recorded_statements
from tests.world.platform import PLATFORM_OWNER, Platform
from tests.world.world import World, assert_refused

PATH = "/api/platform/users/search"


async def found(platform: Platform, query: str) -> list[str]:
    """Search, and return the addresses of the users that are found."""
    answer = await platform.request("GET", f"{PATH}?{query}")
    assert answer.status == 200, answer.text
    return [user["email"] for user in answer.json["users"]]


async def test_a_user_is_shown_with_their_organizations(platform: Platform, world: World) -> None:
    user_id = world.user(has_mfa=True)
    acme, bolt = world.organization("acme"), world.organization("bolt")
    world.member(acme, user_id, "owner")
    world.member(bolt, user_id)

    answer = await platform.request("GET", f"{PATH}?user_id={user_id}")

    assert answer.json == {
        "users": [
            {
                "id": str(user_id),
                "email": "ada@example.com",
                "name": None,
                "is_platform_owner": False,
                "mfa_enabled": True,
                "created_at": "2026-02-03T04:05:06Z",
                "organizations": [
                    {"id": str(acme), "slug": "acme", "name": "Acme", "role": "owner"},
                    {"id": str(bolt), "slug": "bolt", "name": "Bolt", "role": "member"},
                ],
            }
        ]
    }


async def test_a_part_of_the_address_finds_users_prefix_matches_first(platform: Platform, world: World) -> None:
    for email in ("oldlovelace@example.net", "lovelace.b@example.net", "grace@example.net", "lovelace.a@example.net"):
        world.user(email)
    world.clock.advance(timedelta(seconds=1))
    world.user("newlovelace@example.net")

    assert await found(platform, "email=lovelace") == [
        "lovelace.a@example.net",
        "lovelace.b@example.net",
        "newlovelace@example.net",
        "oldlovelace@example.net",
    ]


async def test_a_part_is_compared_as_addresses_are_stored(
    platform: Platform, world: World, subtests: pytest.Subtests
) -> None:
    world.user()

    for part in ("ADA", "%20ada@example.com%20", "a@ex", "ada@example.com", "ple.c"):
        with subtests.test(part=part):
            assert "ada@example.com" in await found(platform, f"email={part}")


async def test_one_or_two_letters_match_only_the_beginning(
    platform: Platform, world: World, subtests: pytest.Subtests
) -> None:
    world.user()

    for part, expected in (("a", ["ada@example.com"]), ("ow", [PLATFORM_OWNER]), ("da", [])):
        with subtests.test(part=part, expected=expected):
            assert await found(platform, f"email={part}") == expected


async def test_a_part_that_no_address_has_finds_no_user_and_no_character_is_a_wildcard(
    platform: Platform, world: World, subtests: pytest.Subtests
) -> None:
    world.user()

    for part in ("nob", "ada@example.comm", "a_a", "a%25a", "%5C"):
        with subtests.test(part=part):
            assert await found(platform, f"email={part}") == []


async def test_the_number_of_results_is_limited(platform: Platform, world: World) -> None:
    for number in range(25):
        world.user(f"somebody{number:02}@example.com")

    assert len(await found(platform, "email=somebody")) == 20
    assert len(await found(platform, "email=body&limit=3")) == 3
    assert len(await found(platform, "email=somebody2&limit=1000")) == 5


async def test_an_id_and_a_part_must_both_match(platform: Platform, world: World) -> None:
    user_id = world.user()

    assert await found(platform, f"user_id={user_id}&email=ada") == ["ada@example.com"]
    assert await found(platform, f"user_id={user_id}&email=grace") == []
    assert await found(platform, "user_id=0191d3c1-0000-7000-8000-00000000000f") == []


async def test_a_search_without_valid_criteria_is_refused(platform: Platform, subtests: pytest.Subtests) -> None:
    for query in ("", "email=", "email=%20", "limit=5", "user_id=ada", "email=ada&limit=0"):
        with subtests.test(query=query):
            assert_refused(await platform.request("GET", f"{PATH}?{query}"), 400, "BAD_REQUEST")


async def test_a_part_that_is_too_short_to_be_found_within_addresses_says_so(platform: Platform, world: World) -> None:
    world.user("bob@anchor.example")

    for query, users, has_hint in (
        ("email=an", [], True),
        ("email=bo", ["bob@anchor.example"], True),
        ("email=anc", ["bob@anchor.example"], False),
        (f"email=an&user_id={platform.owner_id}", [], False),
    ):
        answer = await platform.request("GET", f"{PATH}?{query}")
        assert [user["email"] for user in answer.json["users"]] == users, query
        assert ("hint" in answer.json) == has_hint, query


async def test_only_platform_owners_search_users(platform: Platform, world: World) -> None:
    world.user()

    assert_refused(await platform.request("GET", f"{PATH}?email=ada", by=await world.sign_in()), 403, "FORBIDDEN")


@pytest.mark.parametrize("by_id", [False, True])
async def test_a_search_executes_two_statements(platform: Platform, world: World, *, by_id: bool) -> None:
    user_id = world.user()
    world.member(world.organization(), user_id)

    with recorded_statements() as statements:
        await platform.request("GET", f"{PATH}?user_id={user_id}" if by_id else f"{PATH}?email=ada")

    assert len(statements) == 2


async def test_a_limited_number_of_organizations_is_shown_those_joined_first(
    platform: Platform, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.platform.users.ORGANIZATIONS_SHOWN_MAX", 2)
    user_id: UUID = world.user()
    for slug in ("acme", "bolt", "cord"):
        world.member(world.organization(slug), user_id)

    answer = await platform.request("GET", f"{PATH}?user_id={user_id}")

    assert len(answer.json["users"][0]["organizations"]) == 2
