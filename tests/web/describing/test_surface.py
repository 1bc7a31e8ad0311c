"""The surface, as in the golden file `surface.txt`: no route is opened or closed by accident."""

import ast
from functools import cache
from pathlib import Path

from entrypoints import capabilities
from entrypoints.web.describing.surface import files, surface
from entrypoints.web.serving.admission.credentials import public, signed_in
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

GOLDEN_FILE = Path(__file__).with_name("surface.txt")
ROOT = Path(__file__).parents[3]
RENEW = "GATEHOUSE_DEV=on .venv/bin/gatehouse routes > tests/web/describing/surface.txt"


def test_the_surface_is_that_of_the_golden_file() -> None:
    lines = surface(capabilities.routes(is_development=True)).splitlines()

    assert lines == GOLDEN_FILE.read_text().splitlines(), f"The surface changed. If this is intended, run: {RENEW}"


@cache
def handlers(file: str) -> set[tuple[int, str]]:
    """Return the functions of a module that have decorators, each with the line of the first one."""
    return {
        (node.decorator_list[0].lineno, node.name)
        for node in ast.walk(ast.parse((ROOT / file).read_text()))
        if isinstance(node, ast.AsyncFunctionDef) and node.decorator_list
    }


def test_every_route_is_listed_with_the_file_the_line_and_the_name_of_its_handler() -> None:
    routes = capabilities.routes(is_development=True)

    lines = [line.split() for line in files(routes).splitlines()]

    assert [(method, path) for method, path, *_ in lines] == sorted(
        ((route.method, route.path) for route in routes), key=lambda one: (one[1], one[0])
    )
    for _, path, place, function in lines:
        file, _, line = place.partition(":")
        assert (int(line), function) in handlers(file), path


def test_a_route_is_one_line_with_its_callers_and_limits() -> None:
    routes = Routes("examples", "Routes of this test.")

    @routes.post("/api/auth/things")
    @signed_in
    async def write(call: Call) -> None:
        """Write."""

    @routes.get("/api/auth/things")
    @public
    async def read(call: Call) -> None:
        """Read."""

    @routes.get("/api/a")
    @public
    async def first(call: Call) -> None:
        """Read."""

    lines = [line.split() for line in surface(routes.routes).splitlines()]

    assert lines == [
        ["GET", "/api/a", "public"],
        ["GET", "/api/auth/things", "public,", "SIGN_IN_GROUP"],
        ["POST", "/api/auth/things", "user,", "SIGN_IN_GROUP"],
    ]


def test_routes_for_development_are_not_served_in_production() -> None:
    in_production = {route.path for route in capabilities.routes(is_development=False)}

    assert not [path for path in in_production if path.startswith("/dev/")]
