"""Reading the feed of events, with a cursor that is kept where the product says: in its database, or in a file.

Each event comes at least once: the cursor is saved after the events of an answer were handled, so those of an answer
whose handling was broken off come again. Keep the cursor in the transaction of your changes, or ignore known ids.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gatehouse_client.calls import Call, query_of, segment
from gatehouse_client.clients import AsyncGatehouse, Calling, Gatehouse
from gatehouse_client.errors import Refused, Unreachable
from gatehouse_client.event_types import EventType
from gatehouse_client.steps import Steps, invoke, run, run_async, sleep
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

    def begin(self) -> Steps[None]:
        """Go to the place that was kept."""
        self.cursor = yield from invoke(self.feed.load)
        self.has_more = True

    def next_events(self, wait_seconds: int) -> Steps[list[Event]]:
        """Return the events after the cursor; while Gatehouse is away, pause and ask again, longer each time."""
        while True:
            try:
                answer = yield from self.calling.send(self._call(wait_seconds))
            except (Refused, Unreachable) as problem:
                if isinstance(problem, Refused) and not _passes(problem):
                    raise
                yield from sleep(self._pause_seconds)
                self._pause_seconds = min(self._pause_seconds * 2, PAUSE_SECONDS_MAX)
            else:
                self._pause_seconds = PAUSE_SECONDS_MIN
                self.cursor, self.has_more = answer["next_cursor"], answer["has_more"]
                return [event_of(payload) for payload in answer["events"]]

    def keep(self) -> Steps[None]:
        """Save the place after the events that were returned last."""
        yield from invoke(self.feed.save, self.cursor)

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

    def events(self, *, is_endless: bool = True) -> Generator[Event]:
        """Yield events as they happen; without `is_endless`, those that have happened.

        The cursor is saved when the event after an answer's last one is asked for. Raise `Refused` with status 410 when
        the cursor has expired: what was kept is not complete any more, so begin anew.
        """
        run(self._reading.begin(), self._io)
        while is_endless or self._reading.has_more:
            wait = WAIT_SECONDS_MAX if is_endless else 0
            yield from run(self._reading.next_events(wait), self._io)
            run(self._reading.keep(), self._io)


class AsyncFeedReader:
    """Reads a feed as `FeedReader` does, on asyncio or Trio."""

    def __init__(self, client: AsyncGatehouse, feed: Feed) -> None:
        self._io = client.io
        self._reading = _Reading(client.calling, feed)

    async def events(self, *, is_endless: bool = True) -> AsyncGenerator[Event]:
        """Yield events as they happen; without `is_endless`, those that have happened."""
        await run_async(self._reading.begin(), self._io)
        while is_endless or self._reading.has_more:
            wait = WAIT_SECONDS_MAX if is_endless else 0
            for event in await run_async(self._reading.next_events(wait), self._io):
                yield event
            await run_async(self._reading.keep(), self._io)
