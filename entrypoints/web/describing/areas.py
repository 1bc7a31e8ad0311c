"""The parts of the reference: one page for each capability, or several for one with many routes.

A page of all routes would have 3 MB and take seconds to load.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Final

from core.lazy_dataclasses import dataclass
from entrypoints.web.serving.routes import Route

REFERENCE: Final = "/docs"
AREAS: Final = "/docs/reference"
# A page of this many routes has at most 300 KB.
AREA_ROUTES_MAX: Final = 50
_NO_WORD: Final = re.compile("[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Area:
    """A page of the reference: its name in addresses, its title, and its routes."""

    slug: str
    name: str
    introduction: str
    routes: Sequence[Route]
    # The name of its capability in addresses, by which earlier versions had it on one page with all others.
    anchor: str

    @property
    def path(self) -> str:
        """The path of the page."""
        return f"{AREAS}/{self.slug}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A route in one line of a list, with the address of all that the reference says about it."""

    anchor: str
    method: str
    path: str
    title: str
    address: str


@cache
def areas_of(routes: tuple[Route, ...]) -> Mapping[str, Area]:
    """Return the areas by their slugs, in the order of their declaration."""
    introduced, found = introductions(routes), dict[str, Area]()
    order = list(introduced)
    by_capability = sorted(routes, key=lambda route: order.index(route.capability))
    for capability, group in groupby(by_capability, key=lambda route: route.capability):
        for name, part in _parts(capability[:1].upper() + capability[1:], list(group)):
            slug = _NO_WORD.sub("-", name.lower()).strip("-")
            assert slug not in found, f"two areas have the name {slug}"
            found[slug] = Area(
                slug=slug,
                name=name,
                introduction=introduced[capability],
                routes=part,
                anchor=capability.replace(" ", "-"),
            )
    return found


@cache
def addresses_of(routes: tuple[Route, ...]) -> Mapping[str, str]:
    """Return the address of each operation in the reference, by its id."""
    return {
        route.operation_id: f"{area.path}#{route.operation_id}"
        for area in areas_of(routes).values()
        for route in area.routes
    }


def line_of(route: Route, address: str) -> Line:
    """Return the line of a route."""
    return Line(
        anchor=route.operation_id,
        method=route.method,
        path=route.path,
        title=route.documentation.partition("\n")[0],
        address=address,
    )


def introductions(routes: Iterable[Route]) -> dict[str, str]:
    """Return each capability's introduction; if several modules share a capability, the longest one counts."""
    found: dict[str, str] = {}
    for route in routes:
        found[route.capability] = max(found.get(route.capability, ""), route.introduction, key=len)
    return found


def _parts(name: str, routes: Sequence[Route]) -> Iterator[tuple[str, Sequence[Route]]]:
    """Divide many routes, by their paths, into parts of about the same size."""
    count = -(-len(routes) // AREA_ROUTES_MAX)
    if count == 1:
        yield name, routes
        return
    by_path, size = sorted(routes, key=lambda route: (route.path, route.method)), -(-len(routes) // count)
    for number in range(count):
        yield f"{name}, part {number + 1}", by_path[number * size : (number + 1) * size]
