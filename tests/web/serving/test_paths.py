"""Finding routes by method and path, compared with the router of Werkzeug."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from werkzeug.exceptions import HTTPException, NotFound
from werkzeug.routing import Map, Rule

from entrypoints import capabilities
from entrypoints.web.serving.paths import Paths
from entrypoints.web.serving.routes import Route

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE")
WORDS = ("", "acme", "new", "19", "api", "members", "a b", "é")


@cache
def every_route() -> list[Route]:
    return capabilities.routes(is_development=True)


@cache
def paths() -> Paths:
    return Paths(tuple(every_route()))


@cache
def rules() -> Map:
    return Map(
        [
            Rule(
                route.path_template.replace("{", "<").replace("}", ">"),
                methods={route.method, "OPTIONS"},
                endpoint=route.name,
            )
            for route in every_route()
        ],
        merge_slashes=False,
    )


@st.composite
def requested_paths(draw: DrawFn) -> str:
    """Generate paths near to declared ones: with words for the parameters, longer, and shorter."""
    declared = draw(st.sampled_from(every_route())).path.split("/")[1:]
    words = [draw(st.sampled_from(WORDS)) if word.startswith(":") else word for word in declared]
    if draw(st.booleans()):
        words = words[: draw(st.integers(0, len(words)))] + draw(st.lists(st.sampled_from(WORDS), max_size=2))
    return "/" + "/".join(words).lstrip("/")


@given(method=st.sampled_from(METHODS), path=requested_paths())
def test_every_path_leads_where_werkzeug_finds_it(method: str, path: str) -> None:
    assert found(method, path) == found_by_werkzeug(method, path)


def found(method: str, path: str) -> tuple[object, object]:
    try:
        route, words = paths().find(method, path)
    except HTTPException as error:
        return outcome_of(error)
    return route.name, words


def found_by_werkzeug(method: str, path: str) -> tuple[object, object]:
    try:
        rule, words = rules().bind("").match(path, method, return_rule=True)
    except HTTPException as error:
        return outcome_of(error)
    return rule.endpoint, dict(words)


def outcome_of(error: HTTPException) -> tuple[object, object]:
    return type(error), set(getattr(error, "valid_methods", None) or ())


def test_every_route_is_found_by_its_own_path() -> None:
    for route in every_route():
        assert paths().find(route.method, route.path)[0] is route


@pytest.mark.parametrize("path", ["", "*", "api/user", "//api/user", "/api/user/", "/api//user"])
def test_a_path_that_is_written_differently_leads_nowhere(path: str) -> None:
    with pytest.raises(NotFound):
        paths().find("GET", path)
