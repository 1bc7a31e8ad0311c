"""The check against a release: its order, its ratio, its verdict, the release, and what its meters count."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ops.benchmarks import meters, releases, report
from ops.benchmarks.hot_operations import COMPARED_WITH, HOT_OPERATIONS, HotOperation
from ops.benchmarks.release_check import MARGIN, Measurement, ReleaseCheck, Verdict, in_turns, judge, limits
from ops.benchmarks.releases import Release, extract, extract_older, release
from ops.benchmarks.servers import CannotMeasure

# The first thread works little, the second one all the time.
WORK_ON_A_THREAD = """
import threading, time
threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()
print("begun", flush=True)
while True: time.sleep(0.01)
"""
LOAD_SECONDS = 0.2


def measurement(ratio: float) -> Measurement:
    """Return a measurement with this ratio."""
    return Measurement(release=[2.0], today=[2.0 * ratio])


def verdict(name: str, *ratios: float) -> Verdict:
    """Return the verdict on an operation with these ratios."""
    return Verdict(name=name, measurements=[measurement(ratio) for ratio in ratios], ratio_max=1.10)


@contextmanager
def working_on_a_thread() -> Generator[int]:
    """Run a program whose work is not done by its first thread."""
    with subprocess.Popen([sys.executable, "-c", WORK_ON_A_THREAD], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.kill()


def git(repository: Path, *arguments: str) -> str:
    """Run git as an author, and return what it printed."""
    author = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    return subprocess.run(
        ["git", "-C", repository, *author, *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def released(tmp_path: Path) -> tuple[Path, Release]:
    """A repository, and the first of its two commits."""
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "--quiet")
    for text in ("released", "today"):
        (repository / "file").write_text(text)
        git(repository, "add", "file")
        git(repository, "commit", "--quiet", "--message", text)
    return repository, Release(version="0.1.0", date="2026-11-21", commit=git(repository, "rev-parse", "HEAD~1"))


# Measuring and deciding


def test_versions_are_measured_in_turn_and_neither_is_always_first() -> None:
    order: list[str] = []

    in_turns(lambda: order.append("release") or 1.0, lambda: order.append("today") or 1.0, rounds=2)

    assert order == ["release", "today", "today", "release"] * 2


def test_the_medians_of_the_turns_are_compared() -> None:
    costs_of_release, costs_of_today = iter([1.0, 2.0, 2.0, 9.0]), iter([3.0, 0.5, 3.0, 3.0])

    measured = in_turns(lambda: next(costs_of_release), lambda: next(costs_of_today), rounds=2)

    assert measured.ratio == pytest.approx(1.5)


def test_what_is_above_the_limit_is_measured_again_after_all_others_and_over_when_it_stays_above() -> None:
    profile, refresh, code_flow, login = operations = HOT_OPERATIONS[:4]
    ratios = {
        profile.name: iter([1.10]),
        refresh.name: iter([1.11, 1.10]),
        code_flow.name: iter([1.30, 1.30, 1.05]),
        login.name: iter([1.11, 1.30, 1.11]),
    }
    order: list[HotOperation] = []

    def measured(operation: HotOperation) -> Measurement:
        order.append(operation)
        return measurement(next(ratios[operation.name]))

    verdicts = judge(operations, measured, dict.fromkeys(ratios, 1.10), lambda _line: None)

    assert order == [*operations, refresh, code_flow, login, code_flow, login]
    assert [each.name for each in verdicts] == [operation.name for operation in operations]
    assert [each.is_over for each in verdicts] == [False, False, False, True]


def test_what_was_won_since_the_release_is_kept() -> None:
    assert {name: round(limit / MARGIN, 6) for name, limit in limits().items()} == {
        operation.name: operation.ratio for operation in HOT_OPERATIONS
    }
    assert all(operation.ratio < 1 for operation in HOT_OPERATIONS)


def test_a_later_release_does_not_reset_what_was_won() -> None:
    lines = releases.RELEASES.read_text().splitlines()

    assert release("\n".join(lines), COMPARED_WITH).version == COMPARED_WITH
    assert not lines[-1].startswith(COMPARED_WITH)


def test_an_operation_is_judged_by_its_own_limit() -> None:
    profile, refresh = operations = HOT_OPERATIONS[:2]

    verdicts = judge(operations, lambda _: measurement(0.8), {profile.name: 0.7, refresh.name: 0.9}, lambda _line: None)

    assert [each.is_over for each in verdicts] == [True, False]


def test_one_operation_over_the_limit_fails_the_check_and_is_marked_in_the_table() -> None:
    within = verdict("profile", 1.2, 1.0)
    over = verdict("refresh", 1.2, 1.3, 1.25)

    passed = ReleaseCheck(version="0.1.0", unit="ms CPU", verdicts=[within])
    failed = ReleaseCheck(version="0.1.0", unit="ms CPU", verdicts=[within, over])

    heading, _, within_line, over_line = failed.table().splitlines()
    assert not passed.is_over
    assert failed.is_over
    assert "0.1.0, ms CPU" in heading
    assert "1.200, 1.000" in within_line
    assert report.OVER not in within_line
    assert "1.200, 1.300, 1.250" in over_line
    assert report.OVER in over_line


def test_there_are_ten_hot_operations_with_different_names() -> None:
    assert len({operation.name for operation in HOT_OPERATIONS}) == len(HOT_OPERATIONS) == 10


# The release


def test_an_upgrade_begins_at_the_newest_release_with_fewer_migrations(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    (repository / releases.MIGRATIONS).mkdir(parents=True)
    git(repository, "init", "--quiet")
    lines = ["# version, date, commit"]
    for number, files in enumerate((1, 2, 2), 1):
        for file in range(files):
            (repository / releases.MIGRATIONS / f"{file}.sql").write_text("")
        (repository / "version").write_text(str(number))
        git(repository, "add", ".")
        git(repository, "commit", "--quiet", "--message", "release")
        lines.append(f"0.{number}.0 2026-11-21 {git(repository, 'rev-parse', 'HEAD')}")
    text = "\n".join([*lines, "# the end", ""])

    assert extract_older(text, tmp_path / "of_three", 3, repository=repository).version == "0.3.0"
    assert extract_older(text, tmp_path / "of_two", 2, repository=repository).version == "0.1.0"
    assert (tmp_path / "of_two" / "version").read_text() == "1"
    with pytest.raises(CannotMeasure, match="no release with fewer than 1 migrations"):
        extract_older(text, tmp_path / "of_one", 1, repository=repository)


def test_a_release_is_found_by_its_version() -> None:
    text = "# version, date, commit\n0.1.0 2026-11-21 aaa\n0.2.0 2027-01-31 bbb\n"

    assert release(text, "0.1.0") == Release(version="0.1.0", date="2026-11-21", commit="aaa")
    with pytest.raises(CannotMeasure, match=r"does not name 0\.3\.0"):
        release(text, "0.3.0")


def test_the_releases_of_this_repository_can_be_read() -> None:
    assert re.fullmatch(r"[0-9a-f]{40}", release(releases.RELEASES.read_text(), COMPARED_WITH).commit)


def test_the_files_of_a_release_are_those_of_its_commit(tmp_path: Path, released: tuple[Path, Release]) -> None:
    repository, release = released

    extract(release, tmp_path / "release", repository=repository)

    assert (tmp_path / "release/file").read_text() == "released"


def test_a_shallow_clone_gets_the_commit_of_the_release(tmp_path: Path, released: tuple[Path, Release]) -> None:
    repository, release = released
    git(tmp_path, "clone", "--quiet", "--depth=1", repository.as_uri(), "clone")

    extract(release, tmp_path / "release", repository=tmp_path / "clone")

    assert (tmp_path / "release/file").read_text() == "released"


def test_a_commit_that_is_nowhere_is_an_error_that_says_what_to_do(
    tmp_path: Path, released: tuple[Path, Release]
) -> None:
    repository, _ = released
    unknown = Release(version="0.2.0", date="2027-01-31", commit="b" * 40)

    with pytest.raises(CannotMeasure, match=r"0\.2\.0, b{40}, is not in this repository .* --unshallow"):
        extract(unknown, tmp_path / "release", repository=repository)


# What a request costs


@pytest.mark.timing
def test_processor_time_is_that_of_all_threads_or_only_of_the_event_loop() -> None:
    with working_on_a_thread() as process:
        whole = meters.processor_time([process], lambda: time.sleep(LOAD_SECONDS), only_the_event_loop=False)
        event_loop = meters.processor_time([process], lambda: time.sleep(LOAD_SECONDS), only_the_event_loop=True)

    assert event_loop < whole


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
@pytest.mark.timing
def test_perf_counts_all_threads_or_only_the_event_loop() -> None:
    # In virtual machines it counts no instructions, but the time of a task everywhere.
    with working_on_a_thread() as process:
        whole, event_loop = (
            meters.instructions(
                [process], lambda: time.sleep(LOAD_SECONDS), only_the_event_loop=only, event="task-clock"
            )
            for only in (False, True)
        )

    assert event_loop < whole


@pytest.mark.parametrize(
    ("output", "counted"),
    [
        ("Events enabled\n1234567,,instructions:u,300,100.00,,\n", 1_234_567),
        ("100,,cpu_core/instructions/u,1,50.00,,\n20,,cpu_atom/instructions/u,1,50.00,,\n", 120),
        ("100,,cpu_core/instructions/u,1,50.00,,\n<not counted>,,cpu_atom/instructions/u,0,0.00,,\n", 100),
        ("<not supported>,,instructions:u,0,100.00,,\n", None),
        ("event syntax error: 'instructions:u'\n", None),
        ("", None),
    ],
)
def test_what_perf_has_counted_is_parsed(output: str, counted: float | None) -> None:
    assert meters.parse_perf(output) == counted
