"""The pages of the console for a full database, as an organization's owner and a platform owner open them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from core.events.actions import AuditAction
from ops.benchmarks.questions import LARGEST, PLATFORM_OWNER, Question, another, owner_of
from ops.seeding.population import Plan, address, dashed, slug


def page_questions(plan: Plan) -> list[Question]:
    """List all pages."""
    return [*_of(plan, LARGEST, "largest"), *_of(plan, another(plan), "another"), *_of_the_platform(plan)]


def _of(plan: Plan, organization: int, which: str) -> list[Question]:
    root = f"/app/organizations/{slug(organization)}"
    member, person = plan.member(organization, 1), plan.end_user(organization, 0)[0]
    rows = {
        "overview": ("",),
        "members": ("/people", "/people?role=admin"),
        "members, a rare part": (f"/people?search={quote(address(member))}",),
        "members, a part of all": ("/people?search=person-",),
        "members, a part of none": ("/people?search=zzz",),
        "a member": (f"/people/{dashed(plan.user_id(member))}",),
        "invitations": ("/people/invited",),
        "end users": ("/people/end-users",),
        "end users, a rare part": (f"/people/end-users?search={quote(address(person))}",),
        "directory": ("/people/directory",),
        "audit log": ("/audit",),
        "audit log, an action": (
            f"/audit?action={AuditAction.USER_INVITED.value}",
            f"/audit?action={AuditAction.BRANDING_UPDATED.value}",
        ),
        "audit log, an actor": (f"/audit?actor={quote(address(member))}",),
        "why": (f"/why?email={quote(address(member))}", "/why?email=unknown%40example.com"),
    }
    return _questions(f"{which}: page ", owner_of(plan, organization), root, rows)


def _of_the_platform(plan: Plan) -> list[Question]:
    user = plan.users // 2
    rows = {
        "overview": ("",),
        "organizations": ("/organizations", "/organizations?status=pending"),
        "organizations, a part": (f"/organizations?search={slug(LARGEST)}", "/organizations?search=zzz"),
        "organization": (f"/organizations/{dashed(plan.organization_id(LARGEST))}",),
        "users": ("/users",),
        "users, a rare part": (f"/users?search={quote(address(user))}",),
        "users, a part of all": ("/users?search=person-",),
        "user": (f"/users/{dashed(plan.user_id(user))}",),
        "why": (f"/why?email={quote(address(user))}",),
        "mail": ("/mail",),
        "audit log": ("/audit",),
        "owners": ("/owners",),
        "tiers": ("/tiers",),
        "system": ("/system",),
        "search": (f"/search?q={quote(address(user))}", f"/search?q={slug(LARGEST)}", "/search?q=zzz"),
    }
    return _questions("platform: page ", PLATFORM_OWNER, "/app/platform", rows)


def _questions(names: str, caller: str, root: str, rows: Mapping[str, Sequence[str]]) -> list[Question]:
    return [
        Question(name=names + name, caller=caller, paths=[root + path for path in paths], is_page=True)
        for name, paths in rows.items()
    ]
