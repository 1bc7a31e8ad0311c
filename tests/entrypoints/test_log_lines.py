"""Lines of the log on real pipes, sockets and files: writing them never waits, and important ones are dropped last."""

from __future__ import annotations

import fcntl
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

import pytest

from entrypoints.log_lines import LINES_AT_ONCE_MAX, DroppedLines, KeptLines, Level, LogLines, Rank
from entrypoints.log_outlets import FileOutlet, Outlet, PipeOutlet, SocketOutlet, SplicingOutlet, outlet_of
from tests.waiting import wait_until

READ_BYTES_MAX: Final = 65_536
# More than a pipe holds.
MANY: Final = 1_500
LONG_BYTES: Final = 20_000


@dataclass
class Reader:
    """The end of a log that is read when the test says so."""

    outlet: Outlet
    descriptor: int
    received: bytes = b""

    def read(self) -> list[bytes]:
        """Read what is there, and return all complete lines so far."""
        with suppress(BlockingIOError):
            while data := os.read(self.descriptor, READ_BYTES_MAX):
                self.received += data
        return self.received.split(b"\n")[:-1]


@contextmanager
def _reader(kind: str) -> Generator[Reader]:
    if kind == "socket":
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        with ours, theirs:
            outlet = outlet_of(ours.fileno())
            yield Reader(outlet, theirs.fileno())
            outlet.close()
        return
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    outlet = outlet_of(writer) if kind == "pipe" else SplicingOutlet(writer)
    yield Reader(outlet, reader)
    outlet.close()
    for end in (reader, writer):
        os.close(end)


@pytest.fixture(params=["pipe", "spliced", "socket"])
def reader(request: pytest.FixtureRequest) -> Iterator[Reader]:
    """What reads a log, by each way in which its lines get there."""
    with _reader(request.param) as made:
        yield made


@dataclass
class Counting:
    """An outlet that counts what it is asked to write, and takes as many bytes as the test says."""

    room: int = 10**9
    sent: list[bytes] = field(default_factory=list[bytes])
    calls: int = 0

    def send(self, data: bytes) -> int:
        self.calls += 1
        taken = data[: self.room]
        self.room -= len(taken)
        if taken:
            self.sent.append(taken)
        return len(taken)

    def wait(self, seconds_max: float) -> bool:
        return seconds_max < 0

    def renew(self) -> None:
        return

    def close(self) -> None:
        return


def _report_dropped(dropped: Mapping[str, int], since: datetime) -> bytes:
    assert since.tzinfo is not None
    return f"dropped {dict(dropped)}\n".encode()


def _lines(outlet: Outlet, *, lines_max: int = 10 * MANY, dropped: DroppedLines | None = None) -> LogLines:
    kept = KeptLines(lines_max=lines_max, bytes_max=10**8)
    return LogLines(outlet, report_dropped=_report_dropped, dropped=dropped or DroppedLines(), kept=kept)


def test_a_line_that_is_read_is_one_call_and_no_thread() -> None:
    outlet = Counting()
    lines = _lines(outlet)
    lines.allow_thread()
    threads = threading.active_count()

    for number in range(10):
        lines.put(b"%d\n" % number, Level.INFO, Rank.REQUEST)

    assert outlet.calls == len(outlet.sent) == 10
    assert threading.active_count() == threads


def test_what_logs_goes_on_without_a_reader_and_its_lines_come_whole_and_in_order(reader: Reader) -> None:
    lines = _lines(reader.outlet)
    lines.allow_thread()

    for number in range(MANY):
        lines.put(b"%d %s\n" % (number, b"x" * 200), Level.INFO, Rank.REQUEST)

    wait_until(lambda: len(reader.read()) == MANY)
    assert [line.partition(b" ")[0] for line in reader.read()] == [b"%d" % number for number in range(MANY)]
    # The thread has ended with its work.
    wait_until(lambda: all(thread.name != "log" for thread in threading.enumerate()))
    lines.put(b"last\n", Level.INFO, Rank.REQUEST)
    assert reader.read()[-1] == b"last"


def test_a_process_without_a_thread_writes_what_waits_when_it_looks(reader: Reader) -> None:
    lines = _lines(reader.outlet)
    for number in range(MANY):
        lines.put(b"%d %s\n" % (number, b"x" * 200), Level.INFO, Rank.EVENT)

    rounds = 0
    while len(reader.read()) < MANY:
        lines.catch_up()
        rounds += 1

    assert MANY / LINES_AT_ONCE_MAX - 10 < rounds < MANY
    assert [line.partition(b" ")[0] for line in reader.read()] == [b"%d" % number for number in range(MANY)]


