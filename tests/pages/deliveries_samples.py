"""The pages of webhooks, provisioning and the SIEM with sample values: a part of `samples.py`."""

from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from core.audit.siem import SiemConfiguration, SiemOptions, SiemProvider, SiemStatus
from core.audit.siem_console import SiemThroughput
from core.organizations import takeovers
from core.organizations.access import Capability
from core.positions import FoundRows
from core.scim.log import ProvisioningLogEntry
from core.scim.tokens import FoundGroups, ScimToken, TokenEnds
from core.webhooks.deliveries import RECEIVER_GONE, Delivery
from core.webhooks.delivery_log import DeliveryAttempt, ListedDelivery
from core.webhooks.health import HourOfDeliveries, ListedWebhook, WebhookHealth
from core.webhooks.webhooks import Webhook
from entrypoints.pages.audit import receiver_kinds
from entrypoints.pages.audit.siem import SiemForm
from entrypoints.pages.console.plots import Point, bars
from entrypoints.pages.events.events import ALL, CHOICES, EVENTS, GROUPS, SETS
from entrypoints.pages.frame.languages import ENGLISH
from entrypoints.pages.scim import directory_kinds
from entrypoints.pages.scim.tokens import FOUND_GROUPS, LIFETIMES, CallsQuery, ScimTokenForm, copies_of
from entrypoints.pages.webhooks.deliveries import STATES, DeliveriesPageQuery
from entrypoints.pages.webhooks.receiver_code import RECEIVER
from entrypoints.pages.webhooks.webhooks import SERIES, WebhookForm
from tests.pages.console_samples import CONSOLE, LONG_SLUG
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM

_ORGANIZATION: Final = f"/app/organizations/{LONG_SLUG}"
_HOOKS: Final = f"{_ORGANIZATION}/webhooks"
_HOOK: Final = f"{_HOOKS}/{ID}"
_URL: Final = "https://" + "x" * 60 + ".example.com/" + "y" * 200 + "?token=secret"
_ID: Final = UUID(ID)
_WEBHOOK: Final = Webhook(
    id=_ID, name=NAME, url=_URL, events=list(EVENTS), is_active=True, created_at=NOW, updated_at=NOW
)
_SECRET: Final = "whsec_" + "M" * 44
_HOURS: Final = [
    HourOfDeliveries(since=NOW + timedelta(hours=number), delivered=number * 7, waiting=number % 3, failed=number % 5)
    for number in range(24)
]
_TABS: Final = [
    (_HOOK, "Overview", None),
    (f"{_HOOK}/deliveries", "Deliveries", None),
    (f"{_HOOK}/change", "Settings", None),
]
_LISTED: Final = ListedDelivery(
    id=_ID,
    event_type="user.joined",
    created_at=NOW,
    updated_at=NOW,
    attempt_count=3,
    next_retry_at=NOW,
    delivered=False,
    response_status_code=500,
    delivery_error=NAME,
)
_PAYLOAD: Final = {"id": ID, "event": NAME, "data": {NAME: NAME}}
_ATTEMPT: Final = DeliveryAttempt(
    id=_ID,
    attempted_at=NOW,
    duration_ms=15_020,
    request_headers={"webhook-id": ID, "webhook-signature": "v1," + "M" * 44 + " v1," + "M" * 44},
    status_code=None,
    response_body=None,
    error="The receiver did not answer within 15 seconds.",
)
_TOKEN: Final = ScimToken(
    id=_ID,
    name=NAME,
    prefix="scim_live_67CA25",
    groups=FoundGroups.ORGANIZATION,
    created_at=NOW,
    expires_at=None,
    last_used_at=NOW,
)
_CALL: Final = ProvisioningLogEntry(
    id=_ID,
    created_at=NOW,
    token_id=_ID,
    token_name=NAME,
    method="PATCH",
    path=f"/scim/v2/Users/{ID}?filter={'x' * 200}",
    resource_id=None,
    user_name=EMAIL,
    status=400,
    scim_type="invalidValue",
    detail=NAME,
)
_STREAM: Final = SiemConfiguration(
    id=_ID,
    provider=SiemProvider.SPLUNK,
    endpoint=_URL,
    has_token=True,
    options=SiemOptions(),
    event_filter=["user.", "service."],
    enabled=True,
    status=SiemStatus.FAILING,
    last_success_at=NOW,
    last_error=NAME,
    cursor=3,
    lag=1,
    pending=2,
    created_at=NOW,
    updated_at=NOW,
)
_FIELDS: Final[dict[str, Any]] = {
    "typed": WebhookForm(name=NAME, url=_URL, events=["user.joined"], sets=["security"]),
    "problems": {"name": PROBLEM, "url": PROBLEM, "events": PROBLEM},
    "groups": GROUPS,
    "sets": SETS,
    "all": ALL,
}
_SIEM: Final = f"{_ORGANIZATION}/siem"
_PROVISIONING: Final = f"{_ORGANIZATION}/provisioning"

