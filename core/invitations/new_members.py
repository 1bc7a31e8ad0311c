"""Becoming a member by an invitation: what can prevent it, the account, the membership and the next step.

The account is found by the invited address, or created. The proof, which only the mailed link contains, shows that the
address belongs to the person who answers. Services that the invitation includes come with the membership, and are
confirmed with it. Without the proof the membership is created as well, but gives no access before the address is
verified; and unless the person themselves is signed in, it stays unconfirmed. The person confirms it by a mailed link
(`confirmation.py`), or by using it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.accounts import addresses, email_verification, links, one_time_tokens
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.return_targets import ReturnTarget
from core.accounts.users import User, find_or_add
from core.errors import BadRequest, ErrorCode, OrganizationNotActive, Refusal
from core.events.actions import AuditAction
from core.events.events import EventType
from core.invitations import invitations
from core.invitations.invitations import AlreadyMember, Invitation, InvitationExpired, InvitationStatus
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations import members
from core.organizations.organizations import BUILT_IN_ROLES, Membership, Organization
from core.sessions import sessions

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The provider of accounts that are created by an invitation.
_PROVIDER: Final = "invitation"


class InvitationAnswered(BadRequest):
    """The invitation was accepted, declined or withdrawn."""

    default_message = (
        "This invitation was already answered, or it was withdrawn. If you accepted it, sign in; otherwise ask the"
        " person who invited you for a new one."
    )


class InvitedRoleGone(BadRequest):
    """The organization has deleted the invitation's role."""

    default_message = (
        "The role of this invitation no longer exists. Ask the person who invited you for a new invitation, with"
        " another role."
    )


class TeamLimitExceeded(Refusal):
    """The organization has as many members as it may."""

    code = ErrorCode.TEAM_LIMIT_EXCEEDED
    default_message = (
        "This organization has as many members as it may have. Ask the person who invited you to make room; the"
        " invitation stays valid until it expires."
    )


# The refusals of making a person a member.
CANNOT_JOIN: Final = (
    InvitationExpired,
    InvitationAnswered,
    InvitedRoleGone,
    AlreadyMember,
    TeamLimitExceeded,
    OrganizationNotActive,
)


class AcceptedBy(StrEnum):
    """How an acceptance shows the consent of the invited person."""

    PROOF = "the proof of the mailed link"
    PROOF_BEFORE_CONNECTION = "the proof of the mailed link, before a sign-in by the connection of the domain"
    PERSON = "the invited person, signed in"
    UNPROVED = "the token alone, which the inviter sees too"
    MANAGER = "a member who manages others"

    @property
    def is_consent(self) -> bool:
        """Whether the invited person has certainly consented."""
        return self in {AcceptedBy.PROOF, AcceptedBy.PROOF_BEFORE_CONNECTION, AcceptedBy.PERSON}


class NextStep(StrEnum):
    """What a person does after the invitation was accepted."""

    SIGN_IN = "sign_in"
    FOLLOW_MAIL = "follow_mail"
    CHOOSE_PASSWORD = "choose_password"  # noqa: S105 - the name of a step, not a secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """The new member, the organization and the next step."""

    email: str
    organization_id: UUID
    organization_slug: str
    organization_name: str
    next_step: NextStep


def join(
    uow: UnitOfWork,
    organization: Organization,
    invitation: Invitation,
    accepted_by: AcceptedBy,
    *,
    is_signing_in: bool = False,
) -> Joined | Refusal:
    """Accept an invitation to an organization that is locked; `is_signing_in` as for `prove`.

    An expired invitation is marked as such, so that refusal is returned and not raised.
    """
    if not invitation.is_open(uow.now):
        invitations.expire(uow, invitation)
        return InvitationExpired()
    if not uow.invitations.settle(organization.id, invitation.id, InvitationStatus.ACCEPTED):
        raise InvitationAnswered
    if invitation.role not in BUILT_IN_ROLES and uow.roles.by_slug(organization.id, invitation.role) is None:
        raise InvitedRoleGone
    user, is_new = _account(uow, invitation.email)
    is_proved_later = accepted_by is AcceptedBy.PROOF_BEFORE_CONNECTION and not user.is_verified
    # A disowned address is no longer the mailbox of the account's user.
    is_confirmed = accepted_by.is_consent and not user.is_disowned and not is_proved_later
    membership = _add_member(uow, organization, invitation, user, is_confirmed=is_confirmed)
    # The organization may have deactivated the account when the user left before.
    uow.own_accounts.activate(organization.id, [user.id], at=uow.now)
    # The organization learns whether the account is new to the platform only when its person has consented.
    is_signup = is_new if is_confirmed else uow.end_users.email_of(organization.id, user.id) is None
    given = uow.invitations.give_services(invitation, user.id, at=uow.now) if invitation.services else ()
    _record(uow, invitation, user, given, is_signup=is_signup)
    if is_proved_later:
        # Another person may have prepared the account; the sign-in that proves its address takes that away.
        sessions.end_all(uow, user.id, user.email)
        return joined(organization, user)
    if accepted_by in {AcceptedBy.PROOF, AcceptedBy.PROOF_BEFORE_CONNECTION}:
        return prove(uow, organization, user, is_signing_in=is_signing_in)
    if not accepted_by.is_consent:
        _prevent_misuse(uow, organization, user, membership, is_new=is_new, accepted_by=accepted_by)
    # The same for every address, because the inviter sees the token and must not learn who has an account.
    next_step = NextStep.SIGN_IN if accepted_by.is_consent else NextStep.FOLLOW_MAIL
    return joined(organization, user, next_step)


