"""The welcome mail: a person who got access from a directory confirms it, or leaves, by a mailed link.

It is the link of every membership that another person made (`core/invitations/confirmation.py`): it proves the address,
and a person without a password then gets a link to choose one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts import one_time_tokens
from core.accounts.one_time_tokens import TokenPurpose
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailMessage, MailTemplate
from core.organizations.memberships import Membership
from core.organizations.organizations import Organization
from core.sessions import sessions

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


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
