"""What the rows of each table say, as lines of COPY. A batch is drawn from its own number, so any can be made alone.

The shares of providers, risks and browsers are guesses that look like a real installation; nothing is computed from
them but the plans of PostgreSQL.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeAlias

from core.audit import AuditAction, TargetType
from core.memberships import ADMIN, MEMBER, OWNER
from core.organizations import OrganizationStatus
from core.proofs import Provider
from core.risk import RiskFactor
from ops.seeding.population import MILLISECONDS_PER_DAY, address, identifier, moment, password_hash, slug

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.seeding.population import Plan

Batch: TypeAlias = range
Lines: TypeAlias = Callable[[Batch], Iterator[str]]

NULL: Final = "\\N"
ADMIN_EVERY: Final = 10
SUCCESS_SHARE: Final = 0.92
IN_AN_ORGANIZATION_SHARE: Final = 0.5
AT_HOME_SHARE: Final = 0.95
# For each hour of the day (UTC) how much happens in it.
_HOURS: Final = (2, 1, 1, 1, 1, 2, 5, 9, 14, 16, 15, 13, 12, 14, 15, 14, 12, 10, 9, 8, 7, 6, 5, 3)


class _Draw:
    """Something of several, some more often than others."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.values = list(weights)
        self._upto = list(accumulate(weights.values()))

    def __call__(self, chance: random.Random) -> str:
        return chance.choices(self.values, cum_weights=self._upto)[0]


