"""How a route handles a request: who may call, the input, the handler. The order of the checks stands here alone."""

from __future__ import annotations

import contextlib
from typing import Any, cast
from urllib.parse import quote, urlencode

from quart import Response
from werkzeug.exceptions import HTTPException

from core.errors import Refusal, TemporaryRefusal, Unauthorized
from core.limits import BODY_BYTES_MAX
from core.sign_in.browser_returns import safe_target
from entrypoints.web.input.decoding import decode_id, decode_word, kept_fields
from entrypoints.web.serving.admission import browsers, hosts
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.admission.admitting import explained
from entrypoints.web.serving.admission.branding import brand_refusal
from entrypoints.web.serving.admission.browsers import (
    ProtectedForm,
    keep_way,
    require_form_token,
    require_open_page,
    sign_in_for_page,
)
from entrypoints.web.serving.admission.credentials import require_own_organization
from entrypoints.web.serving.admission.impersonating import OwnHandOnly, StopFirst
from entrypoints.web.serving.answering.answers import answered
from entrypoints.web.serving.exchanges import GatehouseRequest
from entrypoints.web.serving.inputs import input_of
from entrypoints.web.serving.routes import Route, is_id


async def served(route: Route, request: GatehouseRequest) -> Response:
    """Return the answer of a route; raise what refuses the request."""
    try:
        return await _admit(route, request)
    except Unauthorized as refusal:
        raise await explained(request.call, route.who.kind, refusal) from None
    except TemporaryRefusal:
        if route.body_bytes_max > BODY_BYTES_MAX:
            # The message of another system, which is larger than a page that shows it again should be.
            request.call.form = None
        elif route.refusal_page is not None and route.form is not None and request.call.form is None:
            with contextlib.suppress(Refusal):
                await input_of(route, request, {})
        raise


async def _admit(route: Route, request: GatehouseRequest) -> Response:
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
        return await _handle(route, request)
    except Refusal as refusal:
        if route.who.when_refused is not None:
            await route.who.when_refused(call, refusal)
        if route.refusal_page is not None:
            await brand_refusal(call, refusal)
            await keep_way(call, refusal)
            await sign_in_for_page(call, refusal)
        raise


async def _handle(route: Route, request: GatehouseRequest) -> Response:
    call = request.call
    if call.acts_for is not None and route.who.is_for_oneself:
        raise OwnHandOnly if route.who.is_in_person else StopFirst
    path = cast("dict[str, str]", request.view_args)
    words = {name: decode_word(path[name]) for name, kind in route.path_parameters.items() if not is_id(kind)}
    require_own_organization(words, call.custom_host)
    try:
        arguments = await input_of(route, request, words)
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
        await browsers.recent(call, page=_page_to_come_back_to(request, arguments.get("form")))
    return answered(route, await route.handler(call, **words, **ids, **arguments), call)


def _page_to_come_back_to(request: GatehouseRequest, form: Any) -> str | None:
    """Return the page of a form, or the nearest one above it, with the typed values; None for the request's page.

    Its address has the fields that the query of that page takes, and never a secret.
    """
    if request.method == "GET":
        return None
    path, page = request.paths.matched(request.path), None
    while page is None and path:
        try:
            page, _ = request.paths.find("GET", path)
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
