"""What the gate asks of a matrix and of other areas: a fixed part, and by the seeds of reports each case once."""

from __future__ import annotations

import pytest

from tests.drawing import SEED
from tests.sampling import QUARTER, SAMPLE, WHOLE, drawn, is_asked

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


OF_BILLING = [f"tests/http/billing/test_billing.py::test_{number}" for number in range(1_000)]


def test_an_eighth_of_the_tests_of_an_area_is_asked_and_the_same_in_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WHOLE, "tests/http/organizations tests/core/billing/test_prices.py")

    asked = list(filter(is_asked, OF_BILLING))

    assert len(asked) == 122
    assert asked == list(filter(is_asked, OF_BILLING))


@pytest.mark.parametrize(
    "test",
    [
        "tests/http/organizations/test_roles.py::test_it",
        "tests/core/billing/test_prices.py::test_it",
        "tests/sources/test_times.py::test_it",
        "tests/adapters/statements/test_statements.py::test_it",
        "tests/pages/test_every_page.py::test_it",
        "tests/test_areas.py::test_it",
    ],
)
def test_what_a_change_touches_and_what_has_no_area_is_asked_whole(monkeypatch: pytest.MonkeyPatch, test: str) -> None:
    monkeypatch.setenv(WHOLE, "tests/http/organizations tests/core/billing/test_prices.py")

    assert all(is_asked(f"{test}[{number}]") for number in range(50))


def test_without_the_setting_every_test_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(WHOLE, raising=False)

    assert all(map(is_asked, OF_BILLING))
