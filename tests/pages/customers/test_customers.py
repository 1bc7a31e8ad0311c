"""The pages of the customers of a service, and of what the service says of them."""

from __future__ import annotations

import csv
import re
from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from tests.pages.platform.conftest import browser_of as browser_of_caller
from tests.shown_text import shows
from tests.world.callers import Caller, insert_callers
from tests.world.trade import Trade
from tests.world.visitor import Visitor
from tests.world.world import World, assert_refused

SHOP = "/app/organizations/acme/services/shop"
CUSTOMERS = f"{SHOP}/customers"
SETTINGS = f"{CUSTOMERS}/settings"
START = f"{SETTINGS}/start"
HOSTILE = "<b onclick=alert(1)>Beta</b>"


@pytest.fixture
async def owner(browser_of: Callable[[str], Awaitable[Visitor]]) -> Visitor:
    """The browser of the owner of the vendor."""
    return await browser_of("owner")


def listed(text: str) -> list[str]:
    """List the customers that a page shows, as it names them."""
    return re.findall(rf'<a href="{CUSTOMERS}/[0-9a-f-]{{36}}">([^<]+)</a>', text)


class TestList:
    async def test_customers_and_offers_are_found_by_name_slug_and_id(self, trade: Trade, owner: Visitor) -> None:
        await trade.begin(external_id="crm-7")
        await trade.offer("nowhere")
        trade.world.connection.execute("UPDATE organizations SET name = %s WHERE slug = 'beta'", (HOSTILE,))

        page = await owner.open(CUSTOMERS)

        assert page.status == 200
        assert HOSTILE not in page.text
        assert "2 found" in page.text
        assert "Isolate data by customer_id, because org is the vendor in every token." in page.text
        assert listed(page.text) == ["nowhere", "&lt;b onclick=alert(1)&gt;Beta&lt;/b&gt;"]
        for text, found in (("CRM-", 1), ("now", 1), ("onclick", 1), ("else", 0)):
            assert len(listed((await owner.open(f"{CUSTOMERS}?search={text}")).text)) == found, text
        assert "No customer has this" in (await owner.open(f"{CUSTOMERS}?search=else")).text

    async def test_a_long_list_goes_on_and_the_file_has_all(self, trade: Trade, owner: Visitor) -> None:
        for number in range(27):
            await trade.offer(f"nowhere-{number}")

        page = await owner.open(CUSTOMERS)
        file = await owner.open(f"{CUSTOMERS}/customers.csv?search=nowhere-1")

        [next_page] = re.findall(r'href="([^"]+after=[^"]+)"', page.text)
        rest = await owner.open(next_page.replace("&amp;", "&"))
        assert "27 found" in page.text
        assert len(listed(page.text)) == 25
        assert listed(rest.text) == ["nowhere-1", "nowhere-0"]
        assert "27 found" in rest.text
        rows = list(csv.DictReader(file.text.splitlines()))
        assert len(rows) == 11
        assert {row["state"] for row in rows} == {"offered"}

    async def test_without_customers_the_page_leads_to_the_settings(self, trade: Trade, owner: Visitor) -> None:
        trade.set_policy("none", "all")

        page = await owner.open(CUSTOMERS)

        assert "No organization may use this service yet." in page.text
        assert f'href="{SETTINGS}"' in page.text
        assert 'name="organization"' not in page.text

    async def test_the_pages_are_closed_to_members_and_name_the_missing_capability(
        self, trade: Trade, browser_of: Callable[[str], Awaitable[Visitor]]
    ) -> None:
        customer_id = await trade.begin()
        member = await browser_of("member")

        service = await member.open(SHOP)

        assert "Customers (needs <code>services.manage</code>)" in service.text
        for path in ("", "/customers.csv", "/settings", f"/{customer_id}", f"/{customer_id}/end"):
            assert (await member.open(CUSTOMERS + path)).status == 403, path

    async def test_another_tenant_sees_no_customer(
        self, trade: Trade, browser_of: Callable[[str], Awaitable[Visitor]]
    ) -> None:
        customer_id = await trade.begin()
        blog = trade.world.service(trade.customer.organization_id, "blog")
        trade.world.serve_customers(blog)
        head = await browser_of("head")

        assert (await head.open(f"{CUSTOMERS}/{customer_id}")).status == 403
        own = f"/app/organizations/beta/services/blog/customers/{customer_id}"
        for path in ("", "/pause", "/end"):
            assert (await head.open(own + path)).status == 404, path
        page = await head.open("/app/organizations/beta/services/blog/customers")
        token = re.findall(r'name="form_token" value="([^"]+)"', page.text)[0]
        for path in ("", "/pause", "/resume", "/end"):
            sent = await head.post(own + path, {"form_token": token, "external_id": "x"})
            assert sent.status == 404, path


