"""The organizations of the hostile world: one has everything, one is empty, and one is in each state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from core.invitations.invitations import InvitationStatus
from core.organizations.access import Capability
from core.organizations.bulk_jobs import JobKind, JobState, RowState
from core.organizations.link_callers import Part
from core.organizations.organizations import OrganizationStatus
from core.organizations.setup_links import AVAILABLE
from tests.pages.crawl.people import Person, insert_account, insert_session
from tests.pages.crawl.rows import Rows
from tests.pages.crawl.services import insert_keys, insert_services
from tests.pages.crawl.values import EMAIL, HOST, NAME, RIGHT_TO_LEFT, UNBROKEN
from tests.world.builder import TIERS


@dataclass(frozen=True)
class Organization:
    """An organization and what inserts rows of it; `service_id` is its service that serves customers."""

    id: UUID
    rows: Rows
    service_id: UUID
    plan_id: UUID
    offered_id: UUID


FULL = "a-long-slug-of-an-organization-that-has-everything-of-it-all-up"


EMPTY = "empty"


ROLE = "a-long-slug-of-a-role-that-its-owner-has-made-themselves"


_JOB_DETAILS: dict[JobKind, dict[str, str]] = {
    JobKind.MEMBERS_CHANGE: {"role": ROLE},
    JobKind.INVITATIONS_SEND: {"role": ROLE},
    JobKind.ORGANIZATIONS_REJECT: {"reason": NAME},
}


_PLATFORM_JOBS = (JobKind.ORGANIZATIONS_APPROVE, JobKind.ORGANIZATIONS_REJECT)


def insert_organization(rows: Rows, slug: str, **columns: Any) -> UUID:
    """Insert an active organization."""
    given = {
        "name": NAME,
        "status": OrganizationStatus.ACTIVE,
        "tier_id": TIERS["free"],
        "metadata": {"note": NAME, "other": [RIGHT_TO_LEFT, UNBROKEN]},
        **columns,
    }
    return rows.add("organizations", slug=slug, **given)


def insert_organizations_in_each_state(rows: Rows, owner: Person) -> None:
    """Insert an organization of a person in each state."""
    for status in OrganizationStatus:
        is_deleting = status is OrganizationStatus.DELETING
        organization_id = insert_organization(
            rows,
            f"one-that-is-{status}",
            name=RIGHT_TO_LEFT,
            status=status,
            rejection_reason=NAME if status is OrganizationStatus.REJECTED else None,
            rejected_at=rows.clock() if status is OrganizationStatus.REJECTED else None,
            suspension_reason=NAME if status is OrganizationStatus.SUSPENDED else None,
            suspended_at=rows.clock() if status is OrganizationStatus.SUSPENDED else None,
            deletes_at=rows.ago(days=-5) if is_deleting else None,
            status_before_deletion="active" if is_deleting else None,
        )
        join(rows.of(organization_id=organization_id), owner.id, "owner")


def join(rows: Rows, user_id: UUID, role: str = "member", **columns: Any) -> None:
    """Make an account a member."""
    # After the organization was made, of which the first member is the founder.
    rows.clock.advance(timedelta(seconds=role != "owner"))
    given = {"confirmed_at": rows.clock(), **columns}
    rows.add("memberships", user_id=user_id, role=role, **given)


def insert_vendor(rows: Rows) -> Organization:
    """Insert another organization with services for customers."""
    organization_id = insert_organization(rows, "vendor", name=RIGHT_TO_LEFT)
    theirs = rows.of(organization_id=organization_id)
    return Organization(organization_id, theirs, *insert_services(theirs))


def insert_full_organization(rows: Rows, owner: Person, states: dict[str, UUID]) -> Organization:
    """Insert the organization with its people, its services and what they sell."""
    organization_id = insert_organization(
        rows, FULL, tier_id=TIERS["enterprise"], max_users=1_000_000, max_services=1_000, mfa_required=True
    )
    mine = rows.of(organization_id=organization_id, created_by=owner.id, made_by=owner.id, invited_by=owner.id)
    join(mine, owner.id, "owner")
    mine.add(
        "organization_roles",
        slug=ROLE,
        name=NAME,
        description=RIGHT_TO_LEFT,
        permissions=[Capability.SERVICES_VIEW, Capability.AUDIT_LOGS_VIEW],
    )
    for number, (state, user_id) in enumerate(states.items()):
        join(
            mine,
            user_id,
            ("admin", "member", ROLE)[number % 3],
            suspended_at=rows.clock() if state == "deactivated" else None,
            confirmed_at=None if state == "unproved" else rows.clock(),
            role_source="scim" if number % 2 else None,
        )
    service_id, plan_id, offered_id = insert_services(mine)
    for position, subject in enumerate(({"subject": "everyone"}, {"subject": "user", "user_id": owner.id})):
        mine.add("service_assignments", service_id=service_id, position=position, **subject)
    _insert_invitations(mine, service_id)
    insert_keys(mine, service_id)
    for part in AVAILABLE:
        mine.add(
            "setup_links",
            parts=[part.value],
            service_id=service_id if part is Part.SAML else None,
            expires_at=rows.ago(days=-3),
            last_used_at=rows.clock(),
            roles=[ROLE] if part is Part.GROUPS else [],
        )
    _insert_jobs(mine, owner)
    return Organization(organization_id, mine, service_id, plan_id, offered_id)


def insert_more_people(organization: Organization, member: Person, owner: Person) -> None:
    """Insert a member with a role of the organization's own, and an account that it has made."""
    rows = organization.rows
    join(rows, member.id, ROLE)
    made = insert_account(rows, f"made@verified.{HOST}", created_by_organization_id=organization.id)
    join(rows, made)
    for role, permissions in (("unused", [Capability.SERVICES_VIEW]), ("everything", list(Capability))):
        rows.add("organization_roles", slug=role, name=UNBROKEN, description=NAME, permissions=permissions)
    at_service = rows.of(service_id=organization.service_id)
    for user_id in (owner.id, made):
        at_service.add("service_users", user_id=user_id, email="", last_login_at=rows.clock())
        session_id = insert_session(at_service, user_id)
        rows.add("client_grants", session_id=session_id, scopes=["openid", "email", "offline_access"])
    at_service.add(
        "billing_customers",
        id="customer-of-owner",
        mode="sandbox",
        organization_id=None,
        seller_organization_id=organization.id,
        user_id=owner.id,
    )
    at_service.add("sandbox_customers", id="customer-of-owner", name=NAME, user_id=owner.id)
    at_service.add("subscriptions", user_id=owner.id, plan_id=organization.plan_id, status="active")


