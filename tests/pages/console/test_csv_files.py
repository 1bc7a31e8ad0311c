"""Lists as files for spreadsheets."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any

import pytest

from entrypoints.pages.console import csv_files
from entrypoints.pages.console.csv_files import ROWS_MAX, cell, csv_file


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""),
        (True, "yes"),
        (False, "no"),
        (datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC), "2026-02-03T04:05:06+00:00"),
        ("ann@example.com", "ann@example.com"),
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM", "'@SUM"),
        ("\tx", "'\tx"),
        ("\r=x", "'\r=x"),
    ],
)
def test_a_cell_is_never_read_as_a_formula(value: Any, shown: str) -> None:
    assert cell(value) == shown


async def test_a_file_ends_after_its_maximum_of_rows() -> None:
    read: list[int] = []

    async def parts() -> AsyncGenerator[list[tuple[str, str]]]:
        for number in range(1_000):
            read.append(number)
            yield [(str(number), 'a "quoted", cell\nof two lines')] * 1_000

    response = csv_file("acme-members", ("number", "text"), parts())
    lines = b"".join([part async for part in csv_files._lines(("number", "text"), parts())])

    assert response.headers["Content-Disposition"] == 'attachment; filename="acme-members.csv"'
    assert lines.startswith(b'number,text\r\n0,"a ""quoted"", cell\nof two lines"\r\n')
    assert lines.count(b"\r\n") == ROWS_MAX + 1
    assert len(read) == ROWS_MAX // 1_000
