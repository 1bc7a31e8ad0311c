"""Lists of the console, each described once: where it is, what finds its rows, and its columns as a file.

    MEMBERS: Final = ConsoleList[ListedMember](
        path=PEOPLE,
        found=people.found,
        file="members",
        columns={"email": lambda one: one.email},
    )

    @routes.get(PEOPLE)
    @in_console(Operation.MEMBERS_LIST)
    async def show_people(call: Call, org_slug: str, query: PeopleQuery) -> Page:
        standing, found = await MEMBERS.opened(call, Operation.MEMBERS_LIST, org_slug, query=query)
        return console_page(call, "organizations/members.html", standing, **MEMBERS.values(query, found, org_slug), …)

    @routes.get(f"{PEOPLE}/members.csv")
    @in_console(Operation.MEMBERS_LIST)
    async def download_members(call: Call, org_slug: str, query: PeopleQuery) -> CsvFile:
        return await MEMBERS.csv(call, org_slug, query=query)

The fields of the query are the filters (`PagedQuery` of `frame.py`). The template has them in `console.filters`, and
the cells of a row in `console.rows`, which makes the table, the pager and what stands in place of no rows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar
from uuid import UUID

from core.errors import BadRequest, Refusal
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.standing import Standing
from core.positions import FoundRows, Listing, Position, Row
from entrypoints.pages.console.csv_files import ROWS_AT_ONCE, CsvFile, listed_file
from entrypoints.pages.console.frame import ROWS_SHOWN, PagedQuery, opened, with_query
from entrypoints.pages.frame.refusals import problem_of
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import path_with

Chosen = TypeVar("Chosen")
Result = TypeVar("Result")
# How many rows one form chooses; each is a transaction of its own.
CHOSEN_MAX: Final = 100

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class AskedQuery(Protocol):
    """The query of a list: its filters, as the fields of an address, and from where on it is shown."""

    @property
    def kept(self) -> dict[str, str]: ...

    @property
    def after(self) -> str: ...


class Rows(Protocol):
    """The rows of a page, with the position after which the next one begins; None at the end of the list."""

    @property
    def next(self) -> object: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleList(Generic[Row]):
    """A list: the path of its page, the use case that finds its rows, and the columns of its file.

    `found` takes the values of the path, and the filters of the query as keywords. A page that needs more than rows
    reads them by itself; then `listed` reads a part of the file, and takes `after` and `limit` as well. The file is
    called `<slug>-<name>.csv`, and is at `<file>.csv` beneath the page.
    """

    path: str
    # The template's name for the address of the page; on the pages of a service `page` is the service's address.
    called: str = "page"
    found: Callable[..., Listing[Row]] | None = None
    listed: Callable[..., Sequence[Row]] | None = None
    file: str = ""
    name: str = ""
    columns: Mapping[str, Callable[[Row], Any]] = field(default_factory=dict[str, Callable[[Row], Any]])

    def page(self, *at: str | UUID) -> str:
        """Return the address of the page, with the values of its path in their order."""
        return path_with(self.path, at)

    async def opened(
        self, call: Call, operation: Operation, slug: str, *at: str | UUID, query: PagedQuery
    ) -> tuple[Standing, FoundRows[Row]]:
        """Authorize the reader of a list of an organization, and return their standing and the rows of the page."""
        found = self.found
        assert found is not None, "the page reads this list by itself"

        def first_rows(uow: UnitOfWork, *at: str | UUID) -> FoundRows[Row]:
            return found(uow, *at, **query.filters).first(after=query.position, limit=ROWS_SHOWN)

        return await opened(call, slug, operation, first_rows, *at)

    def values(self, query: AskedQuery, found: Rows | None, *at: str | UUID) -> dict[str, Any]:
        """Return the values for the template of every list; `found` is None where a filter was refused."""
        page, kept = self.page(*at), query.kept
        return {
            "query": query,
            "found": found,
            self.called: page,
            "is_filtered": any(kept.values()),
            "file": with_query(f"{page}/{self.file}.csv", **kept) if self.file else "",
            **ways(page, kept, after=query.after, following=found.next if found is not None else None),
        }

    async def csv(self, call: Call, *at: str | UUID, query: PagedQuery) -> CsvFile:
        """Return the response that streams the list as a file, from the position of the query on."""
        listed = self.listed or self._part
        assert self.file, "this list has no file"

        async def read(after: Position | None) -> Sequence[Row]:
            return await call.read(listed, *at, **query.filters, after=after, limit=ROWS_AT_ONCE)

        name = "-".join([*map(str, at[:1]), self.name or self.file])
        return await listed_file(name, self.columns, read, after=query.position)

    def _part(
        self, uow: UnitOfWork, *at: str | UUID, after: Position | None, limit: int, **filters: Any
    ) -> Sequence[Row]:
        assert self.found is not None, "a list with a file is found or listed"
        return self.found(uow, *at, **filters).page(after=after, limit=limit)


def ways(page: str, kept: Mapping[str, Any], *, after: object, following: object) -> dict[str, Any]:
    """Return the links through a list, with its filters: to its beginning, and to the next page.

    `after` is where the page begins, empty for the first one; `following` is None on the last one.
    """
    return {
        "first": with_query(page, **kept) if after else "",
        "next": with_query(page, **kept, after=following) if following is not None else "",
    }


def each_once(rows: Iterable[Chosen], field: str, *, none: str, too_many: str) -> list[Chosen]:
    """Return the chosen rows of a field of a form, each once.

    Raise `BadRequest` with one of these messages for none and for more than `CHOSEN_MAX`.
    """
    chosen = list(dict.fromkeys(rows))
    if not chosen:
        raise BadRequest.of_field(field, none)
    if len(chosen) > CHOSEN_MAX:
        raise BadRequest.of_field(field, too_many)
    return chosen


async def attempted(change: Awaitable[Result]) -> tuple[Result | None, str]:
    """Change one of the chosen rows; return the result, None when it was refused, and what was refused, in English."""
    try:
        return await change, ""
    except Refusal as refusal:
        # Whatever it is: those before it are changed already, and their results must not be lost.
        return None, problem_of(refusal)
