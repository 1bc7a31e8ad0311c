"""What a caller can be refused: one table of codes, one class per thing a caller can act on.

A capability adds its own classes beside its use cases by subclassing the ones here. How a refusal looks on the wire
(the JSON envelope, SCIM's and OAuth's own shapes) is the business of the entrypoints.
"""

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar


class ErrorCode(Enum):
    """A code of the interface, the HTTP status that goes with it, and what it means (operations 7, decisions 1.3)."""

    BAD_REQUEST = (400, "The request is malformed, or a field is missing or invalid.")
    UNAUTHORIZED = (401, "A valid token or API key is missing.")
    TOKEN_EXPIRED = (401, "The access token has expired; POST /api/auth/refresh gives a new one.")
    JWT_ERROR = (401, "The access token has a wrong signature or format.")
    FORBIDDEN = (403, "The caller's role or permission does not allow this.")
    ORGANIZATION_NOT_ACTIVE = (403, "The organization is pending, suspended or rejected.")
    FEATURE_NOT_AVAILABLE_IN_TIER = (403, "The organization's tier does not include this feature.")
    SSO_REQUIRED = (403, "The organization demands its own single sign-on.")
    NOT_FOUND = (404, "The resource does not exist, or not for this caller.")
    METHOD_NOT_ALLOWED = (405, "The path exists, but not with this method; the Allow header lists those it has.")
    REQUEST_TIMEOUT = (408, "The body of the request did not arrive in time.")
    CONFLICT = (409, "The resource exists already, or its state forbids the change.")
    REAUTH_REQUIRED = (409, "The external account must be linked again before its token can be used.")
    PAYLOAD_TOO_LARGE = (413, "The body is larger than the service accepts.")
    UNSUPPORTED_MEDIA_TYPE = (415, "The body has a content type that the endpoint does not take.")
    SERVICE_LIMIT_EXCEEDED = (400, "The tier's limit of services is reached.")
    TEAM_LIMIT_EXCEEDED = (400, "The limit of members is reached.")
    INVITATION_EXPIRED = (400, "The invitation has expired.")
    DEVICE_CODE_EXPIRED = (400, "The device code has expired.")
    DEVICE_CODE_PENDING = (400, "The device is not authorized yet; keep polling.")
    RATE_LIMIT_EXCEEDED = (429, "Too many requests; the Retry-After header says how many seconds to wait.")
    INTERNAL_SERVER_ERROR = (500, "The service failed unexpectedly; the request id finds the reason in its log.")
    DATABASE_ERROR = (500, "An operation of the database failed.")
    OAUTH_ERROR = (500, "The external identity provider failed.")
    BILLING_ERROR = (500, "The payment provider failed.")
    AUDIT_ERROR = (500, "The audit log could not be written.")
    NOT_IMPLEMENTED = (501, "The interface names this operation and always declines it.")
    SERVICE_UNAVAILABLE = (503, "The service cannot answer just now; the Retry-After header says when to try again.")

    def __init__(self, status: int, meaning: str) -> None:
        self.status = status
        self.meaning = meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldProblem:
    """One field of the input and what is wrong with it, in words for a person."""

    field: str
    message: str


class Refusal(Exception):
    """The answer is no; raised in a transaction it rolls the transaction back."""

    code: ClassVar[ErrorCode]
    default_message: ClassVar[str]

    def __init__(self, message: str | None = None) -> None:
        self.message = message or self.default_message
        super().__init__(self.message)


class BadRequest(Refusal):
    """The input is wrong; `details` name the fields."""

    code = ErrorCode.BAD_REQUEST
    default_message = "The request is not valid."

    def __init__(self, message: str | None = None, *, details: tuple[FieldProblem, ...] = ()) -> None:
        super().__init__(message)
        self.details = details

    @classmethod
    def of_field(cls, field: str, message: str) -> "BadRequest":
        """Refuse one field; its problem is the message as well."""
        return cls(f"{field}: {message}", details=(FieldProblem(field=field, message=message),))


class Unauthorized(Refusal):
    """Nobody we know, or no longer."""

    code = ErrorCode.UNAUTHORIZED
    default_message = "Sign in first: a valid access token is missing."


class TokenExpired(Refusal):
    """The token was good once."""

    code = ErrorCode.TOKEN_EXPIRED
    default_message = "The access token has expired. Get a new one from POST /api/auth/refresh."


class TokenInvalid(Refusal):
    """The token was never ours, is of another kind, or was altered."""

    code = ErrorCode.JWT_ERROR
    default_message = "The access token is not valid. Sign in again."


class Forbidden(Refusal):
    """Known, but not allowed."""

    code = ErrorCode.FORBIDDEN
    default_message = "You are not allowed to do this."


class OrganizationNotActive(Refusal):
    """The organization is there, and closed."""

    code = ErrorCode.ORGANIZATION_NOT_ACTIVE
    default_message = "This organization is not active."


class NotFound(Refusal):
    """Absent, or not this caller's to see; the two look the same on purpose."""

    code = ErrorCode.NOT_FOUND
    default_message = "There is no such resource."


class Conflict(Refusal):
    """It exists already, or its state forbids the change."""

    code = ErrorCode.CONFLICT
    default_message = "This exists already."


class MethodNotAllowed(Refusal):
    """The path has other methods."""

    code = ErrorCode.METHOD_NOT_ALLOWED

    def __init__(self, allowed: tuple[str, ...]) -> None:
        super().__init__(f"This path takes {', '.join(allowed)}.")
        self.allowed = allowed


class RequestTimedOut(Refusal):
    """The sender was too slow."""

    code = ErrorCode.REQUEST_TIMEOUT
    default_message = "The body of the request did not arrive in time. Send it again."


class PayloadTooLarge(Refusal):
    """More bytes than we are willing to read."""

    code = ErrorCode.PAYLOAD_TOO_LARGE
    default_message = "The body is too large."


class UnsupportedMediaType(Refusal):
    """A body of a kind that the endpoint does not take."""

    code = ErrorCode.UNSUPPORTED_MEDIA_TYPE
    default_message = "Send the body as application/json."


class RefusedForNow(Refusal):
    """No now, maybe yes after `retry_after_seconds`."""

    def __init__(self, message: str | None = None, *, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class RateLimitExceeded(RefusedForNow):
    """Too often."""

    code = ErrorCode.RATE_LIMIT_EXCEEDED
    default_message = "Too many requests. Wait a little and try again."


class ServiceUnavailable(RefusedForNow):
    """Something that the answer needs is away or overloaded."""

    code = ErrorCode.SERVICE_UNAVAILABLE
    default_message = "The service cannot answer just now. Try again in a moment."


class DatabaseFailed(Refusal):
    """The database refused a statement; the log has the reason, the caller never sees it."""

    code = ErrorCode.DATABASE_ERROR
    default_message = "The database could not do this. The request id finds the reason in the service's log."
