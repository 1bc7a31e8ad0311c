"""The processor time of the tests by folder, and of the dearest tests, printed at the end of a run.

It sums up the processes which run the tests, the programs that they wait for, and the PostgreSQL of the
session; a browser counts where it ends. Processor time depends less than duration on what else the machine does.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Generator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

import pytest

# Below tests/: `http/organizations`, `core/billing`.
FOLDER_PARTS: Final = 2
SECONDS_SHOWN_MIN: Final = 1.0
DEAREST_SHOWN: Final = 12
NAME_CHARACTERS_MAX: Final = 150
# The modules of tests that have changed, separated by blanks: their dear tests are named even where others are dearer.
CHANGED: Final = "GATEHOUSE_TEST_CHANGED"
CHANGED_SHOWN_MIN: Final = 0.3
# PostgreSQL's processes are asked at each change of the folder, and otherwise not sooner: asking takes 0.3 ms.
READ_SECONDS_MIN: Final = 1.0
OF_THE_SESSION: Final = "(starting, ending)"
_OUTPUT: Final = "costs"
# Of /proc/<pid>/stat after the name: the times of the process and of the children that it has waited for.
_TIMES: Final = slice(11, 15)
_TICKS: Final = os.sysconf("SC_CLK_TCK")
# The PostgreSQL of the session. It outlives the process that starts it, so that none waits for it.
_postmasters: list[int] = []


def count_postgres(postmaster: int) -> None:
    """Count what a PostgreSQL takes from now on, with the processes of its connections."""
    _postmasters.append(postmaster)


class Costs:
    """The processor time of a session, in a process that runs tests or in the one that collects from these."""

    def __init__(self) -> None:
        # By folder, and of it PostgreSQL.
        self.seconds = defaultdict[str, float](float)
        self.postgres = defaultdict[str, float](float)
        self.tests = defaultdict[str, float](float)
        self.dearest = defaultdict[str, float](float)
        self._changed = frozenset(os.environ.get(CHANGED, "").split())
        self._folder = OF_THE_SESSION
        self._own_counted = 0.0
        self._postgres_counted = 0.0
        self._postgres_read_at = time.monotonic()
        self._own_at_end: float | None = None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Count the test with its fixtures; fixtures of a module or session count for its first and last test."""
        folder = _folder_of(item.nodeid)
        if folder != self._folder:
            self._count_postgres()
            self._folder = folder
        began, own = time.monotonic(), _own()
        try:
            return (yield)
        finally:
            spent = (self._own_at_end or _own()) - own
            self.tests[folder] += 1
            self._own_counted += spent
            self.seconds[folder] += spent
            self.dearest[item.nodeid] += spent + self._of_postgres_since(began)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, nextitem: pytest.Item | None) -> Generator[None]:
        """Count what ends after the last test for no folder."""
        if nextitem is None:
            self._count_postgres()
            self._own_at_end = _own()
        return (yield)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand on what a worker has counted."""
        if hasattr(session.config, "workeroutput") or not session.config.getoption("processes"):
            self.seconds[OF_THE_SESSION] += _own() - self._own_counted
        else:
            # Of its own: what it has waited for is in what the processes have counted.
            self.seconds[OF_THE_SESSION] += time.process_time()
        if (output := getattr(session.config, "workeroutput", None)) is not None:
            output[_OUTPUT] = {name: dict(counted) for name, counted in self._all().items()} | {
                "dearest": dict([*_largest(self.dearest)[:DEAREST_SHOWN], *self._dear_of_changed()])
            }

    def add(self, output: Mapping[str, Any]) -> None:
        """Add what a process that ran tests has counted."""
        for name, counted in output.get(_OUTPUT, {}).items():
            for key, number in counted.items():
                self._all()[name][key] += number

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print a line for each folder and for the dearest tests."""
        if len(self.tests) < FOLDER_PARTS:
            return
        terminalreporter.section("CPU seconds by folder, and of them PostgreSQL")
        for folder, seconds in _largest(self.seconds):
            if seconds >= SECONDS_SHOWN_MIN:
                number = f" ({self.tests[folder]:,.0f} tests)" if folder in self.tests else ""
                terminalreporter.write_line(f"{seconds:7.1f} {self.postgres[folder]:7.1f}  {folder}{number}")
        all_seconds, all_postgres = sum(self.seconds.values()), sum(self.postgres.values())
        terminalreporter.write_line(f"{all_seconds:7.1f} {all_postgres:7.1f}  together")
        terminalreporter.section("CPU seconds of the dearest tests")
        for test, seconds in _largest(self.dearest)[:DEAREST_SHOWN]:
            terminalreporter.write_line(f"{seconds:7.1f}  {test[:NAME_CHARACTERS_MAX]}")
        if dear := self._dear_of_changed()[:DEAREST_SHOWN]:
            terminalreporter.section("CPU seconds of the dearest tests that are new or have changed")
            for test, seconds in dear:
                terminalreporter.write_line(f"{seconds:7.1f}  {test[:NAME_CHARACTERS_MAX]}")

    def _dear_of_changed(self) -> list[tuple[str, float]]:
        """Return the dear tests of the changed modules, the dearest first."""
        of_changed = {
            test: seconds for test, seconds in self.dearest.items() if test.partition("::")[0] in self._changed
        }
        return [(test, seconds) for test, seconds in _largest(of_changed) if seconds >= CHANGED_SHOWN_MIN]

    def _all(self) -> dict[str, defaultdict[str, float]]:
        return {"seconds": self.seconds, "postgres": self.postgres, "tests": self.tests, "dearest": self.dearest}

    def _of_postgres_since(self, began: float) -> float:
        """Return what PostgreSQL took for a test that began then; 0 for a short one, for which it is not asked."""
        since = self._postgres_read_at
        now = time.monotonic()
        if self._own_at_end is not None or now - since < READ_SECONDS_MIN:
            return 0.0
        spent = self._count_postgres()
        # Otherwise most of it belongs to the tests before.
        return spent if now - began > (now - since) / 2 else 0.0

    def _count_postgres(self) -> float:
        """Add what PostgreSQL took since it was last counted to the folder, and return it."""
        if self._own_at_end is not None:
            return 0.0
        counted, self._postgres_counted = self._postgres_counted, sum(map(_spent_by, _postmasters))
        self._postgres_read_at = time.monotonic()
        spent = self._postgres_counted - counted
        self.seconds[self._folder] += spent
        self.postgres[self._folder] += spent
        return spent


def _largest(numbers: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(numbers.items(), key=lambda each: -each[1])


def _folder_of(node: str) -> str:
    """Return the area of a test below `tests/`, or the layer where a test stands in the layer itself."""
    parts = PurePosixPath(node.partition("::")[0]).parts[1:-1]
    return "/".join(parts[:FOLDER_PARTS]) or "."


def _own() -> float:
    """Return what this process has taken with its children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _spent_by(postmaster: int) -> float:
    try:
        connections = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(_ticks(process) for process in [str(postmaster), *connections]) / _TICKS


def _ticks(process: str) -> int:
    try:
        values = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(map(int, values[_TIMES]))
