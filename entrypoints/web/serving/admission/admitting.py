"""What a request proves its caller by, and whether that is valid: a token, a key, the session of a browser.

Which of them a route takes is declared by the decorators in `credentials.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast
from urllib.parse import urlsplit
from uuid import UUID

import msgspec

from core.billing import signatures
from core.errors import BadRequest, TokenExpired, TokenInvalid, Unauthorized
from core.hosts import under
from core.openid.refusals import TokenBound
from core.organizations import key_callers
from core.organizations.key_callers import KeyOpensNothingHere, OrganizationKeyInvalid
from core.organizations.link_callers import SetupVisit
from core.organizations.settings import domain
from core.rate_limits import RateLimit
from core.scim import tokens as scim_tokens
from core.scim.tokens import ScimTokenInvalid
from core.services import api_keys
from core.services.api_keys import ApiKeyInvalid
from core.sessions.tokens import IssuedElsewhere, SigningKeyUnknown, TokenKind
from core.sign_in.second_factor import PreAuthExpired, PreAuthInvalid
from core.sign_in.upstream.revocation.global_token_revocation import RevocationUnauthorized
from entrypoints.web.input.decoding import decode_query
from entrypoints.web.serving.admission import browsers, dpop, impersonating
from entrypoints.web.serving.admission.access_policies import Admission, CredentialKind
from entrypoints.web.serving.admission.browsers import SignInFirst
from entrypoints.web.serving.admission.hosts import host_name
from entrypoints.web.serving.calls import Call

KEY_HEADER: Final = "X-Api-Key"
# At routes that take these, the key of an organization is no credential.
_OTHERS: Final = frozenset({CredentialKind.ACCESS_TOKEN, CredentialKind.API_KEY, CredentialKind.SCIM_TOKEN})


def or_key(admit: Admission) -> Admission:
    """Return an admission that takes a key of an organization too, in a request without an `Authorization` header.

    In that header it takes the access token that a workload got for a key. It also does so where no key may call: then
    `access.authorize` refuses.
    """

    async def admit_or_key(call: Call) -> None:
        key = call.request.headers.get(KEY_HEADER)
        if key is None or "Authorization" in call.request.headers:
            call.takes_key = True
            await admit(call)
            return
        _present(call, key)

    return admit_or_key


async def explained(call: Call, kind: CredentialKind, refusal: Unauthorized) -> Unauthorized:
    """Return the refusal of a request, or what tells the holder of a valid key that no key opens the route."""
    key = call.request.headers.get(KEY_HEADER)
    is_used = call.organization_credential is not None or "Authorization" in call.request.headers
    if key is None or is_used or kind not in _OTHERS or not key_callers.presented(key).prefix:
        return refusal
    _present(call, key)
    try:
        await call.read(key_callers.require_none)
    except KeyOpensNothingHere as closed:
        return closed
    except OrganizationKeyInvalid:
        pass
    return refusal


def _present(call: Call, key: str) -> None:
    call.organization_credential = key_callers.presented(key)
    call.limit_key(call.organization_credential.token_hash, RateLimit.ORGANIZATION_KEY)


async def verified_access_token(call: Call, token: str) -> Mapping[str, Any]:
    """Return the claims of an access token; raise `TokenExpired` or `TokenInvalid`.

    Under the base URL, a token that was issued under the custom domain of an organization counts for that organization.
    """
    try:
        return await verified_token(call, token, TokenKind.ACCESS, host=call.host_name)
    except IssuedElsewhere as elsewhere:
        if call.custom_host is not None or not await _is_of_custom_host(call, elsewhere.claims):
            raise
        return elsewhere.claims


async def verified_token(call: Call, token: str, kind: TokenKind, *, host: str | None = None) -> Mapping[str, Any]:
    """Return the claims of a token that was issued under a custom host, or under the base URL for None."""
    installation = call.installation
    try:
        return installation.tokens.verify(token, kind=kind, now=installation.clock(), host=host)
    except SigningKeyUnknown:
        # Another replica may have rotated the keys a moment ago.
        await installation.key_refresh.catch_up()
        return installation.tokens.verify(token, kind=kind, now=installation.clock(), host=host)


async def _is_of_custom_host(call: Call, claims: Mapping[str, Any]) -> bool:
    """Return whether the issuer is a custom domain that is in force, of the organization that the token names."""
    issuer: str = claims["iss"]
    host = await call.read(domain.host, host_name(urlsplit(issuer).netloc))
    if host is None or issuer != under(host.name, call.installation.settings.base_url):
        return False
    return claims.get("org") == host.organization_slug


_BEARER: Final = "bearer"
_DPOP: Final = "dpop"
_FORM: Final = "application/x-www-form-urlencoded"
_SAFE_METHODS: Final = frozenset({"GET", "HEAD"})


class _TokenForm(msgspec.Struct, kw_only=True):
    """A form that may carry an access token."""

    access_token: list[str] = []


async def admit_every_caller(_call: Call) -> None:
    """Take every request."""
    return


async def admit_access_token(call: Call) -> None:
    """Verify the access token in the header."""
    await _admit_token(call, *_access_token(_authorization(call)))


async def admit_access_token_or_form(call: Call) -> None:
    """Take the token from the header, or as `access_token` from a form (RFC 6750, 2.2); refuse it at both places."""
    authorization = _authorization(call)
    if call.request.mimetype != _FORM:
        await admit_access_token(call)
        return
    data = cast("bytes", await call.request.get_data(as_text=False))
    sent = [token for token in decode_query(data, _TokenForm).access_token if token]
    if not sent:
        await admit_access_token(call)
    elif len(sent) > 1 or authorization is not None:
        raise BadRequest("The request has more than one access token. Send one.")
    else:
        await _admit_token(call, sent[0], has_proof=False)


async def admit_if_signed_in(call: Call) -> None:
    """Verify the access token of a request to a public route, if it has one; an invalid one is refused as elsewhere."""
    if "Authorization" in call.request.headers:
        await admit_access_token(call)


async def admit_access_token_or_browser(call: Call) -> None:
    """Verify the access token, or find the session of a browser; raise `Unauthorized` or `SignInFirst` without both."""
    if "Authorization" in call.request.headers:
        await admit_access_token(call)
        return
    await browsers.find_session(call)
    await impersonating.enter(call)
    if call.browser is None:
        if "text/html" not in call.request.headers.get("Accept", ""):
            raise Unauthorized
        raise SignInFirst(await browsers.sign_in_address(call, browsers.present_target(call)))


async def admit_browser(call: Call) -> None:
    """Find the session of a browser; raise `SignInFirst` without one."""
    await admit_every_browser(call)
    if call.browser is None:
        raise SignInFirst(await browsers.sign_in_address(call, browsers.present_target(call)))


async def admit_every_browser(call: Call) -> None:
    """Find the session of a browser or of the user as which it acts, if it has one; refuse forms of other sites."""
    await _admit_itself(call)
    await impersonating.enter(call)


async def admit_own_browser(call: Call) -> None:
    """Find the session of a browser, whether it acts as another user or not; raise `SignInFirst` without one."""
    await _admit_itself(call)
    if call.browser is None:
        raise SignInFirst


async def _admit_itself(call: Call) -> None:
    if call.request.method not in _SAFE_METHODS:
        browsers.require_own_site(call)
    await browsers.find_session(call)


async def admit_pre_auth_bearer(call: Call) -> None:
    """Verify the token between the two factors, if it is in the header."""
    authorization = _authorization(call)
    if authorization is not None:
        await admit_pre_auth_token(call, bearer_value(authorization))


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


async def admit_api_key(call: Call) -> None:
    """Read the API key of a service; raise `ApiKeyInvalid` without one."""
    key = call.request.headers.get(KEY_HEADER)
    if key is None:
        raise ApiKeyInvalid
    call.api_key = api_keys.presented(key)
    call.limit_key(call.api_key.token_hash, RateLimit.API_KEY)


async def admit_scim_token(call: Call) -> None:
    """Read the SCIM token; raise `ScimTokenInvalid` without one."""
    try:
        token = bearer_value(_authorization(call))
    except Unauthorized:
        raise ScimTokenInvalid from None
    call.scim_token = scim_tokens.presented(token)
    call.limit_key(call.scim_token.token_hash, RateLimit.SCIM_TOKEN)


async def admit_setup_visit(call: Call) -> None:
    """Read the cookie of a setup link; what takes its holder refuses a request without a valid one."""
    call.organization_credential = SetupVisit(cookie=browsers.setup_cookie(call))


async def admit_signature(call: Call) -> None:
    """Read the signature of the payment provider; the handler verifies it over the body."""
    signatures.parse(signature_header(call))


async def admit_provider_token(call: Call) -> None:
    """Require a token of a connection's provider in the header; the handler verifies it."""
    provider_token(call)


