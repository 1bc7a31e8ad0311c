"""The rule about random values: all of a test follow from its id, which seeds Python's sources while the test runs.

What a seed does not reach is refused: other sources, a function bound before it is replaced, and values that are drawn
while a module is imported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from tests.sources.names import Names
from tests.sources.reading import Finding, Function, Source

UNSEEDED: Final = "no seed reaches this source: take `os.urandom`, `secrets` or `random`, which follow from the test"
BOUND: Final = "this binds the function before a test seeds it: import the module `os`, and call `os.urandom`"
AT_IMPORT: Final = "a value drawn at import follows from no test: make it a constant, or draw it in a fixture"
SOURCES: Final = frozenset({"ssl.RAND_bytes", "os.getrandom", "posix.urandom", "posix.getrandom"})
DEVICES: Final = frozenset({"/dev/urandom", "/dev/random"})
# Functions that draw; `random.Random` draws its seed where it is given none.
DRAWS: Final = frozenset(
    {"os.urandom", "uuid.uuid1", "uuid.uuid4", "tests.ids.new_id", "tests.ids.new_account_id", "tests.ids.id_at"}
    | {f"secrets.{name}" for name in ("choice", "randbelow", "randbits", "token_bytes", "token_hex", "token_urlsafe")}
    | {"adapters.crypto.vault.MasterKey.generate"}
)
_GENERATOR: Final = "random.Random"
_NO_DRAWS: Final = frozenset({"random.SystemRandom", "random.seed"})
_SIGNS: Final = re.compile(r"urandom|getrandom|RAND_bytes|random|secrets|uuid|new_id|id_at|generate|account_id")


def unseeded_draws(source: Source) -> Iterator[Finding]:
    """Find what draws a value that follows from no test."""
    if not _SIGNS.search(source.text):
        return
    names = Names(source)
    for definition in source.definitions:
        at_import = set(_at_import(definition.node))
        for node in definition.all_of(ast.ImportFrom, ast.Call, ast.Attribute, ast.Name):
            if advice := _advice(node, names, is_at_import=node in at_import):
                yield Finding(source.path, node.lineno, definition.name, advice)


def _advice(node: ast.AST, names: Names, *, is_at_import: bool) -> str | None:
    match node:
        case ast.ImportFrom(module="os") if is_at_import and any(one.name == "urandom" for one in node.names):
            return BOUND
        case ast.Attribute() | ast.Name() if names.whole(node) in SOURCES:
            return UNSEEDED
        case ast.Call(args=[ast.Constant(value=str() as path), *_]) if path in DEVICES:
            return UNSEEDED
        case ast.Call(func=function) if is_at_import and _draws(names.whole(function), node):
            return AT_IMPORT
        case _:
            return None


def _draws(name: str, call: ast.Call) -> bool:
    if name == _GENERATOR:
        return not call.args
    return name in DRAWS or (name.startswith("random.") and name not in _NO_DRAWS)


def _at_import(statement: ast.stmt) -> Iterator[ast.AST]:
    """Return what of a statement at the top of a module runs when the module is imported."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                # The rest of it runs when it is called.
                waiting += [*node.args.defaults, *(one for one in node.args.kw_defaults if one is not None)]
                waiting += node.decorator_list if isinstance(node, Function) else []
            case _:
                waiting += ast.iter_child_nodes(node)
