"""The reference: complete in parts, and derived from the declarations of the routes."""

from __future__ import annotations

import gzip
import json
import re
from html import unescape

import pytest

from core.errors import ErrorCode
from core.events.data import EventData, Place, keys_of
from core.events.declared_data import DATA
from core.events.events import EventType
from core.rate_limits import RateLimit
from entrypoints import capabilities
from entrypoints.installation import Installation
from entrypoints.pages.frame import assets
from entrypoints.pages.reference import reference
from entrypoints.pages.reference.operations import RouteView, describe, describe_limit
from entrypoints.web.describing.areas import addresses_of, areas_of
from entrypoints.web.describing.schemas import Schemas
from entrypoints.web.serving.application import Application
from tests import specimen
from tests.application import Client, serving
from tests.declared_events import differences

BASE_URL = "https://id.example.com"
# Uncompressed; what all of it had on one page was 2.9 MB.
PAGE_BYTES_MAX = 300_000
# All event types are on one page.
EVENTS_BYTES_MAX = 700_000
COMMON = {key.name for key in keys_of(EventData) if key.place is not Place.ENTRY}
ANCHOR = re.compile(r'<li id="([^"]+)"><a href="([^"]+)"')


def view_of(name: str) -> RouteView:
    """Return the view of a route of the specimen."""
    method, path = name.split()
    views = describe(specimen.routes.routes, BASE_URL, functions={})
    return next(view for view in views if (view.method, view.path) == (method, path))


async def test_no_page_shows_the_marks_of_code(
    client: Client, application: Application, subtests: pytest.Subtests
) -> None:
    for path in (
        "/docs",
        "/docs/pages",
        "/docs/events",
        "/docs/errors",
        *(area.path for area in areas_of(application.paths.routes).values()),
    ):
        with subtests.test(path):
            text = re.sub(r"<(pre|code|script)\b.*?</\1>", "", (await client.get(path)).text, flags=re.DOTALL)

            assert re.findall(r".{0,60}`.{0,60}", text) == []


async def test_the_root_redirects_to_the_pages_for_people(client: Client) -> None:
    answer = await client.get("/")

    assert answer.status == 302
    assert answer.headers["Location"] == "/app"


async def test_each_area_has_a_page_of_bounded_size_with_its_operations_and_valid_links(
    client: Client, application: Application, subtests: pytest.Subtests
) -> None:
    paths: set[str] = set()
    shown: list[str] = []
    for area in areas_of(application.paths.routes).values():
        with subtests.test(area.slug):
            answer = await client.get(area.path)
            names = re.findall(r'id="([^"]+)"', answer.text)
            targets = set(re.findall(r'href="#([^"]+)"', answer.text))
            paths |= set(re.findall(r'(?:href|src)="([^"#]+)', answer.text))
            shown += [name for name in names if name in application.paths.operations]

            assert answer.status == 200
            assert len(answer.content) < PAGE_BYTES_MAX
            assert targets <= set(names)
            assert len(names) == len(set(names))
            # Between backticks stands code, outside of programs as well.
            assert "`" not in re.sub(r"<pre.*?</pre>", "", answer.text, flags=re.DOTALL)
    assert sorted(shown) == sorted(application.paths.operations)
    for path in paths:
        assert (await client.get(path)).status in {200, 302}, path


async def test_the_index_leads_from_each_anchor_of_the_former_page_to_the_page_of_its_operation(
    client: Client, application: Application
) -> None:
    index, of_pages = [(await client.get(path)).text for path in ("/docs", "/docs/pages")]
    led = {anchor: address for page in (index, of_pages) for anchor, address in ANCHOR.findall(page)}
    sections = set(re.findall(r'<section id="([^"]+)"', index + of_pages))

    assert led.items() >= addresses_of(application.paths.routes).items()
    assert {route.capability.replace(" ", "-") for route in application.paths.routes} <= sections
    assert max(len(index), len(of_pages)) < PAGE_BYTES_MAX
    assert len(gzip.compress(index.encode())) < 40_000
    for code in ErrorCode:
        assert f'<li id="{code.name}">' in index
    for limit in RateLimit:
        assert f"<code>{limit.name}</code>" in index
    for path in set(re.findall(r'(?:href|src)="([^"#]+)"', index)) - {
        address.partition("#")[0] for address in led.values()
    }:
        assert (await client.get(path)).status in {200, 302}, path


