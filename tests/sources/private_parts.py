"""Which private parts of other packages a module of the product uses.

A part is private whose name begins with one underscore, or that is in such a module. It is used by an import, as an
attribute of what was imported, and in a class that extends one of a package: by its methods, and by what they do with
`self` and `super()`. What a module assigns to an attribute of what it has imported is counted as well, by any name.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final

LAYERS: Final = ("core", "ports", "adapters", "actors", "entrypoints")
_NOT_OF_OTHERS: Final = frozenset({*LAYERS, "tests", *sys.stdlib_module_names})
_IMPORT: Final = re.compile(r"^[ \t]*(?:from|import) (\w+)", re.MULTILINE)


@dataclass(frozen=True, order=True)
class PrivatePart:
    """A part of a package, by the name of its module or attribute, and the module of the product that uses it."""

    package: str
    name: str
    path: str


def private_parts(path: str, text: str, *, load: Callable[[str], Any] = importlib.import_module) -> set[PrivatePart]:
    """Return the private parts that a module uses; `load` returns the module itself, for its base classes."""
    if _NOT_OF_OTHERS.issuperset(_IMPORT.findall(text)):
        return set()
    tree = ast.parse(text)
    imported = dict(_imported(tree))
    found = {(_root(name), module) for name in imported.values() if (module := _private_module(name))}
    found |= {one for node in ast.walk(tree) if isinstance(node, ast.Attribute) for one in _attributes(node, imported)}
    if any(_is_of_another(name) for name in imported.values()):
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.bases]
        module = load(path.removesuffix(".py").replace("/", ".")) if classes else None
        found |= {one for node in classes for one in _of_base_classes(node, getattr(module, node.name))}
    return {PrivatePart(package, name, path) for package, name in found}


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield each name that is imported, with where it is from, apart from those for type checkers alone."""
    conditions = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
    for_types = {one for node in conditions if ast.unparse(node.test) == "TYPE_CHECKING" for one in ast.walk(node)}
    for node in ast.walk(tree):
        if node in for_types:
            continue
        if isinstance(node, ast.Import):
            for one in node.names:
                yield one.asname or _root(one.name), one.name
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                yield one.asname or one.name, f"{node.module}.{one.name}"


def _private_module(name: str) -> str:
    """Return the name as far as it is private; an empty text for what is public, or of no other package."""
    parts = name.split(".")
    private = [number for number, part in enumerate(parts) if number and _is_private(part)]
    return ".".join(parts[: private[0] + 1]) if private and _is_of_another(name) else ""


def _attributes(node: ast.Attribute, imported: dict[str, str]) -> Iterator[tuple[str, str]]:
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    where = imported.get(inner.id, "") if isinstance(inner, ast.Name) else ""
    if not _is_of_another(where):
        return
    if _is_private(node.attr):
        yield _root(where), node.attr
    if not isinstance(node.ctx, ast.Load):
        yield _root(where), ast.unparse(node)


def _of_base_classes(node: ast.ClassDef, made: type[Any]) -> Iterator[tuple[str, str]]:
    used = {one.name for one in ast.walk(node) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
    used |= {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute) and _is_of_self(one.value)}
    for base in made.__mro__:
        if _is_of_another(base.__module__):
            for name in sorted(filter(_is_private, used & _names(base))):
                yield _root(base.__module__), name


def _is_of_self(node: ast.expr) -> bool:
    return ast.unparse(node) in {"self", "cls", "super()"}


def _names(base: type[Any]) -> set[str]:
    """Return what a class defines, and all that its methods mention, such as attributes that they set."""
    functions = (inspect.unwrap(getattr(each, "fget", None) or each) for each in vars(base).values() if _has_code(each))
    codes = [function.__code__ for function in functions if hasattr(function, "__code__")]
    return {*vars(base), *_mentioned(codes)}


def _has_code(each: object) -> bool:
    """Return whether something that a class defines has code."""
    return callable(each) or isinstance(each, property)


def _mentioned(codes: Iterable[CodeType]) -> Iterator[str]:
    for code in codes:
        yield from code.co_names
        yield from _mentioned(one for one in code.co_consts if isinstance(one, CodeType))


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _is_of_another(name: str) -> bool:
    return _root(name) not in _NOT_OF_OTHERS and name != ""


def _root(name: str) -> str:
    return name.partition(".")[0]
