"""Password hashes: Argon2id in a few threads behind a short queue.

One hash takes tens of milliseconds and 19 MiB, so none is made on the event loop and no more run than there are
processors; whoever finds the queue full is told to come back (decisions 3.4). How a stored hash of any kind is read
and compared is in `password_schemes.py`.
"""

from __future__ import annotations

import contextvars
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar, final

import argon2
import structlog
import trio
from argon2.low_level import Type, hash_secret_raw

from adapters.crypto.password_schemes import KEPT_SCHEME, SCHEMES, scheme_of
from core.errors import ServiceUnavailable
from core.limits import PASSWORD_CHARACTERS_MAX
from ports.accounts.passwords import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.crypto.machine_slots import MachineSlots

# At 10 to 30 ms each this is a wait of about a second; who comes later is better off coming back.
WAITING_PER_PLACE_MAX = 50
RETRY_AFTER_SECONDS = 2
MEASUREMENT_SECONDS = 1.0

# From the tests of the reference implementation (phc-winner-argon2, src/test.c): "password", "somesalt", two passes.
_KNOWN_ANSWERS: Final = {
    256: "9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe",
    65536: "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7",
}

Result = TypeVar("Result")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Argon2Cost:
    """What one hash costs; the default is the least that OWASP advises for Argon2id (decisions 3.4)."""

    memory_kib: int = 19_456
    passes: int = 2
    lanes: int = 1


DEFAULT_COST: Final = Argon2Cost()


@final
class Argon2PasswordHasher:
    """The port `PasswordHasher`."""

    def __init__(self, *, places: int, machine: MachineSlots | None = None, cost: Argon2Cost = DEFAULT_COST) -> None:
        self._argon2 = _argon2(cost)
        self._nobodys_hash = _nobodys_hash(cost)
        self._places = trio.CapacityLimiter(places)
        # Threads of its own, because the C library keeps the 19 MiB of a hash for the thread that made it, to be used
        # again: on any thread of the process, a flood of sign-ins was seen to leave 280 MB behind.
        self._threads = ThreadPoolExecutor(places, thread_name_prefix="hashing")
        self._waiting_max = places * WAITING_PER_PLACE_MAX
        self._machine = machine
        self._complained_of: set[str | None] = set()

    async def hash(self, password: str) -> str:
        """Make the encoded hash that is stored for a password."""
        assert len(password) <= PASSWORD_CHARACTERS_MAX, "the caller refuses longer passwords"
        return await self._in_its_turn(partial(self._argon2.hash, password))

    async def verify(self, password: str, encoded: str | None) -> Verdict:
        """Compare a password with a stored hash; without one, take the same time and say no."""
        assert len(password) <= PASSWORD_CHARACTERS_MAX, "the caller refuses longer passwords"
        return await self._in_its_turn(partial(self._verdict, password, encoded))

    def _verdict(self, password: str, encoded: str | None) -> Verdict:
        scheme = scheme_of(encoded) if encoded is not None else None
        compare = SCHEMES[scheme](encoded) if encoded is not None and scheme is not None else None
        if compare is None or encoded is None:
            if encoded is not None:
                self._complain(scheme)
            self._compare_with_nobody(password)
            return Verdict(is_right=False, needs_upgrade=False)
        is_right = compare(password)
        is_outdated = is_right and (scheme != KEPT_SCHEME or self._argon2.check_needs_rehash(encoded))
        return Verdict(is_right=is_right, needs_upgrade=is_outdated)

    def _compare_with_nobody(self, password: str) -> None:
        compare = SCHEMES[KEPT_SCHEME](self._nobodys_hash)
        assert compare is not None, "the house's own parameters lie within the bounds"
        compare(password)

    def _complain(self, scheme: str | None) -> None:
        """Tell once of each kind that a hash of it could not be read; its owner can only ask for a new password."""
        # At most one entry for each line of the table, and one for everything that is not in it.
        if scheme not in self._complained_of:
            self._complained_of.add(scheme)
            log.warning("password_hash.unreadable", scheme=scheme or "unknown")

    async def _in_its_turn(self, work: Callable[[], Result]) -> Result:
        if self._places.statistics().tasks_waiting >= self._waiting_max:
            raise ServiceUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS)

        def work_in_a_slot() -> Result:
            with self._machine.held() if self._machine else nullcontext():
                return work()

        async with self._places:
            return await self._on_a_thread(work_in_a_slot)

    async def _on_a_thread(self, work: Callable[[], Result]) -> Result:
        """Run on one of our threads; once begun it is waited for, whoever is cancelled meanwhile."""
        task, token = trio.lowlevel.current_task(), trio.lowlevel.current_trio_token()
        # There is a thread for each place, so it begins at once.
        future = self._threads.submit(contextvars.copy_context().run, work)
        future.add_done_callback(lambda _: token.run_sync_soon(trio.lowlevel.reschedule, task))
        await trio.lowlevel.wait_task_rescheduled(lambda _raise_cancel: trio.lowlevel.Abort.FAILED)
        return future.result()


def computes_correctly() -> bool:
    """Say whether this machine's build of Argon2 gives the answers that are known from elsewhere."""
    return all(
        hash_secret_raw(b"password", b"somesalt", 2, memory_kib, 1, 32, Type.ID).hex() == answer
        for memory_kib, answer in _KNOWN_ANSWERS.items()
    )


def hashes_per_second(*, threads: int, seconds: float = MEASUREMENT_SECONDS, cost: Argon2Cost = DEFAULT_COST) -> float:
    """Measure how many hashes so many threads make in a second; it takes about `seconds` and blocks."""
    hasher = _argon2(cost)
    started = time.perf_counter()

    def hash_until_the_end() -> int:
        hashes = 0
        while time.perf_counter() - started < seconds:
            hasher.hash("a password of usual length")
            hashes += 1
        return hashes

    with ThreadPoolExecutor(threads) as pool:
        counts = [pool.submit(hash_until_the_end) for _ in range(threads)]
        hashes = sum(count.result() for count in counts)
    return hashes / (time.perf_counter() - started)


def _argon2(cost: Argon2Cost) -> argon2.PasswordHasher:
    return argon2.PasswordHasher(time_cost=cost.passes, memory_cost=cost.memory_kib, parallelism=cost.lanes)


def _nobodys_hash(cost: Argon2Cost) -> str:
    """Write a hash that belongs to no password; comparing with it takes as long as with a real one of that cost."""
    salt, digest = "A" * 22, "A" * 43
    return f"${KEPT_SCHEME}$v=19$m={cost.memory_kib},t={cost.passes},p={cost.lanes}${salt}${digest}"
