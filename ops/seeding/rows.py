"""Which tables are filled, in which order, and with how many rows; what these say is in `accounts.py` and `logs.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ops.seeding import accounts, logs
from ops.seeding.drawing import Batch

if TYPE_CHECKING:
    from ops.seeding.population import Plan

Lines: TypeAlias = Callable[[Batch], Iterator[str]]


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
            lines=lambda batch: accounts.users(plan, batch),
        ),
        Table(
            name="organizations",
            columns="id, slug, name, status, tier_id, created_at, updated_at, approved_at, suspended_at,"
            " suspension_reason",
            total=plan.organizations,
            lines=lambda batch: accounts.organizations(plan, tier_ids, batch),
        ),
        Table(
            name="memberships",
            columns="id, organization_id, user_id, role, created_at",
            total=plan.memberships,
            lines=lambda batch: accounts.memberships(plan, batch),
        ),
        Table(
            name="services",
            columns="id, organization_id, slug, name, service_type, client_id, created_at, updated_at",
            total=plan.services,
            lines=lambda batch: accounts.services(plan, batch),
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
    ]
