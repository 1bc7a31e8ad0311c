"""What names stand for in a source: which expressions are texts, and which words a name may be.

What is a text follows from what a function says that it returns, from how a text is made (`str`, `decode`, an f-string)
and, where neither tells, from the names that tests give to their texts.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from tests.sources.reading import Definition, Function, Key, Source, parameters, returns_text

# Attributes of answers, mails and processes, and names that tests give to their texts.
ATTRIBUTES: Final = frozenset({"text", "html", "xml", "subject", "stdout", "stderr", "log", "content", "body", "raw"})
NAMES: Final = frozenset(
    {"text", "html", "page", "body", "log", "logs", "line", "rendered", "printed", "shown", "everything", "panel"}
    | {"address", "link", "location", "policy", "url"}
)
# Calls that return a text, or the text that they are asked of.
MAKERS: Final = frozenset({"str", "repr", "format", "ascii", "json.dumps", "re.sub", "unescape", "html.unescape"})
METHODS: Final = frozenset(
    {"decode", "lower", "upper", "strip", "replace", "join", "getvalue", "hex"}
    | {"content", "evaluate", "inner_html", "inner_text", "text", "text_content"}
)
MAPPINGS: Final = frozenset({"dict[str, str]", "list[str]", "tuple[str, ...]"})
_BINDING: Final = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr),
    *(ast.For, ast.AsyncFor, ast.comprehension),
)
PARTS: Final = frozenset({"partition", "rpartition", "split", "rsplit"})


def scopes(source: Source) -> Iterator[tuple[Definition, Scope]]:
    """Return each definition of a module, with what names stand for in it."""
    functions = {node.name: node for node in source.all_of(ast.FunctionDef, ast.AsyncFunctionDef)}
    assigned = [node for node in source.statements if isinstance(node, ast.Assign | ast.AnnAssign)]
    of_module = Scope(assigned, functions, source.imports)
    for definition in source.definitions:
        yield definition, of_module.inside(definition)


class Scope:
    """What the names of a definition, or of a module, stand for."""

    def __init__(
        self,
        nodes: Iterable[ast.AST],
        functions: dict[str, Function],
        imports: dict[str, tuple[str, str]],
        outer: Scope | None = None,
    ) -> None:
        self._functions, self._imports, self._outer = functions, imports, outer
        # The types that are written down, the values that are assigned, and what is gone through by a loop.
        self._types: dict[str, str] = {}
        self._values: dict[str, list[ast.expr]] = defaultdict(list)
        self._elements: dict[str, list[ast.expr]] = defaultdict(list)
        for node in nodes:
            self._learn(node)

    def inside(self, definition: Definition) -> Scope:
        """Return the scope of a definition of this module."""
        return Scope(definition.all_of(*_BINDING), self._functions, self._imports, self)

    def words(self, needle: ast.expr) -> set[str]:
        """Return the texts that an expression may be, as far as they are written down."""
        match needle:
            case ast.Constant(value=str() as word):
                return {word}
            case ast.Constant(value=bytes() as word):
                return {word.decode(errors="replace")}
            case ast.Name(id=name):
                found = {word for value in self._values[name] for word in self.words(value)}
                found |= {word for value in self._elements[name] for word in self._words_of_elements(value)}
                return found or (self._outer.words(needle) if self._outer else set())
            case _:
                return set()

    def is_text(self, node: ast.expr) -> bool | Key:
        """Return whether an expression is a text; the function of another module when it is if that returns one."""
        match node:
            case ast.Await(value=value) | ast.Subscript(value=value, slice=ast.Slice()):
                return self.is_text(value)
            case ast.Name(id=name):
                return self._names_text(name)
            case ast.Call(func=function):
                return self._makes_text(function)
            case ast.Attribute(attr=attribute):
                return attribute in ATTRIBUTES
            case ast.Subscript(value=value):
                return self._holds_texts(value)
            case _:
                found = [self.is_text(part) for part in _parts(node)]
                return isinstance(node, ast.JoinedStr) or next((one for one in found if one), False)

    def _makes_text(self, function: ast.expr) -> bool | Key:
        name = ast.unparse(function)
        if name in self._functions:
            return returns_text(self._functions[name])
        if name in self._imports and self._imports[name][0].startswith("tests."):
            module, there = self._imports[name]
            return f"{module.replace('.', '/')}.py", there
        if isinstance(function, ast.Attribute) and function.attr in METHODS:
            # The source of a program is no answer: nothing in it is random.
            return ".read_" not in name
        return name in MAKERS or name.endswith(".headers.get")

    def _names_text(self, name: str) -> bool | Key:
        if any(self._words_of_elements(values) for values in self._elements[name]):
            return False
        if name in self._types:
            return self._types[name] == "str"
        if values := self._values[name]:
            found = [self.is_text(value) for value in values]
            is_opaque = all(isinstance(value, ast.Call | ast.Await) for value in values)
            return next((one for one in found if one), is_opaque and name in NAMES)
        if self._outer is not None and name not in self._elements:
            return self._outer._names_text(name)
        return name in NAMES

    def _holds_texts(self, values: ast.expr) -> bool:
        """Return whether the elements of an expression are texts."""
        match values:
            case ast.Call(func=ast.Attribute(attr=method)):
                return method in PARTS
            case ast.Attribute(attr=attribute):
                return attribute == "headers"
            case ast.Name(id=name):
                return self._types.get(name) in MAPPINGS or any(map(self._holds_texts, self._values[name]))
            case ast.DictComp(value=one) | ast.ListComp(elt=one) | ast.List(elts=[one, *_]) | ast.Tuple(elts=[one, *_]):
                return self.is_text(one) is True
            case _:
                return False

    def _words_of_elements(self, values: ast.expr) -> set[str]:
        match values:
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                return {word for one in elements for word in self.words(one)}
            case ast.Dict(keys=keys):
                return {word for one in keys if one is not None for word in self.words(one)}
            case ast.Name(id=name):
                found = {word for value in self._values[name] for word in self._words_of_elements(value)}
                return found or (self._outer._words_of_elements(values) if self._outer else set())
            case ast.Call(args=[ast.Constant(value=str() as text)]) if ast.unparse(values.func).endswith(".split"):
                return set(text.split())
            case _:
                return set()

    def _learn(self, node: ast.AST) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for one in parameters(node):
                    self._learn_type(one.arg, one.annotation)
                for decorator in node.decorator_list:
                    self._learn_parametrization(decorator)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target, value)
            case ast.AnnAssign(target=ast.Name(id=name) as target, annotation=annotation, value=value):
                self._learn_type(name, annotation)
                if value is not None:
                    self._assign(target, value)
            case ast.NamedExpr(target=target, value=value) | ast.AugAssign(target=target, value=value):
                self._assign(target, value)
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                self._go_through(node.target, node.iter)
            case _:
                pass

    def _learn_type(self, name: str, annotation: ast.expr | None) -> None:
        if annotation is not None and "Final" not in (written := ast.unparse(annotation)):
            self._types[name] = written

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ast.Name(id=name), _:
                self._values[name].append(value)
            case ast.Tuple(elts=targets), ast.Tuple(elts=values):
                for one, its_value in zip(targets, values, strict=False):
                    self._assign(one, its_value)
            case _:
                pass

    def _go_through(self, target: ast.expr, values: ast.expr) -> None:
        match target, values:
            case ast.Name(id=name), _:
                self._elements[name].append(values)
            case ast.Tuple(elts=targets), ast.Tuple(elts=rows) | ast.List(elts=rows):
                for place, one in enumerate(targets):
                    columns = [cells[place] for row in rows if len(cells := _cells(row)) > place]
                    self._go_through(one, ast.List(elts=columns))
            case ast.Tuple(elts=[ast.Name(id=name), *_]), ast.Call(func=ast.Attribute(value=of, attr="items")):
                self._elements[name].append(of)
            case _:
                pass

    def _learn_parametrization(self, decorator: ast.expr) -> None:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[ast.Constant(value=str() as names), values]):
                targets: list[ast.expr] = [ast.Name(id=name.strip()) for name in names.split(",")]
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[ast.Tuple(elts=given), values]):
                targets = [ast.Name(id=str(one.value)) for one in given if isinstance(one, ast.Constant)]
            case _:
                return
        self._go_through(targets[0] if len(targets) == 1 else ast.Tuple(elts=targets), values)


def _cells(row: ast.expr) -> list[ast.expr]:
    match row:
        case ast.Tuple(elts=cells) | ast.List(elts=cells):
            return cells
        case ast.Call(func=ast.Attribute(attr="param"), args=cells):
            return cells
        case _:
            return []


def _parts(node: ast.expr) -> list[ast.expr]:
    """Return the expressions of which the whole is a text if one of them is."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [left, right]
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.BoolOp(values=values):
            return values
        case _:
            return []
