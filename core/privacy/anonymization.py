"""Forgetting somebody for good: everything personal goes, what organizations have to keep stays (identity 4.7).

The account remains as a number without a name, so that memberships, counts and audit entries go on meaning something.
Nothing leads back into it: every way to sign in is deleted, and the schema itself does not let it come to life again.
Where the address stands in words that others wrote, it is replaced there too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, cast

from core.accounts import sign_in_failures
from core.accounts.users import UserUnknown
from core.errors import Forbidden, OrganizationNotActive
from core.events.actions import AuditAction
from core.events.events import EventType
from core.events.platform_actions import PlatformAction
from core.organizations import access

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from core.sessions.callers import Caller
    from ports.unit_of_work import UnitOfWork

USER_ANONYMIZED: Final = "user_anonymized"
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Who is to be forgotten."""

    id: UUID
    email: str
    is_platform_owner: bool
    anonymized_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Anonymous:
    """What stands from now on where the person stood."""

    email: str
    ip_address: str = "0.0.0.0"  # noqa: S104 - not one to listen on
    user_agent: str = "anonymized"


@dataclass(frozen=True, slots=True, kw_only=True)
class Affiliation:
    """An organization that somebody is a member or an end user of, and whether it is the caller's own, and active."""

    organization_id: UUID
    is_member: bool
    is_owned: bool
    is_active: bool
    mfa_required: bool


def forget(uow: UnitOfWork, user_id: UUID) -> None:
    """Forget a person; once more changes nothing."""
    caller = uow.caller
    caller.forbid_impersonation()
    caller.forbid_service_tokens()
    # Locked against everything that refers to it, so that nobody signs in, joins or is written about meanwhile.
    subject = uow.anonymization.lock(user_id)
    affiliations = uow.anonymization.affiliations(user_id, owner_id=caller.user_id)
    if not caller.acts_as_platform_owner:
        _require_owning_all(caller, user_id, affiliations)
    if subject is None:
        raise UserUnknown
    if subject.is_platform_owner:
        raise Forbidden("A platform owner cannot be anonymized. Demote them first.")
    if subject.anonymized_at is not None:
        return

    addresses = sorted({subject.email, *uow.anonymization.addresses(subject.id)})
    anonymous = _shut(uow, subject)
    _write_down(uow, caller, subject, [belonging.organization_id for belonging in affiliations])
    uow.anonymization.delete_credentials(subject.id)
    marks = [sign_in_failures.hash_address(uow, address) for address in addresses]
    uow.anonymization.replace_addresses(subject.id, addresses, marks, anonymous, at=uow.now)
    uow.anonymization.replace_origins(subject.id, anonymous)


def placeholder_of(moment: datetime) -> str:
    """Give the address that stands for somebody who was forgotten then."""
    return f"anonymized-{moment:%Y%m%d%H%M%S%f}@deleted.local"


def without_addresses(value: Any, addresses: Iterable[str], placeholder: str) -> Any:
    """Give what a log says, with the placeholder wherever one of these addresses stood in a text."""
    # Longer addresses that end or begin with one of these are somebody else's.
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
    """Refuse unless all that the person belongs to is the caller's, so that nobody loses an account that they share.

    Whoever is an end user alone has an account of their own, which no organization can take away. And whoever owns all
    that they belong to would leave it without an owner.
    """
    owns_all = any(one.is_member for one in affiliations) and all(one.is_owned for one in affiliations)
    if caller.user_id == user_id or not owns_all:
        raise Forbidden("Only the owner of every organization of this person, or a platform owner, can do this.")
    if not all(one.is_active for one in affiliations):
        raise OrganizationNotActive
    if any(one.mfa_required for one in affiliations):
        access.require_second_factor(caller)


def _shut(uow: UnitOfWork, subject: Subject) -> Anonymous:
    """Shut the account under an address that nobody has; two who are forgotten in one moment have two."""
    moment = uow.now
    while not uow.anonymization.shut(subject.id, placeholder_of(moment), at=uow.now):
        moment += _MICROSECOND
    return Anonymous(email=placeholder_of(moment))


def _write_down(uow: UnitOfWork, caller: Caller, subject: Subject, organizations: Sequence[UUID]) -> None:
    """Tell the logs and the organizations, before the person's own log loses where it was written from."""
    uow.mfa_events.add(subject.id, USER_ANONYMIZED, is_success=True, details={})
    for organization_id in organizations:
        uow.audit(AuditAction.USER_ANONYMIZED, subject.id, organization_id=organization_id)
    uow.publish_to_each(
        EventType.USER_ANONYMIZED,
        organizations or (None,),
        actor_user_id=caller.user_id,
        actor_email=caller.email,
        user_id=str(subject.id),
    )
    if caller.acts_as_platform_owner:
        uow.audit_platform(PlatformAction.USER_ANONYMIZED, subject.id)
