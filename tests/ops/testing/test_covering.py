"""Which tests cover a file of core: the tests of its areas, and what the record names besides."""

from __future__ import annotations

import json
from pathlib import Path

import coverage
import pytest

from ops.testing import covering as module
from ops.testing.covering import covering, record
from ops.testing.steps import Ended

ROLES = "core/organizations/roles.py"
ROUTES = "tests/web/serving/test_routes.py"
FORKING = "tests/test_forking.py"
HEALTH = "tests/http/platform/test_health.py"


@pytest.fixture
def the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty record, into which what is measured is written."""
    written = tmp_path / "covered-by.json"
    monkeypatch.setattr(module, "RECORD", written)

    # The data of the processes are together already.
    def combine(_command: object) -> Ended:
        return Ended(code=0, seconds=0.0, cpu_seconds=0.0, printed="")

    monkeypatch.setattr(module, "run", combine)
    return written


def measured(folder: Path, arcs: dict[str, list[tuple[int, int]]]) -> Path:
    """Return the data of a run in which each of these modules of tests reached some lines of a file."""
    data = coverage.CoverageData(str(folder / "data"))
    for test, reached in arcs.items():
        data.set_context(test)
        data.add_arcs({ROLES: reached})
    data.write()
    return folder / "data"


def test_the_record_names_few_modules_that_reach_what_the_tests_of_its_areas_do_not(
    the_record: Path, tmp_path: Path
) -> None:
    data = measured(
        tmp_path,
        {
            "": [(-1, 1)],
            "tests/core/organizations/test_roles.py": [(1, 2)],
            HEALTH: [(1, 2), (2, 3)],
            ROUTES: [(2, 3), (3, 4)],
            FORKING: [(4, 5)],
        },
    )

    record(data)

    assert json.loads(the_record.read_text()) == {ROLES: [ROUTES, FORKING]}
    assert {ROUTES, FORKING, "tests/core/organizations"} <= set(covering([ROLES]))
    assert HEALTH not in covering([ROLES])


def test_what_the_areas_cover_is_not_in_the_record(the_record: Path, tmp_path: Path) -> None:
    record(measured(tmp_path, {"tests/core/organizations/test_roles.py": [(1, 2)], HEALTH: [(1, 2)]}))

    assert json.loads(the_record.read_text()) == {}


@pytest.mark.parametrize("text", [None, json.dumps({ROLES: ["tests/gone/test_gone.py"]})])
def test_without_a_record_or_a_module_of_it_the_tests_of_the_areas_are_left(the_record: Path, text: str | None) -> None:
    if text is not None:
        the_record.write_text(text)

    assert "tests/core/organizations" in covering([ROLES])
    assert not any("gone" in each for each in covering([ROLES]))


def test_nothing_covers_no_file() -> None:
    assert covering([]) == ()
