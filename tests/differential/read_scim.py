"""scim2-models as a second reader: for each line, a filter or a path, its tree; null when it refuses it.

It is run by the Python of the peer.
"""

import importlib
import json
import sys
from typing import Any

grammar: Any = importlib.import_module("scim2_models.path.grammar")
exceptions: Any = importlib.import_module("scim2_models.exceptions")


def attribute(path: Any) -> list[Any]:
    """Return the schema, the name and the part of an attribute."""
    return [path.uri, path.attr, path.sub_attr]


def tree(node: Any) -> Any:
    """Return a filter as a list."""
    match type(node).__name__:
        case "LogicalExpr":
            parts = [tree(term) for term in node.terms]
            operator = str(node.op.value)
            return [operator, *(one for part in parts for one in (part[1:] if part[0] == operator else [part]))]
        case "Not":
            return ["not", tree(node.expr)]
        case "ValuePath":
            return ["in", attribute(node.attr_path), tree(node.val_filter)]
        case "Present":
            return ["pr", attribute(node.attr_path)]
        case _:
            return [str(node.op.value), attribute(node.attr_path), node.value]


def target(node: Any) -> Any:
    """Return a path as a list."""
    match type(node).__name__:
        case "AttrPath":
            return [attribute(node), None, None]
        case "ValuePath":
            return [attribute(node.attr_path), tree(node.val_filter), node.sub_attr]
        case _:
            return None


for line in sys.stdin:
    kind, text = json.loads(line)
    try:
        found = tree(grammar._parse_filter(text)) if kind == "filter" else target(grammar._parse_path(text))
    except (exceptions.InvalidFilterException, exceptions.InvalidPathException):
        found = None
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
