"""What a client of SCIM can discover: supported features, types of resources, and their schemas (RFC 7643, 5 to 7).

What they contain is in `discovery.py`.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, TypeAlias

from quart import Response

from core.errors import Forbidden, NotFound
from core.scim import tokens
from core.scim.tokens import ScimCaller
from entrypoints.http.scim.dialect import SCIM, SCIM_JSON, log_refusal
from entrypoints.http.scim.discovery import USER, listed, located, resource_type, schemas, service_provider_config
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.answers import EXAMPLE_URL, Media, encode
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import scim_token
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "SCIM discovery",
    "What a client of SCIM 2.0 can read about the service: its features, the types of its resources and their schemas.",
    dialect=SCIM,
)

Config: TypeAlias = Annotated[Response, Media(SCIM_JSON, example=service_provider_config(EXAMPLE_URL))]
Type: TypeAlias = Annotated[Response, Media(SCIM_JSON, example=resource_type(EXAMPLE_URL, USER))]
TypeList: TypeAlias = Annotated[Response, Media(SCIM_JSON, example=listed([resource_type(EXAMPLE_URL, USER)]))]
Description: TypeAlias = Annotated[Response, Media(SCIM_JSON, example=located(EXAMPLE_URL, USER))]
DescriptionList: TypeAlias = Annotated[Response, Media(SCIM_JSON, example=listed([located(EXAMPLE_URL, USER)]))]


class FilterNotAllowed(Forbidden):
    """The lists of discovery cannot be filtered (RFC 7644, 4)."""

    default_message = "This list cannot be filtered. Send the request without a filter."


class DiscoveryQuery(Query, kw_only=True):
    """A query that is refused, because these lists are always whole."""

    filter: str | None = None


@routes.get("/scim/v2/ServiceProviderConfig", refuses=(FilterNotAllowed,))
@scim_token(log_refusal)
async def show_service_provider_config(call: Call, query: DiscoveryQuery) -> Config:
    """Show which features of SCIM are supported."""
    await _authorize(call, query)
    return _answer(service_provider_config(_base_url(call)))


@routes.get("/scim/v2/ResourceTypes", refuses=(FilterNotAllowed,))
@scim_token(log_refusal)
async def list_resource_types(call: Call, query: DiscoveryQuery) -> TypeList:
    """List the types of resources: users and groups."""
    found = await _schemas(call, query)
    return _answer(listed([resource_type(_base_url(call), schema) for schema in found]))


@routes.get("/scim/v2/ResourceTypes/:name", refuses=(NotFound, FilterNotAllowed))
@scim_token(log_refusal)
async def show_resource_type(call: Call, name: str, query: DiscoveryQuery) -> Type:
    """Show a type of resources."""
    found = await _schemas(call, query)
    return _answer(resource_type(_base_url(call), _found(schema for schema in found if schema["name"] == name)))


@routes.get("/scim/v2/Schemas", refuses=(FilterNotAllowed,))
@scim_token(log_refusal)
async def list_schemas(call: Call, query: DiscoveryQuery) -> DescriptionList:
    """List the schemas of users and groups, with the attributes that are kept."""
    found = await _schemas(call, query)
    return _answer(listed([located(_base_url(call), schema) for schema in found]))


@routes.get("/scim/v2/Schemas/:name", refuses=(NotFound, FilterNotAllowed))
@scim_token(log_refusal)
async def show_schema(call: Call, name: str, query: DiscoveryQuery) -> Description:
    """Show a schema by its URN."""
    found = await _schemas(call, query)
    return _answer(located(_base_url(call), _found(schema for schema in found if schema["id"].lower() == name.lower())))


async def _authorize(call: Call, query: DiscoveryQuery) -> ScimCaller:
    caller = await call.step(tokens.authorize)
    if query.filter is not None:
        raise FilterNotAllowed
    return caller


async def _schemas(call: Call, query: DiscoveryQuery) -> Sequence[dict[str, Any]]:
    caller = await _authorize(call, query)
    return schemas(manages_groups=caller.manages_groups)


def _base_url(call: Call) -> str:
    return call.installation.settings.base_url


def _found(schemas: Iterable[dict[str, Any]]) -> dict[str, Any]:
    found = next(iter(schemas), None)
    if found is None:
        raise NotFound("There is no such resource.")
    return found


def _answer(resource: dict[str, Any]) -> Response:
    return Response(encode(resource), content_type=SCIM_JSON)
