"""Bodies that have arrived in part: how much of them a process keeps, shared among their senders.

A body that arrives together with its headers, as nearly every one does, does not count, nor do the first 2 KiB of any
body: a few hundred bodies from a few networks fill the memory, and must not stop people who sign in or request a token.
One half of the memory is for senders whose credential is not verified, by their networks; the other half is for large
bodies, by the credential that `large_bodies.py` has verified. A sender may have as much as is free then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import trio

from core.errors import ServiceUnavailable
from core.limits import BODY_BYTES_MAX
from core.networks import limited_network
from entrypoints.setting_kinds import Network
from entrypoints.web.input.client_addresses import client_address


class Flood:
    """What rises and falls: a flood is at least so much, and over when a quarter of it is left."""

    def __init__(self, *, least: int) -> None:
        self._least = least
        self._peak = 0
        self._is_over = trio.Event()

    def note(self, number: int) -> None:
        """Note how much there is now."""
        if number > self._peak:
            self._peak = number
        elif self._peak >= self._least and number <= self._peak // 4:
            self._peak = number
            self._is_over.set()

    async def is_over(self) -> None:
        """Wait for the end of the next flood."""
        await self._is_over.wait()
        self._is_over = trio.Event()


BYTES_MAX: Final = 32 * 2**20
# Of each body: more than a form or a request for a token has.
UNCOUNTED_BYTES_MAX: Final = 2**11
# Of each body of a large length. `streams.py` reads no more of it before its sender is verified or refused.
UNCOUNTED_OF_LARGE_BYTES_MAX: Final = 2**15
RETRY_AFTER_SECONDS: Final = 5
# Its key in the scope of a request, for its stream and its route.
UNFINISHED_BODY: Final = "unfinished_body"
FLOOD_BYTES_MIN: Final = 2**20


class NoRoomForBody(ServiceUnavailable):
    """The process keeps too many parts of bodies, or too much of this sender's."""

    default_message = "Too many bodies are on their way. Send the request again in a moment, in one piece."

    def __init__(self) -> None:
        super().__init__(retry_after_seconds=RETRY_AFTER_SECONDS)


class UnfinishedBodies:
    """Counts the bytes of the bodies that are not complete."""

    def __init__(
        self,
        *,
        trusted_proxies: Sequence[Network] = (),
        bytes_max: int = BYTES_MAX,
        uncounted_bytes_max: int = UNCOUNTED_BYTES_MAX,
    ) -> None:
        self._trusted_proxies = trusted_proxies
        self.uncounted_bytes_max = uncounted_bytes_max
        self._bytes_max = bytes_max
        self._unknown = _Share(bytes_max // 2)
        self._verified = _Share(bytes_max // 2)
        self.flood = Flood(least=FLOOD_BYTES_MIN)

    @property
    def bytes_kept(self) -> int:
        """How many counted bytes are kept."""
        return self._bytes_max - self._unknown.free - self._verified.free

    def of(self, scope: Any) -> UnfinishedBody:
        """Return how much of the body of a request has arrived: nothing, until its stream or its route asks first."""
        extensions: dict[str, Any] = scope.setdefault("extensions", {})
        if UNFINISHED_BODY not in extensions:
            headers: list[tuple[bytes, bytes]] = list(scope["headers"])
            peer = scope["client"][0] if scope["client"] is not None else None
            forwarded = b",".join(value for name, value in headers if name == b"x-forwarded-for").decode("latin1")
            address = client_address(peer, forwarded, self._trusted_proxies)
            # The parser has refused any that is no number.
            length = int(next((value for name, value in headers if name == b"content-length"), b"0"))
            extensions[UNFINISHED_BODY] = self.begin(limited_network(address), is_large=length > BODY_BYTES_MAX)
        return extensions[UNFINISHED_BODY]

    def begin(self, network: str, *, is_large: bool = False) -> UnfinishedBody:
        """Return a body that a network begins to send, whose length may say that it is large."""
        uncounted = UNCOUNTED_OF_LARGE_BYTES_MAX if is_large else self.uncounted_bytes_max
        return UnfinishedBody(self, network, uncounted_bytes_max=uncounted)

    def share(self, *, is_verified: bool) -> _Share:
        """Return the half of the senders who are verified, or of the others."""
        return self._verified if is_verified else self._unknown


class UnfinishedBody:
    """The parts of one body that have arrived."""

    __slots__ = ("_arrived", "_bodies", "_bytes", "_sender", "_share", "_uncounted_bytes_max")

    def __init__(self, bodies: UnfinishedBodies, sender: str, *, uncounted_bytes_max: int) -> None:
        self._bodies = bodies
        self._uncounted_bytes_max = uncounted_bytes_max
        self._share = bodies.share(is_verified=False)
        self._sender = sender
        self._arrived = 0
        # The bytes of them that are counted.
        self._bytes = 0

    def grow(self, number: int) -> bool:
        """Count more bytes; return False, and count nothing, when the sender has no room for them."""
        more = max(0, self._arrived + number - self._uncounted_bytes_max) - self._bytes
        if not self._share.take(self._sender, more):
            return False
        self._arrived += number
        self._bytes += more
        self._bodies.flood.note(self._bodies.bytes_kept)
        return True

    def belongs_to(self, sender: str) -> bool:
        """Count the body, what has arrived of it and what will, for a sender that is verified.

        Return False when that one has no room for it; then nothing is counted.
        """
        self._give_back()
        self._share, self._sender = self._bodies.share(is_verified=True), sender
        return self.grow(0)

    def is_read_unverified(self) -> bool:
        """Count a large body as any other, because nothing will verify its sender before it is read.

        Return False when the sender has no room for it.
        """
        self._uncounted_bytes_max = min(self._uncounted_bytes_max, self._bodies.uncounted_bytes_max)
        return self.grow(0)

    def complete(self) -> None:
        """Forget the body, which is complete; a large one counts until it is decoded and answered."""
        if self._arrived <= BODY_BYTES_MAX:
            self.end()

    def end(self) -> None:
        """Forget the body, which is answered or will never be complete."""
        self._arrived = 0
        self._give_back()
        self._bodies.flood.note(self._bodies.bytes_kept)

    def _give_back(self) -> None:
        self._share.give_back(self._sender, self._bytes)
        self._bytes = 0


class _Share:
    """A part of the memory, and what each sender has of it."""

    def __init__(self, bytes_max: int) -> None:
        self.free = bytes_max
        self._taken: dict[str, int] = {}

    def take(self, sender: str, number: int) -> bool:
        """Take bytes for a sender, unless it would have more than is free then."""
        if not number:
            return True
        taken = self._taken.get(sender, 0) + number
        if taken > self.free - number:
            return False
        self._taken[sender] = taken
        self.free -= number
        return True

    def give_back(self, sender: str, number: int) -> None:
        """Give back bytes of a sender."""
        self.free += number
        taken = self._taken.pop(sender, 0) - number
        if taken > 0:
            self._taken[sender] = taken
