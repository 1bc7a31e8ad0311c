"""Who may call a route: one decorator for each kind of caller, which reads as the route's policy.

A decorator declares *who* the caller must be; the use case decides in its transaction what the caller may do. A route
without a decorator stops Gatehouse from starting, so a forgotten one cannot expose a route.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast
from urllib.parse import parse_qs
from uuid import UUID

from core.billing import signatures
from core.errors import BadRequest, TokenExpired, TokenInvalid, Unauthorized
from core.openid.refusals import TokenBound
from core.organizations import access
from core.rate_limits import RateLimit
from core.scim import tokens as scim_tokens
from core.scim.tokens import ScimTokenInvalid
from core.services import access as service_access
from core.services import api_keys
from core.services.api_keys import ApiKeyInvalid
from core.sessions import callers
from core.sessions.tokens import TokenKind
from core.sign_in.second_factor import PreAuthExpired, PreAuthInvalid
from entrypoints.web.serving import browsers, dpop
from entrypoints.web.serving.access_policies import AccessPolicy, CredentialKind
from entrypoints.web.serving.browsers import SignInFirst
from entrypoints.web.serving.keys import KEY_HEADER, or_key
from entrypoints.web.serving.verified_tokens import verified_access_token, verified_token

if TYPE_CHECKING:
    from core.organizations.access import Operation
    from core.services.api_keys import Permission
    from entrypoints.web.serving.access_policies import RefusalObserver
    from entrypoints.web.serving.calls import Call

Handler = TypeVar("Handler", bound=Callable[..., Any])

_BEARER: Final = "bearer"
_DPOP: Final = "dpop"
_FORM: Final = "application/x-www-form-urlencoded"
_SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
# The names of the path parameters of the organization and of the service in the interface documents.
SLUG_PARAMETERS: Final = ("org_slug", "slug")
SERVICE_PARAMETER: Final = "service_slug"


def public(handler: Handler) -> Handler:
    """Let every caller in, with or without a credential."""
    return _declared(handler, AccessPolicy(kind=CredentialKind.NONE, admit=_admit_every_caller))


def signed_in(handler: Handler) -> Handler:
    """Require a valid access token."""
    return _declared(
        handler,
        AccessPolicy(
            kind=CredentialKind.ACCESS_TOKEN, admit=_admit_access_token, before_refusing=_require_live_session
        ),
    )


def signed_in_or_in_form(handler: Handler) -> Handler:
    """Require a valid access token, in the header or in the form of a POST."""
    return _declared(
        handler,
        AccessPolicy(
            kind=CredentialKind.ACCESS_TOKEN,
            admit=_admit_access_token_or_form,
            before_refusing=_require_live_session,
        ),
    )


def in_browser(handler: Handler) -> Handler:
    """Require a browser session: `call.browser`; without one the answer leads to the sign-in and back."""
    return _declared(
        handler,
        AccessPolicy(kind=CredentialKind.BROWSER_SESSION, admit=_admit_browser, has_protected_forms=True),
    )


def in_browser_or_not(handler: Handler) -> Handler:
    """Let every browser in; `call.browser` is its session, or None."""
    return _declared(
        handler, AccessPolicy(kind=CredentialKind.NONE, admit=_admit_every_browser, has_protected_forms=True)
    )


def signed_in_or_browser(handler: Handler) -> Handler:
    """Require a valid access token, or without an `Authorization` header a browser session; only for a GET."""
    return _declared(
        handler,
        AccessPolicy(
            kind=CredentialKind.ACCESS_TOKEN,
            admit=_admit_access_token_or_browser,
            before_refusing=_require_live_session,
            takes_browser=True,
        ),
    )


def in_person(handler: Handler) -> Handler:
    """Require a valid access token; the use case refuses an impersonated session."""
    return _declared(
        handler,
        AccessPolicy(
            kind=CredentialKind.ACCESS_TOKEN,
            admit=_admit_access_token,
            before_refusing=_require_person,
            is_in_person=True,
        ),
    )


def account_wide(handler: Handler) -> Handler:
    """Require a valid access token; the use case refuses an impersonated session, and a service's token.

    The token of a service is not refused while the account belongs to the organization of the service alone.
    """
    return _declared(
        handler,
        AccessPolicy(
            kind=CredentialKind.ACCESS_TOKEN,
            admit=_admit_access_token,
            before_refusing=_require_whole_account,
            is_in_person=True,
            is_account_wide=True,
        ),
    )


def in_organization(operation: Operation, *, or_browser: bool = False) -> Callable[[Handler], Handler]:
    """Require an access token whose user may do this in the organization of the path, or a key of the organization.

    The use case decides it with `access.authorize`. With `or_browser`, a browser session will do, as for
    `signed_in_or_browser`.
    """

    async def require_operation(call: Call, words: Mapping[str, str]) -> None:
        await call.read(access.authorize, _slug(words), operation)

    def declare(handler: Handler) -> Handler:
        return _declared(
            handler,
            AccessPolicy(
                kind=CredentialKind.ACCESS_TOKEN,
                admit=or_key(_admit_access_token_or_browser if or_browser else _admit_access_token),
                before_refusing=require_operation,
                operation=operation,
                takes_browser=or_browser,
            ),
        )

    return declare


def on_service(operation: Operation) -> Callable[[Handler], Handler]:
    """Require an access token whose user may do this to the service of the path, by their role or by a grant.

    A key of the organization will do as well, as for `in_organization`.
    The use case decides it with `authorize` of `core.services.access`.
    """

    async def require_operation(call: Call, words: Mapping[str, str]) -> None:
        await call.read(service_access.authorize, _slug(words), words[SERVICE_PARAMETER], operation)

    def declare(handler: Handler) -> Handler:
        return _declared(
            handler,
            AccessPolicy(
                kind=CredentialKind.ACCESS_TOKEN,
                admit=or_key(_admit_access_token),
                before_refusing=require_operation,
                operation=operation,
                is_on_service=True,
            ),
        )

    return declare


def platform_owner(handler: Handler) -> Handler:
    """Require an access token of a platform owner; the use case decides it with `access.authorize_platform`."""
    return _declared(
        handler,
        AccessPolicy(
            kind=CredentialKind.ACCESS_TOKEN,
            admit=_admit_access_token,
            before_refusing=_require_platform_owner,
            governs_platform=True,
        ),
    )


def service_key(permission: Permission) -> Callable[[Handler], Handler]:
    """Require an API key with this permission; the use case decides it with `api_keys.authorize`."""

    async def require_permission(call: Call, _words: Mapping[str, str]) -> None:
        await call.read(api_keys.authorize, permission)

    def declare(handler: Handler) -> Handler:
        return _declared(
            handler,
            AccessPolicy(
                kind=CredentialKind.API_KEY,
                admit=_admit_api_key,
                before_refusing=require_permission,
                permission=permission,
            ),
        )

    return declare


def scim_token(when_refused: RefusalObserver) -> Callable[[Handler], Handler]:
    """Require a SCIM token; the use case decides with `tokens.authorize`, and refusals are observed."""

    def declare(handler: Handler) -> Handler:
        return _declared(
            handler,
            AccessPolicy(
                kind=CredentialKind.SCIM_TOKEN,
                admit=_admit_scim_token,
                before_refusing=_require_scim_token,
                when_refused=when_refused,
            ),
        )

    return declare


def awaiting_second_factor(handler: Handler) -> Handler:
    """Require a pre-auth token; the handler reads it from the body when it is not in the header."""
    return _declared(handler, AccessPolicy(kind=CredentialKind.PRE_AUTH_TOKEN, admit=_admit_pre_auth_bearer))


def signed_by_provider(body: Any) -> Callable[[Handler], Handler]:
    """Require a signature header of the payment provider; the handler verifies it over the body of this type."""

    def declare(handler: Handler) -> Handler:
        return _declared(handler, AccessPolicy(kind=CredentialKind.SIGNATURE, admit=_admit_signature, signed_body=body))

    return declare


def signature_header(call: Call) -> str | None:
    """Return the signature header, by the name of the interface or by the provider's own."""
    headers = call.request.headers
    return headers.get("Billing-Signature") or headers.get("Stripe-Signature")


