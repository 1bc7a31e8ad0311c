"""Traces: the time that a request, its statements and its calls to others took, as spans for a collector.

A span has the name of a route template, of a kind of statement or of a method, and attributes of the same kind. It
never contains a path, a query, an id, an address, a value of a statement, or a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from enum import Enum
from typing import Protocol


class SpanKind(Enum):
    """What a span stands for."""

    SERVER = "server"
    CLIENT = "client"


class ActiveSpan(Protocol):
    """A span that has begun."""

    @property
    def trace_id(self) -> str:
        """The id of its trace, in hexadecimal digits."""
        ...

    @property
    def traceparent(self) -> str:
        """The header for requests to another system, by which its spans belong to the same trace."""
        ...

    def describe(
        self,
        *,
        name: str | None = None,
        has_failed: bool | None = None,
        attributes: Mapping[str, str | int] | None = None,
    ) -> None:
        """Set the name or the outcome, or add attributes."""
        ...


class Tracer(Protocol):
    """Begins spans, and hands those that have ended to a collector without waiting for it."""

    def root(
        self, name: str, kind: SpanKind, *, traceparent: str | None = None
    ) -> AbstractContextManager[ActiveSpan | None]:
        """Begin a trace, or continue the one that the header of a trusted caller names; None if it is not sampled.

        In the block, `child` finds this span, in this task and in those that it starts.
        """
        ...

    def child(self, name: str, kind: SpanKind) -> AbstractContextManager[ActiveSpan | None]:
        """Begin a span below the present one; None if there is none, or if its trace is not sampled."""
        ...

    @property
    def is_in_trace(self) -> bool:
        """Whether a trace has begun here, sampled or not."""
        ...

    @property
    def is_sampling(self) -> bool:
        """Whether a trace has begun here that is sampled."""
        ...
