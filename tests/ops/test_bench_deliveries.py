"""The measurement of deliveries, with few of them."""

from __future__ import annotations

import pytest

from ops.benchmarks import deliveries


@pytest.mark.long
def test_every_figure_of_deliveries_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SECONDS", 1), ("FLOOD_EVENTS", 20), ("BACKLOG", 1_000), ("LEASES", 5)):
        monkeypatch.setattr(deliveries, name, value)
    lines: list[str] = []

    figures = deliveries.deliveries(lines.append)

    assert [figure.unit for figure in figures] == ["ms", "ms", "1/s", "ms", "ms", "ms", ""]
    assert all(figure.values.median > 0 for figure in figures[:-1])
    assert len(lines) == 4
