"""What the ten hottest operations cost, by counts that are the same on every machine.

Processor time beside an earlier release is in `ops/report`; what may refuse a change is counted here: statements,
round trips to PostgreSQL, bytes of the answer, and calls of Python functions by one request without a network.
"""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from adapters.postgres.transaction import Transaction
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.exchanges import GatehouseRequest
from tests.application import Answer
from tests.calls import counted_calls
from tests.statements import recorded_statements
from tests.world.backend import KEY, insert_key
from tests.world.builder import EMAIL, PASSWORD
from tests.world.directory import TOKEN, insert_scim_token
from tests.world.relying_party import insert_relying_party
from tests.world.world import World

# Requests before the one that is counted, so that what is cached is there.
WARM_UPS: Final = 3
# Of so many the one with the fewest calls counts: where an answer of PostgreSQL comes in two parts, another takes more.
COUNTED: Final = 3
USERS: Final = 100
# The calls depend a little on the order in which tasks run, which belongs to the test.
MARGIN: Final = 0.02
# What is this much below its limit has become cheaper, and the limit follows it.
SLACK: Final = 0.10
# What holds most of what a request needs. What holds each other is found by the garbage collector alone, which took a
# twentieth of the processor for these.
OF_ONE_REQUEST: Final = (GatehouseRequest, Call, Transaction)
Send = Callable[[], Awaitable[Answer]]


@dataclass(frozen=True)
class Counts:
    """What one request costs."""

    statements: int
    round_trips: int
    kilobytes: int
    calls: int


# Lower them after a gain; raise them only with a reason, in the commit that makes an operation dearer.
LIMITS: Final = {
    "profile": Counts(1, 1, 1, 1_090),
    "refresh": Counts(1, 1, 2, 1_320),
    "sign-in page": Counts(0, 0, 3, 2_130),
    "login": Counts(16, 4, 2, 2_590),
    "code exchange": Counts(4, 2, 3, 1_650),
    "client credentials": Counts(1, 1, 1, 1_340),
    "introspection": Counts(2, 1, 1, 1_350),
    "service users": Counts(2, 1, 13, 1_170),
    "directory, 100 users": Counts(2, 1, 55, 4_140),
    "published keys": Counts(0, 0, 2, 830),
}


async def operations(world: World) -> dict[str, Send]:
    """Return what sends each operation once."""
    client = world.client
    world.user(EMAIL)
    profile, refreshed = await world.sign_in(EMAIL), (await world.sign_in(EMAIL)).refresh_token
    party = insert_relying_party(world, slug="shops")
    issued = await party.tokens()
    insert_key(world, party.organization_id, party.service_id, KEY)
    insert_scim_token(world, party.organization_id, TOKEN)
    for number in range(USERS):
        user_id = world.user(f"user{number}@example.com")
        world.link(party.organization_id, party.service_id, user_id)
        world.member(party.organization_id, user_id)

    async def refresh() -> Answer:
        nonlocal refreshed
        answer = await client.post("/api/auth/refresh", body={"refresh_token": refreshed})
        refreshed = answer.json["refresh_token"]
        return answer

    codes = [await party.code() for _ in range(WARM_UPS + COUNTED + 1)]
    return {
        "profile": lambda: client.get("/api/user", token=profile.access_token),
        "refresh": refresh,
        "sign-in page": lambda: client.get("/app/sign-in"),
        "login": lambda: client.post("/api/auth/login", body={"email": EMAIL, "password": PASSWORD}),
        "code exchange": lambda: party.redeem(codes.pop()),
        "client credentials": lambda: party.token("client_credentials"),
        "introspection": lambda: party.post("/auth/introspect", {"token": issued["access_token"]}),
        "service users": lambda: client.get("/api/service/users?limit=100", headers={"X-Api-Key": KEY}),
        "directory, 100 users": lambda: client.get("/scim/v2/Users?count=100", token=TOKEN),
        "published keys": lambda: client.get("/.well-known/jwks.json"),
    }


async def counted(send: Send) -> Counts:
    """Return what one request costs after a few."""
    for _ in range(WARM_UPS):
        assert (await send()).status == 200
    return min([await _counted_once(send) for _ in range(COUNTED)], key=lambda counts: counts.calls)


async def _counted_once(send: Send) -> Counts:
    with recorded_statements() as statements, counted_calls() as calls:
        answer = await send()
    assert answer.status == 200
    return Counts(len(statements), calls.round_trips, -(-len(answer.content) // 1_000), calls.number)


async def test_no_operation_costs_more_than_its_limit_or_much_less(
    world: World,
) -> None:
    found = {name: await counted(send) for name, send in (await operations(world)).items()}

    assert found.keys() == LIMITS.keys()
    assert {name: each for name, each in found.items() if not is_within(each, LIMITS[name])} == {}, found


async def test_no_operation_leaves_objects_to_the_garbage_collector(world: World) -> None:
    for name, send in (await operations(world)).items():
        await counted(send)
        with found_garbage() as garbage:
            await send()

        assert [each for each in garbage if isinstance(each, OF_ONE_REQUEST)] == [], name


@contextmanager
def found_garbage() -> Generator[list[object]]:
    """Yield the list of what the garbage collector finds of the block, once that is over."""
    found: list[object] = []
    gc.collect()
    gc.disable()
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found += gc.garbage
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def is_within(found: Counts, limit: Counts) -> bool:
    """Return whether an operation costs what its limit says."""
    exact = (found.statements, found.round_trips) == (limit.statements, limit.round_trips)
    return exact and found.kilobytes <= limit.kilobytes and _is_near(found.calls, limit.calls)


def _is_near(calls: int, limit: int) -> bool:
    return limit * (1 - SLACK) <= calls <= limit * (1 + MARGIN)


def test_one_statement_more_is_found_and_so_are_calls() -> None:
    limit = Counts(3, 2, 10, 1_000)

    assert is_within(Counts(3, 2, 9, 1_010), limit)
    assert not is_within(Counts(4, 2, 9, 1_000), limit)
    assert not is_within(Counts(3, 3, 9, 1_000), limit)
    assert not is_within(Counts(3, 2, 11, 1_000), limit)
    assert not is_within(Counts(3, 2, 9, 1_030), limit)
    assert not is_within(Counts(3, 2, 9, 800), limit)
