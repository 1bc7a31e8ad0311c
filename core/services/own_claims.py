"""The claims of a product: additional claims of its tokens and assertions, and their sources (ops/decisions/0096).

The vocabulary of sources is in `core/sessions/claim_sources.py`. No claim has the name of a claim of Gatehouse's tokens
or of IANA's registry, because programs would take it for that one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from core.errors import BadRequest
from core.metadata import is_name
from core.services.registered_claims import REGISTERED
from core.sessions.claim_sources import GROUPS, LISTS, SOURCES, OwnClaim, metadata_name
from core.sessions.customer_contexts import CUSTOMER_CLAIMS
from core.wording import Wording

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


def require_valid(claims: Sequence[OwnClaim], group_claims: Sequence[str]) -> None:
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


def clashing(claims: Iterable[OwnClaim], attributes: Iterable[str]) -> str | None:
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
