"""The pages of the users and the mails of the platform with sample values: a part of `samples.py`."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.accounts.providers import Provider
from core.accounts.sign_in_failures import AddressLimits, NetworkLimit
from core.credentials.passkeys import PasskeyItem
from core.mail.mail import MailState, MailTemplate
from core.platform.found_users import FoundUsers, ListedUser
from core.platform.mails import ListedMailState, OutboxMail
from core.platform.mfa import UserMfaStatus
from core.platform.outbox import NOT_SENT, FoundMails, ListedMail, MailOrganization
from core.platform.personal_data import PersonalDataOfUser
from core.platform.sessions import SessionsToEnd
from core.platform.user_record_parts import RecordSummary
from core.platform.user_records import (
    RecordedAccount,
    RecordedDevice,
    RecordedSession,
    RecordedUses,
    RecordedWays,
    UserRecord,
)
from core.platform.users import PlatformUserOrganization
from core.sign_in.identities import IdentityItem
from core.sign_in.reasons import SignInReason
from core.sign_in.sign_ins import SignIn, SignInOrganization, SignInOutcome, SignInService
from entrypoints.pages.mail.mail import KINDS, MEANINGS, STATES
from entrypoints.pages.platform.impersonation import ImpersonationForm
from entrypoints.pages.platform.mails import RETRIED
from entrypoints.pages.platform.users import user_tabs
from tests.pages.console_samples import LONG_SLUG
from tests.pages.platform_samples import PLATFORM
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM

_PAGE: Final = f"/app/platform/users/{ID}"
_AGENT: Final = "<script>alert(1)</script>" + "x" * 120
_OWNED: Final = PlatformUserOrganization(id=UUID(ID), slug=LONG_SLUG, name="x" * 100, role="owner")
_LISTED: Final = ListedUser(
    id=UUID(ID),
    email=EMAIL,
    name=NAME,
    created_at=NOW,
    email_verified=False,
    mfa_enabled=True,
    is_platform_owner=False,
    is_platform_support=True,
    is_deactivated=False,
    is_closed=False,
    is_anonymized=False,
    organizations=[_OWNED, _OWNED],
    has_more_organizations=True,
)
_MAIL: Final = OutboxMail(
    id=UUID(ID),
    recipient=EMAIL,
    template=MailTemplate.VERIFY_EMAIL,
    state=MailState.FAILED,
    attempts=6,
    due_at=NOW,
    last_error="550 5.1.1 <b>" + "x" * 200,
    organization_id=None,
    created_at=NOW,
)
_TO: Final = SignInOrganization(id=UUID(ID), slug=LONG_SLUG, name="x" * 100)
_AT: Final = SignInService(id=UUID(ID), slug=LONG_SLUG, name="y" * 100)
_SIGN_IN: Final = SignIn(
    id=UUID(ID),
    created_at=NOW,
    provider="codehost",
    outcome=SignInOutcome.REFUSED,
    reason=SignInReason.WRONG_CODE,
    reason_text=SignInReason.WRONG_CODE.text,
    organization=_TO,
    service=_AT,
    connection=None,
    ip_address="2001:db8::1",
    user_agent=_AGENT,
    device=_AGENT,
    device_id=None,
    geo_country="GB",
    geo_city="x" * 60,
    risk_score=80,
    risk_factors=["new_device"],
    request_id="a" * 64,
)
_RECORD: Final = UserRecord(
    user=RecordedAccount(
        id=UUID(ID),
        email=EMAIL,
        name=NAME,
        language=None,
        email_verified=False,
        disowned=False,
        is_platform_owner=False,
        is_platform_support=True,
        created_at=NOW,
        updated_at=NOW,
        deactivated_at=NOW,
        closed_at=None,
    ),
    sign_in_methods=RecordedWays(
        has_password=True,
        mfa_enabled=True,
        backup_codes_remaining=1,
        passkeys=[
            PasskeyItem(id=UUID(ID), name=NAME, aaguid=ID, backup_eligible=False, created_at=NOW, last_used_at=NOW)
        ],
        identities=[IdentityItem(provider=Provider.CODEHOST, provider_user_id="4711", email=EMAIL, linked_at=NOW)],
    ),
    limits=AddressLimits(
        failures=101,
        blocked_until=NOW,
        networks=[NetworkLimit(network="2001:db8::/64", failures=10, blocked_until=NOW)],
    ),
    organizations=[_OWNED],
    devices=[
        RecordedDevice(id=UUID(ID), name=_AGENT, last_used_at=NOW, last_ip="2001:db8::1", trusted=True, created_at=NOW)
    ],
    devices_total=60,
    sessions=[
        RecordedSession(
            id=UUID(ID),
            provider="password",
            amr=["pwd", "otp", "mfa"],
            created_at=NOW,
            last_used_at=NOW,
            expires_at=NOW,
            ip_address="2001:db8::1",
            geo_country="GB",
            geo_city="x" * 60,
            user_agent=_AGENT,
            is_impersonation=True,
            organization=_TO,
            service=_AT,
        )
    ],
    sessions_total=10_001,
    sign_ins=[_SIGN_IN],
    sign_ins_total=300,
    mails=[_MAIL],
    mails_total=30,
)
_SIGN_INS: Final = [(_SIGN_IN, ("bad", "Refused"), ["New device"])]
_TAB: Final[dict[str, Any]] = {
    **PLATFORM,
    "user": _RECORD.user,
    "tabs": user_tabs(UUID(ID)),
    "page": _PAGE,
    "here": _PAGE,
}

USERS_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "platform/users.html": {
        **PLATFORM,
        "query": SimpleNamespace(search="a"),
        "is_filtered": True,
        "found": FoundUsers(
            found=[
                _LISTED,
                replace(_LISTED, is_deactivated=True, name="x" * 100, organizations=[]),
                replace(_LISTED, is_closed=True, is_platform_owner=True),
                replace(_LISTED, is_anonymized=True),
                replace(_LISTED, email_verified=True),
            ],
            total=10_001,
            next=None,
        ),
        "page": "/app/platform/users",
        "first": "/app/platform/users",
        "next": "/app/platform/users?after=id_b",
    },
    "platform/users_one.html": {
        **_TAB,
        "found": RecordSummary(user=_RECORD.user, mfa_enabled=True, limits=_RECORD.limits, sign_ins=[_SIGN_IN]),
        "sign_ins": _SIGN_INS,
        "can_be_impersonated": True,
    },
    "platform/users_sign_ins.html": {**_TAB, "sign_ins": _SIGN_INS, "total": 300},
    "platform/users_sessions.html": {
        **_TAB,
        "uses": RecordedUses(
            sessions=_RECORD.sessions, sessions_total=10_001, devices=_RECORD.devices, devices_total=60
        ),
    },
    "platform/users_ways.html": {**_TAB, "ways": _RECORD.sign_in_methods},
    "platform/users_organizations.html": {**_TAB, "organizations": _RECORD.organizations},
    "platform/users_mails.html": {**_TAB, "mails": [_MAIL], "total": 30, "kinds": KINDS, "states": STATES},
    "platform/impersonation.html": {
        **PLATFORM,
        "record": _RECORD,
        "is_possible": True,
        "minutes": 60,
        "organizations": 20,
        "at_application": "curl -X POST https://id.example.com/api/platform/impersonate \\\n  -d '{}'",
        "form": ImpersonationForm(reason=NAME, org_slug="No Such"),
        "problems": {"reason": PROBLEM, "org_slug": PROBLEM},
        "page": _PAGE,
    },
    "platform/locks.html": {**PLATFORM, "user": SimpleNamespace(email=EMAIL, locked_at=NOW), "page": _PAGE},
    "platform/sessions.html": {
        **PLATFORM,
        "ending": SessionsToEnd(user_id=UUID(ID), email=EMAIL, total=10_001, services=3, impersonations=1),
        "reason": NAME,
        "page": _PAGE,
    },
    "platform/mfa.html": {
        **PLATFORM,
        "factor": UserMfaStatus(
            user_id=UUID(ID),
            email=EMAIL,
            mfa_enabled=True,
            mfa_enabled_at=NOW,
            backup_codes_remaining=3,
            last_mfa_challenge=None,
        ),
        "reason": NAME,
        "page": _PAGE,
    },
    "platform/personal_data.html": {
        **PLATFORM,
        "person": PersonalDataOfUser(
            user_id=UUID(ID),
            email=EMAIL,
            is_platform_owner=False,
            organizations=[_OWNED],
            sessions=2,
            devices=3,
        ),
        "email": NAME,
        "page": _PAGE,
    },
    "platform/mails.html": {
        **PLATFORM,
        "query": SimpleNamespace(state="failed", email=EMAIL, choose="all"),
        "is_filtered": True,
        "found": FoundMails(
            found=[
                ListedMail(mail=_MAIL, organization=MailOrganization(id=UUID(ID), slug=LONG_SLUG, name="x" * 100)),
                ListedMail(mail=replace(_MAIL, state=MailState.ROUTED, last_error=None), organization=None),
                ListedMail(mail=replace(_MAIL, state=MailState.KEPT, attempts=0), organization=None),
            ],
            total=10_001,
            next=None,
            not_sent=dict.fromkeys(NOT_SENT, 10_001),
        ),
        "results": [(_MAIL, "There is no such mail. Mails are kept for seven days."), (_MAIL, ""), (None, NAME)],
        "chosen": [ID],
        "kinds": KINDS,
        "states": STATES,
        "meaning": MEANINGS[ListedMailState.FAILED],
        "not_sent": NOT_SENT,
        "choices": [("", "Every state"), ("failed", "Failed")],
        "retried": RETRIED,
        "page": "/app/platform/mail",
        "action": "/app/platform/mail?state=failed",
        "choose_all": "/app/platform/mail?choose=all",
        "first": "/app/platform/mail",
        "next": "/app/platform/mail?after=b",
    },
}
