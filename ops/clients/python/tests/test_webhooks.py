"""A delivery is accepted when Gatehouse has signed it with a secret of the webhook, within five minutes."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json

import pytest
from issuer import Clock

from gatehouse_client import WebhookRefused, WebhookVerifier, parse

OLD = "whsec_" + base64.b64encode(b"o" * 32).decode()
NEW = "whsec_" + base64.b64encode(b"n" * 32).decode()
BODY = json.dumps(
    {"id": "e1", "event": "user.joined", "timestamp": "2026-02-03T04:05:06Z", "data": {"user_id": "ann"}}
).encode()


def signature(secret: str, clock: Clock, body: bytes = BODY, *, age: int = 0) -> str:
    signed = f"e1.{int(clock()) - age}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def headers(clock: Clock, *signatures: str, age: int = 0) -> dict[str, str]:
    return {
        "Webhook-Id": "e1",
        "Webhook-Timestamp": str(int(clock()) - age),
        "Webhook-Signature": " ".join(signatures),
    }


def test_a_delivery_of_the_last_five_minutes_is_an_event(clock: Clock) -> None:
    verifier = WebhookVerifier(OLD, clock=clock)

    for age in (0, 300, -300):
        event = verifier.verify(headers(clock, signature(OLD, clock, age=age), age=age), BODY)

    assert (event.id, event.type, event.data) == ("e1", "user.joined", {"user_id": "ann"})
    assert event.timestamp.isoformat() == "2026-02-03T04:05:06+00:00"
    for age in (301, -301):
        with pytest.raises(WebhookRefused, match="five minutes"):
            verifier.verify(headers(clock, signature(OLD, clock, age=age), age=age), BODY)


def test_the_data_of_an_event_are_known_by_its_type(clock: Clock) -> None:
    event = WebhookVerifier(OLD, clock=clock).verify(headers(clock, signature(OLD, clock)), BODY)

    for payload in (parse(event), parse(json.loads(BODY))):
        assert payload["event"] == "user.joined"
        # A type checker knows the keys of this type here.
        assert payload["data"]["user_id"] == "ann"
    with pytest.raises(WebhookRefused):
        parse({"event": "user.joined"})


def test_what_happens_to_a_customer_is_known_by_its_type() -> None:
    customer = {"customer_id": "c1", "client_id": "s1", "service_slug": "shop", "external_id": "crm-7"}
    changes = [
        ("customer.connection_changed", {"provider_id": "p1", "state": "failing", "reason": "metadata expired"}),
        ("customer.domain_proved", {"domain": "globex.example"}),
        ("customer.domain_lost", {"domain": "globex.example", "reason": "proved by its organization"}),
        ("customer.directory_changed", {"scim_token_id": "t1", "state": "connected"}),
        ("customer.claimed", {"by": "customer", "vendor_setup": ["scim"]}),
    ]
    told: list[str] = []
    for number, (event, data) in enumerate(changes):
        about = {"id": str(number), "event": event, "timestamp": "2026-02-03T04:05:06Z"}
        body = parse({**about, "data": {**customer, **data}})
        # A type checker knows the keys of each type.
        match body["event"]:
            case "customer.connection_changed":
                told.append(f"{body['data']['state']}: {body['data'].get('reason')}")
            case "customer.domain_proved" | "customer.domain_lost":
                told.append(body["data"]["domain"])
            case "customer.directory_changed":
                told.append(body["data"]["state"])
            case "customer.claimed":
                told.append(", ".join(body["data"]["vendor_setup"]))
            case _:
                raise AssertionError(event)

    assert told == ["failing: metadata expired", "globex.example", "globex.example", "connected", "scim"]


def test_during_a_rotation_either_secret_and_either_signature_fits(clock: Clock) -> None:
    both = headers(clock, signature(NEW, clock), signature(OLD, clock))

    for verifier in (WebhookVerifier(OLD, clock=clock), WebhookVerifier([OLD, NEW], clock=clock)):
        assert verifier.verify(both, BODY).id == "e1"
    assert WebhookVerifier([OLD, NEW], clock=clock).verify(headers(clock, signature(NEW, clock)), BODY).id == "e1"
    with pytest.raises(WebhookRefused, match="no signature"):
        WebhookVerifier(OLD, clock=clock).verify(headers(clock, signature(NEW, clock)), BODY)


def test_anything_else_is_refused(clock: Clock) -> None:
    verifier = WebhookVerifier(OLD, clock=clock)
    good = headers(clock, signature(OLD, clock))

    for changed, body in (
        (good, BODY + b" "),
        (good | {"Webhook-Id": "e2"}, BODY),
        (good | {"Webhook-Timestamp": str(int(clock()) - 1)}, BODY),
        (good | {"Webhook-Timestamp": "now"}, BODY),
        (good | {"Webhook-Timestamp": "9" * 30}, BODY),
        (good | {"Webhook-Signature": signature(OLD, clock).removeprefix("v1,")}, BODY),
        (good | {"Webhook-Signature": "v1,é"}, BODY),
        ({}, BODY),
        (headers(clock, signature(OLD, clock, b"{")), b"{"),
        (headers(clock, signature(OLD, clock, b"[]")), b"[]"),
        (headers(clock, signature(OLD, clock, b"{}")), b"{}"),
    ):
        with pytest.raises(WebhookRefused):
            verifier.verify(changed, body)


def test_a_secret_that_is_none_is_not_taken_and_not_shown() -> None:
    for secrets in ("", "whsec_", "whsec_***", OLD.removeprefix("whsec_"), ()):
        with pytest.raises(ValueError, match="secret") as caught:
            WebhookVerifier(secrets)
        assert OLD.removeprefix("whsec_") not in str(caught.value)
    assert OLD not in repr(WebhookVerifier(OLD).__dict__)
