"""The feed: an organization's events to be pulled, instead of received by a webhook."""

from typing import Annotated

import msgspec
import trio

from core.errors import BadRequest
from core.events.events import EventType
from core.organizations.access import Operation
from core.webhooks import events
from core.webhooks.events import LIMIT_DEFAULT, LIMIT_MAX, WAIT_SECONDS_MAX, CursorExpired, CursorMalformed, EventList
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "events",
    "The events of an organization to be pulled: the same payloads as webhooks receive, in an order that never skips an"
    " event. Send each `next_cursor` as the next `after`; with `wait` the answer comes as soon as there is an event.",
)

# An event that another process sequences wakes no request here, so a request looks again after this time.
LOOK_AGAIN_SECONDS = 1.0


class EventsQuery(Query, kw_only=True):
    """From where, of which types, how many at most, and how many seconds to wait for the first."""

    after: str | None = None
    types: str | None = None
    limit: Annotated[int, msgspec.Meta(ge=1)] = LIMIT_DEFAULT
    wait: Annotated[int, msgspec.Meta(ge=0)] = 0


@routes.get("/api/organizations/:slug/events", refuses=(CursorMalformed, CursorExpired))
@in_organization(Operation.EVENTS_READ)
async def read_events(call: Call, slug: str, query: EventsQuery) -> EventList:
    """Return the events after a cursor, the oldest first; without a cursor, from the oldest that is kept on.

    `types` is a comma-separated list of event types. A cursor is good for 90 days.
    """
    types = _types_of(query.types) if query.types is not None else None
    deadline = trio.current_time() + min(query.wait, WAIT_SECONDS_MAX)
    while True:
        page = await call.read(events.read, slug, after=query.after, types=types, limit=min(query.limit, LIMIT_MAX))
        seconds = min(deadline - trio.current_time(), LOOK_AGAIN_SECONDS)
        # A request that waits would delay the end of the server.
        if page.events or seconds <= 0 or call.installation.stopping.is_set():
            return page
        await call.installation.feed_waiters.wait(seconds)


def _types_of(text: str) -> list[EventType]:
    known = {str(event.value): event for event in EventType}
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BadRequest.of_field(
            "types", f"There is no event type {unknown[0]!r}. List them with webhooks/event-types."
        )
    return [known[name] for name in names]
