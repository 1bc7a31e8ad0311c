"""Events: the grammar of their names, and the types on which receivers rely."""

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
# The heading of each subject, in the list of event types.
HEADINGS = {
    "account": "Security",
    "session": "Security",
    "user": "User management",
    "group": "Provisioning",
    "service": "Service management",
    "organization": "Organization management",
    "plan": "Plans",
    "subscription": "Subscriptions",
    "invitation": "Invitations",
    "security": "Security",
    "api_key": "API keys",
    "organization_key": "API keys",
    "domain": "Domains and branding",
    "branding": "Domains and branding",
    "workload": "API keys",
    "saml_configuration": "Single sign-on",
    "saml_certificate": "Single sign-on",
    "scim": "Provisioning",
    "scim_token": "Provisioning",
    "siem": "Audit log",
    "audit_log": "Audit log",
    "billing": "Billing",
    "webhook": "Webhooks",
    "upstream_connection": "Organization management",
    "connection": "Organization management",
    "domain_route": "Domains and branding",
    "customer": "Customers",
    "product_access": "Products",
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


def test_every_audit_action_is_also_an_event() -> None:
    assert {action.value for action in AuditAction} <= {event.value for event in EventType}


def test_an_event_is_named_by_its_subject_and_what_happened() -> None:
    for event_type in EventType:
        assert re.fullmatch(r"[a-z][a-z_]*(\.[a-z][a-z_]*){1,3}", event_type.value)
        assert event_type.name == event_type.value.replace(".", "_").upper()


def test_every_audit_action_is_listed_under_its_documented_heading() -> None:
    for action in AuditAction:
        assert EventType(action.value).category == HEADINGS[action.value.partition(".")[0]], action


def test_an_event_is_listed_with_its_label_and_description() -> None:
    for event_type in EventType:
        assert asdict(event_type.item) == {
            "value": event_type.value,
            "label": event_type.label,
            "category": event_type.category,
            "description": event_type.description,
        }


def test_an_event_has_a_readable_label_and_description() -> None:
    for event_type in EventType:
        assert event_type.label[0].isupper(), event_type
        assert not event_type.label.endswith("."), event_type
        assert event_type.description.endswith("."), event_type


def test_an_event_is_found_by_its_name() -> None:
    assert EventType("user.logout") is EventType.USER_LOGOUT
    with pytest.raises(ValueError, match=r"user\.vanished"):
        EventType("user.vanished")


def test_an_event_with_a_secret_is_rejected() -> None:
    assert event(reason="requested").data == {"reason": "requested"}
    with pytest.raises(AssertionError):
        event(token=Secret("s3cret"))
