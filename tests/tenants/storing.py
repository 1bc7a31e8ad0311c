"""The stored histories: for each undone rule the fewest steps that find it, in `found.json`.

They name their steps, so they find the same whatever kinds of steps are added. For a rule that has none, or whose steps
have changed, this searches and writes it:

    .venv/bin/python -m tests.tenants.storing "the rule" …     # without a rule: for all that have no history
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.tenants.histories import Found
from tests.tenants.taking import Step, step_of
from tests.tenants.undone_openings import ALL_UNDONE

FOUND: Final = Path(__file__).with_name("found.json")
SEARCH: Final = "tests/http/organizations/test_tenants.py::test_histories_find_that_a_rule_was_undone"
STORES: Final = "GATEHOUSE_TEST_STORES"


def stored(file: Path = FOUND) -> dict[str, list[str]]:
    """Return the histories by the rules that they find when those are undone."""
    return json.loads(file.read_text()) if file.exists() else {}


def history_of(rule: str) -> list[Step]:
    """Return the stored history of a rule; fail where there is none."""
    steps = stored().get(rule)
    assert steps is not None, f'no history finds it; run: .venv/bin/python -m tests.tenants.storing "{rule}"'
    return [step_of(one) for one in steps]


def storage() -> Path | None:
    """Return the file to which this run writes what it finds; None for a run that only searches."""
    return Path(os.environ[STORES]) if STORES in os.environ else None


def store(file: Path, rule: str, found: Found) -> None:
    """Write the history of a rule."""
    histories = stored(file) | {rule: [str(one) for one in found.steps]}
    in_order = {one.rule: histories[one.rule] for one in ALL_UNDONE if one.rule in histories}
    file.write_text(json.dumps(in_order, indent=2, ensure_ascii=False) + "\n")


def main(rules: list[str]) -> int:
    """Search for rules, and store what is found; return the exit code of pytest."""
    file = Path(os.environ.setdefault(STORES, str(FOUND)))
    sought = rules or [one.rule for one in ALL_UNDONE if one.rule not in stored(file)]
    if not sought:
        return 0
    # Making a history shorter may take minutes.
    command = [sys.executable, "-m", "pytest", "-q", "-o", "faulthandler_timeout=0"]
    return subprocess.run([*command, *(f"{SEARCH}[{rule}]" for rule in sought)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
