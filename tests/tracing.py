"""Coverage of use cases, each of which has a stack of its own: the tracer changes when the stack does.

Coverage can follow stacks by itself (`concurrency = greenlet`), but then asks at every call which one it is on, whoever
is called, and that made the tests take twice as long. Stacks change a thousand times less often.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

import greenlet

if TYPE_CHECKING:
    from types import FrameType


class Follower:
    """Gives each stack of a thread a tracer of its own, which remembers where that stack stood."""

    def __init__(self, first: Any) -> None:
        # Coverage's beginning: it makes a tracer and puts it into its own place.
        self._first = first
        self._left: dict[greenlet.greenlet, Any] = {}
        self._idle: list[Any] = []

    def __call__(self, event: str, stacks: tuple[greenlet.greenlet, greenlet.greenlet]) -> None:
        """Hear that one stack was left for another."""
        left, entered = stacks
        tracer = sys.gettrace()
        if left.dead:
            self._idle.append(tracer)
        else:
            self._left[left] = tracer
        sys.settrace(self._left.pop(entered) if entered in self._left else self._new())

    def _new(self) -> Any:
        return self._idle.pop() if self._idle else self._first


def follow_stacks() -> None:
    """Follow the stacks of this thread and of all that are started, if anything is traced at all."""
    first = threading.gettrace()
    if first is None:
        return

    def begin(frame: FrameType, event: Any, arg: Any) -> Any:
        greenlet.settrace(Follower(first))
        return first(frame, event, arg)

    threading.settrace(begin)
    greenlet.settrace(Follower(first))
