"""The member who made a key or a setup link, as the caller in whose place its holder calls."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from core.organizations.memberships import Membership
from core.organizations.organizations import Organization
from core.sessions.account import CallerAccount
from core.sessions.callers import Caller
from core.sessions.limits import CallerLimits
from core.sessions.places import CallerPlace
from core.sessions.session import CallerSession


def maker(
    credential_id: UUID,
    organization: Organization,
    membership: Membership,
    limits: CallerLimits,
    columns: dict[str, Any],
) -> Caller:
    """Return the maker; their account and when the credential was made are taken out of the columns of its row.

    A credential governs no platform, proves no factor and has no session: where one is named it is the credential.
    """
    return Caller(
        account=CallerAccount(
            id=membership.user_id,
            email=columns.pop("email"),
            email_verified_at=columns.pop("email_verified_at"),
            created_at=columns.pop("user_created_at"),
            is_disowned=columns.pop("is_disowned"),
        ),
        session=CallerSession(id=credential_id, amr=[], authenticated_at=columns.pop("made_at")),
        place=CallerPlace(
            organization_id=organization.id,
            organization_slug=organization.slug,
            organization_status=organization.status,
            role=membership.role,
            custom_permissions=columns["custom_permissions"],
        ),
        limits=limits,
    )
