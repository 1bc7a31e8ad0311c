"""The caller and their membership in an organization, loaded in one statement, and makers of credentials as callers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from adapters.postgres.admissions import is_shown
from adapters.postgres.domains_in_force import IN_FORCE
from adapters.postgres.driver.columns import prefixed
from adapters.postgres.organizations.organizations import organization_row
from adapters.postgres.sessions.callers import CallersBySession, caller_row, reading_caller, reading_own_caller
from core.organizations.authorization import AccessContext
from core.organizations.organizations import Membership, Organization
from core.sessions.caller_limits import CallerLimits
from core.sessions.callers import Caller, CallerAccount, CallerSession
from core.sessions.places import CallerPlace

# The organization of the path and the membership in it; the session's context may be a different organization.
_PATH_COLUMNS: Final = f"""
    {prefixed(Organization, table="p", prefix="path_organization_")},
    {prefixed(Membership, table="pm", prefix="path_membership_")},
    pm.id IS NOT NULL AND pm.confirmed_at IS NULL AS is_unconfirmed,
    pm.suspended_at IS NOT NULL AS is_suspended,
    p.claimed_at IS NOT NULL AS is_claimed,
    pr.permissions       AS path_permissions,
    pm.role <> 'owner' AND NOT u.is_platform_owner AND u.disowned_at IS NULL AND s.impersonator_id IS NULL
    AND EXISTS (SELECT FROM domain_routes route
                JOIN   upstream_connections c ON c.organization_id = route.organization_id
                                             AND c.id = route.connection_id
                WHERE  route.organization_id = p.id AND route.domain = split_part(u.email, '@', 2)
                  AND  route.enforced AND {IN_FORCE} AND c.enabled
                  AND  s.connection_id IS DISTINCT FROM c.id)
                         AS is_single_sign_on_missing
    """
_PATH: Final = f"""
    LEFT   JOIN organizations p       ON p.slug = %(slug)s AND p.status <> 'deleting' AND {is_shown("p")}
    LEFT   JOIN memberships pm        ON pm.organization_id = p.id AND pm.user_id = u.id
    LEFT   JOIN organization_roles pr ON pr.organization_id = p.id AND pr.slug = pm.role
    """
CONTEXT: Final = reading_caller(_PATH_COLUMNS, _PATH)
OWN_CONTEXT: Final = reading_own_caller(_PATH_COLUMNS, _PATH)
# The fields by column, computed once, because finding them in every row takes as long as reading it.
_ORGANIZATION: Final = {f"path_organization_{name}": name for name in Organization.__dataclass_fields__}
_MEMBERSHIP: Final = {f"path_membership_{name}": name for name in Membership.__dataclass_fields__}


class PostgresAccess(CallersBySession):
    """The statement behind `UnitOfWork.access_context`."""

    def context(self, session_id: UUID, slug: str, *, is_limited: bool = False) -> AccessContext | None:
        """Load the caller of a live session and an organization with their membership; None when the session ended."""
        return self._of_session(_context, OWN_CONTEXT, CONTEXT, session_id, is_limited=is_limited, slug=slug)


def maker(
    credential_id: UUID,
    organization: Organization,
    membership: Membership,
    limits: CallerLimits,
    columns: dict[str, Any],
) -> Caller:
    """Return the member who made a key or a setup link; what tells about them is taken out of the columns of its row.

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


def _context(
    *,
    is_unconfirmed: bool,
    is_suspended: bool,
    is_claimed: bool,
    is_single_sign_on_missing: bool | None,
    path_permissions: list[str] | None,
    **columns: Any,
) -> AccessContext:
    organization, membership = _pop(columns, _ORGANIZATION), _pop(columns, _MEMBERSHIP)
    return AccessContext(
        caller=caller_row(**columns),
        organization=organization_row(**organization) if organization["id"] is not None else None,
        membership=Membership(**membership) if membership["id"] is not None else None,
        custom_permissions=path_permissions,
        is_unconfirmed=is_unconfirmed,
        is_suspended=is_suspended,
        is_claimed=is_claimed,
        is_single_sign_on_missing=bool(is_single_sign_on_missing),
    )


def _pop(columns: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {name: columns.pop(column) for column, name in names.items()}
