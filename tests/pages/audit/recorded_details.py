"""Which details core writes into the audit logs: the keywords of the calls that record, found in its source.

A function records when it is one of the unit of work, or gives the details that it got on to one that records.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import core

_CORE: Final = Path(next(iter(core.__path__)))
_METHODS: Final = frozenset({"record", "record_each", "record_elsewhere", "audit", "audit_platform"})
# The unit of work, and what records by it.
_OWNERS: Final = frozenset({"uow", "editor"})
# Keywords that say whose entry it is, and what only the event has.
_NO_DETAILS: Final = frozenset(
    {"organization_id", "actor_user_id", "actor_email", "success", "audit_only", "event_only"}
)


class Function(NamedTuple):
    """A function of core, with the name of its module."""

    module: str
    node: ast.FunctionDef


class RecordedDetails:
    """What the functions of core record."""

    def __init__(self) -> None:
        self._functions: Final = [
            Function(path.stem, node)
            for path in sorted(_CORE.rglob("*.py"))
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.FunctionDef)
        ]
        # What a module makes of a function of it and of some of its arguments.
        self._partials: Final = [
            node.value
            for path in sorted(_CORE.rglob("*.py"))
            for node in ast.parse(path.read_text("utf-8")).body
            if isinstance(node, ast.AnnAssign)
            and isinstance(node.value, ast.Call)
            and _name_of(node.value) == "partial"
        ]
        # With their own keywords, which are none of the details.
        self._recording: dict[tuple[str, str], set[str]] = {}
        while (found := self._find_recording()) != self._recording:
            self._recording = found

    def keys(self) -> set[str]:
        """Return the keys of all details."""
        keys: set[str] = set()
        for function in self._functions:
            for call, own in self._recording_calls(function):
                keys |= self._keys_of_call(call, own, function)
        return keys - _NO_DETAILS

    def constants(self) -> set[str]:
        """Return the texts in the functions of core, and in those that are made of them."""
        nodes = [*(function.node for function in self._functions), *self._partials]
        return {text for node in nodes for text in _texts_in(node)}

    def constants_given_to(self, *names: str) -> set[str]:
        """Return the texts that are given to functions of these names."""
        return {
            one.value
            for function in self._functions
            for call in ast.walk(function.node)
            if isinstance(call, ast.Call) and _name_of(call.func) in names
            for one in (*call.args, *(keyword.value for keyword in call.keywords))
            if isinstance(one, ast.Constant) and isinstance(one.value, str)
        }

    def _find_recording(self) -> dict[tuple[str, str], set[str]]:
        return {
            (one.module, one.node.name): {argument.arg for argument in one.node.args.kwonlyargs}
            for one in self._functions
            if (one.node.args.kwarg is not None or any(argument.arg == "details" for argument in one.node.args.args))
            and any(self._recording_calls(one))
        }

    def _recording_calls(self, function: Function) -> Iterator[tuple[ast.Call, set[str]]]:
        """Return the calls that record, each with the keywords that are none of the details."""
        for call in (node for node in ast.walk(function.node) if isinstance(node, ast.Call)):
            match call.func:
                case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in _OWNERS and name in _METHODS:
                    yield call, set()
                case ast.Attribute(value=ast.Name(id=owner), attr=name):
                    # A module may be imported by another name, such as `subscriptions as service_subscriptions`.
                    for module in {owner, owner.rpartition("_")[2]}:
                        if (module, name) in self._recording:
                            yield call, self._recording[module, name]
                case ast.Name(id=name) if (function.module, name) in self._recording:
                    yield call, self._recording[function.module, name]
                case _:
                    pass

    def _keys_of_call(self, call: ast.Call, own: set[str], function: Function) -> set[str]:
        keys: set[str] = set()
        for keyword in call.keywords:
            if keyword.arg in {None, "audit_only"}:
                keys |= self._keys_in(keyword.value, function, set())
            elif keyword.arg is not None and keyword.arg not in own:
                keys.add(keyword.arg)
        for argument in call.args:
            if isinstance(argument, ast.Dict):
                keys |= self._keys_in(argument, function, set())
        return keys

    def _keys_in(self, value: ast.AST, function: Function, seen: set[ast.AST]) -> set[str]:
        """Return the keys of the dictionaries of an expression, by the variables and the functions that it names."""
        if value in seen:
            return set()
        seen.add(value)
        keys: set[str] = set()
        parts: list[tuple[ast.AST, Function]] = []
        match value:
            case ast.Dict():
                keys |= {
                    key.value for key in value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)
                }
                spread = (one for key, one in zip(value.keys, value.values, strict=True) if key is None)
                parts += ((one, function) for one in spread)
            case ast.Name(id=name):
                parts += ((given, function) for given in _given_to(name, function.node))
            case _:
                parts += ((one, function) for one in ast.iter_child_nodes(value))
                parts += (
                    (returned, one)
                    for one in self._functions
                    if one.node.name == _name_of(value) and "dict[" in ast.unparse(one.node.returns or ast.Constant(0))
                    for returned in _returned_by(one.node)
                )
        for part, of in parts:
            keys |= self._keys_in(part, of, seen)
        return keys


def _name_of(value: ast.AST) -> str:
    """Return the name of the function or the property that an expression takes its value from."""
    match value:
        case ast.Call(func=ast.Name(id=name)) | ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def _given_to(name: str, function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Return the values of a variable."""
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=given) if target == name:
                yield given
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as given) if target == name:
                yield given
            case _:
                pass


def _returned_by(function: ast.FunctionDef) -> Iterator[ast.expr]:
    return (node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None)


def _texts_in(part: ast.AST) -> Iterator[str]:
    return (node.value for node in ast.walk(part) if isinstance(node, ast.Constant) and isinstance(node.value, str))
