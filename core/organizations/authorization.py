"""Authorizing a caller: for an operation in an organization, for the platform, and for its support.

A route declares its operation, whose requirements are in `access.py`. Its use case begins with `authorize` or
`authorize_platform`, or with `uow.caller` where it concerns only the caller. Every decision is made from the current
state of the database, in the transaction of the use case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import Forbidden, NotFound, OrganizationNotActive, SsoRequired
from core.lazy_dataclasses import dataclass
from core.organizations import session_strength
from core.organizations.access import Capability, Operation, RequiredStanding, allows_no_less, capabilities_of
from core.organizations.organizations import ADMIN, BUILT_IN_ROLES, OWNER, Membership, Organization, OrganizationStatus
from core.sessions.caller_limits import Act, AddressNotConfirmed
from core.sessions.callers import Caller
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class MembershipSuspended(Forbidden):
    """The directory of the organization has deactivated the member."""

    default_message = (
        "Your membership in this organization is deactivated. Ask its administrators to activate it, or leave the"
        " organization."
    )


# A vendor made the organization, a person has claimed it, and it waits for approval. Besides what every status opens,
# it opens what vendors have made and may set up for it, and the end of its relation to a vendor, which works meanwhile.
_OF_CLAIMED_AND_PENDING: Final = frozenset(
    {
        Operation.PRODUCTS_READ,
        Operation.VENDOR_SETUP_CHANGE,
        Operation.PRODUCT_END,
        Operation.MADE_FOR_US_READ,
        Operation.MADE_FOR_US_ADOPT,
        Operation.MADE_FOR_US_REMOVE,
    }
)

# Members can always read what the organization requires, and leave. `management.py` refuses only changes that require
# less.
_WITH_ONE_FACTOR: Final = frozenset(
    {Operation.ORGANIZATION_READ, Operation.ORGANIZATION_UPDATE, Operation.ORGANIZATION_LEAVE}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessContext:
    """The caller, an organization and the caller's membership in it, as stored; access is not decided yet.

    `is_unconfirmed` means that another person made the membership, and that the user has not used it yet,
    `is_suspended` that the directory of the organization has deactivated the member, `is_single_sign_on_missing` that
    the organization requires its own sign-in of them, and the session began otherwise, and `is_claimed` that a vendor
    made the organization, and a person has claimed it. For a key of the organization, the caller is its maker with the
    maker's membership, and `narrowed` limits the access to what the key may do.
    """

    caller: Caller
    organization: Organization | None
    membership: Membership | None
    custom_permissions: list[str] | None
    is_unconfirmed: bool
    is_suspended: bool = False
    is_single_sign_on_missing: bool = False
    is_claimed: bool = False
    narrowed: Callable[[UnitOfWork, OrganizationAccess, Operation], OrganizationAccess] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationAccess:
    """The caller's authorized access to an organization."""

    caller: Caller
    organization: Organization
    membership: Membership
    capabilities: frozenset[Capability]

    def require(self, capability: Capability) -> None:
        """Raise `Forbidden` without a capability that only a variant of the operation requires."""
        if capability not in self.capabilities:
            raise _missing(capability)

    def forbid_lasting(self) -> None:
        """Raise `OutlastsImpersonation` for an impersonator, whose change would outlast the impersonation.

        For the part of an operation that is `WhileImpersonating.JUDGED`.
        """
        self.caller.require(Act.LASTING)

    def require_no_less(self, capabilities: frozenset[Capability], action: str) -> None:
        """Raise `Forbidden` when a person's role has a capability that the caller and plain members lack."""
        if not allows_no_less(self.capabilities, capabilities):
            raise Forbidden(
                Wording(
                    "You cannot %(action)s a person whose role allows more than your own. Ask an owner or admin.",
                    action=action,
                )
            )