class TestOffering:
    async def test_an_offer_shows_the_slug_and_never_whether_it_exists(self, trade: Trade, owner: Visitor) -> None:
        pages = []
        for slug in ("beta", "nowhere"):
            page = await owner.open(CUSTOMERS)
            pages.append(await owner.submit(page, CUSTOMERS, organization=f" {slug} ", external_id=f"id-{slug}"))

        there, not_there = (re.sub("[0-9a-f-]{36}|beta|nowhere", "", re.sub("value=.*", "", one.text)) for one in pages)
        assert "The service is offered." in pages[0].text
        assert not shows(pages[0].text.replace("beta", ""), "Beta")
        assert re.sub(r"<script.*?</script>", "", there) == re.sub(r"<script.*?</script>", "", not_there)
        rows = trade.world.rows("SELECT offered_slug, external_id FROM service_customers ORDER BY created_at, id")
        assert rows == [("beta", "id-beta"), ("nowhere", "id-nowhere")]

    async def test_a_refusal_shows_what_was_typed(self, trade: Trade, owner: Visitor) -> None:
        await trade.offer("nowhere", external_id="one")
        page = await owner.open(CUSTOMERS)

        for slug, external_id, text in (
            ("Be ta", "x", "The service was not offered."),
            ("acme", "x", "An organization is no customer of its own services."),
            ("nowhere", "x", "This service has been offered to this slug already."),
            ("elsewhere", "one", "has this external id already"),
        ):
            shown = await owner.submit(page, CUSTOMERS, organization=slug, external_id=external_id)
            assert shown.status in {400, 409}, slug
            assert text in shown.text, slug
            assert f'name="organization" type="text" value="{slug}"' in shown.text
            assert f'name="external_id" type="text" value="{external_id}"' in shown.text


class TestOne:
    async def test_a_customer_is_shown_with_who_uses_it(self, trade: Trade, owner: Visitor) -> None:
        customer_id = await trade.begin(external_id="crm-7")
        own = [{"subject": "everyone", "roles": ["viewer"]}]
        assert (await trade.vendor.request("owner", "PATCH", "/services/shop", body={"assignments": own})).status == 200
        [(worker,)] = trade.world.rows("SELECT id FROM users WHERE email = 'worker@example.com'")
        trade.world.connection.execute(
            """
            INSERT INTO customer_users (customer_id, organization_id, user_id, first_sign_in_at, last_sign_in_at)
            VALUES (%s, %s, %s, now(), now())
            """,
            (customer_id, trade.customer.organization_id, worker),
        )
        await trade.change_product(shares_directory=True)

        page = await owner.open(f"{CUSTOMERS}/{customer_id}")

        assert re.search(r"People who have signed in</dt>\s*<dd>1<", page.text)
        assert re.search(r"Sessions now</dt>\s*<dd>0<", page.text)
        assert "Yes: you also see people who may use the service" in page.text
        assert str(trade.customer.organization_id) not in page.text
        assert not shows(page.text, "worker")

    async def test_the_external_id_is_changed_and_removed(self, trade: Trade, owner: Visitor) -> None:
        customer_id = await trade.begin()
        await trade.offer("nowhere", external_id="taken")
        here = f"{CUSTOMERS}/{customer_id}"

        saved = await owner.submit(await owner.open(here), here, external_id="crm-8")
        refused = await owner.submit(saved, here, external_id="taken")
        removed = await owner.submit(refused, here, external_id=" ")

        assert "Your id of this customer is saved." in saved.text
        assert refused.status == 409
        assert 'value="taken"' in refused.text
        assert removed.status == 200
        rows = trade.world.rows("SELECT external_id FROM service_customers WHERE id = %s", UUID(customer_id))
        assert rows == [(None,)]

    async def test_a_customer_is_paused_after_numbers_and_resumed(self, trade: Trade, owner: Visitor) -> None:
        customer_id = await trade.begin()
        here = f"{CUSTOMERS}/{customer_id}"

        asked = await owner.follow(await owner.open(here), f"{here}/pause")
        paused = await owner.submit(asked, f"{here}/pause")
        resumed = await owner.submit(paused, f"{here}/resume")

        assert "Sessions that end" in asked.text
        assert "You have paused this customer." in paused.text
        assert "Your pause is lifted." in resumed.text
        assert (await trade.at_vendor("GET", f"/{customer_id}")).json["state"] == "active"

    async def test_the_pause_of_the_customer_is_not_the_vendors_to_lift(self, trade: Trade, owner: Visitor) -> None:
        customer_id = await trade.begin()
        await trade.change_product(paused=True)
        here = f"{CUSTOMERS}/{customer_id}"

        page = await owner.open(here)
        both = await owner.submit(await owner.open(f"{here}/pause"), f"{here}/pause")

        assert "Only the customer can resume it." in page.text
        assert f'action="{here}/resume"' not in page.text
        assert "until both pauses are lifted" in both.text

    async def test_a_customer_is_ended_after_a_page_with_numbers(self, trade: Trade, owner: Visitor) -> None:
        customer_id = await trade.begin()
        here = f"{CUSTOMERS}/{customer_id}"

        asked = await owner.follow(await owner.open(here), f"{here}/end")
        ended = await owner.submit(asked, f"{here}/end")

        assert "Sessions that end" in asked.text
        assert "It has ended." in ended.text
        assert "No organization uses this service yet." in ended.text
        assert (await owner.open(here)).status == 404

    async def test_an_offer_is_withdrawn_and_cannot_be_paused(self, trade: Trade, owner: Visitor) -> None:
        customer_id = await trade.offer("nowhere")
        here = f"{CUSTOMERS}/{customer_id}"

        page = await owner.open(here)
        refused = await owner.submit(await owner.open(f"{here}/pause"), f"{here}/pause")
        withdrawn = await owner.submit(await owner.open(f"{here}/end"), f"{here}/end")

        assert "The offer ends" in page.text
        assert f'href="{here}/pause"' not in page.text
        assert refused.status == 400
        assert "It has ended." in withdrawn.text
        assert_refused(await trade.at_vendor("GET", f"/{customer_id}"), 404, "NOT_FOUND")


