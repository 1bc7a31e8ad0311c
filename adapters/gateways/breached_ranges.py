"""Breached passwords by the range protocol: a server gets five digits of a SHA-1, and answers with all that begin so.

So it does not learn which of hundreds it was. The answer is padded with lines of the count 0, so that its length does
not tell the range to those who see the connection.
"""

from __future__ import annotations

import re
from typing import Final, final

import httpx
import trio

from adapters.gateways.failures import PROVIDER, reason_of
from adapters.gateways.outbound import of, read_beginning
from adapters.password_lists.files import sha1_of
from core.accounts.passwords import BreachUnknown
from ports.accounts.passwords import seconds_max

PREFIX_DIGITS: Final = 5
# A padded answer has some thousand lines of 37 to 45 bytes.
ANSWER_BYTES_MAX: Final = 256 * 1024
# More of them wait for a server that hangs than sign-ins should.
REQUESTS_AT_ONCE_MAX: Final = 20
# After a failed request, sign-ins make none for this long: a server that hangs delays few of them, not all.
PAUSE_SECONDS: Final = 10.0
_OK: Final = 200
_LINE: Final = re.compile(rb"([0-9A-Fa-f]{35}):([0-9]{1,12})\s*")


@final
class HttpBreachedRanges:
    """The port `BreachedPasswords`, by a server whose base address the operator has named."""

    def __init__(self, client: httpx.AsyncClient, address: str, *, version: str) -> None:
        self._client = client
        self._address = address
        self._headers = {
            "Add-Padding": "true",
            # A body that is compressed could grow without end when it is read.
            "Accept-Encoding": "identity",
            "User-Agent": f"Gatehouse/{version}",
        }
        self._places = trio.CapacityLimiter(REQUESTS_AT_ONCE_MAX)
        self._paused_until = float("-inf")

    async def contains(self, password: str, *, is_hurried: bool) -> bool:
        if is_hurried and trio.current_time() < self._paused_until:
            raise BreachUnknown("The server has just failed, and sign-ins do not ask it for some seconds.")
        if is_hurried and self._places.available_tokens == 0:
            raise BreachUnknown("Too many questions wait for the server.")
        try:
            with trio.fail_after(seconds_max(is_hurried=is_hurried)):
                found = await self._asked(sha1_of(password))
        except trio.TooSlowError:
            self._pause()
            raise BreachUnknown("The server did not answer in time.") from None
        except BreachUnknown:
            self._pause()
            raise
        self._paused_until = float("-inf")
        return found

    def _pause(self) -> None:
        self._paused_until = trio.current_time() + PAUSE_SECONDS

    async def _asked(self, digits: str) -> bool:
        async with self._places:
            body = await self._body(digits[:PREFIX_DIGITS])
        return _has(body, digits[PREFIX_DIGITS:].encode("ascii"))

    async def _body(self, prefix: str) -> bytes:
        body = bytearray()
        try:
            async with self._client.stream(
                "GET", f"{self._address}/{prefix}", headers=self._headers, extensions=of(None)
            ) as response:
                await read_beginning(response, body, bytes_max=ANSWER_BYTES_MAX)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise BreachUnknown(reason_of(error, PROVIDER)) from None
        if response.status_code != _OK:
            raise BreachUnknown(f"The server answers with the status {response.status_code}.")
        if len(body) > ANSWER_BYTES_MAX:
            raise BreachUnknown("The answer of the server is too large.")
        return bytes(body)


def _has(body: bytes, rest: bytes) -> bool:
    """Return whether an answer has the rest of a hash with a count; raise `BreachUnknown` when it is no such answer."""
    lines = [_LINE.fullmatch(line) for line in body.split(b"\n") if line.strip()]
    if not lines or None in lines:
        raise BreachUnknown("The answer of the server is no list of ranges.")
    return any(line is not None and line[1].upper() == rest and int(line[2]) > 0 for line in lines)
