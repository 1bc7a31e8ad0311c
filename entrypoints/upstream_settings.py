"""The settings of the providers that sign users in, and the rules that concern more than one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.accounts.sign_in_methods import Provider, title_of
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.sign_in.upstream.flows import ProviderClient
from core.sign_in.upstream.providers import EXTERNAL, SCOPES, ExternalProvider
from entrypoints import added_providers
from entrypoints.added_providers import AddedProviders
from entrypoints.setting_kinds import PREFIX, SWITCH, WEB_ADDRESS, Kind, matching, setting, token

_CLIENT_ID: Final = Kind(matching(r"[\x21-\x7e]{1,255}"), "the id that the provider has given, of 1 to 255 characters")
_NAMES: Final = ("client_id", "client_secret", "authorize_url", "token_url", "userinfo_url")
_CLIENT_SECRET: Final = Kind(token, "the secret that the provider has given, of 8 to 500 characters")


def _client_id_at(provider: str) -> Any:
    return setting(
        f"The client id of the platform at {provider}; without one its sign-in is not offered.", _CLIENT_ID, None
    )


def _client_secret_at(provider: str) -> Any:
    sentence = f"The client secret of the platform at {provider}; it goes together with the client id."
    return setting(sentence, _CLIENT_SECRET, None)


def _authorize_url_of(provider: str, url: str) -> Any:
    return setting(f"The address to which {provider} sign-ins are sent.", WEB_ADDRESS, url)


def _token_url_of(provider: str, url: str) -> Any:
    return setting(f"The address at which {provider} exchanges codes for tokens.", WEB_ADDRESS, url)


def _userinfo_url_of(provider: str, url: str) -> Any:
    return setting(f"The address at which {provider} describes the user of a token.", WEB_ADDRESS, url)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamSettings:
    """The platform's credentials at the external providers, their addresses, and the settings of SAML."""

    codehost_client_id: str | None = _client_id_at("codehost (GitHub)")
    codehost_client_secret: Secret | None = _client_secret_at("codehost (GitHub)")
    codehost_authorize_url: str = _authorize_url_of("codehost (GitHub)", "https://github.com/login/oauth/authorize")
    codehost_token_url: str = _token_url_of("codehost (GitHub)", "https://github.com/login/oauth/access_token")
    codehost_userinfo_url: str = _userinfo_url_of("codehost (GitHub)", "https://api.github.com/user")
    websuite_client_id: str | None = _client_id_at("websuite (Google)")
    websuite_client_secret: Secret | None = _client_secret_at("websuite (Google)")
    websuite_authorize_url: str = _authorize_url_of("websuite (Google)", "https://accounts.google.com/o/oauth2/v2/auth")
    websuite_token_url: str = _token_url_of("websuite (Google)", "https://oauth2.googleapis.com/token")
    websuite_userinfo_url: str = _userinfo_url_of(
        "websuite (Google)", "https://openidconnect.googleapis.com/v1/userinfo"
    )
    officesuite_client_id: str | None = _client_id_at("officesuite (Microsoft)")
    officesuite_client_secret: Secret | None = _client_secret_at("officesuite (Microsoft)")
    officesuite_authorize_url: str = _authorize_url_of(
        "officesuite (Microsoft)", "https://login.microsoftonline.com/common/oauth2/v2.0/authorize"
    )
    officesuite_token_url: str = _token_url_of(
        "officesuite (Microsoft)", "https://login.microsoftonline.com/common/oauth2/v2.0/token"
    )
    officesuite_userinfo_url: str = _userinfo_url_of(
        "officesuite (Microsoft)", "https://graph.microsoft.com/oidc/userinfo"
    )
    providers_file: AddedProviders | None = setting(
        "Further providers by OpenID Connect, with which users of the platform sign in. It is read at the start.",
        Kind(added_providers.read, "the path of a TOML file with a table for each provider"),
        None,
    )
    saml_aes_cbc: bool = setting(
        "Accept assertions that SAML identity providers have encrypted by AES-CBC, which protects no integrity.",
        SWITCH,
        False,
    )


def external_providers(settings: UpstreamSettings) -> Mapping[Provider, ExternalProvider]:
    """Return the external providers with the platform's credentials there, the built-in ones first."""
    documented = {provider: _external(provider, settings) for provider in EXTERNAL}
    return documented | {one.provider: one for one in added_to(settings)}


def added_to(settings: UpstreamSettings) -> Sequence[ExternalProvider]:
    """Return the providers that the operator has added, in the order of the file."""
    return settings.providers_file.providers if settings.providers_file is not None else ()


def _external(provider: Provider, settings: UpstreamSettings) -> ExternalProvider:
    given = {name: getattr(settings, f"{provider}_{name}") for name in _NAMES}
    client_id, client_secret = given.pop("client_id"), given.pop("client_secret")
    client = ProviderClient(client_id=client_id, client_secret=client_secret) if client_id is not None else None
    return ExternalProvider(
        provider=provider, title=title_of(provider), scopes=SCOPES.get(provider, ()), client=client, **given
    )


def problem(settings: UpstreamSettings) -> str | None:
    """Return the line that says what is wrong with these settings; None when they are usable."""
    for provider in EXTERNAL:
        client_id = getattr(settings, f"{provider}_client_id")
        if (client_id is None) != (getattr(settings, f"{provider}_client_secret") is None):
            name = f"{PREFIX}{provider.upper()}_CLIENT"
            return f"{name}_ID and {name}_SECRET go together. Set both, or neither."
    return None
