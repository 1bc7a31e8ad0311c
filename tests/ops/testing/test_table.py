"""The table of tests that run when what they read has changed: it is complete, and a budget is filled in its order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ops.testing import table
from ops.testing.changes import ROOT, Changes, matches
from ops.testing.imports import python_files
from ops.testing.table import AT_ONCE, Entry, entries, long_tests, unchanged_in_gate

MARKS_LONG = re.compile(r"\bpytest\.mark\.long\b")


def changed(*files: str) -> Changes:
    """Return a change of these files."""
    return Changes(since="a commit", files=frozenset(files))


def test_every_module_with_a_long_test_has_a_line_which_says_what_it_reads_and_how_long_it_takes() -> None:
    marked = {
        file for file in python_files() if file.startswith("tests/") and MARKS_LONG.search((ROOT / file).read_text())
    }

    assert {entry.module for entry in entries("long")} == marked, "tests/when_changed.toml, [long]"
    assert [entry.module for entry in entries("long") if entry.seconds <= 0 or not entry.reads] == []


@pytest.mark.parametrize("kind", ["gate", "long"])
def test_every_pattern_names_a_file_and_every_module_exists(kind: str) -> None:
    files = [str(path.relative_to(ROOT)) for path in _files()]

    for entry in entries(kind):
        assert (ROOT / entry.module).exists(), entry.module
        unused = [pattern for pattern in entry.reads if not any(matches(file, pattern) for file in files)]
        assert unused == [], entry.module


def _files() -> list[Path]:
    tops = ("core", "ports", "adapters", "actors", "entrypoints", "tests", "ops")
    found = [path for top in tops for path in (ROOT / top).rglob("*") if path.is_file()]
    return [*found, *(path for path in ROOT.iterdir() if path.is_file())]


def test_a_module_is_due_when_what_it_reads_its_helpers_or_the_packages_have_changed() -> None:
    entry = Entry(module="tests/http/services/test_plans.py", reads=["core/services/"], seconds=1, needs_cluster=False)

    assert entry.is_due(changed("core/services/plans.py"))
    assert entry.is_due(changed("tests/http/services/test_plans.py"))
    assert entry.is_due(changed("tests/world/world.py"))
    assert entry.is_due(changed("tests/http/conftest.py"))
    assert entry.is_due(changed("pyproject.toml"))
    assert entry.is_due(Changes(since="not known", files=None))
    assert not entry.is_due(changed("core/billing/checkout.py", "tests/pages/conftest.py", "README.md"))


def test_the_budget_is_filled_in_the_order_of_the_table_and_what_is_left_out_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [
        Entry(module=f"tests/test_{name}.py", reads=["core/"], seconds=seconds, needs_cluster=False)
        for name, seconds in (("first", 30.0), ("too_long", 90.0), ("second", 40.0), ("third", 20.0))
    ]
    monkeypatch.setattr(table, "entries", lambda _kind: rows)

    chosen = long_tests(changed("core/limits.py"), budget_seconds=80 / AT_ONCE)

    assert [entry.module for entry in chosen.runs] == ["tests/test_first.py", "tests/test_second.py"]
    assert [entry.module for entry in chosen.left_out] == ["tests/test_too_long.py", "tests/test_third.py"]
    assert long_tests(changed("README.md")).runs == []


def test_the_gate_leaves_out_what_reads_nothing_that_has_changed() -> None:
    assert set(unchanged_in_gate(changed("README.md"))) == {
        entry.module for entry in entries("gate") if "README.md" not in entry.reads
    }
    assert "tests/adapters/schema" not in unchanged_in_gate(changed("adapters/postgres/schema/rewrap.py"))
    assert "tests/adapters/schema" not in unchanged_in_gate(changed("tests/adapters/schema/test_rewrap.py"))
    assert unchanged_in_gate(Changes(since="not known", files=None)) == []
