"""What the gate draws from a matrix: a part by the seed, which leaves no case out for ever."""

from __future__ import annotations

import pytest

from tests.sampling import SEED, drawn

CASES = list(range(10))


def test_without_a_seed_a_matrix_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SEED, raising=False)

    assert drawn(CASES) == CASES


def test_a_seed_draws_a_quarter_in_order_and_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SEED, "1")

    assert len(drawn(CASES)) == 3
    assert drawn(CASES) == sorted(drawn(CASES))
    assert drawn(CASES, "route") == drawn(CASES, "route")
    assert drawn([1]) == [1]
    assert drawn([]) == []


def test_each_route_has_other_callers_and_each_seed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SEED, "1")
    assert set().union(*(drawn(CASES, f"route {number}") for number in range(30))) == set(CASES)

    seen = set[int]()
    for seed in range(30):
        monkeypatch.setenv(SEED, str(seed))
        seen.update(drawn(CASES, "route"))
    assert seen == set(CASES)
