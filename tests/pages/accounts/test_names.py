"""The fields for one's own name: at registration, and on the account's page."""

from __future__ import annotations

from tests.world.builder import EMAIL, PASSWORD
from tests.world.visitor import Visitor
from tests.world.world import World

ADA = "Ada Lovelace"


async def test_the_page_that_registers_takes_a_name(world: World, visitor: Visitor) -> None:
    page = await visitor.open("/app/register")
    refused = await visitor.submit(page, email=EMAIL, password=PASSWORD, name="www.example.com")
    assert refused.status == 400
    assert "cannot contain an address of the web" in refused.text
    assert "www.example.com" in refused.text

    await visitor.submit(refused, email=EMAIL, password=PASSWORD, name=ADA)

    assert world.value("SELECT name FROM open_registrations WHERE email = %s", EMAIL) == ADA


async def test_the_page_of_the_account_changes_it(world: World, visitor: Visitor) -> None:
    world.user()
    await visitor.sign_in()

    page = await visitor.open("/app/account/name")
    refused = await visitor.submit(page, "/app/account/name", name="a" * 101)
    assert (refused.status, "1 to 100 characters" in refused.text) == (400, True)
    saved = await visitor.submit(refused, "/app/account/name", name=ADA)
    assert "Your name is saved." in saved.text
    assert ADA in (await visitor.open("/app/account")).text
    assert f'value="{ADA}"' in saved.text
    await visitor.submit(saved, "/app/account/name", name=" ")

    assert world.value("SELECT name FROM users WHERE email = %s", EMAIL) is None
