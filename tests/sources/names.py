"""What the names of a module stand for: functions of other modules, and numbers."""

from __future__ import annotations

import ast
import re
from functools import cache

from tests.sources.reading import ROOT, Source


class Names:
    """The whole names of what a module imports, and the numbers of its constants."""

    def __init__(self, source: Source) -> None:
        self._whole: dict[str, str] = {}
        self._numbers: dict[str, ast.expr] = {}
        for node in source.all_of(ast.Import):
            # `import trio.testing` binds `trio`.
            self._whole |= {one.name.partition(".")[0]: one.name.partition(".")[0] for one in node.names}
            self._whole |= {one.asname: one.name for one in node.names if one.asname}
        self._whole |= {own: f"{module}.{name}" for own, (module, name) in source.imports.items()}
        for node in source.statements:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._numbers[name] = value
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self._numbers[name] = value
                case _:
                    pass

    def whole(self, node: ast.expr) -> str:
        """Return the whole name of a function or a constant; empty when it is none of a module."""
        match node:
            case ast.Name(id=name):
                return self._whole.get(name, "")
            case ast.Attribute(value=value, attr=attribute) if of := self.whole(value):
                return f"{of}.{attribute}"
            case _:
                return ""

    def number(self, node: ast.expr) -> float | None:
        """Return a number that is written down, in the call or as a constant; of a sum what is known of it."""
        match node:
            case ast.Constant(value=int() | float() as value):
                return value
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                known = [number for one in (left, right) if (number := self.number(one)) is not None]
                return sum(known) if known else None
            case ast.Name(id=name) if name in self._numbers:
                return self.number(self._numbers[name])
            case ast.Name(id=name) if self._whole.get(name, "").startswith("tests."):
                return _number_of(*self._whole[name].rpartition(".")[::2])
            case _:
                return None


@cache
def _number_of(module: str, name: str) -> float | None:
    text = (ROOT / f"{module.replace('.', '/')}.py").read_text()
    found = re.search(rf"(?m)^{name}(?:: [\w.\[\]]+)? = ([0-9.]+)$", text)
    return float(found[1]) if found else None
