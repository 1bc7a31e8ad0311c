"""The table of queries for a full database: every kind of list and count, for the largest organization and another one.

To measure another query, add a row: its name and its paths, to `_of` for a query within an organization and to
`_of_the_platform` for one of a platform owner; pages of the console are in `page_questions.py`. A row with several
paths requests them in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.events.actions import AuditAction, TargetType
from core.limits import PAGE_ITEMS_DEFAULT
from core.organizations.organizations import OrganizationStatus
from ops.seeding.accounts import status_of
from ops.seeding.population import Plan, address, dashed, slug

LARGEST: Final = 0
# Among forty thousand organizations one with about a two-hundredth of the rows of the largest.
ANOTHER_AT: Final = 0.01
FREQUENT: Final = AuditAction.USER_INVITED
RARE: Final = AuditAction.BRANDING_UPDATED
PLATFORM_OWNER: Final = "platform owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query that one caller requests repeatedly, through these paths in turn."""

    name: str
    caller: str
    paths: Sequence[str]
    # Whether the caller requests it in a browser.
    is_page: bool = False


def questions(plan: Plan) -> list[Question]:
    """List all queries that programs send."""
    return [*_of(plan, LARGEST, "largest"), *_of(plan, another(plan), "another"), *_of_the_platform(plan)]


def another(plan: Plan) -> int:
    """Return the number of an active organization with few rows."""
    number = max(LARGEST + 1, int(plan.organizations * ANOTHER_AT))
    while status_of(number) is not OrganizationStatus.ACTIVE:
        number += 1
    return number


def owner_of(plan: Plan, organization: int) -> str:
    """Return the email address of the owner of an organization."""
    return address(plan.member(organization, 0))


def _of(plan: Plan, organization: int, which: str) -> list[Question]:
    caller, root = owner_of(plan, organization), f"/api/organizations/{slug(organization)}"
    members, links = plan.members().size(organization), plan.links().size(organization)
    entries = plan.audit_entries * members // plan.memberships
    person, service = plan.end_user(organization, 0)
    parts = {"in all": "person-", "in some": str(person)[:3], "in one": address(person), "in none": "nobody"}
    rows = {
        "members": ("/members",),
        "members, half-way": (f"/members?page={_half_way(members)}",),
        "members of a role": ("/members?role=admin",),
        "audit": ("/audit-log",),
        "audit, an action": (f"/audit-log?action={FREQUENT.value}", f"/audit-log?action={RARE.value}"),
        "audit, a type": tuple(
            f"/audit-log?target_type={kind}" for kind in (TargetType.USER, TargetType.ORGANIZATION, TargetType.DOMAIN)
        ),
        "audit, a target": tuple(
            f"/audit-log?target_type={kind}&target_id={dashed(found)}"
            for kind, found in (
                (TargetType.USER, plan.user_id(plan.member(organization, 0))),
                (TargetType.ORGANIZATION, plan.organization_id(organization)),
            )
        ),
        "audit, a target and an action": (
            f"/audit-log?target_type={TargetType.ORGANIZATION}&target_id={dashed(plan.organization_id(organization))}"
            f"&action={AuditAction.ORGANIZATION_UPDATED.value}",
        ),
        "audit, page 1,000": ("/audit-log?page=1000",),
        "audit, half-way": (f"/audit-log?page={_half_way(entries)}",),
        "audit, the last page": (f"/audit-log?page={max(1, entries // PAGE_ITEMS_DEFAULT - 10)}",),
        "audit, an action, page 1,000": (f"/audit-log?page=1000&action={FREQUENT.value}",),
        "end users": ("/users", f"/users?page={_half_way(links)}"),
        **{f"end users, a part {where}": (f"/users?search={part}",) for where, part in parts.items()},
        "end users of a service": (f"/users?service_id={dashed(plan.service_id(service))}",),
        "recent logins": ("/analytics/recent-logins", "/analytics/recent-logins?limit=100"),
        "login trends, 30 days": ("/analytics/login-trends",),
        "logins by service, 30 days": ("/analytics/logins-by-service",),
        "logins by provider, 30 days": ("/analytics/logins-by-provider",),
    }
    return [
        Question(name=f"{which}: {name}", caller=caller, paths=[root + path for path in paths])
        for name, paths in rows.items()
    ]


def _of_the_platform(plan: Plan) -> list[Question]:
    search = "/api/platform/users/search?email="
    rows = {
        "users, a beginning": [search + address(user).partition("@")[0][:-1] for user in _spread(plan.users)],
        "users, a rare part": [search + address(user).partition("-")[2] for user in _spread(plan.users)],
        "users, a part of all": [search + part for part in ("@seed", "ed.exam")],
        "users, a part of none": [search + part for part in ("nobody", "zzz")],
        "users, two letters": [search + part for part in ("pe", "zz")],
    }
    return [Question(name=name, caller=PLATFORM_OWNER, paths=paths) for name, paths in rows.items()]


def _spread(users: int) -> list[int]:
    return [users * place // 20 for place in range(20)]


def _half_way(items: int) -> int:
    return max(1, items // 2 // PAGE_ITEMS_DEFAULT)
