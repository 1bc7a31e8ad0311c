"""Calling the interface: `Gatehouse` without async, `AsyncGatehouse` on asyncio and Trio.

Calls are made by the functions of `service.py` (with an API key of a service) and `management.py` (with a key of an
organization, or the access token of a person).
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Any, Final, TypeVar, cast

import httpx

from gatehouse_client.calls import Call, ListCall
from gatehouse_client.errors import FieldProblem, Refused, Unreachable
from gatehouse_client.provider import checked_issuer
from gatehouse_client.steps import AsyncIO, BlockingIO, Steps, invoke, now, run, run_async, send, sleep

T = TypeVar("T")
Item = TypeVar("Item")

ATTEMPTS_MAX: Final = 4
WAIT_SECONDS_MAX: Final = 30.0
# A call that waits for events has its answer after 20 seconds at most.
TIMEOUT_SECONDS: Final = 30.0


class Calling:
    """What both clients do with a call, as steps."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None,
        token: str | Callable[[], Any] | None,
        key: str | None,
        wait_seconds_max: float,
    ) -> None:
        if sum(credential is not None for credential in (api_key, token, key)) > 1:
            raise TypeError("give one of api_key, token and key")
        self._base_url = checked_issuer(base_url)
        self._key = api_key or key
        self._token = token
        self._wait_seconds_max = wait_seconds_max

    def send(self, call: Call[T]) -> Steps[T]:
        """Return the answer of a call, after waiting where Gatehouse asks for it."""
        waited = 0.0
        for attempt in range(1, ATTEMPTS_MAX + 1):
            request = yield from self._request(call)
            response = yield from send(request)
            if response.is_success:
                return cast("T", _answer(call, response))
            at = yield from now()
            wait = retry_after(response.headers, at=at)
            is_last = attempt == ATTEMPTS_MAX
            if is_last or wait is None or waited + wait > self._wait_seconds_max or not _may_repeat(call, response):
                raise refusal_of(response, wait)
            waited += wait
            yield from sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def page(self, call: ListCall[Any, Item]) -> Steps[tuple[list[Item], ListCall[Any, Item] | None]]:
        """Return the items of a page, and the call of the next one; None after the last."""
        answer: Any = yield from self.send(call)
        items = cast("list[Item]", answer if call.items is None else answer[call.items])
        return items, next_page(call, answer, items)

    def _request(self, call: Call[Any]) -> Steps[httpx.Request]:
        headers = {"Accept": "application/json"}
        if self._key is not None:
            headers["X-Api-Key"] = self._key
        if self._token is not None:
            token = self._token if isinstance(self._token, str) else (yield from invoke(self._token))
            headers["Authorization"] = f"Bearer {token}"
        if call.media_type is not None:
            headers["Content-Type"] = call.media_type
        body = {} if call.body is None else {"data" if call.is_form else "json": call.body}
        address = f"{self._base_url}{call.path}"
        return httpx.Request(call.method, address, params=call.query, headers=headers, **cast("Any", body))


def next_page(call: ListCall[Any, Item], answer: Any, items: list[Item]) -> ListCall[Any, Item] | None:
    """Return the call of the page after this one; None after the last."""
    if call.paging is None or not items:
        return None
    if call.paging == "cursor":
        assert call.cursor is not None, "a list with cursors names the field of the cursor"
        following = answer.get(call.cursor)
        is_over = following is None or answer.get("has_more") is False
        return None if is_over else _with(call, after=following)
    if call.paging == "last_id":
        # The number of a page means nothing beside the id.
        without_page = {name: value for name, value in call.query.items() if name != "page"}
        return _with(replace(call, query=without_page), after=cast("Any", items[-1])["id"])
    offset = int(call.query.get("offset", "0"))
    if call.paging == "offset":
        seen, following = offset + len(items), {"offset": offset + len(items)}
    else:
        number = int(call.query.get("page", "1"))
        size = _pagination(answer).get("limit", call.query.get("limit", len(items)))
        seen, following = (number - 1) * int(size) + len(items), {"page": number + 1}
    total = _total(answer)
    return None if total is not None and seen >= total else _with(call, **following)


def _pagination(answer: Any) -> Mapping[str, Any]:
    return cast("dict[str, Any]", answer).get("pagination", {}) if isinstance(answer, dict) else {}


def _total(answer: Any) -> int | None:
    """Return how many items there are; None where the answer does not say it, and an empty page is the end."""
    if not isinstance(answer, dict):
        return None
    whole = cast("dict[str, Any]", answer)
    return next((part["total"] for part in (_pagination(whole), whole) if "total" in part), None)


