"""Digests of Argon2, computed in memory that each hashing thread keeps, in huge pages where the machine gives them.

Argon2 reads its memory in an order that no processor foresees, so most reads look up a page: one of ten in huge pages,
one of 4,864 without them. The block of a thread is used by no other, and the library wipes it at the end of each
digest, before it gives it back. Hashes that need more memory than our own use the C library's, and so do all on a
system that refuses the callbacks (`MemoryDenyWriteExecute=` of systemd).
"""

from __future__ import annotations

import threading
from contextlib import suppress
from mmap import MADV_HUGEPAGE, MAP_ANONYMOUS, MAP_PRIVATE, mmap
from typing import Any, Final, cast, final

from argon2 import low_level
from argon2.exceptions import HashingError
from argon2.low_level import Type

from core.lazy_dataclasses import dataclass

VERSION: Final = 19
DIGEST_BYTES: Final = 32
_HUGE_PAGE_BYTES: Final = 2 * 1024 * 1024
# What our own hashes take, in whole huge pages.
_BLOCK_BYTES: Final = 10 * _HUGE_PAGE_BYTES
_OK: Final = 0

_ffi: Final[Any] = cast("Any", low_level).ffi


@dataclass(frozen=True, slots=True, kw_only=True)
class Argon2Cost:
    """The cost of one hash; the default is the minimum that OWASP advises for Argon2id."""

    memory_kib: int = 19_456
    passes: int = 2
    lanes: int = 1


@final
class _Block:
    """The memory of one thread; it ends with the thread."""

    def __init__(self) -> None:
        # A page more, because huge pages begin at multiples of their size. What is not touched takes no memory.
        self._pages = mmap(-1, _BLOCK_BYTES + _HUGE_PAGE_BYTES, flags=MAP_PRIVATE | MAP_ANONYMOUS)
        with suppress(OSError):
            self._pages.madvise(MADV_HUGEPAGE)
        start = int(_ffi.cast("uintptr_t", _ffi.from_buffer(self._pages)))
        self.address = start + -start % _HUGE_PAGE_BYTES


class _Kept(threading.local):
    """The block of each thread, made for its first digest."""

    block: _Block | None = None


_kept: Final = _Kept()


def digest(
    password: bytes,
    salt: bytes,
    cost: Argon2Cost,
    *,
    digest_bytes: int = DIGEST_BYTES,
    kind: Type = Type.ID,
    version: int = VERSION,
) -> bytes:
    """Return the digest of a password; raise `HashingError` for values that Argon2 does not take."""
    callbacks = _CALLBACKS if cost.memory_kib * 1024 <= _BLOCK_BYTES else None
    if callbacks is not None and _kept.block is None:
        _kept.block = _Block()
    # The interpreter drops what a thread keeps when it ends, also while a daemon thread still computes.
    block = _kept.block
    allocate, free = callbacks or (_ffi.NULL, _ffi.NULL)
    # They live as long as these names.
    out, secret, salted = (_ffi.new("uint8_t[]", one) for one in (digest_bytes, password, salt))
    values = {
        "out": out,
        "outlen": digest_bytes,
        "pwd": secret,
        "pwdlen": len(password),
        "salt": salted,
        "saltlen": len(salt),
        "t_cost": cost.passes,
        "m_cost": cost.memory_kib,
        "lanes": cost.lanes,
        "threads": cost.lanes,
        "version": version,
        "allocate_cbk": allocate,
        "free_cbk": free,
    }
    result = low_level.core(_ffi.new("argon2_context *", values), cast("Any", kind).value)
    if result != _OK:
        raise HashingError(low_level.error_to_str(result))
    del block
    return bytes(_ffi.buffer(out))


def _lend(memory: Any, size: int) -> int:
    """Give the library the block of this thread; when this fails, the library has no memory, and says so."""
    block = _kept.block
    assert block is not None, "the thread has no block"
    assert size <= _BLOCK_BYTES, "a digest needs more memory than a block has"
    memory[0] = _ffi.cast("uint8_t *", block.address)
    return 0


def _take_back(_memory: Any, _size: int) -> None:
    """Keep the block, which the library has wiped, for the next digest of the thread."""


def _callbacks() -> tuple[Any, Any] | None:
    try:
        return _ffi.callback("int(uint8_t **, size_t)", _lend), _ffi.callback("void(uint8_t *, size_t)", _take_back)
    except MemoryError:
        return None


_CALLBACKS: Final = _callbacks()
