"""The page of a form that takes a recent sign-in leaves time to fill it in."""

from datetime import timedelta

import pytest

from entrypoints.web.serving.admission.browsers import RECENT, TIME_TO_TYPE
from tests.clock import SettableClock
from tests.pages.platform.conftest import browser_of
from tests.world.builder import PASSWORD
from tests.world.callers import Caller, insert_callers
from tests.world.world import World

AGAIN = "/app/sign-in-again"
SECOND = timedelta(seconds=1)
PLATFORM = "/app/platform"


@pytest.mark.parametrize(
    ("caller", "path"),
    [
        (Caller.PLATFORM_OWNER, f"{PLATFORM}/organizations/{{organization}}/deletion"),
        (Caller.PLATFORM_OWNER, f"{PLATFORM}/users/{{member}}/mfa"),
        (Caller.PLATFORM_OWNER, f"{PLATFORM}/users/{{member}}/data"),
        (Caller.PLATFORM_OWNER, f"{PLATFORM}/owners/{{member}}/demote"),
        (Caller.PLATFORM_OWNER, f"{PLATFORM}/owners/support/{{support}}/demote"),
        (Caller.OWNER, "/app/organizations/acme/people/personal-data/{member}/remove"),
    ],
)
async def test_the_page_asks_to_sign_in_earlier_than_its_form(
    world: World, clock: SettableClock, caller: Caller, path: str
) -> None:
    callers = insert_callers(world)
    people = {"member": callers.people[Caller.MEMBER], "support": callers.people[Caller.SUPPORT]}
    page = path.format(organization=callers.acme_id, **people)
    visitor = browser_of(callers, caller)
    clock.advance(RECENT - TIME_TO_TYPE - SECOND)

    early = await visitor.send("GET", page)
    clock.advance(2 * SECOND)
    late = await visitor.send("GET", page)

    assert AGAIN not in early.headers.get("Location", "")
    assert (late.status, late.headers["Location"].partition("?")[0]) == (303, AGAIN)


async def test_a_form_that_was_opened_in_time_is_sent_within_ten_minutes(world: World, clock: SettableClock) -> None:
    callers = insert_callers(world)
    visitor = browser_of(callers, Caller.PLATFORM_OWNER)
    clock.advance(RECENT - TIME_TO_TYPE)
    page = f"{PLATFORM}/organizations/{callers.acme_id}/deletion"
    asked = await visitor.open(page)
    clock.advance(TIME_TO_TYPE)

    done = await visitor.submit(asked, page, slug="acme", reason="Asked for it.")

    assert "The organization is deleted for good." in done.text


async def test_who_signs_in_again_comes_back_to_the_page(world: World, clock: SettableClock) -> None:
    callers = insert_callers(world)
    visitor = browser_of(callers, Caller.PLATFORM_OWNER)
    page = f"{PLATFORM}/users/{callers.people[Caller.MEMBER]}/data"
    clock.advance(RECENT - TIME_TO_TYPE + SECOND)

    asked = await visitor.open(page)
    shown = await visitor.submit(asked, AGAIN, password=PASSWORD)

    assert f'action="{page}/anonymize"' in shown.text
