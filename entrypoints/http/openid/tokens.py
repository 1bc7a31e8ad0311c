"""The token endpoint, and what clients ask and end about their tokens."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from core.errors import OrganizationNotActive, RateLimitExceeded, TokenExpired, TokenInvalid
from core.openid import device, introspection, token_grants
from core.openid.client_troubles import NONE, PRIVATE_KEY_JWT
from core.openid.clients import PresentedClient
from core.openid.dpop import DpopProof
from core.openid.introspection import IntrospectedToken
from core.openid.refusals import (
    AccessDenied,
    AuthorizationPending,
    ClientInvalid,
    ClientUnauthorized,
    DeviceCodeExpired,
    GrantInvalid,
    GrantTypeUnsupported,
    NonceRequired,
    ProofInvalid,
    RequestInvalid,
    ScopeInvalid,
    SlowDown,
    TargetInvalid,
    WayUnauthorized,
)
from core.openid.token_grants import ClientToken, IssuedTokens, PresentedCode
from core.openid.workloads import WorkloadToken
from core.rate_limits import RateLimit
from core.services.problems import ProblemKind
from core.sessions import refresh as sessions_refresh
from core.sessions.refresh import TokenReused
from core.sessions.security_profiles import SignatureAlgorithm
from core.sessions.tokens import TokenKind
from entrypoints.http.openid.client_authentication import (
    ClientFields,
    name_client,
    note_refusal,
    presented_client,
    step_limited,
    transact_limited,
)
from entrypoints.http.openid.workloads import exchange_assertion, is_of_workload
from entrypoints.shared.openid.authorization_fields import is_own_resource
from entrypoints.shared.openid.id_tokens import signed_id_token
from entrypoints.shared.sessions.token_answers import signed
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.admitting import verified_access_token
from entrypoints.web.serving.admission.credentials import presenting_client
from entrypoints.web.serving.admission.dpop import presented_proof
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.answering import oauth
from entrypoints.web.serving.answering.oauth import OauthError
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "OpenID Connect",
    "Gatehouse is an OpenID provider and an OAuth authorization server. Services are its clients; any certified library"
    " configures itself from `/.well-known/openid-configuration`.",
    oauth.refused,
    OauthError,
)

AUTHORIZATION_CODE = "authorization_code"
REFRESH_TOKEN = "refresh_token"  # noqa: S105 - the name of a grant, not a secret
CLIENT_CREDENTIALS = "client_credentials"
GRANT_TYPES = (AUTHORIZATION_CODE, REFRESH_TOKEN, CLIENT_CREDENTIALS, device.GRANT_TYPE)
# Within the request, the limit of the client or of the address applies.
CLIENT_REFUSALS = (ClientInvalid, RequestInvalid, RateLimitExceeded)
TOKEN_REFUSALS = (
    *CLIENT_REFUSALS,
    GrantInvalid,
    GrantTypeUnsupported,
    ClientUnauthorized,
    WayUnauthorized,
    ScopeInvalid,
    TargetInvalid,
    ProofInvalid,
    NonceRequired,
    AuthorizationPending,
    SlowDown,
    DeviceCodeExpired,
    AccessDenied,
    OrganizationNotActive,
)


class TokenRequest(ClientFields, kw_only=True):
    """A grant to exchange for tokens: a code, a refresh token, a device code, or the client's own credentials."""

    grant_type: str | None = None
    code: str | None = None
    redirect_uri: str | None = None
    code_verifier: str | None = None
    refresh_token: str | None = None
    device_code: str | None = None
    scope: str | None = None
    resource: str | None = None


class GrantedTokens(SecretBody, kw_only=True, omit_defaults=True):
    """The tokens of a grant. With the scope `openid` there is an ID token; a client itself gets no refresh token."""

    access_token: str
    token_type: str
    expires_in: int
    refresh_token: str | msgspec.UnsetType = msgspec.UNSET
    id_token: str | msgspec.UnsetType = msgspec.UNSET
    scope: str | msgspec.UnsetType = msgspec.UNSET


class OwnToken(ClientFields, kw_only=True):
    """A token of the client: an access token or a refresh token. The hint is not needed."""

    token: str | None = None
    token_type_hint: str | None = None


@routes.post("/auth/token", takes_form=True, allows_any_origin=True, has_group_limit=False, refuses=TOKEN_REFUSALS)
@on_custom_hosts
@presenting_client(note_refusal)
async def exchange(call: Call, body: TokenRequest) -> GrantedTokens:
    """Exchange a grant for tokens.

    Takes a form, as OAuth has it, or JSON. Confidential services authenticate: by Basic, by `client_secret`, or by
    `client_assertion` (`private_key_jwt`); a workload sends the token of its own platform there, with the grant
    `client_credentials`. With a `DPoP` header the tokens are bound to the key of the proof. A code
    or a refresh token that is used twice ends the session that it belongs to. The refresh tokens of a service with a
    `security_profile` stay the same.
    """
    grant_type = body.grant_type
    if grant_type is None and body.device_code is not None:
        grant_type = device.GRANT_TYPE
    call.grant_type = grant_type
    if grant_type not in GRANT_TYPES:
        name_client(call, body, NONE)
        missing = RequestInvalid("The grant_type is missing.")
        refusal = GrantTypeUnsupported() if grant_type is not None else missing
        raise refusal.about(ProblemKind.GRANT, grant_type, GRANT_TYPES)
    if is_own_resource(call, body.resource):
        body.resource = None
    proof = presented_proof(call)
    if grant_type == device.GRANT_TYPE:
        return _answer(call, await _poll(call, body, proof))
    if grant_type == CLIENT_CREDENTIALS and is_of_workload(call, body):
        name_client(call, body, PRIVATE_KEY_JWT)
        workload_token = await exchange_assertion(
            call, body, scope=body.scope or None, resource=body.resource, proof=proof
        )
        return _answer_workload(call, workload_token)
    presented = await presented_client(call, body)
    if grant_type == CLIENT_CREDENTIALS:
        token = await step_limited(
            call,
            token_grants.client_credentials,
            presented,
            scope=body.scope or None,
            resource=body.resource,
            proof=proof,
        )
        return _answer_client(call, token)
    if grant_type == REFRESH_TOKEN:
        return _answer(call, await _refresh(call, presented, body, proof))
    if body.code is None:
        raise RequestInvalid("The code is missing.")
    code = PresentedCode(
        code=body.code, redirect_uri=body.redirect_uri, code_verifier=body.code_verifier, resource=body.resource
    )
    return _answer(call, await transact_limited(call, token_grants.redeem_code, presented, code, proof))


