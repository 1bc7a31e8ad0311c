"""Anonymizing a person for good: all personal data is deleted, what organizations must keep stays (ops/decisions/0013).

The account stays as an id without a name, so that memberships, counts and audit entries keep their meaning. It cannot
be used again: all credentials are deleted, and the schema prevents reactivating it. The address is also replaced in
texts that others wrote.

Accounts that their users have closed are anonymized once they can no longer be reopened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from core.accounts import sign_in_failures
from core.accounts.users import REOPENABLE_FOR, UserUnknown
from core.audit.chain_verification import ANONYMIZED_IP_ADDRESS, ANONYMIZED_USER_AGENT
from core.email_addresses import canonical_email
from core.errors import BadRequest, Forbidden, OrganizationNotActive
from core.events.actions import AuditAction, PlatformAction
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.organizations import inviters, keys, session_strength
from core.organizations.access import Operation
from core.organizations.authorization import OrganizationAccess, authorize
from core.sessions.caller_limits import Act
from core.sessions.callers import Caller
from core.sessions.mfa_methods import MfaMethods
from core.text import checked_note

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The account that is to be anonymized."""

    id: UUID
    email: str
    is_platform_owner: bool
    anonymized_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Anonymous:
    """The values that replace the person's data."""

    email: str
    ip_address: str = ANONYMIZED_IP_ADDRESS
    user_agent: str = ANONYMIZED_USER_AGENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Affiliation:
    """An organization of a confirmed member or an end user; `is_owned` means that the caller owns it."""

    organization_id: UUID
    is_member: bool
    is_owned: bool
    is_active: bool
    mfa_required: bool
    mfa_methods: MfaMethods


def anonymize(uow: UnitOfWork, user_id: UUID) -> None:
    """Anonymize a person; repeating it changes nothing."""
    caller = uow.caller
    caller.require(Act.IN_PERSON)
    caller.require(Act.WITHOUT_CONTEXT)
    # The lock blocks new rows that refer to the account: sign-ins, memberships, log entries.
    subject = uow.anonymization.lock(user_id)
    affiliations = uow.anonymization.affiliations(user_id, owner_id=caller.account.id)
    if not caller.acts_as_platform_owner:
        _require_owning_all(uow, caller, user_id, affiliations)
    if subject is None:
        raise UserUnknown
    if subject.is_platform_owner:
        raise Forbidden("A platform owner cannot be anonymized. Demote them first.")
    if subject.anonymized_at is None:
        forget(uow, subject, affiliations, caller)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataRemoval:
    """What an anonymization ends, in numbers; `subscriptions` are the ones that the payment provider bills."""

    email: str
    sessions: int
    services: int
    subscriptions: int
    invitations: int
    keys: int
    organizations: int


def show_removal(uow: UnitOfWork, slug: str, user_id: UUID) -> DataRemoval:
    """Return what an anonymization by an organization would end; raise `UserUnknown` and `Forbidden` as it does."""
    authorized = authorize(uow, slug, Operation.PERSONAL_DATA_REMOVE)
    subject, affiliations = _subject_of(uow, authorized, uow.anonymization.find(user_id))
    organization_id = authorized.organization.id
    departure = uow.found_members.departure(organization_id, [user_id])
    services = uow.person_records.services(organization_id, user_id)
    _, sessions = uow.person_records.sessions(organization_id, user_id, limit=1)
    return DataRemoval(
        email=subject.email,
        sessions=sessions,
        services=len(services),
        subscriptions=sum(service.is_billed for service in services),
        invitations=departure.invitations,
        keys=departure.keys,
        organizations=len(affiliations),
    )


def anonymize_in_organization(uow: UnitOfWork, slug: str, user_id: UUID, *, typed_email: str, note: str) -> None:
    """Anonymize a person, as the owner of all their organizations, who has typed the person's address.

    Raise `BadRequest` for another address, `UserUnknown` for a person who has not confirmed that they belong to this
    organization, and else what `anonymize` raises. The note is kept in the audit logs.
    """
    authorized = authorize(uow, slug, Operation.PERSONAL_DATA_REMOVE)
    authorized.caller.require(Act.IN_PERSON)
    # The lock blocks new rows that refer to the account, as in `anonymize`.
    subject, affiliations = _subject_of(uow, authorized, uow.anonymization.lock(user_id))
    written = checked_note(note)
    if canonical_email(typed_email, uow.domain_names.to_ascii) != subject.email:
        raise BadRequest.of_field("email", "Type the address of the person whose data are to be removed.")
    forget(uow, subject, affiliations, authorized.caller, note=written)


def _subject_of(
    uow: UnitOfWork, authorized: OrganizationAccess, subject: Subject | None
) -> tuple[Subject, Sequence[Affiliation]]:
    """Return an account that the owner of an organization may anonymize, with all of its organizations."""
    if subject is None or subject.anonymized_at is not None:
        raise UserUnknown
    affiliations = uow.anonymization.affiliations(subject.id, owner_id=authorized.caller.account.id)
    if authorized.organization.id not in {one.organization_id for one in affiliations}:
        raise UserUnknown
    _require_owning_all(uow, authorized.caller, subject.id, affiliations)
    if subject.is_platform_owner:
        raise Forbidden("A platform owner cannot be anonymized. Demote them first.")
    return subject, affiliations


