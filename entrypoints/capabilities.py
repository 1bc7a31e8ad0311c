"""The capabilities of the house: one line for each module of routes, in the order of the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entrypoints.http import (
    devices,
    health,
    login,
    lookup,
    magic_links,
    metrics,
    mfa,
    openapi,
    passkeys,
    password_reset,
    passwords,
    profile,
    registration,
    sessions,
    signing_keys,
)
from entrypoints.pages import assets, mailbox, reference
from entrypoints.pages import email_changes as email_change_pages
from entrypoints.pages import magic_links as magic_link_pages
from entrypoints.pages import password_reset as password_reset_pages
from entrypoints.pages import verification as verification_pages

if TYPE_CHECKING:
    from entrypoints.http.routes import Route, Routes

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
    signing_keys.routes,
    health.routes,
    metrics.routes,
    reference.routes,
    openapi.routes,
    assets.routes,
)
DEVELOPMENT_ONLY: tuple[Routes, ...] = (mailbox.routes,)


def routes(*, is_development: bool) -> list[Route]:
    """List every route of the house."""
    chosen = EVERYWHERE + DEVELOPMENT_ONLY if is_development else EVERYWHERE
    return [route for capability in chosen for route in capability.routes]
