"""The caller of a request, which use cases read from the unit of work; its origin is in `origins.py`.

The caller is loaded from the database in the transaction of the use case, never taken from a token: a revoked session,
a removed role or a demoted platform owner takes effect with the next request.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final
from uuid import UUID

from core.errors import Forbidden, OrganizationNotActive, Unauthorized
from core.lazy_dataclasses import dataclass
from core.sessions.confinement import Confinement
from core.sessions.customer_contexts import CustomerContext
from core.sessions.mfa_methods import MfaMethods, have_own_factor, have_second_factor, is_phishing_resistant
from core.sessions.security_profiles import SecurityProfile
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class NoLongerInContext(Forbidden):
    """The token names an organization or service to which its user no longer belongs (identity 4.2, decisions 2.3)."""

    default_message = (
        "You no longer belong to the organization of this session. Refresh the session to continue without it."
    )


class NoLongerForCustomer(NoLongerInContext):
    """The token acts for a customer of its service for which its user may not use the service any more."""

    default_message = (
        "You cannot use this application for this customer any more. Sign in again, or ask an administrator of your"
        " organization."
    )


# What precedes the id of an organization's key where the logs show who acted.
KEY_ACTOR_PREFIX: Final = "api_key:"
# The id of no organization.
NOWHERE: Final = UUID(int=0)
# How many groups of a user a token names.
GROUPS_NAMED_MAX: Final = 100


class ClosedWhileImpersonating(Forbidden):
    """An impersonator may not do this: it gives access to the account, or takes it away (identity 4.8)."""

    default_message = "This cannot be done while impersonating a user."


class OutlastsImpersonation(Forbidden):
    """An impersonator may not do this: it would outlast the impersonation in another hand (decisions 5.11)."""

    default_message = (
        "This cannot be done while impersonating a user, because it would outlast the impersonation. Ask the user, or"
        " an owner or admin of the organization."
    )


class AddressNotConfirmed(Forbidden):
    """Nothing but the word of an organization's identity provider says whose the session is (decisions 10.6)."""

    default_message = (
        "So far only your organization's identity provider says that this account is yours. Confirm your address on"
        " your account's page: a code that is mailed to you confirms it."
    )


class AccountUsedElsewhere(Forbidden):
    """A service's token cannot change what belongs to the whole account, which is used beyond that service.

    Its user can, on the page of the path `continue_at`, which the details of the answer name.
    """

    default_message = (
        "This token was issued to a service, which cannot do this for an account that is used elsewhere too."
        " Continue on your account's page."
    )
    continue_at: ClassVar[str] = "/app/account"


class AddressDisowned(Forbidden):
    """The organization of the mail domain has taken the address back (decisions 5.7)."""

    default_message = (
        "Your email address belongs to an organization that you have left. Choose another address on your account's"
        " page, and ask for a new invitation to it."
    )


class MailedProofRequired(Forbidden):
    """Using a gift does not prove whose it is: how the account signs in, or its address, was changed since."""

    default_message = (
        "This was given to your email address, so confirm first that it is yours: open the link in the mail about it,"
        " or sign in here with a link that is mailed to you."
    )


class ServiceTokenRefused(Forbidden):
    """What a service's token cannot do (RFC 9068, 4: its audience is not Gatehouse)."""

    default_message = "This token was issued to a service, which cannot do this. Sign in without naming a service."


