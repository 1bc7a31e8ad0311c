"""The methods of the ports of storage that return many rows, and the functions of the adapters that fetch them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from tests.sources.reading import ROOT

POSTGRES: Final = ROOT / "adapters" / "postgres"
# Has the methods that read rows, whose calls are looked for.
AGGREGATE: Final = POSTGRES / "transaction.py"
# What is run on the whole database by its operator, and what sends the statements of others.
WITHOUT_TENANTS: Final = frozenset({"backup", "driver", "embedded", "schema"})
COLLECTIONS: Final = frozenset(
    {"Collection", "Counter", "Iterable", "Iterator", "Mapping", "Sequence", "dict", "frozenset", "list", "set"}
)
# The methods that read all rows of an answer (`adapters/postgres/transaction.py`).
FETCHING: Final = frozenset(
    {
        *("_all", "_callers", "_defer_all", "_defer_rows", "_defer_values"),
        *("_page_of", "_rows", "_values", "fetchall"),
    }
)


@dataclass(frozen=True)
class Ports:
    """The protocols by the names that a unit of work has for them, and their methods that return many rows."""

    by_attribute: Mapping[str, str]
    many: frozenset[str]

    def method(self, called: ast.expr) -> str | None:
        """Return the method that an expression as `uow.members.of_account` names, if it returns many rows."""
        match called:
            case ast.Attribute(value=ast.Attribute(attr=attribute), attr=name) if attribute in self.by_attribute:
                found = f"{self.by_attribute[attribute]}.{name}"
                return found if found in self.many else None
            case _:
                return None


@cache
def ports() -> Ports:
    """Return the ports as they stand in `ports/`."""
    holders = _holders()
    by_attribute: dict[str, str] = {}
    many: set[str] = set()
    for path in sorted((ROOT / "ports").rglob("*.py")):
        for owner in _classes(ast.parse(path.read_bytes())):
            for one in owner.body:
                match one:
                    case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Subscript(slice=port)):
                        by_attribute[name] = ast.unparse(port)
                    case ast.FunctionDef(name=name, returns=ast.expr() as returns):
                        if names_in(returns) & (COLLECTIONS | holders):
                            many.add(f"{owner.name}.{name}")
                    case _:
                        pass
    return Ports(by_attribute, frozenset(many))


def fetches(sources: Mapping[str, str] | None = None) -> frozenset[str]:
    """Return the functions of the adapters that fetch many rows, with the names of their modules before their own."""
    return frozenset(
        f"{module}.{name}"
        for module, text in (sources or _sources()).items()
        for name, function in functions(ast.parse(text))
        if any(isinstance(node, ast.Call) and _fetches(node) for node in ast.walk(function)) or _walks_answer(function)
    )


def _fetches(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr in FETCHING


def _walks_answer(function: ast.AST) -> bool:
    """Return whether a function walks over the cursor of a statement."""
    sent = {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and _sends(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return any(
        _sends(node.iter) or (isinstance(node.iter, ast.Name) and node.iter.id in sent)
        for node in ast.walk(function)
        if isinstance(node, ast.For | ast.comprehension)
    )


def _sends(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in {"defer", "execute"}
    )


def implementations() -> Mapping[str, frozenset[str]]:
    """Return by which functions that fetch rows each method of a port does so, itself or by others of its class."""
    owners = {owner.name: (module, owner) for module, text in _sources().items() for owner in _classes(ast.parse(text))}
    fetching = fetches()
    found: dict[str, frozenset[str]] = {}
    for name, (_, owner) in owners.items():
        methods = {
            method.name: (f"{module}.{one.name}.{method.name}", method)
            for module, one in _with_bases(name, owners)
            for method in one.body
            if isinstance(method, ast.FunctionDef)
        }
        # "The port `Members`."
        port = (*(ast.get_docstring(owner) or "").split("`")[1:2], name)[0]
        for method in methods:
            reached = {methods[one][0] for one in _reached(method, methods)}
            found[f"{port}.{method}"] = frozenset(reached & fetching)
    return found


def _with_bases(name: str, owners: Mapping[str, tuple[str, ast.ClassDef]]) -> list[tuple[str, ast.ClassDef]]:
    """Return a class behind those that it inherits from."""
    owner = owners[name]
    bases = [base for one in owner[1].bases for base in names_in(one) if base in owners]
    return [*(one for base in bases for one in _with_bases(base, owners)), owner]


def _reached(name: str, methods: Mapping[str, tuple[str, ast.FunctionDef]]) -> set[str]:
    reached, waiting = {name}, [name]
    while waiting:
        for node in ast.walk(methods[waiting.pop()][1]):
            if isinstance(node, ast.Attribute) and node.attr in methods and node.attr not in reached:
                reached.add(node.attr)
                waiting.append(node.attr)
    return reached


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield the functions of a module and the methods of its classes, by their names."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for one in node.body:
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield f"{node.name}.{one.name}", one


def names_in(node: ast.AST) -> set[str]:
    """Return all names that an expression mentions."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _holders() -> frozenset[str]:
    """Return the classes of the core that have a collection of others, such as pages."""
    known = {
        one.name: one
        for path in (ROOT / "core").rglob("*.py")
        for one in _classes(ast.parse(path.read_bytes()))
        if not {"Enum", "StrEnum"} & set().union(*map(names_in, one.bases))
    }
    return frozenset(
        name
        for name, one in known.items()
        for field in one.body
        if isinstance(field, ast.AnnAssign)
        and names_in(field.annotation) & COLLECTIONS
        and names_in(field.annotation) & (known.keys() | {"UUID"})
    )


@cache
def _sources() -> dict[str, str]:
    return {
        ".".join(path.relative_to(POSTGRES).with_suffix("").parts): path.read_text()
        for path in sorted(POSTGRES.rglob("*.py"))
        if path.relative_to(POSTGRES).parts[0] not in WITHOUT_TENANTS and path != AGGREGATE
    }


def _classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    return (node for node in tree.body if isinstance(node, ast.ClassDef))
