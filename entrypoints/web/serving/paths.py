"""Finds the route of a request by its method and its path, and what holds for a path without a route."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache

from werkzeug.exceptions import MethodNotAllowed, NotFound

from entrypoints.web.serving.admission.hosts import PAGES
from entrypoints.web.serving.dialects import Dialect
from entrypoints.web.serving.routes import Route


@cache
def paths_of(routes: tuple[Route, ...]) -> Paths:
    """Return the paths of routes; made before there are workers, all of them share its memory.

    Raise `ValueError` for two routes that match the same requests.
    """
    return Paths(routes)


class Paths:
    """The paths of routes, as a tree of words: a word of the request's path matches itself rather than a parameter."""

    def __init__(self, routes: tuple[Route, ...]) -> None:
        self.routes = routes
        self.operations = {route.operation_id: route for route in routes}
        # What shows a refusal to people where there is no route.
        self.page_for_people = next((route.refusal_page for route in routes if route.path.startswith(PAGES)), None)
        self._dialects = {route.dialect.path: route.dialect for route in routes if route.dialect is not None}
        self._root = _Place()
        # Most requests have a path without parameters.
        self._fixed: dict[tuple[str, str], Route] = {}
        for route in routes:
            self._add(route)

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """Return the route and the words of the path that it names; raise `NotFound` or `MethodNotAllowed`."""
        fixed = self._fixed.get((method, path))
        if fixed is not None:
            return fixed, {}
        for place, words in self._matching(path):
            route = place.routes.get(method)
            if route is not None:
                return route, dict(zip(route.path_parameters, words, strict=False))
        allowed = self.allowed_methods(path)
        if allowed:
            raise MethodNotAllowed(valid_methods=allowed)
        raise NotFound

    def allowed_methods(self, path: str) -> set[str]:
        """Return the methods that have a route at this path."""
        return {method for place, _ in self._matching(path) for method in place.routes}

    def dialect(self, path: str) -> Dialect | None:
        """Return the dialect of a path, which holds as well where there is no route."""
        return next((dialect for dialect in self._dialects.values() if dialect.has_path(path)), None)

    def matched(self, path: str) -> str:
        """Return the path by which a route is found: without a slash at its end where the dialect has no such paths."""
        if path.endswith("/"):
            dialect = self.dialect(path)
            if dialect is not None and dialect.ignores_trailing_slash:
                return path.removesuffix("/")
        return path

    def _add(self, route: Route) -> None:
        place = self._root
        for word in route.path.split("/"):
            place = place.next(word)
        place.takes_rest = place.takes_rest or route.takes_rest
        if route.method in place.routes:
            raise ValueError(f"{route.name} is declared twice")
        place.routes[route.method] = route
        if ":" not in route.path:
            self._fixed[route.method, route.path] = route
        if route.method == "GET":
            place.routes["HEAD"] = route
        place.routes.setdefault("OPTIONS", route)

    def _matching(self, path: str) -> Generator[tuple[_Place, tuple[str, ...]]]:
        """Generate the places that a path leads to, with its words for the parameters, the preferred place first."""
        path_words = path.split("/")
        found: list[tuple[_Place, int, tuple[str, ...]]] = [(self._root, 0, ())]
        while found:
            place, depth, words = found.pop()
            if depth == len(path_words):
                yield place, words
                continue
            word = path_words[depth]
            if word and place.parameter is not None:
                found.append((place.parameter, depth + 1, (*words, word)))
                if place.parameter.takes_rest and depth + 1 < len(path_words):
                    found.append((place.parameter, len(path_words), (*words, "/".join(path_words[depth:]))))
            # The last one is the first to be followed.
            if (fixed := place.fixed.get(word)) is not None:
                found.append((fixed, depth + 1, words))


class _Place:
    """What follows the beginning of a path: places by the next word, or by any, and the routes that end here."""

    __slots__ = ("fixed", "parameter", "routes", "takes_rest")

    def __init__(self) -> None:
        self.fixed: dict[str, _Place] = {}
        self.parameter: _Place | None = None
        self.routes: dict[str, Route] = {}
        self.takes_rest = False

    def next(self, word: str) -> _Place:
        """Return the place that a word of a declared path leads to."""
        if not word.startswith(":"):
            return self.fixed.setdefault(word, _Place())
        self.parameter = self.parameter or _Place()
        return self.parameter
