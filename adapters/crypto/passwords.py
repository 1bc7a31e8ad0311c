"""Password hashes: Argon2id in a few threads behind a short queue.

One hash takes tens of milliseconds and 19 MiB, so none is computed on the event loop, and no more run at once than
there are processors. If the queue is full, the caller gets `ServiceUnavailable` and may retry.
`password_schemes.py` reads and compares stored hashes of every scheme, and `argon2_digests.py` computes ours.
"""

from __future__ import annotations

import base64
import contextvars
import importlib.util
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Final, TypeVar, final

import argon2
import structlog
import trio

from adapters.crypto import argon2_digests
from adapters.crypto.argon2_digests import DIGEST_BYTES, VERSION, Argon2Cost
from adapters.crypto.machine_slots import MachineSlots
from adapters.crypto.password_schemes import KEPT_SCHEME, StoredHash, read, scheme_of
from core.accounts.user_import import HashTooExpensive
from core.errors import ServiceUnavailable
from core.limits import PASSWORD_CHARACTERS_MAX
from ports.accounts.passwords import PasswordVerdict

# At 10 to 30 ms each this is a wait of about a second; a longer one is worse for the caller than a retry.
QUEUED_PER_PLACE_MAX = 50
RETRY_AFTER_SECONDS = 2
MEASUREMENT_SECONDS = 1.0

# From the tests of the reference implementation (phc-winner-argon2, src/test.c): "password", "somesalt", two passes of
# 256 KiB. `ops/build_argon2.py` compares larger ones, which take a tenth of a start.
_KNOWN_ANSWER: Final = "9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe"

_SALT_BYTES: Final = 16

DEFAULT_COST: Final = Argon2Cost()

Result = TypeVar("Result")

log = structlog.get_logger(__name__)


@final
class Argon2PasswordHasher:
    """The port `PasswordHasher`."""

    def __init__(self, *, places: int, machine: MachineSlots | None = None, cost: Argon2Cost = DEFAULT_COST) -> None:
        self._cost = cost
        # It says alone whether a hash is one of ours; `argon2_digests` computes.
        self._argon2 = argon2.PasswordHasher(time_cost=cost.passes, memory_cost=cost.memory_kib, parallelism=cost.lanes)
        self._decoy_hash = _decoy_hash(cost)
        self._places = trio.CapacityLimiter(places)
        # A thread pool of its own, because each thread that hashes keeps 20 MiB: with the threads that the whole
        # process shares, a flood of sign-ins left 280 MB allocated.
        self._threads = ThreadPoolExecutor(places, thread_name_prefix="hashing")
        self._waiting_max = places * QUEUED_PER_PLACE_MAX
        self._machine = machine
        self._schemes_reported: set[str | None] = set()

    async def hash(self, password: str, *, salt: bytes | None = None) -> str:
        """Return the encoded hash that is stored for a password."""
        assert len(password) <= PASSWORD_CHARACTERS_MAX, "the password is too long; the caller must refuse it"
        return await self._when_there_is_room(partial(_hash, password, self._cost, salt))

    async def verify(self, password: str, encoded: str | None, decoys: Sequence[str] = ()) -> PasswordVerdict:
        """Compare a password with a stored hash; refuse every password after the same work."""
        assert len(password) <= PASSWORD_CHARACTERS_MAX, "the password is too long; the caller must refuse it"
        return await self._when_there_is_room(partial(self._verdict, password, encoded, decoys))

    def _verdict(self, password: str, encoded: str | None, decoys: Sequence[str]) -> PasswordVerdict:
        stored = self._read(encoded) if encoded is not None else None
        if encoded is not None and stored is not None and stored.matches(password):
            is_kept = scheme_of(encoded) == KEPT_SCHEME and not self._argon2.check_needs_rehash(encoded)
            return PasswordVerdict(is_right=True, needs_upgrade=not is_kept)
        self._fill_up(password, stored, decoys)
        return PasswordVerdict(is_right=False, needs_upgrade=False)

    def _fill_up(self, password: str, compared: StoredHash | None, decoys: Sequence[str]) -> None:
        """Do the work of all kinds of stored hashes, except what the comparison has done.

        So every refusal does the same work, whichever hash the account has, if any (ops/decisions/0005). Of several
        hashes of one family only the most expensive counts, because the others are filled up to it.
        """
        kinds = [kind for kind in map(self._read, [self._decoy_hash, *decoys]) if kind is not None]
        dearest: dict[tuple[str | int, ...], StoredHash] = {}
        for kind in [*kinds, *([compared] if compared is not None else [])]:
            if kind.family not in dearest or kind.work > dearest[kind.family].work:
                dearest[kind.family] = kind
        for family, kind in dearest.items():
            done = compared.work if compared is not None and compared.family == family else 0
            if kind.work > done:
                kind.spend(kind.work - done, password)

    def _read(self, encoded: str) -> StoredHash | None:
        """Return a hash that can be compared, None for one that is malformed or too expensive."""
        try:
            stored = read(encoded)
        except HashTooExpensive:
            stored = None
        if stored is None:
            self._report_unreadable(scheme_of(encoded))
        return stored

    def _report_unreadable(self, scheme: str | None) -> None:
        """Log once for each scheme that a hash of it could not be read; its owner has to reset the password."""
        # At most one entry for each line of SCHEMES, and one for all other schemes.
        if scheme not in self._schemes_reported:
            self._schemes_reported.add(scheme)
            log.warning("password_hash.unreadable", scheme=scheme or "unknown")

    async def _when_there_is_room(self, work: Callable[[], Result]) -> Result:
        if self._places.statistics().tasks_waiting >= self._waiting_max:
            raise ServiceUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS)

        def work_in_a_slot() -> Result:
            with self._machine.held() if self._machine else nullcontext():
                return work()

        async with self._places:
            return await self._on_a_thread(work_in_a_slot)

    async def _on_a_thread(self, work: Callable[[], Result]) -> Result:
        """Run on a thread of the pool; once begun, the work is awaited even when the task is cancelled."""
        task, token = trio.lowlevel.current_task(), trio.lowlevel.current_trio_token()
        # The pool has a thread for each place, so the work begins at once.
        future = self._threads.submit(contextvars.copy_context().run, work)
        future.add_done_callback(lambda _: token.run_sync_soon(trio.lowlevel.reschedule, task))
        await trio.lowlevel.wait_task_rescheduled(lambda _raise_cancel: trio.lowlevel.Abort.FAILED)
        return future.result()


