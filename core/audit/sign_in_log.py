"""The log of sign-ins behind the plots, of an organization or of the platform: a search by day, outcome and more.

The counts of `sign_in_counts.py` say on which days there are fitting sign-ins, so that only these days of the log are
read, and how many there are in all. Sign-ins of one person, or from a network address, are read without the counts;
from an address so many at a time, and the next page goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import support_access
from core.accounts.support_access import NarrowedList, RecordPart
from core.audit.analytics import Period
from core.audit.sign_in_counts import MONTH_DAYS, WEEK_DAYS, Counting, SignInFilter, SignInsOfDay, counting
from core.credentials import user_agents
from core.email_addresses import canonical_email
from core.events.actions import PlatformAction
from core.ids import first_id_since, moment_of
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize, authorize_support
from core.positions import Position
from core.services import service_access
from core.sign_in.reasons import SignInReason, reason_of
from core.sign_in.sign_ins import SignInOutcome, outcome_of

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A page reads so many days.
DAYS_AT_ONCE: Final = 40
DAYS_OF_PLATFORM_AT_ONCE: Final = 2
# A search looks at so many sign-ins from an address for ones that fit the other filters.
LOOKED_AT_MAX: Final = 2_000
# The filter of a list offers so many services.
SERVICES_MAX: Final = 100
NO_SERVICE: Final = UUID(int=0)
# The windows of active users, in days.
WINDOWS: Final = frozenset({1, WEEK_DAYS, MONTH_DAYS})
# No sign-in is older, and dates before it have no windows.
FIRST_DAY: Final = date(2000, 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedSignIn:
    """One sign-in of the log.

    The person and the address are None where the reader may not know them, as `email` shows. `is_member` concerns the
    organization that reads it.
    """

    id: UUID
    created_at: datetime
    provider: str
    success: bool
    reason: str | None
    organization_id: UUID | None
    organization_name: str | None
    service_id: UUID | None
    service_name: str | None
    connection_name: str | None
    user_id: UUID | None
    email: str | None
    is_member: bool
    is_platform_owner: bool
    ip_address: str | None
    user_agent: str | None
    request_id: str | None
    mailed_proof: str | None = None

    @property
    def position(self) -> Position:
        """Its place in the list."""
        return Position(at=self.created_at, id=self.id)

    @property
    def known_reason(self) -> SignInReason | None:
        """The reason of a refusal; None for a success. A later version may have reasons that this one does not know."""
        return None if self.success else reason_of(self.reason) or SignInReason.NOT_RECORDED

    @property
    def outcome(self) -> SignInOutcome:
        """The outcome."""
        return outcome_of(self.known_reason)

    @property
    def device(self) -> str:
        """The browser or program, by its own description."""
        return user_agents.describe(self.user_agent).name

    def without_person(self) -> LoggedSignIn:
        """Return the sign-in for a reader who may not know the person."""
        return replace(self, user_id=None, email=None, ip_address=None, user_agent=None, request_id=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInPerson:
    """The person whose sign-ins are listed: all, or the ones to an organization since the person confirmed it."""

    user_id: UUID
    organization_id: UUID | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveUser:
    """A user who signed in; `email` is None where the reader may not know who it is.

    `is_member` concerns the organization that reads it.
    """

    user_id: UUID
    email: str | None
    is_member: bool
    is_platform_owner: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundActiveUsers:
    """Users who signed in on some days, the oldest accounts first.

    `total` comes from the counts, None where they are not complete. The list goes on after the id `next`, None at its
    end.
    """

    period: Period
    found: Sequence[ActiveUser]
    total: int | None
    next: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSignIns:
    """A part of the sign-ins that were found, the newest first.

    `total` comes from the counts, None where they do not tell. The list goes on at `next`, None at its end.
    `looked_back_to` is the first day that was searched, where the search stopped before the page was full.
    """

    found: Sequence[LoggedSignIn]
    total: int | None
    next: Position | None
    looked_back_to: date | None
    counting: Counting


def listed(uow: UnitOfWork, slug: str, asked: SignInFilter, *, after: Position | None, limit: int) -> FoundSignIns:
    """Return sign-ins to an organization; only its own people are named.

    The address of any other person finds nothing, as if they had never signed in.
    """
    organization_id = authorize(uow, slug, Operation.SIGN_INS_READ).organization.id
    if asked.email is None:
        return find(uow, organization_id, asked, after=after, limit=limit, days_max=DAYS_AT_ONCE)
    user_id = uow.sign_ins.affiliated(organization_id, canonical_email(asked.email, uow.domain_names.to_ascii))
    affiliation = uow.sign_ins.affiliation(organization_id, user_id) if user_id is not None else None
    if user_id is None or affiliation is None or affiliation.since is None:
        return _none(uow)
    person = SignInPerson(organization_id=organization_id, user_id=user_id, since=affiliation.since)
    return find_of_person(uow, person, asked, after=after, limit=limit)


def listed_of_service(
    uow: UnitOfWork, slug: str, service_slug: str, asked: SignInFilter, *, after: Position | None, limit: int
) -> FoundSignIns:
    """Do what `listed` does for the sign-ins to one service; raise `ServiceUnknown`."""
    service = service_access.authorize(uow, slug, service_slug, Operation.SIGN_INS_READ).service
    return listed(uow, slug, replace(asked, service_id=service.id), after=after, limit=limit)


def listed_for_platform(uow: UnitOfWork, asked: SignInFilter, *, after: Position | None, limit: int) -> FoundSignIns:
    """Return sign-ins of the whole platform to a platform owner or support, which sees nothing of platform owners.

    A search of support that is narrowed to a person or a network is recorded.
    """
    caller = support_access.open_list(uow, NarrowedList.SIGN_INS, asked.narrowing)
    if asked.email is not None:
        user = uow.users.by_email(canonical_email(asked.email, uow.domain_names.to_ascii))
        if user is None or not support_access.sees(caller, user):
            return _none(uow)
        if not caller.acts_as_platform_owner:
            uow.audit_platform(PlatformAction.USER_OPENED, user.id, part=RecordPart.SIGN_INS.value)
        return find_of_person(uow, SignInPerson(user_id=user.id), asked, after=after, limit=limit)
    sees_owners = caller.acts_as_platform_owner
    page = find(uow, None, asked, after=after, limit=limit, days_max=DAYS_OF_PLATFORM_AT_ONCE)
    shown = [one if sees_owners or not one.is_platform_owner else one.without_person() for one in page.found]
    return replace(page, found=shown)


def active_users(uow: UnitOfWork, slug: str, window: Period, *, after: UUID, limit: int) -> FoundActiveUsers:
    """Return who signed in to an organization in a window; only its own people are named."""
    organization_id = authorize(uow, slug, Operation.SIGN_INS_READ).organization.id
    return find_active(uow, organization_id, window, after=after, limit=limit)


def active_users_of_platform(uow: UnitOfWork, window: Period, *, after: UUID, limit: int) -> FoundActiveUsers:
    """Return who signed in to the platform in a window of the last thirty days, to a platform owner or support."""
    sees_owners = authorize_support(uow).acts_as_platform_owner
    page = find_active(uow, None, window, after=after, limit=limit)
    shown = [one if sees_owners or not one.is_platform_owner else replace(one, email=None) for one in page.found]
    return replace(page, found=shown)


def services_to_choose(uow: UnitOfWork, slug: str) -> list[tuple[str, str]]:
    """Return the ids and names of services of an organization, the first ones by name."""
    organization_id = authorize(uow, slug, Operation.SIGN_INS_READ).organization.id
    return [(str(one), name) for one, name in uow.elsewhere.sign_in_log.service_names(organization_id, SERVICES_MAX)]


def window_of(today: date, day: date | None, days: int, *, kept_days: int | None = None) -> Period:
    """Return the window of one, seven or thirty days that ends with a day; one day for any other number.

    With `kept_days`, it begins no earlier than so many days ago.
    """
    end = max(min(day or today, today), FIRST_DAY)
    days = days if days in WINDOWS else 1
    if kept_days is not None and end - timedelta(days=days) < today - timedelta(days=kept_days):
        end = today
    return Period(start=end - timedelta(days=days - 1), end=end)


def days_to_read(counted: Sequence[SignInsOfDay], *, after: date | None, enough: int, days_max: int) -> Sequence[date]:
    """Return the latest days that together have enough sign-ins, none after the day where the page begins.

    That first day does not count, because the page before may have shown a part of it.
    """
    days: list[date] = []
    rows = 0
    for one in counted:
        if after is None or one.day <= after:
            days.append(one.day)
            rows += one.total if one.day != after else 0
            if rows >= enough or len(days) == days_max:
                break
    return days


def find(
    uow: UnitOfWork,
    organization_id: UUID | None,
    asked: SignInFilter,
    *,
    after: Position | None,
    limit: int,
    days_max: int,
) -> FoundSignIns:
    """Return sign-ins to an organization, None for all, from at most `days_max` days; the caller may see them."""
    if asked.address is not None:
        return _find_of_address(uow, organization_id, asked, after=after, limit=limit)
    state = counting(uow)
    counted = uow.elsewhere.sign_in_counts.by_day(organization_id, asked, state.newer_since)
    days = days_to_read(
        counted,
        after=after.at.astimezone(UTC).date() if after is not None else None,
        # One more tells that the list goes on.
        enough=limit + 1,
        days_max=days_max,
    )
    rows = uow.elsewhere.sign_in_log.listed(organization_id, asked, days=days, after=after, limit=limit + 1)
    following: Position | None = None
    looked_back_to: date | None = None
    if len(rows) > limit:
        following = rows[limit - 1].position
    elif days and days[-1] != counted[-1].day:
        # The list goes on before the first moment of that day.
        looked_back_to = days[-1]
        begin = datetime.combine(looked_back_to, time(), UTC)
        following = Position(at=begin - timedelta(microseconds=1), id=first_id_since(begin))
    return FoundSignIns(
        found=rows[:limit],
        total=sum(one.total for one in counted) if state.is_complete else None,
        next=following,
        looked_back_to=looked_back_to,
        counting=state,
    )


def _find_of_address(
    uow: UnitOfWork, organization_id: UUID | None, asked: SignInFilter, *, after: Position | None, limit: int
) -> FoundSignIns:
    """Return sign-ins from a network address; the caller may see them."""
    others = (asked.succeeded, asked.reason, asked.provider, asked.service_id)
    looked_at_max = limit + 1 if others == (None,) * len(others) else LOOKED_AT_MAX
    rows, last_id = uow.elsewhere.sign_in_log.of_address(
        organization_id, asked, after=after, limit=limit + 1, looked_at_max=looked_at_max
    )
    following: Position | None = None
    looked_back_to: date | None = None
    if len(rows) > limit:
        following = rows[limit - 1].position
    elif last_id is not None:
        following = Position(at=moment_of(last_id), id=last_id)
        looked_back_to = following.at.date()
    return replace(_none(uow), found=rows[:limit], next=following, looked_back_to=looked_back_to)


def find_of_person(
    uow: UnitOfWork, person: SignInPerson, asked: SignInFilter, *, after: Position | None, limit: int
) -> FoundSignIns:
    """Return sign-ins of one person; the caller may see them."""
    rows = uow.elsewhere.sign_in_log.of_person(person, asked, after=after, limit=limit + 1)
    following = rows[limit - 1].position if len(rows) > limit else None
    return replace(_none(uow), found=rows[:limit], next=following)


def _none(uow: UnitOfWork) -> FoundSignIns:
    return FoundSignIns(found=(), total=None, next=None, looked_back_to=None, counting=counting(uow))


def find_active(
    uow: UnitOfWork, organization_id: UUID | None, window: Period, *, after: UUID, limit: int
) -> FoundActiveUsers:
    """Return who signed in to an organization, None for all, in a window; the caller may see them."""
    state = counting(uow)
    rows = uow.elsewhere.sign_in_log.active_in(organization_id, window, state.newer_since, after=after, limit=limit + 1)
    [counts] = uow.elsewhere.sign_in_counts.active_users(
        organization_id, Period(start=window.end, end=window.end), state.newer_since
    )
    of_window = {1: counts.users, WEEK_DAYS: counts.week, MONTH_DAYS: counts.month}
    return FoundActiveUsers(
        period=window,
        found=rows[:limit],
        total=of_window[(window.end - window.start).days + 1] if state.is_complete else None,
        next=rows[limit - 1].user_id if len(rows) > limit else None,
    )
