"""The errors of each route, as the OpenAPI document and the reference show them.

Most follow from the declaration of the route: its credential, its operation, its input and its limits. A route declares
only what its use case refuses beyond that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from http import HTTPStatus
from itertools import groupby
from typing import Final

from core.errors import ErrorCode
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.organizations import OrganizationStatus
from entrypoints.web.describing.schemas import Schema, Schemas
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.answering.answers import Error
from entrypoints.web.serving.routes import Route

_TOKEN_REFUSALS: Final = (ErrorCode.UNAUTHORIZED, ErrorCode.TOKEN_EXPIRED, ErrorCode.JWT_ERROR)
_KEY_REFUSALS: Final = (
    ErrorCode.UNAUTHORIZED,
    ErrorCode.FORBIDDEN,
    ErrorCode.ORGANIZATION_NOT_ACTIVE,
    ErrorCode.RATE_LIMIT_EXCEEDED,
)
CREDENTIAL_REFUSALS: Final[dict[CredentialKind, tuple[ErrorCode, ...]]] = {
    CredentialKind.NONE: (),
    CredentialKind.ACCESS_TOKEN: _TOKEN_REFUSALS,
    CredentialKind.PRE_AUTH_TOKEN: _TOKEN_REFUSALS,
    CredentialKind.API_KEY: _KEY_REFUSALS,
    CredentialKind.ORGANIZATION_KEY: _KEY_REFUSALS,
    CredentialKind.BROWSER_SESSION: (ErrorCode.UNAUTHORIZED, ErrorCode.FORBIDDEN, ErrorCode.RATE_LIMIT_EXCEEDED),
    CredentialKind.SCIM_TOKEN: (
        ErrorCode.UNAUTHORIZED,
        ErrorCode.ORGANIZATION_NOT_ACTIVE,
        ErrorCode.RATE_LIMIT_EXCEEDED,
    ),
    CredentialKind.PROVIDER_TOKEN: (ErrorCode.UNAUTHORIZED, ErrorCode.RATE_LIMIT_EXCEEDED),
    CredentialKind.SIGNATURE: (ErrorCode.UNAUTHORIZED,),
}
_BODY_REFUSALS: Final = (
    ErrorCode.BAD_REQUEST,
    ErrorCode.REQUEST_TIMEOUT,
    ErrorCode.PAYLOAD_TOO_LARGE,
    ErrorCode.UNSUPPORTED_MEDIA_TYPE,
)
# The errors that any request may end in.
_FAILURES: Final = (ErrorCode.INTERNAL_SERVER_ERROR, ErrorCode.DATABASE_ERROR, ErrorCode.SERVICE_UNAVAILABLE)
# The errors of requests that no correct client sends, whatever the route: they are described once, in the introduction.
ALWAYS_POSSIBLE: Final = frozenset({*_BODY_REFUSALS, ErrorCode.METHOD_NOT_ALLOWED})

# The names of the bodies whose codes have a name of their own; others are named after their codes.
_NAMES: Final[dict[tuple[ErrorCode, ...], str]] = {
    (ErrorCode.BAD_REQUEST,): "InputError",
    _TOKEN_REFUSALS: "AuthenticationError",
    (ErrorCode.FORBIDDEN, ErrorCode.ORGANIZATION_NOT_ACTIVE): "AccessError",
    (ErrorCode.INTERNAL_SERVER_ERROR, ErrorCode.DATABASE_ERROR): "ServerError",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalDescription:
    """An error code that a route may refuse with, and the messages of the route's own refusals with this code."""

    code: ErrorCode
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorGroup:
    """The error codes of one status of a route, which have one response."""

    status: int
    codes: tuple[ErrorCode, ...]

    @property
    def name(self) -> str:
        """The name of the schema of the body."""
        return _NAMES.get(self.codes) or "Or".join(_camel(code) for code in self.codes).removesuffix("Error") + "Error"

    @property
    def is_temporary(self) -> bool:
        """Whether the response says when to try again."""
        return self.status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}