class TestSettings:
    async def test_who_may_use_the_service_is_set(self, trade: Trade, owner: Visitor) -> None:
        trade.set_policy("none", "all")

        page = await owner.open(SETTINGS)
        saved = await owner.submit(page, SETTINGS, customers="any", individuals="none")
        open_to_all = await owner.submit(await owner.open(SETTINGS), SETTINGS, customers="none", individuals="none")
        await owner.submit(await owner.open(SETTINGS), SETTINGS, customers="any", individuals="others")
        back = await owner.submit(await owner.open(SETTINGS), SETTINGS, customers="none", individuals="none")

        assert 'value="others" selected' in page.text
        assert "The settings for customers are saved." in saved.text
        assert 'value="any" selected' in saved.text
        assert "Without customers this service would be open to everyone." in open_to_all.text
        assert 'value="none" selected' in back.text
        assert trade.world.rows("SELECT customers, individuals FROM services") == [("none", "all")]

    async def test_refusals_are_shown_with_what_was_chosen(self, trade: Trade, owner: Visitor) -> None:
        page = await owner.open(SETTINGS)
        await trade.begin()

        remain = await owner.submit(page, SETTINGS, customers="none", individuals="all")
        unknown = await owner.submit(page, SETTINGS, customers="all", individuals="all")
        nobody = await owner.submit(page, SETTINGS, customers="any", individuals="")
        old = await owner.submit(page, SETTINGS, {"seen_version": "old"}, customers="any", individuals="all")

        assert remain.status == 409
        assert "Organizations use this service as its customers." in remain.text
        assert "Choose which organizations may use the service." in unknown.text
        assert "Choose who may use the service without a customer." in nobody.text
        assert 'value="any" selected' in nobody.text
        assert "This service has been changed meanwhile." in old.text
        assert trade.world.rows("SELECT customers, individuals FROM services") == [("listed", "others")]

    async def test_the_page_that_begins_a_sign_in_is_set_and_removed(self, trade: Trade, owner: Visitor) -> None:
        page = await owner.open(SETTINGS)
        saved = await owner.submit(page, START, initiate_login_uri=" https://shop.example/sign-in ")
        removed = await owner.submit(saved, START, initiate_login_uri=" ")

        assert f"/auth/start/{trade.service.client_id}?customer=" in page.text
        assert "The page that begins a sign-in is saved." in saved.text
        assert 'name="initiate_login_uri" type="url" value="https://shop.example/sign-in"' in saved.text
        assert 'name="initiate_login_uri" type="url" value=""' in removed.text
        entries = [details["changes"] for *_, details in trade.world.audit_entries("service.updated")]
        assert entries == [
            {"initiate_login_uri": {"from": None, "to": "https://shop.example/sign-in"}},
            {"initiate_login_uri": {"from": "https://shop.example/sign-in", "to": None}},
        ]

    async def test_a_refused_page_that_begins_a_sign_in_is_shown_with_its_error(
        self, trade: Trade, owner: Visitor
    ) -> None:
        page = await owner.open(SETTINGS)

        wrong = await owner.submit(page, START, initiate_login_uri="http://shop.example/sign-in")
        old = await owner.submit(page, START, {"seen_version": "old"}, initiate_login_uri="https://shop.example/")

        assert wrong.status == 400
        assert "Nothing was saved. Correct the marked fields." in wrong.text
        assert re.search(
            r'value="http://shop.example/sign-in"[^>]* aria-describedby="[^"]*initiate_login_uri-problem"', wrong.text
        )
        assert "An address begins with https" in wrong.text
        assert old.status == 409
        assert "This service has been changed meanwhile." in old.text
        assert 'value="https://shop.example/"' in old.text
        assert trade.world.rows("SELECT initiate_login_uri FROM services") == [(None,)]

    async def test_an_impersonator_sees_where_sign_ins_begin_and_cannot_change_it(self, world: World) -> None:
        callers = insert_callers(world)
        world.service(callers.acme_id)

        page = await browser_of_caller(callers, Caller.IMPERSONATED).open(SETTINGS)

        assert re.search(r"Address of your page</dt>\s*<dd>Not set<", page.text)
        assert 'name="initiate_login_uri"' not in page.text

    async def test_roles_are_added_changed_and_removed_one_by_one(self, trade: Trade, owner: Visitor) -> None:
        added = await owner.submit(
            await owner.open(SETTINGS), f"{SETTINGS}/roles", name="auditor", title=HOSTILE, description="Reads."
        )
        role = f"{SETTINGS}/roles/auditor"
        changed = await owner.submit(await owner.follow(added, role), role, title="Auditor", description="")
        removed = await owner.submit(
            await owner.open(f"{SETTINGS}/roles/viewer/remove"), f"{SETTINGS}/roles/viewer/remove"
        )

        assert HOSTILE not in added.text
        assert "The role is saved." in changed.text
        assert "The role is removed" in removed.text
        [(roles,)] = trade.world.rows("SELECT roles FROM services")
        assert [(one["name"], one["title"], one["description"]) for one in roles] == [
            ("editor", "Editor", ""),
            ("auditor", "Auditor", ""),
        ]

    async def test_a_removal_says_how_many_assignments_end(self, trade: Trade, owner: Visitor) -> None:
        customer_id = await trade.begin()
        assigned = [
            {"subject": "everyone", "roles": ["editor"]},
            {"subject": "role:admin", "roles": ["editor", "viewer"]},
        ]
        await trade.change_product(assignments=assigned)
        own = [{"subject": "everyone", "roles": ["viewer"]}]
        assert (await trade.vendor.request("owner", "PATCH", "/services/shop", body={"assignments": own})).status == 200
        [(worker,)] = trade.world.rows("SELECT id FROM users WHERE email = 'worker@example.com'")
        trade.world.connection.execute(
            """
            INSERT INTO customer_users (customer_id, organization_id, user_id, first_sign_in_at, last_sign_in_at,
                                        own_role_ids)
            VALUES (%s, %s, %s, now(), now(), %s)
            """,
            (customer_id, trade.customer.organization_id, worker, [trade.role_ids["editor"]]),
        )

        shown = {
            name: re.findall(r"<dd>(\d+)</dd>", (await owner.open(f"{SETTINGS}/roles/{name}/remove")).text)
            for name in ("editor", "viewer")
        }

        assert shown == {"editor": ["2", "0", "1"], "viewer": ["1", "1", "0"]}

    async def test_roles_that_are_refused_are_shown_again(self, owner: Visitor) -> None:
        page = await owner.open(SETTINGS)

        taken = await owner.submit(page, f"{SETTINGS}/roles", name="editor", title="Other", description="d")
        invalid = await owner.submit(page, f"{SETTINGS}/roles", name="Ed itor", title="Other", description="")
        role = f"{SETTINGS}/roles/editor"
        untitled = await owner.submit(await owner.open(role), role, title=" ", description="kept")

        assert "has a role with this name already" in taken.text
        assert 'value="Other"' in taken.text
        assert invalid.status == 400
        assert 'value="Ed itor"' in invalid.text
        assert untitled.status == 400
        assert 'value="kept"' in untitled.text
        for path in ("", "/remove"):
            assert (await owner.open(f"{SETTINGS}/roles/unknown{path}")).status == 404
        gone = await owner.post(f"{SETTINGS}/roles/unknown/remove", {"form_token": token_of(page.text)})
        assert gone.status == 404


async def test_the_pages_speak_german(trade: Trade, owner: Visitor) -> None:
    customer_id = await trade.begin()
    page = await owner.switch(await owner.open(CUSTOMERS), "de")

    assert "Trennen Sie Daten nach customer_id, denn org ist in jedem Token der Anbieter." in page.text
    assert "Was die Rolle in Ihrem Dienst erlaubt." in (await owner.open(SETTINGS)).text
    assert "Pausieren oder beenden" in (await owner.open(f"{CUSTOMERS}/{customer_id}")).text


def token_of(text: str) -> str:
    """Return the form token of a page."""
    return re.findall(r'name="form_token" value="([^"]+)"', text)[0]