def forget(
    uow: UnitOfWork, subject: Subject, affiliations: Sequence[Affiliation], caller: Caller | None, *, note: str = ""
) -> None:
    """Anonymize a locked account, for the caller, or because its time is over."""
    addresses = sorted({subject.email, *uow.anonymization.addresses(subject.id)})
    anonymous = _deactivate(uow, subject)
    _record(uow, caller, subject, [affiliation.organization_id for affiliation in affiliations], note)
    inviters.withdraw_everywhere(uow, subject.id)
    keys.end_of_makers(uow, [subject.id], reason="maker_anonymized")
    uow.billing_cancellations.add_of_user(subject.id)
    uow.anonymization.delete_credentials(subject.id)
    marks = [sign_in_failures.hash_address(uow, address) for address in addresses]
    uow.anonymization.replace_addresses(subject.id, addresses, marks, anonymous, at=uow.now)
    uow.anonymization.replace_origins(subject.id, anonymous)


def placeholder_of(moment: datetime) -> str:
    """Return the address of an account that was anonymized at this moment."""
    return f"anonymized-{moment:%Y%m%d%H%M%S%f}@deleted.local"


def without_addresses(value: Any, addresses: Iterable[str], placeholder: str) -> Any:
    """Return the value with the placeholder instead of these addresses in all its texts."""
    # A longer address that begins or ends with one of these belongs to another person.
    alternatives = "|".join(re.escape(address) for address in addresses)
    pattern = re.compile(rf"(?<![\w.+-])(?:{alternatives})(?![\w-]|\.\w)", re.IGNORECASE)

    def cleaned(part: Any) -> Any:
        match part:
            case str():
                return pattern.sub(placeholder, part)
            case list():
                return [cleaned(item) for item in cast("list[Any]", part)]
            case dict():
                return {name: cleaned(item) for name, item in cast("dict[str, Any]", part).items()}
            case _:
                return part

    return cleaned(value)


def _require_owning_all(uow: UnitOfWork, caller: Caller, user_id: UUID, affiliations: Sequence[Affiliation]) -> None:
    """Refuse unless the caller owns every organization of the person, so that no other organization loses a user.

    The account of a mere end user belongs to the person, so no organization may anonymize it. Owners cannot anonymize
    themselves, because their organizations would have no owner. While a change of the person's address can be undone,
    no owner may anonymize the account: the ownership may have come from a takeover.
    """
    owns_all = any(one.is_member for one in affiliations) and all(one.is_owned for one in affiliations)
    if caller.account.id == user_id or not owns_all:
        raise Forbidden("Only the owner of every organization of this person, or a platform owner, can do this.")
    if not all(one.is_active for one in affiliations):
        raise OrganizationNotActive
    for one in affiliations:
        if one.mfa_required:
            session_strength.require_second_factor(caller, one.mfa_methods)
    # An intruder may have passed on the ownership, and the undo gives it back.
    if uow.anonymization.may_regain_address(user_id, at=uow.now):
        raise Forbidden(
            "The address of this person was changed within the last seven days, and the change can be undone until"
            " then. Try again after that, or ask the operator of this service for help."
        )


def _deactivate(uow: UnitOfWork, subject: Subject) -> Anonymous:
    """Deactivate the account under a placeholder address that no other account has."""
    moment = uow.now
    while not uow.anonymization.shut(subject.id, placeholder_of(moment), at=uow.now):
        moment += _MICROSECOND
    return Anonymous(email=placeholder_of(moment))


def _record(uow: UnitOfWork, caller: Caller | None, subject: Subject, organizations: Sequence[UUID], note: str) -> None:
    """Record the anonymization before addresses and programs in the logs are replaced, so that this entry's are too."""
    # In the platform's log too, before the schema adds it for processes of an earlier version.
    uow.audit_platform(PlatformAction.PERSON_ANONYMIZED, subject.id)
    uow.mfa_events.add(subject.id, PlatformAction.PERSON_ANONYMIZED.value, is_success=True, details={})
    for organization_id in organizations:
        uow.audit(
            AuditAction.USER_ANONYMIZED,
            subject.id,
            organization_id=organization_id,
            **cast("dict[str, Any]", {"note": note} if note else {}),
        )
    uow.publish_to_each(
        EventType.USER_ANONYMIZED,
        organizations or (None,),
        actor_user_id=caller.account.id if caller is not None else None,
        actor_email=caller.account.email if caller is not None else None,
        user_id=str(subject.id),
    )
    if caller is not None and caller.acts_as_platform_owner:
        uow.audit_platform(PlatformAction.USER_ANONYMIZED, subject.id)


def forget_next_closed(uow: UnitOfWork) -> bool:
    """Anonymize the account that was closed first, if its time is over; return whether there was one."""
    subject = uow.anonymization.lock_next_closed(closed_before=uow.now - REOPENABLE_FOR)
    if subject is None:
        return False
    affiliations = uow.anonymization.affiliations(subject.id, owner_id=subject.id)
    forget(uow, subject, affiliations, None)
    return True
