"""The page on which an organization reads the sign-ins of its people at a product."""

from __future__ import annotations

import csv
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from html import unescape
from typing import NamedTuple

import pytest

from tests.world.customer_backend import CustomerBackend
from tests.world.trade import Trade
from tests.world.visitor import Visitor

OUTSIDE = "A person outside of the organization"
CLOSED = "The service is not open to the user for the customer that was named."
NO_FACTOR = "second factor"
HOSTILE = "<b onclick=alert(1)>Worker</b>"


@pytest.fixture
async def head(browser_of: Callable[[str], Awaitable[Visitor]]) -> Visitor:
    """The browser of the owner of the customer."""
    return await browser_of("head")


@pytest.fixture
async def here(shop: CustomerBackend) -> str:
    """The list of the sign-ins at a product, which all members of the customer may use."""
    await shop.trade.begin()
    return at(shop.trade)


def at(trade: Trade, organization: str = "beta") -> str:
    """Return the list of the sign-ins at the product, as an organization would read it."""
    return f"/app/organizations/{organization}/products/{trade.service.client_id}/sign-ins"


class Row(NamedTuple):
    """A row of the list: the person before the @, the outcome and the reason, and the way."""

    person: str
    outcome: str
    reason: str
    method: str


def listed(text: str) -> list[Row]:
    """Return the rows that a page shows."""
    found: list[Row] = []
    for row in re.findall(r'<tr role="row">\s*<th role="rowheader".*?</tr>', text, re.DOTALL):
        cells = [re.split(r'<span class="beneath">', part, maxsplit=1) for part in re.split(r"<td[^>]*>", row)]
        [person, outcome, method] = [
            [unescape(re.sub(r"<[^>]+>", "", one)).strip() for one in cell] for cell in cells[1:]
        ]
        found.append(Row(person[0].partition("@")[0], outcome[0], "".join(outcome[1:]), method[0]))
    return found


def insert_more(shop: CustomerBackend, number: int) -> None:
    """Insert copies of the only sign-in, each a minute before the other."""
    shop.trade.world.connection.execute(
        """
        INSERT INTO login_events (id, user_id, organization_id, service_id, through_organization_id, customer_id,
                                  provider, success, reason, risk_score, risk_factors, created_at)
        SELECT overlay(gen_random_uuid()::text placing left(first_id_at(e.created_at - n * '1 minute'::interval)::text,
                                                            13) from 1)::uuid,
               e.user_id, e.organization_id, e.service_id, e.through_organization_id, e.customer_id,
               e.provider, n %% 2 = 0, CASE WHEN n %% 2 = 1 THEN 'customer_closed' END, 0, '{}',
               e.created_at - n * '1 minute'::interval
        FROM   login_events e, generate_series(1, %s) AS n
        WHERE  e.customer_id IS NOT NULL
        """,
        (number,),
    )
    shop.trade.world.connection.execute("UPDATE memberships SET confirmed_at = confirmed_at - '1 day'::interval")


async def close(shop: CustomerBackend) -> None:
    """End the access of the customer's people."""
    await shop.trade.change_product(access="assigned", assignments=[])


async def test_sign_ins_and_refusals_are_listed_with_the_whole_reason(
    shop: CustomerBackend, here: str, head: Visitor
) -> None:
    world = shop.trade.world
    before = await head.open(here)
    await shop.sign_in("worker")
    await close(shop)
    await shop.sign_in("chief")
    await shop.trade.change_product(access="members")
    world.connection.execute("UPDATE organizations SET mfa_required = true WHERE slug = 'beta'")
    assert (await shop.sign_in("worker")).status == 403
    world.connection.execute("UPDATE organizations SET mfa_required = false WHERE slug = 'beta'")
    world.connection.execute(
        "UPDATE users SET name = %s, email_verified_at = now() WHERE id = %s", (HOSTILE, shop.id_of("worker"))
    )

    page = await head.follow(await head.open(here.removesuffix("/sign-ins")), here)

    assert "No one of your organization has signed in there yet." in before.text
    rows = listed(page.text)
    assert [(one.person, one.outcome) for one in rows] == [
        ("worker", "Refused"),
        ("chief", "Refused"),
        ("worker", "Signed in"),
    ]
    assert NO_FACTOR in rows[0].reason
    assert rows[1].reason.startswith(CLOSED)
    assert rows[2].reason == ""
    assert {one.method for one in rows} == {"Password"}
    assert HOSTILE not in page.text
    assert "&lt;b onclick=alert(1)&gt;Worker&lt;/b&gt;" in page.text
    assert f'href="/app/organizations/beta/people/{shop.id_of("chief")}"' in page.text


