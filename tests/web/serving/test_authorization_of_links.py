"""The authorization matrix of setup links: a link of every part opens every page below `/app/setup`.

The path of a page says to which part it belongs, so a page that asks for another operation is found here.
"""

from __future__ import annotations

import re

import pytest

from core.errors import ErrorCode
from core.organizations.setup_links import AVAILABLE
from core.sessions import browser_sessions
from entrypoints.web.serving.admission import admitting, browsers
from tests.shown_text import shows
from tests.web.serving.test_authorization import ROUTES, UNKNOWN_ID
from tests.world.setups import Setups
from tests.world.visitor import Visitor
from tests.world.world import World

BELOW = "/app/setup/parts/"
OF_LINKS = [route for route in ROUTES if route.who.admit is admitting.admit_setup_visit]
OF_PARTS = [route for route in OF_LINKS if route.path.startswith(BELOW)]
# Pages that a link for a customer of a vendor opens.
OF_CUSTOMERS = {"mail-domains", "service-roles"}
DEAD = "This setup link is no longer valid"


@pytest.fixture
def setups(world: World) -> Setups:
    """The setup links of a team with an owner."""
    team = world.team()
    team.add("owner", "owner")
    return Setups(team, Visitor(world.client))


def test_each_part_has_pages_and_all_pages_of_parts_take_a_link() -> None:
    assert {route.path.removeprefix(BELOW).partition("/")[0] for route in OF_PARTS} == {
        *OF_CUSTOMERS,
        *(part.value for part in AVAILABLE),
    }
    assert {route.path for route in ROUTES if route.path.startswith(BELOW)} == {route.path for route in OF_PARTS}
    assert {route.who.label for route in OF_LINKS} == {"public"}


@pytest.mark.parametrize("part", [part.value for part in AVAILABLE])
async def test_a_link_opens_the_pages_of_its_part_alone(setups: Setups, part: str) -> None:
    setups.team.world.service(setups.team.organization_id, "shop")
    await setups.begin(await setups.create(part, **({"service_slug": "shop"} if part == "saml" else {})))
    cookie = setups.visitor.cookies[browsers.SETUP_COOKIE]
    token = browsers.masked(browser_sessions.form_token_of(cookie))

    for route in OF_PARTS:
        path = re.sub(":[a-z_]+", str(UNKNOWN_ID), route.path)
        if route.method == "GET":
            answer = await setups.visitor.send("GET", path)
        else:
            answer = await setups.visitor.post(path, {"form_token": token}, is_followed=False)
        page = path.removeprefix(BELOW).partition("/")[0]
        is_own = page == part
        case = (part, route.method, route.path, answer.status)
        assert (not shows(answer.text, DEAD)) is is_own, case
        assert is_own or answer.status == ErrorCode.NOT_FOUND.status, case


async def test_without_a_link_no_page_opens(setups: Setups) -> None:
    for route in OF_LINKS:
        if route.method == "GET":
            answer = await setups.visitor.send("GET", re.sub(":[a-z_]+", str(UNKNOWN_ID), route.path))
            assert shows(answer.text, DEAD), route.path
