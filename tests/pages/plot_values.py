"""Numbers of sign-ins for the samples of pages."""

from dataclasses import replace
from datetime import timedelta
from typing import Final
from uuid import UUID

from core.audit.analytics import Period
from core.audit.sign_in_counts import (
    ActiveUsers,
    Counting,
    RefusalsOfReason,
    SignInAnalytics,
    SignInFigures,
    SignInsByMethod,
    SignInsOfDay,
    SignInsToService,
    days_of,
)
from core.audit.sign_in_log import NO_SERVICE
from entrypoints.pages.console.sign_in_plots import SignInLists, plot_values
from entrypoints.pages.frame.languages import ENGLISH
from tests.pages.sample_values import ID, NAME, NOW

ANALYTICS_PAGE: Final = f"/app/organizations/{'a' * 50}/analytics"
_TODAY: Final = NOW.date()


def analytics(days: int, *, is_complete: bool = True) -> SignInAnalytics:
    """Return numbers of a period: none on some days, very many on one."""
    period = Period(start=_TODAY - timedelta(days=days - 1), end=_TODAY)
    every = [
        SignInsOfDay(day=day, succeeded=(number * 37) % 90 * (number % 9 > 0), refused=number % 5)
        for number, day in enumerate(days_of(period))
    ]
    every[-2] = replace(every[-2], succeeded=12_345_678)
    return SignInAnalytics(
        period=period,
        counting=Counting(until=NOW, is_complete=is_complete),
        days=every,
        figures=SignInFigures(
            days=every,
            reasons=[
                RefusalsOfReason(reason="wrong_password", refused=1_234),
                RefusalsOfReason(reason=NAME, refused=1),
            ],
            methods=[
                SignInsByMethod(provider="password", succeeded=12_345_678, refused=3),
                SignInsByMethod(provider=NAME, succeeded=1, refused=0),
            ],
            services=[
                SignInsToService(service_id=UUID(ID), name=NAME, succeeded=12_345_678, refused=3),
                SignInsToService(service_id=NO_SERVICE, name=None, succeeded=20, refused=0),
                SignInsToService(service_id=UUID(int=1), name=None, succeeded=1, refused=0),
            ],
        ),
        active=[ActiveUsers(day=one.day, users=one.succeeded, week=700, month=1_000_000) for one in every],
        log_since=NOW,
    )


LISTS: Final = SignInLists(sign_ins=f"{ANALYTICS_PAGE}/sign-ins", users=f"{ANALYTICS_PAGE}/active-users")
SHOWN: Final = plot_values(ENGLISH, analytics(30), LISTS)
