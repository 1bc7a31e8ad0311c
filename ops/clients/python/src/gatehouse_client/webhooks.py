"""Receiving webhooks: whether Gatehouse has sent a delivery, and the event in it (Standard Webhooks).

A delivery may come twice: keep the ids of the events that you have handled, and ignore the second. The feed, from which
events are read instead, is in `feed.py`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, cast

from gatehouse_client.errors import WebhookRefused
from gatehouse_client.event_payloads import AnyEvent
from gatehouse_client.event_types import EventType

AGE_SECONDS_MAX: Final = 300.0
SIGNATURES_MAX: Final = 20
PREFIX: Final = "whsec_"
_ID, _TIMESTAMP, _SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that has happened. `payload` is the whole body, `data` what depends on the type.

    A newer Gatehouse may send types that this version of the package does not know.
    """

    id: str
    type: EventType
    timestamp: datetime
    data: Mapping[str, Any]
    payload: Mapping[str, Any] = field(repr=False)


class WebhookVerifier:
    """Verifies deliveries with the secret of a webhook, or with several while one replaces another."""

    def __init__(self, secrets: str | Sequence[str], *, clock: Callable[[], float] = time.time) -> None:
        listed = (secrets,) if isinstance(secrets, str) else tuple(secrets)
        self._keys = tuple(_key_of(secret) for secret in listed)
        if not self._keys:
            raise ValueError("a webhook is verified with at least one secret")
        self._clock = clock

    def verify(self, headers: Mapping[str, str], body: bytes) -> Event:
        """Return the event of a delivery; raise `WebhookRefused` when Gatehouse did not send it, or not now.

        `body` is what was received, byte by byte; the names of headers are in upper or lower case.
        """
        named = {name.lower(): value for name, value in headers.items()}
        missing = [name for name in (_ID, _TIMESTAMP, _SIGNATURE) if name not in named]
        if missing:
            raise WebhookRefused(f"the delivery has no {missing[0]}")
        self._require_age(named[_TIMESTAMP])
        signed = f"{named[_ID]}.{named[_TIMESTAMP]}.".encode() + body
        self._require_signature(signed, named[_SIGNATURE])
        return event_of(_parsed(body))

    def _require_age(self, timestamp: str) -> None:
        if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 16):
            raise WebhookRefused("the time of the delivery is no number")
        if abs(self._clock() - int(timestamp)) > AGE_SECONDS_MAX:
            raise WebhookRefused("the delivery is older than five minutes, or from the future")

    def _require_signature(self, signed: bytes, header: str) -> None:
        given = [text.encode() for text in header.split(" ")[:SIGNATURES_MAX]]
        expected = [b"v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)) for key in self._keys]
        if not any(hmac.compare_digest(one, other) for one in expected for other in given):
            raise WebhookRefused("no signature of the delivery is by one of the secrets")


def event_of(payload: Mapping[str, Any]) -> Event:
    """Return the event of a body, of a delivery or of the feed; raise `WebhookRefused` for anything else."""
    try:
        return Event(
            id=str(payload["id"]),
            type=payload["event"],
            timestamp=datetime.fromisoformat(payload["timestamp"]),
            data=payload["data"],
            payload=payload,
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise WebhookRefused("the body is no event") from problem


def parse(event: Event | Mapping[str, Any]) -> AnyEvent:
    """Return the body of an event, in which a type checker knows `data` by the type in `event`.

    Raise `WebhookRefused` for anything else. Whether the data fit the type is not checked; the data of a test delivery
    may have no key but `is_test`.
    """
    payload = event.payload if isinstance(event, Event) else event
    return cast("AnyEvent", event_of(payload).payload)


def _parsed(body: bytes) -> Mapping[str, Any]:
    try:
        payload: object = json.loads(body)
    except (ValueError, RecursionError) as problem:
        raise WebhookRefused("the body is no JSON") from problem
    if not isinstance(payload, dict):
        raise WebhookRefused("the body is no event")
    return cast("Mapping[str, Any]", payload)


def _key_of(secret: str) -> bytes:
    """Return the key of a secret; the secret itself is in no message."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(PREFIX) or not key:
        raise ValueError(f"the secret of a webhook begins with {PREFIX}, as Gatehouse has shown it")
    return key
