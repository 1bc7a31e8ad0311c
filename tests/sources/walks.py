"""Which functions of the core walk over rows that a port of storage has returned.

Rows are followed from the call that returns them: through names, attributes, comprehensions and collections that a loop
fills, into the functions that they are handed to, and out of those that return them. An element of rows is followed no
further, so that its own lists count as what they are, a part of one row.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from tests.sources.row_ports import Ports, functions

# The methods of ports whose rows something has.
Rows: TypeAlias = set[str]
LOOPS: Final = frozenset({"filter", "map", "sorted"})
# What returns the elements that it is given.
PASSING: Final = LOOPS | frozenset(
    {
        *("Counter", "cast", "chain", "dict", "enumerate", "frozenset", "groupby", "in_parts", "islice", "iter"),
        # `core.positions.listing` takes the method that returns the rows.
        *("list", "listing", "read_in_parts", "replace", "reversed", "set", "tuple", "zip"),
    }
)
# What says something of all elements, or returns one of them.
DIGESTING: Final = frozenset({"all", "any", "bool", "isinstance", "len", "max", "min", "next", "str", "sum"})
OF_COLLECTION: Final = frozenset(
    # The first rows of a `Listing`, and a part of them, among them.
    {"copy", "difference", "first", "intersection", "items", "keys", "most_common", "page", "union", "values"}
)
FILLING: Final = frozenset({"add", "append", "extend", "insert", "setdefault", "update"})
# Expressions that do something with rows, wherever they stand.
_FOLLOWED: Final = (ast.Call, ast.DictComp, ast.GeneratorExp, ast.ListComp, ast.NamedExpr, ast.SetComp)


@dataclass
class Function:
    """A function of the core, with what is known of the rows in it."""

    module: str
    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef
    given: defaultdict[str, Rows] = field(default_factory=lambda: defaultdict[str, Rows](set))
    returned: Rows = field(default_factory=set[str])
    walked: Rows = field(default_factory=set[str])
    callers: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    @property
    def owner(self) -> str:
        """The class of a method; empty for a function."""
        return self.name.rpartition(".")[0]

    @property
    def parameters(self) -> list[str]:
        """The names of what is given by place."""
        names = [one.arg for one in (*self.node.args.posonlyargs, *self.node.args.args)]
        return names[1:] if self.owner and names[:1] in (["self"], ["cls"]) else names

    @property
    def key(self) -> tuple[str, str]:
        """The module and the name."""
        return self.module, self.name


class Core:
    """The functions of modules by their names, and what each module imports."""

    def __init__(self, sources: Mapping[str, str], ports: Ports) -> None:
        self.ports = ports
        self.functions: dict[tuple[str, str], Function] = {}
        self._imports: dict[str, dict[str, tuple[str, str]]] = {}
        for module, text in sources.items():
            tree = ast.parse(text)
            self._imports[module] = {
                one.asname or one.name: (node.module, one.name)
                for node in ast.walk(tree)
                if isinstance(node, ast.ImportFrom) and node.module
                for one in node.names
            }
            for name, node in functions(tree):
                self.functions[module, name] = Function(module, name, node)

    def walks(self) -> dict[str, Rows]:
        """Return the functions that walk over rows, with the methods that return these."""
        waiting = dict.fromkeys(self.functions)
        while waiting:
            key, _ = waiting.popitem()
            function = self.functions[key]
            returned = len(function.returned)
            # Read again the functions that are handed more rows and, if this one returns more, its callers.
            waiting.update(dict.fromkeys(_Reader(self, function).read()))
            if len(function.returned) > returned:
                waiting.update(dict.fromkeys(function.callers))
        return {f"{one.module}.{one.name}": one.walked for one in self.functions.values() if one.walked}

    def called(self, by: Function, called: ast.expr) -> Function | None:
        """Return the function that an expression names; None if it is not in these modules."""
        imports = self._imports[by.module]
        match called:
            case ast.Name(id=name):
                return self.functions.get((by.module, name)) or self.functions.get(imports.get(name, ("", "")))
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                return self.functions.get((by.module, f"{by.owner}.{name}"))
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                module, imported = imports.get(owner, ("", ""))
                places = (
                    (f"{module}.{imported}", name),
                    (module, f"{imported}.{name}"),
                    (by.module, f"{owner}.{name}"),
                )
                return next((self.functions[one] for one in places if one in self.functions), None)
            case _:
                return None


class _Reader:
    """Follows the rows in one function."""

    def __init__(self, core: Core, function: Function) -> None:
        self._core = core
        self._function = function
        self._rows = defaultdict[str, Rows](set, {name: set(rows) for name, rows in function.given.items()})
        # The rows of the loops around, and the names whose values are collections that a loop has filled.
        self._around: list[Rows] = []
        self._nested: set[str] = set()
        self._told: set[tuple[str, str]] = set()

    def read(self) -> set[tuple[str, str]]:
        """Follow the rows; return the functions that were handed rows that they had not before."""
        # What a loop has filled may be walked over before it in the text.
        for _ in range(2):
            self._body(self._function.node.body)
        return self._told

    def _body(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.For() | ast.AsyncFor():
                self._loop(node.iter, node.body, node.target)
                self._body(node.orelse)
            case ast.While():
                self._loop(node.test, node.body)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._body(node.body)
            case _:
                self._simple(node)

    def _loop(self, over: ast.expr, body: Iterable[ast.stmt], target: ast.expr | None = None) -> None:
        rows = self._of(over)
        self._expressions(over)
        self._function.walked |= rows
        if target is not None:
            self._bind(target, over)
        self._around.append(rows)
        self._body(body)
        self._around.pop()

    def _simple(self, node: ast.stmt) -> None:
        for _, value in ast.iter_fields(node):
            for part in value if isinstance(value, list) else [value]:
                self._part(part)
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
                self._assign(target, value)
            case ast.Return(value=ast.expr() as value):
                self._function.returned |= self._of(value)
            case ast.Expr(value=ast.Yield(value=value) | ast.YieldFrom(value=value)):
                self._function.returned |= self._of(value).union(*self._around)
            case _:
                pass

    def _part(self, part: object) -> None:
        """Read a part of a statement: another one, one of its branches, or an expression."""
        match part:
            case ast.stmt():
                self._statement(part)
            case ast.ExceptHandler(body=body) | ast.match_case(body=body):
                self._body(body)
            case ast.AST():
                self._expressions(part)
            case _:
                pass

    def _expressions(self, node: ast.AST) -> None:
        """Follow the rows in the calls and comprehensions of a statement."""
        for one in ast.walk(node):
            if isinstance(one, _FOLLOWED):
                self._of(one)
            if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in FILLING:
                self._fill(one.func.value)

    def _fill(self, filled: ast.expr) -> None:
        """Note that a loop fills a collection, or one of those in it."""
        if not self._around:
            return
        while isinstance(filled, ast.Call) and isinstance(filled.func, ast.Attribute):
            filled = filled.func.value
            if isinstance(filled, ast.Name):
                self._nested.add(filled.id)
        if isinstance(filled, ast.Name):
            self._rows[filled.id].update(*self._around)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case (ast.Tuple(elts=targets) | ast.List(elts=targets), ast.Tuple(elts=values) | ast.List(elts=values)) if (
                len(targets) == len(values)
            ):
                for one, part in zip(targets, values, strict=True):
                    self._assign(one, part)
            case (ast.Tuple(elts=targets) | ast.List(elts=targets), _):
                for one in targets:
                    self._assign(one, value)
            case (ast.Starred(value=one), _):
                self._assign(one, value)
            case (ast.Subscript(value=filled), _):
                self._fill(filled)
            case (ast.Name() | ast.Attribute(), _):
                self._rows[ast.unparse(target)] |= self._of(value)
            case _:
                pass

    def _bind(self, target: ast.expr, over: ast.expr) -> None:
        """Follow the elements of what is walked over, where these are collections of rows themselves."""
        match over:
            case ast.Call(func=ast.Name(id=name)) if name in {
                "groupby",
                "in_parts",
                "read_in_parts",
            } or self._yields_parts(over.func):
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="items" | "values")) if name in self._nested:
                pass
            case _:
                return
        for one in ast.walk(target):
            if isinstance(one, ast.Name):
                self._rows[one.id] |= self._of(over)

    def _yields_parts(self, called: ast.expr) -> bool:
        """Return whether a function says that it yields collections."""
        function = self._core.called(self._function, called)
        returns = ast.unparse(function.node.returns) if function is not None and function.node.returns else ""
        return returns.startswith(("Iterator[Sequence[", "Iterator[list["))

    def _of(self, node: ast.expr | None) -> Rows:
        """Return the rows that an expression has."""
        match node:
            case ast.Name():
                found = set(self._rows.get(node.id, ()))
            case ast.Attribute() if (method := self._core.ports.method(node)) is not None:
                found = {method}
            case ast.Attribute():
                found = self._rows.get(ast.unparse(node), set[str]()) | self._of(node.value)
            case ast.NamedExpr(target=target, value=value):
                self._assign(target, value)
                found = self._of(value)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                found = self._of_comprehension(node.generators)
            case ast.Call():
                found = self._of_call(node)
            case _:
                found = set[str]().union(*map(self._of, _composed_of(node)))
        return found

    def _of_comprehension(self, generators: Iterable[ast.comprehension]) -> Rows:
        found: Rows = set()
        for one in generators:
            found |= self._of(one.iter)
            self._bind(one.target, one.iter)
        self._function.walked |= found
        return found

    def _of_call(self, node: ast.Call) -> Rows:
        if (method := self._core.ports.method(node.func)) is not None:
            return {method}
        called, arguments = node.func, node.args
        if isinstance(called, ast.Name) and called.id == "partial" and arguments:
            called, arguments = arguments[0], arguments[1:]
            if (method := self._core.ports.method(called)) is not None:
                return {method}
        given = set[str]().union(*map(self._of, [*arguments, *(one.value for one in node.keywords)]))
        is_passed = isinstance(called, ast.Name) and called.id in PASSING
        if not is_passed and (function := self._core.called(self._function, called)) is not None:
            self._give(function, arguments, node.keywords)
            return set(function.returned) if called is node.func else set()
        match node.func:
            case ast.Name(id=name) if name in DIGESTING:
                found = set[str]()
            case ast.Name(id=name) if name in PASSING or name[0].isupper():
                self._function.walked |= given if name in LOOPS else set[str]()
                found = given
            case ast.Attribute(value=value, attr=name) if name in OF_COLLECTION:
                found = given | self._of(value)
            case ast.Attribute(attr=name) if name in PASSING or name[0].isupper():
                found = given
            case ast.Attribute():
                found = set[str]()
            case deferred:
                found = self._of(deferred)
        return found

    def _give(self, function: Function, arguments: Iterable[ast.expr], keywords: Iterable[ast.keyword]) -> None:
        function.callers.add(self._function.key)
        named = [(one.arg, one.value) for one in keywords if one.arg is not None]
        for name, value in (*zip(function.parameters, arguments, strict=False), *named):
            if more := self._of(value) - function.given[name]:
                function.given[name] |= more
                self._told.add(function.key)


def _composed_of(node: ast.expr | None) -> list[ast.expr]:
    """Return the expressions whose rows another one has."""
    found: list[ast.expr] = []
    match node:
        case ast.Subscript(value=value, slice=ast.Slice()) | ast.Starred(value=value) | ast.Await(value=value):
            found = [value]
        case ast.Lambda(body=body):
            found = [body]
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            found = [one for one in parts if isinstance(one, ast.Starred)]
        case ast.Dict(keys=keys, values=values):
            found = [value for key, value in zip(keys, values, strict=True) if key is None]
        case ast.BinOp(left=one, right=other) | ast.IfExp(body=one, orelse=other):
            found = [one, other]
        case ast.BoolOp(values=values):
            found = values
        case _:
            pass
    return found
