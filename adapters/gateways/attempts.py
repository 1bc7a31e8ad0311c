"""One attempt to post something to a receiver that an organization has named: limited in time, and in what is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import httpx
import trio

from adapters.gateways.failures import reason_of
from core.attempts import ERROR_CHARACTERS_MAX, RESPONSE_CHARACTERS_MAX, Attempt

if TYPE_CHECKING:
    from collections.abc import Mapping

ATTEMPT_SECONDS_MAX: Final = 15.0
# UTF-8 takes at most four bytes for a character.
_RESPONSE_BYTES_MAX: Final = 4 * RESPONSE_CHARACTERS_MAX


@dataclass(slots=True)
class _Answer:
    """What has arrived of an answer so far; the status is the answer, whatever becomes of the body."""

    status: int | None = None
    body: bytearray = field(default_factory=bytearray)


async def attempt(
    client: httpx.AsyncClient, url: str, body: bytes, headers: Mapping[str, str], *, change: str
) -> Attempt:
    """Post a body and return what came back; `change` says what to change when the receiver redirects."""
    answer = _Answer()
    problem = f"The receiver did not answer within {ATTEMPT_SECONDS_MAX:.0f} seconds."
    with trio.move_on_after(ATTEMPT_SECONDS_MAX):
        problem = await _fill_in(client, url, body, headers, answer)
    if answer.status is None:
        return Attempt(status_code=None, body=None, error=_storable(problem)[:ERROR_CHARACTERS_MAX])
    text = _storable(answer.body.decode("utf-8", "replace"))[:RESPONSE_CHARACTERS_MAX]
    return Attempt(status_code=answer.status, body=text, error=_problem_of(answer.status, change))


async def _fill_in(
    client: httpx.AsyncClient, url: str, body: bytes, headers: Mapping[str, str], answer: _Answer
) -> str:
    """Fill in the answer; return why it is missing or incomplete, or an empty text."""
    # A body that is compressed could grow without end when it is read.
    sent = {"Accept-Encoding": "identity", **headers}
    try:
        async with client.stream("POST", url, content=body, headers=sent) as response:
            answer.status = response.status_code
            # Cancelled and not left by `break`, which would leave the client's generators to the garbage collector.
            with trio.CancelScope() as reading:
                async for chunk in response.aiter_raw():
                    answer.body += chunk
                    if len(answer.body) >= _RESPONSE_BYTES_MAX:
                        reading.cancel()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return reason_of(error)
    return ""


def _storable(text: str) -> str:
    # PostgreSQL stores no NUL.
    return text.replace("\0", "\ufffd")


def _problem_of(status: int, change: str) -> str | None:
    if httpx.codes.is_success(status):
        return None
    if httpx.codes.is_redirect(status):
        return f"The receiver answered {status}. Redirects are not followed: {change}"
    return f"The receiver answered {status}."
