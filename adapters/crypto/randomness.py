"""Chance, from the system's secure generator alone, in the shapes of the port `Randomness`."""

from __future__ import annotations

import secrets
import threading
import time
from typing import TYPE_CHECKING, final
from uuid import UUID, uuid4

from core.secrets import Secret

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET_BYTES = 32
# RFC 9562, 5.7: 48 bits of milliseconds, then 74 bits that are ours, between which version and variant stand.
_TAIL_BITS = 74
_LOW_BITS = 62
# How far ids of one millisecond lie apart: far enough that two processes do not meet by counting.
_STEP_BITS = 32
_VERSION_7 = 7 << 76
_VARIANT_RFC = 0b10 << 62


@final
class SystemRandomness:
    """The port `Randomness`; safe to share between threads."""

    def __init__(self, clock_nanoseconds: Callable[[], int] = time.time_ns) -> None:
        self._clock_nanoseconds = clock_nanoseconds
        self._lock = threading.Lock()
        self._milliseconds = 0
        self._tail = 0

    def new_id(self) -> UUID:
        """Make a UUIDv7 that is greater than every one this process made before."""
        # Logs are paged and shipped in the order of their ids, so those of one millisecond, and those made after the
        # clock was set back, go on from the last one (RFC 9562, 6.2, method 2).
        milliseconds = self._clock_nanoseconds() // 1_000_000
        with self._lock:
            if milliseconds > self._milliseconds:
                # The top bit stays free, so that counting on can hardly run over.
                self._milliseconds, self._tail = milliseconds, secrets.randbits(_TAIL_BITS - 1)
            else:
                self._tail += 1 + secrets.randbits(_STEP_BITS)
                self._milliseconds += self._tail >> _TAIL_BITS
                self._tail &= (1 << _TAIL_BITS) - 1
            milliseconds, tail = self._milliseconds, self._tail
        high, low = tail >> _LOW_BITS, tail & ((1 << _LOW_BITS) - 1)
        return UUID(int=milliseconds << 80 | _VERSION_7 | high << 64 | _VARIANT_RFC | low)

    def mail_token(self) -> Secret:
        """Make a token that a person receives by mail."""
        return Secret(str(uuid4()))

    def token(self) -> Secret:
        """Make any other secret."""
        return Secret(secrets.token_urlsafe(SECRET_BYTES))

    def choice(self, alphabet: str, length: int) -> str:
        """Make a text of that length, each character drawn evenly from the alphabet."""
        return "".join(secrets.choice(alphabet) for _ in range(length))
