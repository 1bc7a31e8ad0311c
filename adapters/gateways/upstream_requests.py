"""Requests to providers: limited in time, size and number, and their answers as JSON objects.

Providers answer with JSON or with a form, and report errors with the status 200 too. Nothing of an answer is shown to a
person; the log has the reason of a failure without any secret.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Final, cast
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

import httpx
import structlog
import trio

from adapters.gateways.failures import PROVIDER, problem_of, reason_of
from adapters.gateways.outbound import CONNECTIONS_OF_AN_ORGANIZATION_MAX, of, read_beginning
from core.sign_in.upstream.provider_answers import UpstreamFailed

ANSWER_BYTES_MAX: Final = 256 * 1024
FORM_FIELDS_MAX: Final = 100
# An organization whose providers do not answer, or one slow host, never takes all connections.
REQUESTS_OF_AN_ORGANIZATION_MAX: Final = CONNECTIONS_OF_AN_ORGANIZATION_MAX
REQUESTS_TO_A_HOST_MAX: Final = 60
TOO_SLOW: Final = "The provider did not answer in time."

log = structlog.get_logger(__name__)


class UpstreamRequests:
    """Sends requests over a client that decides which addresses may be reached.

    `organization_id` is the organization that has named the provider, None when the operator has.
    """

    def __init__(self, client: httpx.AsyncClient, *, version: str) -> None:
        self._client = client
        self._headers = {
            "Accept": "application/json",
            # A body that is compressed could grow without end when it is read.
            "Accept-Encoding": "identity",
            "User-Agent": f"Gatehouse/{version}",
        }
        self._busy: Counter[UUID | str] = Counter()

    async def post(
        self, organization_id: UUID | None, url: str, form: Mapping[str, str], *, auth: httpx.Auth | None = None
    ) -> tuple[int, Mapping[str, Any]]:
        """Send a form, and return the status and the object of the answer."""
        status, body = await self._send("POST", organization_id, url, data=dict(form), auth=auth)
        return status, _object(body, url)

    async def get(self, organization_id: UUID | None, url: str, access_token: str | None = None) -> tuple[int, Any]:
        """Read what is at an address, and return the status and the JSON of the answer."""
        headers = {"Authorization": f"Bearer {access_token}"} if access_token is not None else {}
        status, body = await self._send("GET", organization_id, url, headers=headers)
        return status, _json(body)

    async def get_bytes(self, organization_id: UUID | None, url: str) -> tuple[int, bytes]:
        """Read what is at an address."""
        return await self._send("GET", organization_id, url)

    async def status_of_page(self, organization_id: UUID | None, url: str, form: Mapping[str, str] | None) -> int:
        """Ask for a page as a browser would, by a form if there is one; return the status of the answer."""
        headers = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}
        method, data = ("GET", {}) if form is None else ("POST", {"data": dict(form)})
        status, _ = await self._send(method, organization_id, url, headers=headers, **data)
        return status

    async def _send(self, method: str, organization_id: UUID | None, url: str, **others: Any) -> tuple[int, bytes]:
        body = bytearray()
        others["headers"] = {**self._headers, **others.get("headers", {})}
        try:
            with self._place(organization_id, url):
                async with self._client.stream(method, url, extensions=of(organization_id), **others) as response:
                    await read_beginning(response, body, bytes_max=ANSWER_BYTES_MAX)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise failed(url, problem_of(error), reason_of(error, PROVIDER), error=type(error).__name__) from None
        if len(body) > ANSWER_BYTES_MAX:
            raise failed(url, "too_large", "The provider's answer is too large.")
        return response.status_code, bytes(body)

    @contextmanager
    def _place(self, organization_id: UUID | None, url: str) -> Generator[None]:
        """Count a request while the block lasts; raise `UpstreamFailed` at once when too many wait for an answer."""
        host = urlsplit(url).netloc
        if self._busy[host] >= REQUESTS_TO_A_HOST_MAX:
            raise failed(url, "busy", "Too many requests wait for an answer of this host. Try again in a moment.")
        counted: list[UUID | str] = [host]
        if organization_id is not None:
            counted.append(organization_id)
            if self._busy[organization_id] >= REQUESTS_OF_AN_ORGANIZATION_MAX:
                problem = "Too many requests wait for answers of your organization's providers. Try again in a moment."
                raise failed(url, "busy", problem, organization_id=str(organization_id))
        self._busy.update(counted)
        try:
            yield
        finally:
            self._busy.subtract(counted)
            for key in counted:
                if not self._busy[key]:
                    del self._busy[key]


@contextmanager
def time_limit(url: str, seconds_max: float, problem: str = "") -> Generator[None]:
    """Raise `UpstreamFailed` when the provider at an address takes longer."""
    try:
        with trio.fail_after(seconds_max):
            yield
    except trio.TooSlowError:
        raise failed(url, "too_slow", problem) from None


def failed(url: str, reason: str, problem: str = "", **details: Any) -> UpstreamFailed:
    """Log why an answer of a provider is refused, and return the refusal.

    The log has neither the query of the address nor a text of the provider. It is no warning, because callers and
    organizations can cause it.

    `problem` is a sentence for the person who has configured the provider.
    """
    parts = urlsplit(url)
    log.info("upstream.refused", host=parts.hostname, path=parts.path, reason=reason, **details)
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
