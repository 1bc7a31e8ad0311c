"""What the browsers of both audit logs share: the filter in the address, the values of the pages, files, and following.

`audit_log.py` has the pages of an organization, `entrypoints/pages/platform/audit_log.py` the pages of the platform.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import asdict
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
import trio
from quart import Response

from core.audit.browser import WAIT_SECONDS_MAX, AskedEntries, BrowsedEntries, NewEntries
from core.audit.entry_search import LOOKED_AT_MAX
from core.errors import BadRequest, Refusal
from core.ids import LAST_ID, id_or_none, moment_of
from core.lazy_dataclasses import dataclass
from core.log_times import time_of
from entrypoints.pages.console.audit_entries import ShownRow, rows_of
from entrypoints.pages.console.frame import with_query
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import page as rendered
from entrypoints.web.input.decoding import Query, number_of
from entrypoints.web.serving.calls import Call

LIVE: Final = "on"
# How often a page without scripts loads itself again.
REFRESH_SECONDS: Final = 10
# How many new entries one answer of the feed has.
NEW_MAX: Final = 100
COLUMNS: Final = (
    *("time", "action", "actor", "actor_id", "impersonator", "target_type", "target", "target_id"),
    *("ip_address", "user_agent", "request_id", "success", "details"),
)


class AuditQuery(Query, kw_only=True):
    """Which entries to show: the filter as a person has typed it, and where the list continues."""

    actor: Annotated[str, msgspec.Meta(description="An address, or the id of an actor.", max_length=254)] = ""
    action: Annotated[str, msgspec.Meta(description="An action, by its name.", max_length=100)] = ""
    target: Annotated[str, msgspec.Meta(description="The address or id that it was done to.", max_length=254)] = ""
    address: Annotated[str, msgspec.Meta(description="An IP address.", max_length=64)] = ""
    request: Annotated[str, msgspec.Meta(description="The id of a request.", max_length=128)] = ""
    since: Annotated[str, msgspec.Meta(description="The first day or time, in UTC.", max_length=40)] = ""
    until: Annotated[str, msgspec.Meta(description="The time before which it ends, in UTC.", max_length=40)] = ""
    before: Annotated[str, msgspec.Meta(description="The entry after which the page begins.", max_length=40)] = ""
    live: Annotated[str, msgspec.Meta(description="`on` follows the log.", max_length=3)] = ""
    seen: Annotated[str, msgspec.Meta(description="The newest entry that was shown before.", max_length=40)] = ""
    position: Annotated[str, msgspec.Meta(description="The position after which the feed goes on.", max_length=40)] = ""

    @property
    def asked(self) -> AskedEntries:
        """The filter."""
        return AskedEntries(
            actor=self.actor,
            action=self.action,
            target=self.target,
            address=self.address,
            request=self.request,
            since=self.since,
            until=self.until,
        )

    @property
    def before_id(self) -> UUID:
        """The id before which the page begins; a damaged one is the begin of the list."""
        return id_or_none(self.before) or LAST_ID

    @property
    def is_live(self) -> bool:
        """Whether the log is followed."""
        return self.live == LIVE

    @property
    def waits(self) -> bool:
        """Whether the feed waits for new entries; without a position it answers with the log's present one."""
        return bool(self.position)

    @property
    def number(self) -> int:
        """The position after which the feed continues; a damaged one is the beginning of the log."""
        return number_of(self.position)


