"""Runs the tests in several processes, which are forked once one process has imported and collected all of them.

`--processes=3` makes three. The first process hands out the tests in chunks and reports what comes back; the others run
them. A chunk is of one module, so that what a module makes once is made once, unless its tests are many or long.
"""

from __future__ import annotations

import atexit
import os
import sys
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, Final, NoReturn, TypeAlias

import pytest

# What a chunk weighs at most, where a test weighs one, and one that is long or draws more.
CHUNK_WEIGHT_MAX: Final = 60
LONG_WEIGHT: Final = 20
# What a process sends: a test that begins, its report, what it has counted at its end, and that it wants a chunk.
_BEGINS, _REPORT, _COUNTED, _WANTS = "begins", "report", "counted", "wants"
Chunk: TypeAlias = range


def add_option(parser: pytest.Parser) -> None:
    """Add the option that says how many processes run the tests."""
    parser.addoption("--processes", type=int, default=0, metavar="N", help="run the tests in N processes")


def chunks_of(items: Sequence[pytest.Item]) -> list[Chunk]:
    """Return the places of all tests in their order, in chunks of neighbours that one process runs."""
    found = list[Chunk]()
    for _, numbered in groupby(enumerate(items), key=lambda each: each[1].path):
        begins, weight = None, 0
        for number, item in numbered:
            is_long = item.get_closest_marker("long") or item.get_closest_marker("draws")
            more = LONG_WEIGHT if is_long else 1
            if begins is None or weight + more > CHUNK_WEIGHT_MAX:
                begins, weight = number, 0
                found.append(range(number, number))
            weight += more
            found[-1] = range(begins, number + 1)
    return found


@dataclass(eq=False)
class _Process:
    """One of the processes that run tests, as the first one sees it."""

    number: int
    pid: int
    connection: Connection
    running: str | None = None
    left: set[int] = field(default_factory=set[int])


