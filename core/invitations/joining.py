"""Accepting an invitation on the page of its link: the person joins and signs in with one form.

The proof of the mailed link shows whose mailbox it is. So the page may know whether the address has an account, and an
account that is new, or was never proved, gets its password here: no further mail is needed. Without the proof the page
says nothing about accounts, and an acceptance waits for a mail, unless the invited person is signed in.

An account that is proved signs in as anywhere else; the proof of the link does not replace its password, because a link
can be passed on. A person whose domain signs in by a connection is sent there. They join first, so that the connection
finds an account that belongs to the organization, and its sign-in proves the address of a new one.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts import languages, single_sign_on
from core.accounts.passwords import StoredPassword
from core.accounts.sign_in_methods import Provider
from core.email_addresses import domain_of
from core.errors import BadRequest, NotFound, Refusal
from core.invitations import new_members, own_invitations
from core.invitations.invitations import Invitation, InvitationDetails
from core.invitations.new_members import AcceptedBy, Joined, NextStep
from core.lazy_dataclasses import dataclass
from core.organizations.organizations import Organization
from core.sessions.callers import Caller
from core.sessions.sessions import MAILED
from core.sign_in import conclusion, login, lookup_email
from core.sign_in.login import LoginAttempt
from core.sign_in.mfa_challenges import Outcome
from core.sign_in.proofs import Destination, IdentityProof

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class AccountChanged(BadRequest):
    """The account of the address has been proved, or removed, since the page was shown."""

    default_message = "The account of this address has changed since this page was opened. Look again, and repeat it."


class JoinBy(StrEnum):
    """What a person does on the page of an invitation to accept it."""

    MAIL = "mail"  # without the proof: accept, and follow a mail
    SESSION = "session"  # the person is signed in
    NEW_PASSWORD = "new_password"  # noqa: S105 - choose the password of a new account
    PASSWORD = "password"  # noqa: S105 - sign in with the password of the account
    OTHER_WAY = "other_way"  # join, and sign in to an account that has no password or is deactivated
    CONNECTION = "connection"  # sign in by the connection of the domain, which is enforced


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainConnection:
    """The connection by which the domain of an address signs in."""

    id: UUID
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerable:
    """An invitation that can be answered, how its person accepts it, and the connection of their domain, if any."""

    details: InvitationDetails
    join_by: JoinBy
    connection: DomainConnection | None = None

    @property
    def email(self) -> str:
        """The invited address."""
        return self.details.invitation.email


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedOrganization:
    """An organization of the caller, what they still have to do there, and their role."""

    organization: Organization
    role: str
    is_confirmed: bool
    needs_second_factor: bool


def inspect(uow: UnitOfWork, token: str, proof: str | None) -> Answerable:
    """Return an invitation with the way to accept it; this changes nothing. Raise what `answers.inspect` raises.

    What it includes shows with the proof of the address, or to the person who is signed in.
    """
    details = own_invitations.inspect(uow, token, proof)
    email, caller = details.invitation.email, uow.caller_if_signed_in
    if proof is None:
        is_person = own_invitations.accepted_by(uow, details.invitation, None) is AcceptedBy.PERSON
        if is_person:
            return Answerable(details=details, join_by=JoinBy.SESSION)
        return Answerable(details=details.without_included(), join_by=JoinBy.MAIL)
    stored = uow.credentials.defer_password_of(email)()
    is_new = stored is None or new_members.is_given_by_proof(stored.user)
    if not is_new and caller is not None and caller.account.email == email and _sees(caller, details.invitation):
        return Answerable(details=details, join_by=JoinBy.SESSION)
    route = lookup_email.route_for(uow, domain_of(email), details.organization_slug)
    connection = DomainConnection(id=route.connection_id, name=route.connection_name) if route is not None else None
    # A platform owner is exempt, so that a provider that fails does not lock them out.
    is_exempt = stored is not None and stored.user.is_platform_owner
    if route is not None and route.enforced and not is_exempt:
        return Answerable(details=details, join_by=JoinBy.CONNECTION, connection=connection)
    return Answerable(details=details, join_by=_join_by(stored, is_new=is_new), connection=connection)


def _sees(caller: Caller, invitation: Invitation) -> bool:
    """Return whether the caller's session shows the inviting organization; a session may be for another one alone."""
    return caller.only_organization_id in {None, invitation.organization_id}


