"""Login analytics."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from core.audit.analytics import RECENT_LOGINS_MAX
from tests.application import Answer
from tests.ids import id_at
from tests.statements import recorded_statements
from tests.world.signing_in import Tokens
from tests.world.world import World, assert_refused

PERIODS = ("login-trends", "logins-by-service", "logins-by-provider")
ALL = (*PERIODS, "recent-logins")
# The date of the test clock; a real sign-in counts on this day.
TODAY = date(2026, 2, 3)

every_endpoint = pytest.mark.parametrize("endpoint", ALL)
every_period = pytest.mark.parametrize("endpoint", PERIODS)


@pytest.fixture
def acme(world: World) -> UUID:
    """An organization."""
    return world.organization()


@pytest.fixture
async def ada(world: World, acme: UUID) -> Tokens:
    """A member of the organization, signed in without naming it."""
    world.member(acme, world.user())
    return await world.sign_in()


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def sign_in(
    world: World,
    organization_id: UUID | None,
    created_at: datetime | None = None,
    *,
    provider: str = "password",
    service_id: UUID | None = None,
    success: bool = True,
    times: int = 1,
) -> list[str]:
    """Insert sign-ins of the member; return their ids."""
    ids: list[str] = []
    for _ in range(times):
        event_id = id_at(created_at) if created_at is not None else world.new_id()
        world.connection.execute(
            """
            INSERT INTO login_events (id, user_id, organization_id, service_id, provider, success, risk_score,
                                      risk_factors, created_at)
            SELECT %s, id, coalesce(%s, id), %s, %s, %s, 0, '{}', %s FROM users WHERE email = 'ada@example.com'
            """,
            (event_id, organization_id, service_id, provider, success, created_at or world.clock()),
        )
        ids.append(str(event_id))
    return ids


async def request(world: World, ada: Tokens, endpoint: str, query: str = "", slug: str = "acme") -> Answer:
    return await world.client.get(f"/api/organizations/{slug}/analytics/{endpoint}{query}", token=ada.access_token)


async def read(world: World, ada: Tokens, endpoint: str, query: str = "") -> Any:
    answer = await request(world, ada, endpoint, query)
    assert answer.status == 200, answer.text
    return answer.json


class TestTrends:
    """Sign-ins by day."""

    async def test_days_are_listed_in_order_without_days_that_have_no_sign_ins(
        self, world: World, ada: Tokens, acme: UUID
    ) -> None:
        sign_in(world, acme, at("2026-02-02T12:00"), times=2)
        sign_in(world, acme, at("2026-01-30T12:00"))
        sign_in(world, acme, at("2026-02-03T01:00"), times=3)

        assert await read(world, ada, "login-trends") == [
            {"date": "2026-01-30", "count": 1},
            {"date": "2026-02-02", "count": 2},
            {"date": "2026-02-03", "count": 3},
        ]

    async def test_a_day_is_a_utc_day(self, world: World, ada: Tokens, acme: UUID) -> None:
        for created_at in ("2026-01-31T23:59:59.999999", "2026-02-01T00:00:00"):
            sign_in(world, acme, at(created_at))

        trends = await read(world, ada, "login-trends")

        assert [row["date"] for row in trends] == ["2026-01-31", "2026-02-01"]

    async def test_a_real_sign_in_to_the_organization_counts(self, world: World, ada: Tokens, acme: UUID) -> None:
        await world.sign_in(org_slug="acme")

        assert await read(world, ada, "login-trends") == [{"date": str(TODAY), "count": 1}]
        assert await read(world, ada, "logins-by-provider") == [{"provider": "password", "count": 1}]
        assert await read(world, ada, "logins-by-service") == []


class TestPeriods:
    """The period, from a first to a last day."""

    async def test_the_default_period_is_the_last_thirty_days(
        self, world: World, ada: Tokens, acme: UUID, subtests: pytest.Subtests
    ) -> None:
        shop = world.service(acme).id
        sign_in(world, acme, at("2026-01-04T00:00"), service_id=shop)
        sign_in(world, acme, at("2026-01-03T23:59:59"), service_id=shop)

        for endpoint in PERIODS:
            with subtests.test(endpoint=endpoint):
                assert sum(row["count"] for row in await read(world, ada, endpoint)) == 1

    async def test_a_period_includes_both_of_its_ends(
        self, world: World, ada: Tokens, acme: UUID, subtests: pytest.Subtests
    ) -> None:
        shop = world.service(acme).id
        for created_at in ("2025-05-01T23:59", "2025-05-02T00:00", "2025-05-04T23:59:59", "2025-05-05T00:00"):
            sign_in(world, acme, at(created_at), service_id=shop)

        for endpoint in PERIODS:
            with subtests.test(endpoint=endpoint):
                rows = await read(world, ada, endpoint, "?start_date=2025-05-02&end_date=2025-05-04")

                assert sum(row["count"] for row in rows) == 2

    async def test_a_period_may_be_one_day_or_all_days(
        self, world: World, ada: Tokens, acme: UUID, subtests: pytest.Subtests
    ) -> None:
        sign_in(world, acme, at("2025-05-02T12:00"), service_id=world.service(acme).id)

        for endpoint in PERIODS:
            with subtests.test(endpoint=endpoint):
                for query in (
                    "?start_date=2025-05-02&end_date=2025-05-02",
                    "?start_date=0001-01-01&end_date=9999-12-31",
                ):
                    assert [row["count"] for row in await read(world, ada, endpoint, query)] == [1]

    async def test_a_period_that_ends_before_it_begins_is_refused(
        self, world: World, ada: Tokens, subtests: pytest.Subtests
    ) -> None:
        for query in (
            "?start_date=2026-02-02&end_date=2026-02-01",
            "?start_date=2026-02-04",
            "?end_date=2025-01-01",
        ):
            for endpoint in PERIODS:
                with subtests.test(endpoint=endpoint, query=query):
                    answer = await request(world, ada, endpoint, query)

                    assert_refused(answer, 400, "BAD_REQUEST")
                    assert [detail["field"] for detail in answer.json["details"]] == ["start_date"]

    async def test_an_invalid_date_is_refused(self, world: World, ada: Tokens, subtests: pytest.Subtests) -> None:
        for value in (
            "",
            "today",
            "2026-2-3",
            "2026-02-30",
            "20260203",
            "2026-02-03T00:00:00Z",
            "03.02.2026",
            "0000-01-01",
        ):
            for field in ("start_date", "end_date"):
                for endpoint in PERIODS:
                    with subtests.test(endpoint=endpoint, field=field, value=value):
                        answer = await request(world, ada, endpoint, f"?{field}={value}")

                        assert_refused(answer, 400, "BAD_REQUEST")
                        assert [detail["field"] for detail in answer.json["details"]] == [field]


class TestServices:
    """Sign-ins by service."""

    async def test_services_are_listed_by_name_the_most_used_first(self, world: World, ada: Tokens, acme: UUID) -> None:
        shop, blog, wiki = (world.service(acme, slug).id for slug in ("shop", "blog", "wiki"))
        world.service(acme, "unused")
        for service_id, times in ((shop, 1), (wiki, 2), (blog, 1)):
            sign_in(world, acme, service_id=service_id, times=times)
        sign_in(world, acme)

        assert await read(world, ada, "logins-by-service") == [
            {"service_id": str(wiki), "service_name": "Wiki", "count": 2},
            {"service_id": str(blog), "service_name": "Blog", "count": 1},
            {"service_id": str(shop), "service_name": "Shop", "count": 1},
        ]

    async def test_a_real_sign_in_to_a_service_counts(self, world: World, ada: Tokens, acme: UUID) -> None:
        shop = world.service(acme).id
        await world.sign_in(org_slug="acme", service_slug="shop")

        assert await read(world, ada, "logins-by-service") == [
            {"service_id": str(shop), "service_name": "Shop", "count": 1}
        ]


class TestProviders:
    """Sign-ins by provider."""

    async def test_every_provider_is_counted_under_its_name(self, world: World, ada: Tokens, acme: UUID) -> None:
        providers = ("password", "passkey", "magic_link", "saml", "codehost", "websuite", "officesuite")
        for times, provider in enumerate(reversed(providers), start=1):
            sign_in(world, acme, provider=provider, times=times)

        assert await read(world, ada, "logins-by-provider") == [
            {"provider": provider, "count": len(providers) - index} for index, provider in enumerate(providers)
        ]


class TestRecent:
    """The latest sign-ins."""

    async def test_a_sign_in_is_shown_with_the_documented_fields(self, world: World, ada: Tokens, acme: UUID) -> None:
        shop = world.service(acme).id
        [first] = sign_in(world, acme, at("2026-02-01T00:00"), provider="passkey")
        [second] = sign_in(world, acme, at("2026-02-02T00:00"), service_id=shop)
        ada_id = str(world.value("SELECT id FROM users"))

        assert await read(world, ada, "recent-logins") == [
            {
                "id": second,
                "user_id": ada_id,
                "service_id": str(shop),
                "provider": "password",
                "created_at": "2026-02-02T00:00:00Z",
            },
            {
                "id": first,
                "user_id": ada_id,
                "service_id": None,
                "provider": "passkey",
                "created_at": "2026-02-01T00:00:00Z",
            },
        ]

    async def test_ten_sign_ins_of_the_last_400_days_are_listed_by_default(
        self, world: World, ada: Tokens, acme: UUID
    ) -> None:
        sign_in(world, acme, world.clock() - timedelta(days=401), times=1)
        sign_in(world, acme, world.clock() - timedelta(days=399), times=12)

        assert len(await read(world, ada, "recent-logins")) == 10
        assert len(await read(world, ada, "recent-logins", "?limit=11")) == 11
        assert len(await read(world, ada, "recent-logins", "?limit=1000")) == 12

    async def test_simultaneous_sign_ins_are_ordered_by_id_descending(
        self, world: World, ada: Tokens, acme: UUID
    ) -> None:
        ids = sign_in(world, acme, times=3)

        assert [row["id"] for row in await read(world, ada, "recent-logins")] == ids[::-1]

    async def test_an_answer_is_limited_in_length(self, world: World, ada: Tokens, acme: UUID) -> None:
        world.connection.execute(
            """
            INSERT INTO login_events (id, user_id, organization_id, provider, success, risk_score, risk_factors,
                                      created_at)
            SELECT overlay(gen_random_uuid()::text placing left(first_id_at(at)::text, 13) from 1)::uuid, users.id, %s,
                   'password', true, 0, '{}', at
            FROM   users, (SELECT %s::timestamptz) AS moment (at), generate_series(1, %s)
            """,
            (acme, world.clock(), RECENT_LOGINS_MAX + 1),
        )

        assert len(await read(world, ada, "recent-logins", f"?limit={'9' * 30}")) == RECENT_LOGINS_MAX

    async def test_a_limit_that_is_not_a_positive_integer_is_refused(
        self, world: World, ada: Tokens, subtests: pytest.Subtests
    ) -> None:
        for limit in ("0", "-1", "x", "1.5", ""):
            with subtests.test(limit=limit):
                assert_refused(await request(world, ada, "recent-logins", f"?limit={limit}"), 400, "BAD_REQUEST")


class TestWhatCounts:
    """Only successful sign-ins to this organization are counted."""

    async def test_failures_and_sign_ins_outside_the_organization_are_not_counted(
        self, world: World, ada: Tokens, acme: UUID, subtests: pytest.Subtests
    ) -> None:
        bolt = world.organization("bolt")
        sign_in(world, acme, service_id=world.service(acme).id, success=False)
        sign_in(world, bolt, service_id=world.service(bolt).id)
        sign_in(world, None)

        for endpoint in ALL:
            with subtests.test(endpoint=endpoint):
                assert await read(world, ada, endpoint) == []

    async def test_analytics_of_another_organization_are_not_readable(
        self, world: World, ada: Tokens, subtests: pytest.Subtests
    ) -> None:
        world.organization("bolt")

        for endpoint in ALL:
            with subtests.test(endpoint=endpoint):
                assert_refused(await request(world, ada, endpoint, slug="bolt"), 403, "FORBIDDEN")
                assert_refused(await request(world, ada, endpoint, slug="none"), 404, "NOT_FOUND")

    async def test_a_request_takes_two_statements(self, world: World, ada: Tokens, subtests: pytest.Subtests) -> None:
        for endpoint in ALL:
            with subtests.test(endpoint=endpoint):
                with recorded_statements() as statements:
                    await request(world, ada, endpoint)

                assert len(statements) == 2
