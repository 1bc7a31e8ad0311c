"""Refusals: one table of error codes, and one class for each cause that a caller can act on.

A capability subclasses them beside its use cases. The entrypoints define the representation of a refusal (the JSON
body, the formats of SCIM and OAuth).

A message is plain English for its reader and says what to do next. All invalid fields are named at once: decoding does
so, and a use case that checks several fields of one body uses `all_valid`, or `all_checked` where the checks are by the
names of fields. A refusal that rolls everything back but leaves a trace, such as why a sign-in was refused, is raised
with it (`leaving`); `transact` runs the trace in a transaction of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, overload
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

First = TypeVar("First")
Second = TypeVar("Second")
Third = TypeVar("Third")
Fourth = TypeVar("Fourth")


class ErrorCode(Enum):
    """An error code of the interface, with its HTTP status and its meaning."""

    BAD_REQUEST = (400, "The request is malformed, or a field is missing or invalid.")
    UNAUTHORIZED = (401, "A valid token or API key is missing.")
    TOKEN_EXPIRED = (401, "The access token has expired; POST /api/auth/refresh returns a new one.")
    JWT_ERROR = (401, "The access token has a wrong signature or format.")
    FORBIDDEN = (403, "The caller's role or permission does not allow this.")
    ORGANIZATION_NOT_ACTIVE = (403, "The organization is pending, suspended or rejected.")
    FEATURE_NOT_AVAILABLE_IN_TIER = (403, "The organization's tier does not include this feature.")
    SSO_REQUIRED = (
        403,
        "The organization requires its own single sign-on. Where one signs in to a service for this organization as its"
        " customer, `connection_id` names the connection.",
    )
    NOT_FOUND = (404, "The resource does not exist, or the caller may not see it.")
    METHOD_NOT_ALLOWED = (405, "The path exists, but not with this method; the Allow header lists the methods it has.")
    REQUEST_TIMEOUT = (408, "The body of the request did not arrive in time.")
    CONFLICT = (409, "The resource exists already, or its state forbids the change.")
    CUSTOMER_REQUIRED = (409, "The user has to choose for which customer of the service they sign in.")
    REAUTH_REQUIRED = (409, "The external account must be linked again before its token can be used.")
    GONE = (410, "The resource existed and is no longer kept.")
    PRECONDITION_FAILED = (412, "The resource has another version than the one that the request names.")
    PAYLOAD_TOO_LARGE = (413, "The body is larger than the service accepts.")
    UNSUPPORTED_MEDIA_TYPE = (415, "The endpoint does not accept the content type of the body.")
    SERVICE_LIMIT_EXCEEDED = (400, "The maximum number of services of the tier is reached.")
    TEAM_LIMIT_EXCEEDED = (400, "The maximum number of members is reached.")
    PASSWORD_TOO_COMMON = (400, "The new password is among those that attackers try first; the details say why.")
    PASSWORD_BREACHED = (400, "The new password is known from a data breach.")
    INVITATION_EXPIRED = (400, "The invitation has expired.")
    DEVICE_CODE_EXPIRED = (400, "The device code has expired.")
    DEVICE_CODE_PENDING = (400, "The device is not authorized yet; keep polling.")
    RATE_LIMIT_EXCEEDED = (429, "Too many requests; the Retry-After header says how many seconds to wait.")
    INTERNAL_SERVER_ERROR = (500, "The service failed unexpectedly; its log has the reason under the request id.")
    DATABASE_ERROR = (500, "A database operation failed.")
    OAUTH_ERROR = (500, "The external identity provider failed.")
    PROVIDER_ERROR = (502, "The identity provider at which a person signs in failed, or its answer is not accepted.")
    BILLING_ERROR = (500, "The payment provider failed.")
    AUDIT_ERROR = (500, "This does not happen: an entry of the audit log is written with its change, or neither is.")
    NOT_IMPLEMENTED = (501, "The interface names this operation, but it is not implemented.")
    SERVICE_UNAVAILABLE = (
        503,
        "The service is temporarily unavailable; the Retry-After header says when to try again.",
    )

    def __init__(self, status: int, meaning: str) -> None:
        self.status = status
        self.meaning = meaning

    @property
    def is_external(self) -> bool:
        """Whether the status is 5xx although nothing of this installation failed.

        The cause is a caller, or a system that another party has named or runs.
        """
        return self in {
            ErrorCode.OAUTH_ERROR,
            ErrorCode.PROVIDER_ERROR,
            ErrorCode.BILLING_ERROR,
            ErrorCode.NOT_IMPLEMENTED,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldError:
    """A field of the input and a description of its problem."""

    field: str
    message: str


class Refusal(Exception):
    """A request is refused. Raised in a transaction, it rolls the transaction back.

    `reason` is for the log, not for the answer: it may name what the answer must not reveal, and contains no personal
    data. `trace` is what the refusal leaves behind, in a transaction of its own after the one that was rolled back.
    `organization_id` is the organization to which the request belongs beyond doubt: the page that explains the refusal
    shows its brand.
    """

    code: ClassVar[ErrorCode]
    default_message: ClassVar[str]

    def __init__(self, message: str | None = None) -> None:
        self.message = message or self.default_message
        self.reason: str | None = None
        self.trace: Callable[[UnitOfWork], None] | None = None
        self.organization_id: UUID | None = None
        super().__init__(self.message)

    def because(self, reason: str | None) -> Self:
        """Return this refusal with a reason for the log."""
        self.reason = reason
        return self

    def leaving(self, trace: Callable[[UnitOfWork], None]) -> Self:
        """Return this refusal with what it leaves behind; what it leaves already stays."""
        self.trace = self.trace or trace
        return self

    def on_the_way_to(self, organization_id: UUID | None) -> Self:
        """Return this refusal of a request that belongs to an organization; one that names another stays as it is."""
        self.organization_id = self.organization_id or organization_id
        return self


@contextmanager
def on_the_way_to(organization_id: UUID | None) -> Generator[None]:
    """Name the organization to which the request belongs in every refusal that is raised in the block."""
    try:
        yield
    except Refusal as refusal:
        refusal.on_the_way_to(organization_id)
        raise


class BadRequest(Refusal):
    """The input is invalid; `details` name the fields."""

    code = ErrorCode.BAD_REQUEST
    default_message = "The request is not valid."

    def __init__(self, message: str | None = None, *, details: tuple[FieldError, ...] = ()) -> None:
        super().__init__(message)
        self.details = details

    @classmethod
    def of_field(cls, field: str, message: str) -> BadRequest:
        """Return the refusal of one field, whose problem is also the message."""
        return cls.of_fields([FieldError(field=field, message=message)])

    @classmethod
    def of_fields(cls, problems: Iterable[FieldError]) -> BadRequest:
        """Return the refusal of several fields; its message states every problem."""
        details = tuple(problems)
        return cls(" ".join(f"{problem.field}: {problem.message}" for problem in details), details=details)


class Unauthorized(Refusal):
    """The caller is not authenticated, or their session has ended."""

    code = ErrorCode.UNAUTHORIZED
    default_message = "Sign in first: a valid access token is missing."


class TokenExpired(Refusal):
    """The token was valid and has expired."""

    code = ErrorCode.TOKEN_EXPIRED
    default_message = "The access token has expired. Get a new one from POST /api/auth/refresh."


class TokenInvalid(Refusal):
    """The token was not issued by Gatehouse, is of another kind, or was altered."""

    code = ErrorCode.JWT_ERROR
    default_message = "The access token is not valid. Sign in again."


class Forbidden(Refusal):
    """The caller is authenticated, but not allowed to do this."""

    code = ErrorCode.FORBIDDEN
    default_message = "You are not allowed to do this."


class OrganizationNotActive(Refusal):
    """The organization exists, but is not active."""

    code = ErrorCode.ORGANIZATION_NOT_ACTIVE
    default_message = "This organization is not active."


class NotFound(Refusal):
    """The resource does not exist, or the caller may not see it; the answer is deliberately the same."""

    code = ErrorCode.NOT_FOUND
    default_message = "There is no such resource."


class NoSuchPath(NotFound):
    """No route has this path."""

    default_message = "There is nothing at this path. The reference of all paths is at /docs."


class Conflict(Refusal):
    """The resource exists already, or its state forbids the change."""

    code = ErrorCode.CONFLICT
    default_message = "This exists already."


class MethodNotAllowed(Refusal):
    """The path exists, but not with this method."""

    code = ErrorCode.METHOD_NOT_ALLOWED

    def __init__(self, allowed: tuple[str, ...]) -> None:
        super().__init__(Wording("This path accepts %(methods)s.", methods=", ".join(allowed)))
        self.allowed = allowed


class RequestTimedOut(Refusal):
    """The body did not arrive in time."""

    code = ErrorCode.REQUEST_TIMEOUT
    default_message = "The body of the request did not arrive in time. Send it again."


class PayloadTooLarge(Refusal):
    """The body exceeds the maximum size."""

    code = ErrorCode.PAYLOAD_TOO_LARGE
    default_message = "The body is too large."


class UnsupportedMediaType(Refusal):
    """The endpoint does not accept this content type."""

    code = ErrorCode.UNSUPPORTED_MEDIA_TYPE
    default_message = "Send the body as application/json."


class UnsupportedContentCoding(UnsupportedMediaType):
    """The body is compressed, or encoded in another way."""

    default_message = "Send the body without Content-Encoding: it must not be compressed."


class TemporaryRefusal(Refusal):
    """A temporary refusal; the caller may try again after `retry_after_seconds`."""

    def __init__(self, message: str | None = None, *, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class RateLimitExceeded(TemporaryRefusal):
    """The caller exceeded a rate limit.

    `limit` names it and `counts` says what it counts, for the metrics: words of a bounded vocabulary.
    """

    code = ErrorCode.RATE_LIMIT_EXCEEDED
    default_message = "Too many requests. Wait a moment and try again."
    limit = "other"
    counts = "requests"

    def of(self, limit: str, *, counts: str = "requests") -> Self:
        """Return this refusal with the name of its limit."""
        self.limit, self.counts = limit, counts
        return self


class ServiceUnavailable(TemporaryRefusal):
    """A dependency is unreachable or overloaded."""

    code = ErrorCode.SERVICE_UNAVAILABLE
    default_message = "The service is temporarily unavailable. Try again in a moment."


class DatabaseFailed(Refusal):
    """The database rejected a statement; only the log has the reason."""

    code = ErrorCode.DATABASE_ERROR
    default_message = "The database operation failed. The service's log has the reason under the request id."


@overload
def all_valid(first: Callable[[], First], second: Callable[[], Second], /) -> tuple[First, Second]: ...


@overload
def all_valid(
    first: Callable[[], First], second: Callable[[], Second], third: Callable[[], Third], /
) -> tuple[First, Second, Third]: ...


@overload
def all_valid(
    first: Callable[[], First],
    second: Callable[[], Second],
    third: Callable[[], Third],
    fourth: Callable[[], Fourth],
    /,
) -> tuple[First, Second, Third, Fourth]: ...


@overload
def all_valid(*checks: Callable[[], object]) -> tuple[Any, ...]: ...


def all_valid(*checks: Callable[[], object]) -> tuple[Any, ...]:
    """Return the result of every check of a field; raise one `BadRequest` that names all invalid fields.

    The refusal of one field alone is raised as it is, with its own code.
    """
    results: list[object] = []
    problems: list[FieldError] = []
    refusals: list[BadRequest] = []
    for check in checks:
        try:
            results.append(check())
        except BadRequest as refusal:
            problems += refusal.details
            refusals.append(refusal)
    assert len(problems) >= len(refusals), "the refusal of a check names no field"
    if len(refusals) == 1:
        raise refusals[0]
    if problems:
        raise BadRequest.of_fields(problems)
    return tuple(results)


def all_checked(given: Mapping[str, Any], checks: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    """Return the given fields, each as its check returns it, or as it is without a check.

    Raise one `BadRequest` that names all invalid fields.
    """
    checked = [name for name in given if name in checks]
    values = all_valid(*(partial(checks[name], given[name]) for name in checked))
    return {**given, **dict(zip(checked, values, strict=True))}


class SsoRequired(Refusal):
    """The user's organization requires its own sign-in.

    `connection_id` is set where the user signs in to a service in the context of this organization as its customer.
    """

    code = ErrorCode.SSO_REQUIRED
    default_message = (
        "Your organization requires its own sign-in. Enter your email address on the sign-in page, and continue with"
        " your organization there."
    )

    def __init__(self, connection_id: UUID | None = None) -> None:
        super().__init__()
        self.connection_id = connection_id
