"""The services of other organizations that an organization uses as a customer, and offers of them (ops/decisions/0069).

Every member sees the list. What the vendor does is in `customers.py`. A record ends with the use of the service: a new
beginning is another record, and inherits nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from core.customers import claiming, relation_log
from core.customers.customers import AlreadyCustomer
from core.customers.relation_log import CustomerSide, CustomerState, Relation, RelationChange
from core.errors import BadRequest, Forbidden, NotFound, all_valid
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation
from core.organizations.authorization import OrganizationAccess, authorize, authorize_and_lock
from core.organizations.organizations import OWNER, Organization
from core.positions import Position
from core.services import assignments
from core.services.assignments import Assignment
from core.services.services import CustomerPolicy, Service
from core.sessions.callers import RECENT, Caller
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

GROUPS_MAX: Final = 200
# What the customer sets, besides its pause.
SETTINGS: Final = ("access", "assignments", "shares_directory", "groups", "hidden", "vendor_setup")


class ProductAccess(StrEnum):
    """Whether every active member may use a service, or only members that an assignment fits."""

    MEMBERS = "members"
    ASSIGNED = "assigned"


class ProductUnknown(NotFound):
    """The organization neither uses the service, nor may it begin to."""

    default_message = "Your organization has no such product, and none is offered to it."


class ProductAlreadyUsed(AlreadyCustomer):
    """The organization uses the service already."""

    default_message = "Your organization uses this product already."


class SignInTooOld(Forbidden):
    """The caller has not signed in within the last minutes, which this requires."""

    default_message = "Sign in again first: this takes a sign-in within the last ten minutes."


class ProductOnlyOffered(BadRequest):
    """The organization has not accepted the offer yet."""

    default_message = "This product is only offered to your organization. Accept the offer first."


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A service of another organization, the vendor, that an organization uses or that is offered to it."""

    customer_id: UUID
    vendor_id: UUID
    vendor_slug: str
    vendor_name: str
    service_id: UUID
    service_slug: str
    service_name: str
    client_id: UUID
    external_id: str | None
    is_accepted: bool
    is_paused_by_vendor: bool
    is_paused_by_customer: bool
    access: ProductAccess
    assignments: list[Assignment]
    shares_directory: bool
    groups: list[UUID]
    hidden: bool
    vendor_setup: list[str]
    created_at: datetime

    @property
    def state(self) -> CustomerState:
        """Whether it is only offered, else whether the members may use it."""
        is_paused = self.is_paused_by_vendor or self.is_paused_by_customer
        return relation_log.state_of(is_accepted=self.is_accepted, is_paused=is_paused)

    @property
    def position(self) -> Position:
        """The place of the product in the list of the console."""
        return Position(at=self.created_at, id=self.customer_id)

    def changes(self, before: Product) -> dict[str, Any]:
        """Return the old and the new value of each changed setting, in the form of an audit entry."""
        return {
            name: {"from": _shown(getattr(before, name)), "to": _shown(getattr(self, name))}
            for name in SETTINGS
            if getattr(before, name) != getattr(self, name)
        }

    def gives_more_than(self, before: Product) -> bool:
        """Return whether it admits more people, gives them more roles, or shows more of the customer."""
        return (
            (self.access is ProductAccess.MEMBERS and before.access is ProductAccess.ASSIGNED)
            or not assignments.are_within(self.assignments, before.assignments)
            or (self.shares_directory and not before.shares_directory)
            or not set(self.groups) <= set(before.groups)
            or (before.hidden and not self.hidden)
            or not set(self.vendor_setup) <= set(before.vendor_setup)
            or (before.is_paused_by_customer and not self.is_paused_by_customer)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductsPage:
    """A part of the products of an organization, and how many there are."""

    products: Sequence[Product]
    total: int


def list_page(uow: UnitOfWork, slug: str, *, limit: int, offset: int) -> ProductsPage:
    """List the products that an organization uses, then the offers to it, by name."""
    organization = authorize(uow, slug, Operation.PRODUCTS_READ).organization
    return uow.elsewhere.products.page(organization.id, at=uow.now, limit=limit, offset=offset)


def show(uow: UnitOfWork, slug: str, client_id: UUID) -> Product:
    """Return a product of an organization; raise `ProductUnknown` when it neither uses it nor has an offer."""
    organization = authorize(uow, slug, Operation.PRODUCTS_READ).organization
    return _found(uow, organization.id, client_id)


def accept(uow: UnitOfWork, slug: str, client_id: UUID) -> Product:
    """Accept the offer of a service, or begin to use one that is open to any organization.

    Raise `ProductUnknown` for every service that is neither, whether it exists or not, `ProductAlreadyUsed`, and
    `BadRequest` for a service of the organization's own.
    """
    organization = authorize_and_lock(uow, slug, Operation.PRODUCT_ACCEPT).organization
    client = uow.clients.find(client_id)
    if client is None:
        raise ProductUnknown
    vendor_id = client.service.organization_id
    if vendor_id == organization.id:
        raise BadRequest.of_field("client_id", "An organization is no customer of its own services.")
    # Locked, so that it stays open to the organization, which becomes its customer once.
    service = uow.products.lock_service(organization.id, vendor_id, client_id, at=uow.now)
    if service is None:
        raise ProductUnknown
    offered = uow.products.find(organization.id, client_id, at=uow.now)
    if offered is not None and offered.is_accepted:
        raise ProductAlreadyUsed
    if offered is not None:
        uow.products.accept(organization.id, offered, at=uow.now)
    elif service.customers is CustomerPolicy.ANY:
        uow.products.begin(organization.id, service, uow.randomness.new_id(), at=uow.now)
    else:
        # The vendor has withdrawn the offer meanwhile.
        raise ProductUnknown
    uow.products.keep_slug(organization.slug)
    product = _found(uow, organization.id, client_id)
    relation_log.record_by_customer(
        uow, _relation(organization, product), RelationChange.ACCEPTED, organization_id=organization.id
    )
    return product


def change(uow: UnitOfWork, slug: str, client_id: UUID, changes: Mapping[str, Any]) -> Product:
    """Change who may use a product, what its vendor learns and sets up, and the organization's own pause.

    Only the owner, shortly after a sign-in, changes what the vendor sets up. Raise `ProductUnknown`,
    `ProductOnlyOffered`, `SignInTooOld`, and `BadRequest` for what does not belong to the organization or the service.
    """
    is_setup_alone = set(changes) == {"vendor_setup"}
    operation = Operation.VENDOR_SETUP_CHANGE if is_setup_alone else Operation.PRODUCTS_CHANGE
    authorized = authorize_and_lock(uow, slug, operation)
    organization = authorized.organization
    given = dict(changes)
    # Invalid input is refused before an unknown product.
    assigned, groups, parts = all_valid(
        lambda: assignments.checked(given.get("assignments", ())),
        lambda: _checked_groups(given.get("groups", ())),
        lambda: claiming.checked_parts(given.get("vendor_setup", ())),
    )
    service = _lock_service(uow, organization.id, client_id)
    before = _found(uow, organization.id, client_id)
    if not before.is_accepted:
        raise ProductOnlyOffered
    if "assignments" in given:
        given["assignments"] = assigned
        assignments.require_known(uow, organization.id, service, assigned, before=before.assignments)
    if "groups" in given:
        given["groups"] = groups
        _require_known_groups(uow, organization.id, groups)
    if "vendor_setup" in given:
        given["vendor_setup"] = parts
    is_paused = given.pop("paused", before.is_paused_by_customer)
    after = replace(before, **given, is_paused_by_customer=is_paused)
    _require_allowed(uow, authorized, before, after)
    if after.changes(before):
        _save(uow, organization, before, after)
    if after.is_paused_by_customer != before.is_paused_by_customer:
        _set_pause(uow, organization, after)
    return _found(uow, organization.id, client_id)


def end(uow: UnitOfWork, slug: str, client_id: UUID) -> None:
    """Decline the offer of a product, or end its use; a later beginning is another record."""
    organization = authorize_and_lock(uow, slug, Operation.PRODUCT_END).organization
    _lock_service(uow, organization.id, client_id)
    product = _found(uow, organization.id, client_id)
    uow.products.remove(organization.id, product)
    change = RelationChange.ENDED if product.is_accepted else RelationChange.DECLINED
    relation_log.record_by_customer(uow, _relation(organization, product), change, organization_id=organization.id)


def require_recent(uow: UnitOfWork, caller: Caller) -> None:
    """Raise `SignInTooOld` unless the caller has just signed in."""
    if uow.now - caller.session.authenticated_at > RECENT:
        raise SignInTooOld


def assign_also(
    uow: UnitOfWork, organization: Organization, client_id: UUID, subject: str, roles: Sequence[str]
) -> None:
    """Give a subject these roles of a product as well; the organization and the service are locked.

    Raise `ProductUnknown`, and `BadRequest` for more assignments than a product can have.
    """
    before = _found(uow, organization.id, client_id)
    held = {role for one in before.assignments if one.subject == subject for role in one.roles}
    assigned = assignments.checked(assignments.with_one(before.assignments, subject, sorted(held | {*roles})))
    _save(uow, organization, before, replace(before, assignments=assigned))


def _lock_service(uow: UnitOfWork, organization_id: UUID, client_id: UUID) -> Service:
    """Lock the service of a product, so that neither its roles nor the record change meanwhile, and return it."""
    vendor_id = _found(uow, organization_id, client_id).vendor_id
    service = uow.products.lock_service(organization_id, vendor_id, client_id, at=uow.now)
    if service is None:
        raise ProductUnknown
    return service


def _found(uow: UnitOfWork, organization_id: UUID, client_id: UUID) -> Product:
    product = uow.products.find(organization_id, client_id, at=uow.now)
    if product is None:
        raise ProductUnknown
    return product


def _require_allowed(uow: UnitOfWork, authorized: OrganizationAccess, before: Product, after: Product) -> None:
    if after.vendor_setup != before.vendor_setup:
        _require_owner(uow, authorized)
    if after.shares_directory and not before.shares_directory:
        authorized.require(Capability.ORG_MEMBERS_VIEW)
    if after.gives_more_than(before):
        authorized.forbid_lasting()


def _require_owner(uow: UnitOfWork, authorized: OrganizationAccess) -> None:
    """Raise `Forbidden` unless the caller is the owner, and `SignInTooOld` unless they have just signed in."""
    caller = authorized.caller
    if authorized.membership.role != OWNER or caller.limits.acts_for_maker:
        raise Forbidden("Only the owner of the organization can say what the vendor sets up.")
    require_recent(uow, caller)


def _save(uow: UnitOfWork, organization: Organization, before: Product, after: Product) -> None:
    uow.products.save(organization.id, after)
    if after.assignments != before.assignments:
        uow.products.assign(organization.id, after)
    taken_away = [part for part in before.vendor_setup if part not in after.vendor_setup]
    if taken_away:
        claiming.close_parts(uow, after.customer_id, taken_away)
    relation = _relation(organization, after)
    uow.record(
        AuditAction.PRODUCT_ACCESS_UPDATED,
        after.customer_id,
        organization_id=organization.id,
        by=CustomerSide.CUSTOMER,
        **relation.seen_by_customer,
        changes=after.changes(before),
    )


def _set_pause(uow: UnitOfWork, organization: Organization, after: Product) -> None:
    is_paused = after.is_paused_by_customer
    uow.products.set_pause(organization.id, after, uow.now if is_paused else None)
    change = RelationChange.PAUSED if is_paused else RelationChange.RESUMED
    relation_log.record_by_customer(uow, _relation(organization, after), change, organization_id=organization.id)


def _checked_groups(ids: Sequence[UUID]) -> list[UUID]:
    groups = sorted(set(ids))
    if len(groups) > GROUPS_MAX:
        raise BadRequest.of_field("groups", Wording("At most %(maximum)s groups.", maximum=GROUPS_MAX))
    return groups


def _require_known_groups(uow: UnitOfWork, organization_id: UUID, groups: Sequence[UUID]) -> None:
    known = uow.group_rules.known_groups(organization_id, [str(one) for one in groups])
    if len(known) < len(groups):
        raise BadRequest.of_field("groups", "Your directory has no group with one of these ids.")


def _relation(organization: Organization, product: Product) -> Relation:
    """Return what both logs record; the customer's name only once it has accepted: the vendor's log shows it."""
    return Relation(
        customer_id=product.customer_id,
        vendor_id=product.vendor_id,
        vendor_slug=product.vendor_slug,
        vendor_name=product.vendor_name,
        service_slug=product.service_slug,
        service_name=product.service_name,
        client_id=product.client_id,
        external_id=product.external_id,
        customer_organization_id=organization.id,
        customer_slug=organization.slug,
        customer_name=organization.name if product.is_accepted else None,
    )


def _shown(value: Any) -> Any:
    """Return the value of a setting in the form of an audit entry."""
    if not isinstance(value, list):
        return value
    shown = cast("list[Assignment | UUID]", value)
    return [asdict(one) if isinstance(one, Assignment) else str(one) for one in shown]
