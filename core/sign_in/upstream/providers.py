"""The external providers, three documented and others added, and the data of an exchange with any provider.

An added provider speaks OpenID Connect, and is known by its issuer: the stable id of an account begins with it, so a
provider that later gets the name of another one opens none of its accounts. Stored data may name providers that the
operator has removed again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from core.accounts.sign_in_methods import Provider
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.sign_in.upstream.flows import ProviderClient
from core.tables import PartialTable

EXTERNAL: Final = (Provider.CODEHOST, Provider.WEBSUITE, Provider.OFFICESUITE)
# The least scopes: for the account, and its address with the provider's word on it.
SCOPES: Final[PartialTable[Provider, tuple[str, ...]]] = PartialTable(
    {
        Provider.CODEHOST: ("read:user", "user:email"),
        Provider.WEBSUITE: ("openid", "email", "profile"),
        Provider.OFFICESUITE: ("openid", "email", "profile", "offline_access"),
    }
)
# Without it websuite issues no refresh token.
PARAMETERS: Final[PartialTable[Provider, Mapping[str, str]]] = PartialTable(
    {Provider.WEBSUITE: {"access_type": "offline"}}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalProvider:
    """Where an external provider is reached, and the platform's own credentials there, if it has some.

    An added provider has an issuer, which says where its endpoints are; `trusts_email` is whether its word on an
    address counts.
    """

    provider: Provider
    title: str
    scopes: Sequence[str]
    authorize_url: str = ""
    token_url: str = ""
    userinfo_url: str = ""
    issuer: str | None = None
    trusts_email: bool = False
    client: ProviderClient | None = None

    def subject_of(self, sub: str) -> str:
        """Return the stable id of an account, from the provider's own id of it."""
        # An issuer has no fragment (OpenID Connect Discovery, 3), so each id has one issuer.
        return sub if self.issuer is None else f"{self.issuer}#{sub}"

    def knows(self, subject: str) -> bool:
        """Return whether a stable id belongs to this provider, and not to another one that had its name before."""
        return self.issuer is None or subject.startswith(self.subject_of(""))


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIdAnswer:
    """What an OpenID provider has exchanged a code for: the claims of its user, and the ID token as it was signed."""

    claims: Mapping[str, Any]
    id_token: Secret = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeExchange:
    """What a browser has brought back from a provider, and what it had taken along."""

    client: ProviderClient
    code: Secret
    verifier: Secret
    nonce: Secret
    redirect_uri: str = field(default="")


# The scopes for an added provider, unless its table says otherwise.
ADDED_SCOPES: Final = ("openid", "profile", "email")
# The methods by which no identity is linked.
_WITHOUT_IDENTITIES: Final = frozenset({Provider.PASSWORD, Provider.PASSKEY, Provider.MAGIC_LINK, Provider.SAML})


def linked_of(text: str) -> Provider | None:
    """Return the provider with that name by which identities may be linked, even a removed one; None for any other."""
    try:
        provider = Provider(text)
    except ValueError:
        return None
    return None if provider in _WITHOUT_IDENTITIES else provider


def signs_in(external: Mapping[Provider, ExternalProvider], provider: Provider, subject: str) -> bool:
    """Return whether an identity can sign its user in: its provider was neither removed nor replaced since."""
    found = external.get(provider)
    return provider is Provider.UPSTREAM or (found is not None and found.knows(subject))
