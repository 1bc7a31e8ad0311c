"""Which routes a browser session opens, as their decorators declare it, and what their declaration requires."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Annotated
from urllib.parse import urlencode

import msgspec
import pytest

from core.organizations import management
from core.organizations.access import Operation
from core.secrets import Secret
from core.sessions import callers
from core.sign_in.browser_returns import BrowserReturn
from entrypoints import capabilities
from entrypoints.installation import Installation
from entrypoints.pages.frame.forms import no_secret
from entrypoints.pages.frame.refusals import refusal_page
from entrypoints.pages.sign_in.conclusion import send_to_sign_in
from entrypoints.settings import Settings
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent
from entrypoints.web.serving.admission.credentials import (
    in_browser,
    in_browser_or_not,
    in_organization,
    public,
    signed_in_or_browser,
)
from entrypoints.web.serving.answering.answers import AnswerStatus
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import FORM, Routes
from tests.application import Answer, Client, serving
from tests.clock import SettableClock
from tests.multipart import CONTENT_TYPE, form_data
from tests.world.builder import EMAIL, PASSWORD
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

FRONTEND = "https://app.example.com"
SLUG = "acme"

pieces = Routes("pieces", "The pages of this test.", refusal_page)
interface = Routes("interface", "The routes of this test that answer with JSON.")


class Named(msgspec.Struct, kw_only=True):
    """Who is signed in."""

    email: str


class Tab(Query, kw_only=True):
    """A parameter of a page."""

    tab: str = ""


class ThingForm(ProtectedForm, kw_only=True):
    """A form with a field."""

    name: str = ""
    word: Secret = msgspec.field(default_factory=no_secret)


@interface.get("/pieces/either")
@signed_in_or_browser
async def either(call: Call) -> Named:
    """Name the caller."""
    return Named(email=(await call.read(callers.require_caller)).account.email)


@interface.get("/api/organizations/:slug/piece")
@in_organization(Operation.ORGANIZATION_READ, or_browser=True)
async def piece(call: Call, slug: str) -> Named:
    """Read something of an organization."""
    await call.read(management.read, slug)
    return Named(email=(await call.read(callers.require_caller)).account.email)


@pieces.get("/pieces/sensitive")
@in_browser
async def show_sensitive(call: Call, query: Tab) -> Named:
    """Show something that takes a recent sign-in."""
    await recent(call)
    return Named(email=f"{call.in_browser.email} {query.tab}")


@pieces.post("/pieces/sensitive")
@in_browser
async def change_sensitive(call: Call, form: ThingForm) -> Named:
    """Change something that takes a recent sign-in."""
    await recent(call)
    return Named(email=form.name)


class PairsForm(ProtectedForm, kw_only=True):
    """A form whose lists belong together, with a field that has a value unless it is cleared, and a file."""

    claim: list[str] = msgspec.field(default_factory=list[str])
    value: list[str] = msgspec.field(default_factory=list[str])
    port: str = "587"
    answer: str | None = None
    file: bytes = b""


@pieces.post("/pieces/sensitive/pairs")
@in_browser
async def change_pairs(call: Call, form: PairsForm) -> Named:
    """Change several things that take a recent sign-in."""
    await recent(call, page="/pieces/sensitive")
    return Named(email=repr((form.claim, form.value, form.port, form.answer, form.file)))


@pieces.post("/pieces/sensitive/now")
@in_browser
async def change_without_a_page(call: Call) -> Named:
    """Change something at a path that has no page."""
    await recent(call)
    return Named(email=call.in_browser.email)


@pieces.get("/pieces/again", status=303)
@in_browser_or_not
async def ask_again(call: Call) -> Annotated[None, AnswerStatus(303)]:
    """Send a browser to the sign-in, also one that is signed in."""
    call.headers["Location"] = (await send_to_sign_in(call, BrowserReturn(target="/pieces/either"))).headers["Location"]


@pytest.fixture
def client(installation: Installation) -> Client:
    """A client of all pages, and of this test's own."""
    return serving(installation, [*capabilities.routes(is_development=True), *pieces.routes, *interface.routes])


async def test_a_route_for_either_takes_a_token_or_a_cookie(world: World, visitor: Visitor) -> None:
    world.user()
    tokens = await world.sign_in()
    await visitor.sign_in()

    by_token = await world.client.get("/pieces/either", token=tokens.access_token)
    by_cookie = await visitor.send("GET", "/pieces/either")

    assert by_token.json == by_cookie.json == {"email": EMAIL}


async def test_an_invalid_token_is_not_replaced_by_the_cookie(world: World, visitor: Visitor) -> None:
    world.user()
    await visitor.sign_in()

    answer = await visitor.send("GET", "/pieces/either", headers={"Authorization": "Bearer nonsense"})

    assert (answer.status, answer.json["error_code"]) == (401, "JWT_ERROR")


