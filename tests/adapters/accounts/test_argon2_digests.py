"""Digests of Argon2 in the memory that a thread keeps: the same as the library's own, wiped, and no other thread's."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from argon2.exceptions import HashingError
from argon2.low_level import Type, hash_secret_raw

from adapters.crypto import argon2_digests
from adapters.crypto.argon2_digests import Argon2Cost, digest

SALT = b"somesaltsomesalt"
LARGER = Argon2Cost(memory_kib=20_481, passes=1)
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
# It forbids memory that is writable and executable, as `MemoryDenyWriteExecute=` does.
FORBIDDING = """
import ctypes, sys
PR_SET_MDWE = 65
if ctypes.CDLL(None).prctl(PR_SET_MDWE, 1, 0, 0, 0) != 0:
    print("cannot forbid")
    sys.exit()
from adapters.crypto import argon2_digests, passwords
print(argon2_digests._CALLBACKS is None, passwords.passes_known_answer())
"""

# Its main thread ends while another one computes.
ENDING = """
import threading
from adapters.crypto.argon2_digests import Argon2Cost, digest
begun = threading.Event()
def compute():
    begun.set()
    digest(b"password", b"somesalt", Argon2Cost(passes=1000))
threading.Thread(target=compute, daemon=True).start()
begun.wait()
"""


def block_address() -> int:
    """Return where the block of this thread is, which it has after its first digest."""
    digest(b"password", SALT, Argon2Cost(memory_kib=8))
    block = argon2_digests._kept.block
    assert block is not None
    return block.address


def test_digests_are_those_of_the_library_whatever_their_values(subtests: pytest.Subtests) -> None:
    costs = [Argon2Cost(), Argon2Cost(memory_kib=67, passes=3, lanes=4), Argon2Cost(memory_kib=20_480), LARGER]
    for cost in costs:
        for kind in Type:
            for version, digest_bytes, password in ((19, 32, b"correct horse"), (16, 64, b""), (19, 16, b"a\0b")):
                with subtests.test(cost=cost, kind=kind, version=version):
                    expected = hash_secret_raw(
                        password, SALT, cost.passes, cost.memory_kib, cost.lanes, digest_bytes, kind, version
                    )

                    computed = digest(password, SALT, cost, digest_bytes=digest_bytes, kind=kind, version=version)

                    assert computed == expected


def test_a_thread_keeps_one_block_which_is_wiped_after_each_digest() -> None:
    address = block_address()

    for _ in range(3):
        digest(b"correct horse", SALT, Argon2Cost())

        assert block_address() == address
        block = argon2_digests._ffi.cast("uint8_t *", address)
        content = bytes(argon2_digests._ffi.buffer(block, argon2_digests._BLOCK_BYTES))
        assert content.count(0) == argon2_digests._BLOCK_BYTES


def test_each_thread_has_a_block_of_its_own_also_while_all_compute() -> None:
    threads, together = 4, Barrier(4)

    def compute(number: int) -> tuple[int, list[bytes]]:
        together.wait()
        digests = [digest(str(number).encode(), SALT, Argon2Cost()) for _ in range(5)]
        return block_address(), digests

    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(compute, range(threads)))

    assert len({address for address, _ in found}) == threads
    for number, (_, digests) in enumerate(found):
        assert digests == [hash_secret_raw(str(number).encode(), SALT, 2, 19_456, 1, 32, Type.ID)] * 5


def test_a_block_asks_for_huge_pages_and_begins_at_one() -> None:
    if not HUGE_PAGES.exists():
        pytest.skip("this kernel has no huge pages")
    address = block_address()
    of_mappings = re.findall(
        r"^([0-9a-f]+)-([0-9a-f]+) .*?^VmFlags:([^\n]*)",
        Path("/proc/self/smaps").read_text(),
        re.MULTILINE | re.DOTALL,
    )

    [flags] = [flags for first, last, flags in of_mappings if int(first, 16) <= address < int(last, 16)]

    assert "hg" in flags.split()
    assert address % argon2_digests._HUGE_PAGE_BYTES == 0


def test_values_that_argon2_does_not_take_are_refused() -> None:
    for cost, salt in ((Argon2Cost(passes=0), SALT), (Argon2Cost(lanes=0), SALT), (Argon2Cost(), b"short")):
        with pytest.raises(HashingError):
            digest(b"password", salt, cost)


def test_a_system_that_refuses_callbacks_has_the_memory_of_the_library() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORBIDDING], check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )

    assert done.stdout in {"True True\n", "cannot forbid\n"}


def test_a_process_may_end_while_a_digest_is_computed() -> None:
    ended = subprocess.run([sys.executable, "-c", ENDING], check=False)

    assert ended.returncode == 0
