"""The caller of a request, which use cases read from the unit of work; its origin is in `origins.py`.

A caller is four values: the account, the session, the place and the limits. It is loaded from the database in the
transaction of the use case, never taken from a token: a revoked session, a removed role or a demoted platform owner
takes effect with the next request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.errors import Forbidden, Unauthorized
from core.lazy_dataclasses import dataclass
from core.sessions import mfa_methods
from core.sessions.caller_limits import (
    CLOSES,
    Act,
    CallerLimits,
    ConfinedElsewhere,
    Confinement,
    Limit,
    ServiceTokenRefused,
)
from core.sessions.places import CallerPlace

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class NoLongerInContext(Forbidden):
    """The token names an organization or service to which its user no longer belongs."""

    default_message = (
        "You no longer belong to the organization of this session. Refresh the session to continue without it."
    )


class NoLongerForCustomer(NoLongerInContext):
    """The token acts for a customer of its service for which its user may no longer use the service."""

    default_message = (
        "You cannot use this application for this customer any more. Sign in again, or ask an administrator of your"
        " organization."
    )


class ServiceNoLongerOpen(Unauthorized):
    """The service of the token no longer admits its user."""

    default_message = (
        "You may not use this application any more. Sign in again, or ask an administrator of its organization."
    )


# The prefix of the id of an organization's key, and of a setup link, where the logs show who acted.
KEY_ACTOR_PREFIX: Final = "api_key:"
LINK_ACTOR_PREFIX: Final = "setup_link:"
# The id of no organization.
NOWHERE: Final = UUID(int=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls, with the current state of all four."""

    account: CallerAccount
    session: CallerSession
    place: CallerPlace
    limits: CallerLimits

    @property
    def maker_id(self) -> UUID:
        """The maker of what the caller makes: the user, or the member who let a workload call as the user's key.

        A workload may do what the maker of the key may do, but its work counts as that member's: it goes when what the
        member did is taken back.
        """
        return self.limits.workload_maker_id or self.account.id

    @property
    def actor_user_id(self) -> UUID | None:
        """The user as the actor of what is recorded; None when a key or a setup link acts in their place."""
        return None if self.limits.acts_for_maker else self.account.id

    @property
    def actor(self) -> str:
        """The id of the actor, as an audit log shows it."""
        key_id, link = self.limits.key_id, self.limits.link
        if link is not None:
            return f"{LINK_ACTOR_PREFIX}{link.id}"
        return str(self.account.id) if key_id is None else f"{KEY_ACTOR_PREFIX}{key_id}"

    @property
    def belongs_to_context(self) -> bool:
        """Whether the user still belongs to the session's context, as a member or as an end user of the service."""
        place = self.place
        if place.customer_id is not None:
            # A role that a connection's word alone does not open in the organization is not open here either.
            return place.customer is not None and self.limits.opens_role(place.customer.role)
        if place.service is not None:
            return place.service.is_user and place.service.is_admitted and place.service.is_open_to_individuals
        return place.organization_id is None or place.role is not None

    @property
    def is_admitted(self) -> bool:
        """Whether the service of the session, if it has one, still admits its user."""
        return self.place.service is None or self.place.service.is_admitted

    @property
    def out_of_context(self) -> NoLongerInContext | ServiceNoLongerOpen:
        """The refusal of a session to whose context its user does not belong."""
        if not self.is_admitted:
            return ServiceNoLongerOpen()
        return NoLongerInContext() if self.place.customer_id is None else NoLongerForCustomer()

    @property
    def has_service_token(self) -> bool:
        """Whether the session belongs to a service, whose operators hold its tokens."""
        return self.place.service is not None

    @property
    def is_limited(self) -> bool:
        """Whether another party could have begun the session: it is a service's, or for one organization alone."""
        return self.place.service is not None or self.limits.confinement is not None

    @property
    def shown_within(self) -> Confinement | None:
        """The limits of what the session shows of the account, and may end; None for all of it.

        The token of a service is without limits while the account belongs nowhere else.
        """
        place, confinement = self.place, self.limits.confinement
        if place.service is None:
            return confinement
        if confinement is None and not self.account.has_platform_role and not self.account.belongs_elsewhere:
            return None
        assert place.organization_id is not None, "a session of a service names no organization"
        return Confinement(
            organization_id=place.organization_id, service_id=place.service.id, customer_id=place.customer_id
        )

    @property
    def only_organization_id(self) -> UUID | None:
        """The one organization to which the session shows that its user belongs; None without limits.

        A session for a customer shows none: the vendor learns what its token says, and no more.
        """
        if self.place.customer_id is not None:
            return NOWHERE
        return self.place.organization_id if self.has_service_token else self.limits.confined_to

    @property
    def acts_as_platform_owner(self) -> bool:
        """Whether the caller is a platform owner, neither impersonated nor through a service that they use."""
        return self.account.is_platform_owner and self._is_in_person

    @property
    def acts_as_platform_support(self) -> bool:
        """Whether the caller is platform support, in person, in a session that began with a second factor."""
        return self.account.is_platform_support and self.session.has_second_factor and self._is_in_person

    @property
    def _is_in_person(self) -> bool:
        return not self.limits.is_impersonated and not self.is_limited

    @property
    def lacks_second_factor(self) -> bool:
        """Whether the context requires a second factor and this session began without one that counts there.

        Organizations require it of their members, at their services too, but not of the other users of these services,
        nor of impersonators. A customer requires it of its members at the services that it uses.
        """
        place, session = self.place, self.session
        if self.limits.is_impersonated:
            return False
        if place.customer is not None:
            requires_it, methods = place.customer.requires_mfa, place.customer.mfa_methods
        else:
            requires_it, methods = place.requires_mfa and place.role is not None, place.mfa_methods
        return requires_it and not methods.are_met_by(session.amr, session.connection_id)

    @property
    def opened_role(self) -> str | None:
        """The role with which the session acts; None for a role that was given since and that it does not open."""
        return self.place.role if self.limits.opens_role(self.place.role) else None

    @property
    def service_roles(self) -> list[str] | None:
        """The names of the service's own roles that the user has; None where it gives none.

        A session that does not open the role of its user has none of the roles that the organization gives.
        """
        place = self.place
        if place.customer is not None:
            return place.customer.service_roles
        roles = place.service.roles if place.service is not None else None
        return roles if not roles or self.limits.opens_role(place.role) else []

    @property
    def service_claims(self) -> dict[str, Any]:
        """The claims about the customer, or without one about the service's own roles."""
        if self.place.customer is not None:
            return self.place.customer.claims
        return {"service_roles": self.service_roles} if self.service_roles is not None else {}

    def has(self, limit: Limit) -> bool:
        """Return whether the caller has a limit."""
        return _HOLDS[limit](self)

    def require(self, act: Act) -> None:
        """Raise `Forbidden` when a limit of the caller closes acts of this kind."""
        for limit, refusal in CLOSES[act].items():
            if self.has(limit):
                raise refusal

    def require_within(self, organization_id: UUID) -> None:
        """Raise `Forbidden` for a service's token, or when the session is confined to another organization."""
        if self.has_service_token:
            raise ServiceTokenRefused
        if self.limits.confined_to not in {None, organization_id}:
            raise ConfinedElsewhere


