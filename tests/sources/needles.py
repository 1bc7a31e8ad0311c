"""The rule about needles: a short text that must be absent has to be looked for by `tests.shown_text.shows`.

A needle of letters, digits, hyphens and underscores may stand in a random token. What is a text, and which words
a name may stand for, follows from `tests/sources/scopes.py`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Final

from tests.sources.reading import Definition, Finding, Module, Source
from tests.sources.scopes import scopes

ADVICE: Final = (
    "a random token may hold {needle!r}: assert `not shows(text, {needle!r})` of tests/shown_text.py instead"
)
# A longer needle does not stand in a token by chance within the life of a machine.
NEEDLE: Final = re.compile(r"[A-Za-z0-9_-]{1,12}")


def bare_needles(source: Source) -> Iterator[Finding]:
    """Find each short needle that is looked for in a text without leaving out what is random in it."""
    if not any(sign in source.text for sign in (" not in ", ".count(", "assert not ", "] == []")):
        return
    for definition, scope in scopes(source):
        for needle, text in _absences(definition):
            words = {word for word in scope.words(needle) if NEEDLE.fullmatch(word)}
            is_text = scope.is_text(text) if words else False
            if is_text:
                key = is_text if isinstance(is_text, tuple) else ("", "")
                advice = ADVICE.format(needle=min(words))
                yield Finding(source.path, needle.lineno, definition.name, advice, if_text_of=key)


def _absences(definition: Definition) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Return the needle and the text of each comparison that holds where the needle is absent."""
    # What decides on a way through a test is no verdict.
    ways = {one for node in definition.all_of(ast.If, ast.IfExp, ast.While) for one in ast.walk(node.test)}
    for node in definition.all_of(ast.Compare, ast.UnaryOp):
        if node in ways:
            continue
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=ast.Compare(left=needle, ops=[ast.In()], comparators=[text])):
                yield needle, text
            case ast.UnaryOp(
                op=ast.Not(), operand=ast.Call(func=ast.Name(id="any"), args=[ast.GeneratorExp() as found])
            ):
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


def standing(findings: Iterable[Finding], modules: Iterable[Module]) -> list[Finding]:
    """Return the findings in a text: those in what a function of another module returns where that is one."""
    texts = {("", ""), *((module.path, name) for module in modules for name in module.texts)}
    return [finding for finding in findings if finding.if_text_of in texts]
