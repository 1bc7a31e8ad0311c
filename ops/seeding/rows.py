"""The tables that are seeded: one row for each, in the order in which they refer to each other.

To seed another table, add a row to `tables`: `_by_column` with the value of each column for the number of a row. Its
count is a field of `Plan` (`population.py`), from which the option of `ops/seed` follows; `FULL` in
`ops/benchmarks/large_database.py` has its size for measurements. Tables whose columns depend on each other, or with so
many rows that speed matters, have a function in `accounts.py` or `logs.py` that writes their lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from core.events.events import EventType
from core.organizations.organizations import OrganizationStatus
from core.services.plans import DEFAULT_CURRENCY, DEFAULT_PLAN_NAME
from ops.seeding import accounts, logs
from ops.seeding.drawing import NULL, Batch, line
from ops.seeding.population import MILLISECONDS_PER_DAY, Plan, address, identifier, moment, password_hash, slug

EVENTS_WITHIN_MS = MILLISECONDS_PER_DAY

Lines: TypeAlias = Callable[[Batch], Iterator[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table to seed: its columns, how many rows it gets, and the lines of a batch of them."""

    name: str
    columns: str
    total: int
    lines: Lines


def tables(plan: Plan, tier_ids: list[str]) -> list[Table]:
    """List the tables, each after those that it refers to."""
    encoded = password_hash()
    until_ms = int(plan.until.timestamp() * 1000)

    def event_ms(number: int) -> int:
        # Within the time for which the feed keeps events, so that the sequencer hands them on.
        return until_ms - EVENTS_WITHIN_MS * (plan.events - number) // plan.events

    def user_since(user: int) -> str:
        return moment(plan.user_since_ms(user))

    def organization_since(organization: int) -> str:
        return moment(plan.organization_since_ms(organization))

    def service_since(service: int) -> str:
        return moment(plan.service_since_ms(service))

    def if_suspended(value: Callable[[int], str]) -> Callable[[int], str]:
        return lambda number: value(number) if accounts.status_of(number) is OrganizationStatus.SUSPENDED else NULL

    return [
        _by_column(
            "users",
            plan.users,
            {
                "id": plan.user_id,
                "email": address,
                "email_verified_at": user_since,
                "password_hash": lambda _user: encoded,
                "created_at": user_since,
                "updated_at": user_since,
            },
        ),
        _by_column(
            "organizations",
            plan.organizations,
            {
                "id": plan.organization_id,
                "slug": slug,
                "name": lambda number: f"Organization {number + 1}",
                "status": accounts.status_of,
                "tier_id": lambda number: tier_ids[number % len(tier_ids)],
                "created_at": organization_since,
                "updated_at": organization_since,
                "approved_at": lambda number: (
                    NULL if accounts.status_of(number) is OrganizationStatus.PENDING else organization_since(number)
                ),
                "suspended_at": if_suspended(organization_since),
                "suspension_reason": if_suspended(lambda _number: "Unpaid."),
            },
        ),
        Table(
            name="memberships",
            columns="id, organization_id, user_id, role, created_at, confirmed_at, member_email",
            total=plan.memberships,
            lines=lambda batch: accounts.memberships(plan, batch),
        ),
        # One service for each organization, then a second one, and so on.
        _by_column(
            "services",
            plan.services,
            {
                "id": plan.service_id,
                "organization_id": lambda number: plan.organization_id(number % plan.organizations),
                "slug": lambda number: f"service-{number // plan.organizations + 1}",
                "name": lambda number: f"Service {number // plan.organizations + 1}",
                "service_type": lambda _number: "web",
                "client_id": lambda number: identifier("clients", number, plan.service_since_ms(number)),
                "created_at": service_since,
                "updated_at": service_since,
            },
        ),
        _by_column(
            "plans",
            plan.services,
            {
                "id": lambda number: identifier("plans", number, plan.service_since_ms(number)),
                "organization_id": lambda number: plan.organization_id(number % plan.organizations),
                "service_id": plan.service_id,
                "name": lambda _number: DEFAULT_PLAN_NAME,
                "price_cents": lambda _number: "0",
                "currency": lambda _number: DEFAULT_CURRENCY,
                "is_default": lambda _number: "true",
                "created_at": service_since,
                "updated_at": service_since,
            },
        ),
        Table(
            name="service_users",
            columns="service_id, organization_id, user_id, email, first_login_at, last_login_at",
            total=plan.end_users,
            lines=lambda batch: accounts.end_users(plan, batch),
        ),
        Table(
            name="invitations",
            columns="id, organization_id, email, role, invited_by, status, token_hash, proof_hash, created_at,"
            " expires_at, answered_at",
            total=plan.invitations,
            lines=lambda batch: accounts.invitations(plan, batch),
        ),
        Table(
            name="login_events",
            columns="id, user_id, organization_id, service_id, provider, success, ip_address, user_agent, risk_score,"
            " risk_factors, geo_country, geo_city, created_at",
            total=plan.login_events,
            lines=lambda batch: logs.login_events(plan, batch),
        ),
        Table(
            name="audit_entries",
            columns="id, organization_id, actor_user_id, action, target_type, target_id, ip_address, user_agent,"
            " success, details, created_at",
            total=plan.audit_entries,
            lines=lambda batch: logs.audit_entries(plan, batch),
        ),
        Table(
            name="sessions",
            columns="id, user_id, provider, amr, authenticated_at, refresh_hash, refreshed_at, expires_at, created_at",
            total=plan.sessions,
            lines=lambda batch: accounts.sessions(plan, batch),
        ),
        _by_column(
            "events",
            plan.events,
            {
                "id": lambda number: identifier("events", number, event_ms(number)),
                "type": lambda _number: EventType.USER_LOGIN_SUCCESS.value,
                "organization_id": lambda number: plan.organization_id(number % plan.organizations),
                "data": lambda _number: "{}",
                "occurred_at": lambda number: moment(event_ms(number)),
            },
        ),
    ]


def _by_column(name: str, total: int, columns: Mapping[str, Callable[[int], str]]) -> Table:
    """Return a table whose columns depend only on the number of the row."""
    return Table(
        name=name,
        columns=", ".join(columns),
        total=total,
        lines=lambda batch: (line(*(value(number) for value in columns.values())) for number in batch),
    )
