"""The rows of sign-ins and audit entries. There are so many that each row has to take few steps.

The shares of providers, risks, browsers and actions are guesses that resemble a real installation; only the plans of
PostgreSQL depend on them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Final

from core.accounts.sign_in_methods import Provider
from core.events.actions import AuditAction, TargetType
from core.organizations.organizations import ADMIN, MEMBER
from core.sign_in.risk import RiskFactor
from ops.seeding.drawing import NULL, Batch, Draw, chance_of, line
from ops.seeding.population import MILLISECONDS_PER_DAY, Plan, address, dashed, day, identifier

SUCCESS_SHARE: Final = 0.92
IN_AN_ORGANIZATION_SHARE: Final = 0.5
TO_A_SERVICE_SHARE: Final = 0.8
AT_HOME_SHARE: Final = 0.95
MILLISECONDS_PER_HOUR: Final = 3_600_000
# The weight of each hour of the day (UTC).
_HOURS: Final = (2, 1, 1, 1, 1, 2, 5, 9, 14, 16, 15, 13, 12, 14, 15, 14, 12, 10, 9, 8, 7, 6, 5, 3)
_HOUR: Final = Draw({f"{hour:02}": weight for hour, weight in enumerate(_HOURS)})
_SECONDS: Final = tuple(f"{second // 60:02}:{second % 60:02}" for second in range(3_600))
_PROVIDER: Final = Draw(
    {
        Provider.PASSWORD: 66,
        Provider.PASSKEY: 12,
        Provider.MAGIC_LINK: 8,
        Provider.CODEHOST: 5,
        Provider.WEBSUITE: 5,
        Provider.OFFICESUITE: 3,
        Provider.SAML: 1,
    }
)
_RISK: Final = Draw(
    {
        ",".join(factor.value for factor in factors): weight
        for factors, weight in (
            ((), 78),
            ((RiskFactor.NEW_DEVICE,), 12),
            ((RiskFactor.UNUSUAL_TIME,), 4),
            ((RiskFactor.NEW_DEVICE, RiskFactor.UNKNOWN_LOCATION), 3),
            ((RiskFactor.FAILED_ATTEMPT,), 2),
            ((RiskFactor.NEW_DEVICE, RiskFactor.PROXY, RiskFactor.FAILED_ATTEMPT, RiskFactor.FAILED_ATTEMPT), 0.8),
            ((RiskFactor.NEW_DEVICE, RiskFactor.UNKNOWN_LOCATION, *(RiskFactor.FAILED_ATTEMPT,) * 3), 0.2),
        )
    }
)
_PLACES: Final = {
    "DE": "Berlin",
    "FR": "Lyon",
    "GB": "Leeds",
    "US": "Denver",
    "IN": "Pune",
    "BR": "Recife",
    "JP": "Osaka",
    "KE": "Nairobi",
}
_COUNTRIES: Final = tuple(_PLACES)
_BROWSERS: Final = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5"
    " Safari/605.1.15",
    "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5"
    " Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile"
    " Safari/537.36",
)
# Actions on users are frequent; changes of the organization itself are rare.
_TARGET_WEIGHTS: Final = {
    TargetType.USER: 10,
    TargetType.INVITATION: 3,
    TargetType.SERVICE: 1,
    TargetType.ORGANIZATION: 0.2,
}
_OTHER_TARGETS_WEIGHT: Final = 0.3
_ACTION: Final = Draw(
    {action.value: _TARGET_WEIGHTS.get(action.target_type, _OTHER_TARGETS_WEIGHT) for action in AuditAction}
)
_TARGETS: Final = {action.value: action.target_type for action in AuditAction}
_NO_DETAILS: Final = "{}"
_NEW_ROLE: Final = f'{{"old_role": "{MEMBER}", "new_role": "{ADMIN}"}}'
_DETAILS: Final[dict[str, Callable[[int], str]]] = {
    AuditAction.USER_INVITED.value: lambda user: f'{{"invited_email": "{address(user)}", "role": "{MEMBER}"}}',
    AuditAction.USER_ROLE_UPDATED.value: lambda _user: _NEW_ROLE,
}


def login_events(plan: Plan, batch: Batch) -> Iterator[str]:
    """Yield sign-ins, most of them successful: some to services, some to organizations, the others to neither.

    The others are kept under their users.
    """
    chance = chance_of("login_events", batch)
    several = (_HOUR, _PROVIDER, _RISK)
    drawn = zip(batch, *(draw.times(chance, len(batch)) for draw in several), strict=True)
    for event, hour, provider, factors in drawn:
        at_ms, at = _in_the_day(chance, plan.moment_ms(event, plan.login_events), hour)
        # Only users who had an account by then.
        users = max(1, plan.users * event // plan.login_events)
        user, organization_id, service_id = _person(plan, chance, users)
        succeeded = chance.random() < SUCCESS_SHARE
        country = _country(chance, user)
        owner_id = organization_id if succeeded and organization_id != NULL else plan.user_id(user)
        yield line(
            identifier("login_events", event, at_ms),
            plan.user_id(user),
            owner_id,
            service_id if succeeded else NULL,
            provider,
            "t" if succeeded else "f",
            _ip_address(user, country),
            _BROWSERS[user % len(_BROWSERS)],
            _SCORES[factors],
            f"{{{factors}}}",
            country,
            _PLACES[country],
            at,
        )


def audit_entries(plan: Plan, batch: Batch) -> Iterator[str]:
    """Yield audit entries; an organization gets them in proportion to its members."""
    chance = chance_of("audit_entries", batch)
    members = plan.members()
    drawn = zip(batch, _HOUR.times(chance, len(batch)), _ACTION.times(chance, len(batch)), strict=True)
    for entry, hour, action in drawn:
        at_ms, at = _in_the_day(chance, plan.moment_ms(entry, plan.audit_entries), hour)
        entry_id = identifier("audit", entry, at_ms)
        organization, turn = members.place(int(chance.random() * plan.memberships))
        organization_id = plan.organization_id(organization)
        actor = plan.member(organization, turn)
        target_type, target_id = _TARGETS[action], entry_id
        if target_type is TargetType.USER:
            target_id = plan.user_id(plan.member(organization, int(chance.random() * members.size(organization))))
        elif target_type is TargetType.ORGANIZATION:
            target_id = organization_id
        details = _DETAILS.get(action)
        yield line(
            entry_id,
            organization_id,
            plan.user_id(actor),
            action,
            target_type,
            dashed(target_id),
            _ip_address(actor, _country(chance, actor)),
            _BROWSERS[actor % len(_BROWSERS)],
            "t",
            _NO_DETAILS if details is None else details(actor),
            at,
        )


def _person(plan: Plan, chance: random.Random, users: int) -> tuple[int, str, str]:
    """Return a random user, and the organization and service of the sign-in, if any."""
    if plan.organizations and chance.random() < IN_AN_ORGANIZATION_SHARE:
        if plan.end_users and chance.random() < TO_A_SERVICE_SHARE:
            organization, turn = plan.links().place(int(chance.random() * plan.end_users))
            user, service = plan.end_user(organization, turn)
            service_id = plan.service_id(service)
        else:
            organization, turn = plan.members().place(int(chance.random() * plan.memberships))
            user, service_id = plan.member(organization, turn), NULL
        if user < users:
            return user, plan.organization_id(organization), service_id
    # A few users sign in often, most rarely.
    return int(users * chance.random() ** 1.5), NULL, NULL


def _in_the_day(chance: random.Random, milliseconds: int, hour: str) -> tuple[int, str]:
    """Move a moment within its day to this hour; return it in milliseconds and in a form that PostgreSQL reads."""
    within_ms = int(chance.random() * MILLISECONDS_PER_HOUR)
    day_ms = milliseconds - milliseconds % MILLISECONDS_PER_DAY
    second, millisecond = divmod(within_ms, 1000)
    at_ms = day_ms + int(hour) * MILLISECONDS_PER_HOUR + within_ms
    return at_ms, f"{day(day_ms)} {hour}:{_SECONDS[second]}.{millisecond:03}+00"


def _country(chance: random.Random, user: int) -> str:
    is_at_home = chance.random() < AT_HOME_SHARE
    return _COUNTRIES[(user if is_at_home else int(chance.random() * len(_COUNTRIES))) % len(_COUNTRIES)]


def _ip_address(user: int, country: str) -> str:
    """Return the address of a user in a country, from the range for network tests (RFC 2544)."""
    place = (user * 31 + _COUNTRIES.index(country)) & 0x1FFFF
    return f"198.{18 + (place >> 16)}.{place >> 8 & 0xFF}.{place & 0xFF}"


def _score(factors: str) -> int:
    return min(100, round(sum(RiskFactor(factor).weight for factor in factors.split(",") if factor) * 100))


_SCORES: Final = {factors: str(_score(factors)) for factors in _RISK.values}
