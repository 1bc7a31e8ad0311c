"""Security profiles: stricter rules of OAuth for a service, which its organization turns on.

`fapi2` is the FAPI 2.0 Security Profile. Here is what it means for the record of a service, for sessions and tokens.
What the endpoints of OAuth ask is in `core/openid/clients.py`. A session of such a service begins by a pushed
authorization request alone, and its tokens are bound to a key of the service.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, cast
from urllib.parse import urlsplit

from core.errors import BadRequest, FieldError, Forbidden, TokenInvalid

# The algorithms with which the service signs its assertions and proofs; no other is accepted.
CLIENT_ALGORITHMS: Final = frozenset({"ES256", "PS256"})


class SecurityProfile(StrEnum):
    """Which stricter rules hold for a service."""

    FAPI2 = "fapi2"


class OtherWayRefused(Forbidden):
    """The service has a security profile, and the sign-in did not begin with a request that it has pushed."""

    default_message = (
        "This application has to begin the sign-in itself. It pushes its requests beforehand, and no other request"
        " or sign-in is taken for it (unauthorized_client). Go to the application, and sign in there."
    )


def signature_algorithm(profile: SecurityProfile | None, chosen: str) -> SignatureAlgorithm:
    """Return what signs the tokens of a service: what its record names, and with a profile always ES256.

    Neither the client nor a token chooses.
    """
    return SignatureAlgorithm(chosen) if profile is None else SignatureAlgorithm.ES256


def has_client_secret(profile: SecurityProfile | None, *, is_confidential: bool) -> bool:
    """Return whether a service authenticates by a secret; with a profile it does so by its keys alone."""
    return is_confidential and profile is None


def require_pushed(profile: SecurityProfile | None, *, is_pushed: bool) -> None:
    """Raise `OtherWayRefused` when a service with a profile is to be signed in to in another way."""
    if profile is not None and not is_pushed:
        raise OtherWayRefused


def require_bound(profile: SecurityProfile | None, proof_algorithm: str | None) -> None:
    """Raise `TokenInvalid` when the access token of a service with a profile comes without an acceptable proof.

    The token was issued before the profile was turned on, or its key signs by an algorithm that the profile excludes.
    """
    if profile is not None and proof_algorithm not in CLIENT_ALGORITHMS:
        raise TokenInvalid


def require_record(
    profile: SecurityProfile | None,
    *,
    is_confidential: bool,
    redirect_uris: Sequence[str],
    jwks_uri: str | None,
    jwks: Mapping[str, Any] | None,
    allows_loopback: bool,
) -> None:
    """Raise `BadRequest`, which names all invalid fields, for what a service with a profile cannot register.

    `allows_loopback` is the development mode, where redirect URIs of loopback are taken without https.
    """
    if profile is None:
        return
    problems: list[FieldError] = []
    if not is_confidential:
        problems.append(
            FieldError(
                field="service_type", message="A service with a security profile is web or api: it authenticates."
            )
        )
    if not allows_loopback and any(urlsplit(uri).scheme != "https" for uri in redirect_uris):
        problems.append(
            FieldError(
                field="redirect_uris", message="The redirect URIs of a service with a security profile are https."
            )
        )
    if jwks is None and jwks_uri is None:
        problems.append(
            FieldError(
                field="jwks",
                message="A service with a security profile authenticates by its keys: set its jwks or jwks_uri.",
            )
        )
    if jwks is not None and not any(_is_usable(key) for key in _keys(jwks)):
        problems.append(
            FieldError(
                field="jwks",
                message="None of these keys can sign by ES256 or PS256: register one of P-256, or an RSA key.",
            )
        )
    if problems:
        raise BadRequest.of_fields(problems)


def _keys(jwks: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the keys of a set; one that is malformed has none, and is refused elsewhere."""
    keys = jwks.get("keys")
    for key in cast("list[Any]", keys) if isinstance(keys, list) else []:
        if isinstance(key, dict):
            yield cast("dict[str, Any]", key)


def _is_usable(key: Mapping[str, Any]) -> bool:
    is_of_kind = key.get("kty") == "RSA" or (key.get("kty"), key.get("crv")) == ("EC", "P-256")
    # The members of a key may be lists as well.
    return is_of_kind and key.get("alg", "ES256") in tuple(CLIENT_ALGORITHMS)


class SignatureAlgorithm(StrEnum):
    """The algorithm with which a key signs (RFC 7518, 3.1); a key signs with that one alone."""

    RS256 = "RS256"
    ES256 = "ES256"
