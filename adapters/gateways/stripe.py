"""The payment provider behind the port `BillingGateway`: customers, pages and subscriptions of the Stripe API.

Requests are form-encoded in bracket notation. A request is repeated after a conflict, a rate limit, a failure of the
server and a lost connection. The provider executes a key once, so a repetition cannot do anything twice. An answer that
reports an error or is no JSON object is a failure, whatever its status. The log has the reason, and the caller gets
`BillingFailed`.
"""

from __future__ import annotations

import json
import random
import secrets
import ssl
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import quote, urlencode, urlsplit

import httpx
import structlog
import trio

from adapters.gateways.failures import PROVIDER, reason_of
from adapters.gateways.outbound import NoCookies, Observed, unobserved
from core.billing import provider
from core.billing.provider import (
    BillingFailed,
    BillingMode,
    BillingRateLimited,
    CheckoutOrder,
    CheckoutSession,
    ReadSubscription,
    mode_of_key,
)
from core.lazy_dataclasses import dataclass
from core.secrets import Secret

if TYPE_CHECKING:
    from core.billing.provider_customers import CustomerCreation
    from ports.clock import Clock

API_VERSION: Final = "2025-03-31.basil"
CONNECT_SECONDS_MAX: Final = 5.0
READ_SECONDS_MAX: Final = 10.0
# For a request with all its repetitions. A request to Gatehouse may need two of them, and has 30 seconds.
REQUEST_SECONDS_MAX: Final = 12.0
ATTEMPTS_MAX: Final = 3
PAUSE_SECONDS_MIN: Final = 0.5
PAUSE_SECONDS_MAX: Final = 4.0
# Each pause is shortened by up to this share, so that replicas do not repeat at the same moment.
JITTER: Final = 0.5
RATE_LIMIT_PAUSE_SECONDS: Final = 30.0
CONNECTIONS_MAX: Final = 20
ANSWER_BYTES_MAX: Final = 1024 * 1024
_OK: Final = 200
_BAD_REQUEST: Final = 400
_NOT_FOUND: Final = 404
_ABOUT_KEY: Final = frozenset({401, 403})
_CONFLICT: Final = 409
_RATE_LIMITED: Final = 429
_SERVER_ERROR_MIN: Final = 500

log = structlog.get_logger(__name__)
# The clock of an answer has whole seconds.
CLOCK_MARGIN: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class StripeAnswer:
    """An answer that is a JSON object without an error; `body` is None when the provider has no such object."""

    body: Mapping[str, Any] | None
    # The provider's clock; None when the answer does not tell.
    answered_at: datetime | None


@dataclass(frozen=True, slots=True)
class _Response:
    status: int
    headers: httpx.Headers
    content: bytes


@cache
def _tls() -> ssl.SSLContext:
    """Return the context that all clients share, with the certificates that httpx brings along."""
    return httpx.create_ssl_context(trust_env=False)


