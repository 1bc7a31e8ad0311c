"""The testable parts of `ops/bench`: counting, parsing, comparing; not its figures."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ops.benchmarks import evenness, flood, processes, report, servers
from ops.benchmarks.comparing import Figures, Round, Row, Spread
from ops.benchmarks.load import Head, LoaderFailed, Requests, parse_head, parse_wrk, with_our_own, with_wrk, wrk_script
from ops.benchmarks.operation import BARE, WORD, Operation
from ops.benchmarks.operations import OPERATIONS
from ops.benchmarks.standing import StandingFigure

BURN = "import time\nwhile time.process_time() < 0.15: pass"
# The kernel reports user and system time each in whole hundredths, rounded down.
BURNT_SECONDS = 0.13
BLOCK_BYTES = 50_000_000
# Prints when it is done and waits until its input ends.
WAIT = "print('done', flush=True); input()"
BURN_AND_WAIT = f"{BURN}\n{WAIT}"

NO_ANSWER = '{"requests": 0, "seconds": 2.0, "p50_ms": 0.0, "p99_ms": 0.0, "errors": 4}'

FIGURES = Figures(
    requests_per_second=1000.0,
    p50_ms=1.0,
    p99_ms=2.0,
    cpu_ms_per_request=0.5,
    python_megabytes=50.0,
    whole_megabytes=50.0,
    errors=0,
    others_share=0.0,
)
OPERATION = Operation(name="sign in", path="/sign-in", cpu_ratio_max=1.5)
BEARER = replace(OPERATION, headers={"Authorization": f"Bearer {WORD}"}, words=["one", "two"])
EXCHANGE = replace(OPERATION, method="POST", body=b'{"token":"{word}"}', words=["one", "two"], next_word="token")


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


def round_with(cpu_ms: float, *, before: float, after: float) -> Round:
    """Return a round of which only the processor time matters."""
    operation, *bare = (replace(FIGURES, cpu_ms_per_request=each) for each in (cpu_ms, before, after))
    return Round(operation=operation, bare=(bare[0], bare[1]))


def row_of(*rounds: Round) -> Row:
    """Return a row of these rounds."""
    return Row(operation=OPERATION, connections=16, rounds=rounds)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[servers.RunningServer]:
    """The bare server, which returns a few bytes."""
    with servers.bare(tmp_path_factory.mktemp("bare"), b'{"status":"healthy"}') as server:
        yield server


# Processor time and memory of processes


def test_a_program_may_have_spaces_and_parentheses_in_its_name() -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    text = f"42 (a (b) c) S 7 42 42 0 -1 4194560 100 0 0 0 {ticks} {2 * ticks} {3 * ticks} {4 * ticks} 20 0 1 0 1 1 1"

    process = processes.parse_stat(text)

    assert process == processes.Process(pid=42, parent=7, cpu_seconds=10.0, ended_cpu_seconds=7.0)


def test_processor_time_of_a_child_is_counted() -> None:
    program = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {BURN_AND_WAIT!r}]).wait()"

    with running(program) as pid:
        spent = processes.cpu_seconds([pid])
        tree = processes.tree([pid])

    assert len(tree) == 2
    assert spent >= BURNT_SECONDS


def test_processor_time_of_a_child_that_has_ended_is_counted() -> None:
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}]); {WAIT}"

    with running(program) as pid:
        spent = processes.cpu_seconds([pid])
        tree = processes.tree([pid])

    assert len(tree) == 1
    assert spent >= BURNT_SECONDS


def test_processor_time_of_another_process_is_not_counted() -> None:
    with running(WAIT) as pid, running(BURN_AND_WAIT) as another:
        before, after = processes.cpu_seconds([pid]), processes.cpu_seconds([pid, another])

    assert after - before >= BURNT_SECONDS


def test_a_server_that_ended_is_an_error() -> None:
    with running(WAIT) as pid:
        pass

    with pytest.raises(ProcessLookupError):
        processes.cpu_seconds([pid])


def test_memory_that_processes_share_is_counted_once() -> None:
    program = f"import os, sys; block = b'x' * {BLOCK_BYTES}\nif os.fork(): {WAIT}\nelse: sys.stdin.read()"

    with running(program) as pid:
        tree = processes.tree([pid])
        shared_once = processes.proportional_bytes([pid])
        each_by_itself = sum(processes.resident_bytes(process.pid) for process in tree)

    assert len(tree) == 2
    assert shared_once is not None
    assert shared_once < each_by_itself - 0.9 * BLOCK_BYTES


# Requests and answers of the loaders


def test_the_last_line_of_wrk_is_what_counts() -> None:
    report_line = '{"requests": 20, "seconds": 2.0, "p50_ms": 0.5, "p99_ms": 1.25, "errors": 1}'

    load = parse_wrk(f"Running 2s test @ http://127.0.0.1:8000/\n  1 threads\n\n{report_line}\n")

    assert (load.requests, load.seconds, load.p50_ms, load.p99_ms, load.errors) == (20, 2.0, 0.5, 1.25, 1)


@pytest.mark.parametrize("output", ["", "unable to connect", '{"requests": 20}', NO_ANSWER])
def test_anything_else_from_wrk_is_a_failure(output: str) -> None:
    with pytest.raises(LoaderFailed):
        parse_wrk(output)


def test_every_byte_of_a_body_is_escaped_for_wrk() -> None:
    script = wrk_script(replace(OPERATION, method="POST", body=b'"]]\n\\'))

    assert 'wrk.body = "\\034\\093\\093\\010\\092"' in script


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
    with pytest.raises(LoaderFailed):
        parse_head(b"HTTP/1.1 200 \r\ntransfer-encoding: chunked")


def test_each_request_has_the_next_word_and_after_the_last_the_first() -> None:
    requests = Requests(BEARER, 80)

    sent = [requests.next() for _ in range(3)]

    assert [request.rpartition(b"Bearer ")[2].strip() for request in sent] == [b"one", b"two", b"one"]


def test_a_word_that_is_valid_once_is_followed_by_that_of_the_answer() -> None:
    requests = Requests(EXCHANGE, 80)

    sent = [requests.next(), requests.next()]
    requests.add_word_of(b'{"message":"x","token":"three"}')
    sent += [requests.next(), requests.next()]

    bodies = [request.rpartition(b"\r\n\r\n")[2] for request in sent]
    assert bodies == [b'{"token":"one"}', b'{"token":"two"}', b'{"token":"three"}', b'{"token":""}']
    assert b"Content-Length: 17" in sent[2]


@pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed")
def test_wrk_sends_words_and_adds_those_of_answers(bare: servers.RunningServer) -> None:
    # Words with special characters of Lua's patterns; without new ones from the answers they run out.
    operation = replace(BARE, headers={"X": f"%1 {WORD}"}, words=["%0"] * 4, next_word="status")

    load = with_wrk(operation, bare.port, 2, 1)

    assert load.errors == 0
    assert load.requests > 4


def test_our_own_loader_gets_answers_on_all_connections(bare: servers.RunningServer) -> None:
    load = with_our_own(BARE, bare.port, 4, 1)

    assert load.requests > 4
    assert load.errors == 0
    assert 0 < load.p50_ms <= load.p99_ms


def test_our_own_loader_counts_refusals_as_errors(bare: servers.RunningServer) -> None:
    load = with_our_own(replace(BARE, path="/nowhere"), bare.port, 2, 1)

    assert load.errors == load.requests > 0


@pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed")
def test_wrk_counts_refusals_as_errors(bare: servers.RunningServer) -> None:
    load = with_wrk(replace(BARE, path="/nowhere"), bare.port, 2, 1)

    assert load.errors == load.requests > 0


def test_a_server_that_does_not_start_is_reported_with_its_log(tmp_path: Path) -> None:
    with (
        pytest.raises(servers.CannotMeasure, match="an argument is missing"),
        servers.running("bare", [sys.executable, "-c", "exit('an argument is missing')"], 1, "/", tmp_path / "log", {}),
    ):
        pass


# Comparison and presentation


def test_an_operation_is_compared_with_the_bare_server_just_before_and_just_after() -> None:
    each = round_with(0.9, before=0.5, after=0.7)

    assert each.ratio("cpu_ms_per_request") == pytest.approx(1.5)


def test_the_median_of_the_rounds_decides_whether_an_operation_is_over_its_limit() -> None:
    well = [round_with(0.7, before=0.5, after=0.5), round_with(0.7, before=0.5, after=0.5)]
    slow = [round_with(0.8, before=0.5, after=0.5), round_with(9.9, before=0.5, after=0.5)]

    assert not row_of(*well, slow[0]).is_over
    assert row_of(well[0], *slow).is_over


@pytest.mark.parametrize(("value", "is_over"), [(1.0, True), (2.0, False), (3.0, False), (4.0, True)])
def test_a_figure_may_have_a_minimum_and_a_maximum(value: float, is_over: bool) -> None:
    figure = StandingFigure(name="a share", unit="%", values=Spread.of([value]), minimum=2.0, maximum=3.0)

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


def test_a_figure_that_the_kernel_does_not_provide_is_unknown() -> None:
    unknown = replace(FIGURES, whole_megabytes=None)
    row = row_of(Round(operation=unknown, bare=(FIGURES, FIGURES)))

    assert row.figure("whole_megabytes") is None
    assert row.ratio("whole_megabytes") is None
    assert report.UNKNOWN in report.operations_table([row])


def test_a_row_over_its_limit_and_one_with_errors_are_marked() -> None:
    over = row_of(round_with(0.8, before=0.5, after=0.5))
    failed = row_of(Round(operation=replace(FIGURES, errors=1), bare=(FIGURES, FIGURES)))

    heading, _, bare_line, over_line, failed_line = report.operations_table([over, failed]).splitlines()

    assert heading.startswith("| operation")
    assert bare_line.startswith("| bare")
    assert report.OVER in over_line
    assert report.FAILED not in over_line
    assert report.FAILED in failed_line


def test_the_columns_of_a_table_line_up() -> None:
    lines = report.table(("a", "a long heading"), [("a long cell", "é"), ("", "1 (0.97×)")]).splitlines()

    assert len({len(line) for line in lines}) == 1
    assert {line.count("|") for line in lines} == {3}


def test_everything_that_was_measured_can_be_written_as_json() -> None:
    row = row_of(round_with(0.8, before=0.5, after=0.5))
    figure = StandingFigure(name="a start", unit="s", values=Spread.of([1.0, 3.0, 2.0]), maximum=1.5)

    written = json.loads(json.dumps(report.as_json({"loader": "wrk"}, [row], [figure])))

    assert written["operations"][0]["is_over"] is True
    assert written["standing"][0]["values"] == {"median": 2.0, "least": 1.0, "most": 3.0}
    assert written["standing"][0]["is_over"] is True


def test_no_two_operations_have_the_same_name() -> None:
    names = [BARE.name, *(operation.name for operation in OPERATIONS)]

    assert len(names) == len(set(names))
