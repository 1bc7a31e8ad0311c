"""What `ops/report` runs: all that draws, measures or drills, and on which no verdict may hang.

It says progress, prints commit, seed and test of what it finds, and keeps them in `ops/report.d/found.md`. Once every
part has passed at one commit, in one run or in several (`ops/report.d/parts.json`), that commit is written to
`ops/report.d/passed-at`: it is the one since which `ops/test` and CI take files for changed.
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
from dataclasses import dataclass
from typing import Final

from ops.testing.changes import PASSED_AT, ROOT
from ops.testing.covering import forget, record
from ops.testing.environment import prepare_environment
from ops.testing.gate import COVERAGE, NOT_IN_GATE, PROCESSES
from ops.testing.steps import PYTHON, failed_tests, run
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
    alone: Callable[[Sequence[str]], Sequence[str]] | None = None
    """The command that runs the tests which have failed beside others once more, one at a time."""


def _tests(*options: str, processes: int = PROCESSES) -> list[str]:
    hangs = f"faulthandler_timeout={HANGS_SECONDS}"
    return [PYTHON, "-m", "pytest", f"--processes={processes}", "-q", "-rfEs", "--durations=5", "-o", hangs, *options]


def _covering(*options: str) -> list[str]:
    return [PYTHON, "-m", "coverage", "run", "--source=core", *_tests(*options)[1:]]


def _long(*, on_cluster: bool) -> list[str]:
    # The longest first, so that no process is left with one at the end.
    by_seconds = sorted(entries("long"), key=lambda entry: entry.seconds, reverse=True)
    modules = [entry.module for entry in by_seconds if entry.needs_cluster == on_cluster]
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
        command=lambda _seed: _long(on_cluster=False),
        alone=lambda failed: _tests(*failed, processes=0),
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
    passed = _passed_at(commit)
    parts = [part for part in PARTS if part.name in (given.part or [part.name])]
    if given.minutes is not None:
        first = seed % len(parts)
        parts = parts[first:] + parts[:first]
    elif not given.part:
        parts = [part for part in parts if part.name not in passed]
    print(f"report     commit {commit[:12]}, seed {seed}: {', '.join(part.name for part in parts)}", flush=True)
    ends_at = time.monotonic() + given.minutes * 60 if given.minutes is not None else None
    findings = list[str]()
    for number, part in enumerate(parts, 1):
        seconds_left = None if ends_at is None else ends_at - time.monotonic()
        if seconds_left is not None and seconds_left <= 0:
            print(f"           no time is left for {', '.join(each.name for each in parts[number - 1 :])}")
            break
        print(f"{part.name:<10} {number} of {len(parts)}: {part.about}", flush=True)
        found = _run(part, seed, seconds_left)
        failed = _failed_alone(part, found) if found and seconds_left is None else found
        passed_alone = set(found or []) - set(failed or [])
        findings += [
            f"{commit[:12]}, {part.name}, seed {seed}: {each}{' (passed alone)' if each in passed_alone else ''}"
            for each in found or []
        ]
        if found == [] and is_clean and seconds_left is None:
            part.afterwards()
            passed = _keep(commit, part.name)
    for finding in findings:
        print(f"found      {finding}")
    if findings and "CI" not in os.environ:
        with FOUND.open("a") as file:
            file.writelines(f"- {finding}\n" for finding in findings)
    if passed >= {part.name for part in PARTS} and CITUS in os.environ:
        PASSED_AT.write_text(f"{commit}\n")
        print(f"report     all of it has passed at {commit[:12]}; commit {PASSED_AT.relative_to(ROOT)}")
    return int(bool(findings))


def _run(part: Part, seed: int, seconds_max: float | None) -> list[str] | None:
    """Run a part, and return what it found; None where it did not come to its end."""
    part.beforehand()
    command = list(part.command(seed))
    if seconds_max is not None:
        command = ["timeout", "--signal=INT", "--kill-after=30", f"{seconds_max:.0f}", *command]
    ended = run(command, shows=True, environment={COVERAGE: MODULES})
    print(f"{part.name:<10} ended with {ended.code} after {ended.seconds:.0f} s", flush=True)
    found = [*failed_tests(ended.printed), *_SURVIVED.findall(ended.printed)]
    if ended.code == 0:
        return []
    if found:
        return found
    return None if seconds_max is not None else [f"ended with {ended.code}, and named no test"]


def _failed_alone(part: Part, found: list[str]) -> list[str]:
    """Return which of the findings are found again without other tests beside them."""
    if part.alone is None or not all(each.startswith("tests/") for each in found):
        return found
    print(f"{part.name:<10} once more, alone: {len(found)} that failed beside others", flush=True)
    ended = run(part.alone(found), shows=True)
    return [] if ended.code == 0 else failed_tests(ended.printed) or found


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _passed_at(commit: str) -> set[str]:
    kept: dict[str, list[str]] = json.loads(STATE.read_text()) if STATE.exists() else {}
    return set(kept.get(commit, []))


def _keep(commit: str, part: str) -> set[str]:
    """Keep that a part has passed at a commit, and return all parts that have."""
    passed = {*_passed_at(commit), part}
    STATE.write_text(json.dumps({commit: sorted(passed)}) + "\n")
    return passed


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
