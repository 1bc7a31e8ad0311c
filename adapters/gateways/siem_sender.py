"""Batches of audit entries over HTTP, in the format of the receiver, and compressed unless its options say not to.

The four interfaces are written after the documentation of their APIs: JSON lines over HTTP, the Splunk HTTP Event
Collector (`services/collector/event`), the Datadog logs intake (`api/v2/logs`), and the bulk API of Elasticsearch.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import field
from functools import partial
from typing import Any, Final, cast
from urllib.parse import urlsplit

import httpx
import trio

from adapters.gateways.failures import reason_of
from adapters.gateways.outbound import of, read_beginning
from core.audit.siem import SiemProvider
from core.audit.siem_stream import BATCH_BYTES_MAX, ERROR_CHARACTERS_MAX, SiemEvent, SiemTarget, StreamReceipt
from core.lazy_dataclasses import dataclass
from core.wording import Wording

SOURCE: Final = "gatehouse"
SOURCETYPE: Final = "gatehouse:audit"
SIGN_INS_SOURCETYPE: Final = "gatehouse:sign_in"
ELASTIC_INDEX: Final = "gatehouse-audit"
_CONFLICT: Final = 409
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


@dataclass(frozen=True, slots=True)
class ReceiverVerdict:
    """How many events from the first on were received, and why not the others."""

    received: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Format:
    """An interface: how an event, a body and the headers are written, and how an answer of 2xx is read."""

    path: str
    content_type: str
    event: Callable[[SiemTarget, SiemEvent], bytes]
    authorization: Callable[[str], Mapping[str, str]]
    # None where the status alone is the answer.
    verdict: Callable[[bytes, Sequence[SiemEvent]], ReceiverVerdict] | None = None
    before: bytes = b""
    between: bytes = b""
    after: bytes = b""
    # Where the path belongs to the interface, it is appended to a path of the endpoint, such as a proxy's.
    is_path_appended: bool = False

    def url(self, endpoint: str) -> str:
        """Return the URL to send to; an endpoint without a path gets the interface's."""
        parts = urlsplit(endpoint)
        path = parts.path.rstrip("/")
        if not path or (self.is_path_appended and not path.endswith(self.path)):
            return parts._replace(path=path + self.path).geturl()
        return endpoint

    def body(self, target: SiemTarget, events: Sequence[SiemEvent], bytes_max: int) -> tuple[bytes, int]:
        """Return a body with as many events as fit, at least the first one, and their number."""
        pieces: list[bytes] = []
        size = len(self.before) + len(self.after)
        for event in events:
            piece = self.event(target, event)
            size += len(piece) + len(self.between)
            if pieces and size > bytes_max:
                break
            pieces.append(piece)
        return self.before + self.between.join(pieces) + self.after, len(pieces)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _http_event(_target: SiemTarget, event: SiemEvent) -> bytes:
    return _json(event.payload) + b"\n"


def _splunk_event(target: SiemTarget, event: SiemEvent) -> bytes:
    options = target.options
    metadata = {
        # Seconds since 1970, with a fraction.
        "time": round(event.created_at.timestamp(), 3),
        "source": options.source or SOURCE,
        "sourcetype": options.sourcetype or (SOURCETYPE if event.sign_ins is None else SIGN_INS_SOURCETYPE),
    }
    if options.index is not None:
        metadata["index"] = options.index
    return _json({**metadata, "event": event.payload})


def _splunk_verdict(content: bytes, events: Sequence[SiemEvent]) -> ReceiverVerdict:
    answer = _object(content)
    # A proxy in front of the collector may answer 200 as well.
    if answer is None or answer.get("code") != 0:
        return ReceiverVerdict(0, Wording("The collector answered %(answer)s.", answer=_excerpt(content)))
    return ReceiverVerdict(len(events))


def _datadog_event(target: SiemTarget, event: SiemEvent) -> bytes:
    payload, options = event.payload, target.options
    if event.sign_ins is not None:
        kind, is_good = "sign_in", payload["outcome"] == "success"
        who = payload["user"]["email"] if payload["user"] is not None else "a person who is not known here"
        message = f"sign_in {payload['outcome']} at {payload['service'] or 'the organization'} by {who}"
    else:
        kind, is_good = "audit", payload["success"]
        actor = payload["actor"]["email"] or payload["actor"]["id"]
        message = f"{event.action} {payload['target_type']} {payload['target_id']} by {actor}"
    return _json(
        {
            "ddsource": SOURCE,
            "ddtags": ",".join(options.tags),
            "service": options.service or SOURCE,
            "message": message,
            "status": "info" if is_good else "warn",
            "timestamp": payload["created_at"],
            kind: payload,
        }
    )


def _elastic_event(target: SiemTarget, event: SiemEvent) -> bytes:
    # Created under its own id: an entry that is sent again is refused as a conflict, and is not there twice.
    action = {"create": {"_index": target.options.index or ELASTIC_INDEX, "_id": event.id}}
    return _json(action) + b"\n" + _json({"@timestamp": event.payload["created_at"], **event.payload}) + b"\n"


def _elastic_verdict(content: bytes, events: Sequence[SiemEvent]) -> ReceiverVerdict:
    answer = _object(content)
    items = answer.get("items") if answer is not None else None
    if not isinstance(items, list) or len(cast("list[Any]", items)) != len(events):
        return ReceiverVerdict(0, Wording("The bulk API answered %(answer)s.", answer=_excerpt(content)))
    for number, (item, event) in enumerate(zip(cast("list[Any]", items), events, strict=True)):
        if problem := _problem_of_item(item, event):
            return ReceiverVerdict(number, problem)
    return ReceiverVerdict(len(events))


def _problem_of_item(item: Any, event: SiemEvent) -> str | None:
    match item:
        case {"create": {"status": int() as status}} if 200 <= status < 300 or status == _CONFLICT:
            return None
        case {"create": {"status": status, "error": reason}}:
            return Wording(
                "Entry %(entry)s was refused with %(status)s: %(answer)s.",
                entry=event.id,
                status=status,
                answer=_excerpt(_json(reason)),
            )
        case _:
            return Wording(
                "Entry %(entry)s was refused in a form that is not documented: %(answer)s.",
                entry=event.id,
                answer=_excerpt(_json(item)),
            )


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(content)
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _excerpt(content: bytes) -> str:
    return content[:200].decode("utf-8", "replace") or Wording("nothing")


FORMATS: Final = {
    SiemProvider.HTTP: Format(
        path="/",
        content_type="application/x-ndjson",
        event=_http_event,
        authorization=lambda token: {"Authorization": f"Bearer {token}"},
    ),
    SiemProvider.SPLUNK: Format(
        path="/services/collector/event",
        content_type="application/json",
        event=_splunk_event,
        authorization=lambda token: {"Authorization": f"Splunk {token}"},
        verdict=_splunk_verdict,
        between=b"\n",
    ),
    SiemProvider.DATADOG: Format(
        path="/api/v2/logs",
        content_type="application/json",
        event=_datadog_event,
        authorization=lambda token: {"DD-API-KEY": token},
        before=b"[",
        between=b",",
        after=b"]",
    ),
    SiemProvider.ELASTIC: Format(
        path="/_bulk",
        content_type="application/x-ndjson",
        event=_elastic_event,
        authorization=lambda token: {"Authorization": f"ApiKey {token}"},
        verdict=_elastic_verdict,
        is_path_appended=True,
    ),
}


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
