"""The command `ops/faults`: its options, the copy of the tree, and the tests for each fault."""

from __future__ import annotations

import argparse
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from ops.faulting.operators import Fault, faults_in
from ops.testing.steps import failed_tests

_ROOT: Final = Path(__file__).resolve().parents[2]
_TIMEOUT: Final = "a timeout"
_FIRST: Final = {
    "core": ["tests/core", "tests/adapters", "tests/http", "tests/pages"],
    "adapters": ["tests/adapters", "tests/http"],
}


def main() -> int:
    """Put in each fault, and print which test finds it; fail if fewer of 100 are found than `--found-min` says."""
    options = _parser().parse_args()
    seed = secrets.randbelow(1_000_000) if options.seed is None else options.seed
    with tempfile.TemporaryDirectory(prefix="gatehouse-faults-") as directory:
        tree = Path(directory)
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=_ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", directory], input=archive, check=True)
        (tree / ".venv").symlink_to(_ROOT / ".venv")
        chosen = _chosen(_all(tree), options, seed)
        print(f"seed {seed}, {len(chosen)} faults", flush=True)
        if not chosen:
            print("No fault has this kind, folder or id. ops/faults --list prints them.")
            return 2
        if options.list:
            print(*(fault.id for fault in chosen), sep="\n")
            return 0
        return _run(tree, chosen, options)


def _all(tree: Path) -> list[Fault]:
    paths = sorted(p for top in ("core", "adapters/postgres", "entrypoints") for p in (tree / top).rglob("*.*"))
    texts = [p for p in paths if p.suffix in {".py", ".html"}]
    return [fault for p in texts for fault in faults_in(str(p.relative_to(tree)), p.read_text())]


def _chosen(faults: list[Fault], options: argparse.Namespace, seed: int) -> list[Fault]:
    if options.fault:
        return [fault for fault in faults if fault.id == options.fault]
    faults = [
        fault
        for fault in faults
        if options.kind in (None, fault.kind) and fault.path.startswith(tuple(options.under or [""]))
    ]
    if options.all or options.list:
        return faults
    return random.Random(seed).sample(faults, min(options.number, len(faults)))  # noqa: S311 - a sample that can be repeated


def _tests(tree: Path, fault: Fault) -> list[str]:
    parts = Path(fault.path).parts
    area = parts[2] if parts[0] != "core" else parts[1]
    tops = _FIRST.get(parts[0], ["tests/pages"])
    folders = [f"{top}/{area}" for top in tops if (tree / top / area).is_dir()] or tops
    stem = Path(fault.path).stem
    # What is named after the file comes first, because the run ends with the first test that fails.
    nearest = [str(p.relative_to(tree)) for p in sorted((tree / "tests").rglob(f"test_{stem}*.py"))]
    return [*nearest, *(["tests/adapters/statements"] if parts[0] == "adapters" else []), *folders, "tests/web"]


def _run(tree: Path, faults: list[Fault], options: argparse.Namespace) -> int:
    found, survivors, started = Counter[str](), list[Fault](), time.monotonic()
    for number, fault in enumerate(faults, 1):
        path = tree / fault.path
        text = path.read_text()
        path.write_text(fault.applied(text))
        finder = _failing(tree, _tests(tree, fault), options.timeout)
        path.write_text(text)
        verdict = f"found by {finder}" if finder else "survived"
        # A test that fails without the fault, too, has found nothing.
        if finder and finder != _TIMEOUT and _failing(tree, [finder], options.timeout):
            finder, verdict = None, f"unclear, as {finder} fails without the fault"
        if finder:
            found[fault.kind] += 1
        else:
            survivors.append(fault)
        left = (time.monotonic() - started) / number * (len(faults) - number)
        print(f"{number}/{len(faults)}, {left:.0f} s left: {fault.id}: {verdict}", flush=True)
    kinds = Counter(fault.kind for fault in faults)
    print(*(f"{kind}: {found[kind]} of {count}" for kind, count in sorted(kinds.items())), sep="\n")
    if survivors:
        print("Survived; write the test that finds it, or say in ops/decisions/0063 why none can:")
        print(*(fault.id for fault in survivors), sep="\n")
    return int((len(faults) - len(survivors)) * 100 < options.found_min * len(faults))


def _failing(tree: Path, tests: list[str], timeout: int) -> str | None:
    command = [
        ".venv/bin/python",
        "-m",
        "pytest",
        "-x",
        "-q",
        "--processes=2",
        "-m",
        "not long and not browser and not timing and not draws",
        "-p",
        "no:cacheprovider",
    ]
    environment = os.environ | {"PYTHONPATH": str(tree)}
    with subprocess.Popen(
        [*command, *tests], cwd=tree, env=environment, text=True, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return _TIMEOUT
    # What a fault keeps from being collected is a file, and all of its tests may be long ones.
    if process.returncode in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        return None
    named = failed_tests(output)
    if not named:
        raise RuntimeError(f"pytest ended with {process.returncode} and named no test:\n{output[-2000:]}")
    return named[0]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ops/faults", description=__doc__)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--number", type=int, default=40)
    parser.add_argument("--kind")
    parser.add_argument(
        "--under", action="append", metavar="FOLDER", help="only faults in this folder; may be repeated"
    )
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--list", action="store_true", help="print the ids, and run nothing")
    parser.add_argument("--fault", metavar="ID", help="repeat one")
    parser.add_argument("--found-min", type=int, default=0, metavar="PERCENT", help="fail if fewer are found")
    parser.add_argument("--timeout", type=int, default=300, help="seconds for the tests of one fault")
    return parser


if __name__ == "__main__":
    sys.exit(main())
