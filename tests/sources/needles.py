"""The rule about needles: a short text that must be absent is looked for by `tests.shown_text.shows`.

A needle of letters, digits, hyphens and underscores may stand in a random token. What is a text, and which words
a name may stand for, is told by `tests/sources/scopes.py`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from tests.sources.reading import Finding, Source
from tests.sources.scopes import scopes

ADVICE: Final = "a random token may hold {needle!r}: assert `not shows(text, {needle!r})` of tests/shown_text.py instead"
# A longer needle does not stand in a token by chance within the life of a machine.
NEEDLE: Final = re.compile(r"[A-Za-z0-9_-]{1,12}")
_WAYS: Final = (ast.If, ast.IfExp, ast.While)


def bare_needles(source: Source) -> Iterator[Finding]:
    """Find each short needle that is looked for in a text without leaving out what is random in it."""
    if not any(sign in source.text for sign in (" not in ", ".count(", "assert not ", "] == []")):
        return
    for definition, node, scope in scopes(source):
        for needle, text in _absences(node):
            words = {word for word in scope.words(needle) if NEEDLE.fullmatch(word)}
            is_text = scope.is_text(text) if words else False
            if is_text:
                key = is_text if isinstance(is_text, tuple) else None
                advice = ADVICE.format(needle=min(words))
                yield Finding(source.path, needle.lineno, definition.name, advice, if_text_of=key)


def _absences(root: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Return the needle and the text of each comparison that holds where the needle is absent."""
    waiting: list[ast.AST] = [root]
    while waiting:
        node = waiting.pop()
        # What decides on a way through a test is no verdict.
        waiting += [one for one in ast.iter_child_nodes(node) if not (isinstance(node, _WAYS) and one is node.test)]
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=ast.Compare(left=needle, ops=[ast.In()], comparators=[text])):
                yield needle, text
            case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="any"), args=[ast.GeneratorExp() as found])):
                yield from _presences(found.elt)
            case ast.Compare(left=ast.ListComp() as found, ops=[ast.Eq()], comparators=[ast.List(elts=[])]):
                yield from (one for loop in found.generators for test in loop.ifs for one in _presences(test))
            case ast.Compare(
                left=ast.Call(func=ast.Attribute(value=text, attr="count"), args=[needle]),
                ops=[ast.Eq()],
                comparators=[ast.Constant(value=0)],
            ):
                yield needle, text
            case ast.Compare(left=needle, ops=[ast.NotIn()], comparators=[text]):
                yield needle, text
            case _:
                pass


def _presences(test: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in ast.walk(test):
        match node:
            case ast.Compare(left=needle, ops=[ast.In()], comparators=[text]):
                yield needle, text
            case _:
                pass
