"""What the pages of a member and of an end user share: what the organization knows of the person, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from core.events.actions import AuditAction
from core.organizations.access import Operation
from core.services.subscriptions import SubscriptionStatus
from core.sign_in.sign_ins import SignInOutcome
from entrypoints.pages.console_pages import page_of, with_query
from entrypoints.pages.languages import marked

if TYPE_CHECKING:
    from uuid import UUID

    from core.audit.person_records import PersonRecord
    from core.organizations.standing import Standing

# What a badge says of each outcome, with its kind.
OUTCOMES: Final = {
    SignInOutcome.SUCCESS: ("good", marked("Signed in")),
    SignInOutcome.REFUSED: ("bad", marked("Refused")),
    SignInOutcome.SECOND_FACTOR_ASKED: ("info", marked("Not completed")),
}
SUBSCRIPTION_STATUSES: Final = {
    SubscriptionStatus.ACTIVE: ("good", marked("Active")),
    SubscriptionStatus.CANCELLED: ("warning", marked("Cancelled")),
    SubscriptionStatus.EXPIRED: ("warning", marked("Expired")),
    SubscriptionStatus.PAST_DUE: ("bad", marked("Payment overdue")),
}
_LABELS: Final = {action.value: action.event.item.label for action in AuditAction}


def record_values(standing: Standing, record: PersonRecord, user_id: UUID, email: str) -> dict[str, Any]:
    """Return what `console_person.html` shows of a person."""
    page = page_of(standing.organization.slug)
    return {
        "record": record,
        "outcomes": OUTCOMES,
        "subscription_statuses": SUBSCRIPTION_STATUSES,
        # A version after this one may have actions that this one does not know.
        "labels": _LABELS,
        "why": with_query(f"{page}/why", email=email),
        "audit": f"{page}/audit",
        "member_page": f"{page}/people/{user_id}",
        "end_user_page": f"{page}/people/end-users/{user_id}",
        "lacks_explaining": standing.lacks(Operation.SIGN_INS_EXPLAIN),
        "lacks_end_users": standing.lacks(Operation.END_USERS_READ),
        "lacks_ending": standing.lacks(Operation.END_USERS_CHANGE),
        "lacks_sign_ins": standing.lacks(Operation.SIGN_INS_READ),
        "lacks_audit": standing.lacks(Operation.AUDIT_LOG_READ),
        "lacks_personal_data": standing.lacks(Operation.PERSONAL_DATA_EXPORT),
        "personal_data_page": f"{page}/people/personal-data/{user_id}",
    }
