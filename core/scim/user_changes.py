"""Creating, changing, deactivating and removing users by SCIM.

Each change locks the organization, so that of two changes of its members the second sees the first. A change without a
difference writes nothing. What an organization may do to an account that also belongs elsewhere is in
`core/accounts/own_accounts.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.accounts import own_accounts
from core.accounts.users import fresh_account
from core.email_addresses import normalize_email
from core.errors import Forbidden, Refusal
from core.events.actions import AuditAction
from core.events.events import EventType
from core.organizations import departures, inviters, keys, members
from core.organizations.organizations import MEMBER, OWNER, Membership, Organization
from core.scim import tokens, users
from core.scim.patches import PatchOperation
from core.scim.refusals import (
    InvalidValue,
    MemberProtected,
    MembersFull,
    ResourceUnknown,
    UserExists,
    VersionOutdated,
)
from core.scim.user_patches import UserValues, patched
from core.scim.users import AT, DirectoryProfile, DirectoryUser
from core.sessions import sessions
from core.tables import PartialTable
from core.wording import Wording

if TYPE_CHECKING:
    from core.deferred import Deferred
    from ports.unit_of_work import UnitOfWork

# The provider of accounts that a directory creates.
PROVIDER: Final = "scim"
TEXT_CHARACTERS_MAX: Final = 255

# The attributes of a profile as clients know them.
_ATTRIBUTES: Final = {
    "user_name": "userName",
    "external_id": "externalId",
    "formatted_name": "name.formatted",
    "given_name": "name.givenName",
    "family_name": "name.familyName",
    "display_name": "displayName",
    "is_primary": "emails.primary",
}
# The actions in a customer's log for people that a directory of its vendor admits: they are members of nothing.
_FOR_CUSTOMERS: Final = PartialTable(
    {
        AuditAction.USER_JOINED: AuditAction.CUSTOMER_USER_ADDED,
        AuditAction.USER_UPDATED: AuditAction.CUSTOMER_USER_CHANGED,
        AuditAction.USER_DEACTIVATED: AuditAction.CUSTOMER_USER_CHANGED,
        AuditAction.USER_REACTIVATED: AuditAction.CUSTOMER_USER_CHANGED,
        AuditAction.USER_REMOVED: AuditAction.CUSTOMER_USER_REMOVED,
    }
)
_MADE: Final = frozenset({"made_given_name", "made_family_name"})
assert set(_ATTRIBUTES) | _MADE == {one.name for one in fields(DirectoryProfile)}, (
    "an attribute of a profile has no name"
)


class AddressNotYours(Forbidden):
    """The account is not the organization's own, so only its user changes the address."""

    default_message = "Only the user can change the address of this account: it does not belong to you alone."


def create(uow: UnitOfWork, values: UserValues) -> DirectoryUser:
    """Make the account with an address a member; create it without a password if there is none.

    Raise `UserExists` when the organization has this user already, and `MembersFull`.
    """
    organization = tokens.authorize_and_lock(uow)
    address, profile = _checked(uow, values, current=None)
    _require_free_name(uow, organization.id, profile.user_name, None)
    found = uow.own_accounts.find_or_create(fresh_account(uow, address), organization.id)
    if found.is_anonymized:
        raise InvalidValue("userName: This is not the address of a person.")
    membership = Membership(
        id=uow.randomness.new_id(), organization_id=organization.id, user_id=found.id, role=MEMBER, created_at=uow.now
    )
    # Unconfirmed, because only its user gives the organization power over the account.
    is_added = uow.members.defer_add(membership, is_confirmed=False)
    has_room = members.defer_room(uow, organization)
    if not is_added():
        raise UserExists
    if not has_room():
        raise MembersFull
    uow.scim_users.save(organization.id, found.id, profile)
    # The event does not tell whether the account is new to the platform.
    if not found.is_known:
        uow.publish(
            EventType.USER_SIGNUP_SUCCESS,
            organization_id=organization.id,
            user_id=str(found.id),
            provider=PROVIDER,
            scim_token_id=str(uow.scim_caller.token_id),
        )
    record(uow, AuditAction.USER_JOINED, organization.id, found.id, role=MEMBER)
    if values.is_active is not False:
        uow.own_accounts.activate(organization.id, [found.id], at=uow.now)
        if organization.is_internal:
            # No mail: the first use of the service asks the person, and there is nothing else to confirm.
            return users.find_account(uow, organization.id, found.id)
        users.send(uow, organization, [membership], uow.scim_groups.lock_new(found.id))
    else:
        _suspend(uow, organization.id, users.find_account(uow, organization.id, found.id))
    return users.find_account(uow, organization.id, found.id)


