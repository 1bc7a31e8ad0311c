"""Runs our tests of the modules of each plan, and writes the log of each profile.

    .venv/bin/python -m ops.certification.conditions

The log says which test covers which module, and how it ended. `tests/ops/test_certification.py` compares it with the
tests, so a module that has lost its test, or another version of Gatehouse, needs a new run.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple
from xml.etree import ElementTree

from ops.certification.profiles import PROFILES, ROOT, Profile

PASSED: Final = "passed"
FAILED: Final = "failed"
# A list of names of modules, before the words that a comment may have after it.
_NAMES: Final = re.compile(r"[a-zA-Z0-9_]+(?:-[a-zA-Z0-9_]+)+(?:,\s+[a-zA-Z0-9_]+(?:-[a-zA-Z0-9_]+)+)*")


class Module(NamedTuple):
    """A module of a plan, and one of the tests that cover it."""

    name: str
    file: str
    test: str

    @property
    def node(self) -> str:
        """The name of the test, for a person and for pytest."""
        return f"{self.file}::{self.test}"


def main() -> int:
    """Run the tests, write the logs, and return the status."""
    outcomes = _outcomes()
    for profile in PROFILES:
        profile.log.write_text(log_of(profile, outcomes))
        print(f"{profile.name}: {profile.log.relative_to(ROOT)}")
    failed = sorted({name for name, outcome in outcomes.items() if outcome == FAILED})
    if failed:
        print("Not passed:", *failed, sep="\n  ")
    return 1 if failed else 0


def log_of(profile: Profile, outcomes: Mapping[str, str]) -> str:
    """Return the log of a profile, with how each test has ended."""
    modules = modules_of(profile)
    lines = [f"{outcomes[_run(each, profile)]}  {each.name}  {each.node}" for each in modules]
    names = {each.name for each in modules}
    passed = names - {each.name for each in modules if outcomes[_run(each, profile)] != PASSED}
    head = [
        f"Gatehouse {version()}: {profile.name}",
        f"Plan: {profile.plan}",
        f"Modules: {len(passed)} of {len(names)} passed",
        "By tests of Gatehouse, which hold the conditions of these modules. The suite of the foundation was not run.",
    ]
    return "\n".join([*head, "", *lines, ""])


def modules_of(profile: Profile) -> list[Module]:
    """Return the modules of a profile for which there are tests, with each of them, in the order of the tests."""
    return [
        Module(f"{profile.beginning}{name}", file, test)
        for file in profile.tests
        for test, names in _named(ROOT / file)
        for name in names
    ]


def version() -> str:
    """Return the version of Gatehouse."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])


def _named(file: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the tests of a file with the names of modules that a comment above or the documentation has."""
    text = file.read_text()
    lines = text.splitlines()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            documented = ast.get_docstring(node) or ""
            found = (
                documented.partition(":")[0] if documented.startswith("oidcc-") else _comment(lines, node.lineno - 1)
            )
            if names := _NAMES.match(found):
                yield node.name, re.split(r",\s+", names[0])


def _comment(lines: list[str], end: int) -> str:
    """Return the text of the comment that stands directly above a line."""
    begin = end
    while begin and lines[begin - 1].startswith("# "):
        begin -= 1
    return " ".join(line.removeprefix("# ") for line in lines[begin:end])


def _run(module: Module, profile: Profile) -> str:
    return f"{module.node}[{profile.parameter}]" if profile.parameter else module.node


def _outcomes() -> dict[str, str]:
    """Return how each test of the plans ends, by its name in a run of pytest."""
    files = sorted({file for profile in PROFILES for file in profile.tests})
    with tempfile.TemporaryDirectory(prefix="gatehouse-conditions-") as folder:
        report = Path(folder) / "report.xml"
        command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junit-xml={report}", *files)
        subprocess.run(command, check=False, cwd=ROOT)
        cases = ElementTree.parse(report).iter("testcase")  # noqa: S314 - our own report
        outcomes: dict[str, str] = {}
        for case in cases:
            name = f"{case.attrib['classname'].replace('.', '/')}.py::{case.attrib['name']}"
            is_passed = case.find("failure") is None and case.find("error") is None and case.find("skipped") is None
            # A test with subtests has a case for each of them.
            outcomes[name] = PASSED if is_passed and outcomes.get(name, PASSED) == PASSED else FAILED
    return outcomes


if __name__ == "__main__":
    sys.exit(main())
