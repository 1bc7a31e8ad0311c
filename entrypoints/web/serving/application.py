"""The Quart-Trio application, which processes every request in the same order.

That order is: client address, route, rate limits, credential, rate limit of the user, input, handler, response. Around
all of it are the time limit, the one place that turns an unforeseen error into a 500, and the headers that every
response carries. The steps are in the sibling modules; this module only defines their order. `connections.py` handles
the connection before there is a request.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, Final, cast
from urllib.parse import quote, urlencode

import structlog
import trio
from quart import Response
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException
from werkzeug.exceptions import NotFound as NoSuchRoute

from core.errors import (
    BadRequest,
    ErrorCode,
    PayloadTooLarge,
    RateLimitExceeded,
    Refusal,
    ServiceUnavailable,
    TemporaryRefusal,
    Unauthorized,
    UnsupportedContentCoding,
    UnsupportedMediaType,
)
from core.limits import BODY_BYTES_MAX
from core.networks import limited_network
from core.openid.refusals import NonceRequired
from core.rate_limits import RateLimit
from core.sign_in.browser_returns import safe_target
from core.wording import Wording
from entrypoints.installation import Installation
from entrypoints.logs import REQUESTS
from entrypoints.web.input.client_addresses import client_address, is_trusted_peer
from entrypoints.web.input.decoding import decode_body, decode_id, decode_query, decode_word, kept_fields
from entrypoints.web.input.multipart import MULTIPART, decode_multipart
from entrypoints.web.serving.admission import browsers, hosts
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.admission.admitting import KEY_HEADER, explained
from entrypoints.web.serving.admission.branding import brand_refusal
from entrypoints.web.serving.admission.browsers import (
    ProtectedForm,
    SignInFirst,
    keep_way,
    require_form_token,
    require_open_page,
    sign_in_for_page,
)
from entrypoints.web.serving.admission.credentials import require_own_organization
from entrypoints.web.serving.admission.hosts import PAGES, ElsewhereOnly, HostUnknown
from entrypoints.web.serving.admission.impersonating import OwnHandOnly, StopFirst
from entrypoints.web.serving.admission.large_bodies import LargeBodies
from entrypoints.web.serving.admission.limit_refusals import limit_of
from entrypoints.web.serving.admission.unfinished_bodies import NoRoomForBody, UnfinishedBodies, UnfinishedBody
from entrypoints.web.serving.answering.answers import (
    PROTECTED_RESOURCE,
    InternalFailure,
    answered,
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
from entrypoints.web.serving.objectives import kind_of, may_fail_outside
from entrypoints.web.serving.paths import Paths, paths_of
from entrypoints.web.serving.rate_limiting import NoRateLimiter, RateLimiter
from entrypoints.web.serving.routes import FORM, RefusalPage, Route, is_id

REQUEST_SECONDS_MAX: Final = 30.0
RETRY_AFTER_SECONDS: Final = 5
UNMATCHED: Final = "unmatched"
# Where no browser opens a page, not even an error page.
INTERFACE: Final = "/api/"
FOR_PROGRAMS: Final = (INTERFACE, "/internal/", "/webhooks/", "/.well-known/")
# How a credential is refused that does not verify, and the headers that carry one.
UNVERIFIED: Final = frozenset({ErrorCode.UNAUTHORIZED, ErrorCode.JWT_ERROR})
CREDENTIAL_HEADERS: Final = ("Authorization", KEY_HEADER)
# Refusals like these, which say nothing of the headers: a token with its proof is to be sent again with a nonce, and a
# page takes cookies, whatever password a proxy in front of it has asked for.
VERIFIED: Final = (NonceRequired, SignInFirst)
# Its key in the scope of a request, for its stream and its route.
UNFINISHED_BODY: Final = "unfinished_body"
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
        self.unfinished_bodies = UnfinishedBodies()

    def _serve_paths(self, paths: Paths) -> None:
        self.paths = paths
        self._kinds = {route: kind_of(route) for route in paths.routes}
        for route in filter(may_fail_outside, paths.routes):
            self.installation.metrics.may_fail_outside(route.path)

    async def _serve_all(self) -> None:
        """Import the routes that wait for their first request, on a thread: it takes longer than requests may wait."""
        async with self._importing:
            if self._import_all is not None:
                routes = await trio.to_thread.run_sync(self._import_all, limiter=_IMPORTS)
                self._serve_paths(paths_of(tuple(routes)))
                self._import_all = None

    def _matched_path(self, path: str) -> str:
        """Return the path by which a route is found: without a slash at its end where the dialect has no such paths."""
        if path.endswith("/"):
            dialect = self.paths.dialect(path)
            if dialect is not None and dialect.ignores_trailing_slash:
                return path.removesuffix("/")
        return path

    async def handle_request(self, request: Any) -> Response:
        """Return the response to one request, also when its processing fails."""
        started = time.perf_counter()
        request.paths, request.generated, request.large_bodies = self.paths, self._generated, self.large_bodies
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
                self._record(request, status, time.perf_counter() - started)
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
        if self._logs_request(response.status_code):
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
        path = self._matched_path(request.path)
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
        return await self._serve(route, request)

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

    async def _serve(self, route: Route, request: GatehouseRequest) -> Response:
        try:
            return await self._admit(route, request)
        except Unauthorized as refusal:
            raise await explained(request.call, route.who.kind, refusal) from None
        except TemporaryRefusal:
            if route.body_bytes_max > BODY_BYTES_MAX:
                # The message of another system, which is larger than a page that shows it again should be.
                request.call.form = None
            elif route.refusal_page is not None and route.form is not None and request.call.form is None:
                with contextlib.suppress(Refusal):
                    await self._input(route, request, {})
            raise

    async def _admit(self, route: Route, request: GatehouseRequest) -> Response:
        call = request.call
        if call.custom_host is not None:
            await hosts.enter(call, has_pages=route.refusal_page is not None, works_here=route.on_custom_hosts)
        if route.limits:
            call.limit(*route.limits)
        await route.who.admit(call)
        if route.who.kind is CredentialKind.BROWSER_SESSION and not route.on_custom_hosts:
            await require_open_page(call)
        if call.session_id is not None:
            call.limit_person()
        try:
            return await self._handle(route, request)
        except Refusal as refusal:
            if route.who.when_refused is not None:
                await route.who.when_refused(call, refusal)
            if route.refusal_page is not None:
                await brand_refusal(call, refusal)
                await keep_way(call, refusal)
                await sign_in_for_page(call, refusal)
            raise

    async def _handle(self, route: Route, request: GatehouseRequest) -> Response:
        call = request.call
        if call.acts_for is not None and route.who.is_for_oneself:
            raise OwnHandOnly if route.who.is_in_person else StopFirst
        path = cast("dict[str, str]", request.view_args)
        words = {name: decode_word(path[name]) for name, kind in route.path_parameters.items() if not is_id(kind)}
        require_own_organization(words, call.custom_host)
        try:
            arguments = await self._input(route, request, words)
            ids = {name: decode_id(path[name]) for name, kind in route.path_parameters.items() if is_id(kind)}
        except Refusal:
            if route.who.before_refusing is not None:
                await route.who.before_refusing(call, words)
            raise
        call.return_id = getattr(arguments.get("form", arguments.get("query")), "return_id", "")
        if route.who.has_protected_forms and route.form is not None:
            require_form_token(call, arguments["form"])
            if route.form is ProtectedForm:
                del arguments["form"]
        if route.shows_secret:
            browsers.require_opened(call)
        if route.asks_to_confirm and not browsers.has_signed_in_within(call, browsers.RECENT):
            # Only who may do this at all is asked.
            if route.who.before_refusing is not None:
                await route.who.before_refusing(call, words)
            await browsers.recent(call, page=self._page_to_come_back_to(call, arguments.get("form")))
        return answered(route, await route.handler(call, **words, **ids, **arguments), call)

    def _page_to_come_back_to(self, call: Call, form: Any) -> str | None:
        """Return the page of a form, or the nearest one above it, with the typed values; None for the request's page.

        Its address has the fields that the query of that page takes, and never a secret.
        """
        if call.request.method == "GET":
            return None
        path, page = self._matched_path(call.request.path), None
        while page is None and path:
            try:
                page, _ = self.paths.find("GET", path)
            except HTTPException:
                path = path.rpartition("/")[0]
        if page is None:
            return None
        address = quote(path, safe=browsers.PATH_CHARACTERS)
        if form is None or page.query is None:
            return address
        kept = kept_fields(cast("type[Any]", type(form))) & kept_fields(page.query)
        typed = {name: value for name in sorted(kept) if (value := getattr(form, name, None))}
        with_typed = f"{address}?{urlencode(typed, doseq=True)}" if typed else address
        return with_typed if safe_target(with_typed) is not None else address

    async def _input(self, route: Route, request: GatehouseRequest, words: Mapping[str, str]) -> dict[str, Any]:
        if (request.content_length or 0) > route.body_bytes_max:
            raise PayloadTooLarge
        if (request.headers.get("Content-Encoding") or "identity").lower() != "identity":
            raise UnsupportedContentCoding
        if route.is_verified_by_content and not self.body_of(request.scope).is_read_unverified():
            raise NoRoomForBody
        arguments: dict[str, Any] = {}
        if route.query is not None:
            arguments["query"] = decode_query(request.query_string, route.query)
        if route.body is not None:
            arguments["body"] = await self._decoded(route, request, words, _body_of)
        if route.form is not None:
            request.call.form = arguments["form"] = await self._decoded(route, request, words, _form_of)
        return arguments

    async def _decoded(
        self,
        route: Route,
        request: GatehouseRequest,
        words: Mapping[str, str],
        decode: Callable[[Route, GatehouseRequest, bytes], Any],
    ) -> Any:
        """Return what was sent; a large body is read for a sender who is verified, and decoded on a thread."""
        if route.body_bytes_max <= BODY_BYTES_MAX or not await self._has_large_body(request):
            return decode(route, request, await self._body(route, request))
        sender = await self._verified_sender(route, request, words)
        if route.verify_sender is not None and not self.body_of(request.scope).belongs_to(sender):
            raise NoRoomForBody
        data = await self._body(route, request)
        return await self.large_bodies.run(sender, decode, route, request, data)

    async def _has_large_body(self, request: GatehouseRequest) -> bool:
        try:
            return await request.has_large_body()
        except HTTPException as error:
            raise as_refusal(error) from None

    async def _verified_sender(self, route: Route, request: GatehouseRequest, words: Mapping[str, str]) -> str:
        """Return the organization that a large body counts for, or the network where none is known."""
        call = request.call
        if route.verify_sender is not None:
            await route.verify_sender(call, words)
        # Never the organization that a path names: nothing has verified the sender of a message of SAML.
        return str(call.sender) if call.sender is not None else limited_network(call.address)

    async def _body(self, route: Route, request: GatehouseRequest) -> bytes:
        try:
            data = cast("bytes", await request.get_data(as_text=False))
        except HTTPException as error:
            raise as_refusal(error) from None
        content_type = request.mimetype
        if data and content_type and content_type not in route.accepted_media_types:
            raise UnsupportedMediaType(Wording("Send the body as %(types)s.", types=" or ".join(route.media_types)))
        return data

    def body_of(self, scope: Any) -> UnfinishedBody:
        """Return how much of the body of a request has arrived: nothing, until its stream or its route asks first."""
        extensions: dict[str, Any] = scope.setdefault("extensions", {})
        if UNFINISHED_BODY not in extensions:
            headers: list[tuple[bytes, bytes]] = list(scope["headers"])
            peer = scope["client"][0] if scope["client"] is not None else None
            forwarded = b",".join(value for name, value in headers if name == b"x-forwarded-for").decode("latin1")
            address = client_address(peer, forwarded, self.installation.settings.trusted_proxies)
            # The parser has refused any that is no number.
            length = int(next((value for name, value in headers if name == b"content-length"), b"0"))
            extensions[UNFINISHED_BODY] = self.unfinished_bodies.begin(
                limited_network(address), is_large=length > BODY_BYTES_MAX
            )
        return extensions[UNFINISHED_BODY]

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

    def _record(self, request: GatehouseRequest, status: int | None, seconds: float) -> None:
        """Count the request and write its access log line, which never contains a path, query, header or body."""
        route = request.route
        path = route.path if route is not None else UNMATCHED
        # Callers can make these answers at will, so no alert on 5xx may count them.
        is_external = request.refusal is not None and request.refusal.code.is_external
        if status is not None:
            kind = self._kinds.get(route) if route is not None else None
            self.installation.metrics.request_finished(
                request.method, path, status, seconds, is_external=is_external, kind=kind
            )
            if request.refusal is not None and (limited := limit_of(request.refusal)) is not None:
                self.installation.metrics.limit_refused(*limited)
        if not self._logs_request(status):
            return
        about = {
            "method": request.method,
            "route": path,
            "duration_ms": round(seconds * 1000, 2),
            "ip_address": request.call.address,
            "caller": request.call.caller_name,
        }
        if request.call.oauth_client is not None:
            about["client_id"] = str(request.call.oauth_client[0])
        if status is None:
            # The client disconnected before the response.
            request_log.info("request.abandoned", **about)
            return
        # Probes arrive every few seconds; logging each of them would bury the other lines.
        write = request_log.debug if route is not None and route.is_operational else request_log.info
        if request.refusal is not None:
            about["error_code"] = request.refusal.code.name
            if request.call.oauth_error is not None:
                about["oauth_error"] = request.call.oauth_error
            if is_external:
                about["is_external"] = True
            # Why, where the answer must not say it: a sign-in is refused alike for every account.
            if request.refusal.reason is not None:
                about["reason"] = request.refusal.reason
        write("request", status=status, **about)

    def _logs_request(self, status: int | None) -> bool:
        """Return whether the setting asks for a line about a request with this answer; None means no answer."""
        match self.installation.settings.log_requests:
            case "all":
                return True
            case "failed":
                return status is None or status >= HTTPStatus.BAD_REQUEST
            case _:
                return False


def _body_of(route: Route, request: GatehouseRequest, data: bytes) -> Any:
    if route.takes_form and request.mimetype == FORM:
        return decode_query(data, route.body, allows_repetition=False)
    if request.mimetype in route.documents:
        return route.body.of(data)
    decode = decode_body if route.dialect is None else route.dialect.decode
    return decode(data, route.body)


def _form_of(route: Route, request: GatehouseRequest, data: bytes) -> Any:
    if data and request.mimetype == MULTIPART:
        return decode_multipart(data, request.mimetype_params.get("boundary", ""), route.form)
    # The fields of a form are encoded like those of a query string.
    return decode_query(data, route.form)
