"""Which tests cover a file of core: those of its areas, and for what these do not reach, the modules in a record.

`ops/report` writes the record after a run in which each module of tests was a context of coverage. Where a file is new
or has moved, the gate traces all tests instead, which is right too, and slow.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from ops.testing.areas import find_tests
from ops.testing.changes import ROOT, Changes
from ops.testing.steps import BIN, run

RECORD: Final = ROOT / "ops/report.d/covered-by.json"
# The tables of coverage: https://coverage.readthedocs.io/en/latest/dbschema.html
_ARCS: Final = """
    SELECT file.path, arc.fromno, arc.tono, context.context
    FROM   arc JOIN file ON file.id = arc.file_id JOIN context ON context.id = arc.context_id
    WHERE  file.path LIKE 'core/%'
"""


def covering(files: Sequence[str]) -> Sequence[str]:
    """Return the folders and modules of tests that cover these files of core."""
    if not files:
        return ()
    recorded: Mapping[str, Sequence[str]] = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    beyond = {module for file in files for module in recorded.get(file, ()) if (ROOT / module).exists()}
    return sorted({*find_tests(_changed(files)), *beyond})


def forget() -> None:
    """Delete what earlier runs have measured."""
    run([str(BIN / "coverage"), "erase"])


def record(data: Path = ROOT / ".coverage") -> None:
    """Write which modules reach what the tests of its areas do not, for each file of core."""
    run([str(BIN / "coverage"), "combine", "--quiet"])
    arcs = defaultdict[str, defaultdict[tuple[int, int], set[str]]](lambda: defaultdict(set[str]))
    with closing(sqlite3.connect(data)) as connection:
        for file, begin, end, module in connection.execute(_ARCS):
            arcs[file][begin, end].add(module)
    found = {file: modules for file in sorted(arcs) if (modules := _beyond_areas(file, arcs[file]))}
    # A line for each file.
    lines = ",\n".join(f"{json.dumps(file)}: {json.dumps(modules)}" for file, modules in found.items())
    RECORD.write_text(f"{{\n{lines}\n}}\n")


def _beyond_areas(file: str, arcs: Mapping[tuple[int, int], set[str]]) -> Sequence[str]:
    """Return a few modules, the ones that reach most of it first."""
    of_areas = tuple(find_tests(_changed([file])))
    # What runs while modules are imported has no context.
    left: list[set[str]] = [
        modules for modules in arcs.values() if "" not in modules and not _is_one(modules, of_areas)
    ]
    chosen = list[str]()
    while left:
        reached = Counter[str](module for modules in left for module in modules)
        most = max(reached.values())
        chosen.append(min(module for module, number in reached.items() if number == most))
        left = [modules for modules in left if chosen[-1] not in modules]
    return chosen


def _is_one(modules: set[str], of_areas: tuple[str, ...]) -> bool:
    return any(module.startswith(of_areas) for module in modules)


def _changed(files: Sequence[str]) -> Changes:
    return Changes(since="", files=frozenset(files))