def _with(call: ListCall[Any, Item], **query: Any) -> ListCall[Any, Item]:
    return replace(call, query={**call.query, **{name: str(value) for name, value in query.items()}})


def _may_repeat(call: Call[Any], response: httpx.Response) -> bool:
    # A request is counted against limits before it does anything; a 503 may come from a proxy, after a change.
    return response.status_code == httpx.codes.TOO_MANY_REQUESTS.value or (
        response.status_code == httpx.codes.SERVICE_UNAVAILABLE.value and call.is_safe
    )


def _answer(call: Call[Any], response: httpx.Response) -> Any:
    match call.answer:
        case "nothing":
            return None
        case "text":
            return response.text
        case "bytes":
            return response.content
        case "json":
            try:
                return response.json()
            except ValueError as problem:
                raise Unreachable(f"{call.method} {call.path} was answered with something else than JSON") from problem


def retry_after(headers: httpx.Headers, *, at: float) -> float | None:
    """Return for how many seconds `Retry-After` asks to wait; None without it."""
    value = headers.get("Retry-After", "")
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        return max(parsedate_to_datetime(value).timestamp() - at, 0.0)
    except ValueError:
        return None


def refusal_of(response: httpx.Response, wait: float | None = None) -> Refused | Unreachable:
    """Return the error for an answer that is no success: `Unreachable` when no Gatehouse has written it."""
    try:
        body: object = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        return Unreachable(f"{response.request.method} {response.url.path} was answered {response.status_code}")
    fields = cast("dict[str, Any]", body)
    return Refused(
        status=response.status_code,
        error_code=str(fields.get("error_code", fields.get("error", ""))),
        message=str(fields.get("error_description", fields.get("error", fields.get("detail", "")))),
        details=[FieldProblem(**detail) for detail in fields.get("details", ()) if _is_detail(detail)],
        request_id=response.headers.get("X-Request-Id") or fields.get("request_id"),
        retry_after=wait,
    )


def _is_detail(detail: object) -> bool:
    return isinstance(detail, dict) and set(cast("dict[str, Any]", detail)) == {"field", "message"}


class Gatehouse:
    """Calls the interface of an installation, without async; threads may share it.

    It takes the API key of a service (`api_key`), a key of an organization (`key`), or an access token (`token`, also a
    function that returns a live one). A call is sent again after 429, and after 503 when it changes nothing, when
    Gatehouse says for how long to wait and that is `wait_seconds_max` or less altogether.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        token: str | Callable[[], Any] | None = None,
        key: str | None = None,
        wait_seconds_max: float = WAIT_SECONDS_MAX,
        client: httpx.Client | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        # For the modules of this package, such as the reader of the feed.
        self.io = BlockingIO(client, clock=clock, timeout_seconds=TIMEOUT_SECONDS)
        self.calling = Calling(base_url, api_key=api_key, token=token, key=key, wait_seconds_max=wait_seconds_max)

    def send(self, call: Call[T]) -> T:
        """Return the answer of a call; raise `Refused`, or `Unreachable`."""
        return run(self.calling.send(call), self.io)

    def pages(self, call: ListCall[Any, Item]) -> Generator[Item]:
        """Yield the items of all pages from that of the call on; a page is read when its first item is asked for."""
        following: ListCall[Any, Item] | None = call
        while following is not None:
            items, following = run(self.calling.page(following), self.io)
            yield from items

    def close(self) -> None:
        """Close the connections."""
        self.io.close()


class AsyncGatehouse:
    """Calls the interface of an installation as `Gatehouse` does, on asyncio or Trio."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        token: str | Callable[[], Any] | None = None,
        key: str | None = None,
        wait_seconds_max: float = WAIT_SECONDS_MAX,
        client: httpx.AsyncClient | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.io = AsyncIO(client, clock=clock, timeout_seconds=TIMEOUT_SECONDS)
        self.calling = Calling(base_url, api_key=api_key, token=token, key=key, wait_seconds_max=wait_seconds_max)

    async def send(self, call: Call[T]) -> T:
        """Return the answer of a call; raise `Refused`, or `Unreachable`."""
        return await run_async(self.calling.send(call), self.io)

    async def pages(self, call: ListCall[Any, Item]) -> AsyncGenerator[Item]:
        """Yield the items of all pages from that of the call on; a page is read when its first item is asked for."""
        following: ListCall[Any, Item] | None = call
        while following is not None:
            items, following = await run_async(self.calling.page(following), self.io)
            for item in items:
                yield item

    async def aclose(self) -> None:
        """Close the connections."""
        await self.io.aclose()
