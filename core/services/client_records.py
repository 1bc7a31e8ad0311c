"""What a service registers as an OAuth client beside its redirect URIs: keys, audiences, addresses for logouts.

Gatehouse itself connects to `jwks_uri` and `backchannel_logout_uri`, so they follow the rules of outbound targets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, cast
from urllib.parse import urlsplit

from core.errors import BadRequest, all_valid
from core.lazy_dataclasses import dataclass
from core.outbound import URL_CHARACTERS_MAX, Network, checked_url
from core.wording import Wording

AUDIENCES_MAX: Final = 20
KEYS_MAX: Final = 20
KEY_MEMBERS_MAX: Final = 20
KEY_MEMBER_CHARACTERS_MAX: Final = 4000
# A tuple, because the value that is looked up may be of any type.
_KEY_TYPES: Final = ("RSA", "EC", "OKP")
# The members of private and symmetric keys (RFC 7518, 6).
_PRIVATE_MEMBERS: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What the installation allows of addresses: networks for targets, and the hosts of its own."""

    allowed_networks: Sequence[Network] = ()
    own_hosts: frozenset[str] = frozenset()

    @property
    def allows_loopback(self) -> bool:
        """Whether targets may be on the machine itself, as in development mode."""
        return any(network.is_loopback for network in self.allowed_networks)


def require_valid(
    outside: Outside,
    *,
    audiences: Sequence[str],
    backchannel_logout_uri: str | None,
    jwks_uri: str | None,
    jwks: Mapping[str, Any] | None,
) -> None:
    """Raise `BadRequest` for what a service cannot register."""
    targets = {"backchannel_logout_uri": backchannel_logout_uri, "jwks_uri": jwks_uri}
    all_valid(
        lambda: _require_audiences(audiences, outside.own_hosts),
        *(
            partial(checked_url, uri, outside.allowed_networks, field=field)
            for field, uri in targets.items()
            if uri is not None
        ),
        lambda: require_keys(jwks_uri, jwks),
    )


def require_keys(jwks_uri: str | None, jwks: Mapping[str, Any] | None) -> None:
    """Raise `BadRequest` for a key set with other than public keys, and for both a key set and an address."""
    if jwks_uri is not None and jwks is not None:
        raise BadRequest.of_field("jwks", "Set either jwks_uri or jwks, and the other one to null.")
    if jwks is not None:
        _require_key_set(jwks)


def host_of(audience: str) -> str:
    """Return the host of a valid audience."""
    return (urlsplit(audience).hostname or "").rstrip(".")


def _require_audiences(audiences: Sequence[str], own_hosts: frozenset[str]) -> None:
    if len(audiences) > AUDIENCES_MAX:
        raise BadRequest.of_field("audiences", Wording("At most %(maximum)s audiences.", maximum=AUDIENCES_MAX))
    for audience in audiences:
        _require_audience(audience, own_hosts)


def _require_audience(audience: str, own_hosts: frozenset[str]) -> None:
    if not audience.isascii() or len(audience) > URL_CHARACTERS_MAX or any(ord(one) <= ord(" ") for one in audience):
        raise BadRequest.of_field(
            "audiences",
            Wording("An audience is an ASCII URI of at most %(maximum)s characters.", maximum=URL_CHARACTERS_MAX),
        )
    try:
        parts = urlsplit(audience)
        _ = parts.port
    except ValueError:
        raise BadRequest.of_field("audiences", "The host or the port of an audience is not valid.") from None
    if parts.scheme != "https" or not parts.hostname or "#" in audience or "@" in parts.netloc:
        raise BadRequest.of_field(
            "audiences", "An audience is an absolute https address without a fragment, such as https://api.example.com."
        )
    if host_of(audience) in own_hosts:
        raise BadRequest.of_field("audiences", "An audience cannot be at the address of the platform itself.")


def _require_key_set(jwks: Mapping[str, Any]) -> None:
    keys = jwks.get("keys")
    if not isinstance(keys, list) or set(jwks) != {"keys"}:
        raise BadRequest.of_field("jwks", 'This is a JSON Web Key Set: an object with the list "keys" alone.')
    if not 1 <= len(cast("list[Any]", keys)) <= KEYS_MAX:
        raise BadRequest.of_field("jwks", Wording("A key set has 1 to %(maximum)s keys.", maximum=KEYS_MAX))
    for key in cast("list[Any]", keys):
        _require_key(key)


def _require_key(key: object) -> None:
    if not isinstance(key, dict) or cast("dict[str, Any]", key).get("kty") not in _KEY_TYPES:
        raise BadRequest.of_field("jwks", "A key has the type RSA, EC or OKP.")
    members = cast("dict[str, Any]", key)
    if _PRIVATE_MEMBERS & members.keys():
        raise BadRequest.of_field("jwks", "A key set has public keys only. Remove the private parts of its keys.")
    values: list[Any] = []
    for value in members.values():
        values += cast("list[Any]", value) if isinstance(value, list) else [value]
    is_plain = all(isinstance(text, str) and len(text) <= KEY_MEMBER_CHARACTERS_MAX for text in values)
    if len(values) > KEY_MEMBERS_MAX or not is_plain:
        raise BadRequest.of_field("jwks", "The members of a key are short texts, or lists of them.")
