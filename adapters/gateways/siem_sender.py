"""Batches of audit entries over HTTP, in the format of the receiver, and compressed unless its options say not to."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

import httpx
import trio

from adapters.gateways.failures import reason_of
from adapters.gateways.siem_formats import FORMATS
from core.audit.siem_stream import BATCH_BYTES_MAX, ERROR_CHARACTERS_MAX, Receipt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.gateways.siem_formats import Format
    from core.audit.siem_stream import SiemEvent, SiemTarget

ATTEMPT_SECONDS_MAX: Final = 20.0
# The bulk API answers some hundred bytes for each entry.
_RESPONSE_BYTES_MAX: Final = 2**20
_EXCERPT_CHARACTERS_MAX: Final = 200
# Half of the time of the default level, for a few percent more bytes.
_COMPRESSION_LEVEL: Final = 4


@dataclass(slots=True)
class _Answer:
    """What has arrived of an answer so far, and why the rest of it is missing."""

    status: int | None = None
    content: bytearray = field(default_factory=bytearray)
    problem: str | None = f"The receiver did not answer within {ATTEMPT_SECONDS_MAX:.0f} seconds."


class HttpSiemSender:
    """The port `SiemSender`."""

    def __init__(self, client: httpx.AsyncClient, *, version: str) -> None:
        self._client = client
        self._user_agent = f"Gatehouse/{version}"

    async def send(self, target: SiemTarget, events: Sequence[SiemEvent]) -> Receipt:
        form = FORMATS[target.provider]
        body, count = form.body(target, events, BATCH_BYTES_MAX)
        headers = {
            "Content-Type": form.content_type,
            # An answer that is compressed could grow without end when it is read.
            "Accept-Encoding": "identity",
            "User-Agent": self._user_agent,
        }
        if target.token is not None:
            headers |= form.authorization(target.token.reveal())
        if target.options.compress:
            # In a thread, because a full batch takes longer than a request may be kept waiting.
            body = await trio.to_thread.run_sync(partial(gzip.compress, body, _COMPRESSION_LEVEL, mtime=0))
            headers["Content-Encoding"] = "gzip"
        answer = _Answer()
        with trio.move_on_after(ATTEMPT_SECONDS_MAX):
            await self._attempt(form.url(target.endpoint), body, headers, answer)
        return _without_token(_receipt(form, answer, events[:count]), target)

    async def _attempt(self, url: str, body: bytes, headers: dict[str, str], answer: _Answer) -> None:
        """Fill in the answer."""
        try:
            async with self._client.stream("POST", url, content=body, headers=headers) as response:
                answer.status = response.status_code
                # Cancelled and not left by `break`, which would leave the client's generators to the garbage collector.
                with trio.CancelScope() as reading:
                    async for chunk in response.aiter_raw():
                        answer.content += chunk
                        if len(answer.content) >= _RESPONSE_BYTES_MAX:
                            reading.cancel()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            answer.problem = reason_of(error)
        else:
            answer.problem = None


def _receipt(form: Format, answer: _Answer, events: Sequence[SiemEvent]) -> Receipt:
    status, content = answer.status, bytes(answer.content)
    if status is None:
        return _failed(None, answer.problem or "")
    if httpx.codes.is_redirect(status):
        return _failed(status, f"The receiver answered {status}. Redirects are not followed: change the endpoint.")
    if not httpx.codes.is_success(status):
        excerpt = content.decode("utf-8", "replace")[:_EXCERPT_CHARACTERS_MAX]
        return _failed(status, f"The receiver answered {status}: {excerpt or 'nothing'}.")
    if form.verdict is None:
        return Receipt(received=len(events), status_code=status, error=None)
    if answer.problem is not None:
        return _failed(status, answer.problem)
    verdict = form.verdict(content, events)
    return Receipt(received=verdict.received, status_code=status, error=verdict.error)


def _failed(status: int | None, error: str) -> Receipt:
    return Receipt(received=0, status_code=status, error=error)


def _without_token(receipt: Receipt, target: SiemTarget) -> Receipt:
    """Return a receipt whose error is fit to be stored and shown: without the token, which a receiver may repeat."""
    if receipt.error is None:
        return receipt
    error = receipt.error.replace("\0", "\ufffd")
    if target.token is not None:
        error = error.replace(target.token.reveal(), "***")
    return Receipt(received=receipt.received, status_code=receipt.status_code, error=error[:ERROR_CHARACTERS_MAX])
