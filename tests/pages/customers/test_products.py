"""The pages of the products of an organization: offers, who may use a product, and what its vendor sees."""

from __future__ import annotations

import csv
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from core.organizations.choices import CHOICES_MAX
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

    async def test_a_product_is_assigned_one_by_one_to_what_is_chosen(
        self, trade: Trade, groups: Directory, head: Visitor
    ) -> None:
        await trade.begin()
        here = page_of(trade)
        group = await groups.request("POST", "/Groups", {"displayName": "Readers"})
        [(worker,)] = trade.world.rows("SELECT id FROM users WHERE email = 'worker@example.com'")
        page = await head.open(here)

        subjects = [f"user:{worker}", f"group:{group.json['id']}", "role:admin", "everyone"]

        for subject, name in zip(
            subjects, ("worker@example.com", "Readers", "admin", "Every active member"), strict=True
        ):
            assert f'<option value="{subject}">{name}</option>' in page.text
            page = await head.submit(page, f"{here}/assignments", {"subject": subject, "roles": "editor"})
            assert "The assignment is saved." in page.text, subject
        assert await assigned(trade) == [{"subject": subject, "roles": ["editor"]} for subject in subjects]
        for text in (">worker@example.com<", ">Group Readers<", ">Role admin<", ">Every active member<"):
            assert text in page.text, text
        assert f">{worker}<" not in page.text

        again = await head.submit(page, f"{here}/assignments", {"subject": subjects[0]})
        removal = {"subject": "everyone"}
        removed = await head.submit(again, f"{here}/assignments/remove", removal)
        assert "The assignment is removed." in removed.text
        assert await assigned(trade) == [
            {"subject": subjects[1], "roles": ["editor"]},
            {"subject": "role:admin", "roles": ["editor"]},
            {"subject": subjects[0], "roles": []},
        ]

    async def test_what_no_assignment_can_name_is_shown_again(self, trade: Trade, head: Visitor) -> None:
        await trade.begin()
        here = page_of(trade)
        page = await head.open(here)

        [(stranger,)] = trade.world.rows("SELECT id FROM users WHERE email = 'owner@example.com'")

        for fields, text in (
            ({"subject": f"user:{stranger}"}, "is no role or group of your organization, and no active member"),
            ({"subject": "everyone", "roles": "owner"}, "The service has no role owner."),
            ({"subject": "all"}, "A subject is everyone"),
            ({}, "Choose who gets it."),
        ):
            shown = await head.submit(page, f"{here}/assignments", fields)
            assert shown.status == 400, fields
            assert text in shown.text, fields
            assert '<select id="subject" name="subject" required aria-describedby="subject-problem"' in shown.text
            chosen = re.findall(r'<option value="([^"]*)" selected', shown.text.partition('id="subject"')[2])
            assert chosen == [fields["subject"]] if fields.get("subject") == "everyone" else not chosen, fields
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
        assert '<option value="role:admin">admin</option>' in page.text
        for one in subjects:
            sent = await buyer.submit(page, f"{page_of(trade)}/assignments", {"subject": str(one["subject"])})
            assert sent.status == 403, one
        token = re.findall(r'name="form_token" value="([^"]+)"', page.text)[0]
        assert (await buyer.post(f"{page_of(trade)}/groups", {"form_token": token, "group": group})).status == 403
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

    async def test_groups_are_shown_and_hidden(self, trade: Trade, groups: Directory, head: Visitor) -> None:
        await trade.begin()
        here = page_of(trade)
        without = await head.open(here)
        group = (await groups.request("POST", "/Groups", {"displayName": "Readers"})).json["id"]
        page = await head.open(here)

        refused = await head.submit(page, f"{here}/groups")
        unknown = await head.submit(page, f"{here}/groups", group=str(trade.service.client_id))
        shown = await head.submit(page, f"{here}/groups", group=group)
        product = (await trade.at_customer("GET")).json
        hidden = await head.submit(shown, f"{here}/groups/remove")
        damaged = await head.submit(shown, f"{here}/groups/remove", group="Readers")

        assert "Your directory has sent no group yet." in without.text
        assert f'<option value="{group}">Readers</option>' in page.text
        assert (refused.status, unknown.status) == (400, 400)
        assert "Choose a group." in refused.text
        assert "Your directory has no group with one of these ids." in unknown.text
        assert product["groups"] == [group]
        assert "Readers" in shown.text
        assert "There is no group yet" in hidden.text
        assert damaged.status == 400


class TestSearch:
    async def test_of_many_members_a_search_finds_some_and_keeps_what_the_form_holds(
        self, trade: Trade, groups: Directory, head: Visitor
    ) -> None:
        await trade.begin()
        here = page_of(trade)
        for number in range(CHOICES_MAX):
            trade.customer.add(f"person-{number:02}", "member")
        hostile = '<b onclick="x">"'
        group = (await groups.request("POST", "/Groups", {"displayName": hostile})).json["id"]
        [(gone,)] = trade.world.rows(
            "UPDATE memberships m SET suspended_at = m.created_at FROM users u"
            " WHERE u.id = m.user_id AND u.email = 'person-11@example.com' RETURNING u.id"
        )

        page = await head.open(here)
        found = await head.open(f"{here}?subject=role:admin&find_subject=PERSON-1&roles=editor")
        many = await head.open(f"{here}?find_subject=example.com")
        nothing = await head.open(f"{here}?find_subject=owner@")
        by_name = await head.open(f"{here}?find_subject=onclick")
        again = await head.submit(found, f"{here}/assignments", {"subject": "", "find_subject": "person-12"})

        assert 'formmethod="get"' in page.text
        assert "person-01@example.com" not in page.text
        assert 'type="radio" value="everyone"' in page.text
        assert found.text.count('type="radio" value="user:') == 9
        assert f"user:{gone}" not in found.text
        assert 'type="radio" value="role:admin" checked' in found.text
        assert 'type="checkbox" value="editor" checked' in found.text
        assert "There are more." in many.text
        assert "Nothing that you may see has this" in nothing.text
        assert f'value="group:{group}"' in by_name.text
        assert "<b onclick" not in by_name.text
        assert again.status == 400
        assert again.text.count('type="radio" value="user:') == 1
        # The token stands on the button of the form alone, so that a search does not send it.
        form = found.text.partition(f'action="{here}/assignments"')[2].partition("</form>")[0]
        assert re.findall(r"<(\w+)[^>]* name=\"form_token\"", form) == ["button"]

    async def test_who_sees_no_members_finds_none(
        self, trade: Trade, groups: Directory, browser_of: Callable[[str], Awaitable[Visitor]]
    ) -> None:
        await trade.begin()
        trade.world.custom_role(trade.customer.organization_id, "buyer", "products.manage")
        trade.customer.add("buyer", "buyer")
        await groups.request("POST", "/Groups", {"displayName": "Readers"})

        page = await (await browser_of("buyer")).open(f"{page_of(trade)}?find_subject=worker&find_group=Readers")

        assert not shows(page.text, "worker@example.com")
        assert not shows(page.text, ">Readers<")
        assert "Adding a group needs <code>org.members.view</code>." in page.text


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
