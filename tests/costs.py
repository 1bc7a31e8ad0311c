"""The processor time of the tests by folder, printed at the end of a run.

It is that of the processes which run the tests and of the programs that they wait for; a browser counts where it ends,
and the PostgreSQL of the session by itself. Processor time depends less than duration on what else the machine does.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Generator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeVar

import pytest

Number = TypeVar("Number", int, float)

# Below tests/: `http/organizations`, `core/billing`.
FOLDER_PARTS: Final = 2
SECONDS_SHOWN_MIN: Final = 1.0
OF_THE_SESSION: Final = "(starting, ending)"
OF_POSTGRES: Final = "(PostgreSQL)"
_OUTPUT: Final = "costs"
# Of /proc/<pid>/stat after the name: the parent, and the times of the process and of its children.
_PARENT: Final = 1
_TIMES: Final = slice(11, 15)
_TICKS: Final = os.sysconf("SC_CLK_TCK")
# Servers that outlive the processes which start them, so that none waits for them.
_servers = defaultdict[str, float](float)


def count_postgres(process_id: int) -> None:
    """Count what a PostgreSQL has taken until now, before it is stopped."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            values = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if process_id in {int(stat.parent.name), int(values[_PARENT])}:
            _servers[OF_POSTGRES] += sum(map(int, values[_TIMES])) / _TICKS


class Costs:
    """The processor time of a session, in a process that runs tests or in the one that collects from these."""

    def __init__(self) -> None:
        self.seconds = defaultdict[str, float](float)
        self.tests = defaultdict[str, int](int)
        self._counted = 0.0
        self._ends_at: float | None = None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Count the test with its fixtures; those of a module or of the session count for their first and last test."""
        began, self._ends_at = _spent(), None
        try:
            return (yield)
        finally:
            took = (self._ends_at or _spent()) - began
            folder = _folder_of(item.nodeid)
            self.seconds[folder] += took
            self.tests[folder] += 1
            self._counted += took

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, nextitem: pytest.Item | None) -> Generator[None]:
        """Count what ends after the last test, such as PostgreSQL with all that it did, for no folder."""
        if nextitem is None:
            self._ends_at = _spent()
        return (yield)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand on what a worker has counted."""
        if session.config.getoption("dist", "no") == "no" or hasattr(session.config, "workeroutput"):
            self.seconds[OF_THE_SESSION] += _spent() - self._counted
            _add(self.seconds, _servers)
        if (output := getattr(session.config, "workeroutput", None)) is not None:
            output[_OUTPUT] = {"seconds": dict(self.seconds), "tests": dict(self.tests)}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add what a worker has counted."""
        costs = getattr(node, "workeroutput", {}).get(_OUTPUT, {})
        _add(self.seconds, costs.get("seconds", {}))
        _add(self.tests, costs.get("tests", {}))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print a line for each folder, the dearest first."""
        if len(self.tests) < FOLDER_PARTS:
            return
        terminalreporter.section("CPU seconds by folder")
        small = 0.0
        for folder, seconds in sorted(self.seconds.items(), key=lambda each: -each[1]):
            if seconds < SECONDS_SHOWN_MIN:
                small += seconds
            else:
                terminalreporter.write_line(f"{seconds:7.1f}  {folder} {_counted(self.tests[folder])}")
        terminalreporter.write_line(f"{small:7.1f}  all others")
        terminalreporter.write_line(f"{sum(self.seconds.values()):7.1f}  together")


def _add(to: defaultdict[str, Number], more: Mapping[str, Number]) -> None:
    for folder, number in more.items():
        to[folder] += number


def _counted(tests: int) -> str:
    return f"({tests:,} tests)" if tests else ""


def _folder_of(node: str) -> str:
    """Return the area of a test below `tests/`, or the layer where a test stands in the layer itself."""
    parts = PurePosixPath(node.partition("::")[0]).parts[1:-1]
    return "/".join(parts[:FOLDER_PARTS]) or "."


def _spent() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
