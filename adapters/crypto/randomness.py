"""The port `Randomness`, with the secure random generator of the operating system only."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from typing import final
from uuid import UUID, uuid4

from core.secrets import Secret

SECRET_BYTES = 32
SALT_BYTES = 16
# RFC 9562, 5.7: 48 bits of milliseconds, then 74 bits of our choice, with version and variant between them.
_TAIL_BITS = 74
_LOW_BITS = 62
# The step between ids of one millisecond: large enough that two processes do not collide by counting.
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
        """Return a UUIDv7 that is greater than every one this process returned before."""
        # Logs are paged and shipped in the order of their ids, so ids of one millisecond, and ids made after the clock
        # was set back, continue from the last one (RFC 9562, 6.2, method 2).
        milliseconds = self._clock_nanoseconds() // 1_000_000
        with self._lock:
            if milliseconds > self._milliseconds:
                # The top bit stays zero, so that counting hardly ever overflows.
                self._milliseconds, self._tail = milliseconds, secrets.randbits(_TAIL_BITS - 1)
            else:
                self._tail += 1 + secrets.randbits(_STEP_BITS)
                self._milliseconds += self._tail >> _TAIL_BITS
                self._tail &= (1 << _TAIL_BITS) - 1
            milliseconds, tail = self._milliseconds, self._tail
        high, low = tail >> _LOW_BITS, tail & ((1 << _LOW_BITS) - 1)
        return UUID(int=milliseconds << 80 | _VERSION_7 | high << 64 | _VARIANT_RFC | low)

    def new_account_id(self) -> UUID:
        """Return a UUIDv4, of which every bit that is not fixed is random."""
        return uuid4()

    def challenge_id(self) -> UUID:
        """Return a UUIDv4, of which every bit that is not fixed is random."""
        return uuid4()

    def mail_token(self) -> Secret:
        """Return a token that a user receives by mail."""
        return Secret(str(uuid4()))

    def token(self) -> Secret:
        """Return any other secret."""
        return Secret(secrets.token_urlsafe(SECRET_BYTES))

    def salt(self) -> str:
        """Return the salt of a digest."""
        return secrets.token_hex(SALT_BYTES)

    def choice(self, alphabet: str, length: int) -> str:
        """Return a text of that length, each character drawn uniformly from the alphabet."""
        return "".join(secrets.choice(alphabet) for _ in range(length))
