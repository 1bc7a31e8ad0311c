"""The rules about time: no test of the gate waits for the machine's clock or compares with it.

A test has a virtual clock by the fixture `autojump_clock` or `mock_clock`, or is marked `timing`, which `ops/report`
alone runs. What a helper does counts for each test that reaches it. `DECIDED` names what may use the machine's clock.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from tests.sources.names import Names
from tests.sources.reading import Finding, Source
from tests.sources.uses import Uses

MARK: Final = "timing"
VIRTUAL_CLOCKS: Final = ("autojump_clock", "mock_clock")
# Trio's time, which a virtual clock moves, and the machine's, which nothing does.
OF_TRIO: Final = "trio"
OF_MACHINE: Final = "machine"
SLEEPS: Final = {
    "time.sleep": OF_MACHINE,
    "asyncio.sleep": OF_MACHINE,
    "trio.sleep": OF_TRIO,
    "trio.sleep_until": OF_TRIO,
}
CLOCKS: Final = {
    "trio.current_time": OF_TRIO,
    "resource.getrusage": OF_MACHINE,
    "os.times": OF_MACHINE,
    "datetime.datetime.now": OF_MACHINE,
    "datetime.datetime.utcnow": OF_MACHINE,
    "datetime.datetime.today": OF_MACHINE,
    "datetime.date.today": OF_MACHINE,
    **{
        f"time.{name}{unit}": OF_MACHINE
        for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time")
        for unit in ("", "_ns")
    },
}
# The arguments that have the seconds: the first, or the one named.
DEADLINES: Final = {
    "trio.fail_after": OF_TRIO,
    "trio.move_on_after": OF_TRIO,
    "tests.waiting.wait_until": OF_MACHINE,
    "tests.waiting.eventually": OF_MACHINE,
}
DEADLINE_SECONDS_MIN: Final = 60
SLEEPING: Final = "a test does not sleep: wait for the condition (tests/waiting.py), or take a virtual clock"
READING: Final = "a verdict does not hang on the clock of the machine: count, take a virtual clock, or mark it `timing`"
HASTY: Final = "a deadline that ends a hang has 60 s or more: take `WAIT_SECONDS_MAX`, or a virtual clock"
_SIGNS: Final = re.compile(r"sleep|wait_for_timeout|time|getrusage|_after\(|today\(|now\(")


def uses_of_time(source: Source) -> Iterator[Finding]:
    """Find each sleep, each reading of a clock and each short deadline; some stand by `judged`."""
    if not _SIGNS.search(source.text):
        return
    names = Names(source)
    for definition in source.definitions:
        awaited = {node.value for node in definition.all_of(ast.Await)}
        for node in definition.all_of(ast.Call, ast.Attribute, ast.Name):
            for of_time, advice in (*_found(node, names), *_short_waits(node, names, is_awaited=node in awaited)):
                yield Finding(source.path, node.lineno, definition.name, advice, of_time=of_time)


def judged(
    findings: Iterable[Finding], uses: Uses, decided: Mapping[str, str]
) -> tuple[list[Finding], Collection[str]]:
    """Return the findings that no clock, mark and decision allows, and the decisions that allow none."""
    has_clock = uses.with_fixture(*VIRTUAL_CLOCKS)
    unused = set(decided)
    refused: list[Finding] = []
    for finding in findings:
        key = (finding.path, finding.definition)
        tests = uses.tests_of(key)
        without = {test for test in tests if MARK not in uses.definitions[test].marks}
        if finding.of_time == OF_TRIO:
            without -= has_clock
        if tests and not without:
            continue
        names = {finding.path, f"{finding.path}::{finding.definition}"} & decided.keys()
        unused -= names
        if not names:
            refused.append(replace(finding, advice=f"{finding.advice}{_told(key, without)}"))
    return refused, unused


def _told(key: tuple[str, str], tests: set[tuple[str, str]]) -> str:
    others = sorted(tests - {key})
    if key in tests or not others:
        return ""
    return f" ({'::'.join(others[0])} uses it, and {len(others) - 1} others)"


def _found(node: ast.AST, names: Names) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Call(func=ast.Attribute(attr="wait_for_timeout")):
            yield OF_MACHINE, SLEEPING
        case ast.Call(func=function, args=[value, *_]) if (name := names.whole(function)) in SLEEPS:
            if names.number(value) != 0:
                yield SLEEPS[name], SLEEPING
        case ast.Call(func=function) if (name := names.whole(function)) in DEADLINES:
            named = [keyword.value for keyword in node.keywords if keyword.arg == "seconds_max"]
            for value in named if name.startswith("tests.") else node.args[:1]:
                seconds = names.number(value)
                if seconds is None or 0 < seconds < DEADLINE_SECONDS_MIN:
                    yield DEADLINES[name], HASTY
        case ast.Attribute() | ast.Name(ctx=ast.Load()) if (name := names.whole(node)) in CLOCKS:
            yield CLOCKS[name], READING
        case _:
            pass


def _short_waits(node: ast.AST, names: Names, *, is_awaited: bool) -> Iterator[tuple[str, str]]:
    """Find the short time limits of sockets, clients, threads and processes."""
    if not isinstance(node, ast.Call):
        return
    limits = [keyword.value for keyword in node.keywords if keyword.arg == "timeout"]
    match node:
        case ast.Call(func=ast.Attribute(attr="wait" | "join" | "settimeout"), args=[value]) if not is_awaited:
            limits.append(value)
        case _:
            pass
    for value in limits:
        if 0 < (names.number(value) or 0) < DEADLINE_SECONDS_MIN:
            yield OF_MACHINE, HASTY
