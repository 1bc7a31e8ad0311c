"""The tests of the areas that a change touches, for a person who is in the middle of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ops.testing.changes import ROOT, Changes
from ops.testing.imports import helpers_of, python_files

# Of a path of the product, the part that names the area: `core/billing/…`, `adapters/postgres/billing/…`.
_DEEPER = ("adapters", "entrypoints")


def find_tests(changed: Changes) -> Sequence[str]:
    """Return the folders and modules of tests of what has changed; all tests where that is not known."""
    if changed.files is None:
        return ("tests",)
    found = set[str]()
    for file in changed.files:
        found |= _of_file(Path(file))
    modules = {file for file in python_files() if file.startswith("tests/") and Path(file).name.startswith("test_")}
    found |= {module for module in modules if not helpers_of(module).isdisjoint(changed.files)}
    # What stands in a folder that is there anyway is not named twice.
    folders = {each for each in found if (ROOT / each).is_dir()}
    return sorted(each for each in found if not any(str(parent) in folders for parent in Path(each).parents))


def _of_file(file: Path) -> set[str]:
    """Return the folders of the area of a file, and the modules that are named like it."""
    if len(file.parts) < 2 or file.parts[0] not in {"core", "ports", "adapters", "actors", "entrypoints"}:
        return set()
    area = file.parts[2 if file.parts[0] in _DEEPER else 1] if len(file.parts) > 2 else ""
    folders = {
        f"tests/{layer}/{area}" for layer in ("core", "adapters", "http", "pages", "actors", "entrypoints", "web")
    }
    named = {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob(f"test_{file.stem}*.py")}
    statements = {"tests/adapters/statements"} if file.parts[0] == "adapters" else set[str]()
    return {each for each in folders if area and (ROOT / each).is_dir()} | named | statements
