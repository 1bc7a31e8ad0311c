"""Lists as files for spreadsheets: streamed, at most `ROWS_MAX` rows, and no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from contextlib import aclosing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from quart import Response

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence

CSV: Final = "text/csv"
ROWS_MAX: Final = 100_000
# How many rows are read at once; no connection to the database is held between two reads.
ROWS_AT_ONCE: Final = 1_000
# What spreadsheets read as the begin of a formula (OWASP, CSV injection); the apostrophe makes it a text.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_file(name: str, columns: Sequence[str], parts: AsyncGenerator[Iterable[Sequence[Any]]]) -> Response:
    """Return the response that streams a list as a file of this name; `parts` are its rows, some at a time."""
    response = Response(_lines(columns, parts), content_type=f"{CSV}; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    response.headers["Cache-Control"] = "no-store"
    return response


def cell(value: Any) -> str:
    """Return a value as a cell: nothing for None, times in UTC, and a text that begins like a formula as a text."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
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
