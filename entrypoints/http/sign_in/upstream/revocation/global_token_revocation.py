"""Global token revocation: the provider of a connection ends what a person holds in its organization."""

from typing import Annotated, Any, cast
from uuid import UUID

import msgspec

from core.errors import BadRequest, UnsupportedMediaType
from core.rate_limits import RateLimit
from core.sign_in.upstream.revocation import global_token_revocation
from core.sign_in.upstream.revocation.global_token_revocation import TOKEN_TYPE, RevocationToken, RevocationUnauthorized
from entrypoints.http.sign_in.upstream.connections import upstream_providers
from entrypoints.shared.sign_in.upstream.keys_of_issuers import verified_by_issuer
from entrypoints.shared.sign_in.upstream.own_addresses import revocation_address
from entrypoints.web.input.decoding import decode_body
from entrypoints.web.serving.admission.admitting import provider_token
from entrypoints.web.serving.admission.credentials import signed_by_connection
from entrypoints.web.serving.answering.answers import JSON
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("upstream connections", upstream_providers.routes.description)


class RevocationRequest(msgspec.Struct, kw_only=True):
    """The person whose sessions are to end."""

    sub_id: Annotated[
        dict[str, Any],
        msgspec.Meta(
            description="The person (RFC 9493): `iss_sub` with the `iss` and `sub` by which they sign in, or `email`.",
            examples=[{"format": "iss_sub", "iss": "https://idp.example.com", "sub": "00u1a2b3c4"}],
        ),
    ]


@routes.post(
    "/auth/upstream/:connection_id/global-token-revocation",
    status=204,
    has_group_limit=False,
    refuses=(RevocationUnauthorized, BadRequest),
)
@signed_by_connection(RevocationRequest)
async def revoke_globally(call: Call, connection_id: UUID) -> None:
    """End every session, refresh token and grant of a person in the organization of the connection.

    For its identity provider, such as Okta by Universal Logout. The bearer token is a JWT of the connection's issuer
    (of its `token_issuer` for SAML), signed by one of its published keys, with the `typ`
    `global-token-revocation+jwt`: `aud` is this address alone, `jti` is used once, and it is valid for at most five
    minutes. The person is named as `iss_sub`, or as `email` in a verified mail domain of the organization. The answer
    is the same when there is no such person. A connection has 60 requests a minute.
    """
    token = await _verified(call, connection_id)
    call.limit_connection(connection_id, RateLimit.GLOBAL_REVOCATION)
    body = cast("bytes", await call.request.get_data(as_text=False))
    if body and call.request.mimetype not in {"", JSON}:
        raise UnsupportedMediaType
    subject = global_token_revocation.subject_of(decode_body(body, RevocationRequest).sub_id)
    await call.transact(global_token_revocation.revoke, connection_id, token, subject)


async def _verified(call: Call, connection_id: UUID) -> RevocationToken:
    """Return the token of the header; raise `RevocationUnauthorized`, or `RateLimitExceeded` after many of these."""
    try:
        return await _judged(call, connection_id, provider_token(call))
    except RevocationUnauthorized:
        call.limit(RateLimit.SIGN_IN_GROUP)
        raise


async def _judged(call: Call, connection_id: UUID, text: str) -> RevocationToken:
    installation = call.installation
    known = await call.read(global_token_revocation.find_issuer, connection_id)
    # Its keys are asked for only where the token is said to be signed with them.
    if installation.signatures.named_issuer(text) != known.issuer:
        raise RevocationUnauthorized().because("other_issuer")
    claims = await verified_by_issuer(call, known.organization_id, known.issuer, text, kind=TOKEN_TYPE)
    if claims is None:
        raise RevocationUnauthorized().because("wrong_signature")
    audience = revocation_address(installation.settings.base_url, connection_id)
    return global_token_revocation.judged(claims, issuer=known.issuer, audience=audience, at=installation.clock())
