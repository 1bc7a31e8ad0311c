"""What `ops/test` runs: the gate, the areas that a change touches, the long tests that it asks for, or plain pytest."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Final

from ops.testing.changes import changes
from ops.testing.environment import prepare_environment
from ops.testing.gate import NOT_IN_GATE, PROCESSES, Gate, plan_of, plan_of_areas
from ops.testing.steps import PYTHON, run
from ops.testing.table import AT_ONCE, BUDGET_SECONDS, TABLE, long_tests

_OWN: Final = ("--changed", "--long", "--since", "--help", "-h")
# A test may have to install a program first, so it gets more time before it counts as hanging.
LONG_HANGS_SECONDS: Final = 900
# The code of pytest when it has run no test.
NONE_SELECTED: Final = 5


def main(arguments: Sequence[str]) -> int:
    """Run what the arguments say."""
    note = prepare_environment()
    options = ["--color=yes"] if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else []
    marks = " and not browser" if note else ""
    if note and os.environ.get("CI"):
        # So that success means that the tests in a browser ran.
        print(f"gatehouse: {note}", file=sys.stderr)
        return 1
    if note:
        print(f"gatehouse: {note}", flush=True)
    if arguments and not arguments[0].startswith(_OWN):
        os.execv(PYTHON, [PYTHON, "-m", "pytest", *options, *(["-m", "not browser"] if note else []), *arguments])
    given = _parser().parse_args(arguments)
    # What is changed now, or since the commit that is named.
    changed = changes(given.since or ("HEAD" if given.changed else None))
    print(f"changed    {changed}", flush=True)
    if given.long:
        return _run_long(options, marks, given)
    if given.changed:
        return Gate(plan_of_areas(changed)).run(options, f"{NOT_IN_GATE}{marks}")
    return Gate(plan_of(changed, is_whole=bool(os.environ.get("CI")))).run(options, f"{NOT_IN_GATE}{marks}")


def _run_long(options: Sequence[str], marks: str, given: argparse.Namespace) -> int:
    """Run the long tests that the changes ask for, and say which of them there is no time for."""
    chosen = long_tests(changes(given.since), budget_seconds=given.minutes * 60)
    seconds = sum(entry.seconds for entry in chosen.runs) / AT_ONCE
    print(f"long       {len(chosen.runs)} modules, about {seconds:.0f} s", flush=True)
    for entry in chosen.left_out:
        print(f"           left to ops/report, {entry.seconds:.0f} s: {entry.module}", flush=True)
    if not chosen.runs:
        return 0
    modules = [entry.module for entry in chosen.runs]
    hangs = f"faulthandler_timeout={LONG_HANGS_SECONDS}"
    command = [PYTHON, "-m", "pytest", f"--processes={PROCESSES}", "--durations=5", "-o", hangs, *options]
    code = run([*command, "-m", f"long and not timing and not draws{marks}", *modules], shows=True).code
    # Perhaps only the report runs the long tests of these modules.
    return 0 if code == NONE_SELECTED else code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ops/test", description=DESCRIPTION, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--changed", action="store_true", help="only what the working tree touches, without coverage")
    parser.add_argument("--long", action="store_true", help=f"the long tests that the changes ask for ({TABLE.name})")
    parser.add_argument("--minutes", type=float, default=BUDGET_SECONDS / 60, help="the time for the long tests")
    parser.add_argument("--since", metavar="COMMIT", help="what counts as changed: everything since this commit")
    return parser


DESCRIPTION: Final = """
Runs the gate, or with the options below another part of the checks, or pytest with any other arguments:

  ops/test tests/http/platform/test_health.py -k ready
  ops/test tests/http --processes=3
"""

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
