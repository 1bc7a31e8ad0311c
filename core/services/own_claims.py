"""The claims, scopes and groups of a product: what its tokens and assertions say beside our own (ops/decisions/0096).

The vocabulary of sources is in `core/sessions/claim_sources.py`. No claim has the name of a claim of Gatehouse's tokens
or of IANA's registry, because programs would take it for that one. Which scopes a person may have is in
`core/sessions/token_additions.py`: one that a role of the organization or of the service lists is given only by roles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.metadata import is_name
from core.services.registered_claims import REGISTERED
from core.sessions.claim_sources import GROUPS, LISTS, SOURCES, OwnClaim, metadata_name
from core.sessions.customer_contexts import CUSTOMER_CLAIMS
from core.sessions.token_additions import OF_OPENID
from core.text import checked_line
from core.wording import Wording

ALL_GROUPS: Final = "all"
GROUPS_MAX: Final = 100


def require_groups(groups: Sequence[str]) -> None:
    """Raise `BadRequest` for too many groups, and for `all` beside others."""
    if len(groups) > GROUPS_MAX:
        raise BadRequest.of_field("group_claims", Wording("At most %(maximum)s groups, or all.", maximum=GROUPS_MAX))
    if ALL_GROUPS in groups and len(groups) > 1:
        raise BadRequest.of_field("group_claims", "Name groups by their ids, or all alone.")


CLAIMS_MAX: Final = 30
_NAME: Final = re.compile(r"[A-Za-z0-9_.:/-]{1,200}")
# The claims of our tokens, of userinfo and of introspection.
_OF_TOKENS: Final = frozenset(
    {
        *("org", "organization_id", "service", "role", "plan", "subscription_status", "features"),
        *("is_platform_owner", "is_platform_support", "impersonator", "impersonation_session"),
        *("groups_overage", "userinfo_claims", "session_expiry", "workload", "service_roles"),
        *("active", "token_type", "username"),
        *CUSTOMER_CLAIMS,
    }
)
_RESERVED: Final = (REGISTERED | _OF_TOKENS) - LISTS
_OWN_PREFIX: Final = "gatehouse_"


def require_claims(claims: Sequence[OwnClaim], group_claims: Sequence[str]) -> None:
    """Raise `BadRequest` for claims that a service cannot have."""
    if len(claims) > CLAIMS_MAX:
        raise BadRequest.of_field("claims", Wording("At most %(maximum)s claims.", maximum=CLAIMS_MAX))
    names = [one.claim.lower() for one in claims]
    if len(set(names)) < len(names):
        raise BadRequest.of_field("claims", "Name each claim once; upper and lower case count as the same.")
    for one in claims:
        _require_claim(one)
    if GROUPS in names and group_claims:
        raise BadRequest.of_field("claims", "The claim groups already lists the groups that you have chosen.")


def clashing_claim(claims: Iterable[OwnClaim], attributes: Iterable[str]) -> str | None:
    """Return a claim with the name of one of these attributes, compared without case; None without one."""
    named = {one.lower() for one in attributes}
    return next((one.claim for one in claims if one.claim.lower() in named), None)


def _require_claim(one: OwnClaim) -> None:
    if not _NAME.fullmatch(one.claim):
        raise BadRequest.of_field(
            "claims", "A claim has 1 to 200 letters of ASCII, digits, and the characters _ . : / and the dash."
        )
    if one.claim.lower() in _RESERVED or one.claim.lower().startswith(_OWN_PREFIX):
        raise BadRequest.of_field(
            "claims", Wording("The claim %(name)s has a meaning of its own. Choose another name.", name=one.claim)
        )
    named = metadata_name(one.source)
    if one.source not in SOURCES and (named is None or not is_name(named[1])):
        raise BadRequest.of_field("claims", Wording("%(name)s is no source of claims.", name=one.source[:200]))


SCOPES_MAX: Final = 50
SCOPE_CHARACTERS_MAX: Final = 255
# A sign-in of the JSON interface has all of them in its token, beside 3,072 bytes of claims, and Gatehouse itself takes
# tokens of up to 8,192 characters. One request can ask for all.
ALL_CHARACTERS_MAX: Final = 1500
SENTENCE_CHARACTERS_MAX: Final = 200
# A scope as RFC 6749, 3.3 defines it.
_SCOPE: Final = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceScope:
    """A scope of a service's own; people read its `description` before they allow it."""

    name: str
    description: str


def is_scope(name: str) -> bool:
    """Return whether a text is one scope."""
    return len(name) <= SCOPE_CHARACTERS_MAX and _SCOPE.fullmatch(name) is not None


def require_scopes(scopes: Sequence[ServiceScope], machine_scopes: Sequence[str]) -> None:
    """Raise `BadRequest` for scopes that a service cannot have, and for a machine scope that is none of them."""
    if len(scopes) > SCOPES_MAX:
        raise BadRequest.of_field("scopes", Wording("At most %(maximum)s scopes.", maximum=SCOPES_MAX))
    names = {scope.name for scope in scopes}
    if len(names) < len(scopes):
        raise BadRequest.of_field("scopes", "Each scope has a name of its own.")
    for scope in scopes:
        _require_scope(scope)
    if len(" ".join(names)) > ALL_CHARACTERS_MAX:
        raise BadRequest.of_field(
            "scopes",
            Wording(
                "The names of all scopes have at most %(maximum)s characters together, with a blank between two.",
                maximum=ALL_CHARACTERS_MAX,
            ),
        )
    missing = [name for name in machine_scopes if name not in names]
    if missing:
        raise BadRequest.of_field(
            "machine_scopes", Wording("%(scope)s is none of the scopes of the service.", scope=missing[0])
        )


def _require_scope(scope: ServiceScope) -> None:
    if not is_scope(scope.name):
        raise BadRequest.of_field(
            "scopes",
            Wording(
                "A scope has 1 to %(maximum)s characters, without blanks, quotes and backslashes.",
                maximum=SCOPE_CHARACTERS_MAX,
            ),
        )
    if scope.name.lower() in OF_OPENID:
        raise BadRequest.of_field(
            "scopes", Wording("%(scope)s is a scope of OpenID Connect. Choose another name.", scope=scope.name)
        )
    if checked_line(scope.description, characters_max=SENTENCE_CHARACTERS_MAX, field="scopes") != scope.description:
        raise BadRequest.of_field("scopes", "The description of a scope neither begins nor ends with a blank.")
