"""Impersonation: starting a session in which a platform owner acts as a user, for an hour at most, to help them.

It is a session of the user, and every request in it knows the impersonator (`CallerLimits.impersonator_id`): operations
that give access to accounts, end sessions or remove the user are refused (`CLOSES` of
`core/sessions/caller_limits.py`), and every audit entry names the impersonator. The user gets a mail, sees the session
in their list, marked as an impersonation, and can end it. It appears neither in the user's login events nor in their
devices, because they did not sign in. At a service that customers use, it may act for one of them.

In a browser it has a secret of its own, and is valid only together with the platform owner's own session
(`core/sessions/browser_sessions.py`). No other session begins from it, and none continues it as the user's own.

For a customer of a service, the logs of the vendor and of the customer each get an entry with the id of the platform
owner, and the customer's owner gets a mail, which does not name them. It confirms nothing: the user has signed in for
the customer before, and does not sign in now.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts.sign_in_methods import IMPERSONATION
from core.accounts.users import User, UserUnknown
from core.customers import customers, relation_log
from core.errors import BadRequest, Conflict, Forbidden, all_valid
from core.events.actions import PlatformAction
from core.lazy_dataclasses import dataclass
from core.limits import IMPERSONATION_LIFETIME_MAX
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations.authorization import authorize_platform
from core.platform import user_records
from core.platform.user_records import UserRecord
from core.secrets import hash_token
from core.sessions import browser_sessions, refresh
from core.sessions.browser_sessions import BrowserCookie, BrowserSession
from core.sessions.callers import Caller
from core.sessions.refresh import SessionOver
from core.sessions.sessions import Session
from core.sessions.tokens import TokenGrant, token_grant
from core.sign_in import customer_choices, places
from core.sign_in.customer_choices import AS_INDIVIDUAL, CustomerStanding, ForCustomer, NotOpen
from core.sign_in.places import Place
from core.sign_in.proofs import Destination
from core.text import checked_reason

if TYPE_CHECKING:
    from core.accounts.users import User
    from core.sign_in.places import Place
    from ports.unit_of_work import UnitOfWork

_MINUTE: Final = "%Y-%m-%d %H:%M UTC"


class TargetIsPlatformOwner(BadRequest):
    """The user is a platform owner, possibly the caller."""

    default_message = "A platform owner cannot be impersonated."


class ImpersonatedUserChanged(Conflict):
    """The page has shown another address than the account has now."""

    default_message = (
        "The address of this account has changed since the page was opened. Check that it is still the person that you"
        " mean, and begin again."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpersonationTarget:
    """The reason for an impersonation, and its context."""

    reason: str
    organization_slug: str | None = None
    service_slug: str | None = None
    customer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpersonatedUser:
    """The user who is impersonated."""

    id: UUID
    email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Impersonation:
    """A new impersonation session."""

    grant: TokenGrant
    user: ImpersonatedUser
    audit_log_id: UUID

    @property
    def expires_at(self) -> datetime:
        """When the session ends at the latest."""
        return self.grant.session_expires_at


def show_target(uow: UnitOfWork, user_id: UUID) -> UserRecord:
    """Return the record of a user that a platform owner may want to impersonate; raise `UserUnknown`."""
    authorize_platform(uow)
    return user_records.show(uow, user_id)


def start(uow: UnitOfWork, user_id: UUID, wanted: ImpersonationTarget) -> Impersonation:
    """Start a session as another user, for an hour at most."""
    owner, reason = _authorized(uow, wanted)
    return _begin(uow, owner, _target(uow, user_id), wanted, reason)


def start_in_browser(
    uow: UnitOfWork, user_id: UUID, wanted: ImpersonationTarget, own: BrowserSession, *, seen_email: str
) -> BrowserCookie:
    """Start a session as another user in the browser with this session of the caller; return its own cookie.

    A browser acts as one user, so an earlier impersonation in it ends. Raise `ImpersonatedUserChanged` when the account
    no longer has the address that the page has shown.
    """
    owner, reason = _authorized(uow, wanted)
    user = _target(uow, user_id)
    if user.email != seen_email:
        raise ImpersonatedUserChanged
    begun = _begin(uow, owner, user, wanted, reason, ends_earlier=True)
    return browser_sessions.begin(uow, begun.grant.session_id, stays_signed_in=own.stays_signed_in)


def stop(uow: UnitOfWork) -> None:
    """End the impersonation that the caller has begun in the session of this request, unless it has ended already."""
    _end_begun_in(uow, uow.caller)


def _authorized(uow: UnitOfWork, wanted: ImpersonationTarget) -> tuple[Caller, str]:
    """Return the platform owner and the cleaned reason."""
    owner = authorize_platform(uow)
    reason, _ = all_valid(lambda: checked_reason(wanted.reason), lambda: _require_context(wanted))
    # Locked, so that a concurrent demotion ends the new session too, or is seen before it begins.
    uow.users.lock(owner.account.id)
    return owner, reason


def _target(uow: UnitOfWork, user_id: UUID) -> User:
    # Locked, so that a concurrent deactivation or promotion of the account finds the new session.
    user = uow.users.lock(user_id)
    if user is None or not user.is_active:
        raise UserUnknown
    if user.is_platform_owner:
        raise TargetIsPlatformOwner
    return user


def _begin(
    uow: UnitOfWork, owner: Caller, user: User, wanted: ImpersonationTarget, reason: str, *, ends_earlier: bool = False
) -> Impersonation:
    place = _place(uow, user, wanted)
    service, customer = place.service, place.customer
    # Locked, so that the end of the owner's session finds this impersonation and ends it too.
    if uow.sessions.lock_refresh_hash(owner.session.id) is None:
        raise SessionOver
    if ends_earlier:
        # Behind the lock, so that of two starts at once in a browser the second ends the first one's session.
        _end_begun_in(uow, owner)

    if customer is not None and service is not None:
        # Kept, so that a concurrent end of the customer is seen below, or finds the session.
        uow.service_customers.keep(service, customer.id)
    session = _session(uow, owner, user, place)
    refresh_token = refresh.first_token(uow, session.id)
    uow.sessions.add(session, refresh_hash=hash_token(refresh_token.reveal()))
    subject = uow.callers.subject(session.id, is_limited=True)
    if subject is None:
        # The caller was demoted at this moment; raising rolls everything back.
        raise Forbidden("Only a platform owner can do this.")
    if not subject.caller.belongs_to_context:
        raise _does_not_belong(place)
    of_customer = {"customer_id": str(customer.id)} if customer is not None else {}
    entry_id = uow.audit_platform(
        PlatformAction.IMPERSONATION_STARTED,
        user.id,
        organization_id=session.organization_id,
        reason=reason,
        impersonation_session=str(session.id),
        service_id=str(service.id) if service is not None else None,
        **of_customer,
    )
    if customer is not None:
        record_and_mail(uow, place, customer, user, session)
    # Without the actor and the reason: the reason may concern others, and the log has both.
    mail.send(
        uow,
        user.email,
        MailTemplate.IMPERSONATION_STARTED,
        at=uow.now.strftime(_MINUTE),
        until=session.expires_at.strftime(_MINUTE),
    )
    return Impersonation(
        grant=token_grant(subject, refresh_token, session_expires_at=session.expires_at),
        user=ImpersonatedUser(id=user.id, email=user.email),
        audit_log_id=entry_id,
    )


def _end_begun_in(uow: UnitOfWork, owner: Caller) -> None:
    for ended in uow.sessions.end_impersonations_begun_in(owner.session.id):
        uow.audit_platform(
            PlatformAction.IMPERSONATION_STOPPED,
            ended.user_id,
            organization_id=ended.organization_id,
            impersonation_session=str(ended.session_id),
        )


def _place(uow: UnitOfWork, user: User, wanted: ImpersonationTarget) -> Place:
    """Return the place of the session, with the customer for which it acts."""
    destination = Destination(organization_slug=wanted.organization_slug, service_slug=wanted.service_slug)
    place = uow.sign_in_places.defer(user.id, destination.organization_slug, destination.service_slug)()
    for judge in (
        places.refusal_of_unknown,
        places.refusal_of_inactive,
        places.refusal_of_unknown_service,
        places.refusal_of_other_way,
    ):
        refusal = judge(place, destination)
        if refusal is not None:
            raise refusal
    return replace(place, customer=chosen(place, wanted.customer))


def _require_context(wanted: ImpersonationTarget) -> None:
    if wanted.service_slug is not None and wanted.organization_slug is None:
        raise BadRequest.of_field("org_slug", "Name the organization of the service.")
    if wanted.customer is not None and wanted.service_slug is None:
        raise BadRequest.of_field("service_slug", "Name the service that the customer uses.")


def _does_not_belong(place: Place) -> BadRequest:
    if place.customers is not None:
        return refusal_of(place)
    if place.is_suspended:
        return BadRequest.of_field("org_slug", "The membership of this user in this organization is deactivated.")
    if place.service is None:
        return BadRequest.of_field("org_slug", "This user is not a member of this organization.")
    return BadRequest.of_field("service_slug", "This user has never signed in to this service, or may not.")


def _session(uow: UnitOfWork, owner: Caller, user: User, place: Place) -> Session:
    return Session(
        id=uow.randomness.new_id(),
        user_id=user.id,
        organization_id=place.organization_id,
        service_id=place.service_id,
        customer_id=place.customer.id if place.customer is not None else None,
        device_id=None,
        provider=IMPERSONATION,
        # The platform owner's authentication, because the user has not authenticated.
        amr=list(owner.session.amr),
        authenticated_at=owner.session.authenticated_at,
        refreshed_at=uow.now,
        expires_at=uow.now + IMPERSONATION_LIFETIME_MAX,
        # The owner's address is in the platform's log; the user, who can list this session, must not see it.
        ip_address=None,
        user_agent=None,
        impersonator_id=owner.account.id,
        impersonator_session_id=owner.session.id,
        created_at=uow.now,
    )


_CLOSED: Final = "This user has never signed in to this service for such a customer, or it is not open to them now."
_DUE: Final = (
    "This user does not use this service without a customer. Name the customer for which you act as this user, by its"
    " id or slug."
)


def chosen(place: Place, named: str | None) -> CustomerStanding | None:
    """Return the customer for which a session of this user acts at a service, None to act without one.

    Raise `BadRequest` for a customer for which the user cannot sign in or never has, and if a required one is missing.
    """
    name = named or AS_INDIVIDUAL
    choice = customer_choices.choose(place.service, place.customers, name, None, must_know=True)
    if not name:
        if isinstance(choice, NotOpen):
            raise _refusal(_DUE)
        return None
    if not isinstance(choice, ForCustomer) or place.is_suspended:
        raise _refusal(_CLOSED)
    return choice.customer


def refusal_of(place: Place) -> BadRequest:
    """Return the refusal of a session whose context is not open to its user."""
    return _refusal(_DUE if place.customer is None else _CLOSED)


def record_and_mail(uow: UnitOfWork, place: Place, customer: CustomerStanding, user: User, session: Session) -> None:
    """Record an impersonation for a customer in both logs, and mail it to the customer's owner."""
    assert place.organization is not None, "a customer was chosen without its vendor"
    assert place.service is not None, "a customer was chosen without its service"
    found = uow.service_customers.find(place.service, customer.id, at=uow.now)
    assert found is not None, "a session was begun for a customer that there is not"
    relation = customers.relation(place.organization, place.service, found)
    relation_log.record_impersonation(uow, relation, user.id, session)
    owner = uow.mail_servers.owner_contact(customer.organization_id)
    mail.send(
        uow,
        owner.email,
        MailTemplate.CUSTOMER_IMPERSONATION_STARTED,
        person=user.email,
        service=relation.service_name,
        vendor=relation.vendor_name,
        organization=owner.organization_name,
        slug=customer.slug,
        at=uow.now.strftime(_MINUTE),
        until=session.expires_at.strftime(_MINUTE),
    )


def _refusal(text: str) -> BadRequest:
    return BadRequest.of_field("customer", text)
