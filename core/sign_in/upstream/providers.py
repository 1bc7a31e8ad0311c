"""The three external providers, and what an exchange with any provider takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from core.accounts.providers import Provider
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.sign_in.upstream.flows import ProviderClient

EXTERNAL: Final = (Provider.CODEHOST, Provider.WEBSUITE, Provider.OFFICESUITE)
# What is asked for at least: the account, and its address with the provider's word on it.
SCOPES: Final[Mapping[Provider, tuple[str, ...]]] = {
    Provider.CODEHOST: ("read:user", "user:email"),
    Provider.WEBSUITE: ("openid", "email", "profile"),
    Provider.OFFICESUITE: ("openid", "email", "profile", "offline_access"),
}
# Without it websuite issues no refresh token.
PARAMETERS: Final[Mapping[Provider, Mapping[str, str]]] = {Provider.WEBSUITE: {"access_type": "offline"}}


def external_of(text: str) -> Provider | None:
    """Return the external provider with that name; None when there is none."""
    return next((provider for provider in EXTERNAL if provider == text), None)


def linked_of(text: str) -> Provider | None:
    """Return the provider with that name by which identities are linked; None when there is none."""
    return Provider.UPSTREAM if text == Provider.UPSTREAM else external_of(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalProvider:
    """Where an external provider is reached, and the platform's own credentials there, if it has some."""

    provider: Provider
    authorize_url: str
    token_url: str
    userinfo_url: str
    client: ProviderClient | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeExchange:
    """What a browser has brought back from a provider, and what it had taken along."""

    client: ProviderClient
    code: Secret
    verifier: Secret
    nonce: Secret
    redirect_uri: str = field(default="")