def declared_policy(handler: Callable[..., Any]) -> AccessPolicy | None:
    """Return what was declared for a handler, or None."""
    return getattr(handler, "__who__", None)


def _access_token(authorization: str | None) -> tuple[str, bool]:
    """Return an access token, and whether it is sent with a proof of possession; raise `Unauthorized` without one."""
    scheme, _, value = (authorization or "").strip().partition(" ")
    if scheme.lower() == _DPOP and value:
        return value.strip(), True
    return bearer_value(authorization), False


def bearer_value(authorization: str | None) -> str:
    """Return what follows `Bearer`; raise `Unauthorized` when there is no such value (decisions 1.10)."""
    scheme, _, value = (authorization or "").strip().partition(" ")
    if scheme.lower() != _BEARER or not value:
        raise Unauthorized
    return value.strip()


def _authorization(call: Call) -> str | None:
    """Return the header, None without one; refuse two, of which a proxy may have checked the other (RFC 9110, 5.3)."""
    values = call.request.headers.getlist("Authorization")
    if len(values) > 1:
        raise BadRequest("The request has two Authorization headers. Send one.")
    return values[0] if values else None


async def _admit_every_caller(_call: Call) -> None:
    return


async def admit_pre_auth_token(call: Call, token: str | None) -> None:
    """Verify the token between the two factors of a sign-in.

    Raise `Unauthorized` without one, `PreAuthExpired` or `PreAuthInvalid`.
    """
    if token is None:
        raise Unauthorized("Sign in first: the pre-auth token is missing.").because("no_preauth_token")
    try:
        call.claims = await verified_token(call, token, TokenKind.PRE_AUTH)
    except TokenExpired:
        raise PreAuthExpired().because("preauth_token_expired") from None
    except TokenInvalid:
        raise PreAuthInvalid().because("preauth_token_invalid") from None


