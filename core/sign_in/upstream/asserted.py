"""What the provider of a connection says of a person beside their identity: names, and groups.

It says so by claims of OpenID Connect, or by attributes of SAML. The latest names count as the directory's
(`core/accounts/names.py`), where no SCIM directory of the organization names the person. An empty list of groups says
that the person is in none; an absent one says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast

from core.accounts import names
from core.errors import BadRequest
from core.sign_in.identities import AssertedGroups, AssertedNames

_CLAIMS: Final = ("name", "given_name", "family_name")
# The attributes in which identity providers name a person, unless the connection maps one.
_NAME_ATTRIBUTES: Final[Mapping[str, Sequence[str]]] = {
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


def names_in_claims(claims: Mapping[str, Any], mapping: Mapping[str, str]) -> AssertedNames | None:
    """Return what the claims of a user call them; None for claims without a name."""
    return _given_names(lambda name: (claims.get(mapping.get(name, name)),))


def names_in_attributes(attributes: Mapping[str, Sequence[str]], mapping: Mapping[str, str]) -> AssertedNames | None:
    """Return what the attributes of an assertion call a user; None for attributes without a name."""

    def given(name: str) -> Sequence[str]:
        named = (mapping[name],) if name in mapping else _NAME_ATTRIBUTES[name]
        return [value for one in named for value in attributes.get(one, ())]

    return _given_names(given)


def _given_names(given: Callable[[str], Sequence[Any]]) -> AssertedNames | None:
    found = {name: next((usable for value in given(name) if (usable := _usable_name(value))), None) for name in _CLAIMS}
    return AssertedNames(**found) if any(found.values()) else None


def _usable_name(value: Any) -> str | None:
    """Return a name as names are stored; None for what cannot be one, which signs its user in all the same."""
    if not isinstance(value, str):
        return None
    try:
        return names.checked(value)
    except BadRequest:
        return None


# More than providers put into a token; a longer list counts as too many to name.
GROUPS_MAX: Final = 1_000
GROUP_CHARACTERS_MAX: Final = 255
_CLAIM: Final = "groups"
# Where Entra says that the groups are too many for a token.
_CLAIM_NAMES: Final = "_claim_names"
_HAS_GROUPS: Final = "hasgroups"
_GROUPS_LINK: Final = "http://schemas.microsoft.com/claims/groups.link"
# The attributes in which identity providers name groups, unless the connection maps one.
_GROUP_ATTRIBUTES: Final = (
    "groups",
    "memberOf",
    "http://schemas.microsoft.com/ws/2008/06/identity/claims/groups",
    "http://schemas.xmlsoap.org/claims/Group",
)


def groups_in_claims(claims: Mapping[str, Any], mapped: str | None) -> AssertedGroups | None:
    """Return the groups in the claims of a user, of a single claim or at a path such as `realm_access.roles`."""
    name = mapped or _CLAIM
    value = claims.get(name, _at_path(claims, name))
    if value is None:
        return AssertedGroups(values=None) if _is_overage(claims) else None
    if isinstance(value, str):
        return _named_groups([value])
    return _named_groups(cast("list[Any]", value)) if isinstance(value, list) else None


def groups_in_attributes(attributes: Mapping[str, Sequence[str]], mapped: str | None) -> AssertedGroups | None:
    """Return the groups in the attributes of an assertion."""
    names = (mapped,) if mapped is not None else _GROUP_ATTRIBUTES
    named = next((attributes[name] for name in names if name in attributes), None)
    if named is None:
        return AssertedGroups(values=None) if _GROUPS_LINK in attributes else None
    return _named_groups(named)


def _named_groups(values: Sequence[Any]) -> AssertedGroups:
    if len(values) > GROUPS_MAX:
        return AssertedGroups(values=None)
    return AssertedGroups(values=sorted(set(_usable_groups(values))))


def _usable_groups(values: Iterable[Any]) -> Iterable[str]:
    """Return what can be the name of a group; a rule could name nothing else."""
    return (
        value
        for value in values
        if isinstance(value, str) and 0 < len(value) <= GROUP_CHARACTERS_MAX and value.isprintable()
    )


def _at_path(claims: Mapping[str, Any], path: str) -> Any:
    value: Any = claims
    for name in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = cast("Mapping[str, Any]", value).get(name)
    return value


def _is_overage(claims: Mapping[str, Any]) -> bool:
    named = claims.get(_CLAIM_NAMES)
    is_elsewhere = isinstance(named, Mapping) and _CLAIM in cast("Mapping[str, Any]", named)
    return is_elsewhere or claims.get(_HAS_GROUPS) in (True, "true")