@dataclass(frozen=True, slots=True, kw_only=True)
class Browser:
    """The pages of one log: the address of its list, and whether it is the platform's."""

    page: str
    is_platform: bool

    def values(
        self,
        query: AuditQuery,
        found: BrowsedEntries | None,
        *,
        position: int | str,
        actions: Iterable[tuple[str, str]],
        refusal: Refusal | None,
    ) -> dict[str, Any]:
        """Return the values of the page of the list, as `log`; `found` is None when the filter was refused."""
        kept = _typed(query.asked)
        rows = rows_of(found.found.entries, found.names, is_platform=self.is_platform) if found is not None else []
        newest = str(rows[0].id) if rows else query.seen
        following = found.found.next_id if found is not None else None
        bound = found.found.bound_id if found is not None and not found.found.has_more else None
        log = {
            "page": self.page,
            "live": query.is_live and found is not None,
            "is_refused": found is None,
            "query": query,
            "times": {name: _shown_time(getattr(query, name)) for name in ("since", "until")},
            "problems": problems_of(refusal),
            "actions": [("", marked("Every action")), *actions],
            "rows": rows,
            "chain": found.chain if found is not None else None,
            "total": found.found.total if found is not None else 0,
            "is_exact": found.found.is_exact if found is not None else True,
            "looked_at": LOOKED_AT_MAX,
            "looked_back_to": moment_of(bound) if bound is not None else None,
            "seen_id": id_or_none(query.seen),
            "is_filtered": not query.asked.is_empty,
            "first": with_query(self.page, **kept) if query.before else "",
            "next": with_query(self.page, **kept, before=following) if following is not None else "",
            "csv": with_query(f"{self.page}/entries.csv", **kept),
            "live_page": with_query(self.page, **kept, live=LIVE),
            "still_page": with_query(self.page, **kept),
            "again_page": with_query(self.page, **kept, live=LIVE, seen=newest),
            "feed": with_query(f"{self.page}/feed", **kept, position=str(position)),
            "refresh_seconds": REFRESH_SECONDS,
        }
        return {"log": log}

    def feed(self, call: Call, query: AuditQuery, new: NewEntries) -> Response:
        """Return new entries as rows, which the script of the page puts into its table."""
        rows = rows_of(new.entries, new.names, is_platform=self.is_platform)
        following = with_query(f"{self.page}/feed", **_typed(query.asked), position=str(new.position))
        return rendered(
            call,
            "audit/browser_feed.html",
            browser_page=self.page,
            is_platform=self.is_platform,
            query=query,
            rows=rows,
            seen_id=None,
            is_new=True,
            feed=following,
        )


def for_programs(query: AuditQuery) -> dict[str, str]:
    """Return the query of the interface that searches for the same, as far as it can."""
    times = {name: _shown_time(getattr(query, name)).replace(" ", "T") for name in ("since", "until")}
    return {
        "actor": query.actor,
        "action": query.action,
        "q": query.request or query.address,
        **{name: f"{time}:00Z" if time else "" for name, time in times.items()},
    }


async def follow(
    call: Call,
    log: UUID,
    read: Callable[[], Awaitable[NewEntries]],
    *,
    is_news: Callable[[NewEntries], bool],
    waits: bool,
) -> NewEntries:
    """Return what is new: as soon as there is something, and after `WAIT_SECONDS_MAX` at the latest, or now.

    `is_news` says whether it is something. Raise `TailsTaken` when too many wait. No connection to the database is held
    while waiting; each read is authorized anew.
    """
    installation = call.installation
    deadline = trio.current_time() + (WAIT_SECONDS_MAX if waits else 0)
    with installation.audit_tails.place(log):
        while True:
            new = await read()
            seconds = deadline - trio.current_time()
            # A request that waits would delay the end of the server.
            if is_news(new) or seconds <= 0 or installation.stopping.is_set():
                return new
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_cancel_at, installation.stopping, nursery.cancel_scope)
                await installation.audit_tails.wait(log, new.position, seconds)
                nursery.cancel_scope.cancel()


async def file_rows(
    read: Callable[[UUID], Awaitable[BrowsedEntries]], first: BrowsedEntries, *, is_platform: bool
) -> AsyncGenerator[list[tuple[Any, ...]]]:
    """Yield the rows of a file, some at a time; each read is authorized anew, so a file ends with the role."""
    part = first
    while True:
        rows = rows_of(part.found.entries, part.names, is_platform=is_platform)
        yield [_file_row(row, entry.details) for row, entry in zip(rows, part.found.entries, strict=True)]
        following = part.found.next_id
        if following is None:
            return
        part = await read(following)


async def _cancel_at(event: trio.Event, scope: trio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


def _file_row(row: ShownRow, details: dict[str, Any]) -> tuple[Any, ...]:
    return (
        *(row.at, row.action, row.actor.name or row.actor.kind, row.actor.search, row.actor.impersonator),
        *(row.target_type, row.target, row.target_id, row.ip_address, row.user_agent, row.request_id),
        *(not row.is_failed, msgspec.json.encode(details).decode()),
    )


def _typed(asked: AskedEntries) -> dict[str, str]:
    return {name: text for name, text in asdict(asked).items() if text}


def _shown_time(typed: str) -> str:
    """Return a time as a field of a form shows it, in UTC; a text that is no time stays as it was typed."""
    if not typed.strip():
        return ""
    try:
        return f"{time_of('since', typed):%Y-%m-%d %H:%M}"
    except BadRequest:
        return typed
