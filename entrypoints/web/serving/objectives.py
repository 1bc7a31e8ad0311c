"""Towards which objective of `ops/docs/monitoring.md` a request counts: sign-ins, and all other calls."""

from __future__ import annotations

from typing import Final

from core.errors import ErrorCode
from entrypoints.web.serving.routes import Route
from ports.metrics_of_work import RequestKind

# They are answered when something has happened: how long they take says nothing.
WAITING_ROUTES: Final = frozenset(
    {
        "/api/organizations/:slug/events",
        "/app/organizations/:org_slug/audit/feed",
        "/app/platform/audit/feed",
    }
)
# What a sign-in answers when an identity provider fails.
_OF_PROVIDERS: Final = frozenset({ErrorCode.OAUTH_ERROR, ErrorCode.PROVIDER_ERROR})


def kind_of(route: Route) -> RequestKind | None:
    """Return the kind of the requests of a route; None for probes, and for requests that wait for events."""
    if route.is_operational or route.path in WAITING_ROUTES:
        return None
    return RequestKind.SIGN_IN if route.use.is_sign_in else RequestKind.CALL


def may_fail_outside(route: Route) -> bool:
    """Whether a sign-in of this route may fail because of an identity provider."""
    return route.use.is_sign_in and any(refusal.code in _OF_PROVIDERS for refusal in route.refuses)