def joined(organization: Organization, user: User, next_step: NextStep = NextStep.SIGN_IN) -> Joined:
    """Return a new member with the next step."""
    return Joined(
        email=user.email,
        organization_id=organization.id,
        organization_slug=organization.slug,
        organization_name=organization.name,
        next_step=next_step,
    )


def is_given_by_proof(user: User) -> bool:
    """Return whether a proof of the address hands the account to its person, without what was set up in it before.

    Its address was never proved, or the token of a service has changed it.
    """
    return not user.is_verified or (user.changed_by_service_at is not None and not user.is_disowned)


def prove(uow: UnitOfWork, organization: Organization, user: User, *, is_signing_in: bool = False) -> Joined:
    """Mark the address of a new member as proved; if it was not before, mail a link to choose a password.

    With `is_signing_in` no mail leaves, because the person chooses the password at once.
    """
    next_step = NextStep.SIGN_IN
    if is_given_by_proof(user):
        proved = addresses.reclaim(uow, user)
        # This membership is what the proof is for; all others are unconfirmed again.
        uow.members.confirm(organization.id, user.id)
        if not is_signing_in:
            back = ReturnTarget(organization=organization)
            links.send(uow, proved, TokenPurpose.RESET_PASSWORD, MailTemplate.INVITATION_ACCEPTED, back=back)
        next_step = NextStep.CHOOSE_PASSWORD
    return joined(organization, user, next_step)


def _account(uow: UnitOfWork, email: str) -> tuple[User, bool]:
    """Return the account of an address, locked or new, and whether it is new."""
    fresh = User(
        id=uow.randomness.new_account_id(),
        email=email,
        email_verified_at=None,
        is_platform_owner=False,
        created_at=uow.now,
        updated_at=uow.now,
    )
    return find_or_add(uow, fresh)


def _add_member(
    uow: UnitOfWork, organization: Organization, invitation: Invitation, user: User, *, is_confirmed: bool
) -> Membership:
    membership = Membership(
        id=uow.randomness.new_id(),
        organization_id=organization.id,
        user_id=user.id,
        role=invitation.role,
        created_at=uow.now,
    )
    is_added = uow.members.defer_add(membership, is_confirmed=is_confirmed)
    has_room = members.defer_room(uow, organization)
    if not is_added():
        raise AlreadyMember
    if not has_room():
        raise TeamLimitExceeded
    return membership


def _record(uow: UnitOfWork, invitation: Invitation, user: User, services: Sequence[str], *, is_signup: bool) -> None:
    """Record who joined; the actor is the signed-in caller, such as the manager who accepted, else the user."""
    organization_id, role = invitation.organization_id, invitation.role
    given: dict[str, Any] = {"services": list(services)} if services else {}
    actor_id, actor_email = (None, None) if uow.caller_if_signed_in is not None else (user.id, user.email)
    if is_signup:
        uow.publish(
            EventType.USER_SIGNUP_SUCCESS,
            organization_id=organization_id,
            actor_user_id=user.id,
            actor_email=user.email,
            provider=_PROVIDER,
            service_id=None,
        )
    uow.record(
        AuditAction.INVITATION_ACCEPTED,
        invitation.id,
        organization_id=organization_id,
        actor_user_id=actor_id,
        actor_email=actor_email,
        event_only={"invitation_id": str(invitation.id)},
        user_id=str(user.id),
        role=role,
        **given,
    )
    uow.record(
        AuditAction.USER_JOINED,
        user.id,
        organization_id=organization_id,
        actor_user_id=actor_id,
        actor_email=actor_email,
        event_only={"invitation_id": str(invitation.id), "user_id": str(user.id)},
        role=role,
    )


def _prevent_misuse(
    uow: UnitOfWork,
    organization: Organization,
    user: User,
    membership: Membership,
    *,
    is_new: bool,
    accepted_by: AcceptedBy,
) -> None:
    """Ensure that only the owner of the address can use the new membership, and that they learn of it."""
    if is_new and accepted_by is AcceptedBy.UNPROVED:
        email_verification.send(uow, user, ReturnTarget(organization=organization))
        return
    if not user.is_verified:
        # An attacker may have changed their account to this address beforehand; signing in again requires verification.
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
        MailTemplate.MEMBERSHIP_ADDED,
        organization_id=organization.id,
        # The link of a deactivated account does not work.
        is_discarded=not user.is_active,
        token=token.reveal(),
        place=organization.name,
        role=membership.role,
    )
