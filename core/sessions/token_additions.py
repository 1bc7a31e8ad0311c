"""What the record of a service adds to the tokens of its users: its own scopes and claims.

It is read with the caller, in the context of the session, by what issues tokens and by what tells of them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final

from core.lazy_dataclasses import dataclass
from core.sessions.callers import Caller
from core.sessions.claim_sources import GROUPS, ClaimFacts, OwnClaim, claims_of
from core.sessions.group_forms import GroupsAs

# The scopes of OpenID Connect (Core, 5.4 and 11). A service has none of their names.
OF_OPENID: Final = frozenset({"openid", "profile", "email", "address", "phone", "offline_access"})
# Gatehouse takes no token of 8 KiB, and web servers take headers of 16 KiB at most.
ACCESS_CLAIMS_BYTES_MAX: Final = 3072
# The roles of an organization that have all scopes of its services.
_OF_MANAGERS: Final = frozenset({"owner", "admin"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnScopes:
    """The names of a service's own scopes, and those that roles list, by role: of its organization, and its own."""

    registered: Sequence[str]
    of_roles: Mapping[str, Sequence[str]]
    of_service_roles: Mapping[str, Sequence[str]]

    def allowed(self, caller: Caller) -> Sequence[str]:
        """Return the scopes that a caller may have, in the order of the record.

        A scope that a role lists is given by roles alone: by the service's own roles, and without a customer by the
        role in the organization too, of which owners and admins have all. A scope that no role lists is for every user.
        """
        listed = _joined(self.of_roles.values()) | _joined(self.of_service_roles.values())
        given = _joined(self.of_service_roles.get(name, ()) for name in caller.service_roles or ())
        if caller.place.customer_id is None:
            role = caller.opened_role or ""
            given |= listed if role in _OF_MANAGERS else frozenset(self.of_roles.get(role, ()))
        return [scope for scope in self.registered if scope not in listed or scope in given]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenAdditions:
    """What the record of a service adds to a token; `scopes` is None for a service without scopes of its own."""

    scopes: OwnScopes | None = None
    claims: Sequence[OwnClaim] = ()
    facts: ClaimFacts = field(default_factory=ClaimFacts, repr=False)

    def still_allowed(self, scopes: Iterable[str], caller: Caller) -> list[str]:
        """Return the scopes that the caller may have now, of OpenID Connect and of the service."""
        scopes = list(scopes)
        if OF_OPENID.issuperset(scopes):
            return scopes
        allowed = {*OF_OPENID, *self.own_scopes(caller)}
        return [scope for scope in scopes if scope in allowed]

    def own_scopes(self, caller: Caller) -> Sequence[str]:
        """Return the scopes of the service that the caller may have."""
        return self.scopes.allowed(caller) if self.scopes is not None else ()


NO_ADDITIONS: Final = TokenAdditions()


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSubject:
    """A caller, and what else tokens say about the caller."""

    caller: Caller
    additions: TokenAdditions = field(default=NO_ADDITIONS)

    @property
    def own_claims(self) -> dict[str, Any]:
        """The claims of the product that have a value."""
        claims = self.additions.claims
        return claims_of(claims, self.caller, self.additions.facts) if claims else {}

    @property
    def own_attributes(self) -> dict[str, Any]:
        """The same for assertions, which name groups by their names."""
        place = self.caller.place
        service = replace(place.service, groups_as=GroupsAs.NAMES) if place.service is not None else None
        return replace(self, caller=replace(self.caller, place=replace(place, service=service))).own_claims

    @property
    def group_claims(self) -> dict[str, Any]:
        """The claims of Gatehouse about groups; none where a claim of the product has that name.

        A service that lists groups has no such claim. Where a customer names some, the product's own claim stands, so
        that no customer sets a claim by which others decide.
        """
        claims = self.additions.claims
        is_own = bool(claims) and any(one.claim.lower() == GROUPS for one in claims)
        return {} if is_own else self.caller.place.group_claims

    @property
    def own_access_claims(self) -> dict[str, Any]:
        """The claims of the product for access tokens, in their order, as many as fit into one."""
        if not self.additions.claims:
            return {}
        named = [one for one in self.additions.claims if one.in_access_token]
        free, fitting = ACCESS_CLAIMS_BYTES_MAX, dict[str, Any]()
        for claim, value in claims_of(named, self.caller, self.additions.facts).items():
            # As tokens write it, where a character beyond ASCII takes six bytes or twelve.
            size = len(json.dumps({claim: value}))
            if size <= free:
                fitting[claim], free = value, free - size
        return fitting


def _joined(lists: Iterable[Collection[str]]) -> frozenset[str]:
    return frozenset(one for names in lists for one in names)
