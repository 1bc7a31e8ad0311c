"""The results as Markdown tables, which are also readable in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ops.benchmarks.figures import Figure

OVER: Final = "**over**"
UNKNOWN: Final = "?"


def machine_table(description: Mapping[str, str]) -> str:
    """Return the table of the machine."""
    return table(("measured on", ""), description.items())


def figures_table(figures: Sequence[Figure]) -> str:
    """Return the table of figures with their limits."""
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


def table(heading: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with aligned columns."""
    cells = [list(heading), *map(list, lines)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(heading))]
    cells.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in cells
    )
