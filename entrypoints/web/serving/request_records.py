"""What is kept of each request: its line in the log, and its part in the metrics and objectives of the service.

A request counts towards one of the objectives of `ops/docs/monitoring.md`: sign-ins, and all other calls.
"""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

import structlog

from core.errors import ErrorCode
from entrypoints.installation import Installation
from entrypoints.logs import REQUESTS
from entrypoints.web.serving.admission.limit_refusals import limit_of
from entrypoints.web.serving.exchanges import GatehouseRequest
from entrypoints.web.serving.routes import Route
from ports.metrics_of_work import RequestKind

UNMATCHED: Final = "unmatched"
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

request_log = structlog.get_logger(REQUESTS)


class RequestRecords:
    """Counts and logs the requests of these routes."""

    def __init__(self, installation: Installation, routes: Iterable[Route]) -> None:
        self._installation = installation
        self._kinds = {route: kind_of(route) for route in routes}
        for route in filter(may_fail_outside, self._kinds):
            installation.metrics.may_fail_outside(route.path)

    def add(self, request: GatehouseRequest, status: int | None, seconds: float) -> None:
        """Count the request and write its access log line, which never contains a path, query, header or body."""
        route = request.route
        path = route.path if route is not None else UNMATCHED
        # Callers can make these answers at will, so no alert on 5xx may count them.
        is_external = request.refusal is not None and request.refusal.code.is_external
        if status is not None:
            kind = self._kinds.get(route) if route is not None else None
            self._installation.metrics.request_finished(
                request.method, path, status, seconds, is_external=is_external, kind=kind
            )
            if request.refusal is not None and (limited := limit_of(request.refusal)) is not None:
                self._installation.metrics.limit_refused(*limited)
        if not self.logs(status):
            return
        about = {
            "method": request.method,
            "route": path,
            "duration_ms": round(seconds * 1000, 2),
            "ip_address": request.call.address,
            "caller": request.call.caller_name,
        }
        if request.call.oauth_client is not None:
            about["client_id"] = str(request.call.oauth_client[0])
        if status is None:
            # The client disconnected before the response.
            request_log.info("request.abandoned", **about)
            return
        # Probes arrive every few seconds; logging each of them would bury the other lines.
        write = request_log.debug if route is not None and route.is_operational else request_log.info
        if request.refusal is not None:
            about["error_code"] = request.refusal.code.name
            if request.call.oauth_error is not None:
                about["oauth_error"] = request.call.oauth_error
            if is_external:
                about["is_external"] = True
            # Why, where the answer must not say it: a sign-in is refused alike for every account.
            if request.refusal.reason is not None:
                about["reason"] = request.refusal.reason
        write("request", status=status, **about)

    def logs(self, status: int | None) -> bool:
        """Return whether the setting asks for a line about a request with this answer; None means no answer."""
        match self._installation.settings.log_requests:
            case "all":
                return True
            case "failed":
                return status is None or status >= HTTPStatus.BAD_REQUEST
            case _:
                return False


def kind_of(route: Route) -> RequestKind | None:
    """Return the kind of the requests of a route; None for probes, and for requests that wait for events."""
    if route.is_operational or route.path in WAITING_ROUTES:
        return None
    return RequestKind.SIGN_IN if route.use.is_sign_in else RequestKind.CALL


def may_fail_outside(route: Route) -> bool:
    """Whether a sign-in of this route may fail because of an identity provider."""
    return route.use.is_sign_in and any(refusal.code in _OF_PROVIDERS for refusal in route.refuses)