def passes_known_answer() -> bool:
    """Return whether this machine's build of Argon2 computes a digest of the reference implementation."""
    cost = Argon2Cost(memory_kib=256)
    # On a thread of its own, with which the memory ends.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(argon2_digests.digest, b"password", b"somesalt", cost).result().hex() == _KNOWN_ANSWER


def built_for() -> str | None:
    """Return the instructions that Argon2 was built for, by the record of the build; None for the portable build."""
    found = importlib.util.find_spec("_argon2_cffi_bindings")
    folders = (found.submodule_search_locations or []) if found is not None else []
    records = [record for folder in folders if (record := Path(folder, "built-for")).exists()]
    return records[0].read_text(encoding="ascii").strip() if records else None


def hashes_per_second(*, threads: int, seconds: float = MEASUREMENT_SECONDS, cost: Argon2Cost = DEFAULT_COST) -> float:
    """Return how many hashes per second these threads compute; block for about `seconds`."""
    started = time.perf_counter()

    def hash_until_the_end() -> int:
        hashes = 0
        while time.perf_counter() - started < seconds:
            _hash("a password of usual length", cost)
            hashes += 1
        return hashes

    with ThreadPoolExecutor(threads) as pool:
        counts = [pool.submit(hash_until_the_end) for _ in range(threads)]
        hashes = sum(count.result() for count in counts)
    return hashes / (time.perf_counter() - started)


def _hash(password: str, cost: Argon2Cost, salt: bytes | None = None) -> str:
    salt = os.urandom(_SALT_BYTES) if salt is None else salt
    return _encoded(salt, argon2_digests.digest(password.encode(), salt, cost), cost)


def _decoy_hash(cost: Argon2Cost) -> str:
    """Return a hash that no password matches; comparing with it takes as long as with a real one of that cost."""
    return _encoded(bytes(_SALT_BYTES), bytes(DIGEST_BYTES), cost)


def _encoded(salt: bytes, digest: bytes, cost: Argon2Cost) -> str:
    """Return a hash as a PHC string."""
    costs = f"m={cost.memory_kib},t={cost.passes},p={cost.lanes}"
    texts = (base64.b64encode(part).decode().rstrip("=") for part in (salt, digest))
    return "$".join(("", KEPT_SCHEME, f"v={VERSION}", costs, *texts))
