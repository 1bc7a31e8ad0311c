"""What the pages of jobs share, of an organization and of the platform: their words, their queries and their files."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec

from core.organizations.bulk_jobs import ROWS_MAX, JobKind, JobRow, JobState, RowState, ShownJob
from core.positions import FoundRows
from entrypoints.pages.console_pages import PagedQuery, with_query
from entrypoints.pages.csv_files import ROWS_AT_ONCE, CsvFile, csv_file
from entrypoints.pages.forms import DoneQuery
from entrypoints.pages.languages import marked
from entrypoints.web.input.decoding import number_of

# How often the page of a job that goes on loads itself again.
AGAIN_SECONDS: Final = 3
ROWS_SHOWN: Final = 50
KINDS: Final = {
    JobKind.MEMBERS_CHANGE: marked("Change the roles of members"),
    JobKind.MEMBERS_REMOVE: marked("Remove members"),
    JobKind.INVITATIONS_SEND: marked("Invite people"),
    JobKind.ORGANIZATIONS_APPROVE: marked("Approve organizations"),
    JobKind.ORGANIZATIONS_REJECT: marked("Reject organizations"),
}
STATES: Final = {
    JobState.RUNNING: ("info", marked("Running")),
    JobState.FINISHED: ("good", marked("Finished")),
    JobState.STOPPED: ("warning", marked("Stopped")),
    JobState.ENDED: ("bad", marked("Ended early")),
}
ROW_STATES: Final = {
    RowState.WAITING: ("info", marked("Waiting")),
    RowState.DONE: ("good", marked("Done")),
    RowState.REFUSED: ("bad", marked("Refused")),
}
_COLUMNS: Final = ("number", "row", "state", "problem")


class JobQuery(DoneQuery, kw_only=True):
    """Which rows of a job to show."""

    state: Annotated[str, msgspec.Meta(description="Only rows in this state.", max_length=50)] = ""
    after: Annotated[str, msgspec.Meta(description="The number of a row: only those behind it.", max_length=10)] = ""

    @property
    def wanted(self) -> RowState | None:
        """The state; None for every state, also for a word that is none."""
        return RowState(self.state) if self.state in set(RowState) else None

    @property
    def number(self) -> int:
        """The number after which the rows begin; 0 where it is damaged."""
        return min(number_of(self.after), ROWS_MAX)


def list_values(page: str, query: PagedQuery, found: FoundRows[Any]) -> dict[str, Any]:
    """Return the values of the template of a list of jobs."""
    return {
        "found": found,
        "kinds": KINDS,
        "states": STATES,
        "page": page,
        "first": page if query.after else "",
        "next": with_query(page, after=found.next) if found.next is not None else "",
    }


def job_values(page: str, query: JobQuery, shown: ShownJob) -> dict[str, Any]:
    """Return the values of the template of a job; `again` is where it loads itself again, empty when it has ended."""
    return {
        "job": shown.job,
        "rows": shown.listed,
        "query": query,
        "kinds": KINDS,
        "states": STATES,
        "row_states": ROW_STATES,
        "again": with_query(page, state=query.state, after=query.after) if shown.job.is_running else "",
        "again_seconds": AGAIN_SECONDS,
        "page": page,
        "file": with_query(f"{page}/rows.csv", state=query.state),
        "first": with_query(page, state=query.state) if query.number else "",
        "next": with_query(page, state=query.state, after=shown.next) if shown.next is not None else "",
    }


async def rows_file(job_id: UUID, read: Callable[[int, int], Awaitable[ShownJob]]) -> CsvFile:
    """Return the response that streams the rows of a job; `read` returns those after a number, at most so many."""
    first = await read(0, ROWS_AT_ONCE)

    async def parts() -> AsyncGenerator[Iterable[Sequence[Any]]]:
        shown = first
        yield [_row(one) for one in shown.listed]
        while shown.next is not None:
            shown = await read(shown.next, ROWS_AT_ONCE)
            yield [_row(one) for one in shown.listed]

    return csv_file(f"job-{job_id}", _COLUMNS, parts())


def _row(one: JobRow) -> Sequence[Any]:
    return (one.number, one.label, one.state.value, one.problem)
