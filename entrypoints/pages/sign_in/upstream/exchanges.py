"""What the provider of an OpenID connection has answered, from the code to verified claims.

Sign-ins and trial sign-ins exchange a code here, so that a trial meets every rule that a sign-in meets.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from core.secrets import Secret
from core.sign_in.upstream import discovery
from core.sign_in.upstream.answers import UpstreamFailed
from core.sign_in.upstream.by_connection import OpenConnection
from core.sign_in.upstream.flows import Departure, ProviderClient
from core.sign_in.upstream.providers import CodeExchange
from entrypoints.pages.sign_in.upstream.providers import DECLINED, CallbackQuery, SignInDeclined
from entrypoints.shared.sign_in.upstream.upstream_providers import CALLBACK
from entrypoints.web.serving.calls import Call


class ConnectionCallbackQuery(CallbackQuery, kw_only=True):
    """What the provider of a connection answers."""

    iss: Annotated[str, msgspec.Meta(description="The issuer that answers (RFC 9207).")] = ""


def callback_address(call: Call) -> str:
    """Return the address to which the providers of connections send browsers back."""
    return f"{call.installation.settings.base_url}{CALLBACK}"


async def claims_of_answer(
    call: Call,
    query: ConnectionCallbackQuery,
    departure: Departure,
    target: OpenConnection,
    client: ProviderClient,
) -> Mapping[str, Any]:
    """Return the claims of an answer: of a verified ID token, and what the provider says of its user besides.

    Raise `SignInDeclined`, and `UpstreamFailed` for every answer that counts for nothing.
    """
    gateway, issuer = call.installation.upstream_connections, target.connection.issuer
    assert issuer is not None, "an OpenID connection has no issuer"
    discovery.require_own_answer(await gateway.discover(target.organization_id, issuer), query.iss)
    if query.error in DECLINED:
        raise SignInDeclined
    if query.error or not query.code:
        raise UpstreamFailed().because("no_code")
    exchange = CodeExchange(
        client=client,
        code=Secret(query.code),
        verifier=departure.verifier,
        nonce=departure.nonce,
        redirect_uri=callback_address(call),
    )
    return await gateway.identify(target.organization_id, issuer, exchange)
