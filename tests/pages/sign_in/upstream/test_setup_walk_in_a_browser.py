"""IT staff go from a mailed setup link to people who sign in by Okta, with roles by their groups, in a real browser.

The holder of the link has no account, and on a phone no scripts. A member requires the connection at the end, which a
link does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page

from adapters.postgres.database import PostgresDatabase
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from entrypoints.setting_kinds import Bind
from tests.account_site import sign_in
from tests.axe import violations
from tests.browser import Site, Watched
from tests.clock import SettableClock
from tests.name_server import LOOPBACK, NameServer
from tests.okta import Okta, running_okta
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET
from tests.secret_watch import WATCH
from tests.world.builder import Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]

CLOCK = SettableClock()
PHONE: dict[str, Any] = {"viewport": {"width": 320, "height": 640}, "java_script_enabled": False}
WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
CONSOLE = "/app/organizations/acme"
# What runs out of its field, and is not shown whole.
CLIPPED = """
[...document.querySelectorAll("[data-copy]")].filter(one => one.checkVisibility()
    && (one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1)).map(one => one.id)
"""


@dataclass
class Walk:
    """The site, the provider of the company, and its name servers; whether the browser runs scripts."""

    site: Site
    okta: Okta
    names: NameServer
    builder: Builder


@pytest.fixture
def walk(builder: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Walk]:
    """A running server with an organization, whose owner has made a role for its sales people."""
    organization_id, owner_id = builder.organization(), builder.user()
    builder.member(organization_id, owner_id, "owner")
    builder.custom_role(organization_id, "sales", "services.view")

    async def prepare(_: PostgresDatabase) -> None:
        """Everything is in the database already."""

    with running_okta(CLOCK) as okta, NameServer().open() as names:
        site = Site(
            capabilities.routes(is_development=True),
            database_url,
            key_pairs,
            prepare=prepare,
            name="localhost",
            clock=CLOCK,
            dns_server=Bind(LOOPBACK, names.port),
        )
        yield Walk(site, okta, names, builder)
        site.close()


def press(page: Page, name: str) -> None:
    """Press a button, and wait for the page that follows."""
    page.get_by_role("button", name=name, exact=True).click()
    page.wait_for_load_state()


def go_on(page: Page) -> None:
    """Follow the button to the next part, which stands on the first screen."""
    button = page.locator(".setup-next a.button")
    box, size = button.bounding_box(), page.viewport_size
    assert box is not None
    assert size is not None
    if size["width"] > 1000:
        assert box["y"] + box["height"] <= size["height"]
    button.click()
    page.wait_for_load_state()


def shown_part(page: Page) -> str:
    """Return the name of the part in the list beside the page."""
    return page.locator('.setup-parts [aria-current="step"]').inner_text()


def assert_usable(page: Page, *, has_scripts: bool) -> None:
    """Check that a page fits its screen, shows all that is copied, has one step open, and is accessible."""
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.evaluate(CLIPPED) == []
    assert page.locator(".setup-step[open]").count() in {0, 1}
    if has_scripts:
        assert violations(page) == []


def mailed(page: Page, walk: Walk) -> str:
    """Make a link in the console, and return the address in the text for the mail."""
    page.goto(f"{walk.site.url}{CONSOLE}/setup-links")
    sign_in(page)
    page.locator('input[name="parts"][value="upstream"]').check()
    page.locator('input[name="parts"][value="scim"]').check()
    page.locator('input[name="parts"][value="groups"]').check()
    page.locator('input[name="roles"][value="sales"]').check()
    press(page, "Create the link")
    text = page.input_value("#copy-text")
    [address] = re.findall(r"http://\S+", text)
    WATCH.add(address.rpartition("/")[2])
    assert text.index("Connection to your identity provider") < text.index("Provisioning by SCIM")
    return address


def connect(page: Page, walk: Walk, address: str, *, by_saml: bool, has_scripts: bool) -> None:
    """Go from the mail to a connection with Okta."""
    page.goto(address)
    assert "Your people sign in here with the account that they have at work." in page.inner_text("main")
    press(page, "Begin")
    assert "Connection to your identity provider" in page.locator('[aria-current="step"] .row-title').inner_text()
    assert_usable(page, has_scripts=has_scripts)
    page.locator('[aria-current="step"] a.button').click()
    page.get_by_role("link", name="Okta", exact=True).click()
    assert "https://help.okta.com/" in page.inner_text("main")
    assert_usable(page, has_scripts=has_scripts)
    if by_saml:
        page.get_by_role("link", name="Connect by SAML instead").click()
        press(page, "Continue")
        assert page.input_value("#copy-acs_url").startswith(f"{walk.site.url}/auth/upstream/")
        assert_usable(page, has_scripts=has_scripts)
        page.get_by_label("Metadata (XML)").fill(walk.okta.saml.metadata())
    else:
        assert page.input_value("#copy-redirect_uri") == f"{walk.site.url}/auth/upstream/callback"
        page.get_by_label("Issuer").fill(walk.okta.openid.url)
        page.get_by_label("Client id").fill(CLIENT_ID)
        page.get_by_label("Client secret").fill(CLIENT_SECRET)
    press(page, "Check and save")
    assert_usable(page, has_scripts=has_scripts)


def prove(page: Page, walk: Walk, *, has_scripts: bool) -> None:
    """Add the mail domain in the step that is open now, publish its record, and have it checked."""
    page.get_by_label("Mail domain").fill("acme.example")
    press(page, "Add the domain")
    assert_usable(page, has_scripts=has_scripts)
    walk.names.publish(page.input_value("#copy-name-1"), page.input_value("#copy-value-1"))
    press(page, "Check now acme.example")
    assert "The mail domain is verified." in page.inner_text("main")


def try_out(page: Page, walk: Walk, *, has_scripts: bool) -> None:
    """Sign in at Okta, and come back to what it has said; then switch the connection on."""
    walk.okta.answer_in(page.context)
    press(page, "Test it")
    page.get_by_text("Allow", exact=True).click()
    page.get_by_text("The test sign-in succeeded.").wait_for()
    brought = page.inner_text("main")
    assert "All that a sign-in takes has arrived" in brought
    assert "ada@acme.example" in brought
    assert_usable(page, has_scripts=has_scripts)
    page.get_by_role("link", name="Next step").first.click()
    press(page, "Switch it on")
    assert "The connection is switched on." in page.inner_text("main")
    assert_usable(page, has_scripts=has_scripts)


def provision(page: Page, walk: Walk, *, has_scripts: bool) -> None:
    """Create a token for Okta, which provisions a person and pushes a group."""
    assert "Provisioning by SCIM" in shown_part(page)
    page.get_by_role("link", name="Okta", exact=True).click()
    press(page, "Create a token")
    token = page.input_value("#copy-token")
    WATCH.add(token)
    assert_usable(page, has_scripts=has_scripts)
    walk.okta.provision(page.input_value("#copy-scim_url"), token)
    page.goto(f"{walk.site.url}/app/setup/parts/scim?step=test")
    assert "The directory called last on" in page.inner_text("main")
    assert "ada@" not in page.inner_text("main")


def map_groups(page: Page, *, has_scripts: bool) -> None:
    """Give the role of sales people to the group that was pushed."""
    assert "Roles by groups" in shown_part(page)
    page.get_by_label("Group", exact=True).fill("Sales")
    page.get_by_label("Role", exact=True).select_option("sales")
    press(page, "See whose role changes")
    assert "One person gets another role now." in page.inner_text("main")
    assert "ada@" not in page.inner_text("main")
    press(page, "Save the rule")
    assert page.locator("details", has_text="Sales gives sales").count() == 1
    assert "All parts are done." in page.inner_text("main")
    assert_usable(page, has_scripts=has_scripts)


def require(page: Page, walk: Walk) -> None:
    """Require the connection for the mail domain, as a member."""
    page.goto(f"{walk.site.url}{CONSOLE}/sign-in")
    page.locator('td a[href*="/sign-in/connections/"], th a[href*="/sign-in/connections/"]').first.click()
    page.get_by_role("link", name="Require it", exact=False).click()
    page.wait_for_load_state()
    page.locator('input[name="enforced"]').check()
    press(page, "Save")
    assert "Enforced" in page.inner_text("main")


def mailed_code(page: Page, walk: Walk) -> str:
    """Return the code in the last mail."""
    # No courier runs beside this server.
    walk.builder.connection.execute("UPDATE mails SET state = 'kept' WHERE state = 'queued'")
    answer = page.request.get(f"{walk.site.url}/dev/mailbox", headers={"Accept": "application/json"})
    [code] = re.findall(r"\b\d{6}\b", answer.json()["messages"][0]["text"])
    return code


@pytest.mark.parametrize("by_saml", [False, True], ids=["OpenID Connect", "SAML"])
@pytest.mark.parametrize("options", [PHONE, WIDE], ids=["phone without scripts", "wide"])
def test_it_staff_go_from_the_mail_to_people_who_sign_in_by_okta_with_roles_by_groups(
    walk: Walk, watch: Callable[..., Watched], options: dict[str, Any], *, by_saml: bool
) -> None:
    has_scripts = options.get("java_script_enabled", True)
    owner, page, ada = watch(**WIDE).page, watch(**options).page, watch(**options).page
    address = mailed(owner, walk)

    connect(page, walk, address, by_saml=by_saml, has_scripts=has_scripts)
    prove(page, walk, has_scripts=has_scripts)
    try_out(page, walk, has_scripts=has_scripts)
    go_on(page)
    provision(page, walk, has_scripts=has_scripts)
    go_on(page)
    map_groups(page, has_scripts=has_scripts)
    page.goto(f"{walk.site.url}/app/setup")
    assert page.locator(".setup-steps .step-mark.done").count() == 3
    require(owner, walk)

    walk.okta.answer_in(ada.context)
    ada.goto(f"{walk.site.url}/app/sign-in")
    ada.get_by_label("Email address").fill("ada@acme.example")
    press(ada, "Continue")
    ada.get_by_text("Allow", exact=True).click()
    ada.wait_for_load_state()
    # A setup link vouches for no connection, so the first sign-in of a known account takes a mailed code.
    ada.locator('input[name="code"]').fill(mailed_code(ada, walk))
    press(ada, "Sign in with the code")
    ada.goto(f"{walk.site.url}/app/account")
    assert "ada@acme.example" in ada.inner_text("main")
    ada.goto(f"{walk.site.url}{CONSOLE}")
    assert ada.locator("main h1").count() == 1
    owner.goto(f"{walk.site.url}{CONSOLE}/people?search=ada")
    assert "sales" in owner.locator("tr", has_text="ada@acme.example").inner_text()
