"""The long tests that CI runs in turn: each run has a share of them, which its seed draws.

The longest ones belong to a part by `@pytest.mark.in_turn(part=…)`, and a run has one part. The modules of all others
are dealt into shares, and a run has one share. Without a seed all of them run, and one part by
`-m "in_turn(part='faults')"`.
"""

from __future__ import annotations

import os
from typing import Final

import pytest

SEED: Final = "GATEHOUSE_TEST_TURN"
# Seeds that follow each other draw each part and each share once. No number divides both lengths, so that every part
# meets every share.
PARTS: Final = (
    "faults",
    "later_cluster",
    "failover",
    "guides",
    "test_kit",
    "cluster",
    "cluster_areas",
    "cluster_requests",
)
SHARES: Final = 3


def part_of(item: pytest.Item) -> str | None:
    """Return the part to which a test belongs; None for one that belongs to none."""
    marker = item.get_closest_marker("in_turn")
    if marker is None:
        return None
    part = marker.kwargs["part"]
    assert part in PARTS, f"{item.nodeid}: a part is one of {', '.join(PARTS)}"
    return part


def in_turn(items: list[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests that run, and those whose turn it is not."""
    parts = [part_of(item) for item in items]
    if not (given := os.environ.get(SEED)):
        return items, []
    seed = int(given)
    drawn_part = PARTS[seed % len(PARTS)]
    # Modules that lie beside each other take about as long, so that neighbours go into different shares.
    modules = sorted({item.path for item, part in zip(items, parts, strict=True) if part is None and _is_dealt(item)})
    drawn_modules = set(modules[seed % SHARES :: SHARES])

    def runs(item: pytest.Item, part: str | None) -> bool:
        if part is not None:
            return part == drawn_part
        return item.path in drawn_modules or not _is_dealt(item)

    return (
        [item for item, part in zip(items, parts, strict=True) if runs(item, part)],
        [item for item, part in zip(items, parts, strict=True) if not runs(item, part)],
    )


def _is_dealt(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is not None
