"""Core's decision who may come in for which customer, compared with the model of tenants in every small state.

Two vendors, two customers, two people, two services: why the enumeration is of all of them is said in
`tests/tenants/small_scope.py`, what is compared in `tests/tenants/entitling.py`.
"""

from __future__ import annotations

from itertools import islice

import pytest

from tests.tenants.entitling import Share, differences
from tests.tenants.undone import UndoneRule
from tests.tenants.undone_entitlement import OF_VALUES

# Of all cases, one in so many; a prime, so that the cases of one share differ in everything.
ONE_IN_OF_THE_GATE = 251
# A search goes through all cases in shares: most rules are found in the first.
SHARES_TO_FIND = 11
# So that two processes share the whole.
SHARES = 4
SHOWN_MAX = 3


def test_core_decides_as_the_model_says() -> None:
    assert list(islice(differences(Share(0, ONE_IN_OF_THE_GATE)), SHOWN_MAX)) == []


@pytest.mark.long
@pytest.mark.parametrize("number", range(SHARES))
def test_core_decides_as_the_model_says_in_every_state(number: int) -> None:
    assert list(islice(differences(Share(number, SHARES)), SHOWN_MAX)) == []


@pytest.mark.long
@pytest.mark.parametrize("undone", OF_VALUES, ids=lambda undone: undone.rule)
def test_the_comparison_finds_that_a_rule_was_undone(monkeypatch: pytest.MonkeyPatch, undone: UndoneRule) -> None:
    undone.patch(monkeypatch)

    assert any(any(differences(Share(number, SHARES_TO_FIND))) for number in range(SHARES_TO_FIND))
