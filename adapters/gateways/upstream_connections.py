"""The port `ConnectionGateway`: OpenID providers that organizations name, and those that the operator has added.

The client of HTTP reaches only addresses that are allowed (`outbound.py`). The discovery document of a provider and its
keys are remembered for some minutes. For a provider that the operator has added, the organization is None.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any, Final, cast, final
from urllib.parse import quote_plus, urlsplit
from uuid import UUID

import httpx
import trio

from adapters.crypto.json_web_signatures import remembered_keys, verified_claims
from adapters.gateways.upstream_requests import TOO_SLOW, UpstreamRequests, failed, time_limit
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.sign_in.upstream import discovery, provider_answers, provider_problems
from core.sign_in.upstream.discovery import Discovered
from core.sign_in.upstream.flows import ProviderClient
from core.sign_in.upstream.provider_problems import ProviderProblem
from core.sign_in.upstream.providers import CodeExchange, OpenIdAnswer
from core.wording import Wording
from ports.clock import Clock

# The answer of a provider takes two of these at most, and its page comes within 10 seconds.
EXCHANGE_SECONDS_MAX: Final = 4.5
REMEMBERED_SECONDS: Final = 300.0
ISSUERS_MAX: Final = 1000
TOKEN_CHARACTERS_MAX: Final = 64 * 1024
_OK: Final = 200
# A scope that every application may request from Microsoft Entra in its own name, by the host of the cloud. Entra
# refuses an invalid code before it checks the secret.
_OWN_SCOPES: Final[Mapping[str, str]] = {
    "login.microsoftonline.com": "https://graph.microsoft.com/.default",
    "login.microsoftonline.us": "https://graph.microsoft.us/.default",
    "login.partner.microsoftonline.cn": "https://microsoftgraph.chinacloudapi.cn/.default",
}


@dataclass(frozen=True, slots=True)
class _CachedConfiguration:
    discovered: Discovered
    keys: tuple[Mapping[str, str], ...]
    fetched_at_seconds: float


@final
class HttpConnectionGateway:
    """The port `ConnectionGateway`."""

    def __init__(self, requests: UpstreamRequests, *, clock: Clock, seconds_max: float = EXCHANGE_SECONDS_MAX) -> None:
        self._requests = requests
        self._clock = clock
        self._seconds_max = seconds_max
        # In the order in which they were fetched, so that the oldest is dropped.
        self._known: dict[str, _CachedConfiguration] = {}

    @property
    def remembered_count(self) -> int:
        """The number of remembered issuers."""
        return len(self._known)

    async def discover(self, organization_id: UUID | None, issuer: str, *, is_fresh: bool = False) -> Discovered:
        with time_limit(issuer, self._seconds_max, TOO_SLOW):
            return (await self._find(organization_id, issuer, is_fresh=is_fresh)).discovered

    async def identify(self, organization_id: UUID | None, issuer: str, exchange: CodeExchange) -> OpenIdAnswer:
        claims, answer = await self.exchange(organization_id, issuer, exchange)
        return OpenIdAnswer(claims=claims, id_token=Secret(answer["id_token"]))

    async def exchange(
        self, organization_id: UUID | None, issuer: str, exchange: CodeExchange
    ) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return the claims of a code as `identify` does, and the answer of the token endpoint."""
        with time_limit(issuer, self._seconds_max):
            return await self._exchange(organization_id, issuer, exchange)

    async def refresh(
        self, issuer: str, client: ProviderClient, refresh_token: Secret
    ) -> tuple[int, Mapping[str, Any]]:
        """Return the status and the answer of the token endpoint of an added provider to a refresh token."""
        with time_limit(issuer, self._seconds_max):
            found = (await self._find(None, issuer)).discovered
            form = {"grant_type": "refresh_token", "refresh_token": refresh_token.reveal()}
            return await self._post(None, found, client, form)

    async def try_credentials(
        self, organization_id: UUID | None, issuer: str, client: ProviderClient, *, redirect_uri: str
    ) -> ProviderProblem | None:
        with time_limit(issuer, self._seconds_max, TOO_SLOW):
            found = (await self._find(organization_id, issuer)).discovered
            form = {
                "grant_type": "authorization_code",
                "code": secrets.token_urlsafe(32),
                "redirect_uri": redirect_uri,
                "code_verifier": secrets.token_urlsafe(48),
            }
            problem = provider_problems.judge_credentials(*await self._post(organization_id, found, client, form))
            scope = _OWN_SCOPES.get(urlsplit(found.token_url).hostname or "")
            if scope is None or (problem is not None and problem.prevents):
                return problem
            form = {"grant_type": "client_credentials", "scope": scope}
            return provider_problems.judge_token(*await self._post(organization_id, found, client, form))

    async def _post(
        self, organization_id: UUID | None, found: Discovered, client: ProviderClient, form: Mapping[str, str]
    ) -> tuple[int, Mapping[str, Any]]:
        """Send a form to the token endpoint with our credentials, in the way that the provider takes them."""
        assert client.client_secret is not None, "a connection has no client secret"
        secret, auth = client.client_secret.reveal(), None
        if found.takes_basic:
            # Each is encoded as in a form first (RFC 6749, 2.3.1), or a colon in the id would begin the secret.
            auth = httpx.BasicAuth(quote_plus(client.client_id), quote_plus(secret))
        else:
            form = {**form, "client_id": client.client_id, "client_secret": secret}
        return await self._requests.post(organization_id, found.token_url, form, auth=auth)

    async def _exchange(
        self, organization_id: UUID | None, issuer: str, exchange: CodeExchange
    ) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        found = (await self._find(organization_id, issuer)).discovered
        client = exchange.client
        status, answer = await self._post(
            organization_id,
            found,
            client,
            {
                "grant_type": "authorization_code",
                "code": exchange.code.reveal(),
                "redirect_uri": exchange.redirect_uri,
                "code_verifier": exchange.verifier.reveal(),
            },
        )
        if status != _OK or "error" in answer:
            raise failed(found.token_url, provider_problems.judge_exchange(status, answer), status=status)
        claims = await self._verified(organization_id, issuer, answer.get("id_token"))
        provider_answers.require_valid_claims(
            claims, client_id=client.client_id, nonce=exchange.nonce.reveal(), at=self._clock(), issuer=issuer
        )
        user = await self._user(organization_id, found, answer, claims)
        # What names an address also says whether it is verified.
        own = {name: value for name, value in claims.items() if name != "email_verified" or "email" in claims}
        return {**user, **own}, answer

    async def _user(
        self, organization_id: UUID | None, found: Discovered, answer: Mapping[str, Any], claims: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Return the claims from the userinfo endpoint: the ID token may lack the address."""
        access_token = answer.get("access_token")
        if "email" in claims or found.userinfo_url is None or not isinstance(access_token, str):
            return {}
        status, user = await self._requests.get(organization_id, found.userinfo_url, access_token)
        if status != _OK or not isinstance(user, dict):
            raise failed(found.userinfo_url, "no_user", status=status)
        described = cast("dict[str, Any]", user)
        if described.get("sub") != claims.get("sub"):
            raise failed(found.userinfo_url, "other_subject")
        return described

    async def _verified(self, organization_id: UUID | None, issuer: str, id_token: Any) -> Mapping[str, Any]:
        if not isinstance(id_token, str):
            raise failed(issuer, "no_id_token")
        known = await self._find(organization_id, issuer)
        claims = verified_claims(id_token, known.keys, characters_max=TOKEN_CHARACTERS_MAX)
        if claims is None and known.fetched_at_seconds < trio.current_time() - 1:
            # The provider may have a new key.
            fresh = await self._find(organization_id, issuer, is_fresh=True)
            claims = verified_claims(id_token, fresh.keys, characters_max=TOKEN_CHARACTERS_MAX)
        if claims is None:
            raise failed(issuer, "wrong_signature")
        return claims

    async def _find(self, organization_id: UUID | None, issuer: str, *, is_fresh: bool = False) -> _CachedConfiguration:
        known = self._known.get(issuer)
        now = trio.current_time()
        if known is not None and not is_fresh and now - known.fetched_at_seconds < REMEMBERED_SECONDS:
            return known
        status, body = await self._requests.get_bytes(organization_id, issuer.removesuffix("/") + discovery.PATH)
        found = discovery.read(issuer, _decoded(body) if status == _OK else None)
        status, keys = await self._requests.get(organization_id, found.jwks_uri)
        if status != _OK or not isinstance(keys, dict):
            raise failed(
                found.jwks_uri,
                "no_keys",
                Wording("There are no keys at %(address)s.", address=found.jwks_uri),
                status=status,
            )
        usable = tuple(remembered_keys(cast("dict[str, Any]", keys).get("keys")))
        self._known.pop(issuer, None)
        self._forget_before(now - REMEMBERED_SECONDS)
        self._known[issuer] = known = _CachedConfiguration(found, usable, now)
        return known

    def _forget_before(self, seconds: float) -> None:
        """Drop what was fetched before, and the oldest of more than may be remembered."""
        while self._known:
            oldest = next(iter(self._known))
            if len(self._known) < ISSUERS_MAX and self._known[oldest].fetched_at_seconds >= seconds:
                return
            del self._known[oldest]


def _decoded(body: bytes) -> Any:
    """Return the JSON of a discovery document; the bytes, which are no object, where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body
