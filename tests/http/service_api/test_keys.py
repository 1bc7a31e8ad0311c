"""Which API keys the service interface accepts."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import partial

import pytest

from adapters.postgres.driver.connection import RawConnection
from core.rate_limits import RateLimit
from core.services.api_keys import ALSO_BY, Permission
from entrypoints import capabilities
from entrypoints.installation import Installation
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.routes import Route
from tests.application import serving_with_rate_limits
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.statements import recorded_statements
from tests.world.backend import KEY, PREFIX, Backend, insert_backend, insert_key
from tests.world.builder import NO_ID
from tests.world.world import World, assert_refused

ROUTES = [route for route in capabilities.routes(is_development=True) if route.who.kind is CredentialKind.API_KEY]
each_route = pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
# Beside the key, so that the prefix is found.
CHANGED = KEY[:-1] + "x"


async def call(backend: Backend, route: Route, headers: dict[str, str]) -> tuple[int, str | None]:
    """Call a route with a body that no route accepts, and return the status and the error code."""
    path = re.sub(r":([a-z_]+)", str(NO_ID), route.path)
    data = b"[]" if route.body is not None else None
    answer = await backend.world.client.request(route.method, path, headers=headers, data=data)
    return answer.status, answer.json["error_code"] if answer.status >= 400 else None


def last_used_at(backend: Backend) -> object:
    return backend.world.value("SELECT last_used_at FROM api_keys")


def test_every_endpoint_of_the_interface_declares_its_permission() -> None:
    below = [route for route in capabilities.routes(is_development=True) if route.path.startswith("/api/service/")]

    assert below == ROUTES
    assert {route.who.permission for route in ROUTES} == set(Permission)


async def test_without_a_valid_key_every_endpoint_is_401(backend: Backend, subtests: pytest.Subtests) -> None:
    tokens = await backend.world.signed_in_user()
    presented = [
        "",
        KEY[:-1],
        CHANGED,
        KEY + "k",
        KEY.upper(),
        f"{PREFIX}_",
        f"sk_zzzzzz_{'k' * 43}",
        "é",
    ]

    for route in ROUTES:
        with subtests.test(route=route.name):
            for headers in [
                {},
                {"Authorization": f"Bearer {tokens.token}"},
                *({"X-Api-Key": key} for key in presented),
            ]:
                assert await call(backend, route, headers) == (401, "UNAUTHORIZED"), headers


async def test_a_key_with_every_other_permission_is_403(backend: Backend, subtests: pytest.Subtests) -> None:
    for number, route in enumerate(ROUTES):
        with subtests.test(route=route.name):
            key = f"sk_{number:06}_{'o' * 43}"
            assert route.who.permission is not None
            others = set(Permission) - {route.who.permission, ALSO_BY.get(route.who.permission)}
            insert_key(backend.world, backend.organization_id, backend.service_id, key, permissions=others)

            assert await call(backend, route, {"X-Api-Key": key}) == (403, "FORBIDDEN")


@each_route
async def test_a_key_with_the_permission_alone_is_admitted(backend: Backend, route: Route) -> None:
    key = f"sk_single_{'s' * 43}"
    assert route.who.permission is not None
    # What is set up for a customer names the person behind the key as its maker.
    insert_key(
        backend.world,
        backend.organization_id,
        backend.service_id,
        key,
        permissions=[route.who.permission],
        made_by=backend.world.user("maker@example.com"),
    )

    status, _ = await call(backend, route, {"X-Api-Key": key})

    assert status in {200, 400, 404}


async def test_a_key_of_an_organization_that_is_not_active_is_403(backend: Backend, subtests: pytest.Subtests) -> None:
    for status in ("suspended", "pending", "rejected"):
        for route in ROUTES:
            with subtests.test(route=route.name, status=status):
                backend.world.set_organization_status(backend.organization_id, status)

                assert await call(backend, route, {"X-Api-Key": KEY}) == (403, "ORGANIZATION_NOT_ACTIVE")
                assert await call(backend, route, {"X-Api-Key": CHANGED}) == (401, "UNAUTHORIZED")


async def test_a_key_is_401_from_the_moment_of_its_expiry(backend: Backend, clock: SettableClock) -> None:
    key = f"sk_expiry_{'e' * 43}"
    expires_at = clock.now + timedelta(days=1)
    insert_key(backend.world, backend.organization_id, backend.service_id, key, expires_at=expires_at)
    expiring = backend.with_key(key)

    clock.now = expires_at - timedelta(microseconds=1)
    assert (await expiring.request("GET", "/users")).status == 200

    clock.now = expires_at
    assert_refused(await expiring.request("GET", "/users"), 401, "UNAUTHORIZED")


async def test_a_key_of_a_deleted_organization_is_401(backend: Backend) -> None:
    backend.world.connection.execute("DELETE FROM organizations")

    assert_refused(await backend.request("GET", "/users"), 401, "UNAUTHORIZED")


async def test_of_two_keys_with_one_prefix_each_opens_its_own_service(backend: Backend) -> None:
    other = insert_backend(backend.world, "globex", "till", key=CHANGED)

    slugs = [(await one.request("GET", "/info")).json["slug"] for one in (backend, other)]

    assert slugs == ["shop", "till"]


class TestSteps:
    """What a refusal costs, so that its time tells nothing."""

    async def test_every_invalid_key_takes_the_same_statements(
        self, backend: Backend, subtests: pytest.Subtests
    ) -> None:
        for key in (KEY[:-1], CHANGED, f"sk_zzzzzz_{'k' * 43}", "nonsense", ""):
            with subtests.test(key=key):
                with recorded_statements() as statements:
                    await backend.with_key(key).request("GET", "/info")

                assert len(statements) == 1
                assert "FROM api_keys" in statements[0]


class TestLastUse:
    """`last_used_at`, which is kept by the minute."""

    async def test_it_is_written_at_most_once_a_minute(self, backend: Backend, clock: SettableClock) -> None:
        first_use = clock.now
        await backend.request("GET", "/users")
        assert last_used_at(backend) == first_use

        clock.now += timedelta(seconds=59)
        await backend.request("GET", "/users")
        assert last_used_at(backend) == first_use

        clock.now += timedelta(seconds=1)
        await backend.request("GET", "/users")
        assert last_used_at(backend) == clock.now

    async def test_a_refused_use_does_not_count(self, backend: Backend) -> None:
        await backend.with_key(CHANGED).request("GET", "/users")

        assert last_used_at(backend) is None

    async def test_a_use_never_waits_for_another_use_of_the_key(
        self, backend: Backend, raw_connection: RawConnection
    ) -> None:
        with raw_connection.transaction():
            raw_connection.execute("UPDATE api_keys SET last_used_at = now()")

            answer = await backend.request("GET", "/users")

        assert answer.status == 200


async def test_a_key_has_a_rate_of_its_own_whatever_address_it_comes_from(
    installation: Installation, world: World
) -> None:
    client = serving_with_rate_limits(installation)
    busy = insert_backend(world)
    other_key = f"sk_other1_{'o' * 43}"
    insert_key(world, busy.organization_id, busy.service_id, other_key)

    async def use(key: str, number: int) -> int:
        headers, address = {"X-Api-Key": key}, f"10.1.{number // 250}.{number % 250}"
        return (await client.get("/api/service/info", headers=headers, address=address)).status

    statuses = [await use(KEY, number) for number in range(RateLimit.API_KEY.burst + 1)]

    assert statuses == [200] * RateLimit.API_KEY.burst + [429]
    assert await use(other_key, 0) == 200
    assert await use(CHANGED, 0) == 401


async def test_concurrent_uses_of_a_key_all_succeed(backend: Backend) -> None:
    answers = await at_once(*[partial(backend.request, "GET", "/users")] * 10)

    assert statuses_of(answers) == [200] * 10
