"""Pushed authorization requests (RFC 9126): the backend of a service sends the parameters, the browser a reference."""

from uuid import UUID

from core.openid import requests
from core.openid.refusals import (
    NonceRequired,
    ProofInvalid,
    RequestObjectUnsupported,
    ResponseTypeUnsupported,
    TargetInvalid,
)
from entrypoints.http.openid.client_authentication import ClientFields, presented_client, transact_limited
from entrypoints.http.openid.id_token_hints import hinted_claims
from entrypoints.http.openid.tokens import CLIENT_REFUSALS
from entrypoints.web import oauth
from entrypoints.web.calls import Call
from entrypoints.web.credentials import public
from entrypoints.web.dpop import presented_proof
from entrypoints.web.hidden import SecretBody
from entrypoints.web.hosts import on_custom_hosts
from entrypoints.web.oauth import OAuthFailure
from entrypoints.web.routes import Routes

routes = Routes("OpenID Connect", "Authorization requests that are pushed beforehand.", oauth.refused, OAuthFailure)


class AuthorizationFields(SecretBody, kw_only=True):
    """The parameters of an authorization request."""

    client_id: str | None = None
    response_type: str | None = None
    response_mode: str | None = None
    redirect_uri: str | None = None
    scope: str | None = None
    state: str | None = None
    nonce: str | None = None
    code_challenge: str | None = None
    code_challenge_method: str | None = None
    prompt: str | None = None
    max_age: str | None = None
    login_hint: str | None = None
    id_token_hint: str | None = None
    acr_values: str | None = None
    resource: str | None = None
    dpop_jkt: str | None = None
    request: str | None = None
    request_uri: str | None = None

    def given(self) -> dict[str, str]:
        """Return the parameters that are set; one without a value counts as left out (RFC 6749, 3.1)."""
        fields = {name: getattr(self, name) for name in AuthorizationFields.__struct_fields__}
        return {name: value for name, value in fields.items() if value}

    def judged(self, call: Call, client_id: UUID) -> dict[str, str]:
        """Return the same, with the user that an ID token of this client names in place of the token."""
        parameters = self.given()
        hint = hinted_claims(call, parameters.pop("id_token_hint", ""))
        if hint is not None and hint["aud"] == str(client_id):
            parameters[requests.HINTED_USER] = hint["sub"]
        return parameters


class PushedRequest(AuthorizationFields, kw_only=True):
    """The parameters of an authorization request, and what authenticates the client."""

    client_secret: str | None = None
    client_assertion_type: str | None = None
    client_assertion: str | None = None


class StoredReference(SecretBody, kw_only=True):
    """What the browser brings instead of the parameters: good once, for a minute."""

    request_uri: str
    expires_in: int


@routes.post(
    "/auth/par",
    status=201,
    takes_form=True,
    has_group_limit=False,
    refuses=(
        *CLIENT_REFUSALS,
        ResponseTypeUnsupported,
        RequestObjectUnsupported,
        TargetInvalid,
        ProofInvalid,
        NonceRequired,
    ),
)
@on_custom_hosts
@public
async def push_request(call: Call, body: PushedRequest) -> StoredReference:
    """Store the parameters of an authorization request.

    Then send the browser to `/auth/authorize` with the `client_id` and the `request_uri`, within a minute.
    """
    fields = ClientFields(
        client_id=body.client_id,
        client_secret=body.client_secret,
        client_assertion_type=body.client_assertion_type,
        client_assertion=body.client_assertion,
    )
    presented = await presented_client(call, fields)
    request_uri = await transact_limited(
        call, requests.push, presented, body.judged(call, presented.client_id), presented_proof(call)
    )
    return StoredReference(request_uri=request_uri, expires_in=int(requests.PUSHED_LIFETIME.total_seconds()))
