"""The parameter `claims`: the claims about its user that a service requests by name (OpenID Connect Core, 5.5).

A claim that is requested by name is given in the requested place, the ID token or the user information endpoint,
whatever the scopes. Claims that Gatehouse does not know are left out, also essential ones. Only two values restrict the
answer: a value of `sub` names the user who may be signed in, and an essential `acr` names classes of which one has to
be met (5.5.1.1).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field
from typing import Any, Final, cast
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.openid import scopes
from core.openid.refusals import RequestInvalid

# Claims about users, and claims about their sign-ins; the ID token always has the second kind.
NAMES: Final = ("name", "given_name", "family_name")
OF_USERS: Final = ("email", "email_verified", "preferred_username", *NAMES)
OF_SIGN_INS: Final = ("auth_time", "acr", "amr")
# No user has this id, which is of no version.
NO_USER: Final = str(UUID(int=0))


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedClaims:
    """The names of the requested claims for either place, and the classes of which one is essential.

    `subjects` are the ids of the users who may be signed in; None means any.
    """

    userinfo: Sequence[str] = ()
    id_token: Sequence[str] = ()
    essential_classes: Sequence[str] | None = None
    wants_second_factor: bool = False
    subjects: Sequence[str] | None = field(default=None, repr=False)

    def kept(self) -> dict[str, Any] | None:
        """Return what is kept for the tokens of the session; None for nothing."""
        named = {"userinfo": self.userinfo, "id_token": self.id_token, "acr": self.essential_classes or ()}
        return {place: list(names) for place, names in named.items() if names} or None

    def stored(self) -> dict[str, Any]:
        """Return the data to store, which the constructor takes."""
        return asdict(self)


NO_CLAIMS: Final = RequestedClaims()


def parse(text: str | None) -> RequestedClaims:
    """Return what the parameter requests; raise `RequestInvalid` when it is no JSON object of its form."""
    if text is None:
        return NO_CLAIMS
    try:
        members = _object(json.loads(text))
    except (ValueError, RecursionError):
        raise RequestInvalid("The parameter claims is not JSON.") from None
    id_token, userinfo = _object(members.get("id_token")), _object(members.get("userinfo"))
    classes = _values(id_token.get("acr"))
    known = [value for value in classes or () if value in scopes.CONTEXT_CLASSES]
    is_essential = classes is not None and _object(id_token.get("acr")).get("essential") is True
    return RequestedClaims(
        userinfo=[name for name in userinfo if name in OF_USERS or name in OF_SIGN_INS],
        id_token=[name for name in id_token if name in OF_USERS],
        essential_classes=known if is_essential else None,
        wants_second_factor=known[:1] == [scopes.TWO_FACTORS],
        subjects=_subjects([_values(place.get("sub")) for place in (id_token, userinfo)]),
    )


def of(kept: Mapping[str, Any] | None, place: str) -> Sequence[str]:
    """Return the names that are kept for a place, or the essential classes for the place `acr`."""
    return kept.get(place, ()) if kept is not None else ()


def chosen(known: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the known claims that are requested by name."""
    return {name: known[name] for name in names if name in known}


def context_class(amr: Sequence[str], kept: Mapping[str, Any] | None) -> str:
    """Return the class of a sign-in; where one factor is essential, two of them meet that class."""
    proved, essential = scopes.context_class(amr), of(kept, "acr")
    return scopes.ONE_FACTOR if scopes.ONE_FACTOR in essential and proved not in essential else proved


def _object(value: object) -> Mapping[str, Any]:
    """Return a JSON object; null stands for one without members."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RequestInvalid("The parameter claims must be a JSON object with the members userinfo and id_token.")
    return cast("dict[str, Any]", value)


def _values(wanted: object) -> list[str] | None:
    """Return the requested values of a claim; None for any."""
    members = _object(wanted)
    if "value" in members:
        given: Any = [members["value"]]
    elif "values" in members:
        given = members["values"]
    else:
        return None
    if not isinstance(given, list):
        raise RequestInvalid("In the parameter claims, values must be a list.")
    return [value for value in cast("list[object]", given) if isinstance(value, str)]


def _subjects(asked: list[list[str] | None]) -> list[str] | None:
    """Return the users that every request for `sub` allows; None for any."""
    restricted = [_ids(values) for values in asked if values is not None]
    if not restricted:
        return None
    return sorted(restricted[0].intersection(*restricted[1:])) or [NO_USER]


def _ids(texts: Iterable[str]) -> set[str]:
    """Return the texts that may be the id of a user, as it stands in tokens."""
    found: set[str] = set()
    for text in texts:
        try:
            identifier = str(UUID(text))
        except ValueError:
            continue
        if identifier == text:
            found.add(text)
    return found