def replace(
    uow: UnitOfWork, known_id: UUID, values: UserValues, *, versions: Collection[str] | None = None
) -> DirectoryUser | Refusal:
    """Replace a user by the values that a directory sends; without any name, names are derived from the address again.

    Raise `VersionOutdated` unless the user has one of the versions, if there are any.
    """
    organization = tokens.authorize_and_lock(uow)
    current = _locked(uow, organization.id, known_id, versions)
    return _changed(uow, organization, current, values)


def patch(
    uow: UnitOfWork, known_id: UUID, operations: Sequence[PatchOperation], *, versions: Collection[str] | None = None
) -> DirectoryUser | Refusal:
    """Apply the operations of a PATCH; raise `VersionOutdated` as `replace` does."""
    organization = tokens.authorize_and_lock(uow)
    current = _locked(uow, organization.id, known_id, versions)
    values = patched(current, operations)
    return _changed(uow, organization, current, values, derives_names=False)


def remove(uow: UnitOfWork, known_id: UUID, *, versions: Collection[str] | None = None) -> None:
    """Delete an account that this organization made and that belongs nowhere else; take from any other what it gave."""
    organization = tokens.authorize_and_lock(uow)
    user = _locked(uow, organization.id, known_id, versions)
    user_id = user.user_id
    _protect(user)
    tokens.require_may_change(uow, organization.id, user.role)
    belonging = uow.own_accounts.lock(organization.id, user_id)
    is_deleted = belonging is not None and belonging.may_be_deleted_by(organization.id)
    # The event does not tell whether the account is deleted, because that tells whether it existed before.
    record(uow, AuditAction.USER_REMOVED, organization.id, user_id, role=user.role)
    inviters.withdraw(uow, organization.id, user_id)
    departures.tell_owner(uow, organization.id, [user_id])
    keys.end_of_makers(uow, [user_id], organization.id)
    if is_deleted:
        uow.own_accounts.delete(organization.id, user_id)
        return
    own_accounts.take_access(uow, organization.id, belonging)
    ended = sessions.end_in_organization(uow, organization.id, user_id)
    sessions.record_ended(uow, user_id, user.email, ended)
    uow.scim_users.delete_sign_ins(organization.id, user_id)
    departures.end(uow, organization.id, [user_id], departures.OF_ORGANIZATION)
    uow.members.remove(organization.id, user_id)


def record(uow: UnitOfWork, action: AuditAction, organization_id: UUID, user_id: UUID, **details: Any) -> None:
    """Record a change of a user, with the token as the actor.

    For a directory that a vendor has connected for a customer, the customer's log has the change, and the vendor gets
    the events about people of its customers (`core/customers/people_events.py`).
    """
    if uow.scim_caller.is_for_customer:
        user = uow.users.by_id(user_id)
        details.pop("role", None)
        uow.audit_at_customer(
            _FOR_CUSTOMERS.get(action, action),
            user_id,
            organization_id,
            user_email=user.email if user is not None else None,
            change=action.event.value,
            scim_token_id=str(uow.scim_caller.token_id),
            **details,
        )
        return
    uow.record(
        action,
        user_id,
        organization_id=organization_id,
        event_only={"user_id": str(user_id), "scim_token_id": str(uow.scim_caller.token_id)},
        **details,
    )


