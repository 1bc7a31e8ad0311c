"""The groups that the identity provider of a connection asserts of a user.

They are values of a claim of OpenID Connect, or of an attribute of SAML. An empty list says that the user is in no
group; an absent one says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from core.sign_in.identities import AssertedGroups

# More than providers put into a token; a longer list counts as too many to name.
GROUPS_MAX: Final = 1_000
GROUP_CHARACTERS_MAX: Final = 255
_CLAIM: Final = "groups"
# Where Entra says that the groups are too many for a token.
_CLAIM_NAMES: Final = "_claim_names"
_HAS_GROUPS: Final = "hasgroups"
_GROUPS_LINK: Final = "http://schemas.microsoft.com/claims/groups.link"
# The attributes in which identity providers name groups, unless the connection maps one.
_ATTRIBUTES: Final = (
    "groups",
    "memberOf",
    "http://schemas.microsoft.com/ws/2008/06/identity/claims/groups",
    "http://schemas.xmlsoap.org/claims/Group",
)


def in_claims(claims: Mapping[str, Any], mapped: str | None) -> AssertedGroups | None:
    """Return the groups in the claims of a user, of a single claim or at a path such as `realm_access.roles`."""
    name = mapped or _CLAIM
    value = claims.get(name, _at_path(claims, name))
    if value is None:
        return AssertedGroups(values=None) if _is_overage(claims) else None
    if isinstance(value, str):
        return _asserted([value])
    return _asserted(cast("list[Any]", value)) if isinstance(value, list) else None


def in_attributes(attributes: Mapping[str, Sequence[str]], mapped: str | None) -> AssertedGroups | None:
    """Return the groups in the attributes of an assertion."""
    names = (mapped,) if mapped is not None else _ATTRIBUTES
    named = next((attributes[name] for name in names if name in attributes), None)
    if named is None:
        return AssertedGroups(values=None) if _GROUPS_LINK in attributes else None
    return _asserted(named)


def _asserted(values: Sequence[Any]) -> AssertedGroups:
    if len(values) > GROUPS_MAX:
        return AssertedGroups(values=None)
    return AssertedGroups(values=sorted(set(_usable(values))))


def _usable(values: Iterable[Any]) -> Iterable[str]:
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
