"""The capabilities: every handler that a module declares is served, wherever the module is."""

from __future__ import annotations

import ast
from pathlib import Path

from entrypoints import capabilities

ROOT = Path(__file__).parents[2]
METHODS = {"get", "post", "put", "patch", "delete"}
# Its routes are added where they are needed: in an instance for tests.
ADDED = {"entrypoints/testing/control.py"}


def _is_declaration(decorator: ast.expr) -> bool:
    """Whether a decorator is `routes.get(…)` or its like."""
    return (
        isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute) and decorator.func.attr in METHODS
    )


def test_every_handler_that_a_module_declares_is_served() -> None:
    declared = {
        (str(path.relative_to(ROOT)), node.name)
        for path in (ROOT / "entrypoints").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.AsyncFunctionDef) and any(map(_is_declaration, node.decorator_list))
    }
    handlers = [route.handler for capability in capabilities.declared() for route in capability.routes]
    served = {(handler.__module__.replace(".", "/") + ".py", handler.__name__) for handler in handlers}

    assert len(declared) > 600
    assert {one for one in declared - served if one[0] not in ADDED} == set()


def test_every_area_of_handlers_and_pages_is_named_and_there() -> None:
    folders = {
        folder.name
        for layer in ("http", "pages")
        for folder in (ROOT / "entrypoints" / layer).iterdir()
        if (folder / "__init__.py").exists()
    }

    assert sorted(capabilities.AREAS) == sorted(folders)


def test_no_routes_are_served_twice() -> None:
    assert len({id(one) for one in capabilities.declared()}) == len(capabilities.declared())
    routes = [route.name for capability in capabilities.declared() for route in capability.routes]
    assert sorted(set(routes)) == sorted(routes)
