"""What `ops/report` runs: all that draws, measures or drills, and on which no verdict may hang.

It says progress, prints commit, seed and test of what it finds, and keeps them in `ops/report.d/found.md`. Once every
part has passed at one commit, in one run or in several (`ops/report.d/parts.json`), that commit is written to
`ops/report.d/passed-at`: it is the one since which `ops/test` and CI take files for changed. Of the long tests, which
take an hour, the modules that have failed are run again, and not the others.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ops.testing.changes import PASSED_AT, ROOT
from ops.testing.covering import forget, record
from ops.testing.environment import prepare_environment
from ops.testing.gate import COVERAGE, NOT_IN_GATE, PROCESSES
from ops.testing.steps import PYTHON, Ended, failed_tests, run
from ops.testing.table import entries

FOUND: Final = ROOT / "ops/report.d/found.md"
# Which parts have passed at one commit. It is checked in, so that they may be run one after another, by several people.
STATE: Final = ROOT / "ops/report.d/parts.json"
# Coverage tells the modules of tests apart.
MODULES: Final = "modules"
CITUS: Final = "GATEHOUSE_TEST_CITUS"
SEED: Final = "GATEHOUSE_REPORT_SEED"
SEEDS: Final = 1_000_000
# The longest test draws for 20 minutes, with a quiet machine to itself.
HANGS_SECONDS: Final = 5_400
FAULTS: Final = 15
# Of 100: what has no effect cannot be found, and survives.
FAULTS_FOUND_MIN: Final = 70
# How pytest ends where all tests have run, and some of them failed.
TESTS_FAILED: Final = 1
_SURVIVED: Final = re.compile(r"^\d+/\d+, .* left: (.+: survived)$", re.MULTILINE)
_MINUTES_HELP: Final = "stop after so many minutes, and begin with another part by the seed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of the report, and the command that runs it with a seed."""

    name: str
    about: str
    command: Callable[[int], Sequence[str]]
    beforehand: Callable[[], None] = lambda: None
    afterwards: Callable[[], None] = lambda: None
    """What is done when it has come to its end and found nothing."""
    again: Callable[[Sequence[str]], Sequence[str]] | None = None
    """The command for some of its modules: those that failed when all of it ran at the same commit. One part has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What has passed at a commit: parts, and of the one whose modules count one by one all but those that are left."""

    commit: str
    passed: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()


def _tests(*options: str, processes: int = PROCESSES) -> list[str]:
    hangs = f"faulthandler_timeout={HANGS_SECONDS}"
    return [PYTHON, "-m", "pytest", f"--processes={processes}", "-q", "-rfEs", "--durations=5", "-o", hangs, *options]


def _covering(*options: str) -> list[str]:
    return [PYTHON, "-m", "coverage", "run", "--source=core", *_tests(*options)[1:]]


def _long(modules: Sequence[str] = (), *, on_cluster: bool = False) -> list[str]:
    modules = modules or [entry.module for entry in entries("long") if entry.needs_cluster == on_cluster]
    # One at a time, because a cluster is four servers.
    return _tests("-m", "long and not timing and not draws", *modules, processes=0 if on_cluster else PROCESSES)


PARTS: Final = (
    Part(
        name="properties",
        about="properties with new inputs",
        command=lambda seed: _tests(
            "tests", "-m", "hypothesis and not draws", "--hypothesis-profile=drawing", f"--hypothesis-seed={seed}"
        ),
    ),
    Part(
        name="draws",
        about="histories, simulations and matrices with new seeds",
        command=lambda _seed: _tests("tests", "-m", "draws"),
    ),
    Part(
        name="timing",
        about="what compares with the machine's clock, one test at a time",
        command=lambda _seed: _tests("tests", "-m", "timing", processes=0),
    ),
    Part(
        name="costs",
        about="processor time of the hottest operations beside an earlier release",
        command=lambda _seed: [str(ROOT / "ops/bench"), "--check"],
    ),
    Part(
        name="order",
        about="the gate's tests, modules in another order, and which of them cover core",
        command=lambda seed: _covering("tests", "-m", NOT_IN_GATE, "-p", "tests.shuffling", f"--shuffle={seed}"),
        beforehand=forget,
        afterwards=record,
    ),
    Part(
        name="faults",
        about=f"which of {FAULTS} drawn faults the tests find",
        command=lambda seed: [
            *(str(ROOT / "ops/faults"), f"--seed={seed}", f"--number={FAULTS}"),
            f"--found-min={FAULTS_FOUND_MIN}",
        ],
    ),
    Part(
        name="long",
        about="all long tests",
        command=lambda _seed: _long(),
        again=_long,
    ),
    Part(name="cluster", about="all long tests on a cluster", command=lambda _seed: _long(on_cluster=True)),
)


