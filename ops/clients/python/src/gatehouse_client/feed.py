"""Reading the feed of events, with a cursor that is kept where the product says: in its database, or in a file.

Each event comes at least once: the cursor is saved after all events of an answer were handled, so when the handling is
interrupted they come again. Keep the cursor in the transaction of your changes, or ignore known ids.
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gatehouse_client.calls import Call, query_of, segment
from gatehouse_client.clients import AsyncGatehouse, Calling, Gatehouse
from gatehouse_client.errors import Refused, Unreachable
from gatehouse_client.event_types import EventType
from gatehouse_client.steps import Steps, invoke, now, run, run_async, sleep
from gatehouse_client.webhooks import Event, event_of

WAIT_SECONDS_MAX: Final = 20
LIMIT_MAX: Final = 500
PAUSE_SECONDS_MIN: Final = 1.0
PAUSE_SECONDS_MAX: Final = 60.0
_SERVER_ERROR: Final = 500
_TOO_MANY_REQUESTS: Final = 429


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """The feed of an organization, and where its cursor is kept. With async, both functions may be coroutine functions.

    `load` returns the cursor that was saved last, None to begin with the oldest event; `save` keeps one. `types` are
    the event types to read, all without it.
    """

    organization: str
    load: Callable[[], Any]
    save: Callable[[str], Any]
    types: Sequence[EventType] = ()


@dataclass
class _Reading:
    """A reader at its place in the feed, as steps."""

    calling: Calling
    feed: Feed
    cursor: str | None = None
    has_more: bool = True
    _pause_seconds: float = field(default=PAUSE_SECONDS_MIN)
    _stops_at: float | None = None

    def begin(self, stop_after: float | None) -> Steps[None]:
        """Go to the place that was kept, and note when to stop."""
        self._stops_at = None if stop_after is None else (yield from now()) + stop_after
        self.cursor = yield from invoke(self.feed.load)
        self.has_more = True

    def next_wait(self, *, is_endless: bool) -> Steps[int | None]:
        """Return for how many seconds to wait for the next events; None at the end."""
        left = yield from self._seconds_left()
        if left <= 0 or not (is_endless or self.has_more):
            return None
        return min(WAIT_SECONDS_MAX, math.ceil(left)) if is_endless else 0

    def next_events(self, wait_seconds: int) -> Steps[list[Event]]:
        """Return the events after the cursor; while Gatehouse is away, ask again after longer and longer pauses.

        Return none when it is still away at the time to stop.
        """
        while True:
            try:
                answer = yield from self.calling.send(self._call(wait_seconds))
            except (Refused, Unreachable) as problem:
                if isinstance(problem, Refused) and not _passes(problem):
                    raise
                left = yield from self._seconds_left()
                if left <= 0:
                    return []
                yield from sleep(min(self._pause_seconds, left))
                self._pause_seconds = min(self._pause_seconds * 2, PAUSE_SECONDS_MAX)
            else:
                self._pause_seconds = PAUSE_SECONDS_MIN
                self.cursor, self.has_more = answer["next_cursor"], answer["has_more"]
                return [event_of(payload) for payload in answer["events"]]

    def keep(self) -> Steps[None]:
        """Save the place after the events that were returned last, if there is one."""
        if self.cursor is not None:
            yield from invoke(self.feed.save, self.cursor)

    def _seconds_left(self) -> Steps[float]:
        return math.inf if self._stops_at is None else self._stops_at - (yield from now())

    def _call(self, wait_seconds: int) -> Call[Any]:
        types = ",".join(self.feed.types) or None
        query = query_of(after=self.cursor, types=types, limit=LIMIT_MAX, wait=wait_seconds)
        return Call(method="GET", path=f"/api/organizations/{segment(self.feed.organization)}/events", query=query)


def _passes(refusal: Refused) -> bool:
    return refusal.status >= _SERVER_ERROR or refusal.status == _TOO_MANY_REQUESTS


class FeedReader:
    """Reads a feed without async, with a client that has a key of the organization or a token of a member."""

    def __init__(self, client: Gatehouse, feed: Feed) -> None:
        self._io = client.io
        self._reading = _Reading(client.calling, feed)

    def events(self, *, is_endless: bool = True, stop_after: float | None = None) -> Generator[Event]:
        """Yield events as they happen, for ever; without `is_endless`, only the ones that have happened.

        With `stop_after`, end after this many seconds, when everything read until then was yielded. The cursor is saved
        when the event after an answer's last one is asked for. Raise `Refused` with status 410 when the cursor has
        expired: events in between are no longer available, so begin anew.
        """
        run(self._reading.begin(stop_after), self._io)
        while (wait := run(self._reading.next_wait(is_endless=is_endless), self._io)) is not None:
            yield from run(self._reading.next_events(wait), self._io)
            run(self._reading.keep(), self._io)


class AsyncFeedReader:
    """Reads a feed as `FeedReader` does, on asyncio or Trio."""

    def __init__(self, client: AsyncGatehouse, feed: Feed) -> None:
        self._io = client.io
        self._reading = _Reading(client.calling, feed)

    async def events(self, *, is_endless: bool = True, stop_after: float | None = None) -> AsyncGenerator[Event]:
        """Yield events as `FeedReader.events` does."""
        await run_async(self._reading.begin(stop_after), self._io)
        while (wait := await run_async(self._reading.next_wait(is_endless=is_endless), self._io)) is not None:
            for event in await run_async(self._reading.next_events(wait), self._io):
                yield event
            await run_async(self._reading.keep(), self._io)
