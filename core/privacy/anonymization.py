"""Anonymizing a person for good: all personal data is deleted, what organizations must keep remains (identity 4.7).

The account remains as an id without a name, so that memberships, counts and audit entries keep their meaning. It cannot
be used again: all credentials are deleted, and the schema does not allow an anonymized account to be reactivated. The
address is also replaced where it occurs in texts that others wrote.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, cast

from core.accounts import sign_in_failures
from core.accounts.users import UserUnknown
from core.audit.verification import ANONYMIZED_IP_ADDRESS, ANONYMIZED_USER_AGENT
from core.errors import Forbidden, OrganizationNotActive
from core.events.actions import AuditAction
from core.events.events import EventType
from core.events.platform_actions import PlatformAction
from core.organizations import inviters, keys, session_strength

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from core.sessions.callers import Caller
    from ports.unit_of_work import UnitOfWork

USER_ANONYMIZED: Final = "user_anonymized"
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
    """An organization of which a person is a confirmed member or an end user; `is_owned` means by the caller."""

    organization_id: UUID
    is_member: bool
    is_owned: bool
    is_active: bool
    mfa_required: bool


def anonymize(uow: UnitOfWork, user_id: UUID) -> None:
    """Anonymize a person; repeating it changes nothing."""
    caller = uow.caller
    caller.forbid_impersonation()
    caller.forbid_service_tokens()
    # The lock blocks every row that would refer to the account: sign-ins, memberships, log entries.
    subject = uow.anonymization.lock(user_id)
    affiliations = uow.anonymization.affiliations(user_id, owner_id=caller.user_id)
    if not caller.acts_as_platform_owner:
        _require_owning_all(caller, user_id, affiliations)
    if subject is None:
        raise UserUnknown
    if subject.is_platform_owner:
        raise Forbidden("A platform owner cannot be anonymized. Demote them first.")
    if subject.anonymized_at is None:
        forget(uow, subject, affiliations, caller)


def forget(uow: UnitOfWork, subject: Subject, affiliations: Sequence[Affiliation], caller: Caller | None) -> None:
    """Anonymize a locked account, on behalf of the caller, or because its time is over."""
    addresses = sorted({subject.email, *uow.anonymization.addresses(subject.id)})
    anonymous = _deactivate(uow, subject)
    _record(uow, caller, subject, [affiliation.organization_id for affiliation in affiliations])
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
    # A longer address that ends or begins with one of these belongs to another person.
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


def _require_owning_all(caller: Caller, user_id: UUID, affiliations: Sequence[Affiliation]) -> None:
    """Refuse unless the caller owns every organization of the person, so that no other organization loses a user.

    An account that is only an end user belongs to the person, so no organization may anonymize it. Owners cannot
    anonymize themselves, because their organizations would have no owner.
    """
    owns_all = any(one.is_member for one in affiliations) and all(one.is_owned for one in affiliations)
    if caller.user_id == user_id or not owns_all:
        raise Forbidden("Only the owner of every organization of this person, or a platform owner, can do this.")
    if not all(one.is_active for one in affiliations):
        raise OrganizationNotActive
    if any(one.mfa_required for one in affiliations):
        session_strength.require_second_factor(caller)


def _deactivate(uow: UnitOfWork, subject: Subject) -> Anonymous:
    """Deactivate the account under a placeholder address that no other account has."""
    moment = uow.now
    while not uow.anonymization.shut(subject.id, placeholder_of(moment), at=uow.now):
        moment += _MICROSECOND
    return Anonymous(email=placeholder_of(moment))


def _record(uow: UnitOfWork, caller: Caller | None, subject: Subject, organizations: Sequence[UUID]) -> None:
    """Record the anonymization before the origins are replaced, so that this entry's is replaced too."""
    uow.mfa_events.add(subject.id, USER_ANONYMIZED, is_success=True, details={})
    for organization_id in organizations:
        uow.audit(AuditAction.USER_ANONYMIZED, subject.id, organization_id=organization_id)
    uow.publish_to_each(
        EventType.USER_ANONYMIZED,
        organizations or (None,),
        actor_user_id=caller.user_id if caller is not None else None,
        actor_email=caller.email if caller is not None else None,
        user_id=str(subject.id),
    )
    if caller is not None and caller.acts_as_platform_owner:
        uow.audit_platform(PlatformAction.USER_ANONYMIZED, subject.id)
