"""The two things a pure core cannot have of its own: the time, and chance."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.secrets import Secret


class Clock(Protocol):
    """Says what time it is. Everything that asks for the time asks here, so that a test can move it."""

    def __call__(self) -> datetime:
        """Give the present moment in UTC."""
        ...


class Randomness(Protocol):
    """The system's secure generator, in the shapes that the product needs (decisions 1.1)."""

    def new_id(self) -> UUID:
        """Make an id for a new row: a UUIDv7, so that rows of one time lie together."""
        ...

    def mail_token(self) -> Secret:
        """Make a token that a person receives by mail: a UUIDv4."""
        ...

    def token(self) -> Secret:
        """Make any other secret: 256 random bits in URL-safe base64."""
        ...

    def choice(self, alphabet: str, length: int) -> str:
        """Make a text of `length` characters, each drawn evenly from the alphabet; for codes that people type."""
        ...
