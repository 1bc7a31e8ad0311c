"""Who may do what: capabilities, the roles that hold them, and what each operation takes (decisions 5.4).

A route declares its operation, and its use case begins with `authorize` or `authorize_platform`, or with `uow.caller`
where only the person matters. Everything is decided from the present state of the database, in the transaction of the
use case.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Final

from core.errors import Forbidden, NotFound, OrganizationNotActive
from core.organizations.memberships import ADMIN, MEMBER, OWNER
from core.organizations.organizations import OrganizationStatus, is_trusted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from core.organizations.memberships import Membership
    from core.organizations.organizations import Organization
    from core.sessions.callers import Caller
    from ports.unit_of_work import UnitOfWork


class SecondFactorRequired(Forbidden):
    """The organization asks its members for two factors, and this session was begun with one."""

    default_message = (
        "This organization asks for multi-factor authentication. Set MFA up if you have not, and sign in again with a"
        " code."
    )


class DeviceTrustedTooLongAgo(Forbidden):
    """The device stood in for the second factor, and has done so for longer than the organization allows."""

    default_message = (
        "Your device was trusted longer ago than this organization allows."
        " Sign in again, naming this organization, and give a code."
    )


class Capability(StrEnum):
    """Something that a role may allow (decisions 5.4)."""

    ORG_SETTINGS_MANAGE = "org.settings.manage"
    ORG_MEMBERS_VIEW = "org.members.view"
    ORG_MEMBERS_MANAGE = "org.members.manage"
    ORG_ROLES_MANAGE = "org.roles.manage"
    BILLING_MANAGE = "billing.manage"
    SERVICES_VIEW = "services.view"
    SERVICES_CREATE = "services.create"
    SERVICES_MANAGE = "services.manage"
    END_USERS_VIEW = "end_users.view"
    END_USERS_MANAGE = "end_users.manage"
    WEBHOOKS_MANAGE = "webhooks.manage"
    INTEGRATIONS_MANAGE = "integrations.manage"
    AUDIT_LOGS_VIEW = "audit_logs.view"
    ANALYTICS_VIEW = "analytics.view"


_EVERYTHING: Final = frozenset(Capability)
# What the documents let any member do.
_VIEWS: Final = frozenset(
    {Capability.ORG_MEMBERS_VIEW, Capability.SERVICES_VIEW, Capability.END_USERS_VIEW, Capability.ANALYTICS_VIEW}
)
_BUILT_IN: Final = {OWNER: _EVERYTHING, ADMIN: _EVERYTHING, MEMBER: _VIEWS}


def capabilities_of(role: str, custom_permissions: Iterable[str] | None) -> frozenset[Capability]:
    """Say what a role allows; a custom role allows what it lists."""
    if role in _BUILT_IN:
        return _BUILT_IN[role]
    return frozenset(Capability(permission) for permission in custom_permissions or ())


class Standing(StrEnum):
    """What an operation may take instead of a capability."""

    MEMBER = "member"
    OWNER = "owner"


_ACTIVE: Final = frozenset({OrganizationStatus.ACTIVE})
_ANY_STATUS: Final = frozenset(OrganizationStatus)


class Operation(Enum):
    """What can be done in an organization: what it takes, and in which states of the organization it can be done."""

    ORGANIZATION_READ = ("read the organization", Standing.MEMBER, _ANY_STATUS)
    ORGANIZATION_UPDATE = ("change the organization", Capability.ORG_SETTINGS_MANAGE, _ACTIVE)
    ORGANIZATION_DELETE = ("delete the organization", Standing.OWNER, _ANY_STATUS - {OrganizationStatus.SUSPENDED})
    ORGANIZATION_SELECT = ("select the organization", Standing.MEMBER, _ACTIVE)
    OWNERSHIP_TRANSFER = ("transfer the ownership", Standing.OWNER, _ACTIVE)
    MEMBERS_LIST = ("list the members", Capability.ORG_MEMBERS_VIEW, _ACTIVE)
    MEMBER_CHANGE = ("change a member's role", Standing.OWNER, _ACTIVE)
    MEMBER_REMOVE = ("remove a member", Capability.ORG_MEMBERS_MANAGE, _ACTIVE)
    ROLES_READ = ("read the roles", Standing.MEMBER, _ACTIVE)
    ROLES_CHANGE = ("change the roles", Capability.ORG_ROLES_MANAGE, _ACTIVE)
    INVITATIONS_LIST = ("list the invitations", Capability.ORG_MEMBERS_MANAGE, _ACTIVE)
    INVITATIONS_CHANGE = ("invite people", Capability.ORG_MEMBERS_MANAGE, _ACTIVE)
    END_USERS_READ = ("read the end users", Capability.END_USERS_VIEW, _ACTIVE)
    END_USERS_CHANGE = ("end the sessions of end users", Capability.END_USERS_MANAGE, _ACTIVE)
    AUDIT_LOG_READ = ("read the audit log", Capability.AUDIT_LOGS_VIEW, _ACTIVE)
    ANALYTICS_READ = ("read the analytics", Capability.ANALYTICS_VIEW, _ACTIVE)
    SERVICE_GRANTS_CHANGE = ("grant access to services", Capability.SERVICES_MANAGE, _ACTIVE)

    takes: Capability | Standing
    statuses: frozenset[OrganizationStatus]

    def __new__(cls, words: str, takes: Capability | Standing, statuses: frozenset[OrganizationStatus]) -> Operation:
        """Make an operation of its words, which are its value."""
        member = object.__new__(cls)
        member._value_ = words
        member.takes = takes
        member.statuses = statuses
        return member


# What the organization asks for can always be seen; and who asked for more than they have themselves can take it back.
_WITH_ONE_FACTOR: Final = frozenset({Operation.ORGANIZATION_READ, Operation.ORGANIZATION_UPDATE})


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessContext:
    """Who asks and what they are in an organization, as stored; what they may do there is not decided yet."""

    caller: Caller
    organization: Organization | None
    membership: Membership | None
    custom_permissions: list[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationAccess:
    """An organization that the caller was let into."""

    caller: Caller
    organization: Organization
    membership: Membership
    capabilities: frozenset[Capability]

    def require(self, capability: Capability) -> None:
        """Refuse who lacks a capability that only some forms of an operation take."""
        if capability not in self.capabilities:
            raise _lacks(capability)


def authorize(uow: UnitOfWork, slug: str, operation: Operation) -> OrganizationAccess:
    """Authorize the caller for an operation in an organization, or refuse in the order of decisions 1.6."""
    arrival = uow.access_context(slug)
    organization, membership = arrival.organization, arrival.membership
    if organization is None:
        raise NotFound("There is no such organization.")
    if membership is None:
        raise Forbidden("You are not a member of this organization.")
    arrival.caller.forbid_services()
    if organization.status not in operation.statuses:
        raise OrganizationNotActive(f"This organization is {organization.status}.")
    capabilities = capabilities_of(membership.role, arrival.custom_permissions)
    _require(operation.takes, membership, capabilities)
    # Else not to name the organization at sign-in would be the way around its setting.
    if organization.mfa_required and operation not in _WITH_ONE_FACTOR:
        require_second_factor(arrival.caller)
        require_device_trust(uow, arrival.caller, organization)
    return OrganizationAccess(
        caller=arrival.caller, organization=organization, membership=membership, capabilities=capabilities
    )


def authorize_and_lock(uow: UnitOfWork, slug: str, operation: Operation) -> OrganizationAccess:
    """Authorize the caller, and keep everyone else from changing permissions until this transaction ends."""
    uow.organizations.lock(authorize(uow, slug, operation).organization.id)
    # Asked once more: whoever had the lock before may have removed the caller.
    return authorize(uow, slug, operation)


def authorize_platform(uow: UnitOfWork) -> Caller:
    """Return the caller if they are a platform owner, in person; raise `Forbidden` otherwise."""
    caller = uow.caller
    if not caller.is_governing:
        raise Forbidden("Only a platform owner can do this.")
    return caller


def require_second_factor(caller: Caller) -> None:
    """Refuse who has given one factor where an organization asks its members for two."""
    # Whoever governs the platform is not held off by the settings of an organization.
    if not (caller.has_second_factor or caller.is_impersonated):
        raise SecondFactorRequired


def require_device_trust(uow: UnitOfWork, caller: Caller, organization: Organization) -> None:
    """Refuse whose device would not have stood in for the second factor had the session begun in the organization."""
    if caller.is_impersonated or not caller.is_remembered:
        return
    device = uow.devices.by_id(caller.device_id, at=uow.now) if caller.device_id is not None else None
    trusted_at = device.mfa_trusted_at if device is not None else None
    if not is_trusted(trusted_at, organization.device_trust, at=caller.authenticated_at):
        raise DeviceTrustedTooLongAgo


def _require(takes: Capability | Standing, membership: Membership, capabilities: frozenset[Capability]) -> None:
    if takes is Standing.OWNER and membership.role != OWNER:
        raise Forbidden("Only the owner of the organization can do this.")
    if isinstance(takes, Capability) and takes not in capabilities:
        raise _lacks(takes)


def _lacks(capability: Capability) -> Forbidden:
    return Forbidden(f"Your role in this organization does not include {capability}. Ask its owner.")
