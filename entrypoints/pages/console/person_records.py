"""What the pages of people share: their tabs, and what the organization knows of a person, in words."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from core.audit.person_records import PersonRecord
from core.organizations.access import Capability, Operation, RequiredStanding
from core.organizations.standing import Standing
from core.services.subscriptions import SubscriptionStatus
from entrypoints.pages.console.audit_entries import rows_of
from entrypoints.pages.console.frame import page_of, with_query
from entrypoints.pages.console.sign_in_lists import OUTCOMES
from entrypoints.pages.frame.languages import marked

SUBSCRIPTION_STATUSES: Final = {
    SubscriptionStatus.ACTIVE: ("good", marked("Active")),
    SubscriptionStatus.CANCELLED: ("warning", marked("Cancelled")),
    SubscriptionStatus.EXPIRED: ("warning", marked("Expired")),
    SubscriptionStatus.PAST_DUE: ("bad", marked("Payment overdue")),
}


def people_tabs(standing: Standing) -> list[tuple[str, str, Capability | RequiredStanding | None]]:
    """Return the tabs of the people of an organization: address, text, and what the role of the reader lacks."""
    people = f"{page_of(standing.organization.slug)}/people"
    return [
        (people, marked("Members"), standing.lacks(Operation.MEMBERS_LIST)),
        (f"{people}/invited", marked("Invitations"), standing.lacks(Operation.INVITATIONS_LIST)),
        (f"{people}/end-users", marked("End users"), standing.lacks(Operation.END_USERS_READ)),
        (f"{people}/directory", marked("Directory"), standing.lacks(Operation.SCIM_LOG_READ)),
        (f"{people}/groups", marked("Groups"), standing.lacks(Operation.GROUPS_READ)),
    ]


def record_values(standing: Standing, record: PersonRecord, user_id: UUID, email: str) -> dict[str, Any]:
    """Return what `console/person_records.html` shows of a person."""
    page = page_of(standing.organization.slug)
    found = record.entries
    return {
        "record": record,
        "user_id": str(user_id),
        "entries": rows_of(found.entries, found.names, is_platform=False) if found is not None else None,
        "outcomes": OUTCOMES,
        "subscription_statuses": SUBSCRIPTION_STATUSES,
        "why": with_query(f"{page}/why", email=email),
        "audit_by": with_query(f"{page}/audit", actor=email),
        "audit_about": with_query(f"{page}/audit", target=email),
        "member_page": f"{page}/people/{user_id}",
        "end_user_page": f"{page}/people/end-users/{user_id}",
        "lacks_explaining": standing.lacks(Operation.SIGN_INS_EXPLAIN),
        "lacks_end_users": standing.lacks(Operation.END_USERS_READ),
        "lacks_ending": standing.lacks(Operation.END_USERS_CHANGE),
        "lacks_locking": standing.lacks(Operation.ACCOUNT_LOCK),
        "lock_page": f"{page}/people/lock/{user_id}",
        "lacks_sign_ins": standing.lacks(Operation.SIGN_INS_READ),
        "lacks_audit": standing.lacks(Operation.AUDIT_LOG_READ),
        "lacks_personal_data": standing.lacks(Operation.PERSONAL_DATA_EXPORT),
        "personal_data_page": f"{page}/people/personal-data/{user_id}",
    }