def require_version(version: str, versions: Collection[str] | None) -> None:
    """Raise `VersionOutdated` unless the request names the version, or none."""
    if versions is not None and version not in versions:
        raise VersionOutdated


def _locked(uow: UnitOfWork, organization_id: UUID, known_id: UUID, versions: Collection[str] | None) -> DirectoryUser:
    """Return a user of a locked organization, who cannot change until the transaction ends."""
    user = users.find(uow, organization_id, known_id)
    require_version(user.version, versions)
    return user


def _changed(
    uow: UnitOfWork,
    organization: Organization,
    current: DirectoryUser,
    values: UserValues,
    *,
    derives_names: bool = True,
) -> DirectoryUser | Refusal:
    organization_id = organization.id
    address, profile = _checked(uow, values, current=current, derives_names=derives_names)
    changed = [
        name for field, name in _ATTRIBUTES.items() if getattr(profile, field) != getattr(current.profile, field)
    ]
    is_active = current.is_active if values.is_active is None else values.is_active
    if address == current.email and profile == current.profile and is_active == current.is_active:
        return current
    tokens.require_may_change(uow, organization_id, current.role)
    user_id = current.user_id
    is_held = uow.anonymization.defer_hold(current.user_id)
    _require_free_name(uow, organization_id, profile.user_name, current.user_id)
    if address != current.email:
        _require_person(is_held)
        user_id = _change_address(uow, organization, current, address)
        if user_id is None:
            # Returned, not raised, so that its count is committed.
            return UserExists("Another account has this address. Choose another one.")
        changed.append("emails")
    uow.scim_users.save(organization_id, user_id, profile)
    if changed:
        moved = {"previous_user_id": str(current.user_id)} if user_id != current.user_id else {}
        record(uow, AuditAction.USER_UPDATED, organization_id, user_id, changed=changed, **moved)
    current = current.of_account(user_id)
    if is_active and not current.is_active:
        _restore(uow, organization_id, current)
    elif current.is_active and not is_active:
        _suspend(uow, organization_id, current)
    elif not is_active:
        # Only the new address may be in a verified mail domain.
        own_accounts.take_access(uow, organization_id, uow.own_accounts.lock(organization_id, user_id))
    user = users.find_account(uow, organization_id, user_id)
    _require_person(is_held)
    return user


def _require_person(is_held: Deferred[bool]) -> None:
    """Raise `ResourceUnknown` for an anonymized account: only its membership can be removed."""
    if not is_held():
        raise ResourceUnknown


def _checked(
    uow: UnitOfWork, values: UserValues, *, current: DirectoryUser | None, derives_names: bool = True
) -> tuple[str, DirectoryProfile]:
    """Return the address and the profile of the values; raise `BadRequest`."""
    to_ascii = uow.domain_names.to_ascii
    user_name = (values.user_name if values.user_name is not None else values.email or "").strip()
    if not user_name:
        raise InvalidValue("userName: This is required.")
    if AT in user_name:
        # The userName wins over `emails`, because it is the address.
        address = normalize_email(user_name, to_ascii, "userName")
    elif values.email is not None:
        address = normalize_email(values.email, to_ascii, "emails")
    elif current is not None:
        address = current.email
    else:
        raise InvalidValue("userName: This must be an email address, or emails must have one.")
    given, family = _text("name.givenName", values.given_name), _text("name.familyName", values.family_name)
    formatted = _text("name.formatted", values.formatted_name)
    if formatted == users.joined(given, family):
        # The shown name is made of the parts, so a user that is read and sent back stays the same.
        formatted = None
    if given is None and family is None and current is not None and formatted == _made_whole(current.profile):
        formatted = None
    made_given, made_family = _made(current, values, given, family)
    if derives_names and given is None and family is None and formatted is None:
        given, family = made_given, made_family = users.names_from(address)
    return address, DirectoryProfile(
        user_name=user_name if AT in user_name else _short("userName", user_name),
        external_id=_text("externalId", values.external_id),
        formatted_name=formatted,
        given_name=given,
        family_name=family,
        display_name=_text("displayName", values.display_name),
        is_primary=values.is_primary,
        made_given_name=made_given,
        made_family_name=made_family,
    )


