"""Files to download: JSON, and lists for spreadsheets.

Lists are streamed, have at most `ROWS_MAX` rows, and no cell that a spreadsheet would run. No cache keeps a file, which
is the default of every answer (`entrypoints/web/serving/answering/headers.py`).
"""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Final, TypeAlias

from quart import Response

from core.positions import Position, Row
from entrypoints.web.serving.answering.answers import JSON, Media, encode

CSV: Final = "text/csv"
CsvFile: TypeAlias = Annotated[Response, Media(CSV)]
ROWS_MAX: Final = 100_000
# How many rows are read at once; no connection to the database is held between two reads.
ROWS_AT_ONCE: Final = 1_000
# What spreadsheets read as the begin of a formula (OWASP, CSV injection); the apostrophe makes it a text.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
JsonFile: TypeAlias = Annotated[Response, Media(JSON)]


def csv_file(name: str, columns: Sequence[str], parts: AsyncGenerator[Iterable[Sequence[Any]]]) -> CsvFile:
    """Return the response that streams a list as a file of this name; `parts` are its rows, some at a time."""
    return Response(_lines(columns, parts), headers=as_file(f"{name}.csv"), content_type=f"{CSV}; charset=utf-8")


async def listed_file(
    name: str,
    columns: Mapping[str, Callable[[Row], Any]],
    read: Callable[[Position | None], Awaitable[Sequence[Row]]],
    *,
    after: Position | None,
) -> CsvFile:
    """Return the response that streams a list from a position on; `read` returns `ROWS_AT_ONCE` rows after another.

    A column has a name, and what it takes of a row.
    Each read is authorized anew, so a file ends with the role; the first is refused as a page is.
    """
    first = await read(after)

    async def parts() -> AsyncGenerator[list[Sequence[Any]]]:
        found = first
        while found:
            yield [[value(one) for value in columns.values()] for one in found]
            if len(found) < ROWS_AT_ONCE:
                return
            found = await read(found[-1].position)

    return csv_file(name, list(columns), parts())


def cell(value: Any) -> str:
    """Return a value as a cell: nothing for None, times in UTC, and a text that begins like a formula as a text."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int() | Decimal():
            # No formula, also with a sign.
            return str(value)
        case datetime():
            return value.astimezone(UTC).isoformat(timespec="seconds")
        case _:
            text = str(value)
            return f"'{text}" if text.startswith(_FORMULA) else text


async def _lines(columns: Sequence[str], parts: AsyncGenerator[Iterable[Sequence[Any]]]) -> AsyncIterator[bytes]:
    yield _written([columns])
    left = ROWS_MAX
    async with aclosing(parts):
        async for rows in parts:
            shown = [[cell(value) for value in row] for row in rows][:left]
            yield _written(shown)
            left -= len(shown)
            if left == 0:
                return


def _written(rows: Iterable[Sequence[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def as_file(name: str) -> dict[str, str]:
    """Return the header with which a browser saves an answer as a file of this name."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def json_file(name: str, value: Any) -> JsonFile:
    """Return the response that is a value as a JSON file of this name."""
    return Response(encode(value), headers=as_file(name), content_type=JSON)
