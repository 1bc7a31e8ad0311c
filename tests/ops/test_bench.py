"""The testable parts of `ops/bench`: counting, parsing, comparing; not its figures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest
import trio
import trio.testing

from ops.benchmarks import __main__ as command
from ops.benchmarks import evenness, flood, meters, people, processes, report, servers
from ops.benchmarks.answers import Head, parse_head, receive_answer
from ops.benchmarks.figures import Figure, Spread
from ops.seeding.population import PASSWORD, address

BURN = "import time\nwhile time.process_time() < 0.15: pass"
# The kernel reports user and system time of ended processes each in whole hundredths, rounded down.
BURNT_NANOSECONDS = 130_000_000
BLOCK_BYTES = 50_000_000
# Prints when it is done and waits until its input ends.
WAIT = "print('done', flush=True); input()"
BURN_AND_WAIT = f"{BURN}\n{WAIT}"

FIGURE = Figure(name="a start", unit="s", values=Spread.of([1.0, 3.0, 2.0]), maximum=1.5)


@contextmanager
def running(program: str) -> Generator[int]:
    """Run a Python program up to its `WAIT`, and end it afterwards."""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"done\n"
        yield process.pid
        process.communicate()


# Processor time and memory of processes


def test_a_program_may_have_spaces_and_parentheses_in_its_name() -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    text = f"42 (a (b) c) S 7 42 42 0 -1 4194560 100 0 0 0 {ticks} {2 * ticks} {3 * ticks} {4 * ticks} 20 0 1 0 1 1 1"

    process = processes.parse_stat(text)

    assert process == processes.Process(pid=42, parent=7, ended_cpu_seconds=7.0)


def test_processor_time_of_a_child_is_counted() -> None:
    program = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {BURN_AND_WAIT!r}]).wait()"

    with running(program) as pid:
        spent = meters.tree_nanoseconds([pid])
        tree = processes.tree([pid])

    assert len(tree) == 2
    assert spent >= BURNT_NANOSECONDS


def test_processor_time_of_a_child_that_has_ended_is_counted() -> None:
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}]); {WAIT}"

    with running(program) as pid:
        spent = meters.tree_nanoseconds([pid])
        tree = processes.tree([pid])

    assert len(tree) == 1
    assert spent >= BURNT_NANOSECONDS


def test_processor_time_of_another_process_is_not_counted() -> None:
    with running(WAIT) as pid, running(BURN_AND_WAIT) as another:
        before, after = meters.tree_nanoseconds([pid]), meters.tree_nanoseconds([pid, another])

    assert after - before >= BURNT_NANOSECONDS


def test_a_server_that_ended_is_an_error() -> None:
    with running(WAIT) as pid:
        pass

    with pytest.raises(ProcessLookupError):
        meters.tree_nanoseconds([pid])


def test_memory_that_processes_share_is_counted_once() -> None:
    program = f"import os, sys; block = b'x' * {BLOCK_BYTES}\nif os.fork(): {WAIT}\nelse: sys.stdin.read()"

    with running(program) as pid:
        tree = processes.tree([pid])
        shared_once = processes.proportional_bytes([pid])
        each_by_itself = sum(processes.resident_bytes(process.pid) for process in tree)

    assert len(tree) == 2
    assert shared_once is not None
    assert shared_once < each_by_itself - 0.9 * BLOCK_BYTES


# Requests and answers of a flood


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"HTTP/1.1 200 \r\ncontent-length: 5", Head(200, 5, is_last=False, has_retry_after=False)),
        (
            b"HTTP/1.1 503 \r\nContent-Length: 0\r\nRetry-After: 2\r\nConnection: close",
            Head(503, 0, is_last=True, has_retry_after=True),
        ),
        (b"HTTP/1.1 204 No Content\r\nx: y", Head(204, 0, is_last=False, has_retry_after=False)),
    ],
)
def test_the_head_of_an_answer_is_parsed(head: bytes, expected: Head) -> None:
    assert parse_head(head) == expected


def test_an_answer_of_unknown_length_is_refused() -> None:
    with pytest.raises(servers.CannotMeasure, match="no Content-Length"):
        parse_head(b"HTTP/1.1 200 \r\ntransfer-encoding: chunked")


async def test_each_answer_of_a_connection_is_received_to_its_end() -> None:
    server, client = trio.testing.memory_stream_one_way_pair()

    async def send_in_parts() -> None:
        for part in (b"HTTP/1.1 200 \r\nContent-Le", b"ngth: 4\r\n\r\nwh", b"at"):
            await server.send_all(part)
            await trio.testing.wait_all_tasks_blocked()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send_in_parts)
        first = await receive_answer(client)
    await server.send_all(b"HTTP/1.1 204 \r\n\r\n")
    second = await receive_answer(client)
    await server.aclose()

    assert [first.status, second.status] == [200, 204]
    with pytest.raises(trio.BrokenResourceError, match="before it had answered"):
        await receive_answer(client)


def test_users_sign_in_one_after_the_other_and_after_the_last_the_first() -> None:
    sent = list(islice(flood.sign_ins(8000), people.USERS + 1))

    heads, _, bodies = zip(*(request.partition(b"\r\n\r\n") for request in sent), strict=True)
    assert [json.loads(body) for body in bodies[:2]] == [
        {"email": address(number), "password": PASSWORD} for number in range(2)
    ]
    assert len(set(bodies)) == people.USERS
    assert bodies[-1] == bodies[0]
    assert all(f"Content-Length: {len(body)}".encode() in head for head, body in zip(heads, bodies, strict=True))


def test_a_server_that_does_not_start_is_reported_with_its_log(tmp_path: Path) -> None:
    with (
        pytest.raises(servers.CannotMeasure, match="an argument is missing"),
        servers.running(
            "other", [sys.executable, "-c", "exit('an argument is missing')"], 1, "/", tmp_path / "log", {}
        ),
    ):
        pass


# Figures and presentation


@pytest.mark.parametrize(("value", "is_over"), [(1.0, True), (2.0, False), (3.0, False), (4.0, True)])
def test_a_figure_may_have_a_minimum_and_a_maximum(value: float, is_over: bool) -> None:
    figure = Figure(name="a share", unit="%", values=Spread.of([value]), minimum=2.0, maximum=3.0)

    assert figure.is_over is is_over
    assert figure.limit == "≤ 3 %, ≥ 2 %"


def test_medians_of_refusals_that_lie_apart_are_over_the_limit() -> None:
    states = evenness.states()
    for place, state in enumerate(states):
        state.seconds.extend([0.010 + 0.0005 * place] * 4)

    *each, apart = evenness.figures(states)

    assert [figure.name for figure in each] == [f"refused: {state.name}" for state in states]
    assert apart.values.median == pytest.approx(25)
    assert apart.is_over


def test_in_a_flood_only_answers_with_retry_after_are_refusals() -> None:
    tally = flood.Tally()

    tally.count(200, has_retry_after=False, seconds=0.5)
    tally.count(503, has_retry_after=True, seconds=1.5)
    tally.count(503, has_retry_after=False, seconds=0.5)
    tally.count(500, has_retry_after=False, seconds=0.5)

    assert (tally.signed_in, tally.told_to_retry, tally.slowest_seconds) == (1, 1, 1.5)
    assert tally.otherwise == {"status 503": 1, "status 500": 1}
    assert [figure.name for figure in flood.figures(90.0, [tally, tally]) if figure.is_over] == [
        "flood: neither, or no answer"
    ]


def test_a_figure_over_its_limit_is_marked() -> None:
    within = Figure(name="another start", unit="s", values=Spread.of([1.0]), maximum=1.5)

    _, _, over_line, within_line = report.figures_table([FIGURE, within]).splitlines()

    assert "| 2.00 s | 1.00–3.00 | ≤ 1.5 s |" in over_line
    assert report.OVER in over_line
    assert report.OVER not in within_line


def test_the_columns_of_a_table_line_up() -> None:
    lines = report.table(("a", "a long heading"), [("a long cell", "é"), ("", "1 (0.97×)")]).splitlines()

    assert len({len(line) for line in lines}) == 1
    assert {line.count("|") for line in lines} == {3}


@pytest.mark.parametrize(("options", "status"), [([], 0), (["--strict"], 1), (["--strict", "--only=evenness"], 0)])
def test_a_figure_over_its_limit_fails_only_if_that_is_asked_for(
    options: list[str], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "FIGURES", {"starts": lambda _say: [FIGURE], "evenness": lambda _say: []})
    parsed = command._parser().parse_args(options)

    assert command._measure(parsed) == status
