"""Look-ups of names for organizations: on threads of their own, few at once for one domain, and limited in time."""

from __future__ import annotations

import socket
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import trio

from adapters.gateways.name_lookups import (
    LOOKUP_SECONDS_MAX,
    THREADS_MAX,
    THREADS_OF_A_DOMAIN_MAX,
    NameLookups,
    NameUnknown,
)
from tests.adapters.webhooks.sending import attempt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trio.testing import MockClock


class SlowNameServers:
    """A resolver that blocks its thread for names below these domains, and answers for others at once."""

    def __init__(self, *domains: str) -> None:
        self.domains = domains
        self.asked: list[str] = []
        self.answering = threading.Event()

    def __call__(self, host: bytes, port: int) -> list[tuple[Any, ...]]:
        name = host.decode()
        self.asked.append(name)
        if name.endswith(self.domains):
            self.answering.wait(30)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", port))]


@pytest.fixture
def slow() -> Iterator[SlowNameServers]:
    """Name servers of `.slow` that answer when the test ends."""
    servers = SlowNameServers(".slow")
    yield servers
    servers.answering.set()


async def fail(lookups: NameLookups, host: str) -> None:
    """Look a name up that is not answered."""
    with pytest.raises(NameUnknown, match=f"The name servers of {host} did not answer in time."):
        await lookups.addresses_of(host, 443)


async def test_look_ups_that_hang_leave_the_threads_of_other_work_alone(
    slow: SlowNameServers, autojump_clock: MockClock
) -> None:
    lookups = NameLookups(slow)
    began_at = trio.current_time()
    async with trio.open_nursery() as nursery:
        for number in range(3 * THREADS_MAX):
            nursery.start_soon(fail, lookups, f"hooks.customer{number}.slow")
        await trio.testing.wait_all_tasks_blocked(0.01)

        assert await trio.to_thread.run_sync(lambda: "done") == "done"
        assert trio.to_thread.current_default_thread_limiter().borrowed_tokens == 0

    assert trio.current_time() - began_at == pytest.approx(LOOKUP_SECONDS_MAX, abs=1)
    assert len(slow.asked) == THREADS_MAX


async def test_slow_name_servers_of_one_domain_leave_threads_to_the_names_of_others(
    slow: SlowNameServers, autojump_clock: MockClock
) -> None:
    lookups = NameLookups(slow)
    async with trio.open_nursery() as nursery:
        for number in range(3 * THREADS_MAX):
            nursery.start_soon(fail, lookups, f"a{number}.evil.slow")
        await trio.testing.wait_all_tasks_blocked(0.01)
        began_at = trio.current_time()

        assert [str(one) for one in await lookups.addresses_of("hooks.acme.example", 443)] == ["192.0.2.1"]
        assert trio.current_time() - began_at < 1

    assert len([name for name in slow.asked if name.endswith(".slow")]) == THREADS_OF_A_DOMAIN_MAX


async def test_a_thread_counts_until_it_ends_although_its_look_up_was_given_up(
    slow: SlowNameServers, autojump_clock: MockClock
) -> None:
    lookups = NameLookups(slow)
    for number in range(2 * THREADS_OF_A_DOMAIN_MAX):
        await fail(lookups, f"a{number}.evil.slow")
    assert len(slow.asked) == THREADS_OF_A_DOMAIN_MAX

    slow.answering.set()

    assert await lookups.addresses_of("b.evil.slow", 443)


@pytest.mark.parametrize(
    ("slow_name", "other_name", "is_shared"),
    [
        ("a.evil.example", "hooks.evil.example", True),
        ("a.evil.example", "hooks.acme.example", False),
        ("a.evil.co.uk", "hooks.acme.co.uk", False),
        ("a.evil.co.uk", "b.evil.co.uk.", True),
        ("a.evil.de", "EVIL.de", True),
        ("intranet", "intranet", True),
    ],
)
async def test_names_of_one_domain_share_its_threads(
    autojump_clock: MockClock, slow_name: str, other_name: str, *, is_shared: bool
) -> None:
    slow = SlowNameServers(slow_name)
    lookups = NameLookups(slow)
    for _ in range(THREADS_OF_A_DOMAIN_MAX):
        await fail(lookups, slow_name)

    if is_shared:
        await fail(lookups, other_name)
    else:
        await lookups.addresses_of(other_name, 443)
    slow.answering.set()


@pytest.mark.parametrize("host", ["192.0.2.7", "2001:db8::7", "3221225991"])
async def test_an_address_needs_no_thread(slow: SlowNameServers, host: str) -> None:
    [found] = await NameLookups(slow).addresses_of(host, 443)

    assert str(found) in {"192.0.2.7", "2001:db8::7"}
    assert slow.asked == []


@pytest.mark.parametrize("host", ["größe.example", "x" * 300])
async def test_a_name_that_cannot_be_asked_for_does_not_resolve(host: str) -> None:
    with pytest.raises(NameUnknown, match="does not resolve"):
        await NameLookups().addresses_of(host, 443)


async def test_a_delivery_to_a_name_that_is_not_answered_says_so(
    slow: SlowNameServers, autojump_clock: MockClock
) -> None:
    found = await attempt("http://hooks.evil.slow/", look_up=partial(slow))

    assert found.error == "The name servers of hooks.evil.slow did not answer in time."
