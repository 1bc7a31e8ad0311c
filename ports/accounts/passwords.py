"""Hashing and checking passwords, and whether one is known from data breaches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from core.lazy_dataclasses import dataclass

# The limit where a password is set, and the one at a sign-in, which must not be delayed.
SECONDS_MAX: Final = 3.0
HURRIED_SECONDS_MAX: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordVerdict:
    """The result of a comparison."""

    is_right: bool
    needs_upgrade: bool
    """The password is right, and its hash is of an older kind: hash it again while the password is available."""


class PasswordHasher(Protocol):
    """Hashes and compares, a few at a time and off the event loop.

    Both methods raise `ServiceUnavailable` immediately when the queue is full. A caller that is cancelled while waiting
    leaves the queue; a hash that has begun is finished. The caller has checked the maximum length of the password.
    """

    async def hash(self, password: str, *, salt: bytes | None = None) -> str:
        """Return the encoded hash to store for a password; with the same 16 bytes of salt, always the same one.

        Without them the salt is random.
        """
        ...

    async def verify(self, password: str, encoded: str | None, decoys: Sequence[str] = ()) -> PasswordVerdict:
        """Compare a password with a stored hash.

        Without a hash, because there is no account or it has no password, the comparison fails. Every refusal does the
        same work: it computes one hash of our own kind, and one of every kind among the decoys.
        """
        ...


class BreachedPasswords(Protocol):
    """Knows passwords that have leaked; a check may be cancelled."""

    async def contains(self, password: str, *, is_hurried: bool) -> bool:
        """Return whether a password has leaked; raise `BreachUnknown` when there is no answer in time.

        With `is_hurried`, raise at once when the list has failed a moment ago.
        """
        ...


def seconds_max(*, is_hurried: bool) -> float:
    """Return how long a check may take."""
    return HURRIED_SECONDS_MAX if is_hurried else SECONDS_MAX
