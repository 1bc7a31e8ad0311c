"""The texts of all statements that the adapters send, read from their source.

Each call of a method that sends a statement is found, and its text is evaluated without running the call: constants,
f-strings, functions of the module that compose texts, and both sides of a condition. Where a text depends on values
that only a run knows, such as a branch or an entry of a table of texts, there is one text for each possibility.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice, product
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

from adapters.postgres.driver.connection import Connection, Cursor
from adapters.postgres.sessions.callers import CallersBySession
from adapters.postgres.transaction import Aggregate
from tests.adapters.statements.composed import COMPOSED

ROOT: Final = Path(__file__).resolve().parents[3]
POSTGRES: Final = ROOT / "adapters" / "postgres"
# The driver sends the texts of others; the rest works on the whole database, as its operator does.
WITHOUT_TENANTS: Final = ("backup", "driver", "embedded", "schema")
POSSIBILITIES_MAX: Final = 512
DEPTH_MAX: Final = 40


class UnknownTextError(Exception):
    """A text that cannot be read from the source."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A text, the line where it is sent, and its name: `invitations.invitations.DUE`, if it is a constant of the module
    that sends it, else the function that sends it, `invitations.invitations.PostgresInvitations.find`.
    """

    text: str
    source: str
    line: int


@dataclass(frozen=True, slots=True)
class Unread:
    """A call whose text cannot be read."""

    source: str
    line: int
    reason: str


def _text_places() -> dict[str, dict[str, int]]:
    """Return the methods that send a statement, or one of several, and the places of the texts in their arguments."""
    places = dict[str, dict[str, int]]()
    for owner in (Aggregate, CallersBySession, Connection, Cursor):
        for name, method in inspect.getmembers(owner, inspect.isfunction):
            parameters = list(inspect.signature(method).parameters)
            if "text" in parameters:
                texts = [parameter for parameter in parameters if parameter in _TEXTS]
                places[name] = {text: parameters.index(text) - 1 for text in texts}
    return places


_TEXTS: Final = ("own_text", "text")
TEXT_PLACES: Final = _text_places()


def modules() -> Iterator[tuple[str, Path]]:
    """Yield the modules whose statements are checked, by their names below `adapters.postgres`."""
    for path in sorted(POSTGRES.rglob("*.py")):
        parts = path.relative_to(POSTGRES).with_suffix("").parts
        if parts[0] not in WITHOUT_TENANTS and path.name != "__init__.py":
            yield ".".join(parts), path


def read() -> tuple[list[Sent], list[Unread]]:
    """Return the texts that all modules send, and the calls whose texts cannot be read."""
    # All are imported first, because a class may have its subclasses in other modules.
    imported = [(name, path, importlib.import_module(f"adapters.postgres.{name}")) for name, path in modules()]
    sent, unread = list[Sent](), list[Unread]()
    for name, path, module in imported:
        found, not_found = _Reader(name, ast.parse(path.read_bytes()), module).read()
        sent += found
        unread += not_found
    return sent, unread


@dataclass(slots=True)
class _Function:
    """A function of a module, with its names and the calls in it."""

    node: ast.FunctionDef
    owner: str | None
    assigned: dict[str, list[ast.expr | _Element]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.owner}.{self.node.name}" if self.owner else self.node.name


@dataclass(frozen=True, slots=True)
class _Element:
    """An element of what an expression evaluates to; of pairs the one in a place."""

    of: ast.expr
    place: int | None = None


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where an expression is evaluated: in a function that was called with these arguments, or in any call of it.

    `chosen` has one value of each name that a text uses several times, because all of them have the same one.
    """

    function: _Function
    arguments: Mapping[str, list[Any]] | None = None
    chosen: Mapping[str, Any] = field(default_factory=dict)


