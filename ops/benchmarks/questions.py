"""What is asked of a full database: each kind of list and count, of the largest organization and of one among many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from core.events.actions import AuditAction, TargetType
from core.limits import PAGE_ITEMS_DEFAULT
from core.organizations.organizations import OrganizationStatus
from ops.seeding.accounts import status_of
from ops.seeding.population import address, dashed, slug

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.seeding.population import Plan

LARGEST: Final = 0
# Of ten thousand organizations one that has about a two-hundredth of what the largest has.
ANOTHER_AT: Final = 0.01
OFTEN: Final = AuditAction.USER_INVITED
SELDOM: Final = AuditAction.BRANDING_UPDATED
PLATFORM_OWNER: Final = "platform owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something that one caller asks again and again, in these forms by turns."""

    name: str
    caller: str
    paths: Sequence[str]


def questions(plan: Plan) -> list[Question]:
    """List everything that is asked."""
    another = max(LARGEST + 1, int(plan.organizations * ANOTHER_AT))
    while status_of(another) is not OrganizationStatus.ACTIVE:
        another += 1
    return [*_of(plan, LARGEST, "largest"), *_of(plan, another, "another"), *_of_the_platform(plan)]


def owner_of(plan: Plan, organization: int) -> str:
    """Give the address of whoever owns an organization."""
    return address(plan.member(organization, 0))


def _of(plan: Plan, organization: int, which: str) -> list[Question]:
    caller, root = owner_of(plan, organization), f"/api/organizations/{slug(organization)}"
    members, links = plan.members().size(organization), plan.links().size(organization)
    entries = plan.audit_entries * members // plan.memberships
    person, service = plan.end_user(organization, 0)
    parts = {"in all": "person-", "in some": str(person)[:3], "in one": address(person), "in none": "nobody"}
    asked = {
        "members": ("/members",),
        "members, half-way": (f"/members?page={_half_way(members)}",),
        "members of a role": ("/members?role=admin",),
        "audit": ("/audit-log",),
        "audit, an action": (f"/audit-log?action={OFTEN.value}", f"/audit-log?action={SELDOM.value}"),
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
        "audit, an action, page 1,000": (f"/audit-log?page=1000&action={OFTEN.value}",),
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
        for name, paths in asked.items()
    ]


def _of_the_platform(plan: Plan) -> list[Question]:
    parts = {
        "a beginning": [address(user).partition("@")[0][:-1] for user in _spread(plan.users)],
        "a rare part": [address(user).partition("-")[2] for user in _spread(plan.users)],
        "a part of all": ["@seed", "ed.exam"],
        "a part of none": ["nobody", "zzz"],
        "two letters": ["pe", "zz"],
    }
    return [
        Question(
            name=f"users, {name}",
            caller=PLATFORM_OWNER,
            paths=[f"/api/platform/users/search?email={part}" for part in some],
        )
        for name, some in parts.items()
    ]


def _spread(users: int) -> list[int]:
    return [users * place // 20 for place in range(20)]


def _half_way(items: int) -> int:
    return max(1, items // 2 // PAGE_ITEMS_DEFAULT)
