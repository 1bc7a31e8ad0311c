"""The audit vocabulary: which actions there are, and on which type of target each is done."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from core.events.actions import AuditAction, AuditEntry, TargetType
from core.secrets import Secret

# The actions by the type of their target. Customers filter and stream by these names, so none is renamed.
DOCUMENTED = {
    "user": {
        "user.invited",
        "user.joined",
        "user.removed",
        "user.role_updated",
        "user.anonymized",
        "user.exported",
        "user.impersonated",
        "account.locked",
        "session.revoked",
        # By a directory.
        "user.updated",
        "user.deactivated",
        "user.reactivated",
        # About people of customers of services.
        "customer.user_added",
        "customer.user_changed",
        "customer.user_removed",
        "security.mfa.enabled",
        "security.mfa.disabled",
        "security.password.changed",
    },
    "service": {
        "service.access_changed",
        "service.created",
        "service.updated",
        "service.deleted",
        "service.oauth_credentials.updated",
        "saml_configuration.updated",
        "saml_certificate.created",
    },
    "organization": {
        "organization.updated",
        "organization.claimed",
        # While its owner may restore it.
        "organization.deleted",
        "organization.restored",
        "organization.smtp.configured",
        "organization.smtp.removed",
        "domain.set",
        "domain.verified",
        "domain.deleted",
        "branding.updated",
        "organization.smtp.tested",
        "scim_token.created",
        "scim_token.revoked",
        "scim.kept",
        "siem.configured",
        "siem.removed",
        "siem.tested",
        "audit_log.exported",
        "billing.portal_opened",
        "webhook.tested",
        "webhook.redelivered",
        # Single sign-on.
        "upstream_connection.created",
        "upstream_connection.updated",
        "upstream_connection.deleted",
        "connection.certificates_replaced",
        "domain_route.created",
        "domain_route.updated",
        "domain_route.verified",
        "domain_route.deleted",
    },
    "group": {"group.created", "group.changed", "group.deleted"},
    # In the log of the vendor, and in the log of the customer.
    "customer": {
        "customer.offered",
        "customer.accepted",
        "customer.declined",
        "customer.paused",
        "customer.resumed",
        "customer.changed",
        "customer.ended",
        # For customers that a vendor makes.
        "customer.owner_named",
        "customer.claimed",
        "product_access.accepted",
        "product_access.declined",
        "product_access.paused",
        "product_access.resumed",
        "product_access.ended",
        "product_access.updated",
    },
    "plan": {"plan.created", "plan.updated", "plan.deleted"},
    "subscription": {"subscription.created", "subscription.updated", "subscription.canceled"},
    "invitation": {"invitation.accepted", "invitation.declined", "invitation.expired", "invitation.revoked"},
    "api_key": {
        "api_key.created",
        "api_key.deleted",
        "organization_key.created",
        "organization_key.deleted",
    },
    "workload": {"workload.created", "workload.deleted"},
}


def entry(**details: Any) -> AuditEntry:
    return AuditEntry(
        id=UUID(int=1),
        organization_id=UUID(int=2),
        actor_user_id=None,
        action=AuditAction.SERVICE_CREATED,
        target_id="3",
        ip_address=None,
        user_agent=None,
        success=True,
        details=details,
        created_at=datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC),
    )


def test_the_actions_are_the_documented_ones_with_their_targets() -> None:
    recorded: dict[str, set[str]] = {}
    for action in AuditAction:
        recorded.setdefault(action.target_type.value, set()).add(action.value)

    assert recorded == DOCUMENTED


def test_the_target_types_are_the_documented_ones() -> None:
    documented = {
        "user",
        "service",
        "organization",
        "plan",
        "subscription",
        "invitation",
        "api_key",
        "domain",
        "branding",
        "group",
        "customer",
        "workload",
    }

    assert {kind.value for kind in TargetType} == documented


@pytest.mark.parametrize("action", AuditAction)
def test_the_name_of_an_action_follows_from_its_value(action: AuditAction) -> None:
    assert action.name == action.value.replace(".", "_").upper()
    assert AuditAction(action.value) is action


def test_an_entry_with_a_secret_is_rejected() -> None:
    assert entry(service_name="Shop").details == {"service_name": "Shop"}
    with pytest.raises(AssertionError):
        entry(client_secret=Secret("s3cret"))