async def test_the_parts_have_the_headers_of_a_page_may_be_revalidated_and_are_made_once(
    client: Client, application: Application
) -> None:
    for path in ("/docs", "/docs/pages", "/docs/events", "/docs/reference/invitations"):
        first = await client.get(path)
        second = await client.get(path, headers={"If-None-Match": first.headers["ETag"]})
        compressed = await client.get(path, headers={"Accept-Encoding": "gzip"})

        assert "default-src 'none'; style-src 'self'" in first.headers["Content-Security-Policy"]
        assert first.headers["Cache-Control"] == "no-cache"
        assert second.status == 304
        assert gzip.decompress(compressed.content) == first.content
    unknown = await client.get("/docs/reference/nothing")
    assert unknown.status == 404
    assert unknown.headers["Content-Type"] == "text/html; charset=utf-8"


async def test_every_event_type_has_a_line(client: Client) -> None:
    page = (await client.get("/docs/events")).text

    assert re.findall(r'<div class="route-body" id="([^"]+)"', page) == [one.value for one in EventType]


async def test_each_event_type_has_the_keys_of_its_data_and_an_example(
    client: Client, subtests: pytest.Subtests
) -> None:
    page = (await client.get("/docs/events")).text

    assert len(page.encode()) < EVENTS_BYTES_MAX
    for event, data in DATA.items():
        with subtests.test(event.value):
            shown = page.partition(f'<div class="route-body" id="{event.value}">')[2].partition("</details>")[0]
            example = unescape(
                re.sub("<[^>]+>", "", shown.partition("<pre")[2].partition(">")[2].partition("</pre>")[0])
            )
            names = [key.name for key in keys_of(data) if key.place is not Place.ENTRY and key.name not in COMMON]

            assert re.findall(r"<dt><code>([a-z_]+)</code></dt>", shown) == names
            assert json.loads(example)["event"] == event.value
            assert differences(event, Place.EVENT, json.loads(example)["data"], is_delivered=True) == []


async def test_operations_codes_and_event_types_are_found_by_beginnings_of_words(client: Client) -> None:
    async def found(text: str) -> str:
        page = await client.get(f"/docs?q={text}")
        assert page.status == 200
        assert "connect-src 'self'" in page.headers["Content-Security-Policy"]
        return page.text.partition("<div data-found>")[2].partition("data-unless-found")[0]

    def addresses(html: str) -> list[str]:
        return re.findall(r'href="([^"]+)"', html)

    for text, address in (
        ("invite+pers", "/docs/reference/invitations#invitations_invite"),
        ("POST+/api/auth/refresh", "/docs/reference/sessions#sessions_refresh"),
        ("rate_limit", "/docs/errors/RATE_LIMIT_EXCEEDED"),
        ("413", "/docs/errors/PAYLOAD_TOO_LARGE"),
    ):
        assert addresses(await found(text))[0] == address, text
    assert "/docs/events#organization.owner.changed" in addresses(await found("organization.owner.changed"))
    assert "Nothing has all of these words: “&lt;b&gt;zebra&lt;/b&gt;”" in await found("%3Cb%3Ezebra%3C/b%3E")
    assert "There are more" in (await client.get("/docs?q=organization")).text
    assert "Interface reference" in (await client.get("/docs?q=+")).text


def test_the_page_of_an_area_describes_its_operations_as_the_schemas_of_all_routes_do() -> None:
    routes = tuple(capabilities.routes(is_development=True))
    whole, areas = Schemas(routes), areas_of(routes)
    for name in ("billing", "scim-users", "platform-organizations"):
        part = Schemas(areas[name].routes)
        for route in areas[name].routes:
            for shape in (one for one in (route.sent, route.query) if one is not None):
                assert part.resolved(part.of(shape)) == whole.resolved(whole.of(shape)), route.name


async def test_a_route_is_shown_with_its_whole_declaration(installation: Installation) -> None:
    answer = await serving(installation, [*reference.parts.routes, *assets.routes.routes, *specimen.routes.routes]).get(
        "/docs/reference/boat-houses"
    )
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
