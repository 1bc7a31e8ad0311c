"""Requests to others as spans: the method and what the request is for, never its address.

The targets of organizations have secrets in their paths, and their names in their hosts, so a span names neither. It
says whether the receiver is asked to continue the trace: the services of organizations are, other parties are not.
"""

from __future__ import annotations

import httpx

from ports.tracing import SpanKind, Tracer


class TracedTransport(httpx.AsyncBaseTransport):
    """Sends by another transport; a span ends with the head of the answer."""

    def __init__(
        self, transport: httpx.AsyncBaseTransport, tracer: Tracer, *, purpose: str, passes_on: bool = False
    ) -> None:
        self._transport = transport
        self._tracer = tracer
        self._purpose = purpose
        self._passes_on = passes_on

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request."""
        # Background work begins a trace with it.
        begin = self._tracer.child if self._tracer.is_in_trace else self._tracer.root
        with begin(f"{request.method} {self._purpose}", SpanKind.CLIENT) as span:
            if span is None:
                return await self._transport.handle_async_request(request)
            span.describe(attributes={"http.request.method": request.method, "gatehouse.purpose": self._purpose})
            if self._passes_on:
                request.headers["traceparent"] = span.traceparent
            response = await self._transport.handle_async_request(request)
            span.describe(
                has_failed=response.status_code >= httpx.codes.BAD_REQUEST,
                attributes={"http.response.status_code": response.status_code},
            )
            return response

    async def aclose(self) -> None:
        """Close the transport."""
        await self._transport.aclose()