async def admit_if_signed_in(call: Call) -> None:
    """Verify the access token of a request to a public route, if it has one; an invalid one is refused as elsewhere."""
    if "Authorization" in call.request.headers:
        await _admit_access_token(call)


async def _admit_browser(call: Call) -> None:
    await _admit_every_browser(call)
    if call.browser is None:
        raise SignInFirst(await browsers.sign_in_address(call, browsers.present_target(call)))


async def _admit_every_browser(call: Call) -> None:
    if call.request.method not in _SAFE_METHODS:
        browsers.require_own_site(call)
    await browsers.find_session(call)


async def _admit_access_token_or_browser(call: Call) -> None:
    if "Authorization" in call.request.headers:
        await _admit_access_token(call)
        return
    await browsers.find_session(call)
    if call.browser is None:
        if "text/html" not in call.request.headers.get("Accept", ""):
            raise Unauthorized
        raise SignInFirst(await browsers.sign_in_address(call, browsers.present_target(call)))


async def _admit_pre_auth_bearer(call: Call) -> None:
    authorization = _authorization(call)
    if authorization is not None:
        await admit_pre_auth_token(call, bearer_value(authorization))


async def _admit_signature(call: Call) -> None:
    signatures.parse(signature_header(call))


async def _admit_access_token(call: Call) -> None:
    await _admit_token(call, *_access_token(_authorization(call)))


async def _admit_access_token_or_form(call: Call) -> None:
    """Take the token from the header, or as `access_token` from a form (RFC 6750, 2.2); refuse it at both places."""
    authorization = _authorization(call)
    if call.request.mimetype != _FORM:
        await _admit_access_token(call)
        return
    data = cast("bytes", await call.request.get_data(as_text=False))
    fields = parse_qs(data.decode("utf-8", "replace"))
    sent = fields.get("access_token", [])
    if not sent:
        await _admit_access_token(call)
    elif len(sent) > 1 or authorization is not None:
        raise BadRequest("The request has more than one access token. Send one.")
    else:
        await _admit_token(call, sent[0], has_proof=False)


async def _admit_token(call: Call, token: str, has_proof: bool) -> None:  # noqa: FBT001 - of a pair
    claims = await verified_access_token(call, token)
    # A token that is bound to a key needs the proof of that key, and no other token may look as if it were bound.
    if "cnf" in claims and not has_proof:
        raise TokenBound(call.installation.signatures.algorithms)
    if has_proof and "cnf" not in claims:
        raise TokenInvalid
    if has_proof:
        proof = await dpop.require_proof(call, token, claims)
        call.proof_algorithm = proof.algorithm
    audience = claims["aud"]
    try:
        call.session_id = UUID(str(claims.get("sid")))
        # Loading the session checks that it belongs to this service.
        call.client_id = UUID(audience) if audience != call.installation.settings.base_url else None
    except ValueError:
        raise TokenInvalid from None
    call.claims = claims


def _slug(words: Mapping[str, str]) -> str:
    return words[next(name for name in SLUG_PARAMETERS if name in words)]


async def _admit_api_key(call: Call) -> None:
    key = call.request.headers.get(KEY_HEADER)
    if key is None:
        raise ApiKeyInvalid
    call.api_key = api_keys.presented(key)
    call.limit_key(call.api_key.token_hash, RateLimit.API_KEY)


async def _admit_scim_token(call: Call) -> None:
    try:
        token = bearer_value(_authorization(call))
    except Unauthorized:
        raise ScimTokenInvalid from None
    call.scim_token = scim_tokens.presented(token)
    call.limit_key(call.scim_token.token_hash, RateLimit.SCIM_TOKEN)


async def _require_scim_token(call: Call, _words: Mapping[str, str]) -> None:
    await call.step(scim_tokens.authorize)


async def _require_platform_owner(call: Call, _words: Mapping[str, str]) -> None:
    await call.read(access.authorize_platform)


async def _require_person(call: Call, _words: Mapping[str, str]) -> None:
    await call.read(callers.require_in_person)


async def _require_whole_account(call: Call, _words: Mapping[str, str]) -> None:
    await call.read(callers.require_whole_account)


async def _require_live_session(call: Call, _words: Mapping[str, str]) -> None:
    await call.read(callers.require_caller)


def _declared(handler: Handler, who: AccessPolicy) -> Handler:
    assert declared_policy(handler) is None, f"{handler.__name__} has two declarations of who may call it"
    handler.__who__ = who  # pyright: ignore[reportFunctionMemberAccess] - the declaration travels with the function
    return handler
