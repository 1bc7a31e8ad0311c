"""What the fields of SCIM 2.0 mean: a part of `descriptions.py`."""

from typing import Final

from entrypoints.web.describing.described import Lines, field

_USER_SCHEMA: Final = {"examples": [["urn:ietf:params:scim:schemas:core:2.0:User"]]}
_GROUP_SCHEMA: Final = {"examples": [["urn:ietf:params:scim:schemas:core:2.0:Group"]]}
_COUNT: Final = {"minimum": 0}


FIELDS: Final[Lines] = {
    # Tokens and the log
    "tokens": "The tokens.",
    "CreatedScimToken.token": field(
        "The token, which is shown only once.",
        examples=["scim_live_a1B2c3_…"],
    ),
    "CreatedScimToken.prefix ScimToken.prefix": field(
        "The beginning of the token, by which people recognize it.", examples=["scim_live_a1B2c3"]
    ),
    "ScimTokenCreation.expires_at": "When the token expires; never by default.",
    "token_id": "The id of the token.",
    "group_id": "The id of the group.",
    "ScimToken.groups CreatedScimToken.groups": "What the directory finds under `/Groups`: the `organization` as one"
    " group, or groups of the `directory`.",
    "ScimGroup.externalId ScimGroupInput.externalId": field(
        "The id of the group in the directory; null for none.", maxLength=255, examples=["00g1"]
    ),
    # Groups and their rules, as members of the organization read them
    "DirectoryGroupList.groups": "The groups, the oldest first.",
    "DirectoryGroup.id": "The id of the group, which never changes.",
    "DirectoryGroup.name": "The name that the directory gives the group.",
    "external_id": "The id of the group in the directory; null for none.",
    "ScimTokenForm.groups": "What the directory finds under `/Groups`: `organization` or `directory`.",
    "member_count": field("How many members it has.", **_COUNT),
    "GroupRulesForm.group GroupRuleForm.group": "The name or the id of a group of the directory, or what a connection"
    " asserts.",
    "rule_id": "The id of the rule.",
    "GroupRulesForm.seen_state": "The state of the rules that the page has shown.",
    "PersonalDataExport.groups": "The groups that directories and connections have put the person into.",
    "ExportedGroup.source": "`scim` for a group of a directory, or the id of an upstream connection.",
    "ExportedGroup.name": "The name of the group, or the value that the connection asserted.",
    "DirectoryGroup.created_at": "When the directory created the group.",
    "DirectoryGroup.updated_at": "When the group or its members last changed.",
    "GroupMemberList.members": "The members of the group, by the order of their ids.",
    "rules": "The rules, the one that counts first at the beginning.",
    "GroupRuleInput.group": field(
        "The id of a group of the directory, or the value that the connection asserts, exactly.",
        minLength=1,
        maxLength=255,
    ),
    "GroupRuleInput.role": "The role: `admin`, `member`, or the slug of a custom role.",
    "GroupRuleItem.group": "The id of a group of the directory, or the value that the connection asserts.",
    "group_name": "The name of the group of the directory; null for a value that a connection asserts.",
    "made_by": "Who made the rule; null for a person whose account is gone.",
    "gives_role": "Whether the rule gives its role; false when its maker may not give the role any more.",
    "role_source": "The rule that gave the role; null for a role that was given by hand.",
    "RoleSource.source ExplainedGroupRule.source": "`scim` for a group of the directory, or the id of an upstream"
    " connection.",
    "RoleSource.group ExplainedGroupRule.group": "The id of the group of the directory, or the value that the"
    " connection asserts.",
    "ExplainedSignIn.role": "The role of a member, and where it comes from; null for who is no member.",
    "ExplainedRole.rules": "The rules that fit the member, in their order.",
    "groups_overage": "Whether a provider said at the last sign-in that there are too many groups to name.",
    "token_name": "The name that the token had.",
    "method": field("The method of the request.", examples=["POST"]),
    "ProvisioningLogEntry.path": field("The path of the request.", examples=["/scim/v2/Users"]),
    "ProvisioningLogEntry.status": field("The status of the answer.", examples=[201]),
    "resource_id": "The id of the user or group in the path; null when the path has none.",
    "user_name": "What the directory calls the user, in lower case; null when the request does not say.",
    "scim_type": field("The kind of the error, as it was answered; null for none.", examples=["uniqueness"]),
    "detail": "What is wrong, for people; null when nothing is.",
    "ProvisioningLog.entries": "The entries, the newest first.",
    # Resources
    "schemas": field("The URNs of the schemas.", examples=[["urn:ietf:params:scim:api:messages:2.0:PatchOp"]]),
    "ScimUser.schemas ScimUserInput.schemas": field("The URN of the schema of users.", **_USER_SCHEMA),
    "ScimGroup.schemas ScimGroupInput.schemas": field("The URN of the schema of groups.", **_GROUP_SCHEMA),
    "externalId": field("The id of the user in the directory; null for none.", maxLength=255, examples=["00u1"]),
    "meta": "About the resource.",
    "resourceType": field("The type of the resource.", examples=["User"]),
    "created": "When the membership or the organization was created.",
    "lastModified": "When the directory or the members of the group last changed it.",
    "location": "The address of the resource.",
    "ScimMeta.version": field("The version of the resource, for If-Match.", examples=['W/"d33193e7c2cc4ab8c1f7"']),
    "userName": field(
        "The email address of the user, in any case; or a name of the directory for a user whose address is in emails.",
        examples=["ada@example.com"],
    ),
    "ScimUser.name": "The name of the user, which is derived from the address if no directory has sent one.",
    "ScimUserInput.name": "The name of the user; without one, it is derived from the address.",
    "formatted": field("The whole name.", maxLength=255, examples=["Ada Lovelace"]),
    "givenName": field("The given name.", maxLength=255, examples=["Ada"]),
    "familyName": field("The family name.", maxLength=255, examples=["Lovelace"]),
    "displayName": field("The name to show.", examples=["Ada"]),
    "emails": "The one address of the user.",
    "ScimEmail.value ScimEmailInput.value": field("The address.", examples=["ada@example.com"]),
    "ScimEmail.type": field("The type of the address, always work.", examples=["work"]),
    "ScimEmailInput.type": field("The type of the address.", examples=["work"]),
    "primary": "Whether it is the address that counts.",
    "active": "Whether the user has access to the organization; true by default.",
    "ScimMember.value ScimKeptMember.value": "The id of the user.",
    "ScimMemberInput.value": field(
        "The id of the user.", format="uuid", examples=["0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"]
    ),
    "ScimMember.type": field("The type of the member, always User.", examples=["User"]),
    "ScimMemberInput.type": field("The type of the member.", examples=["User"]),
    "$ref": "The address of the user.",
    "urn:gatehouse:scim:kept": "Who was taken out by this request and stays: the owner, and members whose role the"
    " token cannot take; at most 1,000. It is left out where all are removed.",
    "ScimKeptMember.display": field("The address of the user.", examples=["ada@example.com"]),
    "ScimKeptMember.reason": "`owner`, or `role` where the maker of the token could not give the role.",
    # Lists, changes and errors
    "totalResults": field("How many resources there are in total.", **_COUNT),
    "startIndex": field("The number of the first resource, counted from 1.", examples=[1]),
    "itemsPerPage": field("How many resources follow.", **_COUNT),
    "Resources": "The resources.",
    "ListQuery.count": field("How many resources at most, up to 1000; none for 0.", examples=[100]),
    "ListQuery.filter": field("Only resources that this filter selects.", examples=['userName eq "ada@example.com"']),
    "DiscoveryQuery.filter": "A filter, which is refused: these lists are always whole.",
    "attributes": field("Only these attributes, separated by commas.", examples=["userName,name.givenName"]),
    "excludedAttributes": field("All attributes but these, separated by commas.", examples=["members"]),
    "Operations": field("The changes, in order.", maxItems=1000),
    "op": field("What to do: add, replace or remove, in any case.", examples=["replace"]),
    "ScimPatchOperation.path": field(
        "The attribute to change; without it, the value names several.", examples=["active"]
    ),
    "ScimPatchOperation.value": field("The new value.", examples=[False]),
    "ScimError.status": field("The status of the answer, as a number.", examples=[409]),
    "scimType": field("The kind of the error.", examples=["uniqueness"]),
    "ScimError.detail": "What is wrong and what to do, for people.",
}
