"""The sources of the tests, read once for all rules.

A definition is a function, a class or an assigned name at the top of a module, or a method of a class of tests. Each
node is visited once, and the rules look at the kinds that they are about. Of each module only a description stays in
memory: the trees of all of them would take half a gigabyte.
"""

from __future__ import annotations

import ast
import gc
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeVar, cast

ROOT: Final = Path(__file__).parents[2]
FOLDERS: Final = ("tests", "ops/clients/python/tests", "ops/clients/python/tests_with_server")
# The definition of what stands at the top of a module without a name.
MODULE: Final = "<module>"

Function = ast.FunctionDef | ast.AsyncFunctionDef
Node = TypeVar("Node", bound=ast.AST)
Key = tuple[str, str]


@dataclass(frozen=True, order=True)
class Finding:
    """A place that a rule refuses, and what to do instead.

    Whether some stand depends on others: on a function of another module that returns a text
    (`if_text_of`), or on the tests that use the definition and on their clock (`of_time`).
    """

    path: str
    line: int
    definition: str
    advice: str
    if_text_of: Key = ("", "")
    of_time: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.advice}"


class Definition:
    """A definition while its module is read, or one statement of a class, with the name of the class."""

    def __init__(self, name: str, node: ast.stmt, marks: frozenset[str]) -> None:
        self.name, self.node, self.marks = name, node, marks
        self._by_kind: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        for one in _nodes(node):
            self._by_kind[type(one)].append(one)

    def all_of(self, *kinds: type[Node]) -> Iterator[Node]:
        """Return all nodes of these kinds."""
        for kind in kinds:
            yield from cast("list[Node]", self._by_kind.get(kind, []))

    @property
    def function(self) -> Function | None:
        """The function or the test that this is; None for a method of a class that has no tests."""
        node = self.node
        return node if isinstance(node, Function) and node.name == self.name.rpartition(".")[2] else None


@dataclass(frozen=True)
class Described:
    """What is kept of a definition: its marks, its parameters and all names that it mentions."""

    is_test: bool
    is_fixture: bool
    marks: frozenset[str]
    arguments: frozenset[str]
    mentions: frozenset[str]


@dataclass(frozen=True)
class Module:
    """What is kept of a module: `imports` has the path of another module and the name there, `texts` return a text."""

    path: str
    definitions: dict[str, Described]
    imports: dict[str, Key]
    texts: frozenset[str]


@dataclass
class Source:
    """A module while it is read."""

    path: str
    text: str
    statements: list[ast.stmt] = field(init=False)
    definitions: list[Definition] = field(init=False)
    imports: dict[str, tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        self.statements = ast.parse(self.text).body
        self.definitions = list(_definitions(self.statements))
        # The module and the name there of each imported name.
        self.imports = {
            one.asname or one.name: (node.module or "", one.name)
            for node in self.all_of(ast.ImportFrom)
            for one in node.names
        }

    def all_of(self, *kinds: type[Node]) -> Iterator[Node]:
        """Return all nodes of these kinds."""
        for definition in self.definitions:
            yield from definition.all_of(*kinds)

    def described(self) -> Module:
        """Return what is kept of the module."""
        imports = {
            own: (f"{module.replace('.', '/')}.py", name)
            for own, (module, name) in self.imports.items()
            if module.startswith("tests.")
        }
        known = {definition.name for definition in self.definitions} | imports.keys()
        return Module(
            self.path,
            _all_described(self.definitions, known),
            imports,
            frozenset(one.name for one in self.definitions if one.function and returns_text(one.function)),
        )


Rule = Callable[[Source], Iterable[Finding]]


def read(sources: Iterable[tuple[str, str]], *rules: Rule) -> tuple[list[Module], list[list[Finding]]]:
    """Return the description of each module, given as path and text, and what each rule found."""
    modules: list[Module] = []
    findings: list[list[Finding]] = [[] for _ in rules]
    # Trees refer to nothing but their own parts, and looking for cycles in them takes three times as long as parsing.
    gc.disable()
    try:
        for path, text in sources:
            source = Source(path, text)
            modules.append(source.described())
            for number, rule in enumerate(rules):
                findings[number] += rule(source)
    finally:
        gc.enable()
    return modules, [sorted(found) for found in findings]


def sources_of_tests() -> Iterator[tuple[str, str]]:
    """Return the path and the text of every module of the tests."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text()


def returns_text(node: ast.AST) -> bool:
    """Return whether this is a function that says it returns a text."""
    return isinstance(node, Function) and node.returns is not None and ast.unparse(node.returns) == "str"


def parameters(node: Function) -> list[ast.arg]:
    """Return all parameters of a function."""
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _all_described(definitions: Iterable[Definition], known: set[str]) -> dict[str, Described]:
    described: dict[str, Described] = {}
    for definition in definitions:
        found = _described(definition, known)
        # Statements without a name share one.
        if (other := described.get(definition.name)) is not None:
            found = replace(found, mentions=found.mentions | other.mentions)
        described[definition.name] = found
    return described


def _described(definition: Definition, known: set[str]) -> Described:
    function = definition.function
    arguments: frozenset[str] = frozenset()
    if function is not None:
        arguments = frozenset(one.arg for one in parameters(function)) | _used_fixtures(function.decorator_list)
    names = {one.id for one in definition.all_of(ast.Name)}
    of_class, dot, _ = definition.name.rpartition(".")
    if dot:
        # Other methods of the class of tests.
        names |= {f"{of_class}.{one.attr}" for one in definition.all_of(ast.Attribute)}
    return Described(
        is_test=function is not None and function.name.startswith("test_"),
        is_fixture=function is not None and any("fixture" in ast.unparse(one) for one in function.decorator_list),
        marks=definition.marks,
        arguments=arguments,
        mentions=frozenset((names | arguments) & known),
    )


def _definitions(statements: Iterable[ast.stmt]) -> Iterator[Definition]:
    statements = list(statements)
    of_module = _marks(
        node.value
        for node in statements
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
    )
    for node in statements:
        marks = of_module | _marks(_decorators(node))
        if not isinstance(node, ast.ClassDef):
            yield Definition(_name(node), node, marks)
            continue
        has_tests = node.name.startswith("Test")
        for one in node.body:
            name = f"{node.name}.{getattr(one, 'name', MODULE)}" if has_tests else node.name
            yield Definition(name, one, marks | _marks(_decorators(one)))
        for one in (*node.bases, *node.decorator_list):
            yield Definition(node.name, ast.Expr(one), marks)


def _nodes(root: ast.AST) -> Iterator[ast.AST]:
    # As `ast.walk`, without the contexts of names, and in half the time.
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                waiting += [one for one in cast("list[object]", value) if isinstance(one, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                waiting.append(value)


def _name(node: ast.stmt) -> str:
    if isinstance(node, Function | ast.ClassDef):
        return node.name
    if isinstance(node, ast.Assign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return target.id if isinstance(target, ast.Name) else MODULE
    return MODULE


def _decorators(node: ast.stmt) -> list[ast.expr]:
    return node.decorator_list if isinstance(node, Function | ast.ClassDef) else []


def _marks(values: Iterable[ast.expr]) -> frozenset[str]:
    return frozenset(
        node.attr
        for value in values
        for node in ast.walk(value)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "pytest.mark"
    )


def _used_fixtures(decorators: Iterable[ast.expr]) -> frozenset[str]:
    return frozenset(
        argument.value
        for one in decorators
        if isinstance(one, ast.Call) and ast.unparse(one.func) == "pytest.mark.usefixtures"
        for argument in one.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    )
