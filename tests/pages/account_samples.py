"""Sample values of the pages that show what happened in an account: sessions, sign-ins, applications, subscriptions."""

from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from core.accounts.profile import SignInMethods
from core.billing.own_subscriptions import PersonalSubscription
from core.credentials.mfa import MfaStatus
from core.organizations.departures import LinkOrigin
from core.services.applications import Application
from core.services.subscriptions import SubscriptionStatus
from core.sign_in.own_sessions import OwnSession, OwnSessions, ServiceSessions, ShownSession, SupportSession
from core.sign_in.own_ways import AccountLimit, NamedConnection, OwnWays
from core.sign_in.reasons import SignInReason
from core.sign_in.risk import Location
from core.sign_in.sign_ins import (
    SignIn,
    SignInConnection,
    SignInCustomer,
    SignInOrganization,
    SignInService,
    outcome_of,
)
from tests.pages.sample_values import ID, NAME, NOW

SHORT: Final = "Harbour Logs"
_SIGN_IN_ORGANIZATION: Final = SignInOrganization(id=UUID(ID), slug="royal", name=NAME)
_SIGN_IN_SERVICE: Final = SignInService(id=UUID(ID), slug="harbour", name=SHORT)
_METHODS: Final = SignInMethods(
    has_password=True, second_factor=MfaStatus(enabled=False, has_backup_codes=False), passkeys=0
)
_CONNECTION: Final = NamedConnection(id=UUID(ID), organization_id=UUID(ID), name=SHORT, organization_name=NAME)
WAYS: Final = OwnWays(methods=_METHODS, providers=["codehost"], connection=None, required=None, limit=None)
BOUND: Final = OwnWays(
    methods=replace(_METHODS, has_password=False),
    providers=["upstream"],
    connection=_CONNECTION,
    required=_CONNECTION,
    limit=AccountLimit.USED_ELSEWHERE,
)


def _session(**others: Any) -> OwnSession:
    about: dict[str, Any] = {
        "id": UUID(ID),
        "parent_id": None,
        "provider": "password",
        "amr": ["pwd", "mfa"],
        "created_at": NOW,
        "last_used_at": NOW,
        "expires_at": NOW,
        "ip_address": "203.0.113.7",
        "user_agent": "Firefox/128 Linux",
        "device": NAME,
        "host": "login.harbour.example",
        "is_browser": True,
        "is_impersonation": False,
        "organization": _SIGN_IN_ORGANIZATION,
        "service": None,
        "connection": None,
        "customer": SignInCustomer(id=UUID(ID), slug=SHORT, name=NAME),
    }
    return OwnSession(**about | others)


def _shown(one: OwnSession, *children: ShownSession, is_current: bool = False) -> ShownSession:
    location = Location(country="IS", city="Reykjavík")
    return ShownSession(session=one, location=location, is_current=is_current, children=children)


def sign_in_of(reason: SignInReason | None, **others: Any) -> SignIn:
    """Return a sign-in that was refused for a reason; None for one that succeeded."""
    about: dict[str, Any] = {
        "id": UUID(ID),
        "created_at": NOW,
        "provider": "upstream",
        "outcome": outcome_of(reason),
        "reason": reason,
        "reason_text": reason.text if reason is not None else None,
        "organization": _SIGN_IN_ORGANIZATION,
        "service": _SIGN_IN_SERVICE,
        "connection": SignInConnection(id=UUID(ID), name=NAME),
        "ip_address": "203.0.113.7",
        "user_agent": "curl/8.5.0",
        "device": "curl",
        "device_id": None,
        "geo_country": "IS",
        "geo_city": None,
        "risk_score": 30,
        "risk_factors": ["new_device"],
        "request_id": None,
        "customer": SignInCustomer(id=UUID(ID), slug=SHORT, name=NAME),
    }
    return SignIn(**about | others)


def _application(**others: Any) -> Application:
    about: dict[str, Any] = {
        "id": UUID(ID),
        "client_id": UUID(ID),
        "client_name": NAME,
        "organization_id": UUID(ID),
        "org_slug": "royal",
        "organization_name": NAME,
        "service_slug": "harbour",
        "is_saml": False,
        "scopes": ["offline_access", "openid"],
        "created_at": NOW,
        "last_used_at": NOW,
        "sessions": 2,
        "origin": LinkOrigin.MEMBERSHIP,
        "is_subscribed": False,
    }
    return Application(**about | others)


def _personal_subscription(status: SubscriptionStatus, *, is_own_customer: bool = False) -> PersonalSubscription:
    return PersonalSubscription(
        service_id=UUID(ID),
        service_name=NAME,
        organization_name=NAME,
        plan_name=SHORT,
        status=status,
        current_period_end=NOW,
        created_at=NOW,
        is_billed=True,
        is_own_customer=is_own_customer,
    )


ACTIVITY: Final[dict[str, dict[str, Any]]] = {
    "sessions/sessions.html": {
        "sessions": OwnSessions(
            current=[_shown(_session(), _shown(_session(service=_SIGN_IN_SERVICE)), is_current=True)],
            browsers=[_shown(_session(device=None, user_agent=None, ip_address=None))],
            services=[
                ServiceSessions(
                    organization=_SIGN_IN_ORGANIZATION,
                    service=_SIGN_IN_SERVICE,
                    total=3,
                    apart=[_shown(_session(service=_SIGN_IN_SERVICE, provider="upstream"))],
                )
            ],
            programs=[_shown(_session(user_agent="curl/8.5.0", device=None, organization=None))],
            support=[_shown(_session(is_impersonation=True, provider="impersonation"))],
            listed=6,
            total=900,
        ),
    },
    "sign_in/sign_ins_one.html": {
        "one": sign_in_of(None),
        "state": ("good", "Signed in"),
        "reason": "",
        "risks": ["New device"],
        "is_success": True,
        "ways": WAYS,
    },
    "sign_in/sign_ins.html": {
        "sign_ins": [
            (sign_in_of(None, provider="password", connection=None), ("good", "Signed in"), "", ["New device"]),
            (sign_in_of(SignInReason.WRONG_CODE), ("bad", "Refused"), "The code of the second factor was wrong.", []),
        ],
        "support": [SupportSession(began_at=NOW, organization_name=NAME)],
        "next_id": UUID(ID),
        "is_later": True,
        "limit": 50,
        "usual_limit": 25,
    },
    "services/applications.html": {
        "outcome": SHORT,
        "applications": [_application(), _application(sessions=0, is_subscribed=True)],
        "total": 120,
    },
    "services/applications_one.html": {"application": _application(is_subscribed=True)},
    "billing/own_subscriptions.html": {
        "subscriptions": [
            _personal_subscription(SubscriptionStatus.PAST_DUE, is_own_customer=True),
            _personal_subscription(SubscriptionStatus.ACTIVE),
            _personal_subscription(SubscriptionStatus.CANCELLED),
        ],
        "total": 120,
    },
    "billing/own_subscriptions_portal.html": {"address": "/portal"},
}