class Processes:
    """The plugin of the process that collects, hands out and reports."""

    def __init__(self, config: pytest.Config, number: int, counted: Callable[[Mapping[str, Any]], None]) -> None:
        self._config = config
        self._number = number
        # Takes what each process has counted, once it has ended.
        self._counted = counted

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run the collected tests in processes of their own."""
        chunks = chunks_of(session.items)
        if session.testsfailed or self._config.getoption("collectonly") or len(chunks) < 2:
            return None
        # Reports of several modules come mixed, so that a line for each module would say nothing.
        _plugin(self._config, "terminalreporter").showfspath = False
        # The folders of all processes are in one, which the first process deletes.
        self._config._tmp_path_factory.getbasetemp()  # pyright: ignore[reportAttributeAccessIssue] - that of its plugin
        with self._without_capture():
            processes = [self._fork(session, number) for number in range(min(self._number, len(chunks)))]
        try:
            self._hand_out(session, iter(chunks), {process.connection: process for process in processes})
        finally:
            for process in processes:
                process.connection.close()
                os.waitpid(process.pid, 0)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        return True

    @contextmanager
    def _without_capture(self) -> Generator[None]:
        """Give up what captures output, which processes cannot share."""
        capturing = _plugin(self._config, "capturemanager")
        capturing.stop_global_capturing()
        _plugin(self._config, "terminalreporter").flush()
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            yield
        finally:
            _capture_again(self._config)

    def _fork(self, session: pytest.Session, number: int) -> _Process:
        # `Any`, because the type checker takes them for pipes of another platform.
        pair: Any = Pipe()
        ours, theirs = pair
        pid = os.fork()
        if pid == 0:
            ours.close()
            _run_and_exit(session, theirs, number)
        theirs.close()
        return _Process(number, pid, ours)

    def _hand_out(self, session: pytest.Session, chunks: Iterator[Chunk], running: dict[Connection, _Process]) -> None:
        while running:
            ready: Any = wait(list(running))
            for process in [running[connection] for connection in ready]:
                try:
                    kind, value = process.connection.recv()
                except (EOFError, ConnectionResetError):
                    del running[process.connection]
                    self._report_early_end(session, process)
                    continue
                if kind == _WANTS:
                    chunk = None if session.shouldfail or session.shouldstop else next(chunks, None)
                    process.left.update(chunk or ())
                    process.connection.send(chunk)
                else:
                    self._take(session, process, kind, value)

    def _take(self, session: pytest.Session, process: _Process, kind: str, value: Any) -> None:
        hook = self._config.hook
        if kind == _BEGINS:
            process.running = session.items[value].nodeid
            process.left.discard(value)
        elif kind == _REPORT:
            report = hook.pytest_report_from_serializable(config=self._config, data=value)
            hook.pytest_runtest_logreport(report=report)
            # Where the output goes into a pipe, progress would be seen at the end.
            _plugin(self._config, "terminalreporter").flush()
        else:
            process.running = None
            self._counted(value)

    def _report_early_end(self, session: pytest.Session, process: _Process) -> None:
        """Report a failure when a process has ended before it had run all that it was given."""
        stopped = session.shouldfail or session.shouldstop
        if process.running is None and (stopped or not process.left):
            return
        nodeid = process.running or session.items[min(process.left)].nodeid
        reason = f"the process that ran this test ended, and {len(process.left)} tests of the module were not run"
        report = pytest.TestReport(nodeid, ("", None, nodeid), {}, "failed", reason, "call")
        self._config.hook.pytest_runtest_logreport(report=report)


def _plugin(config: pytest.Config, name: str) -> Any:
    """Return a plugin of pytest, whose methods have no types."""
    return config.pluginmanager.getplugin(name)


def _capture_again(config: pytest.Config) -> None:
    """Capture as before: between the phases of a test nothing is captured."""
    capturing = _plugin(config, "capturemanager")
    capturing.start_global_capturing()
    capturing.suspend_global_capture(in_=True)


class _Reporting:
    """The plugin of a process that runs tests: sends its reports to the first one."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config = config
        self._connection = connection

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Send a report."""
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._connection.send((_REPORT, data))


def _run_and_exit(session: pytest.Session, connection: Connection, number: int) -> NoReturn:
    # What the first process does at its end is not done here as well.
    atexit._clear()
    code = pytest.ExitCode.INTERNAL_ERROR
    try:
        _prepare(session.config, connection, number)
        _run_chunks(session, connection)
        session.config.hook.pytest_sessionfinish(session=session, exitstatus=int(session.testsfailed > 0))
        connection.send((_COUNTED, vars(session.config)["workeroutput"]))
        code = pytest.ExitCode.OK
    except (KeyboardInterrupt, BrokenPipeError):
        # The first process was interrupted too, and says so.
        session._setupstate.teardown_exact(None)
        code = pytest.ExitCode.INTERRUPTED
    finally:
        if code == pytest.ExitCode.INTERNAL_ERROR:
            _plugin(session.config, "capturemanager").stop_global_capturing()
            traceback.print_exc()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _prepare(config: pytest.Config, connection: Connection, number: int) -> None:
    """Make this a process that runs tests: with a folder of its own, and without a terminal."""
    # Plugins that write one file for a run leave that to the first process, as they do with other runners.
    vars(config)["workerinput"] = {"workerid": f"process {number}"}
    vars(config)["workeroutput"] = {}
    plugins = config.pluginmanager
    plugins.unregister(_plugin(config, "terminalreporter"))
    plugins.register(_Reporting(config, connection))
    _capture_again(config)
    folders = config._tmp_path_factory  # pyright: ignore[reportAttributeAccessIssue] - that of its plugin
    folders._basetemp = folders.getbasetemp() / f"process-{number}"
    folders._basetemp.mkdir()
    folders._exit_stack = ExitStack()


def _run_chunks(session: pytest.Session, connection: Connection) -> None:
    def next_chunk() -> Chunk | None:
        connection.send((_WANTS, None))
        return connection.recv()

    chunk = next_chunk()
    while chunk is not None:
        following = None
        for number in chunk:
            next_number = number + 1 if number + 1 in chunk else None
            if next_number is None:
                # Asked for before the last test, which keeps the fixtures that the next one needs.
                following = next_chunk()
                next_number = following[0] if following else None
            connection.send((_BEGINS, number))
            item, next_item = session.items[number], None if next_number is None else session.items[next_number]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_item)
            if session.shouldfail or session.shouldstop:
                session._setupstate.teardown_exact(None)
                return
        chunk = following