class _Reader:
    def __init__(self, name: str, tree: ast.Module, module: ModuleType) -> None:
        self._name = name
        self._module = module
        self._functions = list(_functions_of(tree, None))
        self._calls = [(function, call) for function in self._functions for call in _calls_in(function.node)]
        self._depth = 0

    def read(self) -> tuple[list[Sent], list[Unread]]:
        sent, unread = dict[tuple[str, str], Sent](), list[Unread]()
        constants = {value: name for name, value in vars(self._module).items() if isinstance(value, str)}
        for function, call in self._calls:
            # One of these methods may send what another is given.
            texts = [] if function.node.name in TEXT_PLACES else _sent_by(call)
            source = f"{self._name}.{function.name}"
            try:
                for found in chain.from_iterable(self._texts(text, function) for text in texts):
                    named = f"{self._name}.{constants[found]}" if found in constants else source
                    sent.setdefault((named, found), Sent(found, named, call.lineno))
            except UnknownTextError as unknown:
                unread.append(Unread(source, call.lineno, str(unknown)))
        return list(sent.values()), unread

    def _texts(self, node: ast.expr, function: _Function) -> Iterator[str]:
        used = Counter(_names_in(node, function))
        choices = dict[str, list[Any]]()
        for name in used:
            if used[name] > 1 and (name in function.assigned or name in _parameters_of(function.node)):
                with suppress(UnknownTextError):
                    choices[name] = self._values(ast.Name(name), _Scope(function))
        # Texts are composed of each other, so that only what they are composed of is chosen.
        several = {
            name: values
            for name, values in choices.items()
            if len(values) > 1 and not any(isinstance(value, str) for value in values)
        }
        several["self"] = self._classes_of(function)
        for chosen in product(*several.values()):
            scope = _Scope(function, chosen=dict(zip(several, chosen, strict=True)))
            for found in self._values(node, scope):
                text = found.decode() if isinstance(found, bytes) else found
                if not isinstance(text, str):
                    raise UnknownTextError(f"{ast.unparse(node)} is no text")
                yield text

    def _classes_of(self, function: _Function) -> list[Any]:
        """Return what `self` can be in a function; None if it is no method."""
        if function.owner is None:
            return [None]
        owner = getattr(self._module, function.owner)
        # A class with subclasses has no texts of its own.
        return owner.__subclasses__() or [owner]

    def _values(self, node: ast.expr | _Element, scope: _Scope) -> list[Any]:
        """Return what an expression can evaluate to."""
        self._depth += 1
        try:
            if self._depth > DEPTH_MAX:
                raise UnknownTextError("recursion")
            if isinstance(node, _Element):
                return self._elements(node, scope)
            evaluate = getattr(self, f"_of_{type(node).__name__.lower()}", None)
            if evaluate is None:
                raise UnknownTextError(ast.unparse(node))
            try:
                found: list[Any] = evaluate(node, scope)
            except (AttributeError, KeyError, IndexError, TypeError) as error:
                raise UnknownTextError(ast.unparse(node)) from error
            if len(found) > POSSIBILITIES_MAX:
                raise UnknownTextError(f"{ast.unparse(node)} has too many possibilities")
            return found
        finally:
            self._depth -= 1

    def _elements(self, node: _Element, scope: _Scope) -> list[Any]:
        found = [element for value in self._values(node.of, scope) for element in _elements_of(value)]
        return found if node.place is None else [element[node.place] for element in found]

    def _of_constant(self, node: ast.Constant, scope: _Scope) -> list[Any]:
        return [node.value]

    def _of_joinedstr(self, node: ast.JoinedStr, scope: _Scope) -> list[Any]:
        return ["".join(map(str, parts)) for parts in self._products(node.values, scope)]

    def _of_formattedvalue(self, node: ast.FormattedValue, scope: _Scope) -> list[Any]:
        return self._values(node.value, scope)

    def _of_ifexp(self, node: ast.IfExp, scope: _Scope) -> list[Any]:
        return _distinct([*self._values(node.body, scope), *self._values(node.orelse, scope)])

    def _of_boolop(self, node: ast.BoolOp, scope: _Scope) -> list[Any]:
        return _distinct([value for part in node.values for value in self._values(part, scope)])

    def _of_binop(self, node: ast.BinOp, scope: _Scope) -> list[Any]:
        if not isinstance(node.op, ast.Add):
            raise UnknownTextError(ast.unparse(node))
        return _distinct([left + right for left, right in self._products([node.left, node.right], scope)])

    def _of_tuple(self, node: ast.Tuple, scope: _Scope) -> list[Any]:
        return [tuple(chain.from_iterable(parts)) for parts in self._listed(node.elts, scope)]

    def _of_list(self, node: ast.List, scope: _Scope) -> list[Any]:
        return [list(chain.from_iterable(parts)) for parts in self._listed(node.elts, scope)]

    def _listed(self, nodes: Sequence[ast.expr], scope: _Scope) -> list[tuple[Any, ...]]:
        """Return the values for each place of a list: one value, or several where a list is unpacked there."""
        parts = self._products([node.value if isinstance(node, ast.Starred) else node for node in nodes], scope)
        return [
            tuple(part if isinstance(node, ast.Starred) else [part] for node, part in zip(nodes, values, strict=True))
            for values in parts
        ]

    def _of_dict(self, node: ast.Dict, scope: _Scope) -> list[Any]:
        return [dict(enumerate(parts)) for parts in self._products(node.values, scope)]

    def _of_attribute(self, node: ast.Attribute, scope: _Scope) -> list[Any]:
        if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
            candidates = [scope.chosen["self"]] if "self" in scope.chosen else self._classes_of(scope.function)
        else:
            candidates = self._values(node.value, scope)
        found = [getattr(value, node.attr) for value in candidates if hasattr(value, node.attr)]
        if not found:
            raise UnknownTextError(ast.unparse(node))
        return _distinct(found)

    def _of_subscript(self, node: ast.Subscript, scope: _Scope) -> list[Any]:
        containers = self._values(node.value, scope)
        try:
            keys = self._values(node.slice, scope)
            return _distinct([container[key] for container in containers for key in keys if key in container])
        except (UnknownTextError, TypeError):
            return _distinct([value for container in containers for value in _elements_of(container, values=True)])

    def _of_name(self, node: ast.Name, scope: _Scope) -> list[Any]:
        name, function = node.id, scope.function
        if name in scope.chosen:
            return [scope.chosen[name]]
        if (composed := COMPOSED.get((self._name, name))) is not None:
            return list(composed)
        if name in function.assigned:
            return _distinct([value for one in function.assigned[name] for value in self._values(one, scope)])
        if name in _parameters_of(function.node):
            return self._argument_values(name, function, scope)
        for namespace in (vars(self._module), vars(builtins)):
            if name in namespace:
                return [namespace[name]]
        raise UnknownTextError(name)

    def _argument_values(self, name: str, function: _Function, scope: _Scope) -> list[Any]:
        if scope.arguments is not None:
            if name not in scope.arguments:
                raise UnknownTextError(f"the argument {name}")
            return scope.arguments[name]
        parameters = _parameters_of(function.node)
        place = parameters.index(name) - (1 if parameters[0] == "self" else 0)
        found = list[Any]()
        for caller, call in self._calls:
            if _called_name(call) == function.node.name:
                given = _argument(call, place, name)
                if given is None:
                    given = _default_of(function.node, name)
                if given is None:
                    raise UnknownTextError(f"the argument {name} of {function.name}")
                found.extend(self._values(given, _Scope(caller)))
        if not found:
            raise UnknownTextError(f"the argument {name} of {function.name}")
        return _distinct(found)

    def _of_call(self, node: ast.Call, scope: _Scope) -> list[Any]:
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "values", "items"):
            containers = self._values(node.func.value, scope)
            if node.func.attr == "get":
                return _distinct([value for container in containers for value in container.values()])
            return [list(getattr(container, node.func.attr)()) for container in containers]
        functions = self._called(node, scope)
        found = list[Any]()
        for called, inner in functions:
            found.extend(self._result_of(called, inner, node, scope))
        return _distinct(found)

    def _called(self, node: ast.Call, scope: _Scope) -> list[tuple[Callable[..., Any] | None, _Function | None]]:
        name = _called_name(node)
        own = [function for function in self._functions if function.node.name == name]
        is_method = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "self"
        if is_method:
            return [(None, function) for function in own]
        return [(called, own[0] if own else None) for called in self._values(node.func, scope)]

    def _result_of(
        self, called: Callable[..., Any] | None, inner: _Function | None, node: ast.Call, scope: _Scope
    ) -> list[Any]:
        arguments = dict[str, list[Any]]()
        is_complete = True
        names = _parameters_of(inner.node) if inner is not None else []
        names = names[1:] if names and names[0] == "self" else names
        given: list[tuple[str, ast.expr]] = [
            *((names[place] if place < len(names) else str(place), value) for place, value in enumerate(node.args)),
            *((keyword.arg or "**", keyword.value) for keyword in node.keywords),
        ]
        for name, value in given:
            try:
                arguments[name] = self._values(value, scope)
            except UnknownTextError:
                is_complete = False
        if called is not None and is_complete and _composes(called):
            places, keywords = len(node.args), [keyword.arg or "**" for keyword in node.keywords]
            results = list[Any]()
            for values in islice(product(*arguments.values()), POSSIBILITIES_MAX + 1):
                results.append(called(*values[:places], **dict(zip(keywords, values[places:], strict=True))))
            return results
        if inner is None:
            raise UnknownTextError(ast.unparse(node))
        for name in names:
            default = _default_of(inner.node, name)
            if name not in arguments and default is not None and name not in dict(given):
                arguments[name] = self._values(default, scope)
        return self._returned(inner, arguments)

    def _returned(self, function: _Function, arguments: Mapping[str, list[Any]]) -> list[Any]:
        """Return what a function can return: each of its returns, with all values of its names."""
        returns = [node.value for node in ast.walk(function.node) if isinstance(node, ast.Return) and node.value]
        return _distinct([value for node in returns for value in self._values(node, _Scope(function, arguments))])

    def _products(self, nodes: Sequence[ast.expr], scope: _Scope) -> list[tuple[Any, ...]]:
        parts = [self._values(node, scope) for node in nodes]
        found = list(islice(product(*parts), POSSIBILITIES_MAX + 1))
        if len(found) > POSSIBILITIES_MAX:
            raise UnknownTextError("too many possibilities")
        return found


