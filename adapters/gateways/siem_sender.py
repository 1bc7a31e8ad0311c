"""Batches of audit entries over HTTP, in the format of the receiver, and compressed unless its options say not to."""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import httpx
import trio

from adapters.gateways.failures import reason_of
from adapters.gateways.outbound import of, read_beginning
from adapters.gateways.siem_formats import FORMATS, Format
from core.audit.siem_stream import BATCH_BYTES_MAX, ERROR_CHARACTERS_MAX, SiemEvent, SiemTarget, StreamReceipt
from core.wording import Wording

ATTEMPT_SECONDS_MAX: Final = 20.0
# For compression, which computes.
THREADS_MAX: Final = 2
# The bulk API answers some hundred bytes for each entry.
_RESPONSE_BYTES_MAX: Final = 2**20
_EXCERPT_CHARACTERS_MAX: Final = 200
# A receiver may repeat what it was sent, and neither the settings nor our log keep an address of a person.
_ADDRESS: Final = re.compile(r"""[^\s<>@"'(),:;\[\]\\]+@[^\s<>@"'(),:;\[\]\\]+""")
# Half of the time of the default level, for a few percent more bytes.
_COMPRESSION_LEVEL: Final = 4


@dataclass(slots=True)
class _ReceiverAnswer:
    """What has arrived of an answer so far, and why the rest of it is missing."""

    status: int | None = None
    content: bytearray = field(default_factory=bytearray)
    problem: str | None = Wording(
        "The receiver did not answer within %(seconds)s seconds.", seconds=round(ATTEMPT_SECONDS_MAX)
    )


class HttpSiemSender:
    """The port `SiemSender`."""

    def __init__(self, client: httpx.AsyncClient, *, version: str) -> None:
        self._client = client
        self._user_agent = f"Gatehouse/{version}"
        self._threads = trio.CapacityLimiter(THREADS_MAX)

    async def send(self, target: SiemTarget, events: Sequence[SiemEvent]) -> StreamReceipt:
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
            compress = partial(gzip.compress, body, _COMPRESSION_LEVEL, mtime=0)
            body = await trio.to_thread.run_sync(compress, limiter=self._threads)
            headers["Content-Encoding"] = "gzip"
        answer = _ReceiverAnswer()
        with trio.move_on_after(ATTEMPT_SECONDS_MAX):
            posting = self._client.stream(
                "POST", form.url(target.endpoint), content=body, headers=headers, extensions=of(target.organization_id)
            )
            await _fill_in(posting, answer)
        return _fit_to_store(_receipt(form, answer, events[:count]), target)


async def _fill_in(posting: AbstractAsyncContextManager[httpx.Response], answer: _ReceiverAnswer) -> None:
    try:
        async with posting as response:
            answer.status = response.status_code
            await read_beginning(response, answer.content, bytes_max=_RESPONSE_BYTES_MAX)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        answer.problem = reason_of(error)
    else:
        answer.problem = None


def _receipt(form: Format, answer: _ReceiverAnswer, events: Sequence[SiemEvent]) -> StreamReceipt:
    status, content = answer.status, bytes(answer.content)
    if status is None:
        return _failed(None, answer.problem or "")
    if httpx.codes.is_redirect(status):
        return _failed(
            status,
            Wording(
                "The receiver answered %(status)s. Redirects are not followed: change the endpoint.", status=status
            ),
        )
    if not httpx.codes.is_success(status):
        excerpt = content.decode("utf-8", "replace")[:_EXCERPT_CHARACTERS_MAX]
        return _failed(
            status,
            Wording(
                "The receiver answered %(status)s: %(answer)s.", status=status, answer=excerpt or Wording("nothing")
            ),
        )
    if form.verdict is None:
        return StreamReceipt(received=len(events), status_code=status, error=None)
    if answer.problem is not None:
        return _failed(status, answer.problem)
    verdict = form.verdict(content, events)
    return StreamReceipt(received=verdict.received, status_code=status, error=verdict.error)


def _failed(status: int | None, error: str) -> StreamReceipt:
    return StreamReceipt(received=0, status_code=status, error=error)


def _fit_to_store(receipt: StreamReceipt, target: SiemTarget) -> StreamReceipt:
    """Return a receipt whose error has neither the token nor an address, which a receiver may repeat."""
    if receipt.error is None:
        return receipt
    error = receipt.error.replace("\0", "\ufffd")
    if target.token is not None:
        error = error.replace(target.token.reveal(), "***")
    error = _ADDRESS.sub("…", error)[:ERROR_CHARACTERS_MAX]
    return StreamReceipt(received=receipt.received, status_code=receipt.status_code, error=error)
