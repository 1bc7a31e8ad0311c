"""SCIM users: the members of an organization as its directory sees them, and reading them.

The account belongs to the platform; the names, the `externalId` and the spelling of the `userName` belong to the
membership. Changes are in `user_changes.py`, and the operations of a PATCH in `user_patches.py`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import one_time_tokens
from core.accounts.one_time_tokens import TokenPurpose
from core.email_addresses import ToAscii, canonical_email
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailMessage, MailTemplate
from core.organizations.organizations import Membership, Organization
from core.scim import filters, tokens, user_filters
from core.scim.refusals import ResourceUnknown
from core.sessions import sessions

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

VERSION_BYTES: Final = 10
AT: Final = "@"
_BETWEEN_NAMES: Final = re.compile(r"[._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryProfile:
    """The description of a member by a directory, without the address of the account.

    A part of the name that the directory has not set is made of the address, only for the answers of SCIM:
    `made_given_name` or `made_family_name` then has it as well.
    """

    user_name: str
    external_id: str | None = None
    formatted_name: str | None = None
    given_name: str | None = None
    family_name: str | None = None
    display_name: str | None = None
    # Of the address, which is the only one.
    is_primary: bool = True
    made_given_name: str | None = None
    made_family_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredUser:
    """A stored member; without a profile no directory has described them.

    The organization knows them by `id`, which is the id of the account unless they were moved to another account.
    """

    id: UUID
    user_id: UUID
    membership_id: UUID
    email: str
    role: str
    is_active: bool
    created_at: datetime
    updated_at: datetime
    profile: DirectoryProfile | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredUsersPage:
    """A page of members, and the number of all."""

    users: Sequence[StoredUser]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryUser:
    """A member as SCIM shows them, by `id`; `user_id` is the id of the account."""

    id: UUID
    user_id: UUID
    membership_id: UUID
    email: str
    role: str
    is_active: bool
    created_at: datetime
    updated_at: datetime
    profile: DirectoryProfile

    @property
    def formatted_name(self) -> str | None:
        """The whole name: as the directory sent it, else made of its parts."""
        return self.profile.formatted_name or joined(self.profile.given_name, self.profile.family_name)

    def of_account(self, user_id: UUID) -> DirectoryUser:
        """Return the same user with another account."""
        return replace(self, user_id=user_id)

    @property
    def version(self) -> str:
        """A text that changes with anything that SCIM shows of the user."""
        profile = self.profile
        return version_of(
            self.id.hex,
            self.email,
            str(self.is_active),
            self.updated_at.isoformat(),
            profile.user_name,
            profile.external_id,
            profile.formatted_name,
            profile.given_name,
            profile.family_name,
            profile.display_name,
            str(profile.is_primary),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryUsersPage:
    """A page of users, and the number of all."""

    users: Sequence[DirectoryUser]
    total: int


def version_of(*texts: str | None) -> str:
    """Return a short hash of these texts; it changes with each of them, also when one is missing."""
    # No text contains a NUL, and none is the other mark alone.
    joined_texts = "\x00".join("\x01" if text is None else text for text in texts)
    return hashlib.blake2b(joined_texts.encode("utf-8", "surrogatepass"), digest_size=VERSION_BYTES).hexdigest()


def list_page(uow: UnitOfWork, *, filter_text: str | None, start: int, count: int) -> DirectoryUsersPage:
    """List the users that a filter selects, or all, the oldest membership first; `start` counts from 1.

    Raise `InvalidFilter`.
    """
    to_ascii = uow.domain_names.to_ascii
    if filter_text is None:
        # Sent together with the statement that loads the caller, which decides whether the page is returned.
        deferred = uow.scim_users.defer_page_of_token(limit=count, offset=start - 1)
        tokens.authorize(uow)
        page = deferred()
    else:
        organization_id = tokens.authorize(uow).organization_id
        condition = user_filters.condition_of(filters.parse(filter_text), to_ascii)
        page = uow.scim_users.matching(organization_id, condition, limit=count, offset=start - 1)
    return DirectoryUsersPage(users=[described(user, to_ascii) for user in page.users], total=page.total)


def show(uow: UnitOfWork, user_id: UUID) -> DirectoryUser:
    """Return a user; raise `ResourceUnknown` for an account that is no member of the organization."""
    return find(uow, tokens.authorize(uow).organization_id, user_id)


def find(uow: UnitOfWork, organization_id: UUID, known_id: UUID) -> DirectoryUser:
    """Return the user that an organization knows by this id, or whose account has it; raise `ResourceUnknown`."""
    return _found(uow, uow.scim_users.find(organization_id, known_id))


def find_account(uow: UnitOfWork, organization_id: UUID, user_id: UUID) -> DirectoryUser:
    """Return the user of an organization who has this account; raise `ResourceUnknown`."""
    return _found(uow, uow.scim_users.find_account(organization_id, user_id))


def _found(uow: UnitOfWork, stored: StoredUser | None) -> DirectoryUser:
    if stored is None:
        raise ResourceUnknown
    return described(stored, uow.domain_names.to_ascii)


def described(stored: StoredUser, to_ascii: ToAscii) -> DirectoryUser:
    """Return a stored user as SCIM shows them."""
    profile = stored.profile
    if profile is None:
        given, family = names_from(stored.email)
        profile = DirectoryProfile(
            user_name=stored.email,
            given_name=given,
            family_name=family,
            made_given_name=given,
            made_family_name=family,
        )
    elif not names_account(profile.user_name, stored.email, to_ascii):
        # The user has changed the address since.
        profile = replace(profile, user_name=stored.email)
    return DirectoryUser(
        id=stored.id,
        user_id=stored.user_id,
        membership_id=stored.membership_id,
        email=stored.email,
        role=stored.role,
        is_active=stored.is_active,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
        profile=profile,
    )


def names_account(user_name: str, email: str, to_ascii: ToAscii) -> bool:
    """Return whether a stored userName still fits an account: it is its address, or no address at all."""
    return AT not in user_name or user_name.lower() == email or canonical_email(user_name, to_ascii) == email


def joined(given_name: str | None, family_name: str | None) -> str | None:
    """Return the whole name of these parts; None without any."""
    return " ".join(part for part in (given_name, family_name) if part is not None) or None


def names_from(email: str) -> tuple[str, str]:
    """Return a given name and a family name from an address, for a user without names from a directory.

    `ada.lovelace@example.com` is Ada Lovelace, and `ada@example.com` is Ada Example.
    """
    local_part, _, domain = email.rpartition(AT)
    words = [word.capitalize() for word in _BETWEEN_NAMES.split(local_part.partition("+")[0]) if word]
    given, *others = words or [local_part]
    return given, " ".join(others) or domain.partition(".")[0].capitalize()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMember:
    """The account of a new member; `has_sessions` means that a session has not ended, whatever its age."""

    id: UUID
    email: str
    is_verified: bool
    is_active: bool
    has_sessions: bool


def send(
    uow: UnitOfWork, organization: Organization, memberships: Sequence[Membership], accounts: Sequence[NewMember]
) -> None:
    """Mail each new member the link, whether or not the account is new; the accounts are locked."""
    for account in accounts:
        if account.has_sessions and not account.is_verified:
            # An attacker may have changed their account to this address beforehand; a new sign-in needs verification.
            sessions.end_all(uow, account.id, account.email)
    by_user = {membership.user_id: membership for membership in memberships}
    # The link of a deactivated account does not work.
    mailed = [account for account in accounts if account.is_active]
    tokens = one_time_tokens.issue_each(
        uow,
        TokenPurpose.CONFIRM_MEMBERSHIP,
        [
            (
                account.id,
                account.email,
                {"org_slug": organization.slug, "membership_id": str(by_user[account.id].id)},
            )
            for account in mailed
        ],
    )
    mail.send_each(
        uow,
        MailTemplate.WELCOME,
        [
            MailMessage(
                to=account.email,
                template=MailTemplate.WELCOME,
                values={"token": token.reveal(), "place": organization.name},
            )
            for account, token in zip(mailed, tokens, strict=True)
        ],
        organization_id=organization.id,
    )
