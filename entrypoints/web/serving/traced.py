"""The application where traces are on: each request is a span with the template of its route.

Without them, `application.py` serves alone, and nothing here is imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import structlog

from entrypoints.installation import Installation
from entrypoints.web.input.client_addresses import is_trusted_peer
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.request_records import UNMATCHED
from entrypoints.web.serving.routes import Route
from ports.tracing import SpanKind, Tracer

if TYPE_CHECKING:
    from quart import Response


METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER: Final = "_OTHER"
_FAILURE: Final = 500


class TracedApplication(Application):
    """Serves the declared routes, and traces the requests."""

    def __init__(self, installation: Installation, routes: Iterable[Route], *, tracer: Tracer, **further: Any) -> None:
        super().__init__(installation, routes, **further)
        self._tracer = tracer

    async def handle_request(self, request: Any) -> Response:
        """Return the response to one request."""
        # The client chooses the method and, of a trace, whether it is sampled; a stranger decides neither.
        method = request.method if request.method in METHODS else OTHER
        with self._tracer.root(method, SpanKind.SERVER, traceparent=self._traceparent(request)) as span:
            if span is None:
                return await super().handle_request(request)
            with structlog.contextvars.bound_contextvars(trace_id=span.trace_id):
                response = await super().handle_request(request)
            route = request.route.path if request.route is not None else UNMATCHED
            span.describe(
                name=f"{method} {route}",
                has_failed=response.status_code >= _FAILURE,
                attributes={
                    "http.request.method": method,
                    "http.route": route,
                    "http.response.status_code": response.status_code,
                },
            )
            return response

    def _traceparent(self, request: Any) -> str | None:
        """Return the header if it comes from a trusted proxy."""
        trusted = self.installation.settings.trusted_proxies
        if not trusted or not is_trusted_peer(request.remote_addr, trusted):
            return None
        # Of several, none is to be used (W3C Trace Context, 3.2).
        given: list[str] = request.headers.getlist("traceparent")
        return given[0] if len(given) == 1 else None
