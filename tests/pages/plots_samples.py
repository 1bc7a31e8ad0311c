"""The pages of sign-ins with sample values: a part of `samples.py`."""

from dataclasses import replace
from datetime import date
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.audit.analytics import Period
from core.audit.sign_in_counts import Counting
from core.audit.sign_in_log import ActiveUser, FoundActiveUsers, FoundSignIns, LoggedSignIn
from core.organizations.access import Capability
from core.positions import Position
from entrypoints.pages.console.sign_in_lists import (
    ActiveUsersQuery,
    FoundSignInsQuery,
    active_users_values,
    sign_ins_values,
)
from entrypoints.pages.console.sign_in_plots import plot_values
from entrypoints.pages.frame.languages import ENGLISH
from tests.pages.console_samples import CONSOLE
from tests.pages.platform_samples import PLATFORM
from tests.pages.plot_values import ANALYTICS_PAGE, LISTS, analytics
from tests.pages.sample_values import EMAIL, ID, NAME, NOW

_OWNING: Final[dict[str, Any]] = {**PLATFORM, "standing": SimpleNamespace(user_id=ID, is_owner=True)}
_LOGGED: Final = LoggedSignIn(
    id=UUID(ID),
    created_at=NOW,
    provider="password",
    success=True,
    reason=None,
    organization_id=None,
    organization_name=None,
    service_id=UUID(ID),
    service_name=NAME,
    connection_name=None,
    user_id=UUID(ID),
    email=EMAIL,
    is_member=True,
    is_platform_owner=False,
    ip_address="2001:db8:1234:5678:9abc:def0:1234:5678",
    user_agent=NAME,
    request_id=ID,
)
_FOUND: Final = FoundSignIns(
    found=[
        _LOGGED,
        replace(_LOGGED, success=False, reason="wrong_password", is_member=False, provider="upstream"),
        replace(_LOGGED, success=False, reason="second_factor_asked", connection_name=NAME, provider=NAME),
        replace(_LOGGED, service_name=None, success=False, reason=NAME).without_person(),
    ],
    total=10_001,
    next=Position(at=NOW, id=UUID(ID)),
    looked_back_to=date(2026, 1, 2),
    counting=Counting(until=NOW, is_complete=False),
)
_OF_PLATFORM: Final = replace(
    _FOUND, found=[replace(one, organization_id=UUID(ID), organization_name=NAME) for one in _FOUND.found]
)
_QUERY: Final = FoundSignInsQuery(
    outcome="refused", reason=NAME, method=NAME, service=ID, since="2026-01-01", address=NAME, after="x"
)
_ACTIVE: Final = FoundActiveUsers(
    period=Period(start=date(2026, 1, 1), end=date(2026, 1, 7)),
    found=[
        ActiveUser(user_id=UUID(ID), email=EMAIL, is_member=True, is_platform_owner=False),
        ActiveUser(user_id=UUID(int=1), email=None, is_member=False, is_platform_owner=False),
    ],
    total=10_001,
    next=UUID(ID),
)

PLOTS_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "audit/analytics.html": {
        **CONSOLE,
        "page": ANALYTICS_PAGE,
        "days": 90,
        "periods": [(f"{ANALYTICS_PAGE}?days=7", "7 days", None), (f"{ANALYTICS_PAGE}?days=90", "90 days", None)],
        "here": f"{ANALYTICS_PAGE}?days=90",
        "files": dict.fromkeys(
            ("days", "reasons", "methods", "services", "users"), f"{ANALYTICS_PAGE}/numbers.csv?of=days"
        ),
        "lacks_lists": Capability.END_USERS_VIEW,
        "shown": plot_values(ENGLISH, analytics(90, is_complete=False), LISTS),
    },
    "audit/sign_in_log.html": {
        **CONSOLE,
        "v": sign_ins_values(
            ENGLISH, _QUERY, _FOUND, page=LISTS.sign_ins, people="/people", services=[(ID, NAME), ("1", "x" * 100)]
        ),
    },
    "audit/sign_in_log_active_users.html": {
        **CONSOLE,
        "v": active_users_values(ActiveUsersQuery(after="x"), _ACTIVE, page=LISTS.users, people="/people"),
    },
    "audit/sign_in_log_platform.html": {
        **_OWNING,
        "v": sign_ins_values(
            ENGLISH, FoundSignInsQuery(), _OF_PLATFORM, page="/app/platform/sign-ins", people="/users"
        ),
    },
    "audit/sign_in_log_platform_active_users.html": {
        **_OWNING,
        "v": active_users_values(ActiveUsersQuery(), _ACTIVE, page="/app/platform/active-users", people="/users"),
    },
}
