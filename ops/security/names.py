"""Names of tests and of code that tables of the manual give as proof: whether they exist, read from the syntax."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

_NEVER: Final = re.compile(r"\bmark\.(?:skip|xfail)\b")
ROOT: Final = Path(__file__).resolve().parents[2]


def is_test(name: str) -> bool:
    """Return whether a file of the tests defines the test of this name; a method's has its class."""
    path, _, test = name.partition("::")
    is_of_tests = path.startswith("tests/") and Path(path).name.startswith("test_")
    return is_of_tests and test.rpartition("::")[2].startswith("test_") and is_named(name)


def is_named(name: str) -> bool:
    """Return whether a file exists and defines what is named in it; a file alone may be named."""
    path, _, inside = name.partition("::")
    file = ROOT / path
    return file.is_file() and (not inside or inside in _names_in(file))


@cache
def _names_in(file: Path) -> frozenset[str]:
    return frozenset(_named(ast.parse(file.read_bytes()).body, ""))


def _named(body: list[ast.stmt], owner: str) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield f"{owner}{statement.name}"
            yield from _named(statement.body, f"{owner}{statement.name}::")
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            # A test that never runs, or may fail, proves nothing.
            if not any(_NEVER.search(ast.unparse(decorator)) for decorator in statement.decorator_list):
                yield f"{owner}{statement.name}"
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield f"{owner}{statement.target.id}"
