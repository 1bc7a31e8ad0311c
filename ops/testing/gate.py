"""The gate: format, lint, import contracts, types, the suite, and the coverage of core.

A check that depends on a part of the tree runs only when that part has changed: types of changed files and their
importers, coverage of changed files of core, and the tests that `tests/when_changed.toml` names. Of the areas that the
change does not touch, an eighth of the tests runs. Where `CI` is set, every check runs, and the matrices are whole.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from ops.testing.areas import ONE_IN, find_tests, is_of_area, modules_of_tests
from ops.testing.changes import Changes
from ops.testing.covering import covering
from ops.testing.imports import importers_of, python_files
from ops.testing.steps import BIN, PYTHON, Beside, Ended, loop_seconds, run
from ops.testing.table import EVERYTHING, unchanged_in_gate

# Of what `loop_seconds` counts: the tests with PostgreSQL, to begin with and all modules, and the types of all files.
START_LOOPS: Final = 2_000
TESTS_LOOPS: Final = 21_000
TYPES_LOOPS: Final = 2_200
# Processes wait too, for PostgreSQL, for a program, for a browser; more than these would need much memory.
PROCESSES: Final = min((os.cpu_count() or 1) + 1, 6)
# For a larger part of the files than this, the types of all files are checked.
TYPES_PART_MAX: Final = 0.4
SAMPLE: Final = "GATEHOUSE_TEST_SAMPLE"
WHOLE: Final = "GATEHOUSE_TEST_WHOLE"
TRACED: Final = "GATEHOUSE_TEST_TRACED"
# With `all`, every layer is measured, and whatever reaches a line counts; only core has to be covered.
COVERAGE: Final = "GATEHOUSE_TEST_COVERAGE"
LAYERS: Final = "core,ports,adapters,actors,entrypoints"
CHANGED: Final = "GATEHOUSE_TEST_CHANGED"
QUARTER: Final = "quarter"
NOT_IN_GATE: Final = "not long and not timing and not draws"
_TOGETHER: Final = re.compile(r"^ *[\d.]+ +([\d.]+)  together$", re.MULTILINE)
_SUMMARY: Final = re.compile(r"^.* in \d+(?:\.\d+)?s.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run asks."""

    types: Sequence[str] | None
    """The files whose types are checked; None for all."""
    covered: Sequence[str] | None
    """The files of core whose coverage is measured; None for all, and empty for none."""
    left_out: Sequence[str]
    """The modules of tests that are left out, because nothing that they read has changed."""
    asked_whole: Sequence[str] = ()
    """The folders and modules of areas that are asked whole, and of others an eighth; empty where all are whole."""
    changed_tests: Sequence[str] = ()
    """The modules of tests that have changed: what is dear in them is named."""
    tests: Sequence[str] = ("tests",)
    is_whole: bool = False
    """Whether matrices are asked whole, and properties tried with more examples."""

    @property
    def loops(self) -> float:
        """About how much processor time it takes."""
        of_types = 1.0 if self.types is None else len(self.types) / len(python_files())
        return START_LOOPS + TESTS_LOOPS * self._of_tests() + TYPES_LOOPS * of_types

    def _of_tests(self) -> float:
        """Return the part of the tests that is asked, by their modules."""
        modules = modules_of_tests()
        asked = [module for module in modules if module.startswith(tuple(self.tests)) and not self._leaves_out(module)]
        return sum(self._part_of(module) for module in asked) / len(modules)

    def _leaves_out(self, module: str) -> bool:
        return module.startswith(tuple(self.left_out))

    def _part_of(self, module: str) -> float:
        is_whole = not self.asked_whole or module.startswith(tuple(self.asked_whole)) or not is_of_area(module)
        return 1.0 if is_whole else 1 / ONE_IN

    def __str__(self) -> str:
        types = "all types" if self.types is None else f"types of {len(self.types)} files"
        covered = "of core" if self.covered is None else f"of {len(self.covered)} files of core"
        tests = "all tests"
        if self.asked_whole:
            tests = "the tests of the areas that have changed, an eighth of those of other areas"
        if self.left_out:
            tests += f", without {len(self.left_out)} modules that read nothing changed"
        matrices = "whole matrices, properties with many examples" if self.is_whole else "a quarter of each matrix"
        return f"format, lint, contracts, {types}, {tests}, {matrices}, coverage {covered}"


def plan_of(changed: Changes, *, is_whole: bool) -> Plan:
    """Return what the gate asks after a change; `is_whole` asks everything."""
    if is_whole:
        return Plan(types=None, covered=None, left_out=(), is_whole=True)
    if changed.files is None or os.environ.get(COVERAGE) == "all":
        return Plan(types=None, covered=None, left_out=())
    existing = sorted(changed.files & python_files())
    checked = sorted({*existing, *importers_of(existing)})
    covered = [file for file in existing if file.startswith("core/")]
    asked_whole = {*find_tests(changed), *covering(covered)}
    return Plan(
        types=None
        if changed.touch(("pyproject.toml",)) or len(checked) > TYPES_PART_MAX * len(python_files())
        else checked,
        covered=covered,
        left_out=[
            each
            for each in unchanged_in_gate(changed)
            if not any(Path(test).is_relative_to(each) for test in asked_whole)
        ],
        # Other packages may change any test. What has no area is asked whole anyway, so that this is empty only then.
        asked_whole=() if changed.touch(EVERYTHING) else sorted({"tests/sources", *asked_whole}),
        changed_tests=[file for file in existing if file.startswith("tests/")],
    )


