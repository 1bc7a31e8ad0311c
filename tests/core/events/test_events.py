"""Events: a vocabulary with a grammar, which has every documented word."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from core.events.actions import AuditAction
from core.events.events import Event, EventType
from core.secrets import Secret

# Operations 6.1.
DOCUMENTED = {
    "user.login.success",
    "user.signup.success",
    "user.mfa.enabled",
    "user.mfa.disabled",
    "user.invited",
    "invitation.accepted",
    "invitation.declined",
    "invitation.revoked",
    "organization.owner.changed",
}
# Operations 6.3.
HEADINGS = {
    "user": "User management",
    "service": "Service management",
    "organization": "Organization management",
    "plan": "Plans",
    "subscription": "Subscriptions",
    "invitation": "Invitations",
    "security": "Security",
    "api_key": "API keys",
    "domain": "Domains and branding",
    "branding": "Domains and branding",
}


def event(**data: Any) -> Event:
    return Event(
        id=UUID(int=1),
        type=EventType.USER_LOGOUT,
        organization_id=None,
        actor_user_id=None,
        actor_email=None,
        data=data,
        occurred_at=datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC),
    )


def test_every_documented_event_can_be_subscribed_to() -> None:
    assert {event.value for event in EventType} >= DOCUMENTED


def test_whatever_the_audit_log_records_is_an_event_too() -> None:
    assert {action.value for action in AuditAction} <= {event.value for event in EventType}


@pytest.mark.parametrize("event", EventType)
def test_an_event_is_named_for_its_subject_and_what_happened(event: EventType) -> None:
    assert re.fullmatch(r"[a-z][a-z_]*(\.[a-z][a-z_]*){1,3}", event.value)
    assert event.name == event.value.replace(".", "_").upper()


@pytest.mark.parametrize("action", AuditAction)
def test_what_the_audit_log_records_stands_under_its_documented_heading(action: AuditAction) -> None:
    assert EventType(action.value).category == HEADINGS[action.value.partition(".")[0]]


@pytest.mark.parametrize("event", EventType)
def test_an_event_is_listed_with_its_words(event: EventType) -> None:
    assert asdict(event.item) == {
        "value": event.value,
        "label": event.label,
        "category": event.category,
        "description": event.description,
    }


@pytest.mark.parametrize("event", EventType)
def test_an_event_has_words_for_a_person(event: EventType) -> None:
    assert event.label[0].isupper()
    assert not event.label.endswith(".")
    assert event.description.endswith(".")


def test_an_event_is_found_by_its_name() -> None:
    assert EventType("user.logout") is EventType.USER_LOGOUT
    with pytest.raises(ValueError, match=r"user\.vanished"):
        EventType("user.vanished")


def test_an_event_carries_no_secret() -> None:
    assert event(reason="asked").data == {"reason": "asked"}
    with pytest.raises(AssertionError):
        event(token=Secret("s3cret"))
