"""What the claims of tokens mean, in short words for those who connect an application."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from core.lazy_dataclasses import dataclass
from entrypoints.pages.frame.languages import marked

WORDS: Final = {
    "acr": marked("How strong the sign-in was: by one factor, or by two."),
    "amr": marked("How the user has signed in."),
    "at_hash": marked("Ties the ID token to its access token."),
    "aud": marked("The recipient of the token: the client id of this service."),
    "auth_time": marked("When the user has signed in, in seconds since 1970."),
    "client_id": marked("The service that has the token."),
    "email": marked("The address of the user. It can change, so do not use it as a key."),
    "email_verified": marked("Whether the user has proved the address."),
    "exp": marked("When the token expires, in seconds since 1970."),
    "family_name": marked("The family name, if it is known."),
    "features": marked("What the user's plan includes."),
    "given_name": marked("The given name, if it is known."),
    "iat": marked("When the token was issued, in seconds since 1970."),
    "iss": marked("Who has issued the token: the issuer of your settings."),
    "is_platform_owner": marked("The user is an owner of this platform."),
    "jti": marked("The id of this token."),
    "name": marked("What the user is called."),
    "nonce": marked("The value of the request, which shows that the answer belongs to it."),
    "org": marked("The slug of the organization."),
    "plan": marked("The plan of the user in this service."),
    "preferred_username": marked("What the user signs in with."),
    "role": marked("The role of the user in the organization."),
    "scope": marked("What the token allows."),
    "service": marked("The slug of the service."),
    "sid": marked("The session. A logout names it."),
    "sub": marked("The user. It never changes: use it as the key of the user."),
    "subscription_status": marked("Whether the user's plan is active."),
}
OTHER: Final = marked("Described in the documentation of tokens.")


@dataclass(frozen=True, slots=True)
class ShownClaim:
    """A claim with its value as text, and what it means."""

    name: str
    value: str
    about: str


def shown(claims: Mapping[str, Any]) -> list[ShownClaim]:
    """Return the claims in alphabetical order."""
    return [ShownClaim(name, _text(value), WORDS.get(name, OTHER)) for name, value in sorted(claims.items())]


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
