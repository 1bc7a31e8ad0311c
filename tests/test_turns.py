"""Which of the long parts a run has: the one that its seed draws, or all."""

from __future__ import annotations

import pytest

from tests.turns import PARTS, SEED, SHARES, in_turn, part_of


def test_seeds_that_follow_each_other_draw_each_part_once(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    request.node.add_marker(pytest.mark.in_turn(part="faults"))
    runs = list[bool]()
    for seed in range(1_000, 1_000 + len(PARTS)):
        monkeypatch.setenv(SEED, str(seed))
        run, left_out = in_turn([request.node])
        assert run + left_out == [request.node]
        runs.append(bool(run))

    assert sorted(runs) == [False] * (len(PARTS) - 1) + [True]


def test_what_is_neither_long_nor_in_a_part_always_runs(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(len(PARTS) * SHARES):
        monkeypatch.setenv(SEED, str(seed))
        assert in_turn([request.node]) == ([request.node], [])


def test_seeds_that_follow_each_other_draw_each_module_with_long_tests_once(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [item for item in request.session.items if item.get_closest_marker("long") and part_of(item) is None]
    request.node.add_marker(pytest.mark.long)
    items.append(request.node)
    drawn = list[pytest.Item]()
    for seed in range(1_000, 1_000 + SHARES):
        monkeypatch.setenv(SEED, str(seed))
        drawn += in_turn(items)[0]

    assert sorted(item.nodeid for item in drawn) == sorted(item.nodeid for item in items)


def test_without_a_seed_every_part_runs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SEED, raising=False)
    request.node.add_marker(pytest.mark.in_turn(part="faults"))

    assert in_turn([request.node]) == ([request.node], [])


def test_an_unknown_part_is_refused(request: pytest.FixtureRequest) -> None:
    request.node.add_marker(pytest.mark.in_turn(part="fault"))

    with pytest.raises(AssertionError, match="a part is one of faults, later_cluster"):
        in_turn([request.node])
