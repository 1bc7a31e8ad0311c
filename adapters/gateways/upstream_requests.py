"""Requests to providers: limited in time, size and number, and their answers as JSON objects.

Providers answer with JSON or with a form, and report errors with the status 200 too. Nothing of an answer is shown to a
person; the log has the reason of a failure without any secret.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import parse_qsl, urlsplit

import httpx
import structlog
import trio

from adapters.gateways.failures import PROVIDER, reason_of
from core.sign_in.upstream.answers import UpstreamFailed

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

ANSWER_BYTES_MAX: Final = 256 * 1024
FORM_FIELDS_MAX: Final = 100
# One provider that does not answer leaves the connections to the others alone.
REQUESTS_AT_ONCE_MAX: Final = 20
TOO_SLOW: Final = "The provider did not answer in time."

log = structlog.get_logger(__name__)


class UpstreamRequests:
    """Sends requests over a client that decides which addresses may be reached."""

    def __init__(self, client: httpx.AsyncClient, *, version: str) -> None:
        self._client = client
        self._headers = {
            "Accept": "application/json",
            # A body that is compressed could grow without end when it is read.
            "Accept-Encoding": "identity",
            "User-Agent": f"Gatehouse/{version}",
        }
        self._busy: Counter[str] = Counter()

    async def post(
        self, url: str, form: Mapping[str, str], *, auth: httpx.Auth | None = None
    ) -> tuple[int, Mapping[str, Any]]:
        """Send a form, and return the status and the object of the answer."""
        status, body = await self._send("POST", url, data=dict(form), auth=auth)
        return status, _object(body, url)

    async def get(self, url: str, access_token: str | None = None) -> tuple[int, Any]:
        """Read what is at an address, and return the status and the JSON of the answer."""
        headers = {"Authorization": f"Bearer {access_token}"} if access_token is not None else {}
        status, body = await self._send("GET", url, headers=headers)
        return status, _json(body)

    async def get_bytes(self, url: str) -> tuple[int, bytes]:
        """Read what is at an address."""
        return await self._send("GET", url)

    async def _send(self, method: str, url: str, **others: Any) -> tuple[int, bytes]:
        body = bytearray()
        others["headers"] = {**self._headers, **others.get("headers", {})}
        try:
            with self._place(url):
                async with self._client.stream(method, url, **others) as response:
                    # Cancelled and not left by `break`, which would leave the client's generators to the garbage
                    # collector.
                    with trio.CancelScope() as reading:
                        async for chunk in response.aiter_raw():
                            body += chunk
                            if len(body) > ANSWER_BYTES_MAX:
                                reading.cancel()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise failed(url, type(error).__name__, reason_of(error, PROVIDER)) from None
        if len(body) > ANSWER_BYTES_MAX:
            raise failed(url, "too_large", "The provider's answer is too large.")
        return response.status_code, bytes(body)

    @contextmanager
    def _place(self, url: str) -> Generator[None]:
        host = urlsplit(url).netloc
        if self._busy[host] >= REQUESTS_AT_ONCE_MAX:
            raise failed(url, "busy", "Too many requests wait for an answer of this host. Try again in a moment.")
        self._busy[host] += 1
        try:
            yield
        finally:
            self._busy[host] -= 1
            if not self._busy[host]:
                del self._busy[host]


def failed(url: str, reason: str, problem: str = "", **details: Any) -> UpstreamFailed:
    """Log a failure and return it; the log has neither the query of the address nor a text of the provider.

    `problem` is a sentence for the person who has configured the provider.
    """
    parts = urlsplit(url)
    log.warning("upstream.failed", host=parts.hostname, path=parts.path, reason=reason, **details)
    return UpstreamFailed(problem).because(reason)


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _object(body: bytes, url: str) -> Mapping[str, Any]:
    """Return an answer in JSON or as a form; raise `UpstreamFailed` for anything else."""
    decoded = _json(body)
    if isinstance(decoded, dict):
        return cast("dict[str, Any]", decoded)
    try:
        pairs = parse_qsl(body.decode("ascii"), strict_parsing=True, max_num_fields=FORM_FIELDS_MAX)
    except ValueError:
        raise failed(url, "no_object") from None
    return dict(pairs)