def _join_by(stored: StoredPassword | None, *, is_new: bool) -> JoinBy:
    """Return how a person accepts who is not signed in and whose domain enforces no connection."""
    if stored is not None and not stored.user.may_sign_in:
        # A password would be refused. Joining opens the account again if this organization has deactivated it.
        return JoinBy.OTHER_WAY
    if stored is None or is_new:
        return JoinBy.NEW_PASSWORD
    return JoinBy.PASSWORD if stored.password_hash is not None else JoinBy.OTHER_WAY


def accept_as_new(
    uow: UnitOfWork, token: str, proof: str, password_hash: str, name: str | None, destination: Destination
) -> Outcome:
    """Join with an account that the proof hands to its person, who has chosen its password, and sign in.

    Raise `AccountChanged` when the account was proved in the meantime, and `SsoRequired` when it has to sign in by a
    connection.
    """
    joined = own_invitations.accept(uow, token, proof, is_signing_in=True)
    if isinstance(joined, Refusal):
        return joined
    user = uow.users.lock_by_email(joined.email)
    assert user is not None, "an acceptance has left no account"
    if joined.next_step is not NextStep.CHOOSE_PASSWORD:
        raise AccountChanged
    single_sign_on.require_open(uow, user, joined.organization_id)
    uow.credentials.set_password_hash(user.id, password_hash)
    # The page has asked for one.
    uow.users.set_name(user.id, name, at=uow.now, was_asked=True)
    languages.keep(uow, user.id)
    identity = IdentityProof(user_id=user.id, provider=Provider.PASSWORD, amr=(MAILED,))
    return conclusion.conclude_locked(uow, user, identity, destination)


def accept_with_password(
    uow: UnitOfWork,
    attempt: LoginAttempt,
    destination: Destination,
    *,
    token: str,
    proof: str,
    is_right: bool,
    upgraded_hash: str | None = None,
) -> Outcome:
    """Join and sign in after the comparison of a password, as `login.finish` does; a wrong one accepts nothing.

    The membership does not wait for a second factor: the proof is the person's consent already.
    """
    if is_right:
        joined = own_invitations.accept(uow, token, proof)
        if isinstance(joined, Refusal):
            return joined
    return login.finish(uow, attempt, destination, is_right=is_right, upgraded_hash=upgraded_hash)


def accept_before_connection(uow: UnitOfWork, token: str, proof: str) -> Joined | Refusal:
    """Join before a sign-in by the connection of the domain, which proves the address of a new account."""
    return own_invitations.accept(uow, token, proof, is_before_connection=True)


def joined(uow: UnitOfWork, slug: str) -> JoinedOrganization:
    """Return an organization of the caller; raise `NotFound` for every other one.

    A session that is for one organization alone shows only that one.
    """
    caller = uow.caller
    organization = uow.organizations.by_slug(slug)
    membership = uow.members.of_user(organization.id, caller.account.id) if organization is not None else None
    if organization is None or membership is None or caller.only_organization_id not in {None, organization.id}:
        raise NotFound("You are a member of no such organization. Your account shows those that you belong to.")
    user = uow.users.by_id(caller.account.id)
    assert user is not None, "a caller has no account"
    return JoinedOrganization(
        organization=organization,
        role=membership.role,
        is_confirmed=uow.members.unconfirmed(organization.id, caller.account.id) is None,
        needs_second_factor=organization.mfa_required and not user.has_mfa,
    )
