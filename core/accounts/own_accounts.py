"""Accounts that an organization made, by SCIM or with an API key, and when such an account is its own.

An account is for the whole platform, and no organization must take one from its user or from another organization.
Only an account that the organization itself created, and that nothing else relies on, may get another address from it
or be deleted by it; it is deactivated only in a verified mail domain of the organization, whose addresses the
organization gives and takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.accounts import account_splits, addresses, passwords
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.users import User
from core.email_addresses import domain_of
from core.errors import Forbidden, RateLimitExceeded
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations import departures
from core.organizations.organizations import ADMIN, OWNER, Organization
from core.sessions import sessions

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# How many addresses of other accounts an organization may hit upon in that time.
CONFLICTS_MAX: Final = 20
CONFLICTS_WINDOW: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAccount:
    """The account of an address, which existed or was created just now; the organization never learns which.

    `is_known` says whether it is a member or an end user of the organization that looked for it, and `linked_at` since
    when it is a user of the service that did, which notes `metadata` about it. `is_deactivated` means: by that
    organization. With `has_known_id` that organization knows another user by the id of the account, or the account by
    another id.
    """

    id: UUID
    email: str
    is_known: bool
    linked_at: datetime | None
    is_anonymized: bool
    is_deactivated: bool
    has_known_id: bool
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Belonging:
    """What decides whether an account is an organization's own.

    The organization knows the account by `known_id`. `belongs_elsewhere`: the user has confirmed memberships or service
    links outside the organization; `is_given_elsewhere` counts unconfirmed ones too. `is_registered`: a person has
    registered the address and not proved it. `is_in_own_domain`: the address lies in a verified mail domain of the
    organization.
    """

    id: UUID
    known_id: UUID
    email: str
    created_by_organization_id: UUID | None
    is_address_proved: bool
    has_platform_role: bool
    role: str | None
    belongs_elsewhere: bool
    is_given_elsewhere: bool
    is_registered: bool
    is_in_own_domain: bool

    def is_own_of(self, organization_id: UUID) -> bool:
        """Return whether the organization may change the address of the account."""
        return (
            self.created_by_organization_id == organization_id
            and (self.is_in_own_domain or not self.is_address_proved)
            and not self.has_platform_role
            and self.role not in {OWNER, ADMIN}
            and not self.belongs_elsewhere
        )

    def may_be_deleted_by(self, organization_id: UUID) -> bool:
        """Return whether the organization may delete the account for good."""
        return self.is_own_of(organization_id) and not self.is_given_elsewhere and not self.is_registered


class TooManyConflicts(RateLimitExceeded):
    """The organization has asked for too many addresses that other accounts have."""

    limit = "address_conflicts"
    counts = "conflicts"
    default_message = "Too many addresses belonged to other accounts. Wait before you change another address."


class ConfirmedMeanwhile(Forbidden):
    """The user has confirmed something of another organization while the address was changed."""

    default_message = "Only the user can change the address of this account: it belongs elsewhere too."


def take_access(uow: UnitOfWork, organization_id: UUID, belonging: Belonging | None) -> None:
    """End the access of a user who leaves the organization, as far as the organization has a say about the account.

    In its verified mail domains it deactivates an own account, and takes the address back from any other. Outside of
    them, and when the account is gone, only the organization's own part ends; the caller does that.
    """
    if belonging is None or not belonging.is_in_own_domain or belonging.has_platform_role:
        return
    if belonging.is_own_of(organization_id):
        uow.own_accounts.deactivate(organization_id, belonging.id, at=uow.now)
        sessions.end_all(uow, belonging.id, belonging.email)
        return
    uow.own_accounts.disown(organization_id, belonging.id, at=uow.now)
    addresses.withdraw_links(uow, belonging.id)
    uow.one_time_tokens.withdraw(belonging.id, TokenPurpose.UNDO_EMAIL_CHANGE, at=uow.now)


def change_address(
    uow: UnitOfWork,
    organization: Organization,
    before: Belonging,
    address: str,
    *,
    is_by_directory: bool,
    **details: str,
) -> UUID | None:
    """Give an organization's own account another address; return the id of the account that has it now.

    The organization is locked. A directory that stays within the verified mail domains of its organization keeps what
    was proved; otherwise the user has to prove the address. If other organizations have given something to the old
    address, it stays there with its account, and what this one gave goes to a new account. Return None when another
    account has the address, which is counted, so the caller returns its refusal. Raise `TooManyConflicts` after too
    many of these.
    """
    organization_id = organization.id
    if uow.own_accounts.conflicts_since(organization_id, uow.now - CONFLICTS_WINDOW) >= CONFLICTS_MAX:
        raise TooManyConflicts(retry_after_seconds=int(CONFLICTS_WINDOW.total_seconds()))
    is_in_own_domain = uow.domain_routes.is_own_domain(organization_id, domain_of(address))
    stays_proved = is_by_directory and before.is_in_own_domain and is_in_own_domain
    user = uow.users.by_id(before.id)
    assert user is not None, "a locked account is gone"
    if before.is_given_elsewhere:
        user_id = account_splits.split(
            uow, organization_id, before.id, before.email, address, keeps_person=stays_proved
        )
    else:
        user_id = _move(uow, user, address, stays_proved=stays_proved)
    if user_id is None:
        uow.own_accounts.add_conflict(organization_id, at=uow.now)
        return None
    # Waiting for the address, the user may have confirmed what others gave.
    now = uow.own_accounts.belonging(organization_id, before.id)
    if now is None or now.belongs_elsewhere:
        raise ConfirmedMeanwhile
    if not is_in_own_domain:
        # Where the organization's word does not count, it must not shut an address out.
        uow.own_accounts.activate(organization_id, [user_id], at=uow.now)
    if stays_proved:
        for to in (before.email, address):
            _tell(uow, organization, to, old=before.email, new=address, language=user.language)
    uow.mfa_events.add(user_id, "email_changed", is_success=True, details=details)
    return user_id


def _move(uow: UnitOfWork, user: User, address: str, *, stays_proved: bool) -> UUID | None:
    """Give an account to which no other organization has given anything another address, if that is free."""
    verified_at = user.email_verified_at if stays_proved else None
    if not uow.users.set_email(user.id, address, verified_at=verified_at, at=uow.now):
        return None
    departures.leave_mail_domain(uow, user.id, old_domain=domain_of(user.email), new_domain=domain_of(address))
    if stays_proved:
        addresses.withdraw_links(uow, user.id)
    else:
        for purpose in TokenPurpose:
            uow.one_time_tokens.withdraw(user.id, purpose, at=uow.now)
        passwords.lock_out(uow, user.id, address)
    return user.id


def _tell(uow: UnitOfWork, organization: Organization, to: str, *, old: str, new: str, language: str | None) -> None:
    mail.send(
        uow,
        to,
        MailTemplate.EMAIL_CHANGED_BY_ORGANIZATION,
        organization_id=organization.id,
        account_language=language,
        organization=organization.name,
        old=old,
        new=new,
        at=uow.now.strftime("%Y-%m-%d %H:%M UTC"),
    )
