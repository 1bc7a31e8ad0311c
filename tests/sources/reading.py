"""The sources of the tests, read once for the rules about what they may not contain.

A definition is a function, a class or an assigned name at the top of a module, or a method of a class of tests. Of each
module only a description stays in memory: the trees of all of them would take half a gigabyte.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FOLDERS: Final = ("tests", "ops/clients/python/tests", "ops/clients/python/tests_with_server")
# The definition of what stands at the top of a module without a name.
MODULE: Final = "<module>"

Function = ast.FunctionDef | ast.AsyncFunctionDef
Key = tuple[str, str]


@dataclass(frozen=True, order=True)
class Finding:
    """A place that a rule refuses, and what to do instead.

    Of some it depends on others whether they stand: on a function of another module that returns a text
    (`if_text_of`), or on the tests that use the definition and on their clock (`of_time`).
    """

    path: str
    line: int
    definition: str
    advice: str
    if_text_of: Key | None = None
    of_time: str | None = None

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.advice}"


@dataclass(frozen=True)
class Definition:
    """A definition while its module is read."""

    name: str
    node: ast.stmt
    marks: frozenset[str]


@dataclass(frozen=True)
class Described:
    """What stays of a definition: its marks, its parameters and all names that it mentions."""

    is_test: bool
    is_fixture: bool
    marks: frozenset[str]
    arguments: frozenset[str]
    mentions: frozenset[str]


@dataclass(frozen=True)
class Module:
    """What stays of a module: `imports` has the path of another module and the name there, `texts` return a text."""

    path: str
    definitions: dict[str, Described]
    imports: dict[str, Key]
    texts: frozenset[str]


@dataclass
class Source:
    """A module while it is read."""

    path: str
    text: str
    tree: ast.Module = field(init=False)

    def __post_init__(self) -> None:
        self.tree = ast.parse(self.text)

    def definitions(self) -> Iterator[Definition]:
        """Return what the module defines, and its other statements."""
        of_module = _marks(
            node.value
            for node in self.tree.body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
        )
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
                of_class = of_module | _marks(node.decorator_list)
                for one in node.body:
                    name = getattr(one, "name", MODULE)
                    yield Definition(f"{node.name}.{name}", one, of_class | _marks(_decorators(one)))
            else:
                yield Definition(_name(node), node, of_module | _marks(_decorators(node)))

    def imports(self) -> dict[str, tuple[str, str]]:
        """Return the module and the name there of each imported name."""
        found: dict[str, tuple[str, str]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom):
                found |= {one.asname or one.name: (node.module or "", one.name) for one in node.names}
        return found

    def described(self) -> Module:
        """Return what stays of the module."""
        imports = {
            own: (f"{module.replace('.', '/')}.py", name)
            for own, (module, name) in self.imports().items()
            if module.startswith("tests.")
        }
        definitions = list(self.definitions())
        known = {definition.name for definition in definitions} | imports.keys()
        return Module(
            self.path,
            _all_described(definitions, known),
            imports,
            frozenset(one.name for one in definitions if returns_text(one.node)),
        )


Rule = Callable[[Source], Iterable[Finding]]


def read(sources: Iterable[tuple[str, str]], rules: Iterable[Rule]) -> tuple[list[Module], list[Finding]]:
    """Return the description of each module, given as path and text, and what the rules found."""
    rules = list(rules)
    modules: list[Module] = []
    findings: list[Finding] = []
    # Trees refer to nothing but their own parts, and looking for cycles in them takes three times as long as parsing.
    gc.disable()
    try:
        for path, text in sources:
            source = Source(path, text)
            modules.append(source.described())
            findings += [finding for rule in rules for finding in rule(source)]
    finally:
        gc.enable()
    return modules, findings


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
    node = definition.node
    arguments: frozenset[str] = frozenset()
    if isinstance(node, Function):
        arguments = frozenset(one.arg for one in parameters(node)) | _used_fixtures(node.decorator_list)
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return Described(
        is_test=isinstance(node, Function) and node.name.startswith("test_"),
        is_fixture=any("fixture" in ast.unparse(one) for one in _decorators(node)),
        marks=definition.marks,
        arguments=arguments,
        mentions=frozenset((names | arguments) & known),
    )


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