def _is_elsewhere(caller: Caller) -> bool:
    return caller.account.has_platform_role or caller.account.belongs_elsewhere


_HOLDS: Final[Mapping[Limit, Callable[[Caller], bool]]] = {
    Limit.IMPERSONATED: lambda caller: caller.limits.is_impersonated,
    Limit.OF_SERVICE: lambda caller: caller.has_service_token,
    Limit.CONFINED: lambda caller: caller.limits.confinement is not None,
    Limit.OF_SERVICE_AND_ELSEWHERE: lambda caller: caller.has_service_token and _is_elsewhere(caller),
    Limit.CONFINED_AND_ELSEWHERE: lambda caller: caller.limits.confinement is not None and _is_elsewhere(caller),
    Limit.OF_SERVICE_AND_GOVERNS: lambda caller: caller.has_service_token and caller.account.has_platform_role,
    Limit.CONFINED_AND_GOVERNS: lambda caller: (
        caller.limits.confinement is not None and caller.account.has_platform_role
    ),
    Limit.UNPROVED: lambda caller: caller.limits.is_unproved,
    Limit.DISOWNED: lambda caller: caller.account.is_disowned,
    Limit.LACKS_MAILED_PROOF: lambda caller: caller.limits.lacks_mailed_proof,
}


def require_in_person(uow: UnitOfWork) -> Caller:
    """Return the caller; raise `Forbidden` when they are impersonated."""
    caller = uow.caller
    caller.require(Act.IN_PERSON)
    return caller


