"""The parts of the long tests that CI runs in turn: each run has the one that its seed draws.

A test belongs to one by `@pytest.mark.in_turn(part=…)`. Without a seed all of them run, and one by
`-m "in_turn(part='faults')"`.
"""

from __future__ import annotations

import os
from typing import Final

import pytest

SEED: Final = "GATEHOUSE_TEST_TURN"
# Seeds that follow each other draw each of them once.
PARTS: Final = ("faults", "later_cluster", "failover", "guides")


def part_of(item: pytest.Item) -> str | None:
    """Return the part to which a test belongs; None for one that always runs."""
    marker = item.get_closest_marker("in_turn")
    if marker is None:
        return None
    part = marker.kwargs["part"]
    assert part in PARTS, f"{item.nodeid}: a part is one of {', '.join(PARTS)}"
    return part


def in_turn(items: list[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests that run, and those of the parts whose turn it is not."""
    parts = [part_of(item) for item in items]
    if not (seed := os.environ.get(SEED)):
        return items, []
    drawn = {None, PARTS[int(seed) % len(PARTS)]}
    return (
        [item for item, part in zip(items, parts, strict=True) if part in drawn],
        [item for item, part in zip(items, parts, strict=True) if part not in drawn],
    )