async def test_without_either_a_program_is_refused_and_a_browser_sent_to_the_sign_in(
    world: World, visitor: Visitor
) -> None:
    refused = await world.client.get("/pieces/either")
    sent = await visitor.send("GET", "/pieces/either")

    assert (refused.status, refused.json["error_code"]) == (401, "UNAUTHORIZED")
    assert (sent.status, sent.headers["Location"]) == (303, "/app/sign-in?return_to=%2Fpieces%2Feither")


async def test_an_operation_by_cookie_is_authorized_as_by_token(world: World, visitor: Visitor) -> None:
    user_id = world.user()
    organization_id = world.organization(SLUG)
    path = f"/api/organizations/{SLUG}/piece"
    await visitor.sign_in()
    refused = await visitor.send("GET", path, headers={"Accept": "application/json"})
    world.member(organization_id, user_id, "member")

    assert (refused.status, refused.json["error_code"]) == (403, "FORBIDDEN")
    assert (await visitor.send("GET", path)).json == {"email": EMAIL}


async def test_what_is_sensitive_asks_for_a_recent_sign_in_and_leads_back(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    world.user()
    home = await visitor.sign_in()
    token = forms_of(home)[0].fields["form_token"]
    assert (await visitor.open("/pieces/sensitive?tab=one")).json == {"email": f"{EMAIL} one"}
    clock.advance(timedelta(minutes=10, seconds=1))

    asked = await visitor.open("/pieces/sensitive?tab=one")
    shown = await visitor.submit(asked, password=PASSWORD)
    changed = await visitor.post("/pieces/sensitive", {"form_token": token, "name": "new"})

    assert "Sign in again" in asked.text
    assert shown.json == {"email": f"{EMAIL} one"}
    # The form was open before the session got another secret.
    assert changed.json == {"email": "new"}


async def test_a_form_that_comes_too_late_is_sent_after_the_sign_in(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    world.user()
    token = forms_of(await visitor.sign_in())[0].fields["form_token"]
    clock.advance(timedelta(minutes=11))

    for path, page, answer in (
        ("/pieces/sensitive?tab=one", "/pieces/sensitive", "<new>"),
        ("/pieces/sensitive/now", "/app", EMAIL),
    ):
        asked = await visitor.post(path, {"form_token": token, "name": "<new>"})
        waiting = await visitor.submit(asked, password=PASSWORD)
        done = await visitor.submit(waiting)

        assert f"pressed on the page <code>{page}</code> is done then" in asked.text
        assert "data-submits-itself" in waiting.text
        assert [form.action for form in forms_of(waiting)] == [path]
        assert done.json == {"email": answer}
        token = forms_of(await visitor.open("/app"))[0].fields["form_token"]
        clock.advance(timedelta(minutes=11))


async def test_a_form_that_waits_keeps_what_was_cleared_and_the_order_of_its_lists(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    world.user()
    token = forms_of(await visitor.sign_in())[0].fields["form_token"]
    clock.advance(timedelta(minutes=11))
    pressed = f"form_token={token}&claim=sub&claim=ref&value=&value=main&port=&answer="

    asked = await visitor.send("POST", "/pieces/sensitive/pairs", data=pressed.encode(), headers={"Content-Type": FORM})
    waiting = await visitor.submit(await visitor.led_on(asked), password=PASSWORD)
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', waiting.text)
    sent = urlencode(fields).encode()
    done = await visitor.send("POST", "/pieces/sensitive/pairs", data=sent, headers={"Content-Type": FORM})

    assert done.json == {"email": repr((["sub", "ref"], ["", "main"], "", "", b""))}


async def test_no_link_says_that_something_was_pressed(world: World, visitor: Visitor) -> None:
    world.user()
    await visitor.sign_in()

    asked = await visitor.open("/app/sign-in-again?return_to=/app/account?pressed_form=1")

    assert "What was pressed" not in asked.text


async def test_a_form_is_sent_once_in_its_own_session_and_within_ten_minutes_else_its_page_is_opened(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    world.user()
    token = forms_of(await visitor.sign_in())[0].fields["form_token"]
    other = Visitor(world.client)
    await other.sign_in()
    clock.advance(timedelta(minutes=11))

    async def press() -> tuple[Answer, str]:
        asked = await visitor.post("/pieces/sensitive", {"form_token": token, "name": "new"})
        led = await visitor.submit(asked, password=PASSWORD, is_followed=False)
        return asked, led.headers["Location"]

    _, address = await press()
    elsewhere = await other.send("GET", address)
    ahead = await visitor.send("GET", address, headers={"Sec-Purpose": "prefetch"})
    first, second = await visitor.send("GET", address), await visitor.send("GET", address)
    assert (first.status, ahead.status) == (200, 403)
    assert [one.headers["Location"] for one in (elsewhere, second)] == ["/pieces/sensitive"] * 2

    clock.advance(timedelta(minutes=11))
    token = forms_of(await visitor.open("/app"))[0].fields["form_token"]
    asked = await visitor.post("/pieces/sensitive", {"form_token": token, "name": "new"})
    clock.advance(timedelta(minutes=11))
    assert (await visitor.submit(asked, password=PASSWORD)).json == {"email": f"{EMAIL} "}


async def test_a_form_with_a_secret_with_a_file_or_with_very_much_leads_back_to_its_page(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    world.user()
    token = forms_of(await visitor.sign_in())[0].fields["form_token"]
    clock.advance(timedelta(minutes=11))

    for fields in ({"word": "secret"}, {"name": "x" * 17_000}):
        asked = await visitor.post("/pieces/sensitive", {"form_token": token, **fields}, is_followed=False)
        assert asked.headers["Location"] == "/app/sign-in-again?return_to=%2Fpieces%2Fsensitive"
    file = form_data({"form_token": token}, {"file": b"some"})
    asked = await visitor.send("POST", "/pieces/sensitive/pairs", data=file, headers={"Content-Type": CONTENT_TYPE})
    assert asked.headers["Location"] == "/app/sign-in-again?return_to=%2Fpieces%2Fsensitive"
    assert world.value("SELECT count(*) FROM shown_secrets") == 0


async def test_signing_in_again_focuses_the_password_and_is_cancelled_to_where_the_browser_was(
    world: World, visitor: Visitor
) -> None:
    world.member(world.organization(), world.user(), "owner")
    await visitor.sign_in()
    base = world.installation.settings.base_url
    page = "/app/sign-in-again?return_to=/app/organizations/acme/webhooks/new"

    async def back(referrer: str) -> str:
        shown = await visitor.send("GET", page, headers={"Referer": referrer})
        refused = await visitor.submit(shown, "/app/sign-in-again", password="wrong")
        [first, again] = [re.findall(r'href="([^"]*)">Cancel</a>', one.text) for one in (shown, refused)]
        assert first == again
        return first[0]

    shown = await visitor.open(page)
    assert re.search(r'<input id="password"[^>]* autofocus', shown.text)
    assert await back(f"{base}/app/organizations/acme/webhooks?q=a") == "/app/organizations/acme/webhooks?q=a"
    for other in ("", "https://evil.example/x", "http://[", f"{base}/app/sign-in-again", f"{base}{page[25:]}"):
        assert await back(other) == "/app/organizations/acme", other
    assert 'href="/app">Cancel</a>' in (await visitor.open("/app/sign-in-again")).text


async def test_a_flow_may_ask_a_browser_that_is_signed_in_again(world: World, visitor: Visitor) -> None:
    world.user()
    first = await visitor.send("GET", "/pieces/again")
    await visitor.sign_in()
    second = await visitor.send("GET", "/pieces/again")

    assert first.headers["Location"].startswith("/app/sign-in?")
    assert second.headers["Location"].startswith("/app/sign-in-again?")


async def test_no_other_origin_reads_what_a_cookie_opens(
    world: World, visitor: Visitor, installation: Installation
) -> None:
    world.user()
    settings = Settings(dev=True, rate_limits=False, cors_origins=(FRONTEND,))
    allowing = Visitor(
        serving(
            replace(installation, settings=settings),
            [*capabilities.routes(is_development=True), *pieces.routes, *interface.routes],
        )
    )
    await allowing.sign_in()

    for path in ("/app", "/app/sign-in", "/pieces/either"):
        answer = await allowing.send("GET", path, headers={"Origin": FRONTEND})
        assert "Access-Control-Allow-Origin" not in answer.headers, path
    answer = await allowing.client.get("/docs", headers={"Origin": FRONTEND})
    assert answer.headers["Access-Control-Allow-Origin"] == FRONTEND


def test_a_form_without_the_token_stops_the_start() -> None:
    routes = Routes("bad", "Routes of this test.")

    with pytest.raises(TypeError, match="ProtectedForm"):

        @routes.post("/pieces/bad")
        @in_browser
        async def bad(call: Call, form: Named) -> None:
            """Change something."""


def test_a_cookie_opens_a_change_only_with_a_protected_form() -> None:
    routes = Routes("bad", "Routes of this test.")

    with pytest.raises(TypeError, match="protected form"):

        @routes.post("/pieces/bad")
        @signed_in_or_browser
        async def bad(call: Call) -> None:
            """Change something."""


def test_a_public_route_has_no_protected_form() -> None:
    routes = Routes("open", "Routes of this test.")

    @routes.post("/pieces/open")
    @public
    async def opened(call: Call, form: Named) -> None:
        """Change something."""

    assert not routes.routes[0].who.has_protected_forms
