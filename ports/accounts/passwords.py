"""Port for hashing passwords and comparing them with hashes, which is slow on purpose."""

from collections.abc import Sequence
from typing import Protocol

from core.lazy_dataclasses import dataclass


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
