"""Password hashing: right, wrong and outdated hashes, and a bounded load under many concurrent sign-ins."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import argon2
import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import wait_all_tasks_blocked

from adapters.crypto import password_schemes, passwords
from adapters.crypto.machine_slots import MachineSlots, _lock_at_once
from adapters.crypto.password_schemes import StoredHash
from adapters.crypto.passwords import Argon2Cost, Argon2PasswordHasher
from core.errors import ServiceUnavailable
from core.limits import PASSWORD_CHARACTERS_MAX
from ports.accounts.passwords import PasswordVerdict
from tests.waiting import wait_until

CHEAP = Argon2Cost(memory_kib=8, passes=1)
RIGHT = PasswordVerdict(is_right=True, needs_upgrade=False)
OUTDATED = PasswordVerdict(is_right=True, needs_upgrade=True)
WRONG = PasswordVerdict(is_right=False, needs_upgrade=False)
# Nothing here takes long; this ends a test that hangs.
DEADLINE_SECONDS = 60


class SlowScheme:
    """A scheme whose comparisons last until the test ends them, and which counts how many run at once."""

    def __init__(self) -> None:
        self.running = 0
        self.running_max = 0
        self.compared: list[str] = []
        self.spent: list[int] = []
        self._lock = threading.Lock()
        self._may_end = threading.Semaphore(0)

    def read(self, encoded: str) -> StoredHash:
        return StoredHash(
            family=("slow",),
            work=1,
            matches=partial(self.is_right, encoded),
            spend=lambda work, _password: self.spent.append(work),
        )

    def is_right(self, encoded: str, password: str) -> bool:
        with self._lock:
            self.running += 1
            self.running_max = max(self.running, self.running_max)
            self.compared.append(password)
        assert self._may_end.acquire(timeout=DEADLINE_SECONDS)
        with self._lock:
            self.running -= 1
        return encoded == f"$slow${password}"

    def finish(self, comparisons: int) -> None:
        self._may_end.release(comparisons)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> SlowScheme:
    """An additional scheme, registered in the table of schemes."""
    scheme = SlowScheme()
    monkeypatch.setitem(password_schemes.SCHEMES, "slow", scheme.read)
    return scheme


async def until(condition: Callable[[], bool]) -> None:
    await trio.to_thread.run_sync(wait_until, condition)


async def test_a_password_is_right_for_its_own_hash_and_no_other_password_is() -> None:
    hasher = Argon2PasswordHasher(places=1, cost=CHEAP)

    encoded = await hasher.hash("correct horse")

    assert await hasher.verify("correct horse", encoded) == RIGHT
    assert await hasher.verify("correct horsf", encoded) == WRONG
    assert await hasher.verify("", encoded) == WRONG


async def test_hashes_are_salted() -> None:
    hasher = Argon2PasswordHasher(places=1, cost=CHEAP)

    assert await hasher.hash("correct horse") != await hasher.hash("correct horse")


async def test_a_hash_has_the_decided_parameters() -> None:
    hasher = Argon2PasswordHasher(places=1)

    encoded = await hasher.hash("correct horse")

    assert encoded.startswith("$argon2id$v=19$m=19456,t=2,p=1$")


async def test_a_hash_of_other_parameters_is_upgraded_when_the_password_is_right() -> None:
    encoded = await Argon2PasswordHasher(places=1, cost=CHEAP).hash("correct horse")
    hasher = Argon2PasswordHasher(places=1, cost=Argon2Cost(memory_kib=16, passes=1))

    assert await hasher.verify("correct horse", encoded) == OUTDATED
    assert await hasher.verify("wrong horse", encoded) == WRONG


async def test_a_hash_of_another_scheme_is_upgraded_when_the_password_is_right(slow: SlowScheme) -> None:
    hasher = Argon2PasswordHasher(places=1, cost=CHEAP)
    slow.finish(2)

    assert await hasher.verify("correct horse", "$slow$correct horse") == OUTDATED
    assert await hasher.verify("wrong horse", "$slow$correct horse") == WRONG


class TestSameWork:
    """Every refusal does the work of all kinds of hashes, whichever was compared."""

    KINDS = (
        "$2b$05$" + "." * 53,
        "$2b$07$" + "." * 53,
        f"$pbkdf2-sha256$i=300${'A' * 22}${'A' * 43}",
        f"$argon2id$v=19$m=16,t=3,p=1${'A' * 22}${'A' * 43}",
        "no hash",
        "$2b$11$" + "." * 53,
    )

    @pytest.fixture
    def work(self, monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str | int, ...]]:
        """The work done of each family, counted by a double of every hash that is read."""
        work: Counter[tuple[str | int, ...]] = Counter()

        def counted(encoded: str) -> StoredHash | None:
            stored = password_schemes.read(encoded)
            if stored is None:
                return None

            def spend(units: int, _password: str) -> None:
                work[stored.family] += units

            def matches(password: str) -> bool:
                spend(stored.work, password)
                return False

            return replace(stored, matches=matches, spend=spend)

        monkeypatch.setattr(passwords, "read", counted)
        return work

    @pytest.mark.parametrize(
        "encoded",
        [None, *KINDS, f"$argon2id$v=19$m=8,t=1,p=1${'A' * 22}${'A' * 43}", f"pbkdf2_sha256$7$salt${'A' * 43}"],
    )
    async def test_it_does_not_depend_on_the_hash_of_the_account(
        self, work: Counter[tuple[str | int, ...]], encoded: str | None
    ) -> None:
        hasher = Argon2PasswordHasher(places=1, cost=CHEAP)

        assert await hasher.verify("wrong", encoded, self.KINDS) == WRONG

        assert work == {
            ("argon2id", 8, 1): 1,
            ("argon2id", 16, 1): 3,
            ("bcrypt",): 2**7,
            ("pbkdf2", "sha256"): 300,
        }

    async def test_the_right_password_is_not_filled_up(self, slow: SlowScheme) -> None:
        slow.finish(1)

        await Argon2PasswordHasher(places=1, cost=CHEAP).verify("horse", "$slow$horse", ["$slow$battery"])

        assert slow.spent == []


@pytest.mark.parametrize("password", ["", "correct horse", "A" * 43])
async def test_every_password_is_wrong_without_an_account(password: str) -> None:
    hasher = Argon2PasswordHasher(places=1, cost=CHEAP)

    assert await hasher.verify(password, None) == WRONG


async def test_a_comparison_without_an_account_has_the_cost_of_one_with_an_account() -> None:
    hasher = Argon2PasswordHasher(places=1)

    encoded = await hasher.hash("correct horse")

    assert argon2.extract_parameters(hasher._decoy_hash) == argon2.extract_parameters(encoded)


async def test_a_comparison_without_an_account_waits_for_a_slot_like_any_other(tmp_path: Path) -> None:
    hasher = Argon2PasswordHasher(places=1, machine=MachineSlots(tmp_path, 1), cost=CHEAP)
    verdicts: list[PasswordVerdict] = []

    async def compare() -> None:
        verdicts.append(await hasher.verify("correct horse", None))

    async with trio.open_nursery() as nursery:
        with MachineSlots(tmp_path, 1).held():
            nursery.start_soon(compare)
            await until(lambda: hasher._places.borrowed_tokens == 1)
            verdicts_while_waiting = list(verdicts)

    assert verdicts_while_waiting == []
    assert verdicts == [WRONG]


@pytest.mark.parametrize("method", ["hash", "verify"])
async def test_a_password_over_the_maximum_length_is_never_hashed(method: str) -> None:
    hasher = Argon2PasswordHasher(places=1, cost=CHEAP)
    too_long = "x" * (PASSWORD_CHARACTERS_MAX + 1)

    with pytest.raises(AssertionError):
        await (hasher.hash(too_long) if method == "hash" else hasher.verify(too_long, None))


async def test_the_event_loop_runs_while_a_password_is_hashed(slow: SlowScheme) -> None:
    hasher = Argon2PasswordHasher(places=1, cost=CHEAP)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hasher.verify, "correct horse", "$slow$")
        await until(lambda: slow.running == 1)
        for _ in range(100):
            await trio.lowlevel.checkpoint()
        was_running = slow.running
        slow.finish(1)

    assert was_running == 1


async def test_no_more_hashes_run_at_once_than_there_are_places(slow: SlowScheme) -> None:
    hasher = Argon2PasswordHasher(places=2, cost=CHEAP)

    async with trio.open_nursery() as nursery:
        for number in range(6):
            nursery.start_soon(hasher.verify, str(number), "$slow$")
        await until(lambda: slow.running == 2)
        await wait_all_tasks_blocked()
        slow.finish(6)

    assert slow.running_max == 2
    assert len(slow.compared) == 6


async def test_a_full_queue_refuses_with_the_time_to_retry(slow: SlowScheme) -> None:
    hasher = Argon2PasswordHasher(places=1, cost=CHEAP)

    async with trio.open_nursery() as nursery:
        for number in range(1 + passwords.QUEUED_PER_PLACE_MAX):
            nursery.start_soon(hasher.verify, str(number), "$slow$")
        await until(lambda: slow.running == 1)
        await wait_all_tasks_blocked()
        with pytest.raises(ServiceUnavailable) as refusal:
            await hasher.verify("one too many", "$slow$")
        slow.finish(1 + passwords.QUEUED_PER_PLACE_MAX)

    assert refusal.value.retry_after_seconds == passwords.RETRY_AFTER_SECONDS
    assert "one too many" not in slow.compared


async def test_a_cancelled_waiter_leaves_the_queue(slow: SlowScheme) -> None:
    hasher = Argon2PasswordHasher(places=1, cost=CHEAP)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hasher.verify, "running", "$slow$")
        await until(lambda: slow.running == 1)
        async with trio.open_nursery() as waiters:
            for _ in range(passwords.QUEUED_PER_PLACE_MAX):
                waiters.start_soon(hasher.verify, "cancelled", "$slow$")
            await wait_all_tasks_blocked()
            waiters.cancel_scope.cancel()
        nursery.start_soon(hasher.verify, "waiting", "$slow$")
        await wait_all_tasks_blocked()
        slow.finish(2)

    assert slow.compared == ["running", "waiting"]


async def test_a_started_hash_is_finished_when_its_caller_is_cancelled(slow: SlowScheme) -> None:
    hasher = Argon2PasswordHasher(places=1, cost=CHEAP)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hasher.verify, "running", "$slow$")
        await until(lambda: slow.running == 1)
        nursery.cancel_scope.cancel()
        slow.finish(1)

    assert slow.running == 0
    assert hasher._places.borrowed_tokens == 0


async def test_hashers_of_one_machine_share_its_slots(slow: SlowScheme, tmp_path: Path) -> None:
    workers = [Argon2PasswordHasher(places=2, machine=MachineSlots(tmp_path, 2), cost=CHEAP) for _ in range(3)]

    async with trio.open_nursery() as nursery:
        for worker in workers:
            for number in range(4):
                nursery.start_soon(worker.verify, str(number), "$slow$")
        await until(lambda: slow.running == 2)
        await until(lambda: all(worker._places.borrowed_tokens == 2 for worker in workers))
        slow.finish(12)

    assert slow.running_max == 2
    assert len(slow.compared) == 12


@contextmanager
def another_process_that_holds_a_slot(folder: Path) -> Generator[subprocess.Popen[str]]:
    program = (
        "import sys, pathlib; from adapters.crypto.machine_slots import MachineSlots\n"
        "with MachineSlots(pathlib.Path(sys.argv[1]), 1).held(): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


def test_a_slot_that_another_process_holds_is_taken(tmp_path: Path) -> None:
    with another_process_that_holds_a_slot(tmp_path):
        assert _lock_at_once(tmp_path / "slot-0") is None


def test_a_killed_process_releases_its_slot(tmp_path: Path) -> None:
    with another_process_that_holds_a_slot(tmp_path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait(DEADLINE_SECONDS)

        with MachineSlots(tmp_path, 1).held():
            assert _lock_at_once(tmp_path / "slot-0") is None


def test_without_its_files_passwords_are_hashed_without_slots(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with capture_logs() as logged:
        # As on a disk that is full or broken.
        slots = MachineSlots(tmp_path / "file" / "hashing", 1)
        with slots.held(), slots.held():
            pass

    assert [line["event"] for line in logged] == ["hashing.not_shared"]


def test_argon2_computes_the_known_answer() -> None:
    assert passwords.passes_known_answer()


def test_a_wrong_answer_of_argon2_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_KNOWN_ANSWER", "00" * 32)

    assert not passwords.passes_known_answer()


def test_the_speed_is_measured_on_the_given_number_of_threads() -> None:
    assert passwords.hashes_per_second(threads=2, seconds=0.02, cost=CHEAP) > 0
