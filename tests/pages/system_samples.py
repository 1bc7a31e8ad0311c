"""The pages of the platform's owners, support and system with sample values: a part of `samples.py`."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.platform.health_figures import Backlog, PlatformFigures
from core.platform.housekeeping import Leftover
from core.platform.late_work import LateWork, RecentMails, WaitingWork
from core.platform.log_months import Log
from core.platform.owners import ListedPlatformOwner
from core.platform.system import PublishedKey, SchemaState
from core.secrets import Secret
from core.sessions.signing_keys import KeyState, SignatureAlgorithm
from entrypoints import settings
from entrypoints.pages.platform.system import ACTOR_STATES, KEY_STATES, SUBJECTS, SYSTEM, TABS, VERDICTS
from entrypoints.settings import Settings
from entrypoints.shared.platform import checks, late_work
from entrypoints.shared.platform.findings import Finding
from ports.actors import ActorReport, BackgroundTaskState
from tests.pages.platform_samples import PLATFORM
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM

_OWNER: Final[dict[str, Any]] = {**PLATFORM, "standing": SimpleNamespace(user_id=UUID(ID), is_owner=True)}
_LISTED: Final = ListedPlatformOwner(
    id=UUID(ID),
    email=EMAIL,
    name=NAME,
    email_verified=True,
    mfa_enabled=True,
    is_active=True,
    created_at=NOW,
    appointed_at=None,
)
_UNPROTECTED: Final = replace(
    _LISTED, id=UUID(int=2), name=None, email_verified=False, mfa_enabled=False, is_active=False, appointed_at=NOW
)

LATE: Final = LateWork(
    read_at=NOW,
    work=WaitingWork(
        mails=10_001,
        oldest_mail_at=NOW,
        failed_mails=1,
        events=4,
        oldest_event_at=NOW,
        deliveries=10_001,
        running_jobs=1,
        cancellations=2,
        oldest_cancellation_at=NOW,
        lagging_siems=1,
        siem_lag_max=123_456,
    ),
    backlog=Backlog(mail_seconds=901, unsealed_seconds=400, failing_streams=2),
    recent_mails=RecentMails(attempted=6, not_taken=6, deferred=6, last_error=PROBLEM),
    overdue={"events": 500.0, "logouts": 200.0},
    uncounted_seconds=8000.0,
    unswept=list(Leftover),
    missing=[Log.MAILS],
    undropped=[],
)
_SCHEMA: Final = SchemaState(
    newest=f"0046_{'x' * 60}",
    applied_at=NOW,
    pending=0,
    ahead=1,
    server_version="17.2 (Debian 17.2-1.pgdg120+1)",
    database_time=NOW,
)
_FIGURES: Final = PlatformFigures(
    active_users=1_000_000,
    organizations=40_000,
    mfa_users=3,
    queued_mails=0,
    queued_deliveries=0,
    certificates_ending=0,
)
_KEYS: Final = [
    PublishedKey(kid="k" * 43, algorithm=SignatureAlgorithm.ES256, state=state, created_at=NOW, published_until=NOW)
    for state in KeyState
]
_FINDINGS: Final = [
    checks.base_settings(Settings(dev=True, rate_limits=False, base_url="http://id.example.com")),
    checks.platform_owners(Settings(), present=2, without_factor=1),
    Finding("clock", False, NAME, NAME),
    *late_work.findings(LATE, Settings(smtp_url=Secret("smtp://mail.example.com"))),
]
_SYSTEM: Final[dict[str, Any]] = {
    **_OWNER,
    "python": "3.11.2",
    "worker": 2,
    "process_id": 12345,
    "tabs": TABS,
    "here": SYSTEM,
}

SYSTEM_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "platform/owners.html": {
        **_OWNER,
        "owners": [_LISTED, _UNPROTECTED],
        "support": [_UNPROTECTED],
        "typed_owner": EMAIL,
        "is_filled_in": True,
        "typed_support": "",
        "owner_problem": PROBLEM,
        "support_problem": "",
    },
    "platform/system.html": {
        **_SYSTEM,
        "findings": [(SUBJECTS[one.subject], VERDICTS[one.verdict], one) for one in _FINDINGS],
    },
    "platform/system_queues.html": {**_SYSTEM, "work": LATE.work, "figures": _FIGURES},
    "platform/system_process.html": {
        **_SYSTEM,
        "processes": 20,
        "pool": SimpleNamespace(total=3, idle=2, maximum=10),
        "schema": _SCHEMA,
        "actors": [
            (ActorReport(name="service_user_counter", state=state, since=NOW, crashes=12), ACTOR_STATES[state])
            for state in BackgroundTaskState
        ],
    },
    "platform/system_keys.html": {**_SYSTEM, "keys": [(key, KEY_STATES[key.state.value], 1) for key in _KEYS]},
    "platform/system_settings.html": {
        **_SYSTEM,
        "settings": settings.rows(Settings(name="x" * 40, frontend_url=f"https://{'x' * 60}.example.com")),
    },
    "platform/owners_demotion.html": {
        **_OWNER,
        "person": _UNPROTECTED,
        "remaining": 2,
        "reason": NAME,
        "page": f"/app/platform/owners/{ID}/demote",
    },
}
