"""The sources of a product's claims: one fixed vocabulary.

A source is read in the context of a token: `Caller` and `ClaimFacts` have what is known there, and nothing else. In a
customer's context the organization is the vendor's, the directory the customer's where it is shared, and a membership
of the vendor says nothing. A source without a value says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from core.lazy_dataclasses import dataclass
from core.sessions.callers import Caller
from core.sessions.group_forms import told
from core.sessions.places import GROUPS_NAMED_MAX

GROUPS: Final = "groups"
# Claims that are lists in every token, also with one value.
LISTS: Final = frozenset({GROUPS, "roles", "entitlements"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnClaim:
    """A claim of a product, and its source."""

    claim: str
    source: str
    in_access_token: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFacts:
    """What sources know besides the caller, in the context of a session.

    `directory` is what the directory of that context says of the person: the customer's where it is shared, else the
    directory of the service's organization. `groups` are the organization's, one more than a token can name; None where
    the caller has them, or for a customer.
    """

    name: str | None = None
    organization_name: str | None = None
    tier: str | None = None
    organization_metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    user_metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    customer_metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    shares_directory: bool = False
    directory: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    groups: Sequence[Mapping[str, str]] | None = None


Source = Callable[[Caller, ClaimFacts], Any]


def _groups(caller: Caller, facts: ClaimFacts) -> Any:
    if caller.place.customer_id is not None:
        groups = caller.place.customer.groups if caller.place.customer is not None and facts.shares_directory else None
    else:
        service = caller.place.service
        groups = service.groups if service is not None and service.groups is not None else facts.groups
    if groups is None or len(groups) > GROUPS_NAMED_MAX:
        return None
    return told(groups, caller.place.groups_as)


def _of_customer(read: Callable[[Any], Any]) -> Source:
    return lambda caller, _: read(caller.place.customer) if caller.place.customer is not None else None


def _of_plan(read: Callable[[Any], Any]) -> Source:
    return lambda caller, _: read(caller.place.plan) if caller.place.plan is not None else None


def _of_directory(name: str) -> Source:
    return lambda _, facts: facts.directory.get(name) or None


SOURCES: Final[Mapping[str, Source]] = {
    "user.id": lambda caller, _: str(caller.account.id),
    "user.email": lambda caller, _: caller.account.email,
    "user.email_verified": lambda caller, _: caller.account.is_verified,
    "user.name": lambda _, facts: facts.name or None,
    "user.created_at": lambda caller, _: caller.account.created_at.isoformat().replace("+00:00", "Z"),
    "membership.role": lambda caller, _: caller.opened_role,
    "organization.id": lambda caller, _: str(caller.place.organization_id),
    "organization.slug": lambda caller, _: caller.place.organization_slug,
    "organization.name": lambda _, facts: facts.organization_name,
    "organization.tier": lambda _, facts: facts.tier,
    "service_roles": lambda caller, _: caller.service_roles,
    "subscription.plan": _of_plan(lambda plan: plan.name),
    "subscription.status": _of_plan(lambda plan: plan.subscription_status),
    "subscription.features": _of_plan(lambda plan: plan.features),
    "directory.name.given": _of_directory("given_name"),
    "directory.name.family": _of_directory("family_name"),
    "directory.display_name": _of_directory("display_name"),
    "directory.external_id": _of_directory("external_id"),
    "directory.groups": _groups,
    "customer.id": _of_customer(lambda customer: str(customer.id)),
    "customer.slug": _of_customer(lambda customer: customer.slug),
    "customer.name": _of_customer(lambda customer: customer.name),
    "customer.role": _of_customer(lambda customer: customer.role),
    "customer.external_id": _of_customer(lambda customer: customer.external_id),
}
# The metadata behind each prefix of a source.
METADATA_SOURCES: Final[Mapping[str, Callable[[Caller, ClaimFacts], Mapping[str, Any]]]] = {
    "organization.metadata.": lambda _, facts: facts.organization_metadata,
    "service_user.metadata.": lambda _, facts: facts.user_metadata,
    "customer.metadata.": lambda caller, facts: facts.customer_metadata if caller.place.customer is not None else {},
}


def metadata_name(source: str) -> tuple[str, str] | None:
    """Return the prefix of a source of metadata, and the name behind it; None for any other source."""
    for prefix in METADATA_SOURCES:
        if source.startswith(prefix):
            return prefix, source.removeprefix(prefix)
    return None


def value_of(source: str, caller: Caller, facts: ClaimFacts) -> Any:
    """Return what a source says in the context of a session; None where it has no value."""
    named = metadata_name(source)
    if named is not None:
        prefix, name = named
        return METADATA_SOURCES[prefix](caller, facts).get(name)
    read = SOURCES.get(source)
    # A process of a later version may have stored a source that this one does not know.
    return read(caller, facts) if read is not None else None


def claims_of(claims: Iterable[OwnClaim], caller: Caller, facts: ClaimFacts) -> dict[str, Any]:
    """Return the claims that have a value, each with its type; claims of `LISTS` are lists."""
    found = {one.claim: value_of(one.source, caller, facts) for one in claims}
    return {
        claim: [value] if claim.lower() in LISTS and not isinstance(value, list) else value
        for claim, value in found.items()
        if value is not None
    }
