"""The plots of sign-ins and active users: what the pages of an organization and of the platform share.

A bar of a day, a week or a month leads to the list of exactly what it counts, if the reader may see lists.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from core.accounts.sign_in_methods import Provider, title_of
from core.audit.sign_in_counts import (
    BAR_DAYS,
    MONTH_DAYS,
    PERIOD_DAYS_DEFAULT,
    WEEK_DAYS,
    ActiveUsers,
    SignInAnalytics,
    bars_of,
)
from core.audit.sign_in_log import NO_SERVICE
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.standing import Standing
from core.sign_in.proofs import MailedProof
from core.sign_in.reasons import SignInReason, reason_of
from entrypoints.pages.console.frame import page_of, with_query
from entrypoints.pages.console.plots import Plot, Point, bars, named_days, ranked, sparkline
from entrypoints.pages.frame.languages import Language, marked
from entrypoints.web.input.decoding import number_of

if TYPE_CHECKING:
    # Its refusals are for programs, and no page imports them.
    from core.audit.analytics import Period

SUCCEEDED: Final = "succeeded"
REFUSED: Final = "refused"
METHODS: Final = {
    Provider.PASSWORD.value: marked("Password"),
    Provider.PASSKEY.value: marked("Passkey"),
    Provider.MAGIC_LINK.value: marked("Mailed link or code"),
    Provider.SAML.value: marked("Single sign-on from another session"),
    Provider.UPSTREAM.value: marked("Connection to an identity provider"),
}
MAILED: Final = {
    MailedProof.LINK.value: marked("Link by mail"),
    MailedProof.CODE.value: marked("Code by mail"),
}
PERIODS: Final = {
    7: marked("7 days"),
    30: marked("30 days"),
    90: marked("90 days"),
    365: marked("365 days"),
}
_DAYS: Final = marked("%(start)s to %(end)s")
_ACCOUNT_AT: Final = marked("Account at %(provider)s")
_SIGN_INS: Final = (marked("Succeeded"), marked("Refused"))
_USERS: Final = marked("Active users")
_SIGN_INS_UNIT: Final = marked("Sign-ins")
_USERS_UNIT: Final = marked("People")

_CHANGE: Final = marked("%(sign)s%(percent)s %%")

Ranked = tuple[str, int, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number of an overview: what it counts, the address of its list, its change in a week, and its days.

    `change` is empty where there was nothing before; `line` is the width and the path of a small line.
    """

    name: str
    count: int
    href: str
    change: str
    line: tuple[float, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInLists:
    """The addresses of the lists behind plots; empty where the reader may not see them."""

    sign_ins: str
    users: str

    def of_sign_ins(self, period: Period, **query: str) -> str:
        """Return the address of the sign-ins of a period."""
        days = {"since": period.start.isoformat(), "until": period.end.isoformat()}
        if period.start == period.end:
            days = {"day": period.end.isoformat()}
        return with_query(self.sign_ins, **query, **days) if self.sign_ins else ""

    def of_users(self, active: ActiveUsers, days: int) -> str:
        """Return the address of the list of users who were active in this many days."""
        if not self.users:
            return ""
        # One day is what the page shows without a number.
        return with_query(self.users, day=active.day.isoformat(), days=days if days > 1 else "")


# An organization may have hundreds of services; the file of the ranking has all of them.
SERVICES_SHOWN_MAX: Final = 10
# There are some sixty; a page with all of them would be larger than any other.
REASONS_SHOWN_MAX: Final = 10
NO_LISTS: Final = SignInLists(sign_ins="", users="")


def lists_of(standing: Standing, *, page: str = "") -> SignInLists:
    """Return the lists behind the plots of an organization; none for a role that may not see them.

    `page` is the address of the analytics as the page with the plots names it: a page with many links has it shorter.
    """
    if standing.lacks(Operation.SIGN_INS_READ):
        return NO_LISTS
    page = page or f"{page_of(standing.organization.slug)}/analytics"
    return SignInLists(sign_ins=f"{page}/sign-ins", users=f"{page}/active-users")


def period_days(text: str) -> int:
    """Return the days of a period that a page offers; those shown at first for any other text."""
    days = number_of(text)
    return days if days in BAR_DAYS else PERIOD_DAYS_DEFAULT


def method_name(language: Language, provider: str, mailed_proof: str | None = None) -> str:
    """Return a method in words; of a sign-in by mail what was used, where it is known."""
    if provider == Provider.MAGIC_LINK and mailed_proof in MAILED:
        return language.text(MAILED[mailed_proof])
    return (
        language.text(METHODS[provider])
        if provider in METHODS
        else language.text(_ACCOUNT_AT, provider=title_of(provider))
    )


def reason_name(language: Language, reason: str) -> str:
    """Return a reason in words; a version after this one may have others."""
    return language.known((reason_of(reason) or SignInReason.NOT_RECORDED).text)


def plot_values(language: Language, shown: SignInAnalytics, lists: SignInLists) -> dict[str, Any]:
    """Return the plots and rankings of a period, as `console/sign_in_plots.html` shows them."""
    figures, period = shown.figures, shown.period
    reasons = [
        (reason_name(language, one.reason), one.refused, lists.of_sign_ins(period, reason=one.reason))
        for one in figures.reasons
    ]
    methods = [
        (
            method_name(language, one.provider),
            one.succeeded,
            lists.of_sign_ins(period, outcome=SUCCEEDED, method=one.provider),
        )
        for one in figures.methods
    ]
    services = [
        (
            service_name(language, one.service_id, one.name),
            one.succeeded,
            # What was signed in to is not known of a deleted service, which is no longer in the log.
            lists.of_sign_ins(period, outcome=SUCCEEDED, service=str(one.service_id))
            if one.name is not None or one.service_id == NO_SERVICE
            else "",
        )
        for one in figures.services
    ]
    now, by_service, by_reason = shown.now_active, _ranked(services), _ranked(reasons)
    return {
        "sign_ins": sign_ins_plot(language, shown, lists),
        "active": active_plot(language, shown, lists),
        "reasons": by_reason[:REASONS_SHOWN_MAX],
        "reasons_shown_max": REASONS_SHOWN_MAX if len(by_reason) > REASONS_SHOWN_MAX else None,
        "methods": _ranked(methods),
        "services": by_service[:SERVICES_SHOWN_MAX],
        "services_shown_max": SERVICES_SHOWN_MAX if len(by_service) > SERVICES_SHOWN_MAX else None,
        "succeeded": (shown.succeeded, lists.of_sign_ins(period, outcome=SUCCEEDED)),
        "refused": (shown.refused, lists.of_sign_ins(period, outcome=REFUSED)),
        "active_now": [
            (marked("Today"), now.users, lists.of_users(now, 1)),
            (marked("In seven days"), now.week, lists.of_users(now, WEEK_DAYS)),
            (marked("In thirty days"), now.month, lists.of_users(now, MONTH_DAYS)),
        ],
        "figures": figures_of(language, shown, lists) if len(shown.days) > 2 * WEEK_DAYS else [],
        "counting": shown.counting,
        "log_since": shown.log_since,
        "period": period,
    }


def figures_of(language: Language, shown: SignInAnalytics, lists: SignInLists) -> list[Figure]:
    """Return the four figures of an overview, whose period has two weeks at least."""
    week, before = shown.days[-WEEK_DAYS:], shown.days[-2 * WEEK_DAYS : -WEEK_DAYS]
    days = replace(shown.period, start=week[0].day, end=week[-1].day)
    now, then = shown.now_active, shown.active[-1 - WEEK_DAYS]
    counted = (
        (
            marked("Sign-ins in seven days"),
            (sum(one.succeeded for one in week), sum(one.succeeded for one in before)),
            lists.of_sign_ins(days, outcome=SUCCEEDED),
            [one.succeeded for one in shown.days],
        ),
        (
            marked("Refused in seven days"),
            (sum(one.refused for one in week), sum(one.refused for one in before)),
            lists.of_sign_ins(days, outcome=REFUSED),
            [one.refused for one in shown.days],
        ),
        (
            marked("Active users in seven days"),
            (now.week, then.week),
            lists.of_users(now, WEEK_DAYS),
            [one.week for one in shown.active],
        ),
        (
            marked("Active users in thirty days"),
            (now.month, then.month),
            lists.of_users(now, MONTH_DAYS),
            [one.month for one in shown.active],
        ),
    )
    return [
        Figure(name=name, count=count, href=href, change=_change(language, count, earlier), line=sparkline(counts))
        for name, (count, earlier), href, counts in counted
    ]


def _change(language: Language, count: int, earlier: int) -> str:
    """Return by how much a count has changed, with its sign; empty where there was nothing before."""
    if not earlier:
        return ""
    percent = round(100 * (count - earlier) / earlier)
    sign = "+" if percent > 0 else "\N{MINUS SIGN}" if percent < 0 else "\N{PLUS-MINUS SIGN}"
    return language.text(_CHANGE, sign=sign, percent=language.number(abs(percent)))


def service_name(language: Language, service_id: Any, name: str | None) -> str:
    """Return the name of a service, or the words for no service."""
    if name is not None:
        return name
    return language.text(marked("No service") if service_id == NO_SERVICE else marked("Deleted service"))


def sign_ins_plot(language: Language, shown: SignInAnalytics, lists: SignInLists) -> Plot:
    """Return bars of successful sign-ins with refused ones stacked on them; today is not over."""
    by_day = {one.day: one for one in shown.days}
    points: list[Point] = []
    parts = _parts(shown)
    for part, name in zip(parts, named_days(language, [part.start for part in parts]), strict=True):
        of_part = [one for day, one in by_day.items() if part.start <= day <= part.end]
        points.append(
            Point(
                is_now=part.end == shown.period.end,
                label=_label(language, part),
                counts=(sum(one.succeeded for one in of_part), sum(one.refused for one in of_part)),
                hrefs=(lists.of_sign_ins(part, outcome=SUCCEEDED), lists.of_sign_ins(part, outcome=REFUSED)),
                name=name,
            )
        )
    series = [language.text(text) for text in _SIGN_INS]
    return bars(language, series, points, unit=language.text(_SIGN_INS_UNIT))


def active_plot(language: Language, shown: SignInAnalytics, lists: SignInLists) -> Plot:
    """Return the bars of the users who were active in each day, week or month; one that is not whole has none."""
    days = _bar_days(shown)
    by_day = {one.day: one for one in shown.active}
    points: list[Point] = []
    parts = [part for part in _parts(shown) if (part.end - part.start).days + 1 == days]
    for part, name in zip(parts, named_days(language, [part.start for part in parts]), strict=True):
        active = by_day[part.end]
        count = {1: active.users, WEEK_DAYS: active.week, MONTH_DAYS: active.month}[days]
        hrefs = (lists.of_users(active, days),)
        is_now = part.end == shown.period.end
        points.append(Point(is_now=is_now, label=_label(language, part), counts=(count,), hrefs=hrefs, name=name))
    return bars(language, [language.text(_USERS)], points, unit=language.text(_USERS_UNIT))


def _bar_days(shown: SignInAnalytics) -> int:
    return BAR_DAYS[(shown.period.end - shown.period.start).days + 1]


def _parts(shown: SignInAnalytics) -> list[Period]:
    return bars_of(shown.period, _bar_days(shown))


def _label(language: Language, part: Period) -> str:
    if part.start == part.end:
        return language.day(part.start)
    return language.text(_DAYS, start=language.day(part.start), end=language.day(part.end))


def _ranked(rows: Iterable[tuple[str, int, str]]) -> list[Ranked]:
    found = sorted((row for row in rows if row[1]), key=lambda row: -row[1])
    widths = ranked([count for _, count, _ in found])
    return [(name, count, href, width) for (name, count, href), width in zip(found, widths, strict=True)]
