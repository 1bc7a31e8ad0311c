"""The tests of the areas that a change touches: the gate asks them whole, and `ops/test --changed` nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ops.testing.changes import ROOT, Changes
from ops.testing.imports import helpers_of, python_files

# The folders of tests that are divided into areas. The tests of all statements have no area, nor has what stands above.
LAYERS: Final = ("core", "adapters", "http", "pages", "actors", "entrypoints", "web")
# Of the tests of an area that has not changed, the gate asks one in so many.
ONE_IN: Final = 8
_OF_ALL: Final = "tests/adapters/statements"
_PRODUCT: Final = ("core", "ports", "adapters", "actors", "entrypoints")
# Which folders of a path may name the area: `core/billing/…`, `adapters/saml/…`, `adapters/postgres/billing/…`.
_AREAS: Final = slice(1, 3)


def is_of_area(test: str) -> bool:
    """Return whether a module of tests, or a test of it, belongs to an area."""
    parts = Path(test.partition("::")[0]).parts
    return len(parts) > 3 and parts[1] in LAYERS and not test.startswith(_OF_ALL)


def modules_of_tests() -> Sequence[str]:
    """Return the modules that have tests."""
    return [file for file in python_files() if file.startswith("tests/") and "/test_" in file]


def find_tests(changed: Changes) -> Sequence[str]:
    """Return the folders and modules of tests of what has changed; all tests where that is not known."""
    if changed.files is None:
        return ("tests",)
    found = set[str]()
    for file in changed.files:
        found |= _of_file(Path(file))
    found |= {module for module in modules_of_tests() if not helpers_of(module).isdisjoint(changed.files)}
    # What stands in a folder that is there anyway is not named twice.
    folders = {each for each in found if (ROOT / each).is_dir()}
    return sorted(each for each in found if not any(str(parent) in folders for parent in Path(each).parents))


def _of_file(file: Path) -> set[str]:
    """Return the folders of the area of a file, and the modules that are named like it."""
    if file.parts[0] not in _PRODUCT:
        return set()
    folders = {f"tests/{layer}/{area}" for layer in LAYERS for area in file.parent.parts[_AREAS]}
    named = {module for module in modules_of_tests() if f"/test_{file.stem}" in module}
    statements = {_OF_ALL} if file.parts[0] == "adapters" else set[str]()
    return {each for each in folders if (ROOT / each).is_dir()} | named | statements