def plan_of_areas(changed: Changes) -> Plan:
    """Return what a person asks in the middle of a change: the areas that it touches, without coverage."""
    plan = plan_of(changed, is_whole=False)
    return replace(plan, covered=(), asked_whole=(), tests=find_tests(changed))


@dataclass(slots=True)
class Gate:
    """One run, with what has failed until now and the processor time that was spent."""

    plan: Plan
    _failed: list[str] = field(default_factory=list[str])
    _code: int = 0
    _spent: dict[str, float] = field(default_factory=dict[str, float])
    _summary: str = "pytest ran no test"

    def run(self, options: Sequence[str], marks: str) -> int:
        """Run all steps, and return the code of the first that failed."""
        began, loop = time.monotonic(), loop_seconds()
        processors = os.cpu_count() or 1
        expected = self.plan.loops * loop / min(processors, 2)
        print(f"gate       {self.plan}", flush=True)
        print(f"           about {expected:.0f} s on this machine, if nothing else runs", flush=True)
        self._step("format", [str(BIN / "ruff"), "format", "--check", "."])
        self._step("lint", [str(BIN / "ruff"), "check", "."])
        self._step("contracts", [str(BIN / "lint-imports")])
        # Beside the tests. Begun first, it ends long before them, so that nothing waits for it.
        types = None if self.plan.types == [] else Beside([str(BIN / "basedpyright"), *(self.plan.types or ())])
        if self.plan.tests:
            self._tests(options, marks)
        if types is not None:
            self._report("types", types.wait())
        self._coverage(options, marks)
        self._print_spent(loop)
        seconds = time.monotonic() - began
        verdict = f"FAILED: {', '.join(self._failed)}" if self._failed else "all passed"
        print(f"{verdict} in {seconds:.0f} s")
        # Last, where people and programs look for it.
        print(self._summary, flush=True)
        return self._code

    def _step(self, name: str, command: Sequence[str]) -> None:
        self._report(name, run(command))

    def _report(self, name: str, ended: Ended, *, is_shown: bool = False) -> None:
        """Print one line; after a failure also the whole output, unless it was shown."""
        self._spent[name] = ended.cpu_seconds
        verdict = "FAILED" if ended.code else "ok    "
        print(f"{name:<10} {verdict}  {ended.seconds:3.0f} s", flush=True)
        if ended.code:
            self._code = self._code or ended.code
            self._failed.append(name)
            if not is_shown:
                print(ended.printed, flush=True)

    def _tests(self, options: Sequence[str], marks: str) -> None:
        command = self._pytest(options, marks)
        command += [*self.plan.tests, *(f"--ignore={module}" for module in self.plan.left_out)]
        if self.plan.covered is None or self.plan.covered:
            run([str(BIN / "coverage"), "erase"])
            command = [*self._coverage_run(), *command]
        sample = "" if self.plan.is_whole else QUARTER
        environment = {
            SAMPLE: sample,
            WHOLE: " ".join(self.plan.asked_whole),
            CHANGED: " ".join(self.plan.changed_tests),
            TRACED: " ".join(self._traced()),
        }
        ended = run([PYTHON, *command], shows=True, environment=environment)
        self._report("tests", ended, is_shown=True)
        # PostgreSQL is not waited for, so that it is taken from the table of the tests.
        self._spent["PostgreSQL"] = sum(map(float, _TOGETHER.findall(ended.printed)))
        if found := _SUMMARY.findall(ended.printed):
            self._summary = found[-1].strip("= ")

    def _pytest(self, options: Sequence[str], marks: str) -> list[str]:
        profile = ["--hypothesis-profile=thorough"] if self.plan.is_whole else []
        return ["-m", "pytest", f"--processes={PROCESSES}", "--durations=5", *profile, *options, "-m", marks]

    def _coverage_run(self) -> list[str]:
        if self.plan.covered is None:
            return ["-m", "coverage", "run", f"--source={LAYERS if os.environ.get(COVERAGE) == 'all' else 'core'}"]
        return ["-m", "coverage", "run", f"--include={','.join(self.plan.covered)}"]

    def _traced(self) -> Sequence[str]:
        """Return the tests that are traced at first: those that cover the files whose coverage is measured."""
        return covering(self.plan.covered or ())

    def _coverage(self, options: Sequence[str], marks: str) -> None:
        covered = self.plan.covered
        if covered is not None and not covered:
            return
        run([str(BIN / "coverage"), "combine", "--quiet"])
        included = "core/*" if covered is None else ",".join(covered)
        report = [str(BIN / "coverage"), "report", f"--include={included}", "--fail-under=100"]
        if covered and run(report).code:
            # Tracing makes tests a quarter slower, so the others are traced only now that it matters.
            print("core 100%  is not reached by the tests that are known to cover it: tracing all others", flush=True)
            others = [f"--ignore={each}" for each in (*self._traced(), *self.plan.left_out)]
            command = [PYTHON, *self._coverage_run(), *self._pytest(options, marks), "-q", *self.plan.tests, *others]
            everything = {SAMPLE: QUARTER, WHOLE: "", TRACED: ""}
            self._report("others", run(command, shows=True, environment=everything), is_shown=True)
            run([str(BIN / "coverage"), "combine", "--append", "--quiet"])
        self._step("core 100%", report)
        if os.environ.get(COVERAGE) == "all":
            print(run([str(BIN / "coverage"), "report", "--skip-covered"]).printed, flush=True)

    def _print_spent(self, loop: float) -> None:
        total = sum(self._spent.values())
        parts = ", ".join(f"{name} {self._spent.get(name, 0.0):.1f}" for name in ("types", "PostgreSQL"))
        print(f"CPU seconds: {total:.1f}, of which {parts}; {total / loop:,.0f} times a loop of {loop:.3f} s")