_HOUR: Final = _Draw({str(hour): weight for hour, weight in enumerate(_HOURS)})
_PROVIDER: Final = _Draw(
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
_RISK: Final = _Draw(
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
_ACTIONS: Final = _Draw({action.value: 10 if action.target_type is TargetType.USER else 2 for action in AuditAction})
_TARGETS: Final = {action.value: action.target_type for action in AuditAction}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table that is filled: how many rows it gets, and how they are made."""

    name: str
    columns: str
    total: int
    lines: Lines


def tables(plan: Plan, tier_ids: list[str]) -> list[Table]:
    """List the tables in the order in which they need each other."""
    return [
        Table(
            name="users",
            columns="id, email, email_verified_at, password_hash, created_at, updated_at",
            total=plan.users,
            lines=lambda batch: _users(plan, batch),
        ),
        Table(
            name="organizations",
            columns="id, slug, name, status, tier_id, created_at, updated_at, approved_at, suspended_at,"
            " suspension_reason",
            total=plan.organizations,
            lines=lambda batch: _organizations(plan, tier_ids, batch),
        ),
        Table(
            name="memberships",
            columns="id, organization_id, user_id, role, created_at",
            total=plan.memberships,
            lines=lambda batch: _memberships(plan, batch),
        ),
        Table(
            name="login_events",
            columns="id, user_id, organization_id, provider, success, ip_address, user_agent, risk_score,"
            " risk_factors, geo_country, geo_city, created_at",
            total=plan.login_events,
            lines=lambda batch: _login_events(plan, batch),
        ),
        Table(
            name="audit_entries",
            columns="id, organization_id, actor_user_id, action, target_type, target_id, ip_address, user_agent,"
            " success, details, created_at",
            total=plan.audit_entries,
            lines=lambda batch: _audit_entries(plan, batch),
        ),
    ]


def _users(plan: Plan, batch: Batch) -> Iterator[str]:
    encoded = password_hash()
    for user in batch:
        since = moment(plan.user_since_ms(user))
        yield _line(plan.user_id(user), address(user), since, encoded, since, since)


def _organizations(plan: Plan, tier_ids: list[str], batch: Batch) -> Iterator[str]:
    for organization in batch:
        since = moment(plan.organization_since_ms(organization))
        status = _status(organization)
        yield _line(
            plan.organization_id(organization),
            slug(organization),
            f"Organization {organization + 1}",
            status,
            tier_ids[organization % len(tier_ids)],
            since,
            since,
            NULL if status is OrganizationStatus.PENDING else since,
            since if status is OrganizationStatus.SUSPENDED else NULL,
            "Unpaid." if status is OrganizationStatus.SUSPENDED else NULL,
        )


def _status(organization: int) -> OrganizationStatus:
    match organization % 30:
        case 10:
            return OrganizationStatus.PENDING
        case 20:
            return OrganizationStatus.SUSPENDED
        case _:
            return OrganizationStatus.ACTIVE


def _memberships(plan: Plan, batch: Batch) -> Iterator[str]:
    for membership in batch:
        organization, user = plan.member(membership)
        turn = membership // plan.organizations
        since_ms = max(plan.organization_since_ms(organization), plan.user_since_ms(user))
        yield _line(
            identifier("memberships", membership, since_ms),
            plan.organization_id(organization),
            plan.user_id(user),
            OWNER if turn == 0 else ADMIN if turn % ADMIN_EVERY == 1 else MEMBER,
            moment(since_ms),
        )


def _login_events(plan: Plan, batch: Batch) -> Iterator[str]:
    chance = _chance("login_events", batch)
    for event in batch:
        at_ms = _in_the_day(chance, plan.moment_ms(event, plan.login_events))
        # Of those who were there by then.
        users = max(1, plan.users * event // plan.login_events)
        user, organization = _person(plan, chance, users)
        succeeded = chance.random() < SUCCESS_SHARE
        factors = _RISK(chance)
        country = _country(chance, user)
        yield _line(
            identifier("login_events", event, at_ms),
            plan.user_id(user),
            NULL if organization is None or not succeeded else plan.organization_id(organization),
            _PROVIDER(chance),
            "t" if succeeded else "f",
            _ip_address(user, country),
            _BROWSERS[user % len(_BROWSERS)],
            str(_SCORES[factors]),
            f"{{{factors}}}",
            country,
            _PLACES[country],
            moment(at_ms),
        )


def _audit_entries(plan: Plan, batch: Batch) -> Iterator[str]:
    chance = _chance("audit_entries", batch)
    for entry in batch:
        at_ms = _in_the_day(chance, plan.moment_ms(entry, plan.audit_entries))
        organization, actor = plan.member(chance.randrange(plan.memberships))
        action = _ACTIONS(chance)
        target_type = _TARGETS[action]
        yield _line(
            identifier("audit", entry, at_ms),
            plan.organization_id(organization),
            plan.user_id(actor),
            action,
            target_type,
            plan.organization_id(organization) if target_type is TargetType.ORGANIZATION else plan.user_id(actor),
            _ip_address(actor, _country(chance, actor)),
            _BROWSERS[actor % len(_BROWSERS)],
            "t",
            "{}",
            moment(at_ms),
        )


def _person(plan: Plan, chance: random.Random, users: int) -> tuple[int, int | None]:
    """Draw who signs in, and into which of their organizations, if any."""
    if plan.organizations and chance.random() < IN_AN_ORGANIZATION_SHARE:
        organization, user = plan.member(chance.randrange(plan.memberships))
        if user < users:
            return user, organization
    # A few come often and most now and then.
    return int(users * chance.random() ** 1.5), None


def _in_the_day(chance: random.Random, milliseconds: int) -> int:
    """Move a moment within its day to an hour at which people are awake."""
    day_ms = milliseconds - milliseconds % MILLISECONDS_PER_DAY
    return day_ms + int(_HOUR(chance)) * 3_600_000 + int(chance.random() * 3_600_000)


def _country(chance: random.Random, user: int) -> str:
    is_at_home = chance.random() < AT_HOME_SHARE
    return _COUNTRIES[(user if is_at_home else int(chance.random() * len(_COUNTRIES))) % len(_COUNTRIES)]


def _ip_address(user: int, country: str) -> str:
    """Give the address of a person there, from the range that is for tests of networks (RFC 2544)."""
    place = (user * 31 + _COUNTRIES.index(country)) & 0x1FFFF
    return f"198.{18 + (place >> 16)}.{place >> 8 & 0xFF}.{place & 0xFF}"


def _chance(table: str, batch: Batch) -> random.Random:
    return random.Random(f"{table} {batch.start}")  # noqa: S311 - the same in every run is what is wanted


def _line(*values: str) -> str:
    # None of the values holds what COPY gives a meaning to.
    return "\t".join(values) + "\n"


def _score(factors: str) -> int:
    return min(100, round(sum(RiskFactor(factor).weight for factor in factors.split(",") if factor) * 100))


_SCORES: Final = {factors: _score(factors) for factors in _RISK.values}
