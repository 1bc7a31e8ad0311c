"""The interface as text: every route with who may call it or where it is declared, for `gatehouse routes`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from entrypoints.web.serving.routes import Route


def surface(routes: Iterable[Route]) -> str:
    """Return one line for each route, ordered by path: method, path, who may call, limits."""
    return "\n".join(
        f"{route.method:<6} {route.path:<75} {', '.join([route.who.label, *(limit.name for limit in route.limits)])}"
        for route in sorted(routes, key=lambda route: (route.path, route.method))
    )


def files(routes: Iterable[Route]) -> str:
    """Return one line for each route, ordered by path: method, path, and its handler: file, line and name."""
    return "\n".join(
        f"{route.method:<6} {route.path:<75} {_place(route)}"
        for route in sorted(routes, key=lambda route: (route.path, route.method))
    )


def _place(route: Route) -> str:
    # Decorators may have wrapped it; the line is the first decorator's.
    handler = inspect.unwrap(route.handler)
    return f"{handler.__module__.replace('.', '/')}.py:{handler.__code__.co_firstlineno} {handler.__name__}"
