"""The pages of billing and revenue with sample values: a part of `samples.py`."""

from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from core.billing.overview import BillingOverview
from core.organizations.access import Capability
from core.positions import FoundRows
from core.services.management import Usage
from core.services.sales import ChangeKind, Revenue, Sales, Seller, Sold, SoldPlan, SubscriptionChange
from core.services.sold_subscriptions import SoldSubscription
from core.services.subscriptions import SubscriptionStatus
from entrypoints.pages.billing.overview import PERIODS, sales_values
from entrypoints.pages.console.person_records import SUBSCRIPTION_STATUSES
from entrypoints.pages.frame.languages import ENGLISH
from entrypoints.pages.services.sales import KINDS, ChangesQuery
from entrypoints.pages.services.sold_subscriptions import SoldQuery
from tests.pages.console_samples import CONSOLE, LONG_SLUG
from tests.pages.platform_samples import PLATFORM
from tests.pages.sample_values import EMAIL, ID, NAME, NOW

_ORGANIZATION: Final = f"/app/organizations/{LONG_SLUG}"
_PAGE: Final = f"{_ORGANIZATION}/billing"
_DAYS: Final = [NOW.date() - timedelta(days=number) for number in range(2, -1, -1)]
_SOLD: Final = Sold(live=1_234_567, late=12, cents=123_456_789_012_345)
_PLAN: Final = SoldPlan(
    service_id=UUID(ID),
    plan_id=UUID(ID),
    service_name=NAME,
    service_slug=LONG_SLUG,
    plan_name=NAME,
    currency="usd",
    sold=_SOLD,
    begun=4,
    ended=1,
)
_SALES: Final = Sales(
    since=_DAYS[0],
    days=_DAYS,
    begun=dict(zip(_DAYS, (1, 0, 3), strict=True)),
    ended=dict(zip(_DAYS, (0, 0, 1), strict=True)),
    by_day={"usd": [Sold(), _SOLD, _SOLD], "jpy": [Sold(live=1, cents=5), Sold(live=2, cents=10), Sold()]},
    plans=[_PLAN, replace(_PLAN, service_name=None, service_slug=None, plan_name=None, currency="jpy")],
)
_ONE: Final = SoldSubscription(
    id=UUID(ID),
    service_id=UUID(ID),
    service_name=NAME,
    service_slug=LONG_SLUG,
    user_id=UUID(ID),
    email=EMAIL,
    plan_id=UUID(ID),
    plan_name=NAME,
    price_cents=990,
    currency="usd",
    status=SubscriptionStatus.PAST_DUE,
    current_period_end=NOW,
    created_at=NOW,
    is_billed=False,
)
_CHANGE: Final = SubscriptionChange(
    id=UUID(ID),
    at=NOW,
    kind=ChangeKind.BEGUN,
    user_id=UUID(ID),
    email=EMAIL,
    service_id=UUID(ID),
    plan_id=UUID(ID),
    service_name=NAME,
    service_slug=LONG_SLUG,
    plan_name=NAME,
    live=1,
    cents=990,
    currency="usd",
)
_PRICE: Final = "1,234,567,890,123.45 USD"
_CHOICES: Final = [("", "Every plan"), (ID, NAME)]