@routes.post("/auth/introspect", takes_form=True, has_group_limit=False, refuses=(*CLIENT_REFUSALS, ClientUnauthorized))
@on_custom_hosts
@presenting_client(note_refusal)
async def introspect(call: Call, body: OwnToken) -> dict[str, Any]:
    """Tell a confidential service whether one of its tokens is valid, and what is in it (RFC 7662).

    For the token of another service, one that is over, and any other text the answer is `{"active": false}`.
    """
    presented = await presented_client(call, body)
    token = await _presented_token(call, body.token)
    return await step_limited(call, introspection.introspect, presented, token)


@routes.post("/auth/revoke", takes_form=True, allows_any_origin=True, has_group_limit=False, refuses=CLIENT_REFUSALS)
@on_custom_hosts
@presenting_client(note_refusal)
async def revoke(call: Call, body: OwnToken) -> None:
    """End a token of the service, with the session that it belongs to and all other tokens of it (RFC 7009).

    The answer is the same for any other text.
    """
    presented = await presented_client(call, body)
    await transact_limited(call, introspection.revoke, presented, await _presented_token(call, body.token))


async def _poll(call: Call, body: TokenRequest, proof: DpopProof | None) -> IssuedTokens:
    call.limit(RateLimit.DEVICE_FLOW)
    if body.device_code is None:
        raise RequestInvalid("The device_code is missing.")
    is_named = (
        body.client_id is not None or body.client_assertion is not None or "Authorization" in call.request.headers
    )
    presented = await presented_client(call, body) if is_named else None
    return await call.transact(device.poll, presented, body.device_code, proof)


async def _refresh(call: Call, presented: PresentedClient, body: TokenRequest, proof: DpopProof | None) -> IssuedTokens:
    if body.refresh_token is None:
        raise RequestInvalid("The refresh_token is missing.")
    outcome = await transact_limited(
        call, token_grants.refresh, presented, body.refresh_token, scope=body.scope, proof=proof
    )
    if isinstance(outcome, TokenReused):
        await call.transact(sessions_refresh.end_reused, outcome)
        raise GrantInvalid
    return outcome


async def _presented_token(call: Call, text: str | None) -> IntrospectedToken:
    if text is None:
        raise RequestInvalid("The token is missing.")
    try:
        return IntrospectedToken(text=text, claims=await verified_access_token(call, text))
    except (TokenExpired, TokenInvalid):
        return IntrospectedToken(text=text)


def _answer(call: Call, issued: IssuedTokens) -> GrantedTokens:
    grant = issued.grant
    tokens = signed(call, grant)
    answer = GrantedTokens(
        access_token=tokens.access_token,
        token_type="DPoP" if "cnf" in grant.claims else "Bearer",
        expires_in=tokens.expires_in,
        refresh_token=tokens.refresh_token,
    )
    if grant.client_grant is not None:
        answer.scope = " ".join(grant.client_grant.scopes)
        answer.id_token = signed_id_token(call, issued, tokens.access_token) or msgspec.UNSET
    return answer


def _answer_client(call: Call, token: ClientToken) -> GrantedTokens:
    claims = {**token.claims, "aud": token.audience or str(token.client_id)}
    return _answer_own(call, claims, token.signature_algorithm)


def _answer_workload(call: Call, token: WorkloadToken) -> GrantedTokens:
    claims = {**token.claims, "aud": token.audience or call.installation.settings.base_url}
    return _answer_own(call, claims, token.signature_algorithm, expires_at=token.expires_at)


def _answer_own(
    call: Call, claims: Mapping[str, Any], algorithm: SignatureAlgorithm | None, *, expires_at: datetime | None = None
) -> GrantedTokens:
    """Answer with a token that no person has, which ends at the latest at this moment, and a refresh token never.

    The algorithm is None for a token of Gatehouse's own.
    """
    installation = call.installation
    now, lifetime = installation.clock(), installation.settings.access_token_ttl
    if expires_at is not None:
        lifetime = min(lifetime, expires_at - now)
    access_token = installation.tokens.sign(
        claims,
        kind=TokenKind.ACCESS,
        lifetime=lifetime,
        now=now,
        host=call.host_name,
        algorithm=algorithm or installation.settings.token_signing,
    )
    installation.metrics.token_issued()
    return GrantedTokens(
        access_token=access_token,
        token_type="DPoP" if "cnf" in claims else "Bearer",
        expires_in=int(lifetime.total_seconds()),
        scope=claims.get("scope", msgspec.UNSET),
    )
