"""The welcome mail: who was given access by a directory confirms it, or leaves, by a mailed link (decisions 5.6).

The link is the one of every membership that another person made (`core/invitations/confirmation.py`): it proves the
address, and a person without a password then gets a link to choose one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.accounts import one_time_tokens
from core.accounts.one_time_tokens import TokenPurpose
from core.mail import mail
from core.mail.mail import MailTemplate
from core.sessions import sessions

if TYPE_CHECKING:
    from core.organizations.memberships import Membership
    from core.organizations.organizations import Organization
    from ports.unit_of_work import UnitOfWork


def send(uow: UnitOfWork, organization: Organization, membership: Membership, *, is_new_account: bool = False) -> None:
    """Mail a new member the link, whether or not the account is new."""
    user = uow.users.lock(membership.user_id)
    assert user is not None, "a new member has no account"
    if not (user.is_verified or is_new_account):
        # An attacker may have changed their account to this address beforehand; signing in again takes verification.
        sessions.end_all(uow, user.id, user.email)
    token = one_time_tokens.issue(
        uow,
        TokenPurpose.CONFIRM_MEMBERSHIP,
        user.id,
        user.email,
        org_slug=organization.slug,
        membership_id=str(membership.id),
    )
    mail.send(
        uow,
        user.email,
        MailTemplate.WELCOME,
        organization_id=organization.id,
        # The link of a deactivated account does not work.
        is_discarded=not user.is_active,
        token=token.reveal(),
        place=organization.name,
    )
