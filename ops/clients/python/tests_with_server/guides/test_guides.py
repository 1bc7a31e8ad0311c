"""The guides of the manual, followed from an empty folder: each ends with a page that knows who is signed in."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from guide import Guide, free_port, opened
from playwright.sync_api import Page, expect, sync_playwright

from gatehouse_client.testing import GatehouseKit, Person

EXAMPLE = "http://localhost:8000"
# An installed browser; without it, the one of `playwright install`.
CHROMIUM = os.environ.get("GATEHOUSE_CHROMIUM")
# Next.js and its like take minutes to build; each guide is a part of its own.
WEB = ("express", "nextjs")
# They also protect pages by each kind of role: of the vendor, of the customer, of the product.
WITH_ROLES = ("fastapi", "flask", "django")
PAGES = ("admin", "team", "reports")
SIGN_OUT = re.compile('<form method="post" action="([^"]+)"><button>Sign out')


def laid(gatehouse: GatehouseKit, name: str, folder: Path, **fields: str) -> Guide:
    """Lay a guide out in an empty folder, with a service of the organization of the reader."""
    port = free_port()
    shop = gatehouse.product("shop", redirect_uris=[f"http://localhost:{port}/callback"], **fields)
    values = {
        EXAMPLE: gatehouse.base_url,
        "YOUR_CLIENT_ID": shop.client_id,
        "YOUR_CLIENT_SECRET": shop.client_secret,
    }
    guide = opened(name, folder, port, values)
    guide.write_files()
    return guide


@contextmanager
def window() -> Generator[Page]:
    """Open a window of a browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser.new_context().new_page()
        browser.close()


@pytest.mark.parametrize("name", WEB)
def test_a_person_signs_in_to_a_web_application(gatehouse: GatehouseKit, name: str, tmp_path: Path) -> None:
    guide = laid(gatehouse, name, tmp_path)
    *prepare, start = guide.commands()
    for command in prepare:
        guide.run(command)

    with guide.started(start):
        require_sign_in(gatehouse, guide)


@pytest.mark.parametrize("name", WITH_ROLES)
def test_a_person_signs_in_and_the_founder_of_a_customer_opens_no_page_of_the_vendor(
    gatehouse: GatehouseKit, name: str, tmp_path: Path
) -> None:
    guide = laid(gatehouse, name, tmp_path)
    *prepare, start = guide.commands()
    for command in prepare:
        guide.run(command)
    shop, stranger = gatehouse.product("shop"), gatehouse.organization("bolt")
    vendor = shop.organization
    # A service for every organization that wants it.
    service = f"/api/organizations/{vendor.slug}/services/shop"
    gatehouse.ask(vendor.owner, "PATCH", service, {"customers": "any"})
    gatehouse.ask(stranger.owner, "POST", "/api/organizations/bolt/products", {"client_id": shop.client_id})

    with guide.started(start):
        require_sign_in(gatehouse, guide)
        of_vendor, of_founder = (
            [status_of(gatehouse, guide, person, page) for page in PAGES] for person in (vendor.owner, stranger.owner)
        )

    assert of_vendor == [200, 403, 403]
    assert of_founder == [403, 200, 403]


def require_sign_in(gatehouse: GatehouseKit, guide: Guide) -> None:
    """Require that a person gets to the page by signing in, and stays signed in."""
    with gatehouse.browser() as browser:
        page = gatehouse.visit(browser, guide.home, "ann")
        again = browser.get(guide.home)
        sign_out = SIGN_OUT.search(page.text)
        if sign_out is not None:
            browser.post(f"{guide.home.rstrip('/')}{sign_out[1]}")
        after = browser.get(guide.home)

    assert page.status_code == 200, page.text
    assert (str(page.url), "ann@people.example" in page.text) == (guide.home, True)
    # The session stays until the person signs out.
    assert "ann@people.example" in again.text
    assert sign_out is None or "ann@people.example" not in after.text


def status_of(gatehouse: GatehouseKit, guide: Guide, person: Person, page: str) -> int:
    """Open a page of the application in a new browser, sign in, and return the status of the page then."""
    with gatehouse.browser() as browser:
        answer = gatehouse.visit(browser, f"{guide.home}{page}", person)
        assert str(answer.url) == f"{guide.home}{page}", answer.text
        return answer.status_code


@pytest.mark.parametrize("name", ["single-page"])
def test_a_person_signs_in_in_the_browser(gatehouse: GatehouseKit, name: str, tmp_path: Path) -> None:
    guide = laid(gatehouse, name, tmp_path, service_type="mobile")
    ann = gatehouse.person("ann")
    [start] = guide.commands()

    with guide.started(start), window() as page:
        page.goto(guide.home)
        page.fill("#email", ann.email)
        page.keyboard.press("Enter")
        page.fill("#password", ann.password)
        page.keyboard.press("Enter")

        # Asked once, because the application asks for the profile.
        page.get_by_role("button", name="Continue").click()
        # Without the code, so that a reload is a sign-in of its own.
        page.wait_for_url(guide.home)
        expect(page.get_by_text(f"Signed in as {ann.email}")).to_be_visible()
        page.reload()
        page.wait_for_url(guide.home)
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url(f"{gatehouse.base_url}/**")
        page.goto(guide.home)
        expect(page.locator("#email")).to_be_visible()


@pytest.mark.parametrize("name", ["api"])
def test_an_api_takes_tokens(gatehouse: GatehouseKit, name: str, tmp_path: Path) -> None:
    guide = laid(gatehouse, name, tmp_path, service_type="api")
    shop = gatehouse.product("shop")
    *prepare, start = guide.commands()
    for command in prepare:
        guide.run(command)
    token = gatehouse.client_token(shop)
    bearer = {"Authorization": f"Bearer {token}"}

    with guide.started(start), httpx.Client(base_url=guide.home) as client:
        refused = client.get("/things")
        metadata = client.get("/.well-known/oauth-protected-resource").json()
        answers = [client.get(path, headers=bearer) for path in ("/things", "/addresses")]

    assert (refused.status_code, metadata["authorization_servers"]) == (401, [gatehouse.base_url])
    assert "/.well-known/oauth-protected-resource" in refused.headers["WWW-Authenticate"]
    assert [answer.status_code for answer in answers] == [200, 403]
    assert answers[0].json() == {"things of": shop.client_id}
    assert "insufficient_scope" in answers[1].headers["WWW-Authenticate"]


@pytest.mark.parametrize(
    "name", ["testing", "selling-a-plan", "customers", "onboarding", "identity-provider", "scopes", "claims"]
)
def test_the_tests_of_a_guide_pass(gatehouse: GatehouseKit, name: str, tmp_path: Path) -> None:
    guide = opened(name, tmp_path, free_port(), {})
    guide.write_files()
    *prepare, run = guide.commands()
    for command in prepare:
        guide.run(command)

    # They use the instance that runs already.
    guide.run(f"GATEHOUSE_TEST_INSTANCE='{gatehouse.instance.description}' {run}")


@pytest.mark.parametrize("name", ["testing"])
def test_the_example_for_a_browser_passes(gatehouse: GatehouseKit, name: str, tmp_path: Path) -> None:
    # Without the plugin, whose browser every reader has to install: the window is of this test.
    [example] = re.findall(
        r"```python\n(def test_\w+\(gatehouse, context\).*?)```", opened(name, tmp_path, 0, {}).text, re.S
    )
    names: dict[str, Callable[..., None]] = {}
    exec(example, names)  # noqa: S102 - it is the example of the manual

    with window() as page:
        names["test_the_first_page"](gatehouse, page.context)
