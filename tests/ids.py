"""Ids that follow the clock of a test, as in production, where an id begins with the time when its row is written.

Clocks of tests stand still, and a test may have several of the same time: ids of one moment are in the order of their
making, whichever clock they follow.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from functools import lru_cache
from uuid import UUID

from adapters.crypto.randomness import SystemRandomness
from core.ids import first_id_at
from core.secrets import Secret
from ports.clock import Clock
from tests.seeds import forget_before_each_test

MOMENTS_MAX = 1_000
_RANDOM_BITS = 74


def now() -> datetime:
    """Return the time of the machine."""
    return datetime.now(UTC)


class FollowingRandomness:
    """The port `Randomness`, whose ids follow a clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._others = SystemRandomness()

    def new_id(self) -> UUID:
        """Return an id of the clock's time."""
        return _ids_at(int(self._clock().timestamp() * 1_000)).new_id()

    def new_account_id(self) -> UUID:
        """Return an id of an account, which follows no clock."""
        return self._others.new_account_id()

    def challenge_id(self) -> UUID:
        """Return the id of a challenge, which follows no clock."""
        return self._others.challenge_id()

    def mail_token(self) -> Secret:
        """Return a token that a user receives by mail."""
        return self._others.mail_token()

    def token(self) -> Secret:
        """Return any other secret."""
        return self._others.token()

    def salt(self) -> str:
        """Return the salt of a digest."""
        return self._others.salt()

    def choice(self, alphabet: str, length: int) -> str:
        """Return a text of that length."""
        return self._others.choice(alphabet, length)


_OF_TEST = [FollowingRandomness(now)]


def follow(clock: Clock) -> None:
    """Make `new_id` follow a clock."""
    _OF_TEST[:] = [FollowingRandomness(clock)]


def new_id() -> UUID:
    """Return an id at the time of the test's clock, or the machine's where the test has none."""
    return _OF_TEST[0].new_id()


def new_account_id() -> UUID:
    """Return an id of an account."""
    return _OF_TEST[0].new_account_id()


def id_at(moment: datetime) -> UUID:
    """Return an id of any time."""
    return UUID(int=first_id_at(moment).int + secrets.randbits(_RANDOM_BITS))


@lru_cache(maxsize=MOMENTS_MAX)
def _ids_at(milliseconds: int) -> SystemRandomness:
    return SystemRandomness(lambda: milliseconds * 1_000_000)


# An id continues from the last one of its moment, so it would tell what the tests before have made.
forget_before_each_test(_ids_at.cache_clear)
