"""The progress of long commands, on a terminal and elsewhere."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from entrypoints.progress import Progress, share_of, size_of
from tests.processes import without_progress
from tests.terminals import Terminal


class Stopwatch:
    """A stopwatch that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch() -> Stopwatch:
    return Stopwatch()


def test_elsewhere_than_on_a_terminal_each_report_is_a_line_without_control_characters(watch: Stopwatch) -> None:
    out = io.StringIO()

    with Progress(out, watch) as progress:
        for second in range(11):
            watch.now = second
            progress.show(second * 100, "rows", total=1_000)

    assert out.getvalue() == (
        "500 of 1,000 rows, 50 %, 100 per second, about 5 s left\n"
        "1,000 of 1,000 rows, 100 %, 100 per second, about 0 s left\n"
    )
    assert without_progress(f"{out.getvalue()}1 of 3 rows is left out.\n") == "1 of 3 rows is left out.\n"


def test_tests_of_commands_that_take_long_see_what_is_no_progress(watch: Stopwatch) -> None:
    out = io.StringIO()
    progress = Progress(out, watch)
    for second, (done, total, context) in enumerate(
        [(0, 0, "Restoring: "), (7_300, 10_000, ""), (9_000, None, "users: ")], 1
    ):
        watch.now = second * 100
        progress.show(done, "MB", total=total, share=1.0 if total == 0 else None, context=context)

    assert out.getvalue().count("\n") == 3
    assert without_progress(out.getvalue()) == ""


def test_a_terminal_has_one_line_that_is_gone_at_the_end_and_while_something_else_is_written(watch: Stopwatch) -> None:
    out = Terminal()

    with Progress(out, watch) as progress:
        watch.now = 1
        progress.show(1, "rows", total=3, context="keys: ")
        progress.around(lambda text: print(text, file=out))("One row is left out.")
        watch.now = 2
        progress.show(2, "rows", total=3)

    assert out.getvalue() == (
        "\r\x1b[Kkeys: 1 of 3 rows, 33 %, 1 per second, about 2 s left"
        "\r\x1b[KOne row is left out.\n"
        "\r\x1b[K2 of 3 rows, 66 %, 1 per second, about 1 s left"
        "\r\x1b[K"
    )


def test_a_line_fits_the_terminal(watch: Stopwatch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    out, progress = (terminal := Terminal()), Progress(terminal, watch)
    watch.now = 1

    progress.show(1_000, "entries", total=3_000, context="a-long-organization: ")

    assert out.getvalue() == "\r\x1b[Ka-long-organization"


def test_what_fails_leaves_no_line_behind(watch: Stopwatch) -> None:
    out = Terminal()

    def work() -> None:
        with Progress(out, watch) as progress:
            watch.now = 1
            progress.show(1, "rows")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()

    assert out.getvalue().endswith("1 rows, 1 per second\r\x1b[K")


@pytest.mark.parametrize(
    ("seconds", "done", "text"),
    [
        (119, 50, "about 119 s left"),
        (600, 50, "about 10 min left"),
        (3_600, 25, "about 3.0 h left"),
        (600, 0, "0 of 100 rows, 0 %\n"),
    ],
)
def test_the_time_that_is_left_is_as_exact_as_it_is_useful(
    watch: Stopwatch, seconds: int, done: int, text: str
) -> None:
    out = io.StringIO()
    progress = Progress(out, watch)
    watch.now = seconds

    progress.show(done, "rows", total=100)

    assert text in out.getvalue()


def test_100_percent_are_only_said_at_the_end(watch: Stopwatch) -> None:
    out = io.StringIO()
    progress = Progress(out, watch)
    watch.now = 10

    progress.show(99_999, "rows", total=100_000)

    assert ", 99 %, " in out.getvalue()


def test_a_share_is_known_of_what_has_a_size(tmp_path: Path) -> None:
    file = tmp_path / "people"
    file.write_bytes(b"1234")

    with file.open("rb") as opened:
        assert size_of(opened) == 4
    assert size_of(io.BytesIO(b"1234")) is None
    assert (share_of(1, 4), share_of(5, 4), share_of(1, None), share_of(0, 0)) == (0.25, 1.0, None, None)