@pytest.mark.parametrize("kind", ["pipe", "spliced"])
def test_long_lines_of_two_processes_stay_whole_in_a_pipe_that_is_full(kind: str) -> None:
    with _reader(kind) as reader, _reader("pipe") as unused:
        assert isinstance(reader.outlet, PipeOutlet | SplicingOutlet)
        one = _lines(reader.outlet)
        beside = _beside(reader)
        another = _lines(beside)
        expected = [letter * size for size in (50, LONG_BYTES) for letter in (b"a", b"b") for _ in range(MANY // 50)]

        for size in (50, LONG_BYTES):
            for _ in range(MANY // 50):
                one.put(b"a" * size + b"\n", Level.INFO, Rank.EVENT)
                another.put(b"b" * size + b"\n", Level.INFO, Rank.EVENT)
        while len(reader.read()) < len(expected):
            one.catch_up()
            another.catch_up()

        assert sorted(reader.read()) == sorted(expected)
        assert unused.read() == []
        beside.close()


def _beside(reader: Reader) -> Outlet:
    """Return what another process would write with to the same pipe."""
    writer = os.open(f"/proc/self/fd/{reader.descriptor}", os.O_WRONLY)
    outlet = outlet_of(writer)
    os.close(writer)
    return outlet


def test_what_was_inherited_stays_as_it_is() -> None:
    reader, writer = os.pipe()
    flags = fcntl.fcntl(writer, fcntl.F_GETFL)

    outlet = outlet_of(writer)
    while outlet.send(b"x" * 1_000):
        pass

    assert fcntl.fcntl(writer, fcntl.F_GETFL) == flags
    assert os.get_blocking(writer)
    outlet.close()
    for end in (reader, writer):
        os.close(end)


def test_kinds_of_outputs_are_told_apart(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, (tmp_path / "log").open("wb") as file:
        of_socket = outlet_of(ours.fileno())
        assert isinstance(of_socket, SocketOutlet)
        of_socket.close()
        assert type(outlet_of(file.fileno())) is FileOutlet
    master, terminal = os.openpty()
    typed = outlet_of(terminal)
    # A person has stopped the terminal, so that nothing takes what is written.
    while typed.send(b"x" * 1_000):
        pass
    assert os.get_blocking(terminal)
    typed.close()
    for end in (master, terminal):
        os.close(end)


def test_requests_are_dropped_first_then_events_and_problems_last() -> None:
    outlet, dropped = Counting(room=0), DroppedLines()
    lines = _lines(outlet, lines_max=6, dropped=dropped)

    def put(*texts: str) -> None:
        for text in texts:
            level = {"w": Level.WARNING, "e": Level.ERROR, "d": Level.DEBUG}.get(text[0], Level.INFO)
            lines.put(f"{text}\n".encode(), level, Rank.of(level, is_request=text[0] == "r"))

    put("r1", "i1", "r2", "w1", "r3", "e1")
    put("r4", "i2", "w2")
    assert dropped.by_level() == {"debug": 0, "info": 3, "warning": 0, "error": 0}
    put("e2", "d1", "e3", "e4", "w3")
    outlet.room = 10**6
    put("r5")

    first, told, *others = b"".join(outlet.sent).decode().splitlines()
    assert [first, *others] == ["w1", "e1", "w2", "e2", "e3", "e4", "r5"]
    assert dropped.by_level() == {"debug": 1, "info": 6, "warning": 1, "error": 0}
    assert told == "dropped {'info': 6, 'debug': 1, 'warning': 1}"


def test_what_is_kept_is_bounded_by_its_bytes() -> None:
    kept = KeptLines(lines_max=100, bytes_max=1_000)

    added = [kept.add(b"x" * 300, Level.INFO, Rank.EVENT) for _ in range(4)]

    assert added == [[], [], [], [Level.INFO]]
    assert kept.add(b"y" * 900, Level.ERROR, Rank.PROBLEM) == [Level.INFO] * 3
    # A line that is larger than everything drops what matters less, and itself.
    assert kept.add(b"z" * 1_100, Level.ERROR, Rank.PROBLEM) == [Level.ERROR]
    assert kept.first() == b"y" * 900


def test_a_line_of_which_a_part_was_taken_goes_on_where_it_stopped() -> None:
    outlet = Counting(room=3)
    lines = _lines(outlet)

    lines.put(b"first\n", Level.INFO, Rank.EVENT)
    lines.put(b"second\n", Level.INFO, Rank.EVENT)
    outlet.room = 100
    lines.catch_up()

    assert b"".join(outlet.sent) == b"first\nsecond\n"


def test_a_line_that_is_logged_while_others_are_written_comes_after_them() -> None:
    class Interrupting(Counting):
        def send(self, data: bytes) -> int:
            # As what the garbage collector ends may do.
            if data == b"first\n" and self.room:
                lines.put(b"third\n", Level.INFO, Rank.EVENT)
            return super().send(data)

    outlet = Interrupting(room=0)
    lines = _lines(outlet)
    lines.put(b"first\n", Level.INFO, Rank.EVENT)
    lines.put(b"second\n", Level.INFO, Rank.EVENT)

    outlet.room = 100
    lines.catch_up()

    assert outlet.sent == [b"first\n", b"second\n", b"third\n"]


def test_lines_for_a_full_disk_are_kept_and_what_is_too_much_counts_as_dropped(tmp_path: Path) -> None:
    dropped = DroppedLines()
    file = tmp_path / "log"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with file.open("ab", buffering=0) as output:
        lines = _lines(outlet_of(output.fileno()), lines_max=3, dropped=dropped)
        # It stands for a disk that is full after so many bytes.
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
        try:
            for number in range(8):
                lines.put(b"line %d\n" % number, Level.INFO, Rank.EVENT)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        lines.put(b"line 8\n", Level.INFO, Rank.EVENT)

    assert dropped.by_level()["info"] == 3
    assert file.read_text().splitlines() == [
        "line 0",
        "line 1",
        "dropped {'info': 3}",
        "line 2",
        "line 3",
        "line 4",
        "line 8",
    ]


def test_a_process_ends_without_its_reader_and_counts_what_was_not_read() -> None:
    dropped = DroppedLines()
    with _reader("pipe") as reader:
        lines = _lines(reader.outlet, dropped=dropped)
        for _ in range(MANY):
            lines.put(b"x" * 200 + b"\n", Level.INFO, Rank.EVENT)

        lines.finish(seconds_max=0.0)

        assert len(reader.read()) + dropped.by_level()["info"] == MANY


def test_a_process_that_ends_writes_its_last_lines_where_they_are_read(reader: Reader) -> None:
    lines = _lines(reader.outlet)
    for _ in range(MANY):
        lines.put(b"x" * 200 + b"\n", Level.INFO, Rank.EVENT)
    is_over = threading.Event()

    def read() -> None:
        while not is_over.is_set():
            reader.read()

    reading = threading.Thread(target=read)
    reading.start()
    lines.finish(seconds_max=60.0)
    is_over.set()
    reading.join()

    assert len(reader.read()) == MANY


def test_a_reader_that_has_gone_is_not_waited_for() -> None:
    dropped = DroppedLines()
    reader, writer = os.pipe()
    lines = _lines(outlet_of(writer), dropped=dropped)
    os.close(reader)

    lines.put(b"line\n", Level.ERROR, Rank.PROBLEM)
    lines.finish(seconds_max=600.0)

    assert dropped.by_level()["error"] == 1
    os.close(writer)


def test_a_forked_process_writes_its_own_lines_alone(reader: Reader) -> None:
    lines = _lines(reader.outlet)
    for _ in range(MANY):
        lines.put(b"x" * 200 + b"\n", Level.INFO, Rank.EVENT)
    process = os.fork()
    if not process:
        lines.renew()
        lines.put(b"of the child\n", Level.INFO, Rank.EVENT)
        lines.finish(seconds_max=60.0)
        os._exit(0)

    def has_ended() -> bool:
        reader.read()
        return os.waitpid(process, os.WNOHANG) != (0, 0)

    wait_until(has_ended)
    read = reader.read()

    assert read[-1] == b"of the child"
    assert 0 < len(read) < MANY


def test_processes_count_in_places_of_their_own_and_read_all() -> None:
    dropped = DroppedLines()
    dropped.add(Level.INFO, 2)
    process = os.fork()
    if not process:
        dropped.take_place_of(0)
        dropped.add(Level.INFO, 3)
        dropped.add(Level.ERROR)
        os._exit(0)
    os.waitpid(process, 0)

    assert dropped.by_level() == {"debug": 0, "info": 5, "warning": 0, "error": 1}


# As in a worker of a reload: its parent has used the logger by other settings.
CONFIGURED_AGAIN: Final = """
import structlog
from entrypoints import logs

log = structlog.get_logger("used")
logs.configure(log_format="console", log_level="warning")
log.info("first.hidden")
log.warning("first.shown")
logs.configure(log_format="json", log_level="info")
logs.allow_thread()
log.info("second.shown", number=7)
"""


def test_a_logger_that_was_used_follows_the_settings_of_a_reload() -> None:
    printed = subprocess.run(
        [sys.executable, "-c", CONFIGURED_AGAIN], capture_output=True, text=True, check=True
    ).stdout

    first, second = printed.splitlines()
    assert "first.shown" in first
    assert '"number":7' in second
