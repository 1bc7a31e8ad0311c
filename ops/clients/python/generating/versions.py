"""The version of a generated module: raised by what changed since the module that is there."""

from __future__ import annotations

import ast
import re
from typing import Final

FIRST: Final = "1.0"
_VERSION: Final = re.compile(r'^API_VERSION: Final = "(\d+)\.(\d+)"$', re.MULTILINE)
_PLACEHOLDER: Final = 'API_VERSION: Final = "0.0"'


def with_version(source: str, previous: str | None) -> str:
    """Return a module with its version, given the present one: the major version rises when a name has gone."""
    found = _VERSION.search(previous) if previous is not None else None
    if previous is None or found is None:
        return source.replace(_PLACEHOLDER, f'API_VERSION: Final = "{FIRST}"')
    same = source.replace(_PLACEHOLDER, found[0])
    if same == previous:
        return same
    major, minor = int(found[1]), int(found[2])
    version = f"{major + 1}.0" if _names(previous) - _names(source) else f"{major}.{minor + 1}"
    return source.replace(_PLACEHOLDER, f'API_VERSION: Final = "{version}"')


def _names(source: str) -> set[str]:
    """Return what a caller can name: functions with their keywords, types with their fields."""
    names: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
            names |= {f"{node.name}.{one.arg}" for one in (*node.args.args, *node.args.kwonlyargs)}
        elif isinstance(node, ast.ClassDef):
            fields = [one.target for one in node.body if isinstance(one, ast.AnnAssign)]
            names |= {node.name, *(f"{node.name}.{one.id}" for one in fields if isinstance(one, ast.Name))}
    return names
