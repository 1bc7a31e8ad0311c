"""A queue of spans that keeps them, for tests that need no collector."""

from __future__ import annotations

from adapters.tracing.spans import Span


class KeptSpans:
    """The port `SpanQueue`."""

    def __init__(self) -> None:
        self.spans: list[Span] = []

    def put(self, span: Span) -> None:
        """Keep a span."""
        self.spans.append(span)

    def __getitem__(self, name: str) -> Span:
        """Return the one span with that name."""
        [span] = [span for span in self.spans if span.name == name]
        return span

    def names(self) -> list[str]:
        """Return the names of all spans, in the order in which they ended."""
        return [span.name for span in self.spans]
