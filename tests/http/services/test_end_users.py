"""The end users of an organization's services: listing them, and the record of one."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from core.sessions.sessions import IDLE_LIFETIME
from tests.clock import SettableClock
from tests.http.services.end_users import emails, listed, sign_in_to_service, user_id
from tests.statements import recorded_statements
from tests.world.builder import EMAIL
from tests.world.signing_in import Tokens
from tests.world.world import World, assert_refused

PATH = "/api/organizations/acme/users"
BOB = "bob@example.com"
UNKNOWN_ID = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")
LATER = timedelta(minutes=5)


@pytest.fixture
def acme(world: World) -> UUID:
    """An organization with two services."""
    organization_id = world.organization()
    for slug in ("shop", "blog"):
        world.service(organization_id, slug)
    return organization_id


@pytest.fixture
async def ada(world: World, acme: UUID) -> Tokens:
    """The organization's owner, signed in."""
    world.member(acme, world.user(), "owner")
    return await world.sign_in()


def link(world: World, organization_id: UUID, end_user_id: UUID, service: str = "shop") -> None:
    """Make an end user who has not signed in yet."""
    world.connection.execute(
        "INSERT INTO service_users (service_id, organization_id, user_id, first_login_at) VALUES (%s, %s, %s, %s)",
        (service_id(world, service), organization_id, end_user_id, world.clock()),
    )


def service_id(world: World, slug: str = "shop") -> UUID:
    return world.value("SELECT id FROM services WHERE slug = %s", slug)