def _functions_of(node: ast.AST, owner: str | None) -> Iterator[_Function]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _functions_of(child, child.name)
        elif isinstance(child, ast.FunctionDef):
            function = _Function(child, owner)
            for statement in ast.walk(child):
                _note_assignment(function, statement)
            yield function


def _note_assignment(function: _Function, node: ast.AST) -> None:
    match node:
        case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
            _note_targets(function, target, value)
        case ast.NamedExpr(target=target, value=value):
            _note_targets(function, target, value)
        case ast.For(target=target, iter=values) | ast.comprehension(target=target, iter=values):
            if isinstance(target, ast.Name):
                function.assigned.setdefault(target.id, []).append(_Element(values))
            elif isinstance(target, ast.Tuple):
                for place, part in enumerate(target.elts):
                    if isinstance(part, ast.Name):
                        function.assigned.setdefault(part.id, []).append(_Element(values, place))
        case ast.AugAssign(target=ast.Name(id=name)):
            # Not evaluated, so that a text that grows is refused.
            function.assigned.setdefault(name, []).append(ast.Yield())
        case _:
            pass


def _note_targets(function: _Function, target: ast.expr, value: ast.expr) -> None:
    if isinstance(target, ast.Name):
        function.assigned.setdefault(target.id, []).append(value)
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for part, one in zip(target.elts, value.elts, strict=True):
            _note_targets(function, part, one)
    elif isinstance(target, ast.Tuple):
        for place, part in enumerate(target.elts):
            if isinstance(part, ast.Name):
                index = ast.Subscript(value, ast.Constant(place), ast.Load())
                function.assigned.setdefault(part.id, []).append(index)


