"""The page on which a vendor reads what fails for a customer."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from html import unescape

import pytest

from core.customers.refused_sign_ins import SHOWN_MAX, TOLD
from entrypoints.pages.customers.refused_sign_ins import WORDS
from tests.world.customer_backend import CustomerBackend
from tests.world.visitor import Visitor

SHOP = "/app/organizations/acme/services/shop"
CLOSED = "The service was not open to the person for this customer."
NOT_TOLD = "A rule of the customer refused it, or the state of the account. Only the customer sees which."


@pytest.fixture
async def owner(browser_of: Callable[[str], Awaitable[Visitor]]) -> Visitor:
    """The browser of the owner of the vendor."""
    return await browser_of("owner")


@pytest.fixture
async def here(shop: CustomerBackend) -> str:
    """The page of a customer, all of whose members may use the service."""
    return f"{SHOP}/customers/{await shop.trade.begin()}"


def refused_in(text: str) -> list[tuple[str, str]]:
    """Return the person and the reason of each refused sign-in that a page shows."""
    rows = re.findall(r'<tr role="row">\s*<th role="rowheader".*?</tr>', text, re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(?:<span>)?(.*?)(?:</span>)?</t[hd]>", row, re.DOTALL) for row in rows]
    return [(re.sub("<.*", "", row[0]).partition("@")[0], unescape(row[2])) for row in cells]


async def close(shop: CustomerBackend) -> None:
    """End the access of the customer's people."""
    await shop.trade.change_product(access="assigned", assignments=[])


def test_every_reason_that_is_told_has_words() -> None:
    assert set(WORDS) == TOLD


async def test_a_refusal_is_shown_with_its_reason_and_the_page_of_every_rule(
    shop: CustomerBackend, here: str, owner: Visitor
) -> None:
    before = await owner.open(here)
    await shop.sign_in("worker")
    await close(shop)
    await shop.sign_in("worker")

    page = await owner.open(here)
    [why] = re.findall(r'href="(/app/organizations/acme/why[^"]+)"', page.text)
    explained = await owner.open(unescape(why))

    assert "Nothing that you may see was refused." in before.text
    assert refused_in(page.text) == [("worker", CLOSED)]
    assert "Look above whether it is paused." in page.text
    assert "worker@example.com" in explained.text
    assert explained.status == 200


async def test_what_the_customer_requires_is_not_told(shop: CustomerBackend, here: str, owner: Visitor) -> None:
    await shop.sign_in("worker")
    shop.trade.world.connection.execute("UPDATE organizations SET mfa_required = true WHERE slug = 'beta'")
    assert (await shop.sign_in("worker")).status == 403

    page = await owner.open(here)

    assert refused_in(page.text) == [("worker", NOT_TOLD)]
    assert "second_factor" not in page.text
    assert "second factor" not in page.text


async def test_nobody_is_shown_whom_the_customer_has_not_shown(
    shop: CustomerBackend, here: str, owner: Visitor
) -> None:
    for name in ("worker", "chief"):
        await shop.sign_in(name)
    await close(shop)
    shop.add_unconfirmed("guest")
    for name in ("head", "guest", "worker", "chief"):
        assert (await shop.sign_in(name)).status == 403, name
    await shop.remove("chief")

    assert refused_in((await owner.open(here)).text) == [("worker", CLOSED)]

    # A shared directory shows who may use it, and so shows what refuses them.
    await shop.trade.change_product(shares_directory=True, access="members")
    assert sorted(refused_in((await owner.open(here)).text)) == [("head", CLOSED), ("worker", CLOSED)]


async def test_what_was_refused_before_the_first_sign_in_is_not_shown(
    shop: CustomerBackend, here: str, owner: Visitor
) -> None:
    await close(shop)
    await shop.sign_in("worker")
    shop.trade.pass_time(timedelta(minutes=1))
    await shop.trade.change_product(access="members")
    await shop.sign_in("worker")

    assert refused_in((await owner.open(here)).text) == []


async def test_a_passing_question_is_no_failure_and_the_list_is_short(
    shop: CustomerBackend, here: str, owner: Visitor
) -> None:
    await shop.sign_in("worker")
    await close(shop)
    for _ in range(SHOWN_MAX + 2):
        await shop.sign_in("worker")
    shop.trade.world.connection.execute(
        """
        UPDATE login_events SET reason = 'second_factor_asked'
        WHERE  id = (SELECT max(id::text)::uuid FROM login_events WHERE NOT success)
        """
    )

    assert len(refused_in((await owner.open(here)).text)) == SHOWN_MAX


async def test_it_takes_the_capability_of_end_users(
    shop: CustomerBackend, here: str, browser_of: Callable[[str], Awaitable[Visitor]]
) -> None:
    world, vendor = shop.trade.world, shop.trade.vendor
    await shop.sign_in("worker")
    await close(shop)
    await shop.sign_in("worker")
    for role, *capabilities in (
        ("builder", "services.manage"),
        ("reader", "services.manage", "end_users.view"),
    ):
        world.custom_role(vendor.organization_id, role, *capabilities)
        vendor.add(role, role)

    builder, reader = [(await (await browser_of(name)).open(here)).text for name in ("builder", "reader")]

    assert "worker@example.com" not in builder
    assert "You cannot see refused sign-ins." in builder
    assert refused_in(reader) == [("worker", CLOSED)]
    assert "You cannot find out why a person cannot sign in." in reader
    assert "/app/organizations/acme/why" not in re.sub(r"<nav.*?</nav>", "", reader, flags=re.DOTALL)


async def test_refusals_for_another_customer_are_not_shown(shop: CustomerBackend, here: str, owner: Visitor) -> None:
    world = shop.trade.world
    gamma = world.team("gamma")
    world.member(gamma.organization_id, shop.id_of("worker"))
    other_id = world.customer(shop.trade.service, gamma.organization_id)
    for customer in (here.rpartition("/")[2], str(other_id)):
        assert (await shop.sign_in("worker", customer=customer)).status == 200
    world.connection.execute("UPDATE service_customers SET customer_paused_at = now() WHERE id = %s", (other_id,))
    await shop.sign_in("worker", customer=str(other_id))

    assert refused_in((await owner.open(here)).text) == []
    assert refused_in((await owner.open(f"{SHOP}/customers/{other_id}")).text) == [("worker", CLOSED)]


async def test_the_page_speaks_german(shop: CustomerBackend, here: str, owner: Visitor) -> None:
    await shop.sign_in("worker")
    await close(shop)
    await shop.sign_in("worker")

    page = await owner.switch(await owner.open(here), "de")

    assert "Der Dienst war der Person für diesen Kunden nicht zugänglich." in page.text
    assert "Was fehlschlägt" in page.text
