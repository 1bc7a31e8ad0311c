"""What statements read of who may come in, compared with the model of tenants in states of a small scope.

The states are drawn by their numbers, so the same ones are written everywhere (`tests/tenants/scope_states.py`); the
many of them by the seed of a report too (`tests/drawing.py`).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.unit_of_work import PostgresUnitOfWork, Tools
from core.sessions.origins import BACKGROUND
from tests.drawing import drawn_numbers
from tests.tenants.scope_reading import Reading
from tests.tenants.scope_rows import ScopeRows
from tests.tenants.scope_states import draw
from tests.tenants.scope_writing import write
from tests.tenants.undone import UndoneRule
from tests.tenants.undone_entitlement import OF_ROWS
from tests.world.builder import Builder

Compare = Callable[[int], list[str]]
STATES_OF_THE_GATE = range(24)
# So that several processes share them.
STATES, CHUNK = 2000, 250


@pytest.fixture
def compare(connection: Connection, tools: Tools, builder: Builder) -> Compare:
    """Write the state of a seed, and return where what is read of it differs from the model; nothing is kept."""
    rows = ScopeRows.insert(builder)

    def differences(seed: int) -> list[str]:
        state = draw(seed)
        connection.begin()
        try:
            uow = PostgresUnitOfWork(connection, BACKGROUND, tools)
            found = Reading(uow, rows, state, write(rows, state)).differences()
            return [f"seed {seed}: {one}" for one in found]
        finally:
            connection.rollback()

    return differences


@pytest.mark.hypothesis
def test_statements_read_what_the_model_says(compare: Compare) -> None:
    assert [one for seed in STATES_OF_THE_GATE for one in compare(seed)] == []


@pytest.mark.hypothesis
@pytest.mark.long
@pytest.mark.parametrize("first", range(0, STATES, CHUNK))
def test_statements_read_what_the_model_says_in_many_states(compare: Compare, first: int) -> None:
    assert [one for seed in drawn_numbers(range(first, first + CHUNK)) for one in compare(seed)] == []


@pytest.mark.hypothesis
@pytest.mark.long
@pytest.mark.parametrize("undone", OF_ROWS, ids=lambda undone: undone.rule)
def test_the_comparison_finds_that_a_rule_was_undone(
    compare: Compare, monkeypatch: pytest.MonkeyPatch, undone: UndoneRule
) -> None:
    undone.patch(monkeypatch)

    # The first of them are enough for most rules.
    assert any(compare(seed) for seed in drawn_numbers(range(STATES))), f"nothing was found in {STATES} states"
