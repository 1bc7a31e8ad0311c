"""The export of all personal data of a person; anonymization is in `anonymization.py`.

It contains no credentials, not even as hashes, and decrypts nothing. The owner of an organization gets the data of that
organization's context alone: nothing of the account itself, of other organizations, or of sign-ins at the platform.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.accounts.users import User, UserUnknown
from core.credentials.passkeys import PasskeyItem
from core.errors import Forbidden, OrganizationNotActive
from core.events import actions
from core.events.actions import AuditAction, PlatformAction
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.organizations import session_strength
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.sessions.caller_limits import Act
from core.sessions.callers import Caller
from core.sessions.mfa_methods import MfaMethods

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Only the newest are exported; `login_events_count` counts all.
LOGIN_EVENTS_MAX: Final = 1000
MFA_EVENTS_MAX: Final = 10_000
MESSAGES_MAX: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedMembership:
    """An organization that the person is a member of."""

    organization_id: UUID
    organization_slug: str
    role: str
    joined_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedLogin:
    """A sign-in attempt; `risk_score` is 0 to 100, and `risk_factors` is a list of words as a JSON text."""

    id: UUID
    timestamp: datetime
    ip_address: str | None
    user_agent: str | None
    provider: str
    success: bool
    reason: str | None
    risk_score: int
    risk_factors: str
    geo_country: str | None
    geo_city: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedIdentity:
    """An account at an external provider with which the person signs in.

    `own_id` is the provider's own id of the person, where an organization has mapped another one; None elsewhere.
    `left_at` is when the person left the provider's organization, which unlinked the account; None while it is linked.
    `name`, `given_name` and `family_name` are the last names from the provider, None for a missing one.
    """

    provider: str
    provider_user_id: str
    linked_at: datetime
    own_id: str | None = None
    name: str | None = None
    given_name: str | None = None
    family_name: str | None = None
    left_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedGroup:
    """A group that the directory or the identity provider of an organization has put the person into.

    `source` is `scim` or the id of a connection; `name` is the group's name, or the value that the connection asserted.
    """

    organization_id: UUID
    source: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedCustomer:
    """An organization for which the person has signed in to a service that it uses as a customer.

    `customer_id` is the id of the customer record, as in tokens, and the organization is the customer.
    """

    customer_id: UUID
    organization_id: UUID
    organization_slug: str
    vendor_slug: str
    service_slug: str
    first_sign_in_at: datetime
    last_sign_in_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedAdmission:
    """A customer for which the vendor of a service has admitted the person, who need not be a member of the customer.

    `customer_id` is as in `ExportedCustomer`, which has the sign-ins. `suspended_at` is when the vendor's directory for
    the customer deactivated the person, if it did.
    """

    customer_id: UUID
    organization_slug: str
    vendor_slug: str
    service_slug: str
    admitted_at: datetime
    suspended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedAssignment:
    """An assignment of the person by an organization, to a service of its own or one that it uses as a customer.

    `roles` are the roles of the service in it.
    """

    organization_id: UUID
    organization_slug: str
    vendor_slug: str
    service_slug: str
    roles: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedMetadata:
    """What a service notes about its user."""

    organization_id: UUID
    organization_slug: str
    service_slug: str
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedMessage:
    """The message of an invitation that the person has sent or received, in an organization that they belong to."""

    organization_id: UUID
    organization_slug: str
    is_sent: bool
    message: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedMfaEvent:
    """An event of the person's second factor or of the account's security."""

    event_type: str
    timestamp: datetime
    success: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalDataExport:
    """The personal data of a person; `login_events` has the newest ones, and `login_events_count` counts all.

    `name` and `language` belong to the account, so no organization exports them.
    """

    user_id: UUID
    email: str
    name: str | None
    language: str | None
    created_at: datetime
    memberships: list[ExportedMembership]
    groups: list[ExportedGroup]
    customers: list[ExportedCustomer]
    admissions: list[ExportedAdmission]
    assignments: list[ExportedAssignment]
    service_metadata: list[ExportedMetadata]
    messages: list[ExportedMessage]
    login_events_count: int
    login_events: list[ExportedLogin]
    oauth_identities: list[ExportedIdentity]
    mfa_events: list[ExportedMfaEvent]
    passkeys: list[PasskeyItem]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedPerson:
    """A person whose data an organization may export; `is_member` means that they have confirmed a membership."""

    id: UUID
    email: str
    is_member: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedOrganization:
    """An organization of the caller, with the person as a confirmed member or an end user."""

    organization_id: UUID
    is_active: bool
    mfa_required: bool
    mfa_methods: MfaMethods


def export(uow: UnitOfWork, user_id: UUID) -> PersonalDataExport:
    """Return the personal data of a person, to that person, the platform, or an owner of one of their organizations.

    An owner gets what belongs to the context of their organizations, and nothing of the account itself.
    """
    caller = uow.caller
    user = uow.users.by_id(user_id)
    within = _within(uow, caller, user_id, user)
    if user is None:
        raise UserUnknown
    sees_account = within is None or caller.account.id == user_id
    _record(uow, caller, user, within)
    return _exported(uow, user, within, sees_account=sees_account)


def _exported(uow: UnitOfWork, user: User, within: Sequence[UUID] | None, *, sees_account: bool) -> PersonalDataExport:
    stored = uow.elsewhere.privacy_export
    memberships = stored.memberships(user.id, within=within)
    organization_ids = [one.organization_id for one in memberships]
    # With internal organizations, where vendors have admitted the person.
    letting_in = uow.members.all_organizations_of(user.id) if within is None else within
    # What was sent to the address belongs to its owner, after a proof.
    received_by = user.email if user.is_verified and not uow.caller.limits.lacks_mailed_proof else None
    return PersonalDataExport(
        user_id=user.id,
        email=user.email,
        name=user.name if sees_account else None,
        language=user.language if sees_account else None,
        created_at=user.created_at,
        memberships=list(memberships),
        groups=list(stored.groups(user.id, within=within)),
        customers=list(stored.customers(user.id, letting_in)),
        admissions=list(stored.admissions(user.id, letting_in)),
        assignments=list(stored.assignments(user.id, organization_ids)),
        service_metadata=list(stored.service_metadata(user.id, within=within)),
        messages=list(stored.messages(user.id, received_by, organization_ids, MESSAGES_MAX)),
        login_events_count=stored.count_logins(user.id, within=within),
        login_events=list(stored.newest_logins(user.id, LOGIN_EVENTS_MAX, within=within)),
        oauth_identities=list(stored.identities(user.id, within=within)),
        mfa_events=list(stored.newest_mfa_events(user.id, MFA_EVENTS_MAX)) if within is None else [],
        passkeys=[passkey.item for passkey in uow.passkeys.of_user(user.id)] if within is None else [],
    )


def show_exported(uow: UnitOfWork, slug: str, user_id: UUID) -> ExportedPerson:
    """Return the user of an export or an anonymization by an organization; raise `UserUnknown`, `Forbidden`."""
    organization = authorize(uow, slug, Operation.PERSONAL_DATA_EXPORT).organization
    user = _person_of(uow, organization.id, user_id)
    member = uow.found_members.find(organization.id, user_id)
    return ExportedPerson(id=user.id, email=user.email, is_member=member is not None and member.is_confirmed)


def export_of_organization(uow: UnitOfWork, slug: str, user_id: UUID) -> PersonalDataExport:
    """Return what belongs to the context of one organization, to its owner; raise `UserUnknown`, `Forbidden`.

    The person has confirmed the membership or signed in to a service, and is no platform owner.
    """
    authorized = authorize(uow, slug, Operation.PERSONAL_DATA_EXPORT)
    user = _person_of(uow, authorized.organization.id, user_id)
    within = (authorized.organization.id,)
    _record(uow, authorized.caller, user, within)
    return _exported(uow, user, within, sees_account=False)


def _person_of(uow: UnitOfWork, organization_id: UUID, user_id: UUID) -> User:
    """Return a person who has confirmed that they belong to an organization which the caller owns."""
    user = uow.users.by_id(user_id)
    owned = uow.privacy_export.organizations_owned_by(user_id, uow.caller.account.id)
    if user is None or organization_id not in {one.organization_id for one in owned}:
        raise UserUnknown
    if user.is_platform_owner:
        raise Forbidden("The data of a platform owner are exported and removed by the platform alone.")
    return user


def _within(uow: UnitOfWork, caller: Caller, user_id: UUID, user: User | None) -> Sequence[UUID] | None:
    """Return the organizations whose data the caller may see; None means all. Refuse a caller who may see none."""
    if caller.account.id == user_id:
        if caller.has_service_token:
            caller.require(Act.SHARED_ACCOUNT)
        return [caller.shown_within.organization_id] if caller.shown_within is not None else None
    if caller.acts_as_platform_owner:
        return None
    caller.require(Act.WITHOUT_CONTEXT)
    owned = uow.privacy_export.organizations_owned_by(user_id, caller.account.id)
    if user is None or user.is_platform_owner or not owned:
        raise Forbidden("You can export only your own data, and that of people in an organization that you own.")
    active = [one for one in owned if one.is_active]
    if not active:
        raise OrganizationNotActive
    for one in active:
        if one.mfa_required:
            session_strength.require_second_factor(caller, one.mfa_methods)
    return [one.organization_id for one in active]


def _record(uow: UnitOfWork, caller: Caller, user: User, within: Sequence[UUID] | None) -> None:
    """Record who exported the data: in the logs of the organizations, and for the platform in its own."""
    organizations = uow.members.organizations_of(user.id) if within is None else within
    for organization_id in organizations:
        uow.audit(AuditAction.USER_EXPORTED, user.id, organization_id=organization_id)
    uow.publish_to_each(
        EventType.USER_EXPORTED,
        organizations or (None,),
        actor_user_id=caller.account.id,
        actor_email=caller.account.email,
        user_id=str(user.id),
    )
    if caller.acts_as_platform_owner:
        uow.audit_platform(PlatformAction.USER_EXPORTED, user.id)
    actions.record_impersonated(uow, "user.exported", user_id=str(user.id))
