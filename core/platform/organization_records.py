"""The organizations of the platform as its console shows them: a search, lists, and one organization in detail.

Support does not see which platform owner owns or has approved an organization. Changes by platform owners are in
`organizations.py`, as for the JSON interface.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import support_access
from core.accounts.support_access import NarrowedList, Narrowing
from core.customers.relation_log import CustomerState
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations import bulk_jobs
from core.organizations.authorization import authorize_platform, authorize_support
from core.organizations.bulk_jobs import JobKind, ListChanged, WantedRow
from core.organizations.members import limits_of
from core.organizations.organizations import Organization, OrganizationStatus
from core.organizations.tiers import Tier
from core.platform.organizations import OrganizationUnknown
from core.positions import FoundRows, Position, found_rows

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The page of an organization shows so many of its domains.
DOMAINS_SHOWN_MAX: Final = 50
# It shows so many of its products, and of its services with customers.
RELATIONS_SHOWN_MAX: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOwner:
    """The owner of an organization."""

    id: UUID
    email: str
    is_platform_owner: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedOrganization:
    """An organization in a list; `owner` is None where it has none, or the reader may not see them.

    An unclaimed organization, which a vendor has made for a customer, has none yet.
    """

    id: UUID
    slug: str
    name: str
    status: OrganizationStatus
    created_at: datetime
    tier: str
    owner: RecordOwner | None
    members: int
    last_sign_in_at: datetime | None
    is_unclaimed: bool = False

    @property
    def position(self) -> Position:
        """The place of the organization in the list."""
        return Position(at=self.created_at, id=self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationFilter:
    """The requested organizations; an empty text and None filter nothing.

    `search` is a part of the name, the slug or a domain, or the owner's whole address. A part of a domain needs three
    characters, and finds nothing if many organizations have it in their domains.
    """

    search: str = ""
    status: OrganizationStatus | None = None
    tier_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """Organizations that match a text; with `has_all` no other one has it in the name or slug."""

    ids: Collection[UUID] = ()
    has_all: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedDomain:
    """A domain of an organization: its custom domain, or a mail domain."""

    domain: str
    is_of_mail: bool
    verified_at: datetime | None
    failing_since: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedProduct:
    """A service of another organization that an organization uses, or an offer of one."""

    service_name: str
    vendor_id: UUID
    vendor_name: str
    state: CustomerState
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """The vendor that has made an organization without an owner yet, for a customer of one of its services."""

    vendor_id: UUID
    vendor_name: str
    service_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedCustomers:
    """How many organizations use a service as customers; exact up to `COUNTED_MAX`, and one more than that beyond."""

    service_name: str
    customers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationFigures:
    """What an organization has: each number is exact up to `COUNTED_MAX`, and one more than that beyond."""

    members: int
    services: int
    end_users: int
    sessions: int
    subscriptions: int
    last_sign_in_at: datetime | None
    last_change_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformOrganizationRecord:
    """An organization in detail, with `DOMAINS_SHOWN_MAX` domains, and `RELATIONS_SHOWN_MAX` products and services.

    The services are the ones with customers. `max_services` and `max_users` are the limits in force, its own or its
    tier's; None is no limit. `approved_by` is the address of the platform owner who has approved it. `maker` is None
    once a person owns it.
    """

    organization: Organization
    tier: Tier
    owner: RecordOwner | None
    approved_by: str | None
    figures: OrganizationFigures
    domains: Sequence[ClaimedDomain]
    max_services: int | None
    max_users: int | None
    is_unclaimed: bool = False
    maker: Maker | None = None
    products: Sequence[UsedProduct] = ()
    served: Sequence[ServedCustomers] = ()


def search(
    uow: UnitOfWork, wanted: OrganizationFilter, *, after: Position | None, limit: int
) -> FoundRows[ListedOrganization]:
    """Find organizations, the newest first."""
    wanted, matches = _matching(uow, wanted)
    found = _page(uow, wanted, matches, after=after, limit=limit + 1)
    count = partial(uow.elsewhere.organization_records.count, wanted, matches)
    return found_rows(found, after=after, limit=limit, count=count)


def listed(
    uow: UnitOfWork, wanted: OrganizationFilter, *, after: Position | None, limit: int
) -> Sequence[ListedOrganization]:
    """Return a part of what `search` finds, without a count; for files."""
    return _page(uow, *_matching(uow, wanted), after=after, limit=limit)


def begin_job(
    uow: UnitOfWork, kind: JobKind, wanted: OrganizationFilter, *, seen_total: int, details: Mapping[str, str]
) -> UUID:
    """Begin a job for all matching organizations that wait for approval, and return its id.

    Raise `ListChanged` when there are not as many as the page had shown.
    """
    waiting = replace(wanted, status=OrganizationStatus.PENDING)
    found = _page(uow, *_matching(uow, waiting), after=None, limit=COUNTED_MAX + 1)
    if len(found) != seen_total:
        raise ListChanged
    rows = [WantedRow(label=name_with_slug(one.name, one.slug), subject_id=one.id) for one in found]
    return bulk_jobs.begin(uow, None, kind, rows, details)


def show(uow: UnitOfWork, organization_id: UUID) -> PlatformOrganizationRecord:
    """Return an organization in detail; raise `OrganizationUnknown`."""
    caller = authorize_support(uow)
    found = uow.organization_records.detail(organization_id, domains_max=DOMAINS_SHOWN_MAX, counted_max=COUNTED_MAX + 1)
    if found is None:
        raise OrganizationUnknown
    found = replace(
        found,
        products=uow.organization_records.products(organization_id, limit=RELATIONS_SHOWN_MAX),
        served=uow.organization_records.served(organization_id, limit=RELATIONS_SHOWN_MAX, counted_max=COUNTED_MAX + 1),
    )
    if caller.acts_as_platform_owner:
        return found
    return replace(found, owner=shown_owner(found.owner, sees_owners=False), approved_by=None)


def show_to_owner(uow: UnitOfWork, organization_id: UUID) -> PlatformOrganizationRecord:
    """Return what `show` returns to a platform owner, who is about to change the organization."""
    authorize_platform(uow)
    return show(uow, organization_id)


def names(uow: UnitOfWork, organization_ids: Sequence[UUID]) -> Mapping[UUID, str]:
    """Return the names and slugs of the organizations that exist, by their ids, as a platform owner."""
    authorize_platform(uow)
    found = uow.organization_records.names(organization_ids)
    return {organization_id: name_with_slug(name, slug) for organization_id, (name, slug) in found.items()}


def name_with_slug(name: str, slug: str) -> str:
    """Return the name of an organization with its slug, because another one may have the same name."""
    return f"{name} ({slug})"


def limits(organization: Organization, tier: Tier) -> tuple[int | None, int | None]:
    """Return the limits of services and of members in force for an organization; None is no limit."""
    own = organization.max_services
    services = own if own is not None else tier.default_max_services
    return services, limits_of(organization, has_tier=True, tier_max_users=tier.default_max_users).max_users


def shown_owner(owner: RecordOwner | None, *, sees_owners: bool) -> RecordOwner | None:
    """Return the owner of an organization as far as a reader may see them."""
    return None if owner is not None and owner.is_platform_owner and not sees_owners else owner


def _matching(uow: UnitOfWork, wanted: OrganizationFilter) -> tuple[OrganizationFilter, Matches]:
    """Return the filter with its text in the form for comparison, and the organizations that are known to match."""
    # A text may be an owner's address.
    caller = support_access.open_list(uow, NarrowedList.ORGANIZATIONS, Narrowing.of(wanted.search))
    text = wanted.search.strip().lower()
    matches = (
        uow.organization_records.matches(text, hides_owners=not caller.acts_as_platform_owner) if text else Matches()
    )
    return replace(wanted, search=text), matches


def _page(
    uow: UnitOfWork, wanted: OrganizationFilter, matches: Matches, *, after: Position | None, limit: int
) -> Sequence[ListedOrganization]:
    sees_owners = uow.caller.acts_as_platform_owner
    found = uow.organization_records.page(wanted, matches, after=after, limit=limit)
    return [replace(one, owner=shown_owner(one.owner, sees_owners=sees_owners)) for one in found]
