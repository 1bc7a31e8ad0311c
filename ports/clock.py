"""Time and randomness, which a pure core cannot produce itself."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.secrets import Secret


class Clock(Protocol):
    """The only source of the current time, so that a test can move it."""

    def __call__(self) -> datetime:
        """Return the current time in UTC."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The result of a comparison with the database's clock.

    By how much it has moved the time of this process, and by how much the database's clock is ahead of that time: 0
    unless the database's clock has jumped.
    """

    moved_seconds: float
    database_error_seconds: float


class WatchedClock(Clock, Protocol):
    """A clock that goes on evenly when the machine's clock jumps, until it is compared with the database's."""

    def error_seconds(self) -> float:
        """Return by how much the machine's clock is ahead of this one; 0 while this one follows it."""
        ...

    def reading(self) -> int:
        """Return the moment before the database is asked for its time, for `compare`."""
        ...

    def compare(self, reading: int, database_time: datetime) -> Comparison:
        """Follow the machine's clock if it agrees with the database's, else the one that has not jumped."""
        ...

    def is_settled(self) -> bool:
        """Return whether the time is certain enough to delete by it.

        It is not before the machine's clock and the database's have agreed once, in this process or in one that has
        shared its time with it, nor for an hour after the clock was moved far ahead, perhaps wrongly.
        """
        ...

    def share(self) -> None:
        """Share what is known of the time with the process that may replace this one."""
        ...


class Randomness(Protocol):
    """The system's secure random generator, in the formats that the product needs."""

    def new_id(self) -> UUID:
        """Return an id for a new row: a UUIDv7, so that rows of the same time are stored together."""
        ...

    def new_account_id(self) -> UUID:
        """Return an id for a new account: a UUIDv4, which does not tell an organization how old the account is."""
        ...

    def challenge_id(self) -> UUID:
        """Return the id of a challenge to one client: a UUIDv4, which cannot be guessed."""
        ...

    def mail_token(self) -> Secret:
        """Return a token to be sent by mail: a UUIDv4."""
        ...

    def token(self) -> Secret:
        """Return any other secret: 256 random bits in URL-safe base64."""
        ...

    def salt(self) -> str:
        """Return 128 random bits in hexadecimal, for a digest whose value could be guessed."""
        ...

    def choice(self, alphabet: str, length: int) -> str:
        """Return `length` characters, drawn uniformly from the alphabet; for codes that people type."""
        ...
