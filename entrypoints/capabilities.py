"""The capabilities of the house: one line for each module of routes, in the order of the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entrypoints.http import health, metrics, openapi, signing_keys
from entrypoints.pages import assets, mailbox, reference

if TYPE_CHECKING:
    from entrypoints.http.routes import Route, Routes

EVERYWHERE: tuple[Routes, ...] = (
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
