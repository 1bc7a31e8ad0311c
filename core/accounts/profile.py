"""The caller's profile, in the context of the session."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.accounts.names import PersonNames
from core.credentials.mfa import MfaStatus
from core.lazy_dataclasses import dataclass
from core.organizations import access
from core.organizations.access import Capability
from core.sessions.callers import Caller
from core.sessions.customer_contexts import CustomerContext

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The caller's account in the context of the session; `org` and `service` are empty outside such a context.

    `email` is the address that the caller has asked to change to, with `email_verified` false, until it is verified.
    `name` is the name that the caller has set, else the one of the organization's directory.
    """

    id: UUID
    email: str
    name: str | None
    org: str
    service: str
    email_verified: bool
    is_platform_owner: bool
    is_platform_support: bool
    created_at: datetime
    role: str | None
    permissions: list[Capability]
    plan: str | None
    features: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileWithRoles(Profile):
    """The same for a session of a service with roles of its own: those that the user has there."""

    service_roles: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileForCustomer(ProfileWithRoles):
    """The same for a session that acts for a customer of its service; role and capabilities are empty there."""

    customer: str
    customer_id: UUID
    customer_name: str
    customer_role: str | None
    customer_external_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCaller:
    """The caller, their names in the context of the session, and the address that they have asked for.

    The address is the one of their valid token for the change, None without one.
    """

    caller: Caller
    names: PersonNames
    requested_email: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInMethods:
    """What the caller signs in with."""

    has_password: bool
    second_factor: MfaStatus
    passkeys: int


def sign_in_methods(uow: UnitOfWork) -> SignInMethods:
    """Return what the caller signs in with."""
    user_id = uow.caller.account.id
    return SignInMethods(
        has_password=uow.credentials.has_password(user_id),
        second_factor=uow.second_factors.status(user_id),
        passkeys=len(uow.passkeys.of_user(user_id)),
    )


def read(uow: UnitOfWork) -> Profile | ProfileWithRoles | ProfileForCustomer:
    """Return the caller's profile."""
    found = uow.named_caller
    mine = _profile_of(found.caller, found.names.shown)
    requested = found.requested_email
    mine = replace(mine, email=requested, email_verified=False) if requested is not None else mine
    customer, service_roles = found.caller.place.customer, found.caller.service_roles
    if customer is not None:
        return _for_customer(mine, customer)
    return mine if service_roles is None else ProfileWithRoles(**_values(mine), service_roles=service_roles)


def _for_customer(mine: Profile, customer: CustomerContext) -> ProfileForCustomer:
    powerless = replace(mine, is_platform_owner=False, is_platform_support=False)
    return ProfileForCustomer(
        **_values(powerless),
        customer=customer.slug,
        customer_id=customer.id,
        customer_name=customer.name,
        customer_role=customer.role,
        customer_external_id=customer.external_id,
        service_roles=customer.service_roles,
    )


def _values(mine: Profile) -> dict[str, Any]:
    return {field.name: getattr(mine, field.name) for field in fields(Profile)}


def _profile_of(caller: Caller, name: str | None) -> Profile:
    role = caller.opened_role
    capabilities = access.capabilities_of(role, caller.place.custom_permissions) if role is not None else ()
    return Profile(
        id=caller.account.id,
        email=caller.account.email,
        name=name,
        org=caller.place.organization_slug or "",
        service=caller.place.service_slug or "",
        email_verified=caller.account.is_verified,
        is_platform_owner=caller.account.is_platform_owner,
        is_platform_support=caller.account.is_platform_support,
        created_at=caller.account.created_at,
        role=role,
        permissions=sorted(capabilities),
        plan=caller.place.plan.name if caller.place.plan is not None else None,
        features=caller.place.plan.features if caller.place.plan is not None else [],
    )