def authorize(
    uow: UnitOfWork,
    slug: str,
    operation: Operation,
    *,
    is_granted: Callable[[OrganizationAccess], bool] | None = None,
) -> OrganizationAccess:
    """Authorize the caller for an operation in an organization.

    The order of refusals: an unknown organization, no usable membership, an organization that is not active, the role.
    Use cases validate their input after this, and look up what belongs to the organization last. `is_granted` may allow
    the operation to a member whose role lacks the capability.
    """
    context = uow.access_context(slug)
    organization, membership = _entered(context, operation)
    uow.caller_belongs_to(slug, organization.id)
    authorized = OrganizationAccess(
        caller=context.caller,
        organization=organization,
        membership=membership,
        capabilities=capabilities_of(membership.role, context.custom_permissions),
    )
    if context.narrowed is not None:
        return context.narrowed(uow, authorized, operation)
    _require(operation, authorized, is_granted)
    if operation.makes_credential:
        context.caller.require(Act.CREDENTIAL)
    elif operation.is_closed_while_impersonating:
        context.caller.require(Act.LASTING)
    # Else a sign-in that does not name the organization would bypass its setting.
    if organization.mfa_required and operation not in _WITH_ONE_FACTOR:
        session_strength.require_second_factor(context.caller, organization.mfa_methods)
        session_strength.require_device_trust(uow, context.caller, organization)
    if (
        context.is_unconfirmed
        and not context.caller.limits.is_impersonated
        and operation is not Operation.ORGANIZATION_LEAVE
    ):
        context.caller.require(Act.CONFIRM_ACCESS)
        # The user works in the organization in person, which is consent. Only their first request writes.
        uow.members.confirm(organization.id, membership.user_id)
    return authorized


def authorize_and_lock(uow: UnitOfWork, slug: str, operation: Operation) -> OrganizationAccess:
    """Lock the organization, so that its permissions cannot change until the transaction ends, and authorize."""
    uow.organizations.lock_later(authorize(uow, slug, operation).organization.id)
    # Again, behind the lock, because the transaction that held it before may have removed the caller.
    return authorize(uow, slug, operation)


def capabilities_of_role(uow: UnitOfWork, organization_id: UUID, role: str) -> frozenset[Capability]:
    """Return the present capabilities of a built-in or custom role; a role that was deleted has none."""
    custom = uow.roles.by_slug(organization_id, role) if role not in BUILT_IN_ROLES else None
    return capabilities_of(role, custom.permissions if custom is not None else None)


def authorize_platform(uow: UnitOfWork) -> Caller:
    """Return the caller; raise `Forbidden` unless they are a platform owner and not impersonated or using a service."""
    caller = uow.caller
    if not caller.acts_as_platform_owner:
        raise Forbidden("Only a platform owner can do this.")
    return caller


def authorize_support(uow: UnitOfWork) -> Caller:
    """Return the caller; raise `Forbidden` unless they are a platform owner or of the platform's support.

    Neither is impersonated or uses a service; support acts in sessions with a second factor only.
    """
    caller = uow.caller
    if not (caller.acts_as_platform_owner or caller.acts_as_platform_support):
        raise Forbidden("Only a platform owner or the platform's support can do this.")
    return caller


def _entered(context: AccessContext, operation: Operation) -> tuple[Organization, Membership]:
    """Return the organization and the membership; refuse a caller who may not enter, whatever their role."""
    organization, membership = context.organization, context.membership
    if organization is None:
        raise NotFound("There is no such organization.")
    # Before the membership, else the answer would tell a service to which organizations its user belongs.
    context.caller.require_within(organization.id)
    if membership is None:
        raise Forbidden("You are not a member of this organization.")
    if not context.caller.limits.opens_role(membership.role):
        raise AddressNotConfirmed
    if context.is_single_sign_on_missing and operation is not Operation.ORGANIZATION_LEAVE:
        raise SsoRequired
    if context.is_suspended and operation is not Operation.ORGANIZATION_LEAVE:
        raise MembershipSuspended
    if organization.status not in operation.statuses and not _is_open_to_claimed(context, organization, operation):
        raise OrganizationNotActive(Wording("This organization is %(status)s.", status=organization.status))
    return organization, membership


def _is_open_to_claimed(context: AccessContext, organization: Organization, operation: Operation) -> bool:
    is_pending = organization.status is OrganizationStatus.PENDING
    return context.is_claimed and is_pending and operation in _OF_CLAIMED_AND_PENDING


def _require(
    operation: Operation,
    authorized: OrganizationAccess,
    is_granted: Callable[[OrganizationAccess], bool] | None,
) -> None:
    takes = operation.takes
    if takes is RequiredStanding.OWNER and authorized.membership.role != OWNER:
        raise Forbidden("Only the owner of the organization can do this.")
    if takes is RequiredStanding.ADMIN and authorized.membership.role not in {OWNER, ADMIN}:
        raise Forbidden("Only the owner and the admins of the organization can do this.")
    if isinstance(takes, Capability) and takes not in authorized.capabilities:
        # Decided last, because it takes further statements.
        may_by_grant = is_granted is not None and is_granted(authorized)
        if not may_by_grant:
            raise _missing(takes)
    for capability in operation.capabilities - {takes}:
        authorized.require(capability)


def _missing(capability: Capability) -> Forbidden:
    return Forbidden(
        Wording("Your role in this organization does not include %(capability)s. Ask its owner.", capability=capability)
    )
