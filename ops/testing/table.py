"""The tests that run when what they read has changed: `tests/when_changed.toml` says what that is, and how long."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from ops.testing.changes import ROOT, Changes
from ops.testing.imports import helpers_of, python_files

TABLE: Final = ROOT / "tests/when_changed.toml"
# What everything reads.
EVERYTHING: Final = ("pyproject.toml", "ops/requirements-test.lock", "ops/requirements.lock", "ops/prepare")
# How long the long tests of CI may take, and how much of their seconds passes at once in processes beside each other.
BUDGET_SECONDS: Final = 12 * 60
AT_ONCE: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A module or a folder of tests: what it reads besides its own helpers, and how long it takes."""

    module: str
    reads: Sequence[str]
    seconds: float
    needs_cluster: bool

    def is_due(self, changed: Changes) -> bool:
        """Return whether what it reads has changed."""
        if changed.touch(EVERYTHING) or changed.touch(self.reads):
            return True
        if changed.files is None:
            return True
        modules = [file for file in python_files() if file == self.module or file.startswith(f"{self.module}/")]
        return any(not changed.files.isdisjoint(helpers_of(module)) for module in modules)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The long tests that a change asks for: the ones there is time for, and the ones left to `ops/report`."""

    runs: Sequence[Entry]
    left_out: Sequence[Entry]


@cache
def entries(kind: str) -> Sequence[Entry]:
    """Return the modules of a kind, `gate` or `long`, in the order of the table."""
    table: Mapping[str, Mapping[str, Any]] = tomllib.loads(TABLE.read_text())[kind]
    return [
        Entry(
            module=module,
            reads=row["reads"],
            seconds=float(row.get("seconds", 0)),
            needs_cluster=row.get("cluster", False),
        )
        for module, row in table.items()
    ]


def unchanged_in_gate(changed: Changes) -> Sequence[str]:
    """Return the modules that the gate leaves out, because nothing that they read has changed."""
    return [entry.module for entry in entries("gate") if not entry.is_due(changed)]


def long_tests(changed: Changes, *, budget_seconds: float = BUDGET_SECONDS) -> Selection:
    """Return the long tests that a change asks for, filled into the budget in the order of the table."""
    runs, left_out, left = list[Entry](), list[Entry](), budget_seconds * AT_ONCE
    for entry in entries("long"):
        if not entry.is_due(changed):
            continue
        if entry.seconds <= left:
            runs.append(entry)
            left -= entry.seconds
        else:
            left_out.append(entry)
    return Selection(runs=runs, left_out=left_out)
