"""Two walks of new users in a real browser: to an application by a registration, and into an organization.

The mails and the forms are counted: a way that is kept asks for nothing twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import UUID, uuid4

import pytest
from playwright.sync_api import Page, Request, Route

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from entrypoints.pages.frame.languages import LANGUAGES
from tests.browser import Site, Watched
from tests.clock import SettableClock
from tests.postgres import Databases
from tests.world.builder import PASSWORD, Builder
from tests.world.relying_party import PKCE, REDIRECT_URI, VERIFIER
from tests.world.signing_in import claims_of

pytestmark = [pytest.mark.browser, pytest.mark.long]

OWNER = "owner@example.com"
KNOWN_PASSWORD = PASSWORD
NEW_PASSWORD = "several unrelated words"
JSON = {"Accept": "application/json"}

each_browser = pytest.mark.parametrize(
    ("scripts", "tag", "width"),
    list(product([True, False], ["en", "de"], [320, 1280])),
    ids=lambda value: {True: "scripts", False: "no scripts"}.get(value, str(value)),
)


@dataclass(frozen=True)
class Served:
    """A running server with its database, and the client id of an application of an organization."""

    site: Site
    connection: Connection
    client_id: UUID
    known: list[str]


@pytest.fixture(scope="module")
def served(databases: Databases, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Served]:
    """A running server with an organization that has an owner and an application, and people with accounts."""
    known = [f"known-{number}@example.com" for number in range(18)]
    with databases.migrated() as database_url, databases.connection(database_url) as connection:
        builder = Builder(connection, SettableClock())
        organization_id = builder.organization()
        builder.member(organization_id, builder.user(OWNER), "owner")
        for email in known:
            builder.user(email)
        service = builder.service(organization_id, name="Acme Shop", redirect_uris=[REDIRECT_URI])
        connection.execute("UPDATE services SET service_type = 'mobile'")

        async def prepare(_: PostgresDatabase) -> None:
            """Prepare nothing more."""

        routes = capabilities.routes(is_development=True)
        site = Site(routes, database_url, key_pairs, prepare=prepare, name="localhost")
        yield Served(site, connection, service.client_id, known)
        site.close()


@dataclass
class Walk:
    """A new user in a browser: what they submit, what is mailed to them, and what the application gets."""

    page: Page
    served: Served
    tag: str
    email: str
    forms: list[str] = field(default_factory=list[str])
    answers: list[dict[str, list[str]]] = field(default_factory=list[dict[str, list[str]]])

    def __post_init__(self) -> None:
        self.page.on("request", self._count)
        self.page.context.route("https://**/*", self._answer)

    def said(self, english: str, **values: str) -> str:
        """Return a text of a page in the language of the browser."""
        return LANGUAGES[self.tag].text(english, **values)

    def fill(self, label: str, value: str) -> None:
        """Fill in a field."""
        self.page.get_by_label(re.compile(f"^{re.escape(self.said(label))}")).fill(value)

    def press(self, label: str, **values: str) -> None:
        """Press a button."""
        self.page.get_by_role("button", name=self.said(label, **values), exact=True).click()

    def follow(self, label: str) -> None:
        """Follow a link."""
        self.page.get_by_role("link", name=self.said(label), exact=True).click()

    def mails(self) -> list[dict[str, Any]]:
        """Return the mails to the user, the newest first."""
        # No courier runs beside this server.
        self.served.connection.execute("UPDATE mails SET state = 'kept' WHERE state = 'queued'")
        answer = self.page.request.get(f"{self.served.site.url}/dev/mailbox", headers=JSON)
        return [one for one in answer.json()["messages"] if one["to"] == self.email]

    def link(self, mail: dict[str, Any]) -> str:
        """Return the first link of a mail."""
        [first, *_] = re.findall(r"http://localhost\S+", mail["text"])
        return first

    def heading(self, english: str, **values: str) -> None:
        """Wait for a page with this heading, which is no wider than the window."""
        self.page.get_by_role("heading", name=self.said(english, **values), exact=True).wait_for()
        assert self.page.locator("html").get_attribute("lang") == self.tag
        box = self.page.locator("section.card").bounding_box()
        window = self.page.viewport_size
        assert box is not None
        assert window is not None
        assert 0 <= box["x"] <= box["x"] + box["width"] <= window["width"]

    def _count(self, request: Request) -> None:
        if request.method == "POST" and request.is_navigation_request():
            self.forms.append(urlsplit(request.url).path)

    def _answer(self, route: Route) -> None:
        self.answers.append(parse_qs(urlsplit(route.request.url).query))
        route.fulfill(status=200, content_type="text/html", body="<h1>Welcome to the shop</h1>")


@pytest.fixture
def walk(served: Served, watch: Callable[..., Watched]) -> Callable[..., Walk]:
    """A function that opens a browser for a new user."""

    def begin(*, scripts: bool, tag: str, width: int, email: str = "") -> Walk:
        page = watch(
            java_script_enabled=scripts, locale=tag, viewport={"width": width, "height": 800}, color_scheme="dark"
        ).page
        return Walk(page, served, tag, email or f"{uuid4()}@example.com")

    return begin


def begin_at_application(walk: Walk, served: Served) -> None:
    """Open the application, which sends the browser to sign in."""
    query = {
        "client_id": str(served.client_id),
        "redirect_uri": REDIRECT_URI,
        "response_type": "code",
        "scope": "openid email",
        "state": "s-1",
        **PKCE,
    }
    walk.page.goto(f"{served.site.url}/auth/authorize?{urlencode(query)}")


def redeemed_email(walk: Walk, served: Served) -> str:
    """Return the address of the user for which the application redeems its one code."""
    [answer] = walk.answers
    assert answer["state"] == ["s-1"]
    tokens = walk.page.request.post(
        f"{served.site.url}/auth/token",
        form={
            "grant_type": "authorization_code",
            "client_id": str(served.client_id),
            "code": answer["code"][0],
            "redirect_uri": REDIRECT_URI,
            "code_verifier": VERIFIER,
        },
    )
    assert tokens.ok, tokens.text()
    return claims_of(tokens.json()["id_token"])["email"]


def invite(walk: Walk, served: Served, watch: Callable[..., Watched]) -> None:
    """Let the owner of the organization invite the user."""
    client = watch().page.request
    signed_in = client.post(f"{served.site.url}/api/auth/login", data={"email": OWNER, "password": PASSWORD})
    sent = client.post(
        f"{served.site.url}/api/organizations/acme/invitations",
        data={"email": walk.email, "role": "member"},
        headers={"Authorization": f"Bearer {signed_in.json()['access_token']}"},
    )
    assert sent.ok, sent.text()


@each_browser
def test_a_new_user_registers_on_the_way_to_an_application_and_ends_in_it(
    served: Served, walk: Callable[..., Walk], scripts: bool, tag: str, width: int
) -> None:
    user = walk(scripts=scripts, tag=tag, width=width)
    begin_at_application(user, served)

    user.follow("Create an account")
    user.fill("Email address", user.email)
    user.fill("Password", NEW_PASSWORD)
    user.press("Create the account")
    user.heading("Check your email")
    [mail] = user.mails()
    user.page.goto(user.link(mail))
    user.heading("Verify your email address")
    user.press("Verify the address and sign in")
    user.page.get_by_role("heading", name="Welcome to the shop").wait_for()

    assert "Acme Shop" in mail["subject"]
    assert redeemed_email(user, served) == user.email
    assert user.forms == ["/app/register", "/auth/verify-email/confirm"]
    assert len(user.mails()) == 1


@each_browser
def test_a_user_who_has_an_account_already_ends_in_the_application_too(
    served: Served, walk: Callable[..., Walk], scripts: bool, tag: str, width: int
) -> None:
    number = 8 * scripts + 4 * (tag == "de") + 2 * (width == 320)
    user = walk(scripts=scripts, tag=tag, width=width, email=served.known[number])
    begin_at_application(user, served)

    user.follow("Create an account")
    user.fill("Email address", user.email)
    user.fill("Password", NEW_PASSWORD)
    user.press("Create the account")
    user.heading("Check your email")
    [mail] = user.mails()
    user.page.goto(user.link(mail))
    user.fill("Email address", user.email)
    user.press("Continue")
    user.fill("Password", KNOWN_PASSWORD)
    user.press("Sign in")
    user.page.get_by_role("heading", name="Welcome to the shop").wait_for()

    assert redeemed_email(user, served) == user.email


@pytest.mark.parametrize(("scripts", "tag", "width"), [(True, "en", 1280), (False, "de", 320)])
def test_a_code_of_a_mail_that_is_typed_leads_on_to_the_application(
    served: Served, walk: Callable[..., Walk], scripts: bool, tag: str, width: int
) -> None:
    user = walk(scripts=scripts, tag=tag, width=width, email=served.known[16 + scripts])
    begin_at_application(user, served)

    user.fill("Email address", user.email)
    user.press("Continue")
    user.press("Mail me a link to sign in")
    user.heading("Check your email")
    [mail] = user.mails()
    [code] = re.findall(r"^ +([0-9]{6})$", mail["text"], re.MULTILINE)
    user.page.keyboard.type(code)
    user.page.keyboard.press("Enter")
    user.page.get_by_role("heading", name="Welcome to the shop").wait_for()

    assert redeemed_email(user, served) == user.email
    assert code not in mail["subject"]


@each_browser
def test_a_link_that_is_opened_on_a_phone_leads_back_to_the_first_browser(
    served: Served, walk: Callable[..., Walk], scripts: bool, tag: str, width: int
) -> None:
    user = walk(scripts=scripts, tag=tag, width=1280)
    phone = walk(scripts=scripts, tag=tag, width=width, email=user.email)
    begin_at_application(user, served)
    user.follow("Create an account")
    user.fill("Email address", user.email)
    user.fill("Password", NEW_PASSWORD)
    user.press("Create the account")

    phone.page.goto(phone.link(phone.mails()[0]))
    phone.fill("The password that you chose then", NEW_PASSWORD)
    phone.press("Verify the address and sign in")
    phone.heading("Your email address is verified")
    expected = phone.said(
        "To continue to %(place)s, go back to the browser where you began, and sign in there.", place="Acme Shop"
    )
    assert expected in phone.page.locator("main").inner_text()
    user.follow("Sign in")
    user.fill("Email address", user.email)
    user.press("Continue")
    user.fill("Password", NEW_PASSWORD)
    user.press("Sign in")
    user.page.get_by_role("heading", name="Welcome to the shop").wait_for()

    assert redeemed_email(user, served) == user.email
    assert phone.answers == []


@each_browser
def test_a_new_person_accepts_an_invitation_with_one_mail_and_one_form(
    served: Served, walk: Callable[..., Walk], watch: Callable[..., Watched], scripts: bool, tag: str, width: int
) -> None:
    person = walk(scripts=scripts, tag=tag, width=width)
    invite(person, served, watch)
    [mail] = person.mails()

    person.page.goto(person.link(mail))
    person.heading("Join %(name)s?", name="Acme")
    person.fill("Password", NEW_PASSWORD)
    person.press("Create the account and join")
    person.heading("You are a member of %(name)s", name="Acme")

    assert person.email in person.page.locator("main").inner_text()
    assert person.forms == ["/app/invitations/accept"]
    assert len(person.mails()) == 1
    person.follow("Your organizations")
    person.page.get_by_text("Acme", exact=True).first.wait_for()


@each_browser
def test_a_person_with_an_account_accepts_an_invitation_with_one_mail_and_one_form(
    served: Served, walk: Callable[..., Walk], watch: Callable[..., Watched], scripts: bool, tag: str, width: int
) -> None:
    number = 8 * scripts + 4 * (tag == "de") + 2 * (width == 320) + 1
    person = walk(scripts=scripts, tag=tag, width=width, email=served.known[number])
    invite(person, served, watch)
    [mail] = person.mails()

    person.page.goto(person.link(mail))
    person.heading("Join %(name)s?", name="Acme")
    person.fill("The password of your account", KNOWN_PASSWORD)
    person.press("Sign in and join")
    person.heading("You are a member of %(name)s", name="Acme")

    assert person.forms == ["/app/invitations/accept"]
    assert [one["id"] for one in person.mails() if "Acme" in one["subject"]] == [mail["id"]]