def formatted(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


class TestList:
    """The list of the organization's end users."""

    async def test_an_end_user_has_the_documented_fields(self, world: World, ada: Tokens, clock: SettableClock) -> None:
        began_at = clock.now
        await sign_in_to_service(world)
        clock.advance(LATER)
        await sign_in_to_service(world, service="blog")

        assert await listed(world, ada) == {
            "users": [
                {
                    "id": str(user_id(world)),
                    "email": BOB,
                    "name": None,
                    "created_at": formatted(began_at),
                    "last_login_at": formatted(clock.now),
                    "mfa_enabled": False,
                    "services": ["blog", "shop"],
                }
            ],
            "pagination": {"page": 1, "limit": 50, "total": 1},
        }

    async def test_members_without_a_service_are_not_listed(self, world: World, ada: Tokens) -> None:
        await world.sign_in(org_slug="acme")

        assert (await listed(world, ada))["users"] == []

    async def test_a_member_who_uses_a_service_is_listed(self, world: World, ada: Tokens) -> None:
        await sign_in_to_service(world, EMAIL)

        assert await emails(world, ada) == [EMAIL]

    async def test_an_enabled_second_factor_is_shown(self, world: World, ada: Tokens) -> None:
        await sign_in_to_service(world)
        world.connection.execute("UPDATE users SET mfa_enabled_at = now() WHERE email = %s", (BOB,))

        [user] = (await listed(world, ada))["users"]

        assert user["mfa_enabled"] is True

    async def test_pages_list_them_in_the_order_of_their_ids(self, world: World, ada: Tokens) -> None:
        for number in range(5):
            await sign_in_to_service(world, f"user{number}@example.com")
        ordered = world.rows("SELECT email FROM users WHERE email LIKE 'user%%' ORDER BY id DESC")
        first, second, third, fourth, fifth = [email for (email,) in ordered]

        pages = [await listed(world, ada, f"?limit=2&page={page}") for page in (1, 2, 3, 4)]

        assert [[user["email"] for user in page["users"]] for page in pages] == [
            [first, second],
            [third, fourth],
            [fifth],
            [],
        ]
        assert [page["pagination"] for page in pages] == [
            {"page": page, "limit": 2, "total": 5} for page in (1, 2, 3, 4)
        ]

    async def test_an_invalid_query_is_400(self, world: World, ada: Tokens, subtests: pytest.Subtests) -> None:
        for query in ("?page=0", "?limit=0", "?limit=x", "?service_id=shop", "?search=%00"):
            with subtests.test(query=query):
                answer = await world.client.get(PATH + query, token=ada.access_token)

                assert_refused(answer, 400, "BAD_REQUEST")

    async def test_a_page_after_the_last_one_is_empty(
        self, world: World, ada: Tokens, subtests: pytest.Subtests
    ) -> None:
        await sign_in_to_service(world)

        for page in ("2", "1000000000", "9" * 40):
            with subtests.test(page=page):
                found = await listed(world, ada, f"?page={page}&limit=100")

                assert (found["users"], found["pagination"]["total"]) == ([], 1)

    async def test_a_page_has_at_most_a_hundred_end_users(self, world: World, ada: Tokens) -> None:
        assert (await listed(world, ada, "?limit=101"))["pagination"]["limit"] == 100

    async def test_a_page_costs_two_statements(self, world: World, ada: Tokens) -> None:
        await sign_in_to_service(world)

        with recorded_statements() as statements:
            await listed(world, ada)

        assert [statement.split()[0] for statement in statements] == ["SELECT", "WITH"]


class TestFilters:
    """Filters by a part of the email address and by service."""

    @pytest.fixture
    def crowd(self, world: World, acme: UUID) -> None:
        for email in ("bob.builder@example.com", "rob@mail.test", "eve_100%@mail.test"):
            link(world, acme, world.user(email))
        link(world, acme, user_id(world, "rob@mail.test"), "blog")

    async def test_an_accented_letter_is_found_in_either_unicode_form(
        self, world: World, ada: Tokens, acme: UUID
    ) -> None:
        link(world, acme, world.user("ren\N{LATIN SMALL LETTER E WITH ACUTE}@mail.test"))

        found = await listed(world, ada, "?search=RENe%CC%81@")

        assert found["pagination"]["total"] == 1

    async def test_a_search_finds_any_part_of_an_address(
        self, world: World, ada: Tokens, crowd: None, subtests: pytest.Subtests
    ) -> None:
        for search, expected in (
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
        ):
            with subtests.test(search=search, expected=expected):
                found = await listed(world, ada, f"?search={search}")

                assert sorted(user["email"] for user in found["users"]) == sorted(expected)
                assert found["pagination"]["total"] == len(expected)

    async def test_a_search_longer_than_any_address_is_400(self, world: World, ada: Tokens, crowd: None) -> None:
        answer = await world.client.get(f"{PATH}?search={'a' * 255}", token=ada.access_token)

        assert_refused(answer, 400, "BAD_REQUEST")

    async def test_the_end_users_of_one_service_are_listed_with_all_their_services(
        self, world: World, ada: Tokens, crowd: None
    ) -> None:
        found = await listed(world, ada, f"?service_id={service_id(world, 'blog')}")

        assert [(user["email"], user["services"]) for user in found["users"]] == [("rob@mail.test", ["blog", "shop"])]
        assert found["pagination"]["total"] == 1

    async def test_both_filters_combine(self, world: World, ada: Tokens, crowd: None) -> None:
        assert await emails(world, ada, f"?service_id={service_id(world)}&search=rob") == ["rob@mail.test"]
        assert await emails(world, ada, f"?service_id={service_id(world, 'blog')}&search=bob") == []

    async def test_an_unknown_service_and_one_of_another_organization_list_no_end_users(
        self, world: World, ada: Tokens, crowd: None
    ) -> None:
        world.service(world.organization("bolt"), "market")
        await sign_in_to_service(world, service="market", org="bolt")

        assert await emails(world, ada, f"?service_id={service_id(world, 'market')}") == []
        assert await emails(world, ada, f"?service_id={UNKNOWN_ID}") == []

    async def test_a_search_finds_a_changed_address_and_not_the_old_one(self, world: World, ada: Tokens) -> None:
        bob = await sign_in_to_service(world)
        await world.change_address(bob.access_token, "robert@example.com")

        assert await emails(world, ada, "?search=robert") == ["robert@example.com"]
        assert await emails(world, ada, "?search=bob") == []


class TestDetail:
    """The details of one end user."""

    async def test_the_details_have_the_documented_fields(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        first_at = clock.now
        await sign_in_to_service(world)
        clock.advance(LATER)
        second_at = clock.now
        await sign_in_to_service(world)
        await sign_in_to_service(world, service="blog")

        answer = await world.client.get(f"{PATH}/{user_id(world)}", token=ada.access_token)

        assert answer.status == 200
        assert answer.json == {
            "id": str(user_id(world)),
            "email": BOB,
            "name": None,
            "email_verified": True,
            "created_at": formatted(first_at),
            "updated_at": formatted(first_at),
            "last_login_at": formatted(second_at),
            "mfa_enabled": False,
            "services": [
                {
                    "id": str(service_id(world, "blog")),
                    "slug": "blog",
                    "name": "Blog",
                    "first_login_at": formatted(second_at),
                    "last_login_at": formatted(second_at),
                    "metadata": {},
                },
                {
                    "id": str(service_id(world)),
                    "slug": "shop",
                    "name": "Shop",
                    "first_login_at": formatted(first_at),
                    "last_login_at": formatted(second_at),
                    "metadata": {},
                },
            ],
            "sessions": {"active_count": 3, "last_created_at": formatted(second_at)},
            "linked_identities": [],
        }

    async def test_a_linked_user_who_never_signed_in_is_shown(self, world: World, ada: Tokens, acme: UUID) -> None:
        bob = world.user(BOB)
        link(world, acme, bob)

        answer = await world.client.get(f"{PATH}/{bob}", token=ada.access_token)

        assert (answer.json["last_login_at"], answer.json["services"][0]["last_login_at"]) == (None, None)
        assert answer.json["sessions"] == {"active_count": 0, "last_created_at": None}
        assert (await listed(world, ada))["users"][0]["last_login_at"] is None

    async def test_activity_in_other_organizations_is_not_shown(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        began_at = clock.now
        world.service(world.organization("bolt"), "market")
        await sign_in_to_service(world)
        clock.advance(LATER)
        await sign_in_to_service(world, service="market", org="bolt")
        await world.sign_in(BOB)

        seen = (await world.client.get(f"{PATH}/{user_id(world)}", token=ada.access_token)).json
        [user] = (await listed(world, ada))["users"]

        assert [service["slug"] for service in seen["services"]] == user["services"] == ["shop"]
        assert seen["sessions"] == {"active_count": 1, "last_created_at": formatted(began_at)}
        assert seen["last_login_at"] == user["last_login_at"] == formatted(began_at)

    async def test_ended_and_expired_sessions_are_not_counted_as_active(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        began_at = clock.now
        bob = await sign_in_to_service(world)
        await world.client.post("/api/auth/logout", token=bob.access_token)
        await sign_in_to_service(world)
        clock.advance(IDLE_LIFETIME)
        ada = await world.sign_in()

        seen = (await world.client.get(f"{PATH}/{user_id(world)}", token=ada.access_token)).json

        assert seen["sessions"] == {"active_count": 0, "last_created_at": formatted(began_at)}

    async def test_a_user_who_is_not_an_end_user_of_the_organization_is_404(self, world: World, ada: Tokens) -> None:
        world.service(world.organization("bolt"), "market")
        await sign_in_to_service(world, service="market", org="bolt")

        for end_user_id in (user_id(world), user_id(world, EMAIL), UNKNOWN_ID, "no-id"):
            answer = await world.client.get(f"{PATH}/{end_user_id}", token=ada.access_token)
            assert_refused(answer, 404, "NOT_FOUND")

    async def test_the_details_cost_two_statements(self, world: World, ada: Tokens) -> None:
        await sign_in_to_service(world)
        path = f"{PATH}/{user_id(world)}"

        with recorded_statements() as statements:
            await world.client.get(path, token=ada.access_token)

        assert len(statements) == 2