class ConfinedElsewhere(Forbidden):
    """The session began for one organization alone (decisions 10.8)."""

    default_message = "You have signed in for one organization alone. Sign in by password or passkey to do this."


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePlan:
    """What the caller may use of the service of their session: their plan, and the state of the subscription to it.

    Without a subscription it is the default plan, as if subscribed to. A subscription that has ended is shown as such,
    with the features of the default plan.
    """

    id: UUID
    name: str
    features: list[str]
    subscription_status: str
    current_period_end: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A signed-in user, with the current state of their account and live session.

    `organization_*` and `service_*` are the context in which the session began or which was selected since, not the
    organization of a path. `role` is the user's role in that organization, `custom_permissions` what it allows if it is
    a custom role, `is_end_user` whether the user is linked to that service, and `service_plan` their plan of it.
    `belongs_elsewhere` is known for sessions of a service alone: whether the user is a member of an organization, or
    uses services of another one. A session that is `confined_to` an organization has it likewise, for other
    organizations. `customer_id` is that of the customer for which the session acts at its service, and `customer` what
    the user is there, None when it is not open to them; `is_open_to_individuals` is about a session for none.
    """

    user_id: UUID
    email: str
    email_verified_at: datetime | None
    is_platform_owner: bool
    user_created_at: datetime
    session_id: UUID
    amr: list[str]
    authenticated_at: datetime
    device_id: UUID | None
    organization_id: UUID | None
    organization_slug: str | None
    organization_status: str | None
    role: str | None
    custom_permissions: list[str] | None
    service_id: UUID | None
    service_slug: str | None
    service_client_id: UUID | None
    is_end_user: bool
    impersonator_id: UUID | None
    organization_requires_mfa: bool = False
    organization_mfa_methods: MfaMethods = MfaMethods.ANY
    service_plan: ServicePlan | None = None
    # The groups of the user that the service learns of, one more than it can; None for a service that learns of none.
    service_groups: list[dict[str, str]] | None = None
    belongs_elsewhere: bool = False
    confined_to: UUID | None = None
    confined_to_service: UUID | None = None
    connection_id: UUID | None = None
    is_disowned: bool = False
    # Whether using what was given to the address takes a mailed proof: a service changed how the account signs in, or
    # the session is older than the proof of the address, so that it may be held by the person of the address before.
    lacks_mailed_proof: bool = False
    # For a session that nothing but a connection's word says is its user's: the role that this opens besides `member`.
    confined_to_role: str | None = None
    lacks_connection: bool = False
    customer_id: UUID | None = None
    customer: CustomerContext | None = None
    is_open_to_individuals: bool = True
    # The key of an organization that calls in the place of its maker, who is the user then; None for users themselves.
    key_id: UUID | None = None
    # Who let the workload authenticate that calls as the key; None for who shows the key itself, and for users.
    workload_maker_id: UUID | None = None
    service_security_profile: SecurityProfile | None = None
    # Whether the user is appointed to the platform's support, and has a verified address and a second factor.
    is_platform_support: bool = False

    @property
    def maker_id(self) -> UUID:
        """Who has made what the caller makes: the user, or who let a workload call as the user's key.

        What a workload may do is what the maker of the key may do, but it is not their work: it goes when what the one
        who added the workload did is taken back (decisions 3.13).
        """
        return self.workload_maker_id or self.user_id

    @property
    def confinement(self) -> Confinement | None:
        """What the session is limited to; None without limits."""
        if self.confined_to is None:
            return None
        return Confinement(
            organization_id=self.confined_to,
            service_id=self.confined_to_service,
            connection_id=self.connection_id,
            role=self.confined_to_role,
            lacks_connection=self.lacks_connection,
        )

    @property
    def is_verified(self) -> bool:
        """Whether the user has verified their email address, and its organization has not taken it back."""
        return self.email_verified_at is not None and not self.is_disowned

    @property
    def actor_user_id(self) -> UUID | None:
        """The user as the actor of what is recorded; None when a key acts in their place."""
        return self.user_id if self.key_id is None else None

    @property
    def actor(self) -> str:
        """The id of who acts, as an audit log shows it."""
        return str(self.user_id) if self.key_id is None else f"{KEY_ACTOR_PREFIX}{self.key_id}"

    @property
    def belongs_to_context(self) -> bool:
        """Whether the user still belongs to the session's context, as a member or as an end user of the service."""
        if self.customer_id is not None:
            # What a connection's word alone does not open of the organization, it does not open here (decisions 15.5).
            return self.customer is not None and self.opens_role(self.customer.role)
        if self.service_id is not None:
            return self.is_end_user and self.is_open_to_individuals
        return self.organization_id is None or self.role is not None

    @property
    def out_of_context(self) -> NoLongerInContext:
        """The refusal of a session to whose context its user does not belong."""
        return NoLongerInContext() if self.customer_id is None else NoLongerForCustomer()

    @property
    def is_organization_active(self) -> bool:
        """Whether the organization of the session's context is active; True without one."""
        return self.organization_status in {None, "active"}

    def require_active_organization(self) -> None:
        """Raise `OrganizationNotActive` when the organization of the session's context is not active."""
        if not self.is_organization_active:
            raise OrganizationNotActive(Wording("This organization is %(status)s.", status=self.organization_status))

    @property
    def is_impersonated(self) -> bool:
        """Whether a platform owner impersonates this user."""
        return self.impersonator_id is not None

    @property
    def has_service_token(self) -> bool:
        """Whether the session belongs to a service, whose operators hold its tokens."""
        return self.service_id is not None

    @property
    def is_limited(self) -> bool:
        """Whether another party could have begun the session: it is a service's, or for one organization alone."""
        return self.has_service_token or self.confined_to is not None

    @property
    def limits(self) -> Confinement | None:
        """The limits of what the session shows of the account, and ends (decisions 2.8 and 10.8); None for all of it.

        The token of a service is without limits while the account belongs nowhere else.
        """
        if self.service_id is None:
            return self.confinement
        if self.confined_to is None and not self.has_platform_role and not self.belongs_elsewhere:
            return None
        assert self.organization_id is not None, "a session of a service names no organization"
        return Confinement(
            organization_id=self.organization_id, service_id=self.service_id, customer_id=self.customer_id
        )

    @property
    def only_organization_id(self) -> UUID | None:
        """The one organization of which the session shows that its user belongs to it; None without limits.

        For a customer it shows that of none: the vendor learns what its token says, and no more (decisions 15.4).
        """
        if self.customer_id is not None:
            return NOWHERE
        return self.organization_id if self.has_service_token else self.confined_to

    @property
    def has_platform_role(self) -> bool:
        """Whether the user is a platform owner or platform support, so that the account opens those of others."""
        return self.is_platform_owner or self.is_platform_support

    @property
    def acts_as_platform_owner(self) -> bool:
        """Whether the caller is a platform owner, neither impersonated nor through a service that they use."""
        return self.is_platform_owner and not self.is_impersonated and not self.is_limited

    @property
    def acts_as_platform_support(self) -> bool:
        """Whether the caller is platform support, in person, in a session that began with a second factor."""
        is_in_person = not self.is_impersonated and not self.is_limited
        return self.is_platform_support and self.has_second_factor and is_in_person

    @property
    def has_second_factor(self) -> bool:
        """Whether this session began with a second factor, or on a device that remembers one."""
        return have_second_factor(self.amr)

    @property
    def has_proved_second_factor(self) -> bool:
        """Whether a second factor was proved in this session, at its beginning or since."""
        return "mfa" in self.amr

    @property
    def has_proved_own_factor(self) -> bool:
        """Whether a second factor of the account itself was proved; that a connection is trusted proves none of it."""
        return have_own_factor(self.amr, self.connection_id)

    @property
    def is_phishing_resistant(self) -> bool:
        """Whether a second factor was proved that cannot be passed on to another site."""
        return is_phishing_resistant(self.amr, self.connection_id)

    @property
    def is_remembered(self) -> bool:
        """Whether this session began with a device that remembers the second factor, instead of the factor itself."""
        return "trusted" in self.amr and not self.has_proved_second_factor

    @property
    def lacks_second_factor(self) -> bool:
        """Whether the context requires a second factor and this session began without one that counts there.

        Organizations require it of their members, at their services too, but not of the other users of these, nor of
        impersonators. A customer requires it of its members at the services that it uses (decisions 15.5).
        """
        if self.customer is not None:
            is_met = self.customer.mfa_methods.are_met_by(self.amr, self.connection_id)
            return self.customer.requires_mfa and not self.is_impersonated and not is_met
        is_required = self.organization_requires_mfa and self.role is not None and not self.is_impersonated
        return is_required and not self.organization_mfa_methods.are_met_by(self.amr, self.connection_id)

    def opens_role(self, role: str | None) -> bool:
        """Return whether the session acts with a role that its user has; a connection's word alone opens few."""
        return self.confinement is None or self.confinement.opens_role(role)

    @property
    def group_claims(self) -> dict[str, Any]:
        """The claims about the groups that the service learns of; none for a service that learns of none."""
        groups = self.service_groups if self.customer is None else self.customer.groups
        if groups is None:
            return {}
        return {"groups_overage": True} if len(groups) > GROUPS_NAMED_MAX else {"groups": groups}

    @property
    def role_in_context(self) -> str | None:
        """The user's role in the organization of the session, or in the customer for which it acts."""
        return self.role if self.customer is None else self.customer.role

    @property
    def opened_role(self) -> str | None:
        """The role with which the session acts; None for one that was given since and that it does not open."""
        return self.role if self.opens_role(self.role) else None

    def require_own_proof(self) -> None:
        """Raise `AddressNotConfirmed` where only a connection's word says whose session it is.

        Whatever changes the whole account asks it (`require_whole_account`): the change would outlive that word, also
        when the mail domain of the address has passed to another organization.
        """
        if self.confined_to_role is not None:
            raise AddressNotConfirmed

    def forbid_service_tokens(self) -> None:
        """Raise `Forbidden` when the token was issued to a service (RFC 9068, 4: its audience is not Gatehouse)."""
        if self.has_service_token:
            raise ServiceTokenRefused
        if self.confined_to is not None:
            raise ConfinedElsewhere

    def require_within(self, organization_id: UUID) -> None:
        """Raise `Forbidden` for a service's token, or when the session is confined to another organization."""
        if self.confined_to != organization_id:
            self.forbid_service_tokens()
        elif self.has_service_token:
            raise ServiceTokenRefused

    def require_confirmable(self) -> None:
        """Raise `Forbidden` when using what another person gave to the address does not confirm it."""
        if self.is_disowned:
            raise AddressDisowned
        if self.lacks_mailed_proof:
            raise MailedProofRequired

    def forbid_shared_account(self) -> None:
        """Raise `Forbidden` for a service's token, unless the account belongs to its organization alone.

        The operators of the service hold the token; with it they could take over what the user has elsewhere, so this
        guards what opens the whole account (decisions 2.8). The same holds for a session that is confined.
        """
        if self.is_limited and (self.has_platform_role or self.belongs_elsewhere):
            raise AccountUsedElsewhere if self.has_service_token else ConfinedElsewhere

    def require_whole_account(self) -> None:
        """Raise `Forbidden` unless the caller may change what belongs to the whole account.

        An impersonator may not, nor a service that shares the account with others, nor a session of which nothing but a
        connection's word says whose it is.
        """
        if self.is_impersonated:
            raise ClosedWhileImpersonating
        self.forbid_shared_account()
        self.require_own_proof()

    def forbid_impersonation(self) -> None:
        """Raise `Forbidden` for an impersonator (identity 4.8), and for a service with the token of a platform owner.

        It guards the changes that give access to an account or delete it. With the token of a platform owner, such a
        change would let the operators of the service govern the platform; with that of support, help themselves to
        the accounts of others.
        """
        if self.is_impersonated:
            raise ClosedWhileImpersonating
        if self.has_platform_role and self.is_limited:
            raise AccountUsedElsewhere if self.has_service_token else ConfinedElsewhere

    def forbid_lasting(self) -> None:
        """Raise `OutlastsImpersonation` for an impersonator, whose change would stay in another hand."""
        if self.is_impersonated:
            raise OutlastsImpersonation

    def forbid_credentials(self) -> None:
        """Raise `Forbidden` for an impersonator, who makes no credential: it would outlive the impersonation."""
        if self.is_impersonated:
            raise Forbidden(
                "No credential is made or changed while impersonating a user. Ask the user, or an owner or admin of the"
                " organization."
            )


