"""The limits of a caller beyond account and role: who acts in place of the user, and what was not proved.

`CLOSES` is their one table: for each kind of act the limits that close it, in the order in which they refuse.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import Enum, auto
from typing import Final
from uuid import UUID

from core.errors import Forbidden
from core.lazy_dataclasses import dataclass


class ClosedWhileImpersonating(Forbidden):
    """An impersonator may not do this: it gives access to the account, or takes it away."""

    default_message = "This cannot be done while impersonating a user."


class OutlastsImpersonation(Forbidden):
    """An impersonator may not do this: another party would keep the result after the impersonation."""

    default_message = (
        "This cannot be done while impersonating a user, because it would outlast the impersonation. Ask the user, or"
        " an owner or admin of the organization."
    )


class CredentialWhileImpersonating(Forbidden):
    """An impersonator makes no credential: it would outlive the impersonation."""

    default_message = (
        "Credentials cannot be created or changed while impersonating a user. Ask the user, or an owner or admin of the"
        " organization."
    )


class AddressNotConfirmed(Forbidden):
    """Nothing but the word of an organization's identity provider says whose the session is."""

    default_message = (
        "So far only your organization's identity provider says that this account is yours. Confirm your address on"
        " your account's page: a code that is mailed to you confirms it."
    )


class AccountUsedElsewhere(Forbidden):
    """A service's token cannot change what belongs to the whole account, which is used beyond that service.

    Its user can, on the page of their account, which the details of the answer name.
    """

    default_message = (
        "This token was issued to a service, which cannot do this for an account that is used elsewhere too."
        " Continue on your account's page."
    )


class AddressDisowned(Forbidden):
    """The organization of the mail domain has taken the address back."""

    default_message = (
        "Your email address belongs to an organization that you have left. Choose another address on your account's"
        " page, and ask for a new invitation to it."
    )


class MailedProofRequired(Forbidden):
    """Using what was given to the address confirms nothing: how the account signs in, or its address, has changed."""

    default_message = (
        "This was given to your email address, so confirm first that it is yours: open the link in the mail about it,"
        " or sign in here with a link that is mailed to you."
    )


class ServiceTokenRefused(Forbidden):
    """What a service's token cannot do (RFC 9068, 4: its audience is not Gatehouse)."""

    default_message = "This token was issued to a service, which cannot do this. Sign in without naming a service."


class ConfinedElsewhere(Forbidden):
    """The session began for one organization alone."""

    default_message = "You have signed in for one organization alone. Sign in by password or passkey to do this."


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkLimits:
    """A setup link that acts for its maker: its parts, the roles that it gives, and its service, if a part has one.

    `visit_hash` tells the browser that has opened it from others; empty for one that has not. `key_id` is the key of
    the organization that made the link; None for one that a member made.
    """

    id: UUID
    parts: Sequence[str]
    roles: Sequence[str]
    service_id: UUID | None
    visit_hash: bytes
    key_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerLimits:
    """Who acts in the place of the user, and what the session does not open.

    `lacks_mailed_proof`: using what was given to the address takes a mailed proof, because a service changed how the
    account signs in, or because the session is older than the proof of the address and may belong to the person who had
    the address before. `key_id` is the key of an organization that calls in place of its maker, who is the user then.
    `workload_maker_id` is the member who let the workload call as that key. `link` is the setup link whose holder calls
    in place of its maker.
    """

    confinement: Confinement | None = None
    impersonator_id: UUID | None = None
    lacks_mailed_proof: bool = False
    key_id: UUID | None = None
    workload_maker_id: UUID | None = None
    link: LinkLimits | None = None

    @property
    def acts_for_maker(self) -> bool:
        """Whether a key or a setup link calls, and not the user."""
        return self.key_id is not None or self.link is not None

    @property
    def made_by_key(self) -> UUID | None:
        """The key of the organization that makes what the caller makes: itself, or by a setup link that it made."""
        return self.link.key_id if self.link is not None else self.key_id

    @property
    def is_impersonated(self) -> bool:
        """Whether a platform owner impersonates this user."""
        return self.impersonator_id is not None

    @property
    def confined_to(self) -> UUID | None:
        """The id of the organization to which the session is confined."""
        return self.confinement.organization_id if self.confinement is not None else None

    @property
    def is_unproved(self) -> bool:
        """Whether only a connection's word says whose session it is."""
        return self.confinement is not None and self.confinement.role is not None

    def opens_role(self, role: str | None) -> bool:
        """Return whether the session acts with a role that its user has; a connection's word alone opens few."""
        return self.confinement is None or self.confinement.opens_role(role)


class Limit(Enum):
    """A kind of limit that a caller has; `Caller.has` says whether it does."""

    IMPERSONATED = auto()
    # The token was issued to a service, whose operators hold it.
    OF_SERVICE = auto()
    # The session is for one organization alone.
    CONFINED = auto()
    # Both, where the account is used elsewhere too, or opens other accounts.
    OF_SERVICE_AND_ELSEWHERE = auto()
    CONFINED_AND_ELSEWHERE = auto()
    # Both, where the account opens other accounts.
    OF_SERVICE_AND_GOVERNS = auto()
    CONFINED_AND_GOVERNS = auto()
    UNPROVED = auto()
    DISOWNED = auto()
    LACKS_MAILED_PROOF = auto()


