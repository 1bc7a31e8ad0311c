"""Who may do what in an organization: capabilities, and the roles that hold them (decisions 5.4)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from core.memberships import ADMIN, MEMBER, OWNER

if TYPE_CHECKING:
    from collections.abc import Iterable


class Capability(StrEnum):
    """Something that a role may allow (decisions 5.4)."""

    ORG_SETTINGS_MANAGE = "org.settings.manage"
    ORG_MEMBERS_VIEW = "org.members.view"
    ORG_MEMBERS_MANAGE = "org.members.manage"
    ORG_ROLES_MANAGE = "org.roles.manage"
    BILLING_MANAGE = "billing.manage"
    SERVICES_VIEW = "services.view"
    SERVICES_CREATE = "services.create"
    SERVICES_MANAGE = "services.manage"
    END_USERS_VIEW = "end_users.view"
    END_USERS_MANAGE = "end_users.manage"
    WEBHOOKS_MANAGE = "webhooks.manage"
    INTEGRATIONS_MANAGE = "integrations.manage"
    AUDIT_LOGS_VIEW = "audit_logs.view"
    ANALYTICS_VIEW = "analytics.view"


_EVERYTHING: Final = frozenset(Capability)
# What the documents let any member do.
_VIEWS: Final = frozenset(
    {Capability.ORG_MEMBERS_VIEW, Capability.SERVICES_VIEW, Capability.END_USERS_VIEW, Capability.ANALYTICS_VIEW}
)
_BUILT_IN: Final = {OWNER: _EVERYTHING, ADMIN: _EVERYTHING, MEMBER: _VIEWS}


def capabilities_of(role: str, custom_permissions: Iterable[str] | None) -> frozenset[Capability]:
    """Say what a role allows; a custom role allows what it lists."""
    if role in _BUILT_IN:
        return _BUILT_IN[role]
    return frozenset(Capability(permission) for permission in custom_permissions or ())