def require_in_person(uow: UnitOfWork) -> Caller:
    """Return the caller; raise `Forbidden` when they are impersonated."""
    caller = uow.caller
    caller.forbid_impersonation()
    return caller


def require_whole_account(uow: UnitOfWork) -> Caller:
    """Return the caller; raise `Forbidden` unless they may change what belongs to the whole account."""
    caller = uow.caller
    caller.require_whole_account()
    return caller


def lock_whole_account(uow: UnitOfWork) -> Caller:
    """Lock the caller's account to change how it signs in, and return the caller; raise `Forbidden`.

    Once the change is complete, the use case calls `record_whole_account_changed`.
    """
    caller = lock_account(uow)
    caller.require_whole_account()
    return caller


def record_whole_account_changed(uow: UnitOfWork, caller: Caller, *, is_limited: bool = False) -> None:
    """Record that the caller has completed a change of how the account signs in.

    After a change by the token of a service, or in a confined session, what organizations give to the address is
    confirmed by a mailed proof only: its makers could have prepared the account (decisions 2.8). What was merely begun
    changes nothing. `is_limited` means that the change was begun in such a session, whichever completes it.
    """
    if caller.is_limited or is_limited:
        uow.users.set_changed_by_service(caller.user_id, at=uow.now)


def require_caller(uow: UnitOfWork) -> Caller:
    """Return the caller; raise `Unauthorized` when their session has ended."""
    return uow.caller


def lock_account(uow: UnitOfWork) -> Caller:
    """Lock the caller's account until this transaction ends, and return the caller as they are then.

    A transaction that ends all sessions of an account holds the same lock. Either it comes first, and this raises
    `Unauthorized`, or this transaction comes first, and the other one reads what it has changed.
    """
    caller = uow.caller
    uow.users.lock(caller.user_id)
    present_caller = uow.callers.of_session(caller.session_id)
    if present_caller is None:
        raise Unauthorized("This session is over. Sign in again.")
    return present_caller
