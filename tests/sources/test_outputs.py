"""Serving code writes to the log alone, which never waits for its reader; a print would wait."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Commands of an operator, and programs that are no service.
NOT_SERVING = ("entrypoints/operator/", "entrypoints/demo/", "entrypoints/testing/")
OUTPUTS = {"sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__", "sys.excepthook", "print"}
WRITES = {
    "entrypoints/logs.py": "the log itself",
    "entrypoints/exits.py": "why a process ends, within two seconds",
    "entrypoints/announcement.py": "the addresses for a developer at a terminal",
}


def _uses_output(path: Path) -> bool:
    return any(
        ast.unparse(node) in OUTPUTS
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute | ast.Name)
    )


def test_nothing_that_serves_prints() -> None:
    paths = [
        path
        for layer in ("core", "ports", "adapters", "actors", "entrypoints")
        for path in (ROOT / layer).rglob("*.py")
    ]
    names = {str(path.relative_to(ROOT)): path for path in paths}

    printing = {name for name, path in names.items() if not name.startswith(NOT_SERVING) and _uses_output(path)}

    assert len(names) > 500
    assert printing == WRITES.keys()
