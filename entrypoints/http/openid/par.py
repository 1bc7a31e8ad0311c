"""Pushed authorization requests (RFC 9126): the backend of a service sends the parameters, the browser a reference."""

from core.openid import requests
from core.openid.refusals import (
    NonceRequired,
    ProofInvalid,
    RequestObjectUnsupported,
    ResponseTypeUnsupported,
    TargetInvalid,
)
from entrypoints.http.openid.client_authentication import (
    PAR,
    ClientFields,
    note_refusal,
    presented_client,
    transact_limited,
)
from entrypoints.http.openid.tokens import CLIENT_REFUSALS
from entrypoints.shared.openid.authorization_fields import AuthorizationFields
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import presenting_client
from entrypoints.web.serving.admission.dpop import presented_proof
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.answering import oauth
from entrypoints.web.serving.answering.oauth import OauthError
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("OpenID Connect", "Authorization requests that are pushed beforehand.", oauth.refused, OauthError)


class PushedAuthorizationRequest(AuthorizationFields, kw_only=True):
    """The parameters of an authorization request, and what authenticates the client."""

    client_secret: str | None = None
    client_assertion_type: str | None = None
    client_assertion: str | None = None


class PushedRequestReference(SecretBody, kw_only=True):
    """What the browser brings instead of the parameters: good once, for a minute."""

    request_uri: str
    expires_in: int


@routes.post(
    PAR,
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
@presenting_client(note_refusal)
async def push_request(call: Call, body: PushedAuthorizationRequest) -> PushedRequestReference:
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
    return PushedRequestReference(request_uri=request_uri, expires_in=int(requests.PUSHED_LIFETIME.total_seconds()))
