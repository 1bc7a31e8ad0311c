"""No page of a refusal is a dead end: each has a button that leads to a page, and the id of its request."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from core.accounts.links import LinkUnusable
from core.errors import (
    BadRequest,
    DatabaseFailed,
    Forbidden,
    NoSuchPath,
    NotFound,
    PayloadTooLarge,
    RateLimitExceeded,
    Refusal,
    RequestTimedOut,
    ServiceUnavailable,
    TemporaryRefusal,
    UnsupportedMediaType,
)
from core.organizations.access import Capability
from core.saml.messages import MessageRefused
from core.services.api_keys import Permission, PermissionBeyondMaker
from core.services.management import ServiceLimitExceeded
from entrypoints import capabilities
from entrypoints.installation import Installation
from entrypoints.pages.frame.refusals import message_on_page
from entrypoints.web.serving.admission.browsers import FormRefused
from entrypoints.web.serving.admission.credentials import declared_policy, public
from entrypoints.web.serving.answering.answers import InternalFailure
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.paths import Paths
from entrypoints.web.serving.routes import Route
from tests.application import Client
from tests.clock import SettableClock
from tests.shown_text import shows
from tests.world.builder import EMAIL, PASSWORD
from tests.world.visitor import Visitor
from tests.world.world import World

ID = "0191d3c1-0000-7000-8000-00000000000f"
# What every page may answer with, beside what it declares.
OF_EVERY_PAGE = (
    BadRequest,
    DatabaseFailed,
    Forbidden,
    FormRefused,
    InternalFailure,
    NotFound,
    PayloadTooLarge,
    RateLimitExceeded,
    RequestTimedOut,
    ServiceUnavailable,
    UnsupportedMediaType,
)
BUTTON = re.compile(r'<a class="button[^"]*" href="([^"]*)"|<(button) class="button')


def page_routes() -> list[Route]:
    """Return the routes whose refusals are pages."""
    routes = capabilities.routes(is_development=True)
    return [
        route for route in routes if route.refusal_page is not None and route.refusal_body is None and route.is_page
    ]


def refused(kind: type[Refusal]) -> Refusal:
    """Return a refusal of this kind."""
    if issubclass(kind, TemporaryRefusal):
        return kind(retry_after_seconds=90)
    if issubclass(kind, PermissionBeyondMaker):
        return kind({Permission.READ_USERS: [Capability.END_USERS_VIEW]})
    if issubclass(kind, ServiceLimitExceeded):
        return kind(3)
    return kind("It is too old.") if issubclass(kind, MessageRefused) else kind()


def refusing(installation: Installation, raised: list[Refusal]) -> Application:
    """Return an application whose pages refuse every request with the last of the refusals."""

    @public
    async def handler(call: Call, **_: Any) -> None:
        """Refuse the request."""
        raise raised[-1]

    who = declared_policy(handler)
    assert who is not None
    routes = [
        replace(
            route,
            handler=handler,
            who=who,
            limits=(),
            query=None,
            form=None,
            body=None,
            path_parameters={},
            organization_parameter=None,
        )
        for route in page_routes()
    ]
    return Application(installation, routes)


def buttons_of(html: str) -> list[str]:
    """Return where the buttons in a page's content lead; a form's button by the name of its element."""
    content = html.partition("<main")[2]
    return [unescape(address or element) for address, element in BUTTON.findall(content)]


def cases() -> Iterator[tuple[Route, type[Refusal]]]:
    """Return every page with everything that it may answer with."""
    for route in page_routes():
        for kind in dict.fromkeys((*route.refuses, *OF_EVERY_PAGE)):
            yield route, kind


def is_page(paths: Paths, address: str) -> bool:
    """Whether an address of ours is one that a browser can open."""
    parts = urlsplit(address)
    return not parts.netloc and "GET" in paths.allowed_methods(parts.path)


async def test_every_refusal_of_every_page_offers_a_next_step_and_names_its_request(
    installation: Installation,
) -> None:
    raised: list[Refusal] = []
    found: list[tuple[object, ...]] = []
    application = refusing(installation, raised)
    paths = Paths(tuple(capabilities.routes(is_development=True)))
    for route, kind in cases():
        raised.append(refused(kind))
        path = re.sub(r":[a-z_]+_id", ID, route.path)
        path = re.sub(r":[a-z_]+", "acme", path)
        answer = await application.test_client().open(  # pyright: ignore[reportCallIssue] - `json` has a default
            path, method=route.method, headers={"Accept": "text/html"}, scope_base={"client": None}
        )
        html = await answer.get_data(as_text=True)
        buttons = buttons_of(html)
        ends = [one for one in buttons if one != "button" and not is_page(paths, one)]
        is_named = f"<code>{answer.headers['X-Request-Id']}</code>" in html
        if answer.status_code != kind.code.status or not buttons or ends or not is_named:
            found.append((route.name, kind.__name__, answer.status_code, buttons, is_named))

    assert not found


async def test_an_address_without_a_page_is_a_page_for_browsers_and_json_for_programs(
    visitor: Visitor, client: Client
) -> None:
    for path in ("/nonsense", "/auth/nonsense", "/app/nonsense", "/invitations"):
        page = await visitor.send("GET", path)
        assert (page.status, page.headers["Content-Type"]) == (404, "text/html; charset=utf-8"), path
        assert buttons_of(page.text) == ["/app"], path
        assert page.headers["X-Request-Id"] in page.text, path
    for path in ("/api/nonsense", "/scim/v2/nonsense", "/webhooks/nonsense", "/.well-known/nonsense"):
        assert "json" in (await visitor.send("GET", path)).headers["Content-Type"], path

    for accepted in ({}, {"Accept": "*/*"}, {"Accept": "application/json, text/html;q=0.5"}):
        answer = await client.get("/nonsense", headers=accepted)
        assert (answer.status, answer.json["error_code"]) == (404, "NOT_FOUND")


async def test_a_method_that_an_address_does_not_take_is_a_page_for_browsers(visitor: Visitor, client: Client) -> None:
    page = await visitor.send("GET", "/auth/token")
    answer = await client.get("/auth/token")

    assert (page.status, buttons_of(page.text)) == (405, ["/app"])
    assert "This address is not a page" in page.text
    assert (answer.status, answer.json["error_code"]) == (405, "METHOD_NOT_ALLOWED")


def test_what_is_there_for_other_people_looks_like_what_does_not_exist() -> None:
    assert message_on_page(NotFound()) == message_on_page(NoSuchPath())


async def test_a_form_from_before_a_sign_in_in_another_window_leads_on(world: World, visitor: Visitor) -> None:
    world.user()
    old = await visitor.open("/app/sign-in?return_to=%2Fapp%2Faccount")
    await visitor.sign_in()

    refused = await visitor.submit(old, "/app/sign-in", email=EMAIL)

    assert refused.status == 403
    assert "This form is no longer valid" in refused.text
    assert "You have signed in since it was opened" in refused.text
    assert buttons_of(refused.text) == ["/app/sign-in?return_to=%2Fapp%2Faccount"]
    assert "Your account" in (await visitor.open(buttons_of(refused.text)[0])).text


async def test_a_form_that_was_open_for_too_long_is_loaded_again_on_its_way(world: World, visitor: Visitor) -> None:
    world.user()
    methods = await visitor.submit(
        await visitor.open("/app/sign-in?return_to=%2Fapp%2Faccount"), "/app/sign-in", email=EMAIL
    )
    visitor.cookies.clear()

    refused = await visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)

    assert refused.status == 403
    assert buttons_of(refused.text) == ["/app/sign-in?return_to=%2Fapp%2Faccount", "/app"]


async def test_what_another_site_sends_names_no_way(world: World, visitor: Visitor) -> None:
    world.user()
    page = await visitor.open("/app/sign-in?return_to=%2Fapp%2Faccount")

    refused = await visitor.submit(page, "/app/sign-in", email=EMAIL, headers={"Sec-Fetch-Site": "cross-site"})

    assert (refused.status, buttons_of(refused.text)) == (403, ["/app/sign-in", "/app"])


async def test_a_dead_link_of_a_reset_leads_to_a_new_one_and_tells_no_address(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    world.user()

    refused = await visitor.open(f"/auth/reset-password?token={ID}")

    assert refused.status == LinkUnusable.code.status
    assert buttons_of(refused.text) == ["/app/forgot-password", "/app/sign-in"]
    assert EMAIL not in refused.text
    assert EMAIL not in (await visitor.open("/app/forgot-password")).text


async def test_a_person_who_is_signed_in_is_offered_their_address(world: World, visitor: Visitor) -> None:
    world.user()
    await visitor.sign_in()

    assert f'value="{EMAIL}"' in (await visitor.open("/app/forgot-password")).text


async def test_a_refused_person_learns_who_they_are_and_can_use_another_account(
    world: World, visitor: Visitor, installation: Installation
) -> None:
    world.user()
    await visitor.sign_in()
    route = next(one for one in page_routes() if one.name == "GET /app/account/organizations")

    async def handler(call: Call, **_: Any) -> None:
        """Refuse the request."""
        raise Forbidden

    others = [one for one in capabilities.routes(is_development=True) if one is not route]
    visitor.client = Client(Application(installation, [*others, replace(route, handler=handler, refuses=(Forbidden,))]))
    refused = await visitor.send("GET", "/app/account/organizations")

    assert refused.status == 403
    assert "Ask an owner or administrator" in refused.text
    assert EMAIL in refused.text


async def test_a_person_who_is_gone_leads_to_the_people_and_a_damaged_address_is_not_taken_for_a_mailed_link(
    world: World, visitor: Visitor
) -> None:
    world.member(world.organization(), world.user(), "owner")
    await visitor.sign_in(EMAIL)

    gone = await visitor.open(f"/app/organizations/acme/people/{ID}/remove")
    damaged = await visitor.open("/app/organizations/acme/people?search=%00")
    link = await visitor.open("/auth/verify-email?token=%00")

    assert 'href="/app/organizations/acme/people"' in gone.text
    assert "The address of this page cannot be read" in damaged.text
    assert not shows(damaged.text.partition("<main")[2].partition("</main>")[0], "mail")
    assert "Open it exactly as it appears in the mail" in link.text
