"""What a request brings its handler: its query, and its body or its form, whose sender is verified if it is large."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from werkzeug.exceptions import HTTPException

from core.errors import PayloadTooLarge, UnsupportedContentCoding, UnsupportedMediaType
from core.limits import BODY_BYTES_MAX
from core.networks import limited_network
from core.wording import Wording
from entrypoints.web.input.decoding import decode_body, decode_query
from entrypoints.web.input.multipart import MULTIPART, decode_multipart
from entrypoints.web.serving.admission.unfinished_bodies import NoRoomForBody
from entrypoints.web.serving.answering.answers import as_refusal
from entrypoints.web.serving.exchanges import GatehouseRequest
from entrypoints.web.serving.routes import FORM, Route


async def input_of(route: Route, request: GatehouseRequest, words: Mapping[str, str]) -> dict[str, Any]:
    """Return the query, the body and the form of a request, as far as its route takes them."""
    if (request.content_length or 0) > route.body_bytes_max:
        raise PayloadTooLarge
    if (request.headers.get("Content-Encoding") or "identity").lower() != "identity":
        raise UnsupportedContentCoding
    if route.is_verified_by_content and not request.unfinished_bodies.of(request.scope).is_read_unverified():
        raise NoRoomForBody
    arguments: dict[str, Any] = {}
    if route.query is not None:
        arguments["query"] = decode_query(request.query_string, route.query)
    if route.body is not None:
        arguments["body"] = await _decoded(route, request, words, _body_of)
    if route.form is not None:
        request.call.form = arguments["form"] = await _decoded(route, request, words, _form_of)
    return arguments


async def _decoded(
    route: Route,
    request: GatehouseRequest,
    words: Mapping[str, str],
    decode: Callable[[Route, GatehouseRequest, bytes], Any],
) -> Any:
    """Return what was sent; a large body is read for a sender who is verified, and decoded on a thread."""
    if route.body_bytes_max <= BODY_BYTES_MAX or not await _has_large_body(request):
        return decode(route, request, await _body(route, request))
    sender = await _verified_sender(route, request, words)
    if route.verify_sender is not None and not request.unfinished_bodies.of(request.scope).belongs_to(sender):
        raise NoRoomForBody
    data = await _body(route, request)
    return await request.large_bodies.run(sender, decode, route, request, data)


async def _has_large_body(request: GatehouseRequest) -> bool:
    try:
        return await request.has_large_body()
    except HTTPException as error:
        raise as_refusal(error) from None


async def _verified_sender(route: Route, request: GatehouseRequest, words: Mapping[str, str]) -> str:
    """Return the organization that a large body counts for, or the network where none is known."""
    call = request.call
    if route.verify_sender is not None:
        await route.verify_sender(call, words)
    # Never the organization that a path names: nothing has verified the sender of a message of SAML.
    return str(call.sender) if call.sender is not None else limited_network(call.address)


async def _body(route: Route, request: GatehouseRequest) -> bytes:
    try:
        data = cast("bytes", await request.get_data(as_text=False))
    except HTTPException as error:
        raise as_refusal(error) from None
    content_type = request.mimetype
    if data and content_type and content_type not in route.accepted_media_types:
        raise UnsupportedMediaType(Wording("Send the body as %(types)s.", types=" or ".join(route.media_types)))
    return data


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
