"""The operators: what faults a text of the project can have."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_CALLS: Final = re.compile(r"(?:^|\.)(?:\w*audit\w*\.\w+|record\w*|publish\w*|emit\w*|revoke\w*|end_sessions?\w*)$")
_ORGANIZATION: Final = re.compile(r"\s+AND\s+(?:\w+\.)?organization_id\s*=\s*(?:%s|%\(\w+\)s|\w+\.organization_id)")
_ESCAPED: Final = re.compile(r"\{\{ ([\w.]+) \}\}")
# What needs no escaping, by the last word of its name: numbers, ids and slugs that Gatehouse makes or checks, its own
# words and addresses. Ids that others choose (`client_id`, `external_id`, `request_id`, `target_id`) are not here.
_WITHOUT_MARKUP: Final = re.compile(
    r"""(?:^|[.])(?:
        count | \w+_count | limit | number | index | total | width | lines | maxlength | occurrences | crashes
        | max_\w+ | \w+_max | seconds | seconds_left | \w+_seconds | \w+_days
        | id | (?:challenge|organization|plan|provider|return|service|user)_id | slug | \w+_slug
        | anchor | direction | tag | word | (?:action|algorithm|capability|permission|state)[.]value
        | page | \w+_page | href | file | csv
        )$""",
    re.VERBOSE,
)
# A translated text takes no filter: a fault in it would keep the template from being read.
_TRANSLATED: Final = re.compile(r"\{%-? trans\b.*?\{%-? endtrans\b", re.DOTALL)
_TOKEN: Final = re.compile(r"<input[^>]*type=\"hidden\"[^>]*token[^>]*>")


@dataclass(frozen=True)
class Fault:
    """One change of one file: the bytes from start to end become `replacement`."""

    kind: str
    path: str
    line: int
    start: int
    end: int
    replacement: str

    @property
    def id(self) -> str:
        """Name the fault, to repeat it at the same commit."""
        return f"{self.kind}:{self.path}:{self.line}:{self.start}"

    def applied(self, text: str) -> str:
        """Return the text with the fault in it."""
        raw = text.encode()
        return (raw[: self.start] + self.replacement.encode() + raw[self.end :]).decode()


def faults_in(path: str, text: str) -> Iterator[Fault]:
    """Yield the faults that the text of this path can have."""
    if path.startswith("core/") and path.endswith(".py"):
        yield from _of_python(path, text)
    elif path.startswith("adapters/postgres/") and path.endswith(".py"):
        yield from _of_pattern("organization", path, text, _ORGANIZATION, "")
    elif path.startswith("entrypoints/") and path.endswith(".html"):
        # Blanked instead of removed, because faults are named by their place.
        plain = _TRANSLATED.sub(lambda block: block[0].replace("{{", "  "), text)
        for fault in _of_pattern("escaping", path, plain, _ESCAPED, r"{{ \1 | safe }}"):
            if not _WITHOUT_MARKUP.search(fault.replacement.removeprefix("{{ ").removesuffix(" | safe }}")):
                yield fault
        yield from _of_pattern("token", path, text, _TOKEN, "")


def _of_pattern(kind: str, path: str, text: str, pattern: re.Pattern[str], replacement: str) -> Iterator[Fault]:
    for match in pattern.finditer(text):
        start, end = (len(text[:at].encode()) for at in match.span())
        yield Fault(kind, path, text.count("\n", 0, match.start()) + 1, start, end, match.expand(replacement))


def _of_python(path: str, text: str) -> Iterator[Fault]:
    raw = text.encode()
    starts = [0]
    for line in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def fault(kind: str, node: ast.expr | ast.stmt, replacement: str) -> Fault:
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        return Fault(kind, path, node.lineno, start, end, replacement)

    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.If) and any(isinstance(inner, ast.Raise) for inner in node.body):
            yield fault("condition", node.test, "False")
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            weaker: dict[type[ast.cmpop], str] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
            other = weaker.get(type(node.ops[0]))
            # A stored time never equals the present to the microsecond, so that neither comparison sees equal ones.
            if other and not _is_of_present(node.left) and not _is_of_present(node.comparators[0]):
                left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
                yield fault("comparison", node, f"({left}) {other} ({right})")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = ast.unparse(node.value.func)
            if _CALLS.search(called):
                yield fault("revocation" if "revoke" in called or "end_session" in called else "audit", node, "pass")


def _is_of_present(node: ast.expr) -> bool:
    """Return whether an expression is the present moment, or so much before, after or since it."""
    match node:
        case ast.Name(id="at" | "now") | ast.Attribute(attr="now"):
            return True
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return _is_of_present(left) or _is_of_present(right)
        case ast.Call(func=ast.Name(id="abs"), args=[argument]):
            return _is_of_present(argument)
        case ast.Call(func=ast.Attribute(value=moment, attr="timestamp")):
            return _is_of_present(moment)
        case _:
            return False