DELIVERIES_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "webhooks/webhooks.html": {
        **CONSOLE,
        "found": [
            ListedWebhook(
                webhook=replace(_WEBHOOK, is_active=is_active),
                delivered=delivered,
                waiting=2,
                failed=failed,
                last_failure_at=NOW,
                last_error=NAME,
                off_reason=off_reason,
                off_at=NOW if off_reason else None,
            )
            for is_active, delivered, failed, off_reason in (
                (True, 998, 1, None),
                (False, 0, 0, None),
                (True, 12, 0, None),
                (False, 0, 1, RECEIVER_GONE),
                (False, 0, 0, takeovers.REASON),
            )
        ],
        "counted_max": 1000,
        "receiver": RECEIVER,
        "page": _HOOKS,
    },
    "webhooks/webhooks_new.html": {**CONSOLE, **_FIELDS, "page": _HOOKS},
    "webhooks/webhooks_secret.html": {
        **CONSOLE,
        "webhook": _WEBHOOK,
        "secret": _SECRET,
        "previous_until": NOW,
        "receiver": RECEIVER,
        "page": _HOOK,
    },
    "webhooks/webhooks_one.html": {
        **CONSOLE,
        "webhook": _WEBHOOK,
        "shown": WebhookHealth(
            webhook=_WEBHOOK,
            hours=_HOURS,
            p95_ms=1234,
            previous_until=NOW,
            last_failure_at=NOW,
            last_error=NAME,
            off_reason=RECEIVER_GONE,
            off_at=NOW,
        ),
        "plot": bars(
            ENGLISH,
            SERIES,
            [
                Point(
                    label=f"{hour.since:%Y-%m-%d %H:%M}",
                    counts=(hour.delivered, hour.waiting, hour.failed),
                    hrefs=(f"{_HOOK}/deliveries?state=delivered",) * 3,
                    name=f"{hour.since:%H:%M}" if hour.since.hour % 6 == 0 else "",
                )
                for hour in _HOURS
            ],
            unit="Deliveries",
        ),
        "tested": "webhook.test",
        "choices": CHOICES,
        "words": EVENTS,
        "receiver": RECEIVER,
        "tabs": _TABS,
        "page": _HOOK,
    },
    "webhooks/webhooks_settings.html": {
        **CONSOLE,
        **_FIELDS,
        "webhook": replace(_WEBHOOK, is_active=False),
        "off_reason": RECEIVER_GONE,
        "off_at": NOW,
        "previous_until": NOW,
        "tabs": _TABS,
        "page": _HOOK,
    },
    "webhooks/secrets.html": {
        **CONSOLE,
        "webhook": _WEBHOOK,
        "previous_until": NOW,
        "overlap_hours": 24,
        "page": _HOOK,
    },
    "webhooks/webhooks_deletion.html": {
        **CONSOLE,
        "webhook": _WEBHOOK,
        "kept": 10_001,
        "waiting": 3,
        "page": _HOOK,
    },
    "webhooks/deliveries.html": {
        **CONSOLE,
        "webhook": _WEBHOOK,
        "problems": {"since": PROBLEM, "until": ""},
        "query": DeliveriesPageQuery(state="failed", event="user.joined", since=NAME, choose="all"),
        "is_filtered": True,
        "found": FoundRows(
            found=[
                _LISTED,
                replace(_LISTED, delivered=True, next_retry_at=None, response_status_code=204, delivery_error=None),
                replace(_LISTED, event_type=NAME, next_retry_at=None, response_status_code=None),
            ],
            total=10_001,
            next=None,
        ),
        "results": [(ID, ""), (ID, PROBLEM)],
        "chosen": [],
        "states": STATES,
        "state_choices": [("", "Every state"), *((state.value, text) for state, (_, text) in STATES.items())],
        "event_choices": [("", "Every event"), *CHOICES],
        "words": EVENTS,
        "tabs": _TABS,
        "page": f"{_HOOK}/deliveries",
        "action": f"{_HOOK}/deliveries?state=failed",
        "choose_all": f"{_HOOK}/deliveries?choose=all",
        "file": f"{_HOOK}/deliveries/deliveries.csv",
        "first": f"{_HOOK}/deliveries",
        "next": f"{_HOOK}/deliveries?after=b",
    },
    "webhooks/deliveries_failed.html": {
        **CONSOLE,
        "problems": {"since": PROBLEM},
        "webhook": replace(_WEBHOOK, is_active=False),
        "failed": 10_001,
        "since": NAME,
        "redelivered_max": 10_000,
        "page": _HOOK,
    },
    "webhooks/deliveries_one.html": {
        **CONSOLE,
        "webhook": _WEBHOOK,
        "delivery": Delivery(
            id=_ID,
            webhook_id=_ID,
            webhook_name=NAME,
            event_type="user.joined",
            payload=_PAYLOAD,
            response_status_code=500,
            response_body=NAME,
            attempt_count=2,
            max_attempts=5,
            next_retry_at=NOW,
            delivered=False,
            delivery_error=NAME,
            created_at=NOW,
            updated_at=NOW,
        ),
        "attempts": [
            _ATTEMPT,
            replace(_ATTEMPT, status_code=500, response_body=NAME * 100, error="The receiver answered 500."),
            replace(_ATTEMPT, status_code=204, duration_ms=12, error=None),
        ],
        "state": ("warning", "Waiting"),
        "is_waiting": True,
        "words": EVENTS,
        "body": f'{{\n  "{NAME}": "{"x" * 400}"\n}}',
        "page": _HOOK,
    },
    "scim/tokens.html": {
        **CONSOLE,
        "problems": {"name": PROBLEM, "days": PROBLEM, "groups": PROBLEM},
        "tokens": [_TOKEN, replace(_TOKEN, last_used_at=None, expires_at=NOW)],
        "own_name": "Setup link",
        "at": NOW,
        "last_called_at": NOW,
        "token": "scim_live_67CA25_" + "M" * 43,
        "was_shown": False,
        "typed": ScimTokenForm(name=NAME),
        "lifetimes": LIFETIMES,
        "found_groups": FOUND_GROUPS,
        "lacks_creation": None,
        "kinds": directory_kinds.KINDS,
        "kind": directory_kinds.KINDS[1],
        "copies": copies_of("https://id.example.com/scim/v2"),
        "page": _PROVISIONING,
        "directory": f"{_ORGANIZATION}/people/directory",
    },
    "scim/tokens_revocation.html": {
        **CONSOLE,
        "ends": TokenEnds(token=_TOKEN, is_valid=True, others=0),
        "own_name": "Setup link",
        "page": _PROVISIONING,
    },
    "scim/tokens_calls.html": {
        **CONSOLE,
        "problems": {"since": PROBLEM, "until": ""},
        "query": CallsQuery(state="failed", since=NAME),
        "is_filtered": True,
        "found": FoundRows(
            found=[_CALL, replace(_CALL, status=204, detail=None, scim_type=None, user_name=None)], total=2, next=None
        ),
        "states": (("", "Every call"), ("failed", "Refused")),
        "retention_days": 30,
        "page": f"{_PROVISIONING}/calls",
        "file": f"{_PROVISIONING}/calls/calls.csv",
        "first": f"{_PROVISIONING}/calls",
        "next": f"{_PROVISIONING}/calls?after=b",
    },
    "audit/siem.html": {
        **CONSOLE,
        "problems": {"provider": "", "endpoint": PROBLEM, "token": PROBLEM, "options": PROBLEM},
        "stream": _STREAM,
        "throughput": SiemThroughput(sent_entries=1_234_567, last_sent_entries=500, waiting_since=NOW),
        "typed": SiemForm(siem_provider="splunk", endpoint=_URL, index=NAME),
        "kinds": receiver_kinds.KINDS,
        "kind": receiver_kinds.KINDS[0],
        "tested": NAME,
        "was_tested": True,
        "lacks_configuring": Capability.AUDIT_LOGS_VIEW,
        "page": _SIEM,
    },
    "audit/siem_restart.html": {
        **CONSOLE,
        "problems": {"since": PROBLEM},
        "stream": _STREAM,
        "since": NAME,
        "entries": 12,
        "page": _SIEM,
    },
    "audit/siem_deletion.html": {**CONSOLE, "stream": _STREAM, "page": _SIEM},
}
