"""The settings of the providers that sign users in, and the rules that concern more than one of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from core.accounts.providers import Provider, title_of
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.sign_in.upstream.flows import ProviderClient
from core.sign_in.upstream.providers import EXTERNAL, SCOPES, ExternalProvider
from entrypoints import added_providers
from entrypoints.added_providers import AddedProviders
from entrypoints.setting_kinds import PREFIX, SWITCH, WEB_ADDRESS, Kind, described, token

_ID: Final = re.compile(r"[\x21-\x7e]{1,255}")


def _client_id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise ValueError
    return text


_CLIENT_ID: Final = Kind(_client_id, "the id that the provider has given, of 1 to 255 characters")
_NAMES: Final = ("client_id", "client_secret", "authorize_url", "token_url", "userinfo_url")
_CLIENT_SECRET: Final = Kind(token, "the secret that the provider has given, of 8 to 500 characters")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamSettings:
    """The platform's credentials at the external providers, their addresses, and the settings of SAML."""

    codehost_client_id: str | None = field(
        default=None,
        metadata=described(
            "CODEHOST_CLIENT_ID",
            "The client id of the platform at codehost (GitHub); without one its sign-in is not offered.",
            _CLIENT_ID,
        ),
    )
    codehost_client_secret: Secret | None = field(
        default=None,
        metadata=described(
            "CODEHOST_CLIENT_SECRET",
            "The client secret of the platform at codehost (GitHub); it goes together with the client id.",
            _CLIENT_SECRET,
        ),
    )
    codehost_authorize_url: str = field(
        default="https://github.com/login/oauth/authorize",
        metadata=described(
            "CODEHOST_AUTHORIZE_URL",
            "The address to which codehost (GitHub) sign-ins are sent.",
            WEB_ADDRESS,
        ),
    )
    codehost_token_url: str = field(
        default="https://github.com/login/oauth/access_token",
        metadata=described(
            "CODEHOST_TOKEN_URL",
            "The address at which codehost (GitHub) exchanges codes for tokens.",
            WEB_ADDRESS,
        ),
    )
    codehost_userinfo_url: str = field(
        default="https://api.github.com/user",
        metadata=described(
            "CODEHOST_USERINFO_URL",
            "The address at which codehost (GitHub) describes the user of a token.",
            WEB_ADDRESS,
        ),
    )
    websuite_client_id: str | None = field(
        default=None,
        metadata=described(
            "WEBSUITE_CLIENT_ID",
            "The client id of the platform at websuite (Google); without one its sign-in is not offered.",
            _CLIENT_ID,
        ),
    )
    websuite_client_secret: Secret | None = field(
        default=None,
        metadata=described(
            "WEBSUITE_CLIENT_SECRET",
            "The client secret of the platform at websuite (Google); it goes together with the client id.",
            _CLIENT_SECRET,
        ),
    )
    websuite_authorize_url: str = field(
        default="https://accounts.google.com/o/oauth2/v2/auth",
        metadata=described(
            "WEBSUITE_AUTHORIZE_URL",
            "The address to which websuite (Google) sign-ins are sent.",
            WEB_ADDRESS,
        ),
    )
    websuite_token_url: str = field(
        default="https://oauth2.googleapis.com/token",
        metadata=described(
            "WEBSUITE_TOKEN_URL",
            "The address at which websuite (Google) exchanges codes for tokens.",
            WEB_ADDRESS,
        ),
    )
    websuite_userinfo_url: str = field(
        default="https://openidconnect.googleapis.com/v1/userinfo",
        metadata=described(
            "WEBSUITE_USERINFO_URL",
            "The address at which websuite (Google) describes the user of a token.",
            WEB_ADDRESS,
        ),
    )
    officesuite_client_id: str | None = field(
        default=None,
        metadata=described(
            "OFFICESUITE_CLIENT_ID",
            "The client id of the platform at officesuite (Microsoft); without one its sign-in is not offered.",
            _CLIENT_ID,
        ),
    )
    officesuite_client_secret: Secret | None = field(
        default=None,
        metadata=described(
            "OFFICESUITE_CLIENT_SECRET",
            "The client secret of the platform at officesuite (Microsoft); it goes together with the client id.",
            _CLIENT_SECRET,
        ),
    )
    officesuite_authorize_url: str = field(
        default="https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
        metadata=described(
            "OFFICESUITE_AUTHORIZE_URL",
            "The address to which officesuite (Microsoft) sign-ins are sent.",
            WEB_ADDRESS,
        ),
    )
    officesuite_token_url: str = field(
        default="https://login.microsoftonline.com/common/oauth2/v2.0/token",
        metadata=described(
            "OFFICESUITE_TOKEN_URL",
            "The address at which officesuite (Microsoft) exchanges codes for tokens.",
            WEB_ADDRESS,
        ),
    )
    officesuite_userinfo_url: str = field(
        default="https://graph.microsoft.com/oidc/userinfo",
        metadata=described(
            "OFFICESUITE_USERINFO_URL",
            "The address at which officesuite (Microsoft) describes the user of a token.",
            WEB_ADDRESS,
        ),
    )
    providers_file: AddedProviders | None = field(
        default=None,
        metadata=described(
            "PROVIDERS_FILE",
            "Further providers by OpenID Connect, with which users of the platform sign in. It is read at the start.",
            Kind(added_providers.read, "the path of a TOML file with a table for each provider"),
        ),
    )
    saml_aes_cbc: bool = field(
        default=False,
        metadata=described(
            "SAML_AES_CBC",
            "Accept assertions that SAML identity providers have encrypted by AES-CBC, which protects no integrity.",
            SWITCH,
        ),
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
