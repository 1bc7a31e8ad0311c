"""A process alone serves programs first, and imports the pages for the first request that no program's route takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
import trio
from werkzeug.exceptions import NotFound

from entrypoints import capabilities
from entrypoints.installation import Installation
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.paths import Paths
from entrypoints.web.serving.routes import Route
from tests.application import Answer, Client, all_routes

UUID = "0198f3a0-0000-7000-8000-000000000000"
BROWSER = {"Accept": "text/html"}
PROGRAMS = tuple(route for capability in capabilities.for_programs() for route in capability.routes)


@dataclass
class Importing:
    """Counts how often all routes are imported; the first times fail, if a test says so."""

    times: int = 0
    failures: list[Exception] = field(default_factory=list)

    def __call__(self) -> Sequence[Route]:
        self.times += 1
        if self.failures:
            raise self.failures.pop()
        return all_routes()


@pytest.fixture
def importing() -> Importing:
    """What imports all routes."""
    return Importing()


@pytest.fixture
def client(installation: Installation, importing: Importing) -> Client:
    """A client of a process that has imported the routes of programs alone."""
    return Client(Application(installation, PROGRAMS, import_all=importing))


def test_the_routes_of_programs_are_all_but_the_pages_and_the_description() -> None:
    others = {route.path for route in all_routes() if not route.is_page} - {route.path for route in PROGRAMS}

    assert not any(route.is_page for route in PROGRAMS)
    assert others == {"/openapi.json"}


def test_no_route_of_programs_takes_the_path_of_a_page() -> None:
    paths = Paths(PROGRAMS)

    for route in all_routes():
        if route.is_page:
            with pytest.raises(NotFound):
                paths.find(route.method, "/".join(UUID if word[:1] == ":" else word for word in route.path.split("/")))


async def test_programs_need_no_pages(client: Client, importing: Importing) -> None:
    answers = [await client.get("/health"), await client.get("/api/user"), await client.post("/api/auth/login")]
    options = await client.request("OPTIONS", "/api/user")

    assert [answer.status for answer in answers] == [200, 401, 400]
    assert options.status == 204
    assert importing.times == 0


async def test_the_first_page_is_shown_and_the_next_ones_too(client: Client, importing: Importing) -> None:
    first = await client.get("/app/sign-in", headers=BROWSER)
    second = await client.get("/app/register", headers=BROWSER)

    assert (first.status, second.status, importing.times) == (200, 200, 1)
    assert (await client.get("/health")).status == 200


async def test_first_requests_at_once_import_the_pages_once(client: Client, importing: Importing) -> None:
    answers = list[Answer]()

    async def ask(path: str) -> None:
        answers.append(await client.get(path, headers=BROWSER))

    async with trio.open_nursery() as nursery:
        for path in ("/app/sign-in", "/openapi.json", "/docs", "/app/nowhere", "/health"):
            nursery.start_soon(ask, path)

    assert sorted(answer.status for answer in answers) == [200, 200, 200, 200, 404]
    assert importing.times == 1


@pytest.mark.parametrize("path", ["/app/nowhere", "/nowhere", "//app/sign-in"])
async def test_a_browser_sees_a_page_where_there_is_none(client: Client, path: str) -> None:
    answer = await client.get(path, headers=BROWSER)

    assert answer.status == 404
    assert answer.headers["Content-Type"].startswith("text/html")


async def test_a_browser_with_the_wrong_method_sees_a_page_too(client: Client) -> None:
    answer = await client.get("/auth/token", headers=BROWSER)

    assert answer.status == 405
    assert answer.headers["Content-Type"].startswith("text/html")


async def test_the_description_of_the_interface_is_complete(client: Client, installation: Installation) -> None:
    described = await client.get("/openapi.json?pages=true")

    assert (
        described.json == (await Client(Application(installation, all_routes())).get("/openapi.json?pages=true")).json
    )


async def test_pages_that_cannot_be_imported_are_tried_again(client: Client, importing: Importing) -> None:
    importing.failures.append(MemoryError())

    failed, programs = await client.get("/app/sign-in"), await client.get("/health")
    shown = await client.get("/app/sign-in", headers=BROWSER)

    assert (failed.status, programs.status, shown.status) == (500, 200, 200)


def test_all_routes_are_those_of_programs_and_more() -> None:
    named = {route.name: route for route in all_routes()}

    assert [named[route.name] is route for route in PROGRAMS] == [True] * len(PROGRAMS)
