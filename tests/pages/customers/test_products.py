"""The pages of the products of an organization: offers, who may use a product, and what its vendor sees."""

from __future__ import annotations

import csv
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.shown_text import shows
from tests.world.directory import Directory
from tests.world.trade import Trade
from tests.world.visitor import Visitor

PRODUCTS = "/app/organizations/beta/products"


@pytest.fixture
async def head(browser_of: Callable[[str], Awaitable[Visitor]]) -> Visitor:
    """The browser of the owner of the customer."""
    return await browser_of("head")


def page_of(trade: Trade) -> str:
    """Return the path of the page of the product."""
    return f"{PRODUCTS}/{trade.service.client_id}"


async def assigned(trade: Trade) -> list[dict[str, Any]]:
    """Return the assignments of the product, as programs read them."""
    return (await trade.at_customer("GET")).json["assignments"]


class TestList:
    async def test_an_offer_is_announced_and_accepted(self, trade: Trade, head: Visitor) -> None:
        await trade.offer()

        page = await head.open(PRODUCTS)
        offered = await head.open(f"{PRODUCTS}?state=offered")
        accepted = await head.submit(offered, PRODUCTS)

        assert "One offer waits for your answer." in page.text
        assert "One offer waits" not in offered.text
        assert "Your organization uses this product now." in accepted.text
        assert (await trade.at_customer("GET")).json["state"] == "active"

    async def test_an_offer_is_declined_after_a_question(self, trade: Trade, head: Visitor) -> None:
        await trade.offer()

        asked = await head.follow(await head.open(PRODUCTS), f"{page_of(trade)}/end")
        declined = await head.submit(asked, f"{page_of(trade)}/end")

        assert "Decline Shop?" in asked.text
        assert "This organization uses no product of another one yet." in declined.text
        assert (await trade.at_vendor("GET")).json["total"] == 0

    async def test_products_are_found_by_name_vendor_and_state(self, trade: Trade, head: Visitor) -> None:
        await trade.begin()

        for query, found in (
            ("search=SHO", 1),
            ("search=acm", 1),
            ("search=beta", 0),
            ("state=active", 1),
            ("state=paused", 0),
            ("state=offered", 0),
            ("state=none", 1),
        ):
            page = await head.open(f"{PRODUCTS}?{query}")
            assert page.text.count('<tr role="row">') == found + (found > 0), query
            assert ("No product has this in its name" in page.text) is (found == 0), query
        file = await head.open(f"{PRODUCTS}/products.csv")
        [row] = csv.DictReader(file.text.splitlines())
        assert (row["client_id"], row["vendor"], row["state"]) == (str(trade.service.client_id), "acme", "active")

    async def test_a_long_list_goes_on(self, trade: Trade, head: Visitor) -> None:
        for number in range(26):
            service = trade.world.service(trade.vendor.organization_id, f"shop-{number}")
            trade.world.customer(service, trade.customer.organization_id)

        page = await head.open(PRODUCTS)
        [following] = re.findall(r'href="([^"]+after=[^"]+)"', page.text)

        assert "26 found" in page.text
        assert (await head.open(following.replace("&amp;", "&"))).text.count('<tr role="row">') == 2

    async def test_an_open_product_begins_by_its_client_id(self, trade: Trade, head: Visitor) -> None:
        client_id = str(trade.service.client_id)
        page = await head.open(PRODUCTS)

        unknown = await head.submit(page, PRODUCTS, client_id=client_id)
        invalid = await head.submit(page, PRODUCTS, client_id="shop")
        trade.set_policy("any")
        begun = await head.submit(page, PRODUCTS, client_id=f" {client_id} ")
        again = await head.submit(page, PRODUCTS, client_id=client_id)

        assert unknown.status == 404
        assert "Your organization has no such product" in unknown.text
        assert f'value="{client_id}"' in unknown.text
        assert "A client id is like" in invalid.text
        assert 'value="shop"' in invalid.text
        assert "Your organization uses this product now." in begun.text
        assert again.status == 409
        assert "Your organization uses this product already." in again.text

    async def test_members_see_the_list_and_closed_controls(
        self, trade: Trade, browser_of: Callable[[str], Awaitable[Visitor]]
    ) -> None:
        await trade.offer()
        worker = await browser_of("worker")

        offered = await worker.open(PRODUCTS)
        await trade.accept()
        await trade.change_product(assignments=[{"subject": "everyone", "roles": []}])
        page = await worker.open(page_of(trade))

        for text in (offered.text, page.text):
            assert "products.manage" in text
            assert f'method="post" action="{PRODUCTS}' not in text
            assert "disabled" in text
        for path in ("/pause", "/end"):
            assert (await worker.open(page_of(trade) + path)).status == 403
        token = re.findall(r'name="form_token" value="([^"]+)"', page.text)[0]
        for path in ("", "/sight", "/pause", "/resume", "/end", "/assignments", "/assignments/remove", "/groups"):
            sent = await worker.post(page_of(trade) + path, {"form_token": token})
            assert sent.status == 403, path

    async def test_another_tenant_has_no_such_product(
        self, trade: Trade, browser_of: Callable[[str], Awaitable[Visitor]]
    ) -> None:
        await trade.begin()
        gamma = trade.world.team("gamma")
        gamma.add("other", "owner")
        other = await browser_of("other")
        own = f"/app/organizations/gamma/products/{trade.service.client_id}"

        listed = await other.open("/app/organizations/gamma/products")
        token = re.findall(r'name="form_token" value="([^"]+)"', listed.text)[0]

        assert not shows(listed.text, "Shop")
        assert (await other.open(page_of(trade))).status == 403
        for path in ("", "/pause", "/end"):
            assert (await other.open(own + path)).status == 404, path
        for path in ("/pause", "/end", "/sight", "/assignments/remove"):
            assert (await other.post(own + path, {"form_token": token})).status == 404, path
        assert (await trade.at_customer("GET")).json["state"] == "active"