def provider_token(call: Call) -> str:
    """Return the one token of the header; raise `RevocationUnauthorized` without it."""
    values = call.request.headers.getlist("Authorization")
    try:
        return bearer_value(values[0] if len(values) == 1 else None)
    except Unauthorized:
        raise RevocationUnauthorized().because("no_token") from None


def signature_header(call: Call) -> str | None:
    """Return the signature header, by the name of the interface or by the provider's own."""
    headers = call.request.headers
    return headers.get("Billing-Signature") or headers.get("Stripe-Signature")


def bearer_value(authorization: str | None) -> str:
    """Return what follows `Bearer`; raise `Unauthorized` when there is no such value."""
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


def _access_token(authorization: str | None) -> tuple[str, bool]:
    """Return an access token, and whether it is sent with a proof of possession; raise `Unauthorized` without one."""
    scheme, _, value = (authorization or "").strip().partition(" ")
    if scheme.lower() == _DPOP and value:
        return value.strip(), True
    return bearer_value(authorization), False


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
    key = key_callers.presented_token(claims)
    if key is not None and audience == call.installation.settings.base_url:
        if not call.takes_key:
            raise KeyOpensNothingHere
        call.organization_credential = key
        call.limit_key(key.token_hash, RateLimit.ORGANIZATION_KEY)
        return
    try:
        call.session_id = UUID(str(claims.get("sid")))
        # Loading the session checks that it belongs to this service.
        call.client_id = UUID(audience) if audience != call.installation.settings.base_url else None
    except ValueError:
        raise TokenInvalid from None
    call.claims = claims
