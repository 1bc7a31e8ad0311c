"""Where walks end under the custom domain of an organization, which has no account pages."""

from __future__ import annotations

import re

import pytest

from tests.world.domains import DOMAIN, insert_verified
from tests.world.team import Team
from tests.world.visitor import Visitor

BASE_URL = "http://localhost:8000"
MEMBER = "member@example.com"


@pytest.fixture
def guest(team: Team) -> Visitor:
    """A browser at the domain of the team, whose pages have its colour."""
    insert_verified(team.world, team.organization_id)
    visitor = Visitor(team.world.client)
    visitor.headers["Host"] = DOMAIN
    return visitor


def links_of(html: str) -> dict[str, str]:
    """Return the addresses of the links of a page by their texts."""
    return {text.strip(): address for address, text in re.findall(r'<a[^>]* href="([^"]*)">([^<]*)</a>', html)}


async def test_the_sign_in_links_to_the_pages_of_accounts_where_they_are(guest: Visitor) -> None:
    first = await guest.open("/app/sign-in?return_to=%2Fapp")
    second = await guest.submit(first, "/app/sign-in", email=MEMBER)

    assert links_of(first.text)["Create an account"] == f"{BASE_URL}/app/register"
    assert links_of(second.text)["Create an account"] == f"{BASE_URL}/app/register"
    assert links_of(second.text)["Forgot your password?"] == f"{BASE_URL}/app/forgot-password"


async def test_an_address_without_a_page_looks_like_the_other_pages_of_the_domain(team: Team, guest: Visitor) -> None:
    await team.request("owner", "PATCH", "/branding", body={"support_email": "help@acme.example"})

    unknown = await guest.send("GET", "/nonsense")
    not_here = await guest.send("GET", "/auth/verify-email?token=x")
    elsewhere = Visitor(team.world.client)
    elsewhere.headers["Host"] = "another.example"
    stranger = await elsewhere.send("GET", "/nonsense")

    # Each leads back to itself after a choice of the language.
    pages = [
        re.sub('name="return_to" value="[^"]*"', "", page.text.replace(page.headers["X-Request-Id"], ""))
        for page in (unknown, not_here)
    ]
    assert [unknown.status, not_here.status] == [404, 404]
    assert pages[0] == pages[1]
    assert "mailto:help@acme.example" in unknown.text
    assert (stranger.status, stranger.text) == (404, "Not found.\n")
    assert "json" in (await guest.send("GET", "/api/nonsense")).headers["Content-Type"]


async def test_a_member_without_a_second_factor_is_led_to_where_one_is_set_up(team: Team, guest: Visitor) -> None:
    home = await guest.sign_in(MEMBER)
    team.world.connection.execute("UPDATE organizations SET mfa_required = true")
    assert home.status == 200
    choice = await guest.open("/app/choose-organization")

    refused = await guest.submit(choice, "/app/choose-organization", org_slug=team.slug)

    assert refused.status == 403
    assert "This organization requires a second factor" in refused.text
    assert links_of(refused.text)["Set up a second factor"] == f"{BASE_URL}/app/account/second-factor"
    assert MEMBER in refused.text
