"""A vendor's member or program as a caller in the internal organization of a customer, which it sets up.

The setup of a customer is in its internal organization, made with the first such thing (ops/decisions/0113). It belongs
neither to the customer's organization nor to the vendor's. No person sees it or acts in it; its members are the people
that the customer record admits to the vendor's service, and are members of nothing else. The database keeps it active
while the customer may use the service, suspends it otherwise, and deletes it with the customer record.

The use cases for connections, mail domains, SCIM tokens and setup links run there unchanged. The
caller has no membership there, and one request opens the operations of one part alone. The maker of what it makes is
the person behind the caller: the member, or the maker of the key.

The vendor sets up every part of a customer that no person owns, and of any other the parts that its owner allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec, TypeVar
from uuid import UUID

from core.customers import customers
from core.customers.claiming import SetupPart
from core.customers.customers import ServiceCustomer, VendorPath
from core.customers.relation_log import CustomerState, Relation
from core.errors import Forbidden, OrganizationNotActive
from core.lazy_dataclasses import dataclass
from core.organizations import management
from core.organizations.access import Capability, Operation
from core.organizations.authorization import AccessContext, OrganizationAccess
from core.organizations.link_callers import Part, opened_for_customer
from core.organizations.organizations import (
    ADMIN,
    INTERNAL_PREFIX,
    MadeThrough,
    Membership,
    Organization,
    OrganizationStatus,
)
from core.services import api_keys, service_access
from core.services.api_keys import Permission
from core.services.services import Service
from core.sessions.caller_limits import CallerLimits
from core.sessions.callers import Caller, CallerAccount, CallerSession
from core.sessions.places import CallerPlace

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupAttempt:
    """When something was last tried or used, and whether that succeeded; `reason` is why it did not, None otherwise."""

    at: datetime
    succeeded: bool
    reason: str | None = None


def last_of(*attempts: SetupAttempt | None) -> SetupAttempt | None:
    """Return the last of some attempts; None without any."""
    return max((one for one in attempts if one is not None), key=lambda one: one.at, default=None)


Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")
# The capabilities that setting up requires in an ordinary organization.
_CAPABILITIES: Final = frozenset(
    {Capability.INTEGRATIONS_MANAGE, Capability.ORG_MEMBERS_MANAGE, Capability.ORG_ROLES_MANAGE}
)


class BeyondVendorSetup(Forbidden):
    """The customer has an owner, who does not let the vendor set this up."""

    default_message = (
        "This customer belongs to an organization that does not let you set this up. Its owner can allow it."
    )


class CustomerClosed(OrganizationNotActive):
    """The customer may not use the service for the time being, so nothing is set up for it."""

    default_message = "This customer is paused, or its organization is not active. Nothing is set up for it meanwhile."


class MakerOfKeyGone(Forbidden):
    """The account of the person who made the key is gone, and what is set up needs a maker."""

    default_message = "The person who made this key has no account any more. Create a new key to set customers up."


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerPath(VendorPath):
    """A customer as a request names it."""

    customer_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupVendor:
    """The vendor that sets a customer up: the service, its organization, and the person behind the caller.

    `api_key_id` is the key of the service that calls; None for a member, and for a key of the organization.
    """

    organization: Organization
    service: Service
    maker: Caller
    api_key_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupCaller:
    """A vendor in the internal organization of a customer, for some of the parts of a setup."""

    organization: Organization
    parts: Sequence[Part]
    vendor: SetupVendor
    customer: ServiceCustomer
    maker: Caller

    @property
    def made_through(self) -> MadeThrough:
        """How the vendor makes something: a program has a key of the service, or of the organization."""
        is_program = self.vendor.api_key_id is not None or self.maker.limits.key_id is not None
        return MadeThrough.PROGRAM if is_program else MadeThrough.MEMBER

    @property
    def relation(self) -> Relation:
        """What the logs say of the vendor and the customer."""
        return customers.relation(self.vendor.organization, self.vendor.service, self.customer)

    def context(self) -> AccessContext:
        """Return what `authorize` decides from."""
        return AccessContext(
            caller=self.maker,
            organization=self.organization,
            membership=Membership(
                id=self.organization.id,
                organization_id=self.organization.id,
                user_id=self.maker.account.id,
                role=ADMIN,
                created_at=self.organization.created_at,
            ),
            custom_permissions=None,
            is_unconfirmed=False,
            narrowed=self.narrowed,
        )

    def narrowed(self, _uow: UnitOfWork, maker: OrganizationAccess, operation: Operation) -> OrganizationAccess:
        """Return the access to an operation of the parts; raise `Forbidden` for any other."""
        if not any(operation in opened_for_customer(part) for part in self.parts):
            raise Forbidden("This is not set up for customers.")
        return replace(maker, capabilities=_CAPABILITIES)


def change(
    uow: UnitOfWork,
    path: CustomerPath,
    part: Part,
    use_case: Callable[Concatenate[UnitOfWork, str, Arguments], Found],
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Found:
    """Run a use case that changes the setup of a customer; raise as `enter_to_change`."""
    return use_case(uow, enter_to_change(uow, path, part).organization.slug, *args, **kwargs)


def read(
    uow: UnitOfWork,
    path: CustomerPath,
    part: Part,
    use_case: Callable[Concatenate[UnitOfWork, str, Arguments], Found],
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Found:
    """Run a use case that reads the setup of a customer; raise as `enter_to_read`."""
    return use_case(uow, enter_to_read(uow, path, part).organization.slug, *args, **kwargs)


def show(
    uow: UnitOfWork,
    path: CustomerPath,
    use_case: Callable[Concatenate[UnitOfWork, CustomerPath, Arguments], Found],
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> tuple[ServiceCustomer, Found]:
    """Return a customer and what a use case reads of its setup."""
    customer = customers.find(uow, _vendor(uow, path, Operation.CUSTOMER_SETUP_READ).service, path.customer_id)
    return customer, use_case(uow, path, *args, **kwargs)


def require_change(uow: UnitOfWork, path: CustomerPath) -> None:
    """Refuse a member who may not set customers up before a change reads anything of the customer."""
    if path.org_slug is not None and path.service_slug is not None:
        service_access.authorize(uow, path.org_slug, path.service_slug, Operation.CUSTOMER_SETUP)


def enter_to_change(uow: UnitOfWork, path: CustomerPath, *parts: Part) -> SetupCaller:
    """Let the caller act in the internal organization of a customer, which is made if there is none; it is locked.

    Without parts, the vendor may set up any part. Raise as the vendor's authorization, `CustomerUnknown`,
    `BeyondVendorSetup`, and `CustomerClosed`.
    """
    vendor = _vendor(uow, path, Operation.CUSTOMER_SETUP)
    customer = _require_open(uow, vendor.service, path.customer_id, parts)
    assert customer.organization_id is not None, "a customer that has accepted is no organization"
    # A person who claims it, and its owner who takes a part away, lock it too.
    uow.organizations.lock_later(customer.organization_id)
    organization = lock_or_add(uow, customer)
    # Again, behind the locks, because either may have happened meanwhile.
    customer = _require_open(uow, vendor.service, path.customer_id, parts)
    return _enter(uow, vendor, customer, organization, parts)


def enter_to_read(uow: UnitOfWork, path: CustomerPath, *parts: Part) -> SetupCaller:
    """Let the caller read in the internal organization of a customer; raise as `enter_to_change`."""
    vendor = _vendor(uow, path, Operation.CUSTOMER_SETUP_READ)
    customer = _require_open(uow, vendor.service, path.customer_id, parts)
    organization = uow.organizations.find_internal(customer.id) or _none_yet(uow, customer)
    return _enter(uow, vendor, customer, organization, parts)


def _enter(
    uow: UnitOfWork,
    vendor: SetupVendor,
    customer: ServiceCustomer,
    organization: Organization,
    parts: Sequence[Part],
) -> SetupCaller:
    if not organization.is_active:
        raise CustomerClosed
    limits = vendor.maker.limits
    setup = SetupCaller(
        organization=organization,
        parts=parts,
        vendor=vendor,
        customer=customer,
        maker=replace(
            vendor.maker,
            place=CallerPlace(
                organization_id=organization.id,
                organization_slug=organization.slug,
                organization_status=organization.status,
                role=ADMIN,
            ),
            limits=CallerLimits(
                impersonator_id=limits.impersonator_id,
                key_id=limits.key_id,
                workload_maker_id=limits.workload_maker_id,
            ),
        ),
    )
    uow.enter_setup(setup)
    return setup


def open_parts(customer: ServiceCustomer) -> Sequence[Part]:
    """Return the parts of a customer that its vendor may set up, in the order of `SetupPart`; none of an offer."""
    if not customer.is_accepted:
        return ()
    return [Part(one.value) for one in SetupPart if customer.is_unclaimed or one.value in customer.vendor_setup]


def _require_open(uow: UnitOfWork, service: Service, customer_id: UUID, parts: Sequence[Part]) -> ServiceCustomer:
    """Return a customer of which the vendor may set parts up; raise `CustomerUnknown` or `BeyondVendorSetup`."""
    customer = customers.find(uow, service, customer_id)
    if not customer.is_accepted:
        raise BeyondVendorSetup("This organization has not accepted the offer, so there is nothing to set up yet.")
    if customer.is_unclaimed:
        return customer
    if not customer.vendor_setup or not {part.value for part in parts} <= {*customer.vendor_setup}:
        raise BeyondVendorSetup
    return customer


def _none_yet(uow: UnitOfWork, customer: ServiceCustomer) -> Organization:
    """Return an internal organization that is not stored, and so has nothing."""
    new = new_for(uow, customer)
    is_open = customer.state is CustomerState.ACTIVE
    return replace(new, status=OrganizationStatus.ACTIVE if is_open else OrganizationStatus.SUSPENDED)


def _vendor(uow: UnitOfWork, path: CustomerPath, operation: Operation) -> SetupVendor:
    """Authorize the caller for the vendor; a change locks the vendor's organization."""
    is_change = operation is Operation.CUSTOMER_SETUP
    if path.org_slug is None or path.service_slug is None:
        return _program(uow, is_change=is_change)
    authorize = service_access.authorize_and_lock if is_change else service_access.authorize
    authorized = authorize(uow, path.org_slug, path.service_slug, operation)
    return SetupVendor(
        organization=authorized.organization, service=authorized.service, maker=authorized.caller, api_key_id=None
    )


