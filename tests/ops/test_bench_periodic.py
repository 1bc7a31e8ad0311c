"""`ops/bench --periodic`: the use cases of the actors, and how long their transactions took."""

from __future__ import annotations

from pathlib import Path

import pytest

from ops.benchmarks.periodic import PeriodicFigures, run_actors


@pytest.mark.long
async def test_the_actors_run_on_the_database_and_are_timed(database_url: str, tmp_path: Path) -> None:
    figures = await run_actors(tmp_path, database_url, seconds=1.0)

    assert "webhooks.sequencing.assign_positions" in figures.took_ms
    assert all(took > 0 for each in figures.took_ms.values() for took in each)


def test_the_table_marks_a_transaction_above_the_aim() -> None:
    table = PeriodicFigures(took_ms={"quick": [1.0, 3.0], "slow": [51.0]}).table().splitlines()

    assert "**over**" in table[2]
    assert table[2].startswith("| slow ")
    assert "| 2 " in table[3]
    assert "**over**" not in table[3]
