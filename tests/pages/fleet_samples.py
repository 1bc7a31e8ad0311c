"""The pages about the organizations of the platform, with sample values: a part of `samples.py`."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.customers.relations import CustomerState
from core.mail.mail import MailState, MailTemplate
from core.organizations.organizations import Organization, OrganizationStatus
from core.organizations.tiers import Tier
from core.platform.health_figures import PlatformFigures
from core.platform.mails import OutboxMail
from core.platform.mfa import MfaAlert, MfaAlertType
from core.platform.organization_records import (
    ClaimedDomain,
    ListedOrganization,
    OrganizationFigures,
    PlatformOrganizationRecord,
    RecordOwner,
    ServedCustomers,
    UsedProduct,
)
from core.platform.overview import FailingStream, FailingWebhook, GoneWebhook, PlatformNumbers, PlatformOverview
from core.positions import FoundRows
from entrypoints.pages.customers.customers import STATES
from entrypoints.pages.platform.organizations import STATUSES, organization_tabs
from entrypoints.pages.platform.overview import ALERTS, numbers_of
from tests.pages.console_samples import FOUND, LONG_SLUG, MEMBER
from tests.pages.platform_samples import PLATFORM
from tests.pages.plot_values import SHOWN, analytics
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM

_ID: Final = UUID(ID)
_OWNING: Final[dict[str, Any]] = {**PLATFORM, "standing": SimpleNamespace(user_id=ID, is_owner=True)}
_PAGE: Final = "/app/platform/organizations"
_OWNER: Final = RecordOwner(id=_ID, email=EMAIL, is_platform_owner=False)
_LISTED: Final = ListedOrganization(
    id=_ID,
    slug=LONG_SLUG,
    name=NAME,
    status=OrganizationStatus.PENDING,
    created_at=NOW,
    tier=NAME,
    owner=_OWNER,
    members=12_345,
    last_sign_in_at=NOW,
)
_ORGANIZATION: Final = Organization(
    id=_ID,
    slug=LONG_SLUG,
    name=NAME,
    status=OrganizationStatus.PENDING,
    tier_id=_ID,
    max_services=3,
    max_users=None,
    mfa_required=False,
    device_trust_days=30,
    created_at=NOW,
    updated_at=NOW,
    approved_at=None,
    approved_by=None,
    rejected_at=None,
    rejection_reason=None,
    suspended_at=None,
    suspension_reason=None,
)
_RECORD: Final = PlatformOrganizationRecord(
    organization=_ORGANIZATION,
    tier=Tier(id=_ID, name="x" * 50, display_name=NAME, default_max_services=3, default_max_users=None, price_cents=0),
    owner=_OWNER,
    approved_by=EMAIL,
    figures=OrganizationFigures(
        members=12,
        services=3,
        end_users=10_001,
        sessions=214,
        subscriptions=1,
        last_sign_in_at=NOW,
        last_change_at=None,
    ),
    domains=[
        ClaimedDomain(domain=f"{'login' * 12}.example.com", is_of_mail=False, verified_at=NOW, failing_since=NOW),
        ClaimedDomain(domain="example.com", is_of_mail=True, verified_at=NOW, failing_since=None),
        ClaimedDomain(domain="example.org", is_of_mail=True, verified_at=None, failing_since=None),
    ],
    products=[
        UsedProduct(service_name=NAME, vendor_id=_ID, vendor_name=NAME, state=CustomerState.PAUSED, created_at=NOW)
    ],
    served=[ServedCustomers(service_name=NAME, customers=10_001)],
    max_services=3,
    max_users=None,
)
_ACTIVE: Final = replace(_RECORD, organization=replace(_ORGANIZATION, status=OrganizationStatus.ACTIVE))
_NUMBERS: Final = PlatformNumbers(
    figures=PlatformFigures(
        active_users=1_234_567,
        organizations=40_000,
        mfa_users=1_234,
        queued_mails=0,
        queued_deliveries=0,
        certificates_ending=0,
    ),
    organizations=dict.fromkeys(OrganizationStatus, 10_001),
    mails=dict.fromkeys(MailState, 3),
    new_users=10_001,
    sign_ins=analytics(30),
)

FLEET_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "platform/organizations.html": {
        **_OWNING,
        "query": SimpleNamespace(search=EMAIL, status="pending", tier=""),
        "is_filtered": True,
        "found": FoundRows(
            found=[
                *(replace(_LISTED, status=status) for status in OrganizationStatus),
                replace(_LISTED, owner=None, last_sign_in_at=None, id=UUID(int=1)),
            ],
            total=9_999,
            next=None,
        ),
        "job_rows_max": 10_000,
        "statuses": STATUSES,
        "choices": [("", "Every status"), ("pending", "Waits for approval")],
        "tiers": [("", "Every tier"), (ID, NAME)],
        "waiting": {_ID, UUID(int=1)},
        "chosen": {UUID(int=1)},
        "reason": NAME,
        "results": [(NAME, "", _PAGE), (NAME, PROBLEM, _PAGE)],
        "page": _PAGE,
        "action": f"{_PAGE}/approvals?status=pending",
        "choose_all": f"{_PAGE}?status=pending&choose=all",
        "file": f"{_PAGE}/organizations.csv",
        "first": _PAGE,
        "next": f"{_PAGE}?after=b",
    },
    "platform/organizations_one.html": {
        **_OWNING,
        "found": _RECORD,
        "statuses": STATUSES,
        "states": STATES,
        "tiers": [(ID, NAME)],
        "form": SimpleNamespace(tier=ID, reason=NAME),
        "limits": SimpleNamespace(tier=ID, max_services="3", max_users="x"),
        "seen": SimpleNamespace(tier=ID, max_services="3", max_users=""),
        "problems": {"reason": PROBLEM, "max_services": "", "max_users": PROBLEM},
        "page": f"{_PAGE}/{ID}",
        "tabs": organization_tabs(_ID),
        "page_of_all": _PAGE,
    },
    "platform/members.html": {
        **_OWNING,
        "organization": NAME,
        "query": SimpleNamespace(search=EMAIL),
        "is_filtered": True,
        "found": FoundRows(
            found=[
                MEMBER,
                replace(MEMBER, is_suspended=True, has_second_factor=False, name=None),
                replace(MEMBER, is_confirmed=False, has_second_factor=None, last_sign_in_at=None),
            ],
            total=10_001,
            next=None,
        ),
        "page": f"{_PAGE}/{ID}/members",
        "tabs": organization_tabs(_ID),
        "file": f"{_PAGE}/{ID}/members/members.csv",
        "first": f"{_PAGE}/{ID}/members",
        "next": f"{_PAGE}/{ID}/members?after=b",
        "kept_since": NOW,
    },
    "platform/overview.html": {
        "shown": SHOWN,
        **_OWNING,
        "found": PlatformOverview(
            waiting=[_LISTED, replace(_LISTED, owner=None)],
            waiting_total=10_001,
            alerts=[
                MfaAlert(user_id=_ID, email=EMAIL, alert_type=kind, details={}, detected_at=NOW)
                for kind in MfaAlertType
            ],
            alerts_total=100,
            failed_mails=[
                OutboxMail(
                    id=_ID,
                    recipient=EMAIL,
                    template=MailTemplate.VERIFY_EMAIL,
                    state=MailState.FAILED,
                    attempts=5,
                    due_at=NOW,
                    last_error=error,
                    organization_id=None,
                    created_at=NOW,
                )
                for error in (NAME, None)
            ],
            owners_without_second_factor=2,
            webhooks=[
                FailingWebhook(organization_id=_ID, organization_name=NAME, name=NAME, lost=lost, last_at=NOW)
                for lost in (1, 5_000)
            ],
            webhooks_total=2,
            gone_webhooks=[
                GoneWebhook(organization_id=_ID, organization_name=NAME, name=name, off_at=NOW)
                for name in (NAME, "x" * 100)
            ],
            gone_webhooks_total=10_001,
            streams=[
                FailingStream(organization_id=_ID, organization_name=NAME, failing_since=NOW, last_error=error)
                for error in (NAME, None)
            ],
            streams_total=2,
            numbers=_NUMBERS,
        ),
        "alerts": ALERTS,
        "groups": numbers_of(_NUMBERS),
        "pending": f"{_PAGE}?status=pending",
        "organizations": _PAGE,
    },
    "platform/search.html": {
        **_OWNING,
        "searched": NAME,
        "is_request": False,
        "groups": FOUND,
        "why": "",
    },
    "platform/suspension.html": {
        **_OWNING,
        "found": _ACTIVE,
        "form": SimpleNamespace(reason=NAME),
        "page": f"{_PAGE}/{ID}",
    },
    "platform/deletion.html": {
        **_OWNING,
        "found": _ACTIVE,
        "form": SimpleNamespace(slug=LONG_SLUG, reason=NAME),
        "problems": {"slug": PROBLEM, "reason": PROBLEM},
        "page": f"{_PAGE}/{ID}",
    },
}