async def test_they_are_found_by_outcome_and_by_the_whole_address(
    shop: CustomerBackend, here: str, head: Visitor
) -> None:
    for name in ("worker", "chief"):
        await shop.sign_in(name)
    await close(shop)
    await shop.sign_in("worker")

    for query, found in (
        ("outcome=succeeded", ["chief", "worker"]),
        ("outcome=refused", ["worker"]),
        ("outcome=other", ["worker", "chief", "worker"]),
        ("person=%20Worker@Example.com", ["worker", "worker"]),
        ("person=worker@example.com&outcome=succeeded", ["worker"]),
        ("person=chief@example.com&outcome=refused", []),
        ("person=worker", []),
        ("person=head@example.com", []),
        ("person=member@example.com", []),
        ("person=nobody@example.com", []),
    ):
        page = await head.open(f"{here}?{query}")
        assert [one.person for one in listed(page.text)] == found, query
        assert ("No sign-in fits." in page.text) is (not found), query


async def test_a_long_list_goes_on_and_the_file_has_all(shop: CustomerBackend, here: str, head: Visitor) -> None:
    await shop.sign_in("worker")
    insert_more(shop, 60)

    for query, outcomes in (("", 61), ("?outcome=succeeded", 31), ("?person=worker@example.com", 61)):
        pages = [await head.open(f"{here}{query}")]
        while more := re.findall(r'href="([^"]+after=[^"]+)"', pages[-1].text):
            pages.append(await head.open(unescape(more[-1])))
        assert [len(listed(page.text)) for page in pages] == [25] * (outcomes // 25) + [outcomes % 25], query
        file = await head.open(f"{here}/sign-ins.csv{query}")
        rows = list(csv.DictReader(file.text.splitlines()))
        times = [row["time"] for row in rows]
        assert len(set(times)) == outcomes, query
        assert times == sorted(times, reverse=True)
        shown = [time for page in pages for time in re.findall(r'<time class="brief" datetime="([^"]+)"', page.text)]
        assert len(set(shown)) == outcomes, query
        assert {(row["person"], row["method"]) for row in rows} == {("worker@example.com", "password")}
        assert {(row["outcome"], row["reason"]) for row in rows} == {("success", "")} | (
            {("refused", "customer_closed")} if query != "?outcome=succeeded" else set[tuple[str, str]]()
        )
        assert "beta-product-sign-ins.csv" in file.headers["Content-Disposition"]


async def test_a_person_who_has_left_is_named_no_longer(shop: CustomerBackend, here: str, head: Visitor) -> None:
    for name in ("worker", "chief"):
        await shop.sign_in(name)
    shop.trade.world.connection.execute(
        "UPDATE users SET name = 'Will Work', email_verified_at = now() WHERE id = %s", (shop.id_of("worker"),)
    )
    await shop.remove("worker")

    page = await head.open(here)
    file = await head.open(f"{here}/sign-ins.csv")
    found = await head.open(f"{here}?person=worker@example.com")

    assert [one.person for one in listed(page.text)] == ["chief", OUTSIDE]
    assert listed(found.text) == []
    for text in (page.text, file.text):
        assert "worker@example.com" not in text
        assert "Will Work" not in text
        assert str(shop.id_of("worker")) not in text

    # A person who comes back is named for what they do from then on.
    shop.trade.pass_time(timedelta(minutes=5))
    shop.trade.world.member(shop.trade.customer.organization_id, shop.id_of("worker"))
    await shop.sign_in("worker")

    for query, people in (("", ["worker", "chief", OUTSIDE]), ("?person=worker@example.com", ["worker"])):
        assert [one.person for one in listed((await head.open(f"{here}{query}")).text)] == people, query


async def test_a_product_that_begins_anew_has_none_of_the_sign_ins_before(
    shop: CustomerBackend, here: str, head: Visitor
) -> None:
    await shop.sign_in("worker")
    assert (await shop.trade.at_customer("DELETE")).status in {200, 204}
    ended = [await head.open(one) for one in (here, f"{here}/sign-ins.csv")]
    await shop.trade.offer()
    offered = [await head.open(one) for one in (here, f"{here}/sign-ins.csv")]
    await shop.trade.accept()
    begun = await head.open(here)
    await shop.sign_in("chief")

    assert [page.status for page in (*ended, *offered)] == [404] * 4
    assert listed(begun.text) == []
    for query in ("", "?outcome=succeeded"):
        assert [one.person for one in listed((await head.open(f"{here}{query}")).text)] == ["chief"], query
    assert listed((await head.open(f"{here}?person=worker@example.com")).text) == []


async def test_a_paused_product_has_its_sign_ins(shop: CustomerBackend, here: str, head: Visitor) -> None:
    await shop.sign_in("worker")
    await shop.trade.change_product(paused=True)
    await shop.sign_in("worker")

    assert [one.outcome for one in listed((await head.open(here)).text)] == ["Refused", "Signed in"]


async def test_another_customer_and_the_vendor_see_none_of_them(
    shop: CustomerBackend, here: str, head: Visitor, browser_of: Callable[[str], Awaitable[Visitor]]
) -> None:
    world, trade = shop.trade.world, shop.trade
    gamma = world.team("gamma")
    gamma.add("gamma-head", "owner")
    world.member(gamma.organization_id, shop.id_of("worker"))
    world.customer(trade.service, gamma.organization_id)
    for customer in ("beta", "beta", "gamma"):
        assert (await shop.sign_in("worker", customer=customer)).status == 200
    other, owner = await browser_of("gamma-head"), await browser_of("owner")

    for query in ("", "?outcome=succeeded", "?person=worker@example.com"):
        assert len(listed((await head.open(f"{here}{query}")).text)) == 2, query
        assert len(listed((await other.open(f"{at(trade, 'gamma')}{query}")).text)) == 1, query
        for visitor, organization in ((owner, "acme"), (owner, "beta"), (other, "beta"), (head, "gamma")):
            for path in (at(trade, organization), f"{at(trade, organization)}/sign-ins.csv"):
                refused = await visitor.open(f"{path}{query}")
                # An organization that is not the reader's own is refused before the product is looked for.
                assert refused.status == (404 if organization == "acme" else 403), path
                assert listed(refused.text) == []


async def test_it_takes_the_capability_of_the_log_of_sign_ins(
    shop: CustomerBackend, here: str, browser_of: Callable[[str], Awaitable[Visitor]]
) -> None:
    world, customer = shop.trade.world, shop.trade.customer
    await shop.sign_in("worker")
    world.custom_role(customer.organization_id, "buyer", "products.manage")
    world.custom_role(customer.organization_id, "reader", "end_users.view")
    for role in ("buyer", "reader"):
        customer.add(role, role)
    buyer, reader = [await browser_of(name) for name in ("buyer", "reader")]

    page = await buyer.open(here.removesuffix("/sign-ins"))

    assert "You cannot see the sign-ins of your people." in page.text
    assert "<code>end_users.view</code>" in page.text
    assert f'href="{here}"' not in page.text
    for path in (here, f"{here}/sign-ins.csv"):
        refused = await buyer.open(path)
        assert refused.status == 403, path
        assert "worker@example.com" not in refused.text
    assert [one.person for one in listed((await reader.open(here)).text)] == ["worker"]


async def test_the_page_speaks_german(shop: CustomerBackend, here: str, head: Visitor) -> None:
    await shop.sign_in("worker")
    await close(shop)
    await shop.sign_in("worker")

    page = await head.switch(await head.open(here), "de")

    assert "Die Anmeldungen Ihrer Leute bei diesem Produkt" in page.text
    assert [one.outcome for one in listed(page.text)] == ["Abgelehnt", "Angemeldet"]
