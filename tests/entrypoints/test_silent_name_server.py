"""Name servers that never answer for the webhooks of one organization: another organization notices nothing."""

from __future__ import annotations

import statistics
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx
import pytest
import trio

from adapters.postgres.driver.connection import Connection
from tests.clock import SettableClock
from tests.name_server import NameServer
from tests.processes import Services
from tests.receiver import Receiver, open_receiver
from tests.stopwatch import Stopwatch
from tests.waiting import eventually
from tests.world.builder import PASSWORD, Builder

pytestmark = pytest.mark.long

# Of ten domains.
SILENT_WEBHOOKS = 48
SILENT_DOMAINS = 10
EVENTS_OF_EACH = 4
DELIVERY_SECONDS_MAX = 2.5
# Drawing a QR code and reading all metrics take some hundredths of a second.
ANSWER_SECONDS_MAX = 1.0
# What a busy machine may add to a sign-in.
ADDED_SECONDS_MAX = 0.5
SIGN_INS = 12
RECEIVER = "hooks.globex.example"


@pytest.fixture
def clock() -> SettableClock:
    """The time of the server, whose processes have no other."""
    return SettableClock(datetime.now(UTC))


@dataclass(frozen=True)
class Caller:
    """The owner of an organization, signed in to the server."""

    client: httpx.AsyncClient
    slug: str

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request, and return the answer's JSON."""
        answer = await self.client.request(method, path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    async def webhook(self, url: str) -> str:
        """Create a webhook; return its path."""
        path = f"/api/organizations/{self.slug}/webhooks"
        made = await self.request("POST", path, {"name": url, "url": url, "events": ["webhook.test"]})
        return f"{path}/{made['id']}"


@asynccontextmanager
async def signed_in(base_url: str, slug: str) -> AsyncGenerator[Caller]:
    """Sign the owner of an organization in."""
    async with httpx.AsyncClient(base_url=base_url, timeout=60) as client:
        answer = await client.post("/api/auth/login", json={"email": f"owner@{slug}.example", "password": PASSWORD})
        client.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"
        yield Caller(client, slug)


async def seconds_of(caller: Caller, method: str, path: str, body: Any = None) -> float:
    """Return how long a request takes that succeeds."""
    began_at = trio.current_time()
    answer = await caller.client.request(method, path, json=body)
    assert answer.is_success, answer.text
    return trio.current_time() - began_at


async def sign_in_seconds(caller: Caller) -> float:
    """Return the median time of sign-ins."""
    body = {"email": f"owner@{caller.slug}.example", "password": PASSWORD}
    return statistics.median([await seconds_of(caller, "POST", "/api/auth/login", body) for _ in range(SIGN_INS)])


async def are_asked(names: NameServer, count: int) -> bool:
    """Return whether so many names were asked for."""
    return len(set(names.asked)) >= count


async def has_arrived(receiver: Receiver, count: int) -> bool:
    """Return whether so many deliveries have arrived."""
    return len(receiver.received) >= count


async def test_silent_name_servers_of_an_organization_delay_no_other_one(
    services: Services, connection: Connection, clock: SettableClock, names: NameServer, stopwatch: Stopwatch
) -> None:
    builder = Builder(connection, clock)
    for slug in ("acme", "globex"):
        builder.member(builder.organization(slug), builder.user(f"owner@{slug}.example"), "owner")
    connection.flush()
    silent = [f"hooks{number}.customer{number % SILENT_DOMAINS}.example" for number in range(SILENT_WEBHOOKS)]
    names.silent.update(silent)
    names.lead(RECEIVER, ["127.0.0.1"])
    service = services.ready(DNS_SERVER=f"{names.host}:{names.port}", OUTBOUND_ALLOW="127.0.0.0/8")
    base_url = f"http://127.0.0.1:{service.port}"

    async with open_receiver() as receiver, signed_in(base_url, "acme") as acme, signed_in(base_url, "globex") as other:
        before = await sign_in_seconds(other)
        for host in silent:
            hook = await acme.webhook(f"http://{host}/")
            for _ in range(EVENTS_OF_EACH):
                await acme.request("POST", f"{hook}/test")
        hook = await other.webhook(f"http://{RECEIVER}:{receiver.port}/")

        await eventually(partial(are_asked, names, SILENT_DOMAINS // 2), seconds_max=120)
        for number in range(3):
            await other.request("POST", f"{hook}/test")
            with stopwatch.within(DELIVERY_SECONDS_MAX):
                await eventually(partial(has_arrived, receiver, number + 1))
            with stopwatch.within(ANSWER_SECONDS_MAX):
                assert (await other.client.get("/metrics")).status_code == 200
            with stopwatch.within(ANSWER_SECONDS_MAX):
                await other.request("POST", "/api/user/mfa/setup")
        during = await sign_in_seconds(other)

    waiting = connection.execute("SELECT count(*) FROM webhook_deliveries WHERE NOT delivered").fetchone()
    assert waiting == (SILENT_WEBHOOKS * EVENTS_OF_EACH,)
    stopwatch.assert_within(during, 2 * before + ADDED_SECONDS_MAX)