MONEY_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "billing/overview.html": {
        **CONSOLE,
        "shown": BillingOverview(
            tier=NAME,
            services=Usage(current_services=3, max_services=3, tier="free"),
            members=12_345,
            max_members=None,
            sales=_SALES,
            has_plans=True,
        ),
        "page": _PAGE,
        "organization_page": _ORGANIZATION,
        "is_sandbox": True,
        "is_for_sale": True,
        "days": 30,
        "bar_days": 1,
        "periods": [(f"{_PAGE}?days={days}", text, None) for days, text in PERIODS.items()],
        "here": f"{_PAGE}?days=30",
        "files": {name: f"{_PAGE}/numbers.csv?of={name}" for name in ("days", "changes", "plans")},
        **sales_values(ENGLISH, _SALES, _ORGANIZATION, bar_days=1),
    },
    "billing/overview_portal.html": {**CONSOLE, "address": "https://pay.example.com/session", "page": _PAGE},
    "services/sold_subscriptions.html": {
        **CONSOLE,
        "query": SoldQuery(search=EMAIL, status="live", plan=ID),
        "is_filtered": True,
        "found": FoundRows(
            found=[_ONE, replace(_ONE, email=None, status=SubscriptionStatus.EXPIRED, current_period_end=None)],
            total=10_001,
            next=None,
        ),
        "prices": {UUID(ID): _PRICE},
        "statuses": SUBSCRIPTION_STATUSES,
        "choices": [("", "Every status"), ("live", "In force")],
        "plans": _CHOICES,
        "lacks_end_users": None,
        "page": f"{_PAGE}/sold",
        "billing_page": _PAGE,
        "file": f"{_PAGE}/sold/sold.csv",
        "first": f"{_PAGE}/sold",
        "next": f"{_PAGE}/sold?after=x",
    },
    "services/sold_subscriptions_one.html": {
        **CONSOLE,
        "problems": {"plan_id": "Choose one of the plans of this service."},
        "one": _ONE,
        "price": _PRICE,
        "statuses": SUBSCRIPTION_STATUSES,
        "plans": [(ID, f"{NAME} · {_PRICE}")],
        "chosen": ID,
        "lacks_change": None,
        "lacks_end_users": None,
        "lacks_audit": Capability.AUDIT_LOGS_VIEW,
        "person": f"{_ORGANIZATION}/people/end-users/{ID}",
        "audit": f"{_ORGANIZATION}/audit?target={ID}",
        "page": f"{_PAGE}/sold/{ID}",
        "list_page": f"{_PAGE}/sold",
    },
    "services/sold_subscriptions_cancellation.html": {
        **CONSOLE,
        "one": _ONE,
        "default_plan": NAME,
        "note": NAME,
        "page": f"{_PAGE}/sold/{ID}",
    },
    "services/sales_changes.html": {
        **CONSOLE,
        "query": ChangesQuery(kind="begun", since="2026-01-01", until="2026-01-02", plan=ID),
        "is_filtered": True,
        "found": FoundRows(
            found=[
                _CHANGE,
                replace(_CHANGE, kind=ChangeKind.ENDED, email=None, plan_name=None, service_name=None, cents=-990),
                replace(_CHANGE, kind=ChangeKind.PRICED, user_id=None, email=None),
            ],
            total=3,
            next=None,
        ),
        "prices": {UUID(ID): _PRICE},
        "kinds": KINDS,
        "kind_choices": [("", "Every change"), ("begun", "Begun")],
        "services": [("", "Every service"), (ID, NAME)],
        "plans": _CHOICES,
        "lacks_end_users": None,
        "people": f"{_ORGANIZATION}/people/end-users",
        "page": f"{_PAGE}/sold-changes",
        "billing_page": _PAGE,
        "file": f"{_PAGE}/sold-changes/sold-changes.csv",
        "first": f"{_PAGE}/sold-changes",
        "next": f"{_PAGE}/sold-changes?after=x",
    },
    "services/sales_revenue.html": {
        **PLATFORM,
        "found": Revenue(currency="usd", currencies=["usd", "jpy"], sold=_SOLD),
        "total": _PRICE,
        "rows": [(Seller(id=UUID(ID), slug=LONG_SLUG, name=NAME, sold=_SOLD), _PRICE)],
        "currencies": [("usd", "USD"), ("jpy", "JPY")],
        "page": "/app/platform/revenue",
        "organizations": "/app/platform/organizations",
        "first": "/app/platform/revenue?currency=usd",
        "next": "/app/platform/revenue?currency=usd&after=x",
    },
}
