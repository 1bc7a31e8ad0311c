"""Which files import which: read from their import statements, without importing anything."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

from ops.testing.changes import ROOT

TOPS: Final = ("core", "ports", "adapters", "actors", "entrypoints", "tests", "ops")
# `import a.b`, `from a.b import c, d as e`, and the same with parentheses over several lines.
_IMPORT: Final = re.compile(
    r"^[ \t]*import[ \t]+([\w.]+)|^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n(]+)", re.MULTILINE
)
_NAME: Final = re.compile(r"(\w+)(?:\s+as\s+\w+)?")


@cache
def python_files() -> frozenset[str]:
    """Return the paths of all Python files of ours."""
    return frozenset(str(path.relative_to(ROOT)) for top in TOPS for path in (ROOT / top).rglob("*.py"))


def names_imported_by(file: str) -> frozenset[str]:
    """Return the modules that a file imports, and what it imports of them, as one name with dots each."""
    found = set[str]()
    for whole, module, names in _IMPORT.findall((ROOT / file).read_text()):
        base = whole or module
        found |= {base, *(f"{base}.{name}" for name in _NAME.findall(names))}
    return frozenset(found)


@cache
def imported_by(file: str) -> frozenset[str]:
    """Return the files of ours that a file imports; none where it does not exist."""
    if file not in python_files():
        return frozenset()
    paths = {name.replace(".", "/") for name in names_imported_by(file)}
    return frozenset({f"{path}{end}" for path in paths for end in (".py", "/__init__.py")} & python_files())


def importers_of(files: Iterable[str]) -> frozenset[str]:
    """Return the files that import one of these."""
    importers = defaultdict[str, set[str]](set)
    for file in python_files():
        for imported in imported_by(file):
            importers[imported].add(file)
    return frozenset(importer for file in files for importer in importers[file])


@cache
def helpers_of(module: str) -> frozenset[str]:
    """Return what a module of tests runs with: itself, the files of the tests that it imports, and the fixtures."""
    found, waiting = set[str](), [module]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        waiting += [each for each in imported_by(file) if each.startswith(("tests/", "ops/"))]
        fixtures = {str(parent / "conftest.py") for parent in Path(file).parents if parent.name}
        waiting += fixtures & python_files()
    return frozenset(found)
