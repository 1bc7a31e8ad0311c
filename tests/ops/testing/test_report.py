"""`ops/report`: it runs its parts, keeps what it finds, and names the commit at which all of them have passed."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from ops.testing import report
from ops.testing.report import PARTS, SEED, Part, main
from ops.testing.table import entries

COMMIT = "0123456789abcdef" * 2


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clean checkout at a commit, whose reports write here."""

    def git(*arguments: str) -> str:
        return COMMIT if arguments[0] == "rev-parse" else ""

    monkeypatch.setattr(report, "_git", git)
    for name in ("FOUND", "STATE", "PASSED_AT"):
        monkeypatch.setattr(report, name, tmp_path / name)
    monkeypatch.setattr(report, "ROOT", tmp_path)
    monkeypatch.setattr(report, "prepare_environment", lambda: "")
    monkeypatch.setenv(report.CITUS, "an archive")
    monkeypatch.setenv(SEED, "0")
    monkeypatch.delenv("CI", raising=False)
    return tmp_path


def part(name: str, program: str) -> Part:
    """Return a part that runs a program of Python, which is given the seed."""
    return Part(name=name, about="something", command=lambda seed: [sys.executable, "-c", program, str(seed)])


def test_a_finding_is_printed_and_kept_with_its_commit_seed_and_test(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    fails = "print('FAILED tests/test_a.py::test_it[one two] - assert 1 == 2'); raise SystemExit(1)"
    monkeypatch.setattr(report, "PARTS", (part("draws", fails), part("timing", "")))

    code = main(["--seed", "7"])

    finding = f"{COMMIT[:12]}, draws, seed 7: tests/test_a.py::test_it[one two]"
    assert code == 1
    assert f"found      {finding}\n" in capfd.readouterr().out
    assert (folder / "FOUND").read_text() == f"- {finding}\n"
    assert not (folder / "PASSED_AT").exists()


def test_the_commit_is_named_once_every_part_has_passed_at_it_in_one_run_or_several(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "PARTS", (part("draws", ""), part("timing", "print('it ran')")))

    assert main(["--part", "draws"]) == 0
    assert not (folder / "PASSED_AT").exists()
    assert "it ran" not in capfd.readouterr().out
    assert main([]) == 0

    assert (folder / "PASSED_AT").read_text() == f"{COMMIT}\n"
    assert "draws      1 of" not in capfd.readouterr().out


def test_a_program_that_fails_without_naming_a_test_is_a_finding_and_a_survivor_is_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survives = "print('1/2, 3 s left: weaker core/a.py:4: survived'); raise SystemExit(1)"
    monkeypatch.setattr(report, "PARTS", (part("costs", "raise SystemExit(3)"), part("faults", survives)))

    assert main(["--seed", "7"]) == 1

    assert (folder / "FOUND").read_text().splitlines() == [
        f"- {COMMIT[:12]}, costs, seed 7: ended with 3, and named no test",
        f"- {COMMIT[:12]}, faults, seed 7: weaker core/a.py:4: survived",
    ]


def test_a_run_of_some_minutes_stops_in_time_begins_by_the_seed_and_names_no_commit(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    waits = "import sys, time; print('began', flush=True); time.sleep(300)"
    monkeypatch.setattr(report, "PARTS", (part("draws", ""), part("timing", waits)))

    assert main(["--seed", "1", "--minutes", "0.03"]) == 0

    printed = capfd.readouterr().out
    assert "began" in printed
    assert "no time is left for draws" in printed
    assert not (folder / "PASSED_AT").exists()


def test_every_part_has_a_command() -> None:
    for each in PARTS:
        command = each.command(7)
        assert Path(command[0]).exists(), each.name
        assert len(command) > 1, each.name


def test_what_a_part_does_afterwards_is_done_when_it_has_found_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = list[str]()
    fails = "print('FAILED tests/test_a.py::test_it - no'); raise SystemExit(1)"
    programs = {"fails": fails, "passes": ""}
    monkeypatch.setattr(
        report,
        "PARTS",
        tuple(
            replace(part(name, program), afterwards=partial(done.append, name)) for name, program in programs.items()
        ),
    )

    main([])

    assert done == ["passes"]


@pytest.mark.parametrize("again", ["", "print('FAILED tests/test_a.py::test_it - no'); raise SystemExit(1)"])
def test_what_failed_beside_others_is_kept_with_how_it_ended_alone_and_holds_the_part(
    folder: Path, monkeypatch: pytest.MonkeyPatch, again: str
) -> None:
    fails = "print('FAILED tests/test_a.py::test_it - no'); raise SystemExit(1)"
    alone = replace(part("long", fails), alone=lambda failed: [sys.executable, "-c", again, *failed])
    monkeypatch.setattr(report, "PARTS", (alone,))

    assert main(["--seed", "7"]) == 1

    finding = f"- {COMMIT[:12]}, long, seed 7: tests/test_a.py::test_it"
    assert (folder / "FOUND").read_text() == (f"{finding}\n" if again else f"{finding} (passed alone)\n")
    assert not (folder / "PASSED_AT").exists()


def test_the_longest_of_the_long_modules_begin_first() -> None:
    seconds = {entry.module: entry.seconds for entry in entries("long")}
    command = next(part for part in PARTS if part.name == "long").command(7)

    asked = [seconds[argument] for argument in command if argument in seconds]

    assert asked == sorted(asked, reverse=True)
    assert asked[0] > asked[-1]
