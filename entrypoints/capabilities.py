"""The capabilities of Gatehouse: one line for each module of routes, in the order of the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entrypoints.http.accounts import password_reset, passwords, profile, registration
from entrypoints.http.audit import analytics, audit_log, platform_audit_log, siem
from entrypoints.http.credentials import devices, mfa, passkeys
from entrypoints.http.invitations import invitations
from entrypoints.http.organizations import members, organizations, ownership, roles
from entrypoints.http.platform import health, impersonation, metrics, owners, tiers, users
from entrypoints.http.platform import mfa as platform_mfa
from entrypoints.http.platform import organizations as platform_organizations
from entrypoints.http.privacy import privacy
from entrypoints.http.services import end_users, grants
from entrypoints.http.sessions import sessions, signing_keys
from entrypoints.http.sign_in import login, lookup, magic_links
from entrypoints.http.webhooks import deliveries, feed, webhooks
from entrypoints.pages import assets
from entrypoints.pages.accounts import email_changes as email_change_pages
from entrypoints.pages.accounts import password_reset as password_reset_pages
from entrypoints.pages.accounts import verification as verification_pages
from entrypoints.pages.invitations import invitations as invitation_pages
from entrypoints.pages.mail import mailbox
from entrypoints.pages.reference import reference
from entrypoints.pages.sign_in import magic_links as magic_link_pages
from entrypoints.web import openapi

if TYPE_CHECKING:
    from entrypoints.web.routes import Route, Routes

EVERYWHERE: tuple[Routes, ...] = (
    registration.routes,
    verification_pages.routes,
    login.routes,
    lookup.routes,
    sessions.routes,
    devices.routes,
    passwords.routes,
    password_reset.routes,
    password_reset_pages.routes,
    profile.routes,
    email_change_pages.routes,
    mfa.routes,
    passkeys.routes,
    magic_links.routes,
    magic_link_pages.routes,
    organizations.routes,
    members.routes,
    ownership.routes,
    roles.routes,
    grants.routes,
    invitations.routes,
    invitation_pages.routes,
    end_users.routes,
    webhooks.routes,
    deliveries.routes,
    feed.routes,
    audit_log.routes,
    siem.routes,
    analytics.routes,
    tiers.routes,
    platform_organizations.routes,
    platform_audit_log.routes,
    users.routes,
    platform_mfa.routes,
    owners.routes,
    impersonation.routes,
    privacy.routes,
    signing_keys.routes,
    health.routes,
    metrics.routes,
    reference.routes,
    openapi.routes,
    assets.routes,
)
DEVELOPMENT_ONLY: tuple[Routes, ...] = (mailbox.routes,)


def routes(*, is_development: bool) -> list[Route]:
    """List every route of Gatehouse."""
    chosen = EVERYWHERE + DEVELOPMENT_ONLY if is_development else EVERYWHERE
    return [route for capability in chosen for route in capability.routes]
