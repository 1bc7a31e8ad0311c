"""The port `UpstreamGateway`: the external providers over HTTP; the added ones speak OpenID Connect."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast, final

from adapters.crypto.compact_form import decoded
from adapters.gateways import upstream_connections
from adapters.gateways.upstream_connections import HttpConnectionGateway
from adapters.gateways.upstream_requests import UpstreamRequests, failed, time_limit
from core.accounts.sign_in_methods import Provider
from core.secrets import Secret
from core.sign_in.identities import ProvenIdentity, ProviderTokens
from core.sign_in.upstream import discovery, provider_answers
from core.sign_in.upstream.flows import ProviderClient
from core.sign_in.upstream.providers import CodeExchange, ExternalProvider
from ports.clock import Clock

# For a sign-in with all its requests: a page answers within ten seconds.
EXCHANGE_SECONDS_MAX: Final = 8.0
_OK: Final = 200
# By these codes a provider says that a refresh token is no longer valid.
_ENDED: Final = frozenset({"invalid_grant", "bad_refresh_token", "interaction_required", "consent_required"})


@final
class HttpUpstreamGateway:
    """The port `UpstreamGateway`."""

    def __init__(
        self,
        requests: UpstreamRequests,
        *,
        clock: Clock,
        seconds_max: float = EXCHANGE_SECONDS_MAX,
        discovered_seconds_max: float = upstream_connections.EXCHANGE_SECONDS_MAX,
    ) -> None:
        self._seconds_max = seconds_max
        self._requests = requests
        self._clock = clock
        # Not shared with connections, so that no organization can influence the cached document of an issuer.
        self._added = HttpConnectionGateway(requests, clock=clock, seconds_max=discovered_seconds_max)

    async def authorize_url(self, provider: ExternalProvider) -> str:
        if provider.issuer is None:
            return provider.authorize_url
        return (await self._added.discover(None, provider.issuer)).authorize_url

    async def require_own_answer(self, provider: ExternalProvider, issuer: str) -> None:
        if provider.issuer is not None:
            discovery.require_own_answer(await self._added.discover(None, provider.issuer), issuer)

    async def identify(self, provider: ExternalProvider, exchange: CodeExchange) -> ProvenIdentity:
        if provider.issuer is not None:
            claims, answer = await self._added.exchange(None, provider.issuer, exchange)
            tokens = provider_answers.provider_tokens(answer, exchange.client.client_id, at=self._clock())
            return provider_answers.with_tokens(provider_answers.openid_identity(provider, claims), tokens)
        with time_limit(provider.token_url, self._seconds_max):
            return await self._identify(provider, exchange)

    async def refresh(
        self, provider: ExternalProvider, client: ProviderClient, refresh_token: Secret, scopes: Sequence[str]
    ) -> ProviderTokens | None:
        if provider.issuer is not None:
            status, answer = await self._added.refresh(provider.issuer, client, refresh_token)
        else:
            form = {"grant_type": "refresh_token", "refresh_token": refresh_token.reveal(), **_credentials(client)}
            if provider.provider is Provider.OFFICESUITE and scopes:
                form["scope"] = " ".join(scopes)
            with time_limit(provider.token_url, self._seconds_max):
                status, answer = await self._requests.post(None, provider.token_url, form)
        if answer.get("error") in _ENDED:
            return None
        _require_success(provider.issuer or provider.token_url, status, answer)
        return provider_answers.provider_tokens(answer, client.client_id, at=self._clock())

    async def _identify(self, provider: ExternalProvider, exchange: CodeExchange) -> ProvenIdentity:
        form = {
            "grant_type": "authorization_code",
            "code": exchange.code.reveal(),
            "redirect_uri": exchange.redirect_uri,
            "code_verifier": exchange.verifier.reveal(),
            **_credentials(exchange.client),
        }
        status, answer = await self._requests.post(None, provider.token_url, form)
        _require_success(provider.token_url, status, answer)
        tokens = provider_answers.provider_tokens(answer, exchange.client.client_id, at=self._clock())
        user = await self._read_object(provider.userinfo_url, tokens.access_token)
        if provider.provider is Provider.CODEHOST:
            emails = await self._emails(provider.userinfo_url, tokens.access_token)
            return provider_answers.with_tokens(provider_answers.codehost_identity(user, emails), tokens)
        claims = {**user, **self._claims(answer, user, exchange)}
        read = (
            provider_answers.websuite_identity
            if provider.provider is Provider.WEBSUITE
            else provider_answers.officesuite_identity
        )
        return provider_answers.with_tokens(read(claims), tokens)

    def _claims(self, answer: Mapping[str, Any], user: Mapping[str, Any], exchange: CodeExchange) -> Mapping[str, Any]:
        """Return the checked claims of the ID token, if there is one.

        It came from the token endpoint itself, whose certificate TLS has verified (OpenID Connect Core, 3.1.3.7).
        """
        id_token = answer.get("id_token")
        if id_token is None:
            return {}
        claims = _unverified_claims(id_token)
        provider_answers.require_valid_claims(
            claims, client_id=exchange.client.client_id, nonce=exchange.nonce.reveal(), at=self._clock()
        )
        if "sub" in user and user["sub"] != claims.get("sub"):
            raise provider_answers.UpstreamFailed().because("other_subject")
        return claims

    async def _emails(self, userinfo_url: str, access_token: Secret) -> Sequence[Any]:
        """Return the addresses of an account of codehost; empty when its user does not show them."""
        status, found = await self._requests.get(None, f"{userinfo_url}/emails", access_token.reveal())
        return cast("list[Any]", found) if status == _OK and isinstance(found, list) else []

    async def _read_object(self, url: str, access_token: Secret) -> Mapping[str, Any]:
        status, found = await self._requests.get(None, url, access_token.reveal())
        if status != _OK or not isinstance(found, dict):
            raise failed(url, "no_user", status=status)
        return cast("dict[str, Any]", found)


def _credentials(client: ProviderClient) -> dict[str, str]:
    credentials = {"client_id": client.client_id}
    if client.client_secret is not None:
        credentials["client_secret"] = client.client_secret.reveal()
    return credentials


def _require_success(url: str, status: int, answer: Mapping[str, Any]) -> None:
    """Raise `UpstreamFailed` for an error, with whatever status it is sent."""
    if status != _OK or "error" in answer:
        raise failed(url, "refused", status=status)


def _unverified_claims(id_token: Any) -> Mapping[str, Any]:
    try:
        _, payload, _ = str(id_token).split(".")
        claims = json.loads(decoded(payload))
    except (ValueError, RecursionError):
        claims = None
    if not isinstance(claims, dict):
        raise provider_answers.UpstreamFailed().because("no_id_token")
    return cast("dict[str, Any]", claims)
