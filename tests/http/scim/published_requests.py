"""Requests as Okta and Microsoft publish them for servers of SCIM 2.0, as data.

Okta: "Test your SCIM API" and its reference of SCIM 2.0 messages. Microsoft: "Develop and plan provisioning for a SCIM
endpoint", its reference of messages and the samples for checking a server. Names and addresses are our own. In a path,
a body and an expectation, `{user}`, `{other}` and `{group}` stand for ids, and `{gone}` for one that no user has.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
PATCH_OP = ["urn:ietf:params:scim:api:messages:2.0:PatchOp"]


@dataclass(frozen=True)
class Request:
    """A request, its status, and what its answer has at these places, such as `emails.0.value`."""

    title: str
    method: str
    path: str
    status: int
    body: Any = None
    has: dict[str, Any] = field(default_factory=dict[str, Any])


def _patch(*operations: dict[str, Any]) -> dict[str, Any]:
    return {"schemas": PATCH_OP, "Operations": list(operations)}


OKTA_USER = {
    "schemas": [USER],
    "userName": "okta.user@example.com",
    "name": {"givenName": "Okta", "familyName": "User"},
    "emails": [{"primary": True, "value": "okta.user@example.com", "type": "work"}],
    "displayName": "Okta User",
    "locale": "en-US",
    "externalId": "00ujl29u0le5T6Aj10h7",
    "groups": [],
    "password": "1mz050nq",
    "active": True,
}

# In the order in which Okta's provisioning sends them.
OKTA = [
    Request("lists the first users", "GET", "/Users?count=1&startIndex=1", 200, has={"itemsPerPage": 1}),
    Request(
        "looks for a user before creating it",
        "GET",
        "/Users?filter=userName%20eq%20%22okta.user%40example.com%22&startIndex=1&count=100",
        200,
        has={"totalResults": 0, "startIndex": 1, "Resources": []},
    ),
    Request(
        "creates a user",
        "POST",
        "/Users",
        201,
        OKTA_USER,
        {"active": True, "name.familyName": "User", "emails.0.value": "okta.user@example.com", "schemas": [USER]},
    ),
    Request("creates the same user again", "POST", "/Users", 409, OKTA_USER, {"scimType": "uniqueness"}),
    Request("reads the user", "GET", "/Users/{user}", 200, has={"userName": "okta.user@example.com"}),
    Request("reads a user that does not exist", "GET", "/Users/{gone}", 404, has={"status": 404}),
    Request("reads a user by an id of another form", "GET", "/Users/00919288221112222", 404),
    Request(
        "replaces the whole user with what it has read",
        "PUT",
        "/Users/{user}",
        200,
        OKTA_USER | {"id": "{user}", "name": {"givenName": "Another", "familyName": "User"}, "meta": {}},
        {"name.givenName": "Another", "name.familyName": "User"},
    ),
    Request(
        "deactivates the user",
        "PATCH",
        "/Users/{user}",
        200,
        _patch({"op": "replace", "value": {"active": False}}),
        {"active": False},
    ),
    Request("looks for the inactive user", "GET", "/Users/{user}", 200, has={"active": False}),
    Request(
        "activates the user again",
        "PATCH",
        "/Users/{user}",
        200,
        _patch({"op": "replace", "value": {"active": True}}),
        {"active": True},
    ),
    Request("lists the groups", "GET", "/Groups?startIndex=1&count=100", 200, has={"totalResults": 1}),
    Request("creates a group", "POST", "/Groups", 501, {"schemas": [GROUP], "displayName": "Test SCIMv2"}),
    Request("reads the group", "GET", "/Groups/{group}", 200, has={"displayName": "Acme"}),
    Request(
        "pushes the name of the group",
        "PATCH",
        "/Groups/{group}",
        200,
        _patch({"op": "replace", "value": {"id": "{group}", "displayName": "Acme"}}),
    ),
    Request(
        "removes a member of the group, and adds it again",
        "PATCH",
        "/Groups/{group}",
        200,
        _patch(
            {"op": "remove", "path": 'members[value eq "{user}"]'},
            {"op": "add", "path": "members", "value": [{"value": "{user}", "display": "okta.user@example.com"}]},
        ),
    ),
    Request(
        "replaces the members of the group",
        "PUT",
        "/Groups/{group}",
        200,
        {"schemas": [GROUP], "id": "{group}", "displayName": "Acme", "members": [{"value": "{user}", "display": "x"}]},
    ),
    Request("deletes the group", "DELETE", "/Groups/{group}", 403),
    Request("deletes the user", "DELETE", "/Users/{user}", 204),
    Request("reads the deleted user", "GET", "/Users/{user}", 404),
]

ENTRA_USER = {
    "schemas": [USER, ENTERPRISE],
    "externalId": "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
    "userName": "Test_User_ab6490ee@testuser.example",
    "active": True,
    "addresses": [{"primary": False, "type": "work", "country": "Mexico", "region": "Jalisco"}],
    "displayName": "lennay",
    "emails": [{"type": "work", "value": "Test_User_fd0ea19b@testuser.example", "primary": True}],
    "meta": {"resourceType": "User"},
    "name": {"formatted": "givenName familyName", "familyName": "familyName", "givenName": "givenName"},
    "phoneNumbers": [{"primary": False, "type": "fax", "value": "9876"}],
    "preferredLanguage": "xhosa",
    "roles": [],
    "title": "title",
    ENTERPRISE: {"department": "bob", "manager": {"value": "SuzzyQ"}},
}

# In the order of Microsoft's reference, with the spelling of the provisioning service of Entra.
MICROSOFT = [
    Request("reads the features", "GET", "/ServiceProviderConfig", 200, has={"patch.supported": True}),
    Request("reads the types", "GET", "/ResourceTypes", 200, has={"Resources.0.endpoint": "/Users"}),
    Request("reads the schemas", "GET", "/Schemas", 200, has={"Resources.0.id": USER}),
    Request(
        "checks the connection with a user that does not exist",
        "GET",
        "/Users?filter=userName+eq+%22a8b0ba12-2a4d-4e3f%22",
        200,
        has={"totalResults": 0, "Resources": []},
    ),
    Request(
        "creates a user",
        "POST",
        "/Users",
        201,
        ENTRA_USER,
        {"userName": "Test_User_ab6490ee@testuser.example", "name.formatted": "givenName familyName"},
    ),
    Request(
        "finds the user by the userName in another case",
        "GET",
        "/Users?filter=userName%20eq%20%22test_user_AB6490EE@testuser.example%22",
        200,
        has={"totalResults": 1, "Resources.0.id": "{user}"},
    ),
    Request(
        "finds the user by the externalId",
        "GET",
        "/Users?filter=externalId+eq+%220a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef%22",
        200,
        has={"totalResults": 1},
    ),
    Request("reads some attributes", "GET", "/Users/{user}?attributes=userName,active", 200, has={"active": True}),
    Request(
        "changes several attributes",
        "PATCH",
        "/Users/{user}",
        200,
        _patch(
            {"op": "Replace", "path": 'emails[type eq "work"].value', "value": "test_user_ab6490ee@testuser.example"},
            {"op": "Replace", "path": "name.familyName", "value": "updatedFamilyName"},
            {"op": "Add", "path": 'addresses[type eq "work"].country', "value": "Peru"},
            {"op": "Add", "path": f"{ENTERPRISE}:department", "value": "Engines"},
            {"op": "Add", "path": f"{ENTERPRISE}:manager", "value": "{other}"},
        ),
        {"name.familyName": "updatedFamilyName", "userName": "Test_User_ab6490ee@testuser.example"},
    ),
    Request(
        "changes the userName",
        "PATCH",
        "/Users/{user}",
        200,
        _patch({"op": "Replace", "path": "userName", "value": "5b50642d-79fc-4410@testuser.example"}),
        {"userName": "5b50642d-79fc-4410@testuser.example"},
    ),
    Request(
        "changes attributes without a path",
        "PATCH",
        "/Users/{user}",
        200,
        _patch({"op": "Add", "value": {"displayName": "new", "name.givenName": "New", f"{ENTERPRISE}:division": "x"}}),
        {"displayName": "new", "name.givenName": "New"},
    ),
    Request(
        "disables the user",
        "PATCH",
        "/Users/{user}",
        200,
        _patch({"op": "Replace", "path": "active", "value": "False"}),
        {"active": False},
    ),
    Request(
        "enables the user",
        "PATCH",
        "/Users/{user}",
        200,
        _patch({"op": "Replace", "path": "active", "value": "True"}),
        {"active": True},
    ),
    Request(
        "creates a group",
        "POST",
        "/Groups",
        501,
        {"schemas": [GROUP, "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"]},
    ),
    Request(
        "finds the group by its name",
        "GET",
        "/Groups?excludedAttributes=members&filter=displayName%20eq%20%22Acme%22",
        200,
        has={"totalResults": 1, "Resources.0.id": "{group}"},
    ),
    Request("reads the group", "GET", "/Groups/{group}?excludedAttributes=members", 200, has={"displayName": "Acme"}),
    Request(
        "asks whether a user is a member",
        "GET",
        "/Groups?filter=id+eq+%22{group}%22+and+members+eq+%22{user}%22",
        200,
        has={"totalResults": 1},
    ),
    Request(
        "removes a member by value",
        "PATCH",
        "/Groups/{group}",
        200,
        _patch({"op": "Remove", "path": "members", "value": [{"$ref": None, "value": "{user}"}]}),
    ),
    Request(
        "adds a member",
        "PATCH",
        "/Groups/{group}",
        200,
        _patch({"op": "Add", "path": "members", "value": [{"$ref": None, "value": "{user}"}]}),
    ),
    Request("adds nobody", "PATCH", "/Groups/{group}", 200, _patch({"op": "Add", "path": "members", "value": []})),
    Request("deletes the user", "DELETE", "/Users/{user}", 204),
    Request("deletes the user again", "DELETE", "/Users/{user}", 404),
    Request("deletes the group", "DELETE", "/Groups/{group}", 403),
]

# What follows is sent to a token that manages groups.
OKTA_GROUPS = [
    OKTA[2],
    Request("lists the groups", "GET", "/Groups?startIndex=1&count=100", 200, has={"totalResults": 0, "Resources": []}),
    Request(
        "looks for a group before pushing it",
        "GET",
        "/Groups?filter=displayName%20eq%20%22Test%20SCIMv2%22&startIndex=1&count=100",
        200,
        has={"totalResults": 0},
    ),
    Request(
        "pushes a group",
        "POST",
        "/Groups",
        201,
        {"schemas": [GROUP], "displayName": "Test SCIMv2", "members": []},
        {"displayName": "Test SCIMv2", "meta.resourceType": "Group"},
    ),
    Request("reads the group", "GET", "/Groups/{group}", 200, has={"id": "{group}", "displayName": "Test SCIMv2"}),
    Request(
        "renames the group",
        "PATCH",
        "/Groups/{group}",
        200,
        _patch({"op": "replace", "value": {"id": "{group}", "displayName": "Test SCIMv2 renamed"}}),
        {"displayName": "Test SCIMv2 renamed"},
    ),
    Request(
        "sends the members in parts",
        "PATCH",
        "/Groups/{group}",
        200,
        _patch(
            {"op": "add", "path": "members", "value": [{"value": "{user}", "display": "okta.user@example.com"}]},
            {"op": "add", "path": "members", "value": [{"value": "{other}", "display": "member@example.com"}]},
        ),
    ),
    Request(
        "removes a member by a filter path",
        "PATCH",
        "/Groups/{group}",
        200,
        _patch({"op": "remove", "path": 'members[value eq "{other}"]'}),
        {"members.0.value": "{user}"},
    ),
    Request(
        "replaces all members",
        "PATCH",
        "/Groups/{group}",
        200,
        _patch({"op": "replace", "path": "members", "value": [{"value": "{other}", "display": "x"}]}),
        {"members.0.value": "{other}"},
    ),
    Request(
        "replaces the whole group",
        "PUT",
        "/Groups/{group}",
        200,
        {
            "schemas": [GROUP],
            "id": "{group}",
            "displayName": "Test SCIMv2",
            "members": [{"value": "{user}", "display": "okta.user@example.com"}],
        },
        {"displayName": "Test SCIMv2", "members.0.value": "{user}"},
    ),
    Request("deletes the group", "DELETE", "/Groups/{group}", 204),
    Request("reads the deleted group", "GET", "/Groups/{group}", 404),
]
ENTRA_GROUP = {
    "schemas": [GROUP, "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"],
    "externalId": "8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159",
    "displayName": "Engineering",
    "meta": {"resourceType": "Group"},
}
MICROSOFT_GROUPS = [
    next(request for request in MICROSOFT if request.method == "POST" and request.path.startswith("/Users")),
    Request(
        "looks for a group by its name",
        "GET",
        "/Groups?excludedAttributes=members&filter=displayName%20eq%20%22Engineering%22",
        200,
        has={"totalResults": 0},
    ),
    Request(
        "looks for a group by its id",
        "GET",
        "/Groups?excludedAttributes=members&filter=externalId+eq+%228aa1a0c0-c4c3-4bc0-b4a5-2ef676900159%22",
        200,
        has={"totalResults": 0},
    ),
    Request(
        "creates a group",
        "POST",
        "/Groups",
        201,
        ENTRA_GROUP,
        {"displayName": "Engineering", "externalId": "8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159"},
    ),
    Request("creates it again", "POST", "/Groups", 409, ENTRA_GROUP),
    Request(
        "reads the group without members",
        "GET",
        "/Groups/{group}?excludedAttributes=members",
        200,
        has={"displayName": "Engineering"},
    ),
    Request(
        "finds the group by its name",
        "GET",
        "/Groups?excludedAttributes=members&filter=displayName%20eq%20%22Engineering%22",
        200,
        has={"totalResults": 1, "Resources.0.id": "{group}"},
    ),
    Request(
        "renames the group",
        "PATCH",
        "/Groups/{group}",
        200,
        _patch({"op": "Replace", "path": "displayName", "value": "1879db59-3bdf-4490-ad68-ab880a269474updated"}),
        {"displayName": "1879db59-3bdf-4490-ad68-ab880a269474updated"},
    ),
    Request(
        "adds a member",
        "PATCH",
        "/Groups/{group}",
        200,
        _patch({"op": "Add", "path": "members", "value": [{"$ref": None, "value": "{user}"}]}),
        {"members.0.value": "{user}"},
    ),
    Request(
        "asks whether a user is a member",
        "GET",
        "/Groups?excludedAttributes=members&filter=id+eq+%22{group}%22+and+members+eq+%22{user}%22",
        200,
        has={"totalResults": 1},
    ),
    Request(
        "removes a member by value",
        "PATCH",
        "/Groups/{group}",
        200,
        _patch({"op": "Remove", "path": "members", "value": [{"$ref": None, "value": "{user}"}]}),
    ),
    Request(
        "removes who is not in it",
        "PATCH",
        "/Groups/{group}",
        200,
        _patch({"op": "Remove", "path": "members", "value": [{"$ref": None, "value": "{gone}"}]}),
    ),
    Request("adds nobody", "PATCH", "/Groups/{group}", 200, _patch({"op": "Add", "path": "members", "value": []})),
    Request("deletes the group", "DELETE", "/Groups/{group}", 204),
    Request("deletes the group again", "DELETE", "/Groups/{group}", 404),
]