def main(arguments: Sequence[str]) -> int:
    """Run the parts that the arguments name."""
    given = _parser().parse_args(arguments)
    # What it writes itself is no change.
    commit, is_clean = _git("rev-parse", "HEAD"), not _git("status", "--porcelain", "--", ".", ":!ops/report.d")
    if prepare_environment():
        print("The report needs Chromium: apt-get install chromium, or set GATEHOUSE_CHROMIUM.")
        return 2
    seed = secrets.randbelow(SEEDS) if given.seed is None else given.seed
    os.environ[SEED] = str(seed)
    state = _state_at(commit)
    parts = [part for part in PARTS if part.name in (given.part or [part.name])]
    if given.minutes is not None:
        first = seed % len(parts)
        parts = parts[first:] + parts[:first]
    elif not given.part:
        parts = [part for part in parts if part.name not in state.passed]
    print(f"report     commit {commit[:12]}, seed {seed}: {', '.join(part.name for part in parts)}", flush=True)
    ends_at = time.monotonic() + given.minutes * 60 if given.minutes is not None else None
    findings = list[str]()
    for number, part in enumerate(parts, 1):
        seconds_left = None if ends_at is None else ends_at - time.monotonic()
        if seconds_left is not None and seconds_left <= 0:
            print(f"           no time is left for {', '.join(each.name for each in parts[number - 1 :])}")
            break
        print(f"{part.name:<10} {number} of {len(parts)}: {part.about}", flush=True)
        ended = _run(part, seed, seconds_left, state)
        found = _findings(ended, is_cut=seconds_left is not None)
        findings += [f"{commit[:12]}, {part.name}, seed {seed}: {each}" for each in found]
        if is_clean and seconds_left is None:
            state = _keep(state, part, ended, found)
    for finding in findings:
        print(f"found      {finding}")
    if findings and "CI" not in os.environ:
        with FOUND.open("a") as file:
            file.writelines(f"- {finding}\n" for finding in findings)
    if state.passed >= {part.name for part in PARTS} and CITUS in os.environ:
        PASSED_AT.write_text(f"{commit}\n")
        print(f"report     all of it has passed at {commit[:12]}; commit {PASSED_AT.relative_to(ROOT)}")
    return int(bool(findings))


def _run(part: Part, seed: int, seconds_max: float | None, state: State) -> Ended:
    part.beforehand()
    command = list(part.command(seed))
    if seconds_max is not None:
        command = ["timeout", "--signal=INT", "--kill-after=30", f"{seconds_max:.0f}", *command]
    elif part.again and state.left:
        command = list(part.again(sorted(state.left)))
        print(f"{part.name:<10} only the modules that have failed: {', '.join(sorted(state.left))}", flush=True)
    ended = run(command, shows=True, environment={COVERAGE: MODULES})
    print(f"{part.name:<10} ended with {ended.code} after {ended.seconds:.0f} s", flush=True)
    return ended


def _findings(ended: Ended, *, is_cut: bool) -> list[str]:
    """Return what a part has found; where it did not come to its end, that is a finding unless its time was cut."""
    if ended.code == 0:
        return []
    unnamed = [] if is_cut else [f"ended with {ended.code}, and named no test"]
    return [*failed_tests(ended.printed), *_SURVIVED.findall(ended.printed)] or unnamed


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _state_at(commit: str) -> State:
    kept: dict[str, list[str]] = json.loads(STATE.read_text()) if STATE.exists() else {}
    if commit not in kept:
        return State(commit=commit)
    return State(commit=commit, passed=frozenset(kept[commit]), left=frozenset(kept.get("left", ())))


def _keep(state: State, part: Part, ended: Ended, found: Sequence[str]) -> State:
    """Keep that a part has passed, or which of its modules are left."""
    if not found:
        part.afterwards()
        state = replace(state, passed=state.passed | {part.name}, left=frozenset() if part.again else state.left)
    elif part.again and ended.code == TESTS_FAILED and all("::" in each for each in found):
        # All of its tests have run: it was not interrupted, and each module could be imported.
        state = replace(state, left=frozenset(each.partition("::")[0] for each in found))
    kept = {state.commit: sorted(state.passed), "left": sorted(state.left)}
    STATE.write_text(json.dumps(kept) + "\n")
    return state


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ops/report",
        description="Runs what draws, measures or drills: every part that has not passed at this commit yet.",
        epilog="\n".join(f"{part.name:<12}{part.about}" for part in PARTS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--part", action="append", choices=[part.name for part in PARTS], help="only this part")
    parser.add_argument("--seed", type=int, help="the seed of what is drawn; without it a new one")
    parser.add_argument("--minutes", type=float, help=_MINUTES_HELP)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
