"""What an organization knows of a person, with sample values, for `console_samples.py` and `people_samples.py`."""

from typing import Any, Final
from uuid import UUID

from core.audit.browser import EntryNames
from core.audit.person_records import PersonEntries, PersonRecord, PersonService, PersonSession
from core.organizations.access import Capability, RequiredStanding
from core.services.subscriptions import SubscriptionStatus
from core.sign_in.reasons import SignInReason
from core.sign_in.sign_ins import SignIn, SignInConnection, SignInOrganization, SignInService, outcome_of
from entrypoints.pages.console.person_records import SUBSCRIPTION_STATUSES
from entrypoints.pages.console.sign_in_lists import OUTCOMES
from tests.pages.log_row_samples import LOG_ROWS
from tests.pages.sample_values import ID, NAME, NOW

_ID: Final = UUID(ID)
_ORGANIZATION: Final = SignInOrganization(id=_ID, slug="a" * 50, name=NAME)
_SERVICE: Final = SignInService(id=_ID, slug="a" * 50, name="x" * 100)
_CONNECTION: Final = SignInConnection(id=_ID, name=NAME)


def _sign_in(reason: SignInReason | None) -> SignIn:
    return SignIn(
        id=_ID,
        created_at=NOW,
        provider="upstream",
        outcome=outcome_of(reason),
        reason=reason,
        reason_text=reason.text if reason is not None else None,
        organization=_ORGANIZATION,
        service=_SERVICE,
        connection=_CONNECTION if reason is None else None,
        ip_address="2001:db8::1",
        user_agent=NAME * 10,
        device=NAME,
        device_id=None,
        geo_country="DE",
        geo_city=NAME,
        risk_score=100,
        risk_factors=[],
        request_id="a" * 64,
    )


def _session(provider: str, service: SignInService | None) -> PersonSession:
    return PersonSession(
        id=_ID,
        provider=provider,
        created_at=NOW,
        last_used_at=NOW,
        ip_address="2001:db8::1",
        user_agent=NAME,
        organization=_ORGANIZATION,
        service=service,
        connection=None,
    )


def _service(status: SubscriptionStatus | None) -> PersonService:
    return PersonService(
        slug="a" * 50,
        name=NAME,
        linked_at=NOW,
        last_sign_in_at=NOW if status else None,
        plan=NAME if status else None,
        subscription_status=status,
        current_period_end=NOW if status else None,
        is_billed=status is not None,
    )


_PAGE: Final = f"/app/organizations/{'a' * 50}"
RECORD: Final[dict[str, Any]] = {
    "record": PersonRecord(
        is_member=True,
        is_told=True,
        may_be_exported=True,
        services=[*map(_service, (None, *SubscriptionStatus))],
        sessions=[_session("password", _SERVICE), _session("codehost", None), _session("impersonation", None)],
        sessions_total=214,
        sign_ins=[_sign_in(reason) for reason in (None, SignInReason.SECOND_FACTOR_ASKED, SignInReason.CLOSED)],
        entries=PersonEntries(entries=[], names=EntryNames(named={}, impersonators={})),
    ),
    "user_id": ID,
    "entries": LOG_ROWS,
    "outcomes": OUTCOMES,
    "subscription_statuses": SUBSCRIPTION_STATUSES,
    "why": f"{_PAGE}/why?email=a%40b",
    "audit_by": f"{_PAGE}/audit?actor=a%40b",
    "audit_about": f"{_PAGE}/audit?target=a%40b",
    "member_page": f"{_PAGE}/people/{ID}",
    "end_user_page": f"{_PAGE}/people/end-users/{ID}",
    "personal_data_page": f"{_PAGE}/people/personal-data/{ID}",
    "lacks_explaining": Capability.END_USERS_MANAGE,
    "lacks_end_users": None,
    "lacks_ending": None,
    "lacks_locking": None,
    "lock_page": "/app/organizations/acme/people/lock/1",
    "lacks_sign_ins": None,
    "lacks_audit": None,
    "lacks_personal_data": RequiredStanding.OWNER,
}