class TestAccess:
    async def test_who_may_use_a_product_is_chosen(self, trade: Trade, head: Visitor) -> None:
        await trade.begin()
        here = page_of(trade)

        page = await head.open(here)
        saved = await head.submit(page, here, access="assigned")
        refused = await head.submit(page, here, access="none")

        assert 'value="members" selected' in page.text
        assert "members use it without a role of the product" in page.text
        assert 'value="assigned" selected' in saved.text
        assert "There is no assignment yet, so no member may use it." in saved.text
        assert refused.status == 400
        assert "Choose who may use the product." in refused.text

    async def test_a_product_is_assigned_one_by_one_to_people_by_address(
        self, trade: Trade, groups: Directory, head: Visitor
    ) -> None:
        await trade.begin()
        here = page_of(trade)
        group = await groups.request("POST", "/Groups", {"displayName": "Readers"})
        [(worker,)] = trade.world.rows("SELECT id FROM users WHERE email = 'worker@example.com'")
        page = await head.open(here)

        for fields in (
            {"whom": "user", "named": "Worker@Example.com", "roles": "editor"},
            {"whom": "group", "named": "readers", "roles": "viewer"},
            {"whom": "role:admin"},
            {"whom": "everyone", "named": "left over"},
        ):
            page = await head.submit(page, f"{here}/assignments", fields)
            assert "The assignment is saved." in page.text, fields
        assert await assigned(trade) == [
            {"subject": f"user:{worker}", "roles": ["editor"]},
            {"subject": f"group:{group.json['id']}", "roles": ["viewer"]},
            {"subject": "role:admin", "roles": []},
            {"subject": "everyone", "roles": []},
        ]
        for text in (">worker@example.com<", ">Group Readers<", ">Role admin<", ">Every active member<"):
            assert text in page.text, text
        assert f">{worker}<" not in page.text

        again = await head.submit(page, f"{here}/assignments", {"whom": "user", "named": "worker@example.com"})
        removal = {"subject": "everyone"}
        removed = await head.submit(again, f"{here}/assignments/remove", removal)
        assert "The assignment is removed." in removed.text
        assert await assigned(trade) == [
            {"subject": f"group:{group.json['id']}", "roles": ["viewer"]},
            {"subject": "role:admin", "roles": []},
            {"subject": f"user:{worker}", "roles": []},
        ]

    async def test_what_no_assignment_can_name_is_shown_again(self, trade: Trade, head: Visitor) -> None:
        await trade.begin()
        here = page_of(trade)
        page = await head.open(here)

        for fields, text in (
            ({"whom": "user", "named": "owner@example.com"}, "no active member with this address"),
            ({"whom": "user", "named": "worker"}, "This is not a valid email address."),
            ({"whom": "group", "named": "Readers"}, "Your directory has no group with this name."),
            ({"whom": "group", "named": " "}, "Your directory has no group with this name."),
            ({"whom": "role:helpdesk", "named": "kept"}, "is no role or group of your organization"),
            ({"whom": "everyone", "named": "kept", "roles": "owner"}, "The service has no role owner."),
            ({"whom": "all", "named": "kept"}, "Choose who gets the product."),
        ):
            shown = await head.submit(page, f"{here}/assignments", fields)
            assert shown.status == 400, fields
            assert text in shown.text, fields
            assert f'name="named" type="text" value="{fields["named"]}"' in shown.text, fields
        assert await assigned(trade) == []

    async def test_names_are_for_those_who_see_the_members(
        self, trade: Trade, groups: Directory, browser_of: Callable[[str], Awaitable[Visitor]]
    ) -> None:
        await trade.begin()
        trade.world.custom_role(trade.customer.organization_id, "buyer", "products.manage")
        trade.customer.add("buyer", "buyer")
        group = (await groups.request("POST", "/Groups", {"displayName": "Readers"})).json["id"]
        [(worker,)] = trade.world.rows("SELECT id FROM users WHERE email = 'worker@example.com'")
        subjects = [{"subject": f"user:{worker}", "roles": []}, {"subject": f"group:{group}", "roles": []}]
        await trade.change_product(assignments=subjects, groups=[group])
        buyer = await browser_of("buyer")

        page = await buyer.open(page_of(trade))

        assert "worker@example.com" not in page.text
        assert not shows(page.text, "Readers")
        assert "A member" in page.text
        assert "org.members.view" in page.text
        for fields in ({"whom": "user", "named": "worker@example.com"}, {"whom": "group", "named": "Readers"}):
            assert (await buyer.submit(page, f"{page_of(trade)}/assignments", fields)).status == 403, fields
        shared = await buyer.submit(page, f"{page_of(trade)}/sight", {"shares_directory": "on"})
        assert shared.status == 403