def require_whole_account(uow: UnitOfWork) -> Caller:
    """Return the caller; raise `Forbidden` unless they may change what belongs to the whole account."""
    caller = uow.caller
    caller.require(Act.WHOLE_ACCOUNT)
    return caller


def lock_whole_account(uow: UnitOfWork) -> Caller:
    """Lock the caller's account to change how it signs in, and return the caller; raise `Forbidden`.

    Once the change is complete, the use case calls `record_whole_account_changed`.
    """
    caller = lock_account(uow)
    caller.require(Act.WHOLE_ACCOUNT)
    return caller


def record_whole_account_changed(uow: UnitOfWork, caller: Caller, *, is_limited: bool = False) -> None:
    """Record that the caller has completed a change of how the account signs in.

    After a change by the token of a service, or in a confined session, only a mailed proof confirms what organizations
    give to the address: the makers of the service could have prepared the account. A change that was only begun does
    not count. `is_limited` means that the change was begun in such a session, whichever session completes it.
    """
    if caller.is_limited or is_limited:
        uow.users.set_changed_by_service(caller.account.id, at=uow.now)


def require_caller(uow: UnitOfWork) -> Caller:
    """Return the caller; raise `Unauthorized` when their session has ended."""
    return uow.caller


def lock_account(uow: UnitOfWork) -> Caller:
    """Lock the caller's account until this transaction ends, and return the caller as they are then.

    A transaction that ends all sessions of an account holds the same lock. Either it comes first, and this raises
    `Unauthorized`, or this transaction comes first, and the other one reads what it has changed.
    """
    caller = uow.caller
    uow.users.lock(caller.account.id)
    present_caller = uow.callers.of_session(caller.session.id)
    if present_caller is None:
        raise Unauthorized("This session is over. Sign in again.")
    return present_caller


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerAccount:
    """Who the caller is.

    `is_disowned`: the organization of the mail domain has taken the address back. `is_platform_support` takes a
    verified address and a second factor. `belongs_elsewhere`: the user is a member of another organization, or uses
    services of one. It is read for sessions of a service and for those confined to an organization; where a caller is
    read for the contents of tokens, it is assumed.
    """

    id: UUID
    email: str
    email_verified_at: datetime | None
    created_at: datetime
    is_disowned: bool = False
    is_platform_owner: bool = False
    is_platform_support: bool = False
    belongs_elsewhere: bool = False

    @property
    def is_verified(self) -> bool:
        """Whether the user has verified their email address, and its organization has not taken it back."""
        return self.email_verified_at is not None and not self.is_disowned

    @property
    def has_platform_role(self) -> bool:
        """Whether the user is a platform owner or platform support, so that the account opens other accounts."""
        return self.is_platform_owner or self.is_platform_support


# Within which a user has signed in again who changes something that matters.
RECENT: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerSession:
    """How the caller has signed in; `connection_id` is the connection of an organization by which they came."""

    id: UUID
    amr: list[str]
    authenticated_at: datetime
    device_id: UUID | None = None
    connection_id: UUID | None = None

    @property
    def has_second_factor(self) -> bool:
        """Whether this session began with a second factor, or on a device that remembers one."""
        return mfa_methods.have_second_factor(self.amr)

    @property
    def has_proved_second_factor(self) -> bool:
        """Whether a second factor was proved in this session, at its beginning or since."""
        return "mfa" in self.amr

    @property
    def has_proved_own_factor(self) -> bool:
        """Whether a second factor of the account itself was proved; that a connection is trusted proves none of it."""
        return mfa_methods.have_own_factor(self.amr, self.connection_id)

    @property
    def is_phishing_resistant(self) -> bool:
        """Whether a second factor was proved that cannot be passed on to another site."""
        return mfa_methods.is_phishing_resistant(self.amr, self.connection_id)

    @property
    def is_remembered(self) -> bool:
        """Whether this session began with a device that remembers the second factor, instead of the factor itself."""
        return "trusted" in self.amr and not self.has_proved_second_factor
