"""The names that the provider of a connection gives a person.

They are values of claims of OpenID Connect, or of attributes of SAML. The latest ones count as the directory's
(`core/accounts/names.py`), where no SCIM directory of the organization names the person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from core.accounts import names
from core.errors import BadRequest
from core.sign_in.identities import AssertedNames

_CLAIMS: Final = ("name", "given_name", "family_name")
# The attributes in which identity providers name a person, unless the connection maps one.
_ATTRIBUTES: Final[Mapping[str, Sequence[str]]] = {
    "name": (
        "name",
        "displayName",
        "display_name",
        "urn:oid:2.16.840.1.113730.3.1.241",
        "http://schemas.microsoft.com/identity/claims/displayname",
        "cn",
        "urn:oid:2.5.4.3",
    ),
    "given_name": (
        "given_name",
        "givenName",
        "firstName",
        "first_name",
        "urn:oid:2.5.4.42",
        "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname",
    ),
    "family_name": (
        "family_name",
        "familyName",
        "sn",
        "surname",
        "lastName",
        "last_name",
        "urn:oid:2.5.4.4",
        "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname",
    ),
}


def in_claims(claims: Mapping[str, Any], mapping: Mapping[str, str]) -> AssertedNames | None:
    """Return what the claims of a user call them; None for claims without a name."""
    return _asserted(lambda name: (claims.get(mapping.get(name, name)),))


def in_attributes(attributes: Mapping[str, Sequence[str]], mapping: Mapping[str, str]) -> AssertedNames | None:
    """Return what the attributes of an assertion call a user; None for attributes without a name."""

    def given(name: str) -> Sequence[str]:
        named = (mapping[name],) if name in mapping else _ATTRIBUTES[name]
        return [value for one in named for value in attributes.get(one, ())]

    return _asserted(given)


def _asserted(given: Callable[[str], Sequence[Any]]) -> AssertedNames | None:
    found = {name: next((usable for value in given(name) if (usable := _usable(value))), None) for name in _CLAIMS}
    return AssertedNames(**found) if any(found.values()) else None


def _usable(value: Any) -> str | None:
    """Return a name as names are stored; None for what cannot be one, which signs its user in all the same."""
    if not isinstance(value, str):
        return None
    try:
        return names.checked(value)
    except BadRequest:
        return None
