"""The surface of the house, as the golden file `surface.txt` has it: nothing is opened or closed by accident."""

from pathlib import Path

from entrypoints import capabilities
from entrypoints.web.calls import Call
from entrypoints.web.credentials import public, signed_in
from entrypoints.web.routes import Routes
from entrypoints.web.surface import surface

GOLDEN_FILE = Path(__file__).with_name("surface.txt")
RENEW = "GATEHOUSE_DEV=on .venv/bin/gatehouse routes > tests/web/surface.txt"


def test_the_surface_is_the_one_that_was_agreed_on() -> None:
    lines = surface(capabilities.routes(is_development=True)).splitlines()

    assert lines == GOLDEN_FILE.read_text().splitlines(), f"The surface changed. If it was meant to: {RENEW}"


def test_a_route_is_one_line_with_everything_that_limits_it() -> None:
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
        """Come first."""

    lines = [line.split() for line in surface(routes.routes).splitlines()]

    assert lines == [
        ["GET", "/api/a", "public"],
        ["GET", "/api/auth/things", "public,", "SIGN_IN_GROUP"],
        ["POST", "/api/auth/things", "user,", "SIGN_IN_GROUP"],
    ]


def test_what_is_for_development_only_is_not_served_otherwise() -> None:
    in_production = {route.path for route in capabilities.routes(is_development=False)}

    assert not [path for path in in_production if path.startswith("/dev/")]
