"""The tabs of a service in a real browser without scripts: a new admin makes a key, a plan, and opens its checkout."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator

import httpx
import pytest

from core.organizations.organizations import OWNER
from core.sessions.signing_keys import KeyPair
from tests.account_site import running_site, sign_in
from tests.browser import Site, Watched
from tests.world.builder import EMAIL, Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]

KEYS = "/app/organizations/acme/services/shop/api-keys"


@pytest.fixture
def site(builder: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with an organization that has an owner and a service."""
    organization_id = builder.organization()
    builder.member(organization_id, builder.user(EMAIL), OWNER)
    builder.service(organization_id, "shop")
    with running_site(database_url, key_pairs) as site:
        yield site


def test_an_admin_makes_a_key_and_a_plan_and_opens_its_checkout(site: Site, watch: Callable[..., Watched]) -> None:
    watched = watch(java_script_enabled=False, viewport={"width": 320, "height": 640})
    page = watched.page
    page.goto(f"{site.url}{KEYS}")
    sign_in(page)

    page.get_by_role("link", name="Create a key").press("Enter")
    page.get_by_label("What it is for").fill("Backend")
    page.get_by_label(re.compile("Read the service")).press("Space")
    page.get_by_role("button", name="Create the key").press("Enter")
    words = shlex.split(page.get_by_label("A call with this key").input_value())
    [(name, value)] = [word.split(": ") for word in words if word.startswith("X-Api-Key")]
    address = next(word for word in words if "/api/service/" in word)
    answer = httpx.get(site.url + "/api/service/" + address.partition("/api/service/")[2], headers={name: value})

    page.get_by_role("link", name="Plans", exact=True).press("Enter")
    page.get_by_role("link", name="Create a plan").press("Enter")
    page.get_by_label("Name of the plan").fill("Team")
    page.get_by_label("Price", exact=True).fill("19.90")
    page.get_by_label("Price at the payment provider").fill("price_team")
    page.get_by_role("button", name="Create the plan").press("Enter")
    link = page.get_by_label("Link to the checkout, for members").input_value()
    page.goto(site.url + "/app/" + link.partition("/app/")[2])
    offer = page.get_by_role("main").inner_text()
    page.get_by_role("button", name="Continue to the payment").press("Enter")
    page.wait_for_url(re.compile("/sandbox/checkout/"))
    checkout = page.get_by_role("main").inner_text()

    assert answer.json()["slug"] == "shop"
    assert "This is a sandbox: no money moves." in offer
    assert "19.90 USD" in checkout
    assert watched.problems == []


def test_the_tabs_stand_on_one_line_in_every_language(site: Site, watch: Callable[..., Watched]) -> None:
    page = watch(viewport={"width": 1280, "height": 800}).page
    page.goto(f"{site.url}/app/organizations/acme/services/shop/claims")
    sign_in(page)
    tops = "new Set([...document.querySelectorAll('.tabs a')].map(one => one.getBoundingClientRect().top)).size"
    lines = [(page.get_by_role("heading", level=1).inner_text(), page.evaluate(tops))]
    page.get_by_role("button", name="Deutsch").or_(page.get_by_role("link", name="Deutsch")).click()
    page.get_by_text("Rollen und Gruppen").first.wait_for()
    lines.append((page.get_by_role("heading", level=1).inner_text(), page.evaluate(tops)))

    assert lines == [("Shop", 1), ("Shop", 1)]