def _insert_invitations(rows: Rows, service_id: UUID) -> None:
    for status in InvitationStatus:
        rows.add(
            "invitations",
            email=f"{status}.{EMAIL}",
            role=ROLE,
            status=status,
            expires_at=rows.ago(days=-3),
            answered_at=None if status is InvitationStatus.PENDING else rows.clock(),
            service_ids=[service_id],
            message=NAME,
        )


def _insert_jobs(rows: Rows, owner: Person) -> None:
    for kind in JobKind:
        for state in JobState:
            of_platform = kind in _PLATFORM_JOBS
            is_running = state is JobState.RUNNING
            job_id = rows.add(
                "bulk_jobs",
                organization_id=None if of_platform else rows.scope["organization_id"],
                kind=kind,
                details=_JOB_DETAILS.get(kind, {}),
                maker_id=owner.id,
                session_id=owner.session_id,
                state=state,
                problem=None,
                rows=10_000,
                done=4_321,
                refused=12,
                is_waiting=is_running,
                due_at=rows.clock() + timedelta(hours=1),
                finished_at=None if is_running else rows.clock(),
            )
            for number, row_state in enumerate(RowState):
                rows.add(
                    "bulk_job_rows",
                    job_id=job_id,
                    number=number + 1,
                    label=(EMAIL, NAME, UNBROKEN)[number],
                    state=row_state,
                )
