"""Passwords as the house sees them: something slow that turns one into a hash, or says whether it fits one."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a comparison."""

    is_right: bool
    needs_upgrade: bool
    """The password is right, and its hash is of an older kind: hash it anew while it is at hand."""


class PasswordHasher(Protocol):
    """Hashes and compares, a few at a time and off the event loop.

    Both methods raise `ServiceUnavailable` at once when too many wait already. A caller that is cancelled while it
    waits leaves the queue; a hash that has begun is finished. The caller has made sure that the password is not over
    the maximum length.
    """

    async def hash(self, password: str) -> str:
        """Make the encoded hash that is stored for a password."""
        ...

    async def verify(self, password: str, encoded: str | None) -> Verdict:
        """Compare a password with a stored hash.

        Without one, as for an account that does not exist or has no password, it takes the same time and is wrong.
        """
        ...
