"""The access token of the caller at a provider."""

from datetime import datetime
from typing import Final

import trio

from core.sign_in import provider_tokens
from core.sign_in.identities import IdentityUnknown, ProviderTokens
from core.sign_in.provider_tokens import ReauthRequired, Refreshing, TokenNotRefreshed
from core.sign_in.upstream.provider_answers import UpstreamFailed
from entrypoints.shared.sign_in.identities import external_of
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import in_person
from entrypoints.web.serving.calls import Call, shielded
from entrypoints.web.serving.routes import Routes

routes = Routes("identities", "Accounts at other providers that sign a user in.")

# A concurrent request refreshes the token; it is waited for as long as its provider may take.
WAIT_SECONDS_MAX: Final = 10.0
PAUSE_SECONDS: Final = 0.05


class ProviderToken(SecretBody, kw_only=True):
    """An access token that the provider has issued for the user."""

    provider: str
    access_token: str
    token_type: str
    expires_at: datetime | None
    scopes: list[str]


@routes.get("/api/provider-token/:provider", refuses=(IdentityUnknown, ReauthRequired, TokenNotRefreshed))
@in_person
async def show_provider_token(call: Call, provider: str) -> ProviderToken:
    """Show the user's access token at a provider; it is refreshed when it is about to expire."""
    with trio.move_on_after(WAIT_SECONDS_MAX):
        while True:
            found = await call.transact(provider_tokens.begin, external_of(call, provider))
            if isinstance(found, Refreshing):
                found = await _refreshed(call, found)
            if isinstance(found, ProviderTokens):
                return ProviderToken(
                    provider=provider,
                    access_token=found.access_token.reveal(),
                    token_type=found.token_type,
                    expires_at=found.expires_at,
                    scopes=list(found.scopes),
                )
            await trio.sleep(PAUSE_SECONDS)
    raise TokenNotRefreshed().because("refresh_under_way")


async def _refreshed(call: Call, refreshing: Refreshing) -> ProviderTokens:
    """Refresh a token that this request has claimed; what came back is stored although the client has hung up."""
    external_provider = call.installation.external_providers[refreshing.provider]
    try:
        fresh = await call.installation.upstream.refresh(
            external_provider, refreshing.client, refreshing.refresh_token, refreshing.scopes
        )
    except UpstreamFailed as failed:
        with shielded():
            await call.transact(provider_tokens.release, refreshing)
        raise TokenNotRefreshed().because(failed.reason) from None
    except trio.Cancelled:
        with shielded():
            await call.transact(provider_tokens.release, refreshing)
        raise
    with shielded():
        if fresh is None:
            await call.transact(provider_tokens.give_up, refreshing)
            raise ReauthRequired
        return await call.transact(provider_tokens.complete, refreshing, fresh)