class StripeRequests:
    """Sends requests to the API at one address, with one key."""

    def __init__(self, *, url: str, key: Secret, observed: Observed = unobserved) -> None:
        # The key goes to this address only, and not to a proxy that the environment happens to name.
        transport = httpx.AsyncHTTPTransport(
            verify=_tls(), limits=httpx.Limits(max_connections=CONNECTIONS_MAX), trust_env=False
        )
        self._client = httpx.AsyncClient(
            base_url=url,
            auth=httpx.BasicAuth(key.reveal(), ""),
            headers={"Stripe-Version": API_VERSION},
            timeout=httpx.Timeout(READ_SECONDS_MAX, connect=CONNECT_SECONDS_MAX),
            cookies=NoCookies(),
            transport=observed(transport),
            trust_env=False,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def get(self, path: str) -> StripeAnswer:
        """Read an object; the answer has no body when there is none."""
        return await self._answer(self._client.build_request("GET", path), may_be_missing=True)

    async def ask(self, path: str) -> int:
        """Ask once, and return the status of the answer; raise an error of httpx when there is none.

        The caller limits the time. Nothing is repeated or logged: an operator asks how the provider is.
        """
        response = await self._send(self._client.build_request("GET", path))
        is_object = response.status != _OK or isinstance(_decoded(response), dict)
        if not is_object:
            raise httpx.RemoteProtocolError("the answer is no JSON object")
        return response.status

    async def delete(self, path: str) -> StripeAnswer:
        """End an object, which a repetition does not do twice; the answer has no body when there is none."""
        return await self._answer(self._client.build_request("DELETE", path), may_be_missing=True)

    async def post(self, path: str, form: Mapping[str, Any], *, key: str) -> StripeAnswer:
        """Make an object, once for each key."""
        request = self._client.build_request(
            "POST",
            path,
            content=urlencode(list(flattened(form))),
            headers={"Content-Type": "application/x-www-form-urlencoded", "Idempotency-Key": key},
        )
        return await self._answer(request, may_be_missing=False)

    async def _answer(self, request: httpx.Request, *, may_be_missing: bool) -> StripeAnswer:
        try:
            with trio.fail_after(REQUEST_SECONDS_MAX):
                response = await self._send_repeatedly(request)
        except trio.TooSlowError:
            raise failed(request, "there was no answer in time") from None
        answered_at = _date(response.headers)
        if may_be_missing and response.status == _NOT_FOUND:
            return StripeAnswer(body=None, answered_at=answered_at)
        return StripeAnswer(body=_body(request, response), answered_at=answered_at)

    async def _send_repeatedly(self, request: httpx.Request) -> _Response:
        """Return the last answer; raise `BillingFailed` when there is none, or `BillingRateLimited`."""
        for attempt in range(1, ATTEMPTS_MAX + 1):
            response: _Response | None = None
            reason = ""
            try:
                response = await self._send(request)
            except httpx.RequestError as error:
                reason = f"the connection failed: {type(error).__name__}"
            if response is not None and not _may_help_to_repeat(response):
                return response
            if attempt < ATTEMPTS_MAX:
                await trio.sleep(_pause_seconds(attempt))
            elif response is None:
                raise failed(request, reason)
            elif response.status == _RATE_LIMITED:
                log.warning("billing.rate_limited", path=request.url.path)
                raise BillingRateLimited(retry_after_seconds=_retry_after_seconds(response.headers))
            else:
                return response
        raise AssertionError("the last attempt neither returned nor raised")

    async def _send(self, request: httpx.Request) -> _Response:
        response = await self._client.send(request, stream=True)
        try:
            content = b""
            is_too_large = False
            # Read to its end, which the time limit bounds: the library cannot close an answer that is half read.
            async for part in response.aiter_bytes():
                is_too_large = is_too_large or len(content) + len(part) > ANSWER_BYTES_MAX
                content = b"" if is_too_large else content + part
            if is_too_large:
                raise failed(request, "the answer is too large")
            return _Response(response.status_code, response.headers, content)
        finally:
            await response.aclose()


def flattened(form: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Return the fields of a form in bracket notation, such as `line_items[0][price]`."""
    for name, value in form.items():
        field = f"{prefix}[{name}]" if prefix else name
        if isinstance(value, Mapping):
            yield from flattened(cast("Mapping[str, Any]", value), field)
        elif isinstance(value, list):
            yield from flattened({str(index): item for index, item in enumerate(cast("list[Any]", value))}, field)
        else:
            yield field, str(value)


def failed(request: httpx.Request, reason: str, *, is_refused: bool = False, **details: Any) -> BillingFailed:
    """Log a failure and return it; neither the key nor a text of the provider is part of it."""
    # What a request names, such as the price of a plan, is not for the operator to correct; the key is.
    write = log.info if is_refused and details.get("status") not in _ABOUT_KEY else log.error
    write("billing.provider_failed", method=request.method, path=request.url.path, reason=reason, **details)
    return BillingFailed(is_refused=is_refused)


def _may_help_to_repeat(response: _Response) -> bool:
    told = response.headers.get("Stripe-Should-Retry")
    if told in {"true", "false"}:
        return told == "true"
    return response.status in {_CONFLICT, _RATE_LIMITED} or response.status >= _SERVER_ERROR_MIN


def _pause_seconds(attempt: int) -> float:
    pause = min(PAUSE_SECONDS_MIN * 2 ** (attempt - 1), PAUSE_SECONDS_MAX)
    return pause * random.uniform(1 - JITTER, 1)  # noqa: S311 - jitter, not a secret


def _retry_after_seconds(headers: httpx.Headers) -> float:
    told = headers.get("Retry-After", "")
    return float(told) if told.isdecimal() and len(told) <= 4 else RATE_LIMIT_PAUSE_SECONDS


def _decoded(response: _Response) -> Any:
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError):
        return None


def _body(request: httpx.Request, response: _Response) -> Mapping[str, Any]:
    decoded = _decoded(response)
    if not isinstance(decoded, dict):
        raise failed(
            request, "the answer is no JSON object", is_refused=_is_refusal(response.status), status=response.status
        )
    body = cast("dict[str, Any]", decoded)
    if response.status != _OK or "error" in body:
        error: Any = body.get("error")
        told = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
        raise failed(
            request,
            "the provider reports an error",
            is_refused=_is_refusal(response.status),
            status=response.status,
            error_type=told.get("type"),
            error_code=told.get("code"),
            error_param=told.get("param"),
            provider_request_id=response.headers.get("Request-Id"),
        )
    return body


def _is_refusal(status: int) -> bool:
    """Return whether the provider has certainly not done what was asked for."""
    return _BAD_REQUEST <= status < _SERVER_ERROR_MIN and status != _CONFLICT


def _date(headers: httpx.Headers) -> datetime | None:
    try:
        told = parsedate_to_datetime(headers.get("Date", ""))
    except (ValueError, OverflowError):
        return None
    return told if told.tzinfo is not None else told.replace(tzinfo=UTC)


class StripeGateway:
    """The port `BillingGateway`."""

    def __init__(self, *, url: str, key: Secret, clock: Clock, observed: Observed = unobserved) -> None:
        self._mode = mode_of_key(key)
        self._clock = clock
        self._requests = StripeRequests(url=url, key=key, observed=observed)

    @property
    def mode(self) -> BillingMode:
        return self._mode

    async def close(self) -> None:
        """Close the connections."""
        await self._requests.close()

    async def problem(self) -> str | None:
        """Ask for a list of subscriptions; return why the provider cannot be used, None when it can.

        The caller limits the time.
        """
        try:
            status = await self._requests.ask("/v1/subscriptions?limit=1")
        except httpx.HTTPError as error:
            return reason_of(error, PROVIDER)
        if status in _ABOUT_KEY:
            return f"The provider refuses the key ({status})."
        return f"The provider answers with the status {status}." if status != _OK else None

    async def create_customer(self, creation: CustomerCreation) -> str:
        form: dict[str, Any] = {"name": creation.name, "metadata": creation.metadata}
        if creation.email is not None:
            form["email"] = creation.email
        return _id(await self._requests.post("/v1/customers", form, key=creation.idempotency_key))

    async def open_checkout(self, order: CheckoutOrder, *, key: str) -> CheckoutSession:
        form: Mapping[str, Any] = {
            "mode": "subscription",
            "customer": order.customer_id,
            "line_items": [{"price": order.price_id, "quantity": 1}],
            "success_url": order.success_url,
            "cancel_url": order.cancel_url,
            "metadata": order.metadata,
            "subscription_data": {"metadata": order.metadata},
        }
        answer = await self._requests.post("/v1/checkout/sessions", form, key=key)
        return CheckoutSession(checkout_url=_page_address(answer), session_id=_id(answer))

    async def open_portal(self, customer_id: str, return_url: str) -> str:
        form = {"customer": customer_id, "return_url": return_url}
        # A page of its own for each request, so the key only has to be the same for the repetitions of this one.
        key = f"gatehouse-portal-{secrets.token_hex(16)}"
        return _page_address(await self._requests.post("/v1/billing_portal/sessions", form, key=key))

    async def read_subscription(self, subscription_id: str) -> ReadSubscription | None:
        began_at = trio.current_time()
        answer = await self._requests.get(f"/v1/subscriptions/{quote(subscription_id, safe='')}")
        if answer.body is None:
            return None
        facts = provider.subscription_facts(answer.body)
        if facts.status is None or _id(answer) != subscription_id:
            raise _unusable("a subscription")
        # The state may be older than the answer by as much as the request took.
        took = timedelta(seconds=trio.current_time() - began_at)
        return ReadSubscription(
            customer_id=provider.reference(answer.body.get("customer")),
            facts=facts,
            as_of=(answer.answered_at or self._clock()) - took - CLOCK_MARGIN,
        )

    async def cancel_subscription(self, subscription_id: str) -> None:
        # For a subscription that has ended already, the provider answers that there is none.
        await self._requests.delete(f"/v1/subscriptions/{quote(subscription_id, safe='')}")


def _id(answer: StripeAnswer) -> str:
    found = provider.reference(answer.body)
    if found is None:
        raise _unusable("an id")
    return found


def _page_address(answer: StripeAnswer) -> str:
    url: Any = answer.body.get("url") if answer.body is not None else None
    if not isinstance(url, str) or urlsplit(url).scheme not in {"http", "https"}:
        raise _unusable("the address of a page")
    return url


def _unusable(missing: str) -> BillingFailed:
    log.error("billing.provider_failed", reason=f"the answer is without {missing}")
    return BillingFailed()
