"""Who may sign in by an identity of an organization's connection, and with which role (decisions 10.6).

The identity provider of an organization speaks for the people of that organization alone: its members, the end users of
its services, and the addresses of its verified mail domains. For anyone else, such as a person who has left, it opens
nothing, and the identity is unlinked. Every sign-in passes `refusal_of`, also the second half of one, and the child of
a browser session (`core/sign_in/conclusion.py`).

An identity that the connection's word alone has linked opens no role but `member` and the one with which the connection
lets people join, until its user has once typed a code that was mailed to the address of the account.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import Forbidden
from core.organizations import departures
from core.organizations.memberships import MEMBER
from core.sessions.callers import AddressNotConfirmed
from core.sign_in.reasons import SignInReason
from core.sign_in.refusals import SignInInterrupted, note, refuse

if TYPE_CHECKING:
    from core.accounts.users import User
    from core.errors import Refusal
    from core.sign_in.proofs import Destination, IdentityProof
    from ports.unit_of_work import UnitOfWork


class NotOfOrganization(Forbidden):
    """The user is neither a member nor an end user of the connection's organization, nor of its mail domains."""

    default_message = (
        "You do not belong to this organization any more, so its sign-in does not open your account. Sign in in another"
        " way, or ask the organization to invite you."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionStanding:
    """What a user is to the organization of a connection. `role` is None for a user who is no member."""

    is_enabled: bool
    joins_as: str | None
    is_by_word_alone: bool
    role: str | None
    is_suspended: bool
    is_end_user: bool
    is_in_mail_domain: bool

    @property
    def may_sign_in(self) -> bool:
        """Whether the connection may sign the user in. Who is suspended has left, for as long as that lasts."""
        return self.is_in_mail_domain or (not self.is_suspended and (self.role is not None or self.is_end_user))

    @property
    def confined_to_role(self) -> str | None:
        """The role that the connection's word alone opens besides `member`; None when there is more than its word."""
        return (self.joins_as or MEMBER) if self.is_by_word_alone else None


def standing_of(uow: UnitOfWork, proof: IdentityProof) -> ConnectionStanding | None:
    """Return what the user of a proof is to the connection by which it was made; None for a proof by no connection."""
    confinement = proof.confinement
    if confinement is None or confinement.connection_id is None:
        return None
    found = uow.identities.standing(proof.user_id, confinement.organization_id, confinement.connection_id)
    if found is None or not found.is_enabled:
        # It was deleted or switched off since.
        raise SignInInterrupted().because(SignInReason.CONNECTION_CLOSED)
    return found


def refusal_of(uow: UnitOfWork, user: User, proof: IdentityProof, destination: Destination) -> Refusal | None:
    """Return why a user may not sign in by a connection, None when they may; an identity that may not is unlinked.

    The caller has locked the account.
    """
    standing = standing_of(uow, proof)
    if standing is None:
        return None
    if not standing.may_sign_in:
        refusal = refuse(
            uow,
            user,
            proof.provider,
            destination,
            NotOfOrganization(),
            reason=SignInReason.NOT_OF_ORGANIZATION,
            confinement=proof.confinement,
        )
        _unlink(uow, user, proof, standing)
        return refusal
    assert proof.confinement is not None, "a proof by a connection is not confined"
    if not proof.confinement.opens_role(standing.role):
        reason = SignInReason.ADDRESS_NOT_CONFIRMED
        note(uow, user.id, proof.provider, destination, reason, proof.confinement)
        return AddressNotConfirmed().because(reason)
    return None


def _unlink(uow: UnitOfWork, user: User, proof: IdentityProof, standing: ConnectionStanding) -> None:
    assert proof.confinement is not None, "a proof by a connection is not confined"
    # A suspended member can be restored, and then signs in as before.
    if not standing.is_suspended:
        departures.end(uow, proof.confinement.organization_id, [user.id], ())
