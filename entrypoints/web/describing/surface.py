"""The interface as text: every route and who may call it, for `gatehouse routes` and the golden file."""

from __future__ import annotations

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
