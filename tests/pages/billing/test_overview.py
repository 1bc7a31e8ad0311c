"""The pages of billing: what an organization may have, what it sells, and the lists behind the numbers."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from html import unescape
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.services.subscriptions import FEW_USERS_MAX
from core.services import sales
from entrypoints.installation import Installation
from tests.application import serving
from tests.pages.billing.test_sandbox import production
from tests.shown_text import shows
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/organizations/acme/billing"
HOSTILE = "<b onclick=alert(1)>Gold</b>"


class Shop:
    """An organization that sells a plan in US dollars and one in yen."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.team: Team = world.team()
        self.team.add("ann", "owner")
        self.service = world.service(self.team.organization_id, "shop")
        self.gold: UUID = world.plan(self.team.organization_id, self.service.id, HOSTILE)
        self.yen: UUID = world.plan(self.team.organization_id, self.service.id, "Yen")
        world.rows("UPDATE plans SET currency = 'jpy', price_cents = 1234567 WHERE id = %s RETURNING id", self.yen)
        self.subscriptions: dict[str, UUID] = {}

    def sell(self, name: str, plan_id: UUID, status: str = "active") -> UUID:
        """Sell a plan to a new end user of the service."""
        user_id = self.team.user(name)
        self.world.link(self.team.organization_id, self.service.id, user_id)
        self.subscriptions[name] = self.world.subscription(plan_id, user_id, status)
        return self.subscriptions[name]

    def set(self, name: str, status: str) -> None:
        """Change the status of a subscription."""
        self.world.rows(
            "UPDATE subscriptions SET status = %s, updated_at = %s WHERE id = %s RETURNING id",
            *(status, self.world.clock(), self.subscriptions[name]),
        )


@pytest.fixture
def shop(world: World) -> Shop:
    """An organization that sells."""
    return Shop(world)


