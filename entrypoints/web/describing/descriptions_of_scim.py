"""What the fields of SCIM 2.0 mean: a part of `descriptions.py`."""

from typing import Any, Final

_USER_SCHEMA: Final = {"examples": [["urn:ietf:params:scim:schemas:core:2.0:User"]]}
_GROUP_SCHEMA: Final = {"examples": [["urn:ietf:params:scim:schemas:core:2.0:Group"]]}
_COUNT: Final = {"minimum": 0}


def _field(text: str, **keywords: Any) -> dict[str, Any]:
    return {"description": text, **keywords}


FIELDS: Final[dict[str, dict[str, Any]]] = {
    # Tokens and the log
    "tokens": _field("The tokens."),
    "CreatedScimToken.token": _field(
        "The token, which is shown only once.",
        examples=["scim_live_a1B2c3_…"],
    ),
    "CreatedScimToken.prefix": _field(
        "The beginning of the token, by which people recognize it.", examples=["scim_live_a1B2c3"]
    ),
    "ScimToken.prefix": _field(
        "The beginning of the token, by which people recognize it.", examples=["scim_live_a1B2c3"]
    ),
    "ScimTokenCreation.expires_at": _field("When the token expires; never by default."),
    "token_id": _field("The id of the token."),
    "group_id": _field("The id of the group."),
    "ScimToken.groups": _field(
        "What the directory finds under `/Groups`: the `organization` as one group, or groups of the `directory`."
    ),
    "CreatedScimToken.groups": _field(
        "What the directory finds under `/Groups`: the `organization` as one group, or groups of the `directory`."
    ),
    "ScimGroup.externalId": _field(
        "The id of the group in the directory; null for none.", maxLength=255, examples=["00g1"]
    ),
    "ScimGroupInput.externalId": _field(
        "The id of the group in the directory; null for none.", maxLength=255, examples=["00g1"]
    ),
    # Groups and their rules, as members of the organization read them
    "DirectoryGroupList.groups": _field("The groups, the oldest first."),
    "DirectoryGroup.id": _field("The id of the group, which never changes."),
    "DirectoryGroup.name": _field("The name that the directory gives the group."),
    "external_id": _field("The id of the group in the directory; null for none."),
    "ScimTokenForm.groups": _field("What the directory finds under `/Groups`: `organization` or `directory`."),
    "member_count": _field("How many members it has.", **_COUNT),
    "GroupRulesForm.group": _field("The name or the id of a group of the directory, or what a connection asserts."),
    "GroupRuleForm.group": _field("The name or the id of a group of the directory, or what a connection asserts."),
    "rule_id": _field("The id of the rule."),
    "GroupRulesForm.seen_state": _field("The state of the rules that the page has shown."),
    "PersonalDataExport.groups": _field("The groups that directories and connections have put the person into."),
    "ExportedGroup.source": _field("`scim` for a group of a directory, or the id of an upstream connection."),
    "ExportedGroup.name": _field("The name of the group, or the value that the connection asserted."),
    "DirectoryGroup.created_at": _field("When the directory created the group."),
    "DirectoryGroup.updated_at": _field("When the group or its members last changed."),
    "GroupMemberList.members": _field("The members of the group, by the order of their ids."),
    "rules": _field("The rules, the one that counts first at the beginning."),
    "GroupRuleInput.group": _field(
        "The id of a group of the directory, or the value that the connection asserts, exactly.",
        minLength=1,
        maxLength=255,
    ),
    "GroupRuleInput.role": _field("The role: `admin`, `member`, or the slug of a custom role."),
    "GroupRuleItem.group": _field("The id of a group of the directory, or the value that the connection asserts."),
    "group_name": _field("The name of the group of the directory; null for a value that a connection asserts."),
    "made_by": _field("Who made the rule; null for a person whose account is gone."),
    "gives_role": _field("Whether the rule gives its role; false when its maker may not give the role any more."),
    "role_source": _field("The rule that gave the role; null for a role that was given by hand."),
    "RoleSource.source": _field("`scim` for a group of the directory, or the id of an upstream connection."),
    "RoleSource.group": _field("The id of the group of the directory, or the value that the connection asserts."),
    "ExplainedSignIn.role": _field("The role of a member, and where it comes from; null for who is no member."),
    "ExplainedRole.rules": _field("The rules that fit the member, in their order."),
    "groups_overage": _field("Whether a provider said at the last sign-in that there are too many groups to name."),
    "ExplainedGroupRule.source": _field("`scim` for a group of the directory, or the id of an upstream connection."),
    "ExplainedGroupRule.group": _field(
        "The id of the group of the directory, or the value that the connection asserts."
    ),
    "outcome": _field("What becomes of the rule."),
    "token_name": _field("The name that the token had."),
    "method": _field("The method of the request.", examples=["POST"]),
    "ProvisioningLogEntry.path": _field("The path of the request.", examples=["/scim/v2/Users"]),
    "ProvisioningLogEntry.status": _field("The status of the answer.", examples=[201]),
    "resource_id": _field("The id of the user or group in the path; null when the path has none."),
    "user_name": _field("What the directory calls the user, in lower case; null when the request does not say."),
    "scim_type": _field("The kind of the error, as it was answered; null for none.", examples=["uniqueness"]),
    "detail": _field("What is wrong, for people; null when nothing is."),
    "ProvisioningLog.entries": _field("The entries, the newest first."),
    # Resources
    "schemas": _field("The URNs of the schemas.", examples=[["urn:ietf:params:scim:api:messages:2.0:PatchOp"]]),
    "ScimUser.schemas": _field("The URN of the schema of users.", **_USER_SCHEMA),
    "ScimUserInput.schemas": _field("The URN of the schema of users.", **_USER_SCHEMA),
    "ScimGroup.schemas": _field("The URN of the schema of groups.", **_GROUP_SCHEMA),
    "ScimGroupInput.schemas": _field("The URN of the schema of groups.", **_GROUP_SCHEMA),
    "externalId": _field("The id of the user in the directory; null for none.", maxLength=255, examples=["00u1"]),
    "meta": _field("About the resource."),
    "resourceType": _field("The type of the resource.", examples=["User"]),
    "created": _field("When the membership or the organization was created."),
    "lastModified": _field("When the directory or the members of the group last changed it."),
    "location": _field("The address of the resource."),
    "ScimMeta.version": _field("The version of the resource, for If-Match.", examples=['W/"d33193e7c2cc4ab8c1f7"']),
    "userName": _field(
        "The email address of the user, in any case; or a name of the directory for a user whose address is in emails.",
        examples=["ada@example.com"],
    ),
    "ScimUser.name": _field("The name of the user, which is derived from the address if no directory has sent one."),
    "ScimUserInput.name": _field("The name of the user; without one, it is derived from the address."),
    "formatted": _field("The whole name.", maxLength=255, examples=["Ada Lovelace"]),
    "givenName": _field("The given name.", maxLength=255, examples=["Ada"]),
    "familyName": _field("The family name.", maxLength=255, examples=["Lovelace"]),
    "displayName": _field("The name to show.", examples=["Ada"]),
    "emails": _field("The one address of the user."),
    "ScimEmail.value": _field("The address.", examples=["ada@example.com"]),
    "ScimEmailInput.value": _field("The address.", examples=["ada@example.com"]),
    "ScimEmail.type": _field("The type of the address, always work.", examples=["work"]),
    "ScimEmailInput.type": _field("The type of the address.", examples=["work"]),
    "primary": _field("Whether it is the address that counts."),
    "active": _field("Whether the user has access to the organization; true by default."),
    "ScimMember.value": _field("The id of the user."),
    "ScimMemberInput.value": _field(
        "The id of the user.", format="uuid", examples=["0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"]
    ),
    "ScimMember.type": _field("The type of the member, always User.", examples=["User"]),
    "ScimMemberInput.type": _field("The type of the member.", examples=["User"]),
    "$ref": _field("The address of the user."),
    "urn:gatehouse:scim:kept": _field(
        "Who was taken out by this request and stays: the owner, and members whose role the token cannot take; at most"
        " 1,000. It is left out where all are removed."
    ),
    "ScimKeptMember.value": _field("The id of the user."),
    "ScimKeptMember.display": _field("The address of the user.", examples=["ada@example.com"]),
    "ScimKeptMember.reason": _field("`owner`, or `role` where the maker of the token could not give the role."),
    # Lists, changes and errors
    "totalResults": _field("How many resources there are in total.", **_COUNT),
    "startIndex": _field("The number of the first resource, counted from 1.", examples=[1]),
    "itemsPerPage": _field("How many resources follow.", **_COUNT),
    "Resources": _field("The resources."),
    "ListQuery.count": _field("How many resources at most, up to 1000; none for 0.", examples=[100]),
    "ListQuery.filter": _field("Only resources that this filter selects.", examples=['userName eq "ada@example.com"']),
    "DiscoveryQuery.filter": _field("A filter, which is refused: these lists are always whole."),
    "attributes": _field("Only these attributes, separated by commas.", examples=["userName,name.givenName"]),
    "excludedAttributes": _field("All attributes but these, separated by commas.", examples=["members"]),
    "Operations": _field("The changes, in order.", maxItems=1000),
    "op": _field("What to do: add, replace or remove, in any case.", examples=["replace"]),
    "ScimPatchOperation.path": _field(
        "The attribute to change; without it, the value names several.", examples=["active"]
    ),
    "ScimPatchOperation.value": _field("The new value.", examples=[False]),
    "ScimError.status": _field("The status of the answer, as a number.", examples=[409]),
    "scimType": _field("The kind of the error.", examples=["uniqueness"]),
    "ScimError.detail": _field("What is wrong and what to do, for people."),
}
