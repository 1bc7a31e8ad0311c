"""What the fields of webhooks, the feed, SIEMs and proofs of audit logs mean: a part of `descriptions.py`."""

from typing import Final

from core.attempts import ATTEMPTS_MAX
from core.audit.siem import OPTION_CHARACTERS_MAX, PREFIXES_MAX, TAGS_MAX, TOKEN_CHARACTERS_MAX
from core.outbound import URL_CHARACTERS_MAX
from core.webhooks.events import LIMIT_MAX, RETENTION, WAIT_SECONDS_MAX
from entrypoints.web.describing.described import Lines, field

_COUNT: Final = {"minimum": 0, "examples": [3]}
_TARGET: Final = {"format": "uri", "maxLength": URL_CHARACTERS_MAX}
_RECEIVER: Final = _TARGET | {"examples": ["https://hooks.example.com/gatehouse"]}
_EVENTS: Final = {"minItems": 1, "examples": [["user.invited", "invitation.accepted"]]}
_OPTION: Final = {"maxLength": OPTION_CHARACTERS_MAX}
_PREFIXES: Final = {"minItems": 1, "maxItems": PREFIXES_MAX, "examples": [["user.", "security."]]}

FIELDS: Final[Lines] = {
    # Searching the audit logs
    "entry_id": "The id of the entry.",
    "Entries.actor PlatformEntries.actor": field(
        "Only what was done by this actor: an email address, or an id as `actor.id` has it.",
        examples=["ada@example.com"],
    ),
    "Entries.since PlatformEntries.since": "Only entries that were written at this time or later.",
    "Entries.until PlatformEntries.until": "Only entries that were written before this time.",
    "Entries.q PlatformEntries.q": field(
        "Only what was done from this IP address, or by the request with this id.", examples=["203.0.113.7"]
    ),
    "before_id": "Only entries that are listed after the one with this id, which are older.",
    "looked_back_to": "From when on entries were looked at, if there are others before. It is there only with `actor`,"
    " `since`, `until`, `q` or `before_id`.",
    "looked_back_to_id": "The oldest entry that was looked at, if there are others before; send it as `before_id` to"
    " go on there.",
    # Webhooks
    "webhook_id": "The id of the webhook.",
    "webhook_name": "The name of the webhook.",
    "webhooks": "The webhooks, the oldest first.",
    "url": field("Where the events are sent: an http or https address that is not in a private network.", **_RECEIVER),
    "events": field("The event types that are sent.", **_EVENTS),
    "is_active": "Whether the webhook is active; an inactive one receives nothing.",
    "CreatedWebhook.secret": field(
        "The secret that verifies deliveries (Standard Webhooks), which is shown only once.",
        examples=["whsec_ZXhhbXBsZS1leGFtcGxlLWV4YW1wbGUtZXhhbXBsZQA="],
    ),
    # Deliveries
    "delivery_id": "The id of the delivery.",
    "deliveries": "The deliveries, the newest first.",
    "Delivery.event_type": field("The type of the event.", examples=["user.invited"]),
    "TestedEvent.event_type": "The type of event as which the test is sent.",
    "DeliveriesQuery.event_type": "Only deliveries of events of this type.",
    "payload": "The body that is sent: the event.",
    "response_status_code": "The status that the receiver answered the last attempt with; null without answer.",
    "response_body": "The beginning of that answer, at most 10,000 characters; null without answer.",
    "attempt_count": field("How many attempts were made.", **_COUNT),
    "max_attempts": field("How many attempts are made at most.", examples=[ATTEMPTS_MAX]),
    "next_retry_at": "When the next attempt is made; null when there is none.",
    "delivered": "Whether the receiver has answered an attempt with a status of 2xx.",
    "DeliveriesQuery.delivered": "Only deliveries that have arrived, or only those that have not.",
    "delivery_error": "Why the last attempt failed; null if it did not.",
    "since": "Deliveries that were created since this moment and have failed for good are sent again.",
    "queued": field("How many deliveries were queued again.", **_COUNT),
    # The feed
    "after": "A `next_cursor` of an earlier answer; without it, the list begins with the oldest event kept.",
    "types": field(
        "Only events of these types, separated by commas.", examples=["user.login.success,user.login.failed"]
    ),
    "EventsQuery.limit": field(
        f"At most how many events to list; more than {LIMIT_MAX} is lowered to {LIMIT_MAX}.", examples=[100]
    ),
    "wait": field(
        f"For how many seconds to wait for the first event; more than {WAIT_SECONDS_MAX} is lowered to"
        f" {WAIT_SECONDS_MAX}.",
        examples=[WAIT_SECONDS_MAX],
    ),
    "EventList.events": "The events, the oldest first, each as a webhook receives it.",
    "next_cursor": f"The cursor after these events, to send as `after` within {RETENTION.days} days.",
    "has_more": "Whether there are more events after these now.",
    # SIEM
    "SiemSettings.provider": field("The interface of the receiver.", examples=["http"]),
    "SiemConfiguration.provider": "The interface of the receiver.",
    "endpoint": field(
        "The address of the receiver, not in a private network.",
        **_TARGET,
        examples=["https://siem.example.com/gatehouse"],
    ),
    "SiemSettings.token": field(
        "The token that the receiver asks for. Without it, the receiver at the same address keeps its token; an empty"
        " one removes it.",
        maxLength=TOKEN_CHARACTERS_MAX,
        pattern="^[!-~]*$",
        examples=["ZXhhbXBsZS1leGFtcGxlLWV4YW1wbGUtZXhhbXBsZQA"],
    ),
    "SiemRestart.since": "The entries and sign-ins since this moment are sent again; null or left out for all of them.",
    "has_token": "Whether a token is stored.",
    "SiemSettings.options SiemConfiguration.options": "What the receiver gets besides the entries.",
    "SiemSettings.include": field(
        "What is sent: `audit` for the audit log, `sign_ins` for the sign-ins. Without it, a new receiver gets both,"
        " and another one what it got.",
        minItems=1,
        examples=[["audit", "sign_ins"]],
    ),
    "SiemConfiguration.include": "What is sent: the audit log, the sign-ins, or both.",
    "sign_ins_through": "Up to when all sign-ins were received; null for a receiver that gets none.",
    "event_filter": field(
        "Of the audit log, only actions that begin with one of these prefixes; null for all.", **_PREFIXES
    ),
    "SiemSettings.enabled SiemConfiguration.enabled": "Whether entries are sent.",
    "SiemConfiguration.status": "How the stream is doing; `waiting` means that nothing was sent yet.",
    "cursor": field("The position of the last entry that was received or left out by the filter.", **_COUNT),
    "lag": field("How many sealed entries come after the cursor.", **_COUNT),
    "start": "Where a new stream begins: with what happens from now on, or at the beginning of the log.",
    "index": field("The index at Splunk or Elastic; null for its default.", **_OPTION, examples=["security"]),
    "SiemOptions.source": field("The `source` at Splunk; null for `gatehouse`.", **_OPTION),
    "sourcetype": field(
        "The `sourcetype` at Splunk; null for `gatehouse:audit`, of sign-ins `gatehouse:sign_in`.", **_OPTION
    ),
    "SiemOptions.service": field("The `service` at Datadog; null for `gatehouse`.", **_OPTION),
    "tags": field("The tags at Datadog.", maxItems=TAGS_MAX, examples=[["env:production"]]),
    "compress": "Whether bodies are compressed with gzip.",
    "status_code": field("The status that the receiver answered; null without answer.", examples=[200]),
    "latency_ms": field("After how many milliseconds the answer came.", **_COUNT),
    # Proofs of audit logs
    "entries": field("How many entries the log has, sealed or not.", **_COUNT),
    "sealed_through": field("The position of the last entry in the chain; 0 for an empty chain.", **_COUNT),
    "pending": field(
        "How many entries of the log are not sealed yet: they are in no export and were sent to no SIEM. Usually they"
        " are sealed within seconds, after an upgrade from a version without chains within hours.",
        **_COUNT,
    ),
    "head": field(
        "A JWS by a published key that names this position and its hash.",
        examples=["eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"],
    ),
    "position": field("The position of the entry in the chain, from 1.", minimum=1),
    "actor_user_id": "The id of the user who did it; null for Gatehouse itself or a setup link.",
    "digests": "The SHA-256 digest of each personal field, by its name, such as `ip_address` or `details.reason`.",
    "salts": "The salt of each digest, in hexadecimal; anonymization removes it.",
    "previous_hash": "The hash of the entry before it; zeros for the first one.",
    "hash": "The SHA-256 hash of the entry and of the hash before it, in hexadecimal.",
    "sealed_at": "When that entry was sealed; null for an empty chain.",
}