class TestSight:
    async def test_what_the_vendor_sees_is_explained_and_set(self, trade: Trade, head: Visitor) -> None:
        await trade.begin()
        here = page_of(trade)

        page = await head.open(here)
        saved = await head.submit(page, f"{here}/sight", {"shares_directory": "on", "hidden": "on"})
        product = (await trade.at_customer("GET")).json
        cleared = await head.submit(saved, f"{here}/sight")

        assert "Never: other members, other products, your rules and your log." in page.text
        assert (product["shares_directory"], product["hidden"]) == (True, True)
        assert re.findall(r'name="(shares_directory|hidden)"[^>]* checked', saved.text) == [
            "shares_directory",
            "hidden",
        ]
        assert re.findall(r'name="(shares_directory|hidden)"[^>]* checked', cleared.text) == []

    async def test_groups_are_shown_and_hidden_by_name(self, trade: Trade, groups: Directory, head: Visitor) -> None:
        await trade.begin()
        here = page_of(trade)
        group = (await groups.request("POST", "/Groups", {"displayName": "Readers"})).json["id"]
        page = await head.open(here)

        refused = await head.submit(page, f"{here}/groups", group="Writers")
        shown = await head.submit(page, f"{here}/groups", group=" readers ")
        product = (await trade.at_customer("GET")).json
        hidden = await head.submit(shown, f"{here}/groups/remove")
        damaged = await head.submit(shown, f"{here}/groups/remove", group="Readers")

        assert refused.status == 400
        assert 'value="Writers"' in refused.text
        assert product["groups"] == [group]
        assert "Readers" in shown.text
        assert "There is no group yet" in hidden.text
        assert damaged.status == 400


class TestEnding:
    async def test_a_product_is_paused_after_numbers_and_resumed(self, trade: Trade, head: Visitor) -> None:
        await trade.begin()
        here = page_of(trade)

        asked = await head.follow(await head.open(here), f"{here}/pause")
        paused = await head.submit(asked, f"{here}/pause")
        resumed = await head.submit(paused, f"{here}/resume")

        assert "Sessions that end" in asked.text
        assert "Your organization has paused it." in paused.text
        assert "Your pause is lifted." in resumed.text

    async def test_the_pause_of_the_vendor_is_only_shown(self, trade: Trade, head: Visitor) -> None:
        customer_id = await trade.begin()
        await trade.at_vendor("PATCH", f"/{customer_id}", body={"paused": True})

        page = await head.open(page_of(trade))

        assert "until the vendor resumes it" in page.text
        assert "/resume" not in page.text

    async def test_a_product_is_ended_after_a_page_with_numbers(self, trade: Trade, head: Visitor) -> None:
        await trade.begin()
        await trade.change_product(assignments=[{"subject": "everyone", "roles": []}])
        here = page_of(trade)

        asked = await head.follow(await head.open(here), f"{here}/end")
        ended = await head.submit(asked, f"{here}/end")

        assert re.findall(r"<dd>(\d+)</dd>", asked.text) == ["0", "0", "1"]
        assert "It has ended." in ended.text
        assert (await head.open(here)).status == 404

    async def test_an_offer_has_no_settings(self, trade: Trade, head: Visitor) -> None:
        await trade.offer()
        here = page_of(trade)

        page = await head.open(here)
        token = re.findall(r'name="form_token" value="([^"]+)"', page.text)[0]

        assert "This product is offered to your organization" in page.text
        assert f'action="{here}"' not in page.text
        refused = await head.post(here, {"form_token": token, "access": "assigned"})
        assert refused.status == 400
        assert "Accept the offer first." in refused.text


async def test_the_pages_speak_german(trade: Trade, head: Visitor) -> None:
    await trade.begin()

    page = await head.switch(await head.open(PRODUCTS), "de")

    assert "Dienste anderer Organisationen, die diese Organisation nutzt." in page.text
    assert "Was der Anbieter sieht" in (await head.open(page_of(trade))).text
