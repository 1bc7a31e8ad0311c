"""What the gate asks of a matrix: a fixed part, and by the seeds of reports each case once."""

from __future__ import annotations

import pytest

from tests.drawing import SEED
from tests.sampling import QUARTER, SAMPLE, drawn

CASES = list(range(10))


@pytest.fixture
def quarter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for the part of the gate."""
    monkeypatch.setenv(SAMPLE, QUARTER)
    monkeypatch.delenv(SEED, raising=False)


def test_without_the_setting_a_matrix_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SAMPLE, raising=False)

    assert drawn(CASES) == CASES


@pytest.mark.usefixtures("quarter")
def test_the_part_is_a_quarter_in_order_and_the_same_in_each_run() -> None:
    assert drawn(CASES) == [1, 2, 9]
    assert drawn(CASES, "route") == drawn(CASES, "route")
    assert drawn([1]) == [1]
    assert drawn([]) == []


def test_no_other_part_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SAMPLE, "12345")

    with pytest.raises(AssertionError, match="quarter or nothing"):
        drawn(CASES)


@pytest.mark.usefixtures("quarter")
def test_each_route_has_other_callers_and_each_report_too(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set().union(*(drawn(CASES, f"route {number}") for number in range(30))) == set(CASES)

    seen = set[int]()
    for seed in range(30):
        monkeypatch.setenv(SEED, str(seed))
        seen.update(drawn(CASES, "route"))
    assert seen == set(CASES)
