"""The refusals of SCIM, each with the `scimType` of its error (RFC 7644, 3.12)."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Final

from core.errors import BadRequest, Conflict, ErrorCode, Forbidden, NotFound, Refusal
from core.wording import Wording

# One call may name so many members.
NAMED_MAX: Final = 15_000


class ScimType(StrEnum):
    """The kind of a problem that a client can act on."""

    INVALID_FILTER = "invalidFilter"
    TOO_MANY = "tooMany"
    UNIQUENESS = "uniqueness"
    MUTABILITY = "mutability"
    INVALID_SYNTAX = "invalidSyntax"
    INVALID_PATH = "invalidPath"
    NO_TARGET = "noTarget"
    INVALID_VALUE = "invalidValue"


class ScimProblem(Refusal):
    """A refusal that has a `scimType`."""

    scim_type: ClassVar[ScimType]


class InvalidFilter(ScimProblem, BadRequest):
    """The filter is not valid, or names an attribute or a comparison that cannot be filtered by."""

    scim_type = ScimType.INVALID_FILTER
    default_message = "The filter is not valid."


class TooMany(ScimProblem, BadRequest):
    """The answer or the request is larger than the service accepts."""

    scim_type = ScimType.TOO_MANY
    default_message = "The request asks for too much at once."


class TooManyMembersNamed(Refusal):
    """One call names more members than it may, with repetitions."""

    code = ErrorCode.PAYLOAD_TOO_LARGE
    default_message = Wording(
        "A call can name at most %(maximum)s members. Add or remove them in several PATCH requests.", maximum=NAMED_MAX
    )


class InvalidSyntax(ScimProblem, BadRequest):
    """The body does not have the structure of the request."""

    scim_type = ScimType.INVALID_SYNTAX
    default_message = "The body of the request is not valid."


class InvalidPath(ScimProblem, BadRequest):
    """The path of an operation is not valid, or names an attribute that does not exist."""

    scim_type = ScimType.INVALID_PATH
    default_message = "The path of the operation is not valid."


class NoTarget(ScimProblem, BadRequest):
    """The operation names nothing that it could change."""

    scim_type = ScimType.NO_TARGET
    default_message = "A remove operation needs a path that says what to remove."


class InvalidValue(ScimProblem, BadRequest):
    """A value is missing, or its attribute does not accept it."""

    scim_type = ScimType.INVALID_VALUE
    default_message = "A value of the request is not valid."


class ReadOnlyAttribute(ScimProblem, BadRequest):
    """The attribute cannot be changed by SCIM."""

    scim_type = ScimType.MUTABILITY
    default_message = "This attribute is read-only."


class UserExists(ScimProblem, Conflict):
    """The organization has a user with this userName already, or another account has the address."""

    scim_type = ScimType.UNIQUENESS
    default_message = "A user with this userName exists already."


class ResourceUnknown(NotFound):
    """The organization has no such resource, whether or not another one has it."""

    default_message = "There is no such resource in this organization."


class MemberProtected(Forbidden):
    """The owner would lose access."""

    default_message = (
        "The owner of an organization cannot be removed or deactivated by SCIM. Transfer the ownership first."
    )


class RoleProtected(Forbidden):
    """The maker of the token could not give the role of this member, so the token may not change the member."""

    default_message = (
        "The person who made this SCIM token could not give this member's role, so the token cannot change the member."
        " Change the member by hand, or create a new token as an owner or admin."
    )


class GroupCannotBeDeleted(Forbidden):
    """A directory cannot delete an organization."""

    default_message = "A group is an organization, which cannot be deleted by SCIM. Its owner can delete it."


class MembersFull(Refusal):
    """The organization has as many members as it may."""

    code = ErrorCode.TEAM_LIMIT_EXCEEDED
    default_message = (
        "This organization has as many members as it may have. Remove members that it no longer needs, or ask the"
        " platform's operator for a higher limit."
    )


class VersionOutdated(Refusal):
    """The resource has another version than `If-Match` names."""

    code = ErrorCode.PRECONDITION_FAILED
    default_message = "The resource has changed since you read it. Read it again and repeat the change."


class Unsupported(Refusal):
    """The operation is part of SCIM, and not supported here."""

    code = ErrorCode.NOT_IMPLEMENTED
    default_message = "This operation is not supported."
