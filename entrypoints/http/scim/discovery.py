"""What a client of SCIM discovers: the features, the types of resources, and their schemas (RFC 7643, 5 to 7).

The schemas have only what is kept. The routes are in `scim.py`.
"""

from collections.abc import Sequence
from typing import Any, Final

from core.scim.user_filters import USER_SCHEMA
from entrypoints.http.scim.dialect import GROUP_SCHEMA, LIST_SCHEMA, ROOT
from entrypoints.http.scim.resources import COUNT_MAX

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
