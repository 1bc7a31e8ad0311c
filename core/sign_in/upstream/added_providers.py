"""Providers by OpenID Connect that the operator has added to the documented ones.

Such a provider is known by its issuer: the stable id of an account begins with it, so a provider that later gets the
name of another one opens none of its accounts. Stored data may name providers that were removed again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from core.accounts.providers import Provider
from core.sign_in.upstream.providers import ExternalProvider

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
