"""What the gate asks after a change: the areas that it touches whole, of the others an eighth, and in CI everything."""

from __future__ import annotations

import pytest

from ops.testing.changes import Changes
from ops.testing.gate import COVERAGE, plan_of, plan_of_areas

ROLES = "core/organizations/roles.py"
EVERYTHING = Changes(since="a commit that is not known", files=None)


@pytest.fixture(autouse=True)
def coverage_of_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate measures the coverage of core alone."""
    monkeypatch.delenv(COVERAGE, raising=False)


def changed(*files: str) -> Changes:
    """Return a change of these files."""
    return Changes(since="abc", files=frozenset(files))


def test_the_areas_of_a_change_are_asked_whole_and_so_is_what_covers_it() -> None:
    plan = plan_of(changed(ROLES), is_whole=False)

    assert {"tests/core/organizations", "tests/http/organizations", "tests/pages/organizations"} <= set(
        plan.asked_whole
    )
    assert "tests/http/billing" not in plan.asked_whole
    assert plan.covered == [ROLES]
    assert "an eighth of those of other areas" in str(plan)


def test_a_changed_helper_of_tests_asks_the_modules_that_import_it() -> None:
    plan = plan_of(changed("tests/shuffling.py"), is_whole=False)

    assert "tests/test_shuffling.py" in plan.asked_whole
    assert plan.covered == []


@pytest.mark.parametrize("file", ["README.md", "ops/schema.sql"])
def test_a_change_outside_of_areas_asks_an_eighth_of_each(file: str) -> None:
    plan = plan_of(changed(file), is_whole=False)

    assert not any(each.startswith(("tests/http/", "tests/pages/")) for each in plan.asked_whole)
    assert plan.asked_whole


def test_other_packages_ask_all_tests() -> None:
    assert plan_of(changed("ops/requirements.lock"), is_whole=False).asked_whole == ()


def test_what_covers_a_change_is_not_left_out_although_it_reads_nothing_of_it() -> None:
    assert "tests/entrypoints/operator" in plan_of(changed("core/billing/prices.py"), is_whole=False).left_out
    assert "tests/entrypoints/operator" not in plan_of(changed("core/accounts/user_import.py"), is_whole=False).left_out


@pytest.mark.parametrize(("changes", "is_whole"), [(EVERYTHING, False), (changed(ROLES), True)])
def test_everything_is_asked_where_every_file_counts_as_changed_and_in_ci(changes: Changes, is_whole: bool) -> None:
    plan = plan_of(changes, is_whole=is_whole)

    assert (plan.asked_whole, plan.left_out, plan.types, plan.covered) == ((), (), None, None)
    assert "all tests" in str(plan)
    assert plan.loops > 2 * plan_of(changed(ROLES), is_whole=False).loops


def test_in_the_middle_of_a_change_only_its_areas_are_asked() -> None:
    plan = plan_of_areas(changed(ROLES))

    assert (plan.asked_whole, plan.covered) == ((), ())
    assert "tests/http/organizations" in plan.tests