def _made(
    current: DirectoryUser | None, values: UserValues, given: str | None, family: str | None
) -> tuple[str | None, str | None]:
    """Return the parts of the name that the directory has not set, though it may have sent back what it read.

    These are all parts of an unchanged name, and parts that a PATCH does not name.
    """
    if current is None:
        return None, None
    profile = current.profile
    stays = (given, family) == (profile.given_name, profile.family_name)
    return (
        profile.made_given_name if stays or "given_name" in values.kept else None,
        profile.made_family_name if stays or "family_name" in values.kept else None,
    )


def _made_whole(profile: DirectoryProfile) -> str | None:
    return users.joined(profile.made_given_name, profile.made_family_name)


def _text(name: str, value: str | None) -> str | None:
    """Return the stored form of a text; an empty one is no value."""
    return _short(name, value.strip()) or None if value is not None else None


def _short(name: str, value: str) -> str:
    if len(value) > TEXT_CHARACTERS_MAX:
        raise InvalidValue(
            Wording("%(name)s: This has at most %(maximum)s characters.", name=name, maximum=TEXT_CHARACTERS_MAX)
        )
    return value


def _require_free_name(uow: UnitOfWork, organization_id: UUID, user_name: str, user_id: UUID | None) -> None:
    """Raise `UserExists` when another user has the same userName and it is no address; addresses are unique anyway."""
    if AT not in user_name and uow.scim_users.is_name_taken(organization_id, user_name, except_user_id=user_id):
        raise UserExists


def _change_address(uow: UnitOfWork, organization: Organization, current: DirectoryUser, address: str) -> UUID | None:
    belonging = uow.own_accounts.lock(organization.id, current.user_id)
    if belonging is None or not belonging.is_own_of(organization.id):
        raise AddressNotYours
    token_id = str(uow.scim_caller.token_id)
    return own_accounts.change_address(
        uow, organization, belonging, address, is_by_directory=True, scim_token_id=token_id
    )


def _suspend(uow: UnitOfWork, organization_id: UUID, user: DirectoryUser) -> None:
    """Suspend a user, and end their sessions in this organization; of its own accounts in its mail domain, all."""
    _protect(user)
    belonging = uow.own_accounts.lock(organization_id, user.user_id)
    uow.scim_users.set_suspended(organization_id, user.user_id, at=uow.now)
    inviters.withdraw(uow, organization_id, user.user_id)
    own_accounts.take_access(uow, organization_id, belonging)
    ended = sessions.end_in_organization(uow, organization_id, user.user_id)
    sessions.record_ended(uow, user.user_id, user.email, ended)
    record(uow, AuditAction.USER_DEACTIVATED, organization_id, user.user_id)


def _restore(uow: UnitOfWork, organization_id: UUID, user: DirectoryUser) -> None:
    """Give a user access and a disowned address back; an account that another organization deactivated stays so."""
    uow.scim_users.set_suspended(organization_id, user.user_id, at=None)
    uow.own_accounts.activate(organization_id, [user.user_id], at=uow.now)
    uow.own_accounts.give_back(organization_id, user.user_id, at=uow.now)
    record(uow, AuditAction.USER_REACTIVATED, organization_id, user.user_id)


def _protect(user: DirectoryUser) -> None:
    """Raise `MemberProtected` for the owner."""
    if user.role == OWNER:
        raise MemberProtected
