"""The Quart-Trio application, which processes every request in the same order.

That order is: client address, route, rate limits, credential, rate limit of the user, input, handler, response. Around
all of it are the time limit, the one place that turns an unforeseen error into a 500, and the headers that every
response X
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, cast

import structlog
import trio
from quart import Response
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException
from werkzeug.exceptions import NotFound as NoSuchRoute

from core.errors import BadRequest, ErrorCode, RateLimitExceeded, Refusal, ServiceUnavailable
from core.openid.refusals import NonceRequired
from core.rate_limits import RateLimit
from entrypoints.installation import Installation
from entrypoints.logs import REQUESTS
from entrypoints.web.input.client_addresses import client_address, is_trusted_peer
from entrypoints.web.serving.admission import hosts
from entrypoints.web.serving.admission.admitting import KEY_HEADER
from entrypoints.web.serving.admission.browsers import SignInFirst
from entrypoints.web.serving.admission.hosts import PAGES, ElsewhereOnly, HostUnknown
from entrypoints.web.serving.admission.large_bodies import LargeBodies
from entrypoints.web.serving.admission.unfinished_bodies import UnfinishedBodies
from entrypoints.web.serving.answering.answers import (
    PROTECTED_RESOURCE,
    InternalFailure,
    as_refusal,
    asks_for_page,
    empty,
    refused,
    see_other,
)
from entrypoints.web.serving.answering.compression import compress
from entrypoints.web.serving.answering.headers import ResponseHeaders
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.exchanges import Exchange, GatehouseRequest, RequestBody
from entrypoints.web.serving.handling import served
from entrypoints.web.serving.paths import Paths, paths_of
from entrypoints.web.serving.rate_limiting import NoRateLimiter, RateLimiter
from entrypoints.web.serving.request_records import RequestRecords
from entrypoints.web.serving.routes import RefusalPage, Route

REQUEST_SECONDS_MAX: Final = 30.0
RETRY_AFTER_SECONDS: Final = 5
# Where no browser opens a page, not even an error page.
INTERFACE: Final = "/api/"
FOR_PROGRAMS: Final = (INTERFACE, "/internal/", "/webhooks/", "/.well-known/")
# How a credential is refused that does not verify, and the headers that carry one.
UNVERIFIED: Final = frozenset({ErrorCode.UNAUTHORIZED, ErrorCode.JWT_ERROR})
CREDENTIAL_HEADERS: Final = ("Authorization", KEY_HEADER)
# Refusals like these, which say nothing of the headers: a token with its proof is to be sent again with a nonce, and a
# page takes cookies, whatever password a proxy in front of it has asked for.
VERIFIED: Final = (NonceRequired, SignInFirst)
_IMPORTS: Final = trio.CapacityLimiter(1)
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")

log = structlog.get_logger(__name__)
request_log = structlog.get_logger(REQUESTS)


class Application(QuartTrio):
    """Serves the declared routes."""

    asgi_http_class = Exchange

    def __init__(
        self,
        installation: Installation,
        routes: Iterable[Route],
        *,
        rate_limiter: RateLimiter | None = None,
        import_all: Callable[[], Iterable[Route]] | None = None,
    ) -> None:
        """Serve these routes; with `import_all`, until a request finds none of them, and all from then on."""
        super().__init__("gatehouse", static_folder=None)
        self.installation = installation
        if rate_limiter is None:
            limits = installation.settings.rate_limits
            rate_limiter = RateLimiter(processes=installation.processes) if limits else NoRateLimiter()
        self._limiter = rate_limiter
        self._response_headers = ResponseHeaders(installation.settings)
        self._import_all = import_all
        self._importing = trio.Lock()
        self._serve_paths(paths_of(tuple(routes)))
        self._generated: dict[Any, Any] = {}
        self.large_bodies = LargeBodies()
        self.unfinished_bodies = UnfinishedBodies(trusted_proxies=installation.settings.trusted_proxies)

    def _serve_paths(self, paths: Paths) -> None:
        self.paths = paths
        self._records = RequestRecords(self.installation, paths.routes)

    async def _serve_all(self) -> None:
        """Import the routes that wait for their first request, on a thread: it takes longer than requests may wait."""
        async with self._importing:
            if self._import_all is not None:
                routes = await trio.to_thread.run_sync(self._import_all, limiter=_IMPORTS)
                self._serve_paths(paths_of(tuple(routes)))
                self._import_all = None

    async def handle_request(self, request: Any) -> Response:
        """Return the response to one request, also when its processing fails."""
        started = time.perf_counter()
        request.paths, request.generated = self.paths, self._generated
        request.large_bodies, request.unfinished_bodies = self.large_bodies, self.unfinished_bodies
        call = request.call = self._call(request)
        status: int | None = None
        # It stays in the task of the request, which ends with it.
        structlog.contextvars.bind_contextvars(request_id=call.request_id)
        with self.installation.precedence.request():
            try:
                response = await self._answer(request)
                await compress(response, request.route, call)
                for cookie in call.cookies.values():
                    response.headers.add("Set-Cookie", cookie)
                self._response_headers.add(response, call.request_id)
                if request.route is not None and request.route.allows_any_origin:
                    self._response_headers.allow_any_origin(response, request)
                elif not self._is_for_browsers_alone(request):
                    self._response_headers.allow_origin(response, request)
                if self.installation.asks_clients_to_leave():
                    # The client opens a new connection for its next request, and reaches a process that stays, or one
                    # that has fewer connections.
                    response.headers["Connection"] = "close"
                status = response.status_code
            finally:
                self._records.add(request, status, time.perf_counter() - started)
        return response

    def _is_for_browsers_alone(self, request: GatehouseRequest) -> bool:
        """Whether the response must not be read by scripts of other origins, which would come with its cookie."""
        has_forms = request.route is not None and request.route.who.has_protected_forms
        return has_forms or request.call.browser is not None

    async def handle_websocket(self, websocket: Any) -> Response:
        """Refuse a WebSocket; `connections.py` never accepts the upgrade to one."""
        return self.malformed("WebSocket is not supported.", peer=websocket.remote_addr)

    def malformed(self, message: str, *, peer: str | None) -> Response:
        """Return the response to bytes that are not a valid request."""
        request_id = secrets.token_hex(16)
        response = self._refused(BadRequest(message), request_id)
        self._response_headers.add(response, request_id)
        if self._records.logs(response.status_code):
            request_log.info("request.malformed", reason=message, ip_address=peer, request_id=request_id)
        return response

    async def _answer(self, request: GatehouseRequest) -> Response:
        try:
            with trio.move_on_after(REQUEST_SECONDS_MAX):
                return await self._dispatch(request)
        except Exception as error:  # noqa: BLE001 - the one place where an unforeseen error becomes a 500
            return self._answer_to(error, request)
        log.error("request.timed_out", seconds=REQUEST_SECONDS_MAX)
        return self._answer_to(ServiceUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS), request)

    def _answer_to(self, error: Exception, request: GatehouseRequest) -> Response:
        match error:
            case Refusal():
                refusal = self._counted(error, request)
            case HTTPException():
                refusal = as_refusal(error)
            case ExceptionGroup(exceptions=[alone]):
                # A nursery wraps every exception that leaves it.
                return self._answer_to(alone, request)
            case _:
                log.error("request.failed", exc_info=error)
                refusal = InternalFailure()
        request.refusal = refusal
        if isinstance(refusal, HostUnknown):
            return hosts.plain_not_found()
        if isinstance(refusal, SignInFirst | ElsewhereOnly):
            return see_other(refusal.location)
        refusal_page = self._refusal_page(request)
        if refusal_page is not None:
            return refusal_page(request.call, refusal)
        dialect = self.paths.dialect(request.path)
        if dialect is not None:
            return dialect.refused(refusal)
        response = self._refused(refusal, request.call.request_id)
        if "WWW-Authenticate" in response.headers and request.path.startswith(INTERFACE):
            response.headers["WWW-Authenticate"] = self._leading_to_metadata(response, request.call)
        return response

    def _counted(self, refusal: Refusal, request: GatehouseRequest) -> Refusal:
        """Return a refusal, or the one of a network that has sent too many credentials that do not verify.

        A token that we have signed verifies, also when it has expired or its session has ended.
        """
        if refusal.code not in UNVERIFIED or isinstance(refusal, VERIFIED) or request.call.has_signed_token:
            return refusal
        # A form may carry a token, too, and only a token is refused as one.
        is_sent = refusal.code is ErrorCode.JWT_ERROR or any(name in request.headers for name in CREDENTIAL_HEADERS)
        if not is_sent:
            return refusal
        try:
            request.call.limit(RateLimit.REFUSED_CREDENTIAL)
        except RateLimitExceeded as exceeded:
            return exceeded
        return refusal

    def _leading_to_metadata(self, response: Response, call: Call) -> str:
        """Return the challenge of a response with the address that says who issues tokens (RFC 9728, 5.1)."""
        challenge = response.headers["WWW-Authenticate"]
        parameter = f'resource_metadata="{hosts.issuer_of(call)}{PROTECTED_RESOURCE}"'
        return f"{challenge}, {parameter}" if "=" in challenge else f"{challenge} {parameter}"

    def _refusal_page(self, request: GatehouseRequest) -> RefusalPage | None:
        """Return the function that shows a refusal as a page: the route's, or the one of `/app` without a route.

        A path for programs has none; below `/app`, where people mistype addresses, every program gets the page.
        """
        if request.route is not None:
            return request.route.refusal_page
        path = f"{request.path}/"
        if path.startswith(PAGES):
            return self.paths.page_for_people
        is_for_programs = path.startswith(FOR_PROGRAMS) or self.paths.dialect(request.path) is not None
        return self.paths.page_for_people if not is_for_programs and asks_for_page(request) else None

    def _refused(self, refusal: Refusal, request_id: str) -> Response:
        installation = self.installation
        return refused(refusal, request_id=request_id, at=installation.clock(), base_url=installation.settings.base_url)

    async def _dispatch(self, request: GatehouseRequest) -> Response:
        """Run the route that matches the path and the method."""
        if cast("dict[str, str]", request.scope)["path"].startswith("//"):
            # The router would treat this as a single slash, and a proxy in front of Gatehouse might not.
            await self._serve_all()
            raise NoSuchRoute
        path = self.paths.matched(request.path)
        try:
            route, request.view_args = await self._found(request, path)
        except HTTPException:
            await self._enter_host(request)
            if self._refusal_page(request) is not None:
                await hosts.load_brand(request.call)
            raise
        # Before anything is read for the request.
        request.call.use = route.use_of(cast("dict[str, str]", request.view_args))
        # Probes reach a process under any name.
        if not route.is_operational:
            await self._enter_host(request)
        request.route = route
        cast("RequestBody", request.body).limit(route.body_bytes_max)
        allowed_methods = partial(self.paths.allowed_methods, path)
        if request.method == "OPTIONS":
            return empty(204, {"Allow": ", ".join(sorted(allowed_methods()))})
        request.call.has_form = route.who.has_protected_forms and route.form is not None
        request.call.allowed_methods = allowed_methods
        request.call.takes_answer = route.takes_answer
        request.call.makes_secret, request.call.shows_secret = route.makes_secret, route.shows_secret
        return await served(route, request)

    async def _found(self, request: GatehouseRequest, path: str) -> tuple[Route, dict[str, str]]:
        try:
            return self.paths.find(request.method, path)
        except HTTPException:
            # A browser that has come with the wrong method is shown a page, too.
            if self._import_all is None:
                raise
        await self._serve_all()
        request.paths = self.paths
        return self.paths.find(request.method, path)

    async def _enter_host(self, request: GatehouseRequest) -> None:
        request.call.custom_host = await hosts.find_custom_host(request.call)

    def _call(self, request: GatehouseRequest) -> Call:
        headers, peer = request.headers, request.remote_addr
        trusted = self.installation.settings.trusted_proxies
        address = client_address(peer, ",".join(headers.getlist("X-Forwarded-For")), trusted)
        is_https, request_id = request.scheme == "https", ""
        if trusted and is_trusted_peer(peer, trusted):
            # Of several values, the last one comes from the proxy that is connected to Gatehouse.
            protocol = ",".join(headers.getlist("X-Forwarded-Proto")).rpartition(",")[2]
            is_https = is_https or protocol.strip().lower() == "https"
            request_id = headers.get("X-Request-Id", "")
        if not _REQUEST_ID.fullmatch(request_id):
            request_id = secrets.token_hex(16)
        return Call(
            self.installation, self._limiter, request, request_id=request_id, address=address, is_https=is_https
        )
