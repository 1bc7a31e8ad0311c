"""Time and randomness, which a pure core cannot produce itself."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.secrets import Secret


class Clock(Protocol):
    """The only source of the current time, so that a test can move it."""

    def __call__(self) -> datetime:
        """Return the current time in UTC."""
        ...


class Randomness(Protocol):
    """The system's secure random generator, in the formats that the product needs (decisions 1.1)."""

    def new_id(self) -> UUID:
        """Return an id for a new row: a UUIDv7, so that rows of the same time are stored together."""
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
