"""Who may call a route: one decorator for each kind of credential, which reads as the route's policy.

A decorator says *who* somebody must be; what that person may do is decided by the use case, in its transaction. A
route without one of these is refused when the house is built, so forgetting it cannot open a door.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar
from uuid import UUID

from core.errors import TokenExpired, TokenInvalid, Unauthorized
from core.organizations import access
from core.sessions import callers
from core.sessions.tokens import SigningKeyUnknown, TokenKind
from core.sign_in.second_factor import PreAuthExpired, PreAuthInvalid

if TYPE_CHECKING:
    from core.organizations.access import Operation
    from entrypoints.web.calls import Call

Handler = TypeVar("Handler", bound=Callable[..., Any])

_BEARER: Final = "bearer"
# What the interface calls the organization in a path, in either of its documents.
SLUG_PARAMETERS: Final = ("org_slug", "slug")


class CredentialKind(Enum):
    """A kind of credential, as it is declared in the reference: name, OpenAPI security scheme, and where it is sent."""

    NONE = ("public", None)
    ACCESS_TOKEN = (
        "user",
        {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": "An access token."},
    )
    PRE_AUTH_TOKEN = (
        "pre-auth token",
        {"type": "http", "scheme": "bearer", "description": "The short-lived token between password and MFA code."},
    )
    API_KEY = (
        "api-key",
        {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": "A service's API key."},
    )
    SCIM_TOKEN = (
        "scim-token",
        {"type": "http", "scheme": "bearer", "description": "An organization's provisioning token, scim_live_…"},
    )
    SIGNATURE = (
        "signature",
        {"type": "apiKey", "in": "header", "name": "billing-signature", "description": "The sender's signature."},
    )

    def __init__(self, label: str, security_scheme: dict[str, str] | None) -> None:
        self.label = label
        self.security_scheme = security_scheme


Admission: TypeAlias = "Callable[[Call], Awaitable[None]]"
# Given the parts of the path that are words, such as the organization's slug.
LastWord: TypeAlias = "Callable[[Call, Mapping[str, str]], Awaitable[None]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Who may call: the credential, and what is checked of it before the use case runs.

    What somebody may do is decided by the use case, which is not reached when the input is wrong. `before_refusing` is
    awaited then, and may raise what the use case would have raised first, because who may not do something hears that
    before what is wrong with the input (decisions 1.6).
    """

    kind: CredentialKind
    admit: Admission
    before_refusing: LastWord | None = None
    # What a user must be allowed in the organization of the path, where the route has one.
    operation: Operation | None = None
    governs_platform: bool = False
    # What nobody may do who acts as somebody else.
    is_in_person: bool = False

    @property
    def label(self) -> str:
        """Say it in a few words, as the golden file does."""
        if self.governs_platform:
            return "platform owner"
        if self.is_in_person:
            return f"{self.kind.label} in person"
        return self.operation.takes if self.operation is not None else self.kind.label


def public(handler: Handler) -> Handler:
    """Anybody may call."""
    return _declared(handler, Who(kind=CredentialKind.NONE, admit=_admit_anybody))


def signed_in(handler: Handler) -> Handler:
    """Whoever brings a valid access token may call."""
    return _declared(
        handler,
        Who(kind=CredentialKind.ACCESS_TOKEN, admit=_admit_access_token, before_refusing=_require_live_session),
    )


def in_person(handler: Handler) -> Handler:
    """Whoever brings a valid access token of their own may call; the use case refuses who acts as somebody else."""
    return _declared(
        handler,
        Who(
            kind=CredentialKind.ACCESS_TOKEN,
            admit=_admit_access_token,
            before_refusing=_require_person,
            is_in_person=True,
        ),
    )


def in_organization(operation: Operation) -> Callable[[Handler], Handler]:
    """Whoever is allowed to do this in the organization of the path may call; the use case decides it by `enter`."""

    async def insist(call: Call, words: Mapping[str, str]) -> None:
        await call.read(access.authorize, words[next(name for name in SLUG_PARAMETERS if name in words)], operation)

    def declare(handler: Handler) -> Handler:
        return _declared(
            handler,
            Who(
                kind=CredentialKind.ACCESS_TOKEN,
                admit=_admit_access_token,
                before_refusing=insist,
                operation=operation,
            ),
        )

    return declare


def platform_owner(handler: Handler) -> Handler:
    """A platform owner may call; the use case decides it by `enter_platform`."""
    return _declared(
        handler,
        Who(
            kind=CredentialKind.ACCESS_TOKEN,
            admit=_admit_access_token,
            before_refusing=_require_platform_owner,
            governs_platform=True,
        ),
    )


def awaiting_second_factor(handler: Handler) -> Handler:
    """Whoever brings a pre-auth token may call; the handler looks for it in the body when it is not in the header."""
    return _declared(handler, Who(kind=CredentialKind.PRE_AUTH_TOKEN, admit=_admit_pre_auth_bearer))


def declared_who(handler: Callable[..., Any]) -> Who | None:
    """Give what was declared for a handler."""
    return getattr(handler, "__who__", None)


def bearer_value(authorization: str | None) -> str:
    """Give what follows `Bearer`; another scheme, or nothing, is nobody (decisions 1.10)."""
    scheme, _, value = (authorization or "").strip().partition(" ")
    if scheme.lower() != _BEARER or not value:
        raise Unauthorized
    return value.strip()


async def _admit_anybody(_call: Call) -> None:
    return


async def admit_pre_auth_token(call: Call, token: str | None) -> None:
    """Believe the token between the two factors of a sign-in, or refuse it in words that say what to do."""
    if token is None:
        raise Unauthorized("Sign in first: the pre-auth token is missing.")
    try:
        call.claims = await _verified(call, token, TokenKind.PRE_AUTH)
    except TokenExpired:
        raise PreAuthExpired from None
    except TokenInvalid:
        raise PreAuthInvalid from None


async def _admit_pre_auth_bearer(call: Call) -> None:
    authorization = call.request.headers.get("Authorization")
    if authorization is not None:
        await admit_pre_auth_token(call, bearer_value(authorization))


async def _admit_access_token(call: Call) -> None:
    claims = await _verified(call, bearer_value(call.request.headers.get("Authorization")), TokenKind.ACCESS)
    audience = claims["aud"]
    try:
        call.session_id = UUID(str(claims.get("sid")))
        # That the session is one with this service is checked where the session is loaded.
        call.client_id = UUID(audience) if audience != call.installation.settings.base_url else None
    except ValueError:
        raise TokenInvalid from None
    call.claims = claims


async def _require_platform_owner(call: Call, _words: Mapping[str, str]) -> None:
    await call.read(access.authorize_platform)


async def _require_person(call: Call, _words: Mapping[str, str]) -> None:
    await call.read(callers.require_in_person)


async def _require_live_session(call: Call, _words: Mapping[str, str]) -> None:
    await call.read(callers.require_caller)


async def _verified(call: Call, token: str, kind: TokenKind) -> Mapping[str, Any]:
    installation = call.installation
    try:
        return installation.tokens.verify(token, kind=kind, now=installation.clock())
    except SigningKeyUnknown:
        # Perhaps a replica rotated the keys a moment ago.
        await installation.key_refresh.catch_up()
        return installation.tokens.verify(token, kind=kind, now=installation.clock())


def _declared(handler: Handler, who: Who) -> Handler:
    assert declared_who(handler) is None, f"{handler.__name__} declares twice who may call it"
    handler.__who__ = who  # pyright: ignore[reportFunctionMemberAccess] - the declaration travels with the function
    return handler