def _names_in(node: ast.expr | _Element, function: _Function) -> Iterator[str]:
    """Yield the names in an expression, and those in what is assigned to them, each as often as it is used."""
    waiting, assigned = [node.of if isinstance(node, _Element) else node], set[str]()
    while waiting:
        for one in ast.walk(waiting.pop()):
            if isinstance(one, ast.Name) and one.id != "self":
                yield one.id
                if one.id not in assigned:
                    assigned.add(one.id)
                    values = function.assigned.get(one.id, [])
                    waiting += [value.of if isinstance(value, _Element) else value for value in values]


def _composes(called: Callable[..., Any]) -> bool:
    """Return whether a function composes texts, so that it can be called here."""
    return isinstance(inspect.unwrap(called), FunctionType) and called.__module__.startswith("adapters.postgres.")


def _calls_in(node: ast.AST) -> Iterator[ast.Call]:
    return (child for child in ast.walk(node) if isinstance(child, ast.Call))


def _sent_by(call: ast.Call) -> list[ast.expr]:
    """Return the texts that a call sends, or of which it sends one; none if it sends none."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in TEXT_PLACES:
        return []
    given = [_argument(call, place, name) for name, place in TEXT_PLACES[call.func.attr].items()]
    return [text for text in given if text is not None]


def _called_name(call: ast.Call) -> str | None:
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return None


def _argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[place] if 0 <= place < len(call.args) else None


def _parameters_of(node: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def _default_of(node: ast.FunctionDef, name: str) -> ast.expr | None:
    by_place = [*node.args.posonlyargs, *node.args.args]
    for argument, default in zip(reversed(by_place), reversed(node.args.defaults), strict=False):
        if argument.arg == name:
            return default
    for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if argument.arg == name:
            return default
    return None


def _elements_of(value: Any, *, values: bool = False) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values() if values else value)
    if isinstance(value, str | FunctionType) or not hasattr(value, "__iter__"):
        raise UnknownTextError(f"the elements of {value!r}")
    return list(value)


def _distinct(values: list[Any]) -> list[Any]:
    found = list[Any]()
    for value in values:
        if not any(value is one or (type(value) is type(one) and value == one) for one in found):
            found.append(value)
    return found
