"""The results as Markdown tables, which are also readable in a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from ops.benchmarks.comparing import COMPARED, Row, Spread
from ops.benchmarks.single_caller import P99_MS_MAX, PAGE_P50_MS_MAX, QueryFigures
from ops.benchmarks.standing import StandingFigure

OVER: Final = "**over**"
FAILED: Final = "**failed**"
UNKNOWN: Final = "?"
# The heading and the number of decimals of each compared figure.
COLUMNS: Final = {
    "requests_per_second": ("requests/s", 0),
    "p50_ms": ("p50 ms", 2),
    "p99_ms": ("p99 ms", 2),
    "cpu_ms_per_request": ("CPU ms/request", 3),
    "python_megabytes": ("Python MB", 0),
    "whole_megabytes": ("whole MB", 0),
}


def machine_table(description: Mapping[str, str]) -> str:
    """Return the table of the machine."""
    return table(("measured on", ""), description.items())


def operations_table(rows: Sequence[Row], *, beside: str = "bare") -> str:
    """Return the costs of operations: each figure, and in parentheses its ratio to the reference's."""
    heading = ("operation", "connections", *(heading for heading, _ in COLUMNS.values()))
    lines: list[Sequence[str]] = []
    for index, row in enumerate(rows):
        if index == 0 or rows[index - 1].connections != row.connections:
            bare = [_number(row.bare_figure(name), decimals) for name, (_, decimals) in COLUMNS.items()]
            lines.append((beside, str(row.connections), *bare, "", "", str(row.bare_errors), "", ""))
        lines.append(_operation_line(row))
    return table((*heading, "CPU ratio, spread", "limit", "errors", "others", ""), lines)


def standing_table(figures: Sequence[StandingFigure]) -> str:
    """Return the table of the figures that are not about an operation."""
    lines = [
        (
            figure.name,
            f"{figure.values.median:.2f} {figure.unit}",
            f"{figure.values.least:.2f}–{figure.values.most:.2f}",
            figure.limit,
            OVER if figure.is_over else "",
        )
        for figure in figures
    ]
    return table(("", "median", "spread", "limit", ""), lines)


def queries_table(queries: Sequence[QueryFigures]) -> str:
    """Return how long one caller waits for each query, and which big tables were scanned for it."""
    lines = [
        (
            each.name,
            f"{each.p50_ms:.1f}",
            f"{each.p99_ms:.1f}",
            f"{each.cpu_ms:.1f}",
            f"{each.bytes_max / 1000:.1f}",
            ", ".join(each.read_whole) or "none",
            f"{each.others_share:.0%}",
            OVER if each.is_over else "",
        )
        for each in queries
    ]
    limits = f"p50 ms (page ≤ {PAGE_P50_MS_MAX:.0f})", f"p99 ms (≤ {P99_MS_MAX:.0f})"
    return table(("single caller", *limits, "CPU ms", "kB", "big tables scanned", "others", ""), lines)


def as_json(
    description: Mapping[str, str],
    rows: Sequence[Row],
    figures: Sequence[StandingFigure],
    queries: Sequence[QueryFigures] = (),
) -> dict[str, Any]:
    """Return all results, including every round."""
    return {
        "machine": dict(description),
        "operations": [
            {
                "name": row.operation.name,
                "connections": row.connections,
                "cpu_ratio_max": row.operation.cpu_ratio_max,
                "is_over": row.is_over,
                "errors": row.errors,
                "ratios": {name: _spread_as_json(row.ratio(name)) for name in COMPARED},
                "rounds": [asdict(each) for each in row.rounds],
            }
            for row in rows
        ],
        "standing": [asdict(figure) | {"is_over": figure.is_over} for figure in figures],
        "asked": [asdict(each) | {"is_over": each.is_over} for each in queries],
    }


def table(heading: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with aligned columns."""
    cells = [list(heading), *map(list, lines)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(heading))]
    cells.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in cells
    )


def _operation_line(row: Row) -> Sequence[str]:
    cells: list[str] = []
    for name, (_, decimals) in COLUMNS.items():
        ratio = row.ratio(name)
        cells.append(_number(row.figure(name), decimals) + ("" if ratio is None else f" ({ratio.median:.2f}×)"))
    spread, limit = row.ratio("cpu_ms_per_request"), row.operation.cpu_ratio_max
    return (
        row.operation.name,
        str(row.connections),
        *cells,
        UNKNOWN if spread is None else f"{spread.least:.2f}–{spread.most:.2f}",
        "" if limit is None else f"{limit:.2f}×",
        str(row.errors),
        f"{row.others_share:.0%}",
        " ".join(mark for mark, is_set in ((OVER, row.is_over), (FAILED, row.errors)) if is_set),
    )


def _number(values: Spread | None, decimals: int) -> str:
    return UNKNOWN if values is None else f"{values.median:,.{decimals}f}"


def _spread_as_json(spread: Spread | None) -> dict[str, float] | None:
    return None if spread is None else asdict(spread)
