"""Confirming a membership that another person made, or leaving it, by the link in the mail about it.

The link proves the address, as the link of an invitation does. Until then the organization has no power over the
account; selecting or using the organization also confirms a membership (`core/organizations/authorization.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from core.accounts import links
from core.accounts.links import LinkTexts, LinkUnusable, ValidLink
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.users import User
from core.invitations import new_members
from core.invitations.new_members import Joined
from core.lazy_dataclasses import dataclass
from core.organizations import members
from core.organizations.organizations import Membership, Organization

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

TEXTS: Final = LinkTexts(
    unknown="This link is not valid. Open it exactly as it appears in the mail, or sign in to see your organizations.",
    used="This link is no longer needed. You have confirmed this membership, or it has ended; sign in to see your"
    " organizations.",
    expired="This link has expired. It was valid for 30 days; sign in to see your organizations, and leave those that"
    " you do not know.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnconfirmedMembership:
    """A membership that waits for the consent of its user."""

    user: User
    organization: Organization
    membership: Membership


def inspect(uow: UnitOfWork, token: str) -> UnconfirmedMembership:
    """Return the membership of a link, and change nothing; raise `LinkUnusable`."""
    return _find(uow, links.inspect(uow, TokenPurpose.CONFIRM_MEMBERSHIP, token, TEXTS))


def confirm(uow: UnitOfWork, token: str) -> Joined:
    """Confirm the membership of a link, which proves the address; raise `LinkUnusable`."""
    found = _use(uow, token)
    return confirm_by_proof(uow, found.organization, found.membership, found.user)


def leave(uow: UnitOfWork, token: str) -> Organization:
    """End the membership of a link, whatever the status of the organization; raise `LinkUnusable`."""
    found = _use(uow, token)
    members.leave_unconfirmed(uow, found.membership, found.user.email)
    return found.organization


def confirm_by_proof(
    uow: UnitOfWork, organization: Organization, membership: Membership, user: User, *, is_signing_in: bool = False
) -> Joined:
    """Confirm a membership for the owner of its address; the organization is locked, `is_signing_in` as for `prove`."""
    uow.members.confirm(organization.id, membership.user_id)
    return new_members.prove(uow, organization, user, is_signing_in=is_signing_in)


def _use(uow: UnitOfWork, token: str) -> UnconfirmedMembership:
    """Use up a link and return its membership, whose organization is locked."""
    # In this order, because whatever changes memberships locks the organization first.
    uow.organizations.lock(inspect(uow, token).organization.id)
    return _find(uow, links.use(uow, TokenPurpose.CONFIRM_MEMBERSHIP, token, TEXTS))


def _find(uow: UnitOfWork, link: ValidLink) -> UnconfirmedMembership:
    organization = uow.organizations.by_slug(link.token.data["org_slug"])
    membership = uow.members.unconfirmed(organization.id, link.user.id) if organization is not None else None
    # A later membership in the same organization has a link of its own.
    if organization is None or membership is None or str(membership.id) != link.token.data["membership_id"]:
        raise LinkUnusable(TEXTS.used)
    return UnconfirmedMembership(user=link.user, organization=organization, membership=membership)
