"""Spans of traces, and which of them is the present one: the port `Tracer`.

The present span is a context variable, so tasks and greenlets inherit it. Whether a trace is sampled is decided where
it begins, by the caller if that is trusted.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Mapping
from contextvars import ContextVar, Token
from dataclasses import field
from types import TracebackType
from typing import TYPE_CHECKING, Final, Protocol

from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.tracing import SpanKind

_SAMPLED: Final = 1
# W3C Trace Context, level 1: later versions may append fields.
_TRACEPARENT: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_VERSION: Final = "00"
_INVALID_VERSION: Final = "ff"


@dataclass(slots=True, kw_only=True)
class Span:
    """A span; ids are numbers, times nanoseconds of the clock of the system."""

    name: str
    kind: SpanKind
    trace: int
    id: int
    parent: int
    began_ns: int
    ended_ns: int = 0
    has_failed: bool = False
    attributes: dict[str, str | int] = field(default_factory=dict[str, str | int])

    @property
    def trace_id(self) -> str:
        return f"{self.trace:032x}"

    @property
    def traceparent(self) -> str:
        return f"{_VERSION}-{self.trace:032x}-{self.id:016x}-{_SAMPLED:02x}"

    def describe(
        self,
        *,
        name: str | None = None,
        has_failed: bool | None = None,
        attributes: Mapping[str, str | int] | None = None,
    ) -> None:
        if name is not None:
            self.name = name
        if has_failed is not None:
            self.has_failed = has_failed
        if attributes is not None:
            self.attributes.update(attributes)


class SpanQueue(Protocol):
    """Takes spans that have ended, without waiting."""

    def put(self, span: Span) -> None:
        """Take a span, or drop it."""
        ...


@dataclass(frozen=True, slots=True)
class RemoteParent:
    """The span of a caller, and whether its trace is sampled."""

    trace: int
    id: int
    is_sampled: bool


class _NotSampled:
    """Stands in place of a span in a trace that is not sampled, so that nothing in it begins another one."""


_NOT_SAMPLED: Final = _NotSampled()
_present: ContextVar[Span | _NotSampled | None] = ContextVar("span", default=None)


def remote_parent(traceparent: str) -> RemoteParent | None:
    """Return what the header names; None if it is malformed."""
    match = _TRACEPARENT.fullmatch(traceparent.strip())
    if match is None:
        return None
    version, trace, span, flags, further = match.groups()
    if version == _INVALID_VERSION or (version == _VERSION and further) or not int(trace, 16) or not int(span, 16):
        return None
    return RemoteParent(int(trace, 16), int(span, 16), bool(int(flags, 16) & _SAMPLED))


class SamplingTracer:
    """The port `Tracer`: samples a share of the traces that begin here."""

    def __init__(self, queue: SpanQueue, *, percent: int) -> None:
        self._queue = queue
        self._share = percent / 100

    def root(self, name: str, kind: SpanKind, *, traceparent: str | None = None) -> _Running:
        parent = remote_parent(traceparent) if traceparent is not None else None
        # Ids need not be secret: they open nothing.
        is_sampled = parent.is_sampled if parent is not None else random.random() < self._share  # noqa: S311
        if not is_sampled:
            return _Running(self._queue, None, marks=True)
        trace, parent_id = (parent.trace, parent.id) if parent is not None else (_new_id(128), 0)
        return _Running(self._queue, _begun(name, kind, trace, parent_id), marks=True)

    def child(self, name: str, kind: SpanKind) -> _Running:
        parent = _present.get()
        if not isinstance(parent, Span):
            return _Running(self._queue, None, marks=False)
        return _Running(self._queue, _begun(name, kind, parent.trace, parent.id), marks=True)

    @property
    def is_in_trace(self) -> bool:
        return _present.get() is not None

    @property
    def is_sampling(self) -> bool:
        return isinstance(_present.get(), Span)


class _Running:
    """A span, or none, that is the present one in a block and goes to the queue at its end."""

    __slots__ = ("_before", "_marks", "_queue", "_span")

    def __init__(self, queue: SpanQueue, span: Span | None, *, marks: bool) -> None:
        self._queue = queue
        self._span = span
        self._marks = marks
        self._before: Token[Span | _NotSampled | None] | None = None

    def __enter__(self) -> Span | None:
        if self._marks:
            self._before = _present.set(self._span if self._span is not None else _NOT_SAMPLED)
        return self._span

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._before is not None:
            _present.reset(self._before)
        if self._span is None:
            return
        self._span.ended_ns = time.time_ns()
        if error is not None:
            # The class alone: a message may quote a value.
            self._span.describe(has_failed=True, attributes={"error.type": type(error).__name__})
        self._queue.put(self._span)


def _begun(name: str, kind: SpanKind, trace: int, parent: int) -> Span:
    return Span(name=name, kind=kind, trace=trace, id=_new_id(64), parent=parent, began_ns=time.time_ns())


def _new_id(bits: int) -> int:
    # Zero is no id.
    return random.getrandbits(bits) or 1
