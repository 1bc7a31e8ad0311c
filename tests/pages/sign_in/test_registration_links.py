"""The page of a registration's link: what it asks for, and what it offers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from adapters.postgres.driver.connection import Connection
from core.sign_in import browser_returns
from core.sign_in.browser_returns import BrowserReturn
from entrypoints.settings import Settings
from tests.application import Answer, serving
from tests.concurrency import at_once, statuses_of
from tests.world.acme_shop import AcmeShop
from tests.world.builder import EMAIL, PASSWORD
from tests.world.registrations import (
    CHOOSE,
    CONFIRM,
    JSON,
    NOT_ME,
    RESEND,
    STRANGER,
    mailed,
    registered,
    registered_on_page,
    signs_in,
)
from tests.world.visitor import Visitor
from tests.world.world import World

NEW = "a quite different one"


async def test_the_browser_that_registered_needs_one_button_and_is_led_on(world: World, visitor: Visitor) -> None:
    keep = partial(world.installation.database.transact, browser_returns.keep)
    return_id = (await keep(BrowserReturn(target="/app?a=b"))).reveal()
    path = await registered_on_page(visitor, world, f"/app/register?return_id={return_id}")

    page = await visitor.open(path)
    strangers = await visitor.open(await registered(world))
    answer = await visitor.submit(page, CONFIRM, is_followed=False)

    assert "The password that you chose then" not in page.text
    assert "The password that you chose then" in strangers.text
    assert (answer.status, answer.headers["Location"]) == (303, "/app?a=b")
    assert visitor.has_session


async def test_another_browser_needs_the_password_of_that_registration(world: World, visitor: Visitor) -> None:
    path = await registered_on_page(visitor, world)
    other = Visitor(world.client)
    page = await other.open(path)

    wrong = await other.submit(page, CONFIRM, password=STRANGER)
    long = await other.submit(page, CONFIRM, password="x" * 200)
    home = await other.submit(wrong, CONFIRM, password=PASSWORD)

    assert (wrong.status, long.status) == (401, 401)
    assert "This is not the password of this registration" in wrong.text
    assert "You are signed in as" in home.text


async def test_a_browser_that_requested_the_link_again_needs_the_password_of_the_registration(
    world: World, visitor: Visitor
) -> None:
    await registered(world)
    form = await visitor.open("/app/register/send-again")
    await visitor.submit(form, "/app/register/send-again", email=EMAIL)

    page = await visitor.open(await mailed(world))
    refused = await visitor.submit(page, CONFIRM, password="")

    assert "The password that you chose then" in page.text
    assert refused.status == 401
    assert not visitor.has_session
    assert "Verify your email address" in (await world.log_in(EMAIL, STRANGER)).json["error"]


async def test_it_says_when_and_from_where_the_account_was_registered(world: World) -> None:
    await world.client.post("/api/auth/register", body={"email": EMAIL, "password": STRANGER}, address="203.0.113.7")

    page = await world.client.get(await mailed(world))

    assert "203.0.113.7" in page.text
    assert '<time datetime="2026-02-03T04:05:06+00:00">3 February 2026, 04:05 UTC</time>' in page.text


async def test_wrong_passwords_count_as_failed_sign_ins(world: World) -> None:
    path = await registered(world)
    limited = Visitor(serving(replace(world.installation, settings=Settings(dev=True))), address="192.0.2.1")
    page = await limited.open(path)

    statuses = [(await limited.submit(page, CONFIRM, password="wrong")).status for _ in range(10)]
    # Another address of the same network.
    limited.address = "192.0.2.2"
    refused = await limited.submit(page, CONFIRM, password=STRANGER)

    assert statuses == [401] * 10
    assert (refused.status, "Too many failed sign-ins" in refused.text) == (429, True)


async def test_a_new_password_removes_everything_prepared(world: World, visitor: Visitor) -> None:
    others = await registered(world, PASSWORD)
    path = await registered(world)

    form = await visitor.submit(await visitor.open(path), CHOOSE)
    saved = await visitor.submit(form, new_password=NEW, repeated=NEW)

    assert "Your new password is saved" in saved.text
    assert await signs_in(world, NEW, STRANGER, PASSWORD) == [200, 401, 401]
    for link in (path, others):
        assert (await world.client.get(link, headers=JSON)).status == 400


async def test_a_link_without_a_registration_offers_to_choose_a_password_alone(world: World, visitor: Visitor) -> None:
    for password in (STRANGER, PASSWORD):
        await registered(world, password)
    await world.client.post(RESEND, body={"email": EMAIL})
    path = await mailed(world)
    page = await visitor.open(path)
    token = path.partition("=")[2]

    assert "The password that you chose then" not in page.text
    assert "It was not me" not in page.text
    fields = {"form_token": visitor_token(page), "token": token}
    refused = await visitor.post(CONFIRM, fields | {"password": PASSWORD})
    assert refused.status == 400
    assert (await visitor.submit(page, CHOOSE)).status == 200


async def test_it_was_not_me_ends_the_registration_with_its_links_and_leaves_the_others(
    world: World, visitor: Visitor
) -> None:
    mine = await registered(world, PASSWORD)
    strangers = await registered(world)

    page = await visitor.submit(await visitor.open(strangers), NOT_ME)

    assert "This registration has ended" in page.text
    assert (await world.client.get(strangers, headers=JSON)).status == 400
    assert "Verify your email address" in (await world.log_in()).json["error"]
    assert await signs_in(world, STRANGER) == [401]
    assert (await world.client.get(mine, headers=JSON)).status == 200
    assert await signs_in(world, PASSWORD) == [200]


async def test_it_was_not_me_ends_the_links_that_were_sent_again(world: World, visitor: Visitor) -> None:
    first = await registered(world)
    await world.client.post(RESEND, body={"email": EMAIL})
    second = await mailed(world)

    await visitor.submit(await visitor.open(second), NOT_ME)

    assert (await world.client.get(first, headers=JSON)).status == 400
    assert world.rows("SELECT password_hash FROM users") == [(None,)]


async def test_a_button_of_a_link_that_was_used_is_refused(world: World, visitor: Visitor) -> None:
    path = await registered(world)
    page = await visitor.open(path)
    await world.client.get(path, headers=JSON)

    for action in (CONFIRM, CHOOSE, NOT_ME):
        assert (await visitor.submit(page, action, password=STRANGER)).status == 400, action


async def test_a_button_for_an_address_that_is_proved_by_now_is_refused(
    world: World, visitor: Visitor, connection: Connection
) -> None:
    page = await visitor.open(await registered(world))
    connection.execute("UPDATE users SET email_verified_at = created_at")

    for action in (CONFIRM, CHOOSE, NOT_ME):
        refused = await visitor.submit(page, action, password=STRANGER)
        assert (refused.status, "used already" in refused.text) == (400, True), action


async def test_of_two_who_press_the_button_at_once_one_signs_in(world: World) -> None:
    path = await registered(world)
    visitors = [Visitor(world.client) for _ in range(2)]
    pages = [await visitor.open(path) for visitor in visitors]

    answers = await at_once(
        *[
            partial(visitor.submit, page, CONFIRM, password=STRANGER, is_followed=False)
            for visitor, page in zip(visitors, pages, strict=True)
        ]
    )

    assert statuses_of(answers) == [303, 400]


async def test_another_site_cannot_press_its_buttons(world: World, visitor: Visitor) -> None:
    page = await visitor.open(await registered(world))

    for action in (CONFIRM, CHOOSE, NOT_ME):
        answer = await visitor.submit(page, action, password=STRANGER, headers={"Sec-Fetch-Site": "cross-site"})
        assert answer.status == 403, action
    assert (await Visitor(world.client).submit(page, CONFIRM, password=STRANGER)).status == 403


async def test_signing_in_with_it_leads_to_the_service_of_the_registration(
    world: World, visitor: Visitor, acme_shop: AcmeShop
) -> None:
    await world.register(EMAIL, STRANGER, **acme_shop.return_request)

    done = await visitor.submit(await visitor.open(await mailed(world)), CONFIRM, password=STRANGER)

    assert visitor.has_session
    assert f'href="{acme_shop.redirect_uri}"' in done.text


def visitor_token(page: Answer) -> str:
    """Return the token of a page's forms."""
    return page.text.partition('name="form_token" value="')[2].partition('"')[0]
