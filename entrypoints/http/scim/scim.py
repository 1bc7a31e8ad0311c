"""What a client of SCIM can discover: supported features, types of resources, and their schemas (RFC 7643, 5 to 7).

The schemas have only what is kept.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, TypeAlias

from quart import Response

from core.errors import Forbidden, NotFound
from core.scim import tokens
from core.scim.tokens import ScimCaller
from core.scim.user_filters import USER_SCHEMA
from entrypoints.http.scim.dialect import GROUP_SCHEMA, LIST_SCHEMA, ROOT, SCIM, SCIM_JSON, log_refusal
from entrypoints.http.scim.resources import COUNT_MAX
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import scim_token
from entrypoints.web.serving.answering.answers import EXAMPLE_URL, Media, encode
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

CONFIG_SCHEMA: Final = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"
TYPE_SCHEMA: Final = "urn:ietf:params:scim:schemas:core:2.0:ResourceType"
SCHEMA_SCHEMA: Final = "urn:ietf:params:scim:schemas:core:2.0:Schema"


def _attribute(name: str, text: str, **keywords: Any) -> dict[str, Any]:
    """Return the description of an attribute, with the most frequent characteristics unless others are given."""
    return {
        "name": name,
        "type": "string",
        "multiValued": False,
        "description": text,
        "required": False,
        "caseExact": False,
        "mutability": "readWrite",
        "returned": "default",
        "uniqueness": "none",
    } | keywords


def _without_case(name: str, text: str, kind: str, **keywords: Any) -> dict[str, Any]:
    """Return the description of an attribute whose values are no texts."""
    described = _attribute(name, text, type=kind, **keywords)
    return {key: value for key, value in described.items() if key not in {"caseExact", "uniqueness"}}


_READ_ONLY: Final = {"mutability": "readOnly"}
_EXTERNAL_ID: Final = _attribute("externalId", "The id of the user in the directory.", caseExact=True)
USER: Final[dict[str, Any]] = {
    "schemas": [SCHEMA_SCHEMA],
    "id": USER_SCHEMA,
    "name": "User",
    "description": "A member of the organization.",
    "attributes": [
        _attribute(
            "userName",
            "The email address of the user, or a name of the directory for a user whose address is in emails.",
            required=True,
            uniqueness="server",
        ),
        _EXTERNAL_ID,
        _without_case(
            "name",
            "The name of the user. Without any, it is derived from the address.",
            "complex",
            subAttributes=[
                _attribute("formatted", "The whole name."),
                _attribute("givenName", "The given name."),
                _attribute("familyName", "The family name."),
            ],
        ),
        _attribute("displayName", "The name to show."),
        _without_case(
            "emails",
            "The one address of the user. A userName that is an address wins over it.",
            "complex",
            multiValued=True,
            required=True,
            subAttributes=[
                _attribute("value", "The address.", required=True),
                _attribute("type", "The type of the address, which is work.", canonicalValues=["work"]),
                _without_case("primary", "Whether the address is the primary one.", "boolean"),
            ],
        ),
        _without_case(
            "active",
            "Whether the user has access to the organization; true unless it is sent.",
            "boolean",
            required=True,
        ),
    ],
}
GROUP: Final[dict[str, Any]] = {
    "schemas": [SCHEMA_SCHEMA],
    "id": GROUP_SCHEMA,
    "name": "Group",
    "description": "The organization, as a group of its members.",
    "attributes": [
        _attribute("displayName", "The name of the organization.", required=True, caseExact=True, **_READ_ONLY),
        _without_case(
            "members",
            "The members of the organization.",
            "complex",
            multiValued=True,
            subAttributes=[
                _attribute("value", "The id of the user.", caseExact=True, mutability="immutable"),
                _attribute(
                    "$ref",
                    "The address of the user.",
                    type="reference",
                    referenceTypes=["User"],
                    caseExact=True,
                    **_READ_ONLY,
                ),
                _attribute("type", "Always User.", canonicalValues=["User"], mutability="immutable"),
            ],
        ),
    ],
}
# A client may send where a member is read, beside the id that counts.
_MEMBERS_OF_GROUP: Final = GROUP["attributes"][1] | {
    "description": "The members of the group.",
    "subAttributes": [one | {"mutability": "immutable"} for one in GROUP["attributes"][1]["subAttributes"]],
}
# For tokens that manage groups.
DIRECTORY_GROUP: Final[dict[str, Any]] = GROUP | {
    "description": "A group of the directory, among the members of the organization.",
    "attributes": [
        _attribute("displayName", "The name of the group.", required=True, uniqueness="server"),
        _attribute("externalId", "The id of the group in the directory.", caseExact=True, uniqueness="server"),
        _MEMBERS_OF_GROUP,
    ],
}
_SUPPORTED: Final = {"supported": True}
_UNSUPPORTED: Final = {"supported": False}


def schemas(*, manages_groups: bool) -> Sequence[dict[str, Any]]:
    """Return the schemas of a token."""
    return (USER, DIRECTORY_GROUP if manages_groups else GROUP)


def service_provider_config(base_url: str) -> dict[str, Any]:
    """Return the features that are supported."""
    return {
        "schemas": [CONFIG_SCHEMA],
        "documentationUri": f"{base_url}/docs",
        "patch": _SUPPORTED,
        "bulk": _UNSUPPORTED | {"maxOperations": 0, "maxPayloadSize": 0},
        "filter": _SUPPORTED | {"maxResults": COUNT_MAX},
        "changePassword": _UNSUPPORTED,
        "sort": _UNSUPPORTED,
        "etag": _SUPPORTED,
        "authenticationSchemes": [
            {
                "type": "oauthbearertoken",
                "name": "SCIM token",
                "description": "A token of the organization, as Authorization: Bearer scim_live_…",
                "specUri": "https://www.rfc-editor.org/info/rfc6750",
                "primary": True,
            }
        ],
        "meta": {
            "resourceType": "ServiceProviderConfig",
            "location": f"{base_url}{ROOT}/ServiceProviderConfig",
        },
    }


def resource_type(base_url: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the type of the resources of a schema."""
    name = schema["name"]
    return {
        "schemas": [TYPE_SCHEMA],
        "id": name,
        "name": name,
        "description": schema["description"],
        "endpoint": f"/{name}s",
        "schema": schema["id"],
        "schemaExtensions": [],
        "meta": {"resourceType": "ResourceType", "location": f"{base_url}{ROOT}/ResourceTypes/{name}"},
    }


def located(base_url: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with its address."""
    return schema | {"meta": {"resourceType": "Schema", "location": f"{base_url}{ROOT}/Schemas/{schema['id']}"}}


def listed(resources: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a list of resources, which is always whole."""
    return {
        "schemas": [LIST_SCHEMA],
        "totalResults": len(resources),
        "startIndex": 1,
        "itemsPerPage": len(resources),
        "Resources": resources,
    }


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