def _program(uow: UnitOfWork, *, is_change: bool) -> SetupVendor:
    """Authorize the key of a service; raise `MakerOfKeyGone` when its maker's account is gone."""
    key = uow.service_caller
    # Locked before the use of the key is recorded, as for its other changes.
    find = uow.organizations.lock if is_change else uow.organizations.by_id
    organization = find(key.organization_id)
    caller = api_keys.authorize(uow, Permission.SETUP_CUSTOMERS)
    service = api_keys.service_of(uow, caller)
    assert organization is not None, "a service has no organization"
    made_by = uow.users.by_id(caller.made_by) if caller.made_by is not None else None
    if made_by is None:
        raise MakerOfKeyGone
    maker = Caller(
        account=CallerAccount(
            id=made_by.id,
            email=made_by.email,
            email_verified_at=made_by.email_verified_at,
            created_at=made_by.created_at,
        ),
        session=CallerSession(id=caller.key_id, amr=[], authenticated_at=uow.now),
        place=CallerPlace(),
        limits=CallerLimits(),
    )
    return SetupVendor(organization=organization, service=service, maker=maker, api_key_id=caller.key_id)


def lock_or_add(uow: UnitOfWork, customer: ServiceCustomer) -> Organization:
    """Lock and return the internal organization of an active customer; the vendor's organization is locked already."""
    found = uow.organizations.lock_internal(customer.id)
    if found is not None:
        return found
    new = new_for(uow, customer)
    uow.organizations.add_internal(new, customer.id)
    added = uow.organizations.lock_internal(customer.id)
    assert added is not None, "an internal organization was stored, and is not there"
    return added


def new_for(uow: UnitOfWork, customer: ServiceCustomer) -> Organization:
    """Return the internal organization of a customer that has none yet; it is not stored."""
    return management.new_organization(uow, f"{INTERNAL_PREFIX}{customer.id}", customer.slug)
