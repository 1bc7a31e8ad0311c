"""The page of one's own devices."""

from __future__ import annotations

from uuid import UUID

import pytest

from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/account/devices"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


@pytest.fixture
async def ada(world: World, visitor: Visitor) -> Visitor:
    """A browser in which Ada has just signed in, after another one."""
    world.user()
    await world.sign_in(headers={"User-Agent": FIREFOX})
    await visitor.sign_in()
    return visitor


def firefox(world: World) -> UUID:
    """Return the id of the other browser."""
    return world.value("SELECT id FROM devices WHERE browser = 'Firefox'")


async def test_the_devices_are_listed_and_this_one_is_marked(ada: Visitor) -> None:
    page = await ada.open(PAGE)

    assert "Firefox on Linux" in page.text
    assert page.text.count("This device") == 1


async def test_a_name_that_its_user_has_not_chosen_is_in_the_language_of_the_page(world: World, ada: Visitor) -> None:
    ada.headers["Accept-Language"] = "de"
    world.rows("UPDATE devices SET name = 'Unknown device' WHERE id <> %s RETURNING id", firefox(world))
    named = await ada.open(PAGE)
    page = await ada.submit(named, f"{PAGE}/{firefox(world)}/rename", name="Firefox on my table")

    assert "Firefox unter Linux" in named.text
    assert "Unbekanntes Gerät" in named.text
    assert "Firefox on my table" in page.text


async def test_the_page_after_a_refused_button_is_shown_in_another_language_too(world: World, ada: Visitor) -> None:
    """Where the path of a button has no page, the page of its part of the account or of the setup is shown."""
    refused = await ada.submit(await ada.open(PAGE), f"{PAGE}/{firefox(world)}/rename", name=" ")

    german = await ada.switch(refused, "de")

    assert refused.status == 400
    assert 'role="alert"' in refused.text
    assert "Ihre Geräte" in german.text


async def test_a_device_is_renamed(world: World, ada: Visitor) -> None:
    page = await ada.submit(await ada.open(PAGE), f"{PAGE}/{firefox(world)}/rename", name="The <old> laptop")

    assert "The &lt;old&gt; laptop" in page.text
    assert "The new name is saved." in page.text


async def test_a_removed_device_is_signed_out(world: World, ada: Visitor) -> None:
    other = await world.sign_in(headers={"User-Agent": FIREFOX})

    page = await ada.submit(await ada.open(PAGE), f"{PAGE}/{firefox(world)}/remove")

    assert "The device is removed" in page.text
    assert "Firefox on Linux" not in page.text
    assert (await world.list_sessions(other)).status == 401


async def test_the_device_in_use_has_no_button_and_is_not_removed(world: World, ada: Visitor) -> None:
    page = await ada.open(PAGE)
    mine = world.value("SELECT device_id FROM sessions ORDER BY created_at DESC, id DESC LIMIT 1")
    form = page.text.split('name="form_token" value="')[1].split('"')[0]

    refused = await ada.post(f"{PAGE}/{mine}/remove", {"form_token": form})

    assert f"{PAGE}/{mine}/remove" not in page.text
    assert refused.status == 400
    assert "You are using this device now." in refused.text
