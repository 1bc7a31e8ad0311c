"""End users (operations 2.10 and 4.5, decisions 5.7)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
import trio

from core.sessions.sessions import IDLE_LIFETIME
from tests.sign_ins import EMAIL, Door, Entered, assert_refused, door
from tests.statements import recorded_statements

if TYPE_CHECKING:
    from datetime import datetime

    from tests.application import Answer
    from tests.clock import SettableClock

__all__ = ["door"]

PATH = "/api/organizations/acme/users"
BOB = "bob@example.com"
NOBODY = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")
LATER = timedelta(minutes=5)


@pytest.fixture
def acme(door: Door) -> UUID:
    """An organization with two services."""
    organization_id = door.organization()
    for slug in ("shop", "blog"):
        door.service(organization_id, slug)
    return organization_id


@pytest.fixture
async def ada(door: Door, acme: UUID) -> Entered:
    """Its owner, signed in."""
    door.member(acme, door.account(), "owner")
    return await door.enter()


async def use(door: Door, email: str = BOB, service: str = "shop", org: str = "acme") -> Entered:
    """Sign in to a service, which makes an end user."""
    if not door.rows("SELECT FROM users WHERE email = %s", email):
        door.account(email)
    return await door.enter(email, org_slug=org, service_slug=service)


def link(door: Door, organization_id: UUID, end_user_id: UUID, service: str = "shop") -> None:
    """Make an end user who has not signed in yet."""
    door.connection.execute(
        "INSERT INTO service_users (service_id, organization_id, user_id, first_login_at) VALUES (%s, %s, %s, %s)",
        (service_id(door, service), organization_id, end_user_id, door.clock()),
    )


def user_id(door: Door, email: str = BOB) -> UUID:
    return door.value("SELECT id FROM users WHERE email = %s", email)


def service_id(door: Door, slug: str = "shop") -> UUID:
    return door.value("SELECT id FROM services WHERE slug = %s", slug)


async def listed(door: Door, ada: Entered, query: str = "") -> Any:
    answer = await door.client.get(PATH + query, token=ada.access_token)
    assert answer.status == 200, answer.text
    return answer.json


async def emails(door: Door, ada: Entered, query: str = "") -> list[str]:
    return [user["email"] for user in (await listed(door, ada, query))["users"]]


async def end_sessions(door: Door, ada: Entered, whom: UUID | str, slug: str = "acme") -> Answer:
    return await door.client.delete(f"/api/organizations/{slug}/users/{whom}/sessions", token=ada.access_token)


def written(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


class TestList:
    """Who signs in to the services of the organization."""

    async def test_an_end_user_has_the_documented_fields(self, door: Door, ada: Entered, clock: SettableClock) -> None:
        began_at = clock.now
        await use(door)
        clock.advance(LATER)
        await use(door, service="blog")

        assert await listed(door, ada) == {
            "users": [
                {
                    "id": str(user_id(door)),
                    "email": BOB,
                    "created_at": written(began_at),
                    "last_login_at": written(clock.now),
                    "mfa_enabled": False,
                    "services": ["blog", "shop"],
                }
            ],
            "pagination": {"page": 1, "limit": 50, "total": 1},
        }

    async def test_members_who_use_no_service_are_no_end_users(self, door: Door, ada: Entered) -> None:
        await door.enter(org_slug="acme")

        assert (await listed(door, ada))["users"] == []

    async def test_a_member_who_uses_a_service_is_one_too(self, door: Door, ada: Entered) -> None:
        await use(door, EMAIL)

        assert await emails(door, ada) == [EMAIL]

    async def test_a_second_factor_is_shown(self, door: Door, ada: Entered) -> None:
        await use(door)
        door.connection.execute("UPDATE users SET mfa_enabled_at = now() WHERE email = %s", (BOB,))

        [user] = (await listed(door, ada))["users"]

        assert user["mfa_enabled"] is True

    async def test_the_newest_accounts_come_first_on_pages_that_follow_each_other(
        self, door: Door, ada: Entered
    ) -> None:
        for number in range(5):
            await use(door, f"user{number}@example.com")

        pages = [await listed(door, ada, f"?limit=2&page={page}") for page in (1, 2, 3, 4)]

        assert [[user["email"][4] for user in page["users"]] for page in pages] == [["4", "3"], ["2", "1"], ["0"], []]
        assert [page["pagination"] for page in pages] == [
            {"page": page, "limit": 2, "total": 5} for page in (1, 2, 3, 4)
        ]

    @pytest.mark.parametrize("query", ["?page=0", "?limit=0", "?limit=x", "?service_id=shop", "?search=%00"])
    async def test_what_cannot_be_is_400(self, door: Door, ada: Entered, query: str) -> None:
        answer = await door.client.get(PATH + query, token=ada.access_token)

        assert_refused(answer, 400, "BAD_REQUEST")

    @pytest.mark.parametrize("page", ["2", "1000000000", "9" * 40])
    async def test_behind_the_last_page_there_is_nobody(self, door: Door, ada: Entered, page: str) -> None:
        await use(door)

        found = await listed(door, ada, f"?page={page}&limit=100")

        assert (found["users"], found["pagination"]["total"]) == ([], 1)

    async def test_a_page_has_at_most_a_hundred(self, door: Door, ada: Entered) -> None:
        assert (await listed(door, ada, "?limit=101"))["pagination"]["limit"] == 100

    async def test_a_page_costs_two_statements(self, door: Door, ada: Entered) -> None:
        await use(door)

        with recorded_statements() as statements:
            await listed(door, ada)

        assert [statement.split()[0] for statement in statements] == ["SELECT", "WITH"]


class TestFilters:
    """By a part of the address, and by service."""

    @pytest.fixture
    def crowd(self, door: Door, acme: UUID) -> None:
        for email in ("bob.builder@example.com", "rob@mail.test", "eve_100%@mail.test"):
            link(door, acme, door.account(email))
        link(door, acme, user_id(door, "rob@mail.test"), "blog")

    async def test_an_accented_letter_is_found_in_either_spelling(self, door: Door, ada: Entered, acme: UUID) -> None:
        link(door, acme, door.account("ren\N{LATIN SMALL LETTER E WITH ACUTE}@mail.test"))

        found = await listed(door, ada, "?search=RENe%CC%81@")

        assert found["pagination"]["total"] == 1

    @pytest.mark.parametrize(
        ("search", "expected"),
        [
            ("ob", ["rob@mail.test", "bob.builder@example.com"]),
            ("ob@m", ["rob@mail.test"]),
            ("rob@mail.test", ["rob@mail.test"]),
            ("MAIL.Test", ["eve_100%@mail.test", "rob@mail.test"]),
            ("%20rob%20", ["rob@mail.test"]),
            ("b", ["rob@mail.test", "bob.builder@example.com"]),
            ("100%25@", ["eve_100%@mail.test"]),
            ("%25", ["eve_100%@mail.test"]),
            ("_", ["eve_100%@mail.test"]),
            ("bob%25com", []),
            ("", ["eve_100%@mail.test", "rob@mail.test", "bob.builder@example.com"]),
            ("ada", []),
        ],
    )
    async def test_any_part_of_an_address_finds_it(
        self, door: Door, ada: Entered, crowd: None, search: str, expected: list[str]
    ) -> None:
        found = await listed(door, ada, f"?search={search}")

        assert [user["email"] for user in found["users"]] == expected
        assert found["pagination"]["total"] == len(expected)

    async def test_a_longer_part_than_any_address_is_400(self, door: Door, ada: Entered, crowd: None) -> None:
        answer = await door.client.get(f"{PATH}?search={'a' * 255}", token=ada.access_token)

        assert_refused(answer, 400, "BAD_REQUEST")

    async def test_a_service_has_its_own_end_users_shown_with_all_services(
        self, door: Door, ada: Entered, crowd: None
    ) -> None:
        found = await listed(door, ada, f"?service_id={service_id(door, 'blog')}")

        assert [(user["email"], user["services"]) for user in found["users"]] == [("rob@mail.test", ["blog", "shop"])]
        assert found["pagination"]["total"] == 1

    async def test_both_filters_combine(self, door: Door, ada: Entered, crowd: None) -> None:
        assert await emails(door, ada, f"?service_id={service_id(door)}&search=rob") == ["rob@mail.test"]
        assert await emails(door, ada, f"?service_id={service_id(door, 'blog')}&search=bob") == []

    async def test_a_service_of_nobody_or_of_another_organization_has_none(
        self, door: Door, ada: Entered, crowd: None
    ) -> None:
        door.service(door.organization("bolt"), "market")
        await use(door, service="market", org="bolt")

        assert await emails(door, ada, f"?service_id={service_id(door, 'market')}") == []
        assert await emails(door, ada, f"?service_id={NOBODY}") == []

    async def test_a_changed_address_is_found_and_the_old_one_is_not(self, door: Door, ada: Entered) -> None:
        bob = await use(door)
        changed = await door.client.patch("/api/user", token=bob.access_token, body={"email": "robert@example.com"})
        assert changed.status == 200, changed.text

        assert await emails(door, ada, "?search=robert") == ["robert@example.com"]
        assert await emails(door, ada, "?search=bob") == []


class TestDetail:
    """One end user."""

    async def test_it_has_the_documented_fields(self, door: Door, ada: Entered, clock: SettableClock) -> None:
        first_at = clock.now
        await use(door)
        clock.advance(LATER)
        second_at = clock.now
        await use(door)
        await use(door, service="blog")

        answer = await door.client.get(f"{PATH}/{user_id(door)}", token=ada.access_token)

        assert answer.status == 200
        assert answer.json == {
            "id": str(user_id(door)),
            "email": BOB,
            "email_verified": True,
            "created_at": written(first_at),
            "updated_at": written(first_at),
            "last_login_at": written(second_at),
            "mfa_enabled": False,
            "services": [
                {
                    "id": str(service_id(door, "blog")),
                    "slug": "blog",
                    "name": "Blog",
                    "first_login_at": written(second_at),
                    "last_login_at": written(second_at),
                },
                {
                    "id": str(service_id(door)),
                    "slug": "shop",
                    "name": "Shop",
                    "first_login_at": written(first_at),
                    "last_login_at": written(second_at),
                },
            ],
            "sessions": {"active_count": 3, "last_created_at": written(second_at)},
            "linked_identities": [],
        }

    async def test_somebody_who_was_linked_and_never_signed_in_is_shown(
        self, door: Door, ada: Entered, acme: UUID
    ) -> None:
        bob = door.account(BOB)
        link(door, acme, bob)

        answer = await door.client.get(f"{PATH}/{bob}", token=ada.access_token)

        assert (answer.json["last_login_at"], answer.json["services"][0]["last_login_at"]) == (None, None)
        assert answer.json["sessions"] == {"active_count": 0, "last_created_at": None}
        assert (await listed(door, ada))["users"][0]["last_login_at"] is None

    async def test_only_what_happened_here_is_seen(self, door: Door, ada: Entered, clock: SettableClock) -> None:
        began_at = clock.now
        door.service(door.organization("bolt"), "market")
        await use(door)
        clock.advance(LATER)
        await use(door, service="market", org="bolt")
        await door.enter(BOB)

        seen = (await door.client.get(f"{PATH}/{user_id(door)}", token=ada.access_token)).json
        [user] = (await listed(door, ada))["users"]

        assert [service["slug"] for service in seen["services"]] == user["services"] == ["shop"]
        assert seen["sessions"] == {"active_count": 1, "last_created_at": written(began_at)}
        assert seen["last_login_at"] == user["last_login_at"] == written(began_at)

    async def test_sessions_that_are_over_are_not_active(self, door: Door, ada: Entered, clock: SettableClock) -> None:
        began_at = clock.now
        bob = await use(door)
        await door.client.post("/api/auth/logout", token=bob.access_token)
        await use(door)
        clock.advance(IDLE_LIFETIME)
        ada = await door.enter()

        seen = (await door.client.get(f"{PATH}/{user_id(door)}", token=ada.access_token)).json

        assert seen["sessions"] == {"active_count": 0, "last_created_at": written(began_at)}

    async def test_nobody_elses_end_user_is_found(self, door: Door, ada: Entered) -> None:
        door.service(door.organization("bolt"), "market")
        await use(door, service="market", org="bolt")

        for whom in (user_id(door), user_id(door, EMAIL), NOBODY, "no-id"):
            answer = await door.client.get(f"{PATH}/{whom}", token=ada.access_token)
            assert_refused(answer, 404, "NOT_FOUND")

    async def test_it_costs_two_statements(self, door: Door, ada: Entered) -> None:
        await use(door)
        path = f"{PATH}/{user_id(door)}"

        with recorded_statements() as statements:
            await door.client.get(path, token=ada.access_token)

        assert len(statements) == 2


class TestEndSessions:
    """Ending an end user's sessions in this organization's context."""

    async def test_they_end_on_the_very_next_request(self, door: Door, ada: Entered) -> None:
        sessions = [await use(door), await use(door, service="blog")]

        answer = await end_sessions(door, ada, user_id(door))

        assert answer.status == 200
        assert answer.json == {
            "message": "The sessions are ended. The person has to sign in again.",
            "sessions_revoked": 2,
        }
        for session in sessions:
            assert_refused(await door.ask(session), 401, "UNAUTHORIZED")
            assert_refused(await door.refresh(session.refresh_token), 401, "UNAUTHORIZED")

    async def test_those_of_other_organizations_of_none_and_of_others_go_on(self, door: Door, ada: Entered) -> None:
        door.service(door.organization("bolt"), "market")
        await use(door)
        others = [
            await use(door, service="market", org="bolt"),
            await door.enter(BOB),
            await use(door, "eve@example.com"),
        ]

        answer = await end_sessions(door, ada, user_id(door))

        assert answer.json["sessions_revoked"] == 1
        assert [(await door.ask(other)).status for other in others] == [200, 200, 200]

    async def test_the_organization_learns_of_it(self, door: Door, ada: Entered, acme: UUID) -> None:
        for _ in range(2):
            await use(door)

        await end_sessions(door, ada, user_id(door))

        revoked_by = str(user_id(door, EMAIL))
        assert door.events("session.revoked") == [(acme, BOB, {"sessions": 2, "revoked_by": revoked_by})]

    async def test_without_sessions_nothing_happens(self, door: Door, ada: Entered) -> None:
        await use(door)
        await end_sessions(door, ada, user_id(door))

        answer = await end_sessions(door, ada, user_id(door))

        assert (answer.status, answer.json) == (
            200,
            {"message": "There was no session to end.", "sessions_revoked": 0},
        )
        assert len(door.events("session.revoked")) == 1

    async def test_who_is_no_end_user_of_this_organization_is_not_found(self, door: Door, ada: Entered) -> None:
        door.service(door.organization("bolt"), "market")
        elsewhere = await use(door, service="market", org="bolt")

        for whom in (user_id(door), user_id(door, EMAIL), NOBODY, "no-id"):
            assert_refused(await end_sessions(door, ada, whom), 404, "NOT_FOUND")
        assert (await door.ask(elsewhere)).status == 200
        assert (await door.ask(ada)).status == 200

    async def test_a_member_may_look_and_not_end(self, door: Door, acme: UUID) -> None:
        bob = await use(door)
        door.member(acme, door.account("member@example.com"))
        member = await door.enter("member@example.com")

        assert await emails(door, member) == [BOB]
        assert_refused(await end_sessions(door, member, user_id(door)), 403, "FORBIDDEN")
        assert (await door.ask(bob)).status == 200

    async def test_of_two_who_end_them_at_once_each_session_is_told_once(self, door: Door, ada: Entered) -> None:
        for _ in range(3):
            await use(door)
        revoked: list[int] = []

        async def end() -> None:
            revoked.append((await end_sessions(door, ada, user_id(door))).json["sessions_revoked"])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(end)
            nursery.start_soon(end)

        assert sorted(revoked) == [0, 3]
        assert [data["sessions"] for _, _, data in door.events("session.revoked")] == [3]