def refusals(route: Route) -> list[RefusalDescription]:
    """List every error code that the route may refuse with, ordered by status."""
    codes = {*_derived_codes(route), *(refusal.code for refusal in route.refuses)}
    return [
        RefusalDescription(
            code=code,
            messages=tuple(dict.fromkeys(refusal.default_message for refusal in route.refuses if refusal.code is code)),
        )
        for code in sorted(ErrorCode, key=lambda code: code.status)
        if code in codes
    ]


@cache
def operations_by_code(routes: tuple[Route, ...]) -> Mapping[ErrorCode, Mapping[Route, RefusalDescription]]:
    """Return the operations for programs that may refuse with each code; for a code of no operation it is empty."""
    found: dict[ErrorCode, dict[Route, RefusalDescription]] = {code: {} for code in ErrorCode}
    for route in routes:
        if not route.is_page:
            for refusal in refusals(route):
                found[refusal.code][route] = refusal
    return found


def error_groups(route: Route) -> list[ErrorGroup]:
    """List the errors of a route by their status."""
    return [
        ErrorGroup(status=status, codes=tuple(described.code for described in group))
        for status, group in groupby(refusals(route), key=lambda described: described.code.status)
    ]


def error_schema(group: ErrorGroup, schemas: Schemas) -> Schema:
    """Return the schema of the body with these codes: the schema of every error, with fewer codes."""
    error = schemas.resolved(schemas.of(Error))
    properties = {name: schema for name, schema in error["properties"].items() if name != "details"}
    properties["error_code"] = properties["error_code"] | {"enum": [code.name for code in group.codes]}
    if ErrorCode.BAD_REQUEST in group.codes:
        properties["details"] = error["properties"]["details"]
    return error | {"description": meanings(group), "properties": properties}


def meanings(group: ErrorGroup) -> str:
    """Describe the codes of a response."""
    if len(group.codes) == 1:
        return group.codes[0].meaning
    return "\n".join(f"- `{code.name}`: {code.meaning}" for code in group.codes)


def all_codes() -> Schema:
    """Return the schema of an error code that may be any."""
    return {"type": "string", "enum": [code.name for code in ErrorCode]}


def _derived_codes(route: Route) -> Iterator[ErrorCode]:
    who = route.who
    yield from CREDENTIAL_REFUSALS[who.kind]
    if who.operation is not None and who.kind is not CredentialKind.BROWSER_SESSION:
        # Also where no key may call, which is the answer then.
        yield from CREDENTIAL_REFUSALS[CredentialKind.ORGANIZATION_KEY]
    yield from _FAILURES
    if route.sent is not None:
        yield from _BODY_REFUSALS
    if route.query is not None:
        yield ErrorCode.BAD_REQUEST
    if route.path_parameters:
        yield ErrorCode.NOT_FOUND
    # An access token may name an organization that its user no longer belongs to.
    if who.kind is CredentialKind.ACCESS_TOKEN:
        yield ErrorCode.FORBIDDEN
    # A form may not be ours, and the browser may have acted as another user, or still do.
    # A page that opens once may not be loaded in advance.
    if who.has_protected_forms or route.shows_secret:
        yield ErrorCode.FORBIDDEN
    if who.operation is not None and who.operation.statuses != frozenset(OrganizationStatus):
        yield ErrorCode.ORGANIZATION_NOT_ACTIVE
    # The organization may require its own sign-in.
    if who.operation not in {None, Operation.ORGANIZATION_LEAVE}:
        yield ErrorCode.SSO_REQUIRED
    # A user has a limit for all requests together, and a browser may be sent to the sign-in only so often.
    if route.limits or who.kind is CredentialKind.ACCESS_TOKEN or who.has_protected_forms:
        yield ErrorCode.RATE_LIMIT_EXCEEDED


def _camel(code: ErrorCode) -> str:
    return code.name.title().replace("_", "")