@pytest.fixture
async def ann(shop: Shop, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


def total_of(text: str) -> int:
    """Return how many rows a list says it has."""
    [found] = re.findall(r'<p class="total">(\w+) found</p>', text)
    return 1 if found == "One" else int(found)


@pytest.mark.parametrize("days", [30, 90, 365])
async def test_each_number_equals_the_total_of_the_list_that_it_leads_to(shop: Shop, ann: Visitor, days: int) -> None:
    for number in range(4):
        shop.sell(f"early{number}", shop.gold)
    shop.world.clock.advance(timedelta(days=25))
    shop.sell("yuki", shop.yen, "past_due")
    shop.set("early0", "cancelled")
    shop.set("early1", "expired")
    shop.world.clock.advance(timedelta(days=2))
    shop.sell("late", shop.gold)
    await ann.sign_in("ann@example.com")

    text = (await ann.open(f"{PAGE}?days={days}")).text
    links = re.findall(r'<a href="([^"]+)"><title>[^<]*: (\d+)<', text)
    links += re.findall(r'<a href="([^"]+/sold\?[^"]+)">(\d+)<', text)

    lists = {kind: [one for one in links if f"{kind}" in one[0]] for kind in ("kind=begun", "kind=ended", "/sold?")}
    assert sum(int(number) for _, number in lists["kind=begun"]) == 6
    assert sum(int(number) for _, number in lists["kind=ended"]) == 2
    assert len(lists["/sold?"]) >= 4
    for link, number in links:
        assert total_of((await ann.open(unescape(link))).text) == int(number)


async def test_prices_are_written_as_their_currencies_are(shop: Shop, ann: Visitor) -> None:
    shop.sell("eli", shop.gold)
    shop.sell("yuki", shop.yen)

    english = (await ann.open(PAGE)).text
    german = (await ann.switch(await ann.open(PAGE), "de")).text

    assert "9.90 USD" in english
    assert "1,234,567 JPY" in english
    assert HOSTILE not in english
    assert "Gold" in english
    assert "9,90 USD" in german
    assert "1.234.567 JPY" in german


async def test_an_organization_that_sells_nothing_reads_how_to_begin(shop: Shop, ann: Visitor) -> None:
    text = (await ann.open(PAGE)).text

    assert "Nothing is sold yet." in text
    assert 'href="/app/organizations/acme/services"' in text
    assert "What you sell" not in text
    assert "<meter" in text
    assert "Members: 1 of" in text


async def test_what_was_sold_before_the_period_counts_from_its_first_day_on(shop: Shop, ann: Visitor) -> None:
    shop.sell("eli", shop.gold)
    shop.world.clock.advance(timedelta(days=40))
    await ann.sign_in("ann@example.com")

    days = list(csv.DictReader((await ann.open(f"{PAGE}/numbers.csv?days=30")).text.splitlines()))
    text = (await ann.open(PAGE)).text

    assert len(days) == 30
    assert {one["monthly_revenue"] for one in days} == {"9.90"}
    assert "+0 / −0" in text  # noqa: RUF001 - the sign of the page


async def test_subscriptions_are_found_by_every_filter(
    shop: Shop, ann: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.sell("eli", shop.gold)
    shop.sell("elisa", shop.yen, "past_due")
    shop.sell("fay", shop.gold, "cancelled")

    async def found(query: str) -> int:
        return total_of((await ann.open(f"{PAGE}/sold?{query}")).text)

    # However many people have the part in their address.
    for most in (FEW_USERS_MAX, 1):
        monkeypatch.setattr("adapters.postgres.services.subscriptions.FEW_USERS_MAX", most)
        assert await found("search=%20ELI") == 2
        assert await found("search=elisa") == 1
        assert await found("search=ann") == 0
        assert await found(f"search=eli&plan={shop.gold}") == 1
    assert await found("status=live") == 2
    assert await found("status=past_due") == 1
    assert await found("service=shop&status=cancelled") == 1
    assert await found("service=desk") == 0


async def test_without_a_payment_provider_the_page_says_so(
    shop: Shop, ann: Visitor, installation: Installation
) -> None:
    closed = replace(ann, client=serving(production(installation)))

    page = await closed.open(PAGE)
    refused = await closed.submit(page, f"{PAGE}/portal")

    assert "This is a sandbox" not in page.text
    assert refused.status == 500
    assert "this installation has no payment provider" in refused.text
    assert "What you have and pay for" in refused.text


async def test_the_portal_opens(shop: Shop, ann: Visitor) -> None:
    opened = await ann.submit(await ann.open(PAGE), f"{PAGE}/portal")

    assert re.search(r'href="[^"]*/sandbox/portal/[^"]+"', opened.text)
    assert shop.world.value("SELECT count(*) FROM audit_entries WHERE action = 'billing.portal_opened'") == 1


async def test_a_role_without_billing_sees_nothing_of_it(shop: Shop, world: World, visitor: Visitor) -> None:
    shop.team.add("bob", "member")
    subscription = shop.sell("eli", shop.gold)
    await visitor.sign_in("bob@example.com")

    for path in ("", "/sold", f"/sold/{subscription}", "/sold-changes", "/numbers.csv", "/sold/sold.csv"):
        assert (await visitor.open(f"{PAGE}{path}")).status == 403
    text = (await visitor.open("/app/organizations/acme/people")).text
    assert "<code>billing.manage</code>" in text


async def test_a_role_that_does_not_see_end_users_sees_no_addresses(shop: Shop, visitor: Visitor) -> None:
    shop.team.custom_role("clerk", "billing.manage")
    shop.team.add("hal", "clerk")
    subscription = shop.sell("eli", shop.gold)
    await visitor.sign_in("hal@example.com")

    pages = ("/sold", f"/sold/{subscription}", f"/sold/{subscription}/cancel", "/sold-changes")
    for path in (*pages, "/sold/sold.csv", "/sold-changes/sold-changes.csv", "/sold?search=eli"):
        answer = await visitor.open(f"{PAGE}{path}")
        assert answer.status == 200
        assert "eli@example.com" not in answer.text
    # What is no filter for this role finds all.
    assert total_of((await visitor.open(f"{PAGE}/sold?search=nobody")).text) == 1
    assert "<code>end_users.view</code>" in (await visitor.open(f"{PAGE}/sold")).text


async def test_what_is_deleted_and_who_has_left_stay_in_the_changes_without_a_name(
    shop: Shop, ann: Visitor, world: World
) -> None:
    shop.sell("eli", shop.gold)
    shop.sell("fay", shop.gold)
    world.rows("DELETE FROM service_users WHERE user_id = %s RETURNING user_id", shop.team.ids["eli"])

    text = (await ann.open(f"{PAGE}/sold-changes")).text
    sold = (await ann.open(f"{PAGE}/sold")).text

    assert "A former user" in text
    assert "eli@example.com" not in text + sold
    assert "fay@example.com" in text
    assert "A former user" in sold

    world.rows("DELETE FROM services WHERE id = %s RETURNING id", shop.service.id)
    after = await ann.open(f"{PAGE}/sold-changes")
    overview = await ann.open(PAGE)

    assert after.status == overview.status == 200
    assert "A deleted plan" in after.text
    assert "A deleted service" in after.text
    assert "A deleted plan" in overview.text
    assert total_of((await ann.open(f"{PAGE}/sold-changes?kind=ended")).text) == 2
    assert total_of((await ann.open(f"{PAGE}/sold-changes?plan={shop.gold}")).text) == 4


async def test_the_files_have_what_the_page_shows_and_no_formula(shop: Shop, ann: Visitor, world: World) -> None:
    world.rows("UPDATE plans SET name = '=cmd()' WHERE id = %s RETURNING id", shop.gold)
    shop.sell("eli", shop.gold)
    shop.sell("fay", shop.gold)
    shop.set("fay", "cancelled")

    def rows(text: str) -> list[dict[str, str]]:
        return list(csv.DictReader(text.splitlines()))

    days = rows((await ann.open(f"{PAGE}/numbers.csv")).text)
    plans = rows((await ann.open(f"{PAGE}/numbers.csv?of=plans")).text)
    counts = rows((await ann.open(f"{PAGE}/numbers.csv?of=changes&days=90")).text)
    sold = rows((await ann.open(f"{PAGE}/sold/sold.csv?status=live")).text)
    changes = rows((await ann.open(f"{PAGE}/sold-changes/sold-changes.csv")).text)

    assert (days[-1]["subscriptions"], days[-1]["monthly_revenue"], days[-1]["currency"]) == ("1", "9.90", "usd")
    assert (plans[0]["plan"], plans[0]["begun"], plans[0]["ended"]) == ("'=cmd()", "2", "1")
    assert (len(counts), counts[-1]["begun"], counts[-1]["ended"]) == (90, "2", "1")
    assert [one["email"] for one in sold] == ["eli@example.com"]
    assert sorted(one["monthly_revenue"] for one in changes) == ["-9.90", "9.90", "9.90"]


@pytest.mark.parametrize(
    "query",
    [
        *("since=x&until=0001-01-01", "until=9999-12-31", "kind=x&plan=x&service=x", "after=x"),
        *("since=20260102", "plan=00000000-0000-0000-0000-000000000000"),
    ],
)
async def test_odd_values_in_the_address_are_no_failure(shop: Shop, ann: Visitor, query: str) -> None:
    for path in ("", "/sold-changes", "/sold", "/sold-changes/sold-changes.csv", "/sold/sold.csv", "/numbers.csv"):
        assert (await ann.open(f"{PAGE}{path}?{query}")).status == 200


async def test_a_long_list_goes_on_and_stays_small(shop: Shop, ann: Visitor) -> None:
    for number in range(60):
        shop.sell(f"{'x' * 50}{number:02}", shop.gold)

    for path in ("/sold", "/sold-changes"):
        page, seen = f"{PAGE}{path}", list[str]()
        while page:
            answer = await ann.open(page)
            assert len(answer.text.encode()) < 40 * 1024
            seen += re.findall(r"(x{50}\d\d)@example\.com</a>", answer.text)
            links = re.findall(r'href="([^"]+after=[^"]+)"', answer.text)
            page = unescape(links[0]) if links else ""
            assert total_of(answer.text) == 60
        assert len(seen) == len(set(seen)) == 60


async def test_nothing_of_another_organization_is_shown(shop: Shop, ann: Visitor, world: World) -> None:
    globex = world.organization("globex")
    service = world.service(globex, "shop")
    plan = world.plan(globex, service.id, "Foreign")
    eve = world.user("eve@example.com")
    world.link(globex, service.id, eve)
    foreign = world.subscription(plan, eve)

    for path in (f"/sold/{foreign}", f"/sold/{foreign}/cancel"):
        assert (await ann.open(f"{PAGE}{path}")).status == 404
    assert total_of((await ann.open(f"{PAGE}/sold?plan={plan}")).text) == 0
    assert total_of((await ann.open(f"{PAGE}/sold-changes?plan={plan}")).text) == 0
    assert not shows((await ann.open(f"{PAGE}/sold")).text, "Foreign")


async def test_the_page_of_many_days_stays_small(
    shop: Shop, ann: Visitor, transact: Callable[..., Any], world: World
) -> None:
    for number in range(30):
        plan = world.plan(shop.team.organization_id, shop.service.id, f"{'n' * 40}{number}")
        currency = "".join(chr(ord("a") + (number * step) % 26) for step in (1, 3, 7))
        world.rows("UPDATE plans SET currency = %s WHERE id = %s RETURNING id", currency, plan)
        shop.sell(f"buyer{number}", plan)
    while transact(sales.add_up, 50):
        pass

    for days in (30, 90, 365):
        answer = await ann.open(f"{PAGE}?days={days}")
        assert len(answer.text.encode()) < 40 * 1024, days
