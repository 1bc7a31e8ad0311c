"""Declarations of routes, and the mistakes in them that stop the start."""

import re
from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

import msgspec
import pytest

from core.errors import Conflict
from core.rate_limits import RateLimit
from entrypoints import capabilities
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.admission.credentials import public, signed_in
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Route, Routes
from tests.web.probe import ask, make_installation, serving


class Thing(msgspec.Struct):
    """A small body."""

    count: Annotated[int, msgspec.Meta(ge=0, le=10)] = 0


class Loose(msgspec.Struct):
    """A body with a number of any size."""

    count: int


class Which(Query):
    """A small query."""

    page: int = 1


def declared(handler: Callable[..., Any], path: str = "/things", **options: Any) -> Route:
    routes = Routes("things", "Routes of this test.")
    routes.post(path, **options)(handler)
    return routes.routes[0]


def test_everything_about_a_route_is_derived_from_its_declaration() -> None:
    @signed_in
    async def handler(call: Call, slug: str, thing_id: UUID, body: Thing, query: Which) -> Thing:
        """Change a thing.

        With care.
        """
        return body

    route = declared(
        handler, "/api/auth/:slug/things/:thing_id", status=201, limits=(RateLimit.LOGIN,), refuses=(Conflict,)
    )

    assert route.name == "POST /api/auth/:slug/things/:thing_id"
    assert route.path_template == "/api/auth/{slug}/things/{thing_id}"
    assert route.path_parameters == {"slug": str, "thing_id": UUID}
    assert (route.body, route.query, route.answer) == (Thing, Which, Thing)
    assert route.who.kind is CredentialKind.ACCESS_TOKEN
    assert route.limits == (RateLimit.LOGIN, RateLimit.SIGN_IN_GROUP)
    assert route.refuses == (Conflict,)
    assert route.status == 201
    assert route.documentation == "Change a thing.\n\nWith care."


def test_a_route_that_does_not_declare_who_may_call_is_refused() -> None:
    async def handler(call: Call) -> None:
        """Do nothing."""

    with pytest.raises(TypeError, match="POST /things does not declare who may call it"):
        declared(handler)


@pytest.mark.parametrize(
    "path", ["/things", "/things/:id", "/things/a:thing_id", "/things/:thing_id/:slug", "/things/:thing_id/:thing_id"]
)
def test_a_handler_with_other_parameters_than_its_path_is_refused(path: str) -> None:
    @public
    async def handler(call: Call, thing_id: UUID) -> None:
        """Do nothing."""

    with pytest.raises(TypeError, match="do not match"):
        declared(handler, path)


@pytest.mark.parametrize("kind", [int, bytes, "UUID | None", Any])
def test_a_path_parameter_of_another_type_than_text_or_id_is_refused(kind: object) -> None:
    async def handler(call: Call, thing_id: Any) -> None:
        """Do nothing."""

    handler.__annotations__["thing_id"] = kind

    with pytest.raises(TypeError, match="do not match"):
        declared(public(handler), "/things/:thing_id")


def test_a_body_with_an_unbounded_number_is_refused() -> None:
    @public
    async def handler(call: Call, body: Loose) -> None:
        """Do nothing."""

    with pytest.raises(TypeError, match="POST /things takes numbers of any size: count"):
        declared(handler)


def test_two_routes_for_the_same_requests_are_refused() -> None:
    routes = Routes("things", "Routes of this test.")

    @routes.get("/things/:slug")
    @public
    async def one(call: Call, slug: str) -> None:
        """Answer."""

    @routes.get("/things/:thing_id")
    @public
    async def other(call: Call, thing_id: UUID) -> None:
        """Answer."""

    with pytest.raises(ValueError, match="GET /things/:thing_id is declared twice"):
        Application(make_installation(), routes.routes)


@pytest.mark.parametrize(
    ("path", "options", "limits"),
    [
        ("/api/auth/login", {}, (RateLimit.SIGN_IN_GROUP,)),
        ("/auth/login", {"limits": (RateLimit.LOGIN,)}, (RateLimit.LOGIN, RateLimit.SIGN_IN_GROUP)),
        ("/api/user", {}, ()),
        ("/api/user", {"limits": (RateLimit.MFA_SETUP,)}, (RateLimit.MFA_SETUP,)),
        ("/auth/health", {"is_operational": True}, ()),
    ],
)
def test_the_limit_of_a_group_is_derived_from_the_path(
    path: str, options: dict[str, Any], limits: tuple[RateLimit, ...]
) -> None:
    @public
    async def handler(call: Call) -> None:
        """Do nothing."""

    assert declared(handler, path, **options).limits == limits


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
async def test_each_method_is_declared_by_its_name(method: str) -> None:
    routes = Routes("things", "Routes of this test.")

    @public
    async def handler(call: Call) -> dict[str, str]:
        """Answer."""
        return {"method": call.request.method}

    getattr(routes, method.lower())("/things")(handler)

    answer = await ask(serving(routes), method, "/things")

    assert answer.json == {"method": method}


async def test_a_fixed_path_takes_precedence_over_one_with_a_parameter() -> None:
    routes = Routes("things", "Routes of this test.")

    @routes.get("/things/:name")
    @public
    async def named(call: Call, name: str) -> dict[str, str]:
        """Answer by name."""
        return {"named": name}

    @routes.get("/things/newest")
    @public
    async def newest(call: Call) -> dict[str, str]:
        """Answer with the newest."""
        return {"newest": ""}

    answers = [await ask(serving(routes), "GET", f"/things/{name}") for name in ("newest", "other")]

    assert [answer.json for answer in answers] == [{"newest": ""}, {"named": "other"}]


async def test_a_handler_may_choose_another_status_and_add_headers() -> None:
    routes = Routes("things", "Routes of this test.")

    @routes.post("/things", status=201)
    @public
    async def make(call: Call) -> dict[str, str]:
        """Answer differently than declared."""
        call.status = 202
        call.headers["X-Thing"] = "1"
        return {}

    answer = await ask(serving(routes), "POST", "/things")

    assert (answer.status, answer.headers["X-Thing"]) == (202, "1")


def test_the_documentation_of_every_route_begins_with_a_sentence() -> None:
    routes = capabilities.routes(is_development=True)
    summaries = {route.name: route.documentation.partition("\n")[0] for route in routes}

    assert {name: text for name, text in summaries.items() if not re.fullmatch("[A-Z].*[.:]", text)} == {}
