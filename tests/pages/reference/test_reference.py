"""The reference page: complete, and derived from the declarations of the routes."""

from __future__ import annotations

import re
from html import unescape

import pytest

from core.errors import ErrorCode
from core.rate_limits import RateLimit
from entrypoints.installation import Installation
from entrypoints.pages.frame import assets
from entrypoints.pages.reference import reference
from entrypoints.pages.reference.reference import RouteView, describe, describe_limit
from entrypoints.web.serving.application import Application
from tests import specimen
from tests.application import Client, serving

BASE_URL = "https://id.example.com"


def view_of(name: str) -> RouteView:
    """Return the view of a route of the specimen."""
    method, path = name.split()
    [capability] = describe(specimen.routes.routes, BASE_URL)
    return next(view for view in capability.routes if (view.method, view.path) == (method, path))


async def test_the_root_redirects_to_the_pages_for_people(client: Client) -> None:
    answer = await client.get("/")

    assert answer.status == 302
    assert answer.headers["Location"] == "/app"


async def test_the_reference_has_every_route_of_the_service(client: Client, application: Application) -> None:
    answer = await client.get("/docs")

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    for route in application.paths.routes:
        assert f'id="{route.operation_id}"' in answer.text


async def test_the_reference_has_every_error_code_and_every_rate_limit(client: Client) -> None:
    answer = await client.get("/docs")

    for code in ErrorCode:
        assert f'<li id="{code.name}">' in answer.text
    for limit in RateLimit:
        assert f"<code>{limit.name}</code>" in answer.text


async def test_every_link_inside_the_reference_has_a_target(client: Client) -> None:
    html = (await client.get("/docs")).text

    names = re.findall(r'id="([^"]+)"', html)
    targets = set(re.findall(r'href="#([^"]+)"', html))

    assert targets <= set(names)
    assert len(names) == len(set(names))


async def test_every_other_link_of_the_reference_is_a_path_of_this_service(client: Client) -> None:
    html = (await client.get("/docs")).text

    for path in set(re.findall(r'(?:href|src)="([^"#]+)"', html)):
        answer = await client.get(path)
        assert answer.status in {200, 302}, path


async def test_the_reference_has_the_security_headers_of_a_page_and_may_be_revalidated(client: Client) -> None:
    first = await client.get("/docs")

    second = await client.get("/docs", headers={"If-None-Match": first.headers["ETag"]})

    assert "default-src 'none'; style-src 'self'" in first.headers["Content-Security-Policy"]
    assert first.headers["Cache-Control"] == "no-cache"
    assert second.status == 304


async def test_a_route_is_shown_with_its_whole_declaration(installation: Installation) -> None:
    answer = await serving(
        installation, [*reference.routes.routes, *assets.routes.routes, *specimen.routes.routes]
    ).get("/docs")
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())

    for shown in [
        "Boat houses",
        "Bring a boat.",
        "It is washed on the way in, and then dried.",
        "What is painted on it. 1 to 100 characters.",
        "The boat is longer than the house.",
        "Rate limit: 10 requests at once, then one every 6 seconds.",
        "Answer 200 OK application/json",
        "Or 410 Gone application/json",
        "Set SLUG , BOAT_ID , TOKEN in your shell first.",
    ]:
        assert shown in text


def test_the_docstring_is_the_documentation() -> None:
    view = view_of("POST /boats")

    assert view.title == "Bring a boat."
    assert view.documentation == "It is `washed` on the way in, and\n\nthen dried."


def test_who_may_call_is_shown() -> None:
    assert view_of("GET /boats/state").is_public
    assert view_of("POST /boats").who == "user"


def test_path_parameters_come_before_query_parameters() -> None:
    view = view_of("GET /boats/:slug/all")

    assert [row.name for row in view.parameters] == ["slug", "page", "limit", "colour"]


def test_the_media_type_of_a_body_is_shown() -> None:
    assert view_of("POST /boats").body_media_type == "application/json"
    assert view_of("GET /boats/state").body is None


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (RateLimit.MFA_VERIFICATION, "3 requests at once, then one per second"),
        (RateLimit.LOGIN, "10 requests at once, then one every 6 seconds"),
        (RateLimit.BILLING_RECEIVER, "100 requests at once, then one every 0.06 seconds"),
        (RateLimit.ORGANIZATION_KEY, "60 requests at once, then 60 per second"),
    ],
)
def test_a_rate_limit_is_described_in_words(limit: RateLimit, words: str) -> None:
    assert describe_limit(limit) == words
