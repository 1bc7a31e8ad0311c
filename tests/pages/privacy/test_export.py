"""The page of one's own data."""

from __future__ import annotations

from tests.world.builder import EMAIL
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/account/data"


async def test_the_data_are_downloaded_as_a_file(world: World, visitor: Visitor) -> None:
    user_id = world.user()
    await visitor.sign_in()

    file = await visitor.submit(await visitor.open(PAGE), f"{PAGE}/download")

    assert file.headers["Content-Disposition"] == 'attachment; filename="gatehouse-data.json"'
    assert file.headers["Cache-Control"] == "no-store"
    assert (file.json["user_id"], file.json["email"]) == (str(user_id), EMAIL)
    assert len(world.events("user.exported")) == 1


async def test_the_page_of_linked_accounts_lists_none_yet(world: World, visitor: Visitor) -> None:
    world.user()
    await visitor.sign_in()

    page = await visitor.open("/app/account/identities")

    assert "No account is linked to yours." in page.text
