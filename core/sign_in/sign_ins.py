"""The sign-ins of a user, with why they were refused: for the person, their organization, platform owners and
support.

An organization sees the sign-ins in its own context: to itself, to its services, by its connections and under its
domain. It sees those of its members and end users only, and only since they have confirmed that; what they do on the
platform or elsewhere is none of its business. A person sees their own, as far as their session shows them. Login
events are recorded by `login_events.py`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import support_access
from core.accounts.support_access import RecordPart
from core.credentials import user_agents
from core.credentials.user_agents import Description
from core.errors import NotFound
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.sign_in.proofs import MailedProof
from core.sign_in.reasons import SignInReason

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Later than any sign-in.
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


class SignInsUnknown(NotFound):
    """The user is neither a member nor an end user of this organization, whether or not they have an account."""

    default_message = "This organization has no such member or end user."


class SignInOutcome(StrEnum):
    """The outcome of an attempt to sign in."""

    SUCCESS = "success"
    REFUSED = "refused"
    SECOND_FACTOR_ASKED = "second_factor_asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInOrganization:
    """The organization that was signed in to."""

    id: UUID
    slug: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInService:
    """The service that was signed in to."""

    id: UUID
    slug: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInCustomer:
    """The customer of the service for which its user signed in; the id is the customer's, as tokens name it."""

    id: UUID
    slug: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInConnection:
    """The connection of an organization by which its user signed in."""

    id: UUID
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """One attempt to sign in; `reason` and `reason_text` are null for one that succeeded.

    `customer` is None for a user without one, and for a customer that has ended since. A vendor sees it in a refused
    sign-in only if the user had signed in for the customer before, or it would learn who belongs to its customers.
    """

    id: UUID
    created_at: datetime
    provider: str
    outcome: SignInOutcome
    reason: SignInReason | None
    reason_text: str | None
    organization: SignInOrganization | None
    service: SignInService | None
    connection: SignInConnection | None
    ip_address: str | None
    user_agent: str | None
    device: str
    device_id: UUID | None
    geo_country: str | None
    geo_city: str | None
    risk_score: int
    risk_factors: list[str]
    request_id: str | None
    customer: SignInCustomer | None = None
    mailed_proof: MailedProof | None = None

    @property
    def client(self) -> Description:
        """The browser or program, by its own description."""
        return user_agents.describe(self.user_agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInsPage:
    """A page of sign-ins, and their total number."""

    sign_ins: list[SignIn]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSignIns:
    """A part of a person's own sign-ins; `next_id` is what the following part begins after, None at the end."""

    sign_ins: list[SignIn]
    next_id: UUID | None


class SignInUnknown(NotFound):
    """The person has no such sign-in, or it is no longer kept."""

    default_message = "You have no such sign-in, or it is no longer kept. Open your sign-ins again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Affiliation:
    """A member or end user of an organization, and when they confirmed that; None for one who has not."""

    since: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The sign-ins that concern an organization, since a time; with a service, those to that service alone."""

    organization_id: UUID
    since: datetime
    service_id: UUID | None = None


def list_page(uow: UnitOfWork, slug: str, user_id: UUID, *, page: int, limit: int) -> SignInsPage:
    """Return the sign-ins of a member or end user of an organization; raise `SignInsUnknown` for anyone else."""
    organization = authorize(uow, slug, Operation.SIGN_INS_READ).organization
    affiliation = uow.sign_ins.affiliation(organization.id, user_id)
    if affiliation is None:
        raise SignInsUnknown
    if affiliation.since is None:
        return SignInsPage(sign_ins=[], total=0)
    scope = Scope(organization_id=organization.id, since=affiliation.since)
    return of_user(uow, user_id, scope, page=page, limit=limit)


def list_platform_page(uow: UnitOfWork, user_id: UUID, *, page: int, limit: int) -> SignInsPage:
    """Return all sign-ins of a user, as a platform owner or support; raise `UserUnknown`."""
    support_access.open_record(uow, user_id, RecordPart.SIGN_INS)
    return of_user(uow, user_id, None, page=page, limit=limit)


def list_mine(uow: UnitOfWork, *, after: UUID | None, limit: int) -> OwnSignIns:
    """Return the caller's own sign-ins, the newest first, or those that come after one; raise `SignInUnknown`.

    A session with limits shows what concerns its organization, which sees no more of it.
    """
    user_id, scope = uow.caller.account.id, _own_scope(uow)
    if after is not None and uow.elsewhere.sign_ins.find(user_id, after, scope) is None:
        raise SignInUnknown
    # One more than is shown tells whether more follow.
    found = uow.elsewhere.sign_ins.following(user_id, scope, after=after, limit=limit + 1)
    return OwnSignIns(sign_ins=list(found[:limit]), next_id=found[limit - 1].id if len(found) > limit else None)


def show_mine(uow: UnitOfWork, sign_in_id: UUID) -> SignIn:
    """Return one of the caller's own sign-ins; raise `SignInUnknown` for one that their session does not show."""
    found = uow.sign_ins.find(uow.caller.account.id, sign_in_id, _own_scope(uow))
    if found is None:
        raise SignInUnknown
    return found


def of_user(uow: UnitOfWork, user_id: UUID, scope: Scope | None, *, page: int, limit: int) -> SignInsPage:
    """Return one page of a user's sign-ins in a scope, the newest first; None means all. The caller may see them."""
    total = uow.elsewhere.sign_ins.defer_count(user_id, scope)
    found = uow.elsewhere.sign_ins.page(user_id, scope, limit=limit, offset=(page - 1) * limit)
    return SignInsPage(sign_ins=list(found), total=total())


def _own_scope(uow: UnitOfWork) -> Scope | None:
    """Return the scope that the caller's session shows; None for everything."""
    caller = uow.caller
    if caller.shown_within is None:
        return None
    affiliation = uow.sign_ins.affiliation(caller.shown_within.organization_id, caller.account.id)
    since = affiliation.since if affiliation is not None else None
    # If the organization sees nothing of the user, the session shows nothing either.
    return Scope(
        organization_id=caller.shown_within.organization_id,
        since=since if since is not None else _NEVER,
        service_id=caller.shown_within.service_id,
    )


def outcome_of(reason: SignInReason | None) -> SignInOutcome:
    """Return the outcome of an attempt that has this reason; None for a success."""
    if reason is None:
        return SignInOutcome.SUCCESS
    is_asked = reason is SignInReason.SECOND_FACTOR_ASKED
    return SignInOutcome.SECOND_FACTOR_ASKED if is_asked else SignInOutcome.REFUSED