class Act(Enum):
    """A kind of act that limits close."""

    # What Gatehouse does for itself, and not for a service or one organization.
    WITHOUT_CONTEXT = auto()
    # What gives access to an account, takes it away or deletes it.
    IN_PERSON = auto()
    # What belongs to the account wherever it is used; it would let the holder of a token take over the rest.
    SHARED_ACCOUNT = auto()
    # What changes that, and would outlive the word of a connection.
    WHOLE_ACCOUNT = auto()
    # What needs a proof of the address first.
    PROVED = auto()
    # What another party would keep.
    LASTING = auto()
    # A credential that is made or changed.
    CREDENTIAL = auto()
    # What another person gave to the address.
    CONFIRM_ACCESS = auto()


CLOSES: Final[Mapping[Act, Mapping[Limit, type[Forbidden]]]] = {
    Act.WITHOUT_CONTEXT: {Limit.OF_SERVICE: ServiceTokenRefused, Limit.CONFINED: ConfinedElsewhere},
    Act.IN_PERSON: {
        Limit.IMPERSONATED: ClosedWhileImpersonating,
        # With the token of a platform owner the operators of the service would govern the platform; with a token of
        # support they would open the accounts of others.
        Limit.OF_SERVICE_AND_GOVERNS: AccountUsedElsewhere,
        Limit.CONFINED_AND_GOVERNS: ConfinedElsewhere,
    },
    Act.SHARED_ACCOUNT: {
        Limit.OF_SERVICE_AND_ELSEWHERE: AccountUsedElsewhere,
        Limit.CONFINED_AND_ELSEWHERE: ConfinedElsewhere,
    },
    Act.WHOLE_ACCOUNT: {
        Limit.IMPERSONATED: ClosedWhileImpersonating,
        Limit.OF_SERVICE_AND_ELSEWHERE: AccountUsedElsewhere,
        Limit.CONFINED_AND_ELSEWHERE: ConfinedElsewhere,
        Limit.UNPROVED: AddressNotConfirmed,
    },
    Act.PROVED: {Limit.UNPROVED: AddressNotConfirmed},
    Act.LASTING: {Limit.IMPERSONATED: OutlastsImpersonation},
    Act.CREDENTIAL: {Limit.IMPERSONATED: CredentialWhileImpersonating},
    Act.CONFIRM_ACCESS: {Limit.DISOWNED: AddressDisowned, Limit.LACKS_MAILED_PROOF: MailedProofRequired},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """The organization beyond which a session signs in to nothing, and possibly the one service of it.

    `role` is set while nothing but the word of a connection says whose session it is: then the session opens only that
    role and `member`.

    Such a session began with the word of another party: an identity provider of the organization, or an account that a
    service may have linked. Or it `lacks_connection`: it began without the sign-in that another organization requires
    of its user.

    At a service that customers use, the word of another party speaks for its own organization alone. So a session by
    the connection of a customer opens that service for this customer, and a vendor's own connection opens it for none.
    A connection that the vendor has made for a customer opens the same, and nothing else of the customer. `customer_id`
    limits what the token of such a service shows to the customer for which it acts.
    """

    organization_id: UUID
    service_id: UUID | None = None
    connection_id: UUID | None = None
    role: str | None = None
    lacks_connection: bool = False
    customer_id: UUID | None = None

    def opens_role(self, role: str | None) -> bool:
        """Return whether its sessions act with a role that their user has in the organization."""
        return self.role is None or role in {None, "member", self.role}

    def allows(self, organization_id: UUID | None, service_id: UUID | None) -> bool:
        """Return whether its sessions may sign in there without a customer; with one, `allows_customer` decides.

        In a browser they are on the platform, without any context.
        """
        if organization_id is None:
            return True
        return organization_id == self.organization_id and self.service_id in {None, service_id}

    def allows_customer(self, of_customer: Collection[UUID | None], organization_id: UUID, service_id: UUID) -> bool:
        """Return whether its sessions may sign in to a service for a customer.

        `of_customer` are the customer's organization, and the internal one of what the vendor has made for it.
        """
        if self.lacks_connection:
            return self.allows(organization_id, service_id)
        return self.service_id is None and self.organization_id in of_customer

    def covers(
        self,
        own: Confinement | None,
        organization_id: UUID | None,
        service_id: UUID | None,
        customer_id: UUID | None = None,
    ) -> bool:
        """Return whether a session with limits of its own opens nothing beyond these: it is confined, or a service's.

        A session that has only selected the organization can go on to another one. The token of a service shows the
        sessions for one customer, or those for none.
        """
        if self.service_id is not None and customer_id != self.customer_id:
            return False
        if own is not None and self.allows(own.organization_id, own.service_id):
            return True
        return service_id is not None and self.allows(organization_id, service_id)
