"""The pages of the people of a customer, as its vendor sees them, and of the roles that the vendor gives them."""

from __future__ import annotations

import csv
import re
from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

import pytest

from tests.application import Answer
from tests.pages.platform.conftest import browser_of as browser_of_caller
from tests.world.builder import NO_ID
from tests.world.callers import Caller, insert_callers
from tests.world.customer_backend import CustomerBackend
from tests.world.visitor import FORM, Visitor, forms_of
from tests.world.world import World

SHOP = "/app/organizations/acme/services/shop"
HOSTILE = "<b onclick=alert(1)>Worker</b>"


@pytest.fixture
async def owner(browser_of: Callable[[str], Awaitable[Visitor]]) -> Visitor:
    """The browser of the owner of the vendor."""
    return await browser_of("owner")


@pytest.fixture
async def here(shop: CustomerBackend) -> str:
    """The page of a customer, all of whose members may use the service."""
    return f"{SHOP}/customers/{await shop.trade.begin()}"


def listed(text: str) -> list[str]:
    """List the people that a page shows, as it names them first."""
    return sorted(re.findall(r'role="rowheader" scope="row"><span>(?:<a [^>]+>)?([^<@]+)', text))


def token_of(page: Answer) -> str:
    """Return the form token of a page."""
    return re.findall(r'name="form_token" value="([^"]+)"', page.text)[0]


async def save(owner: Visitor, page: Answer, path: str, seen: list[str], *roles: str) -> Answer:
    """Send the form of a person with these boxes ticked, as a browser does."""
    fields = [
        ("form_token", next(one for one in forms_of(page) if one.action == path).fields["form_token"]),
        *(("seen_roles", one) for one in seen),
        *(("roles", one) for one in roles),
    ]
    sent = await owner.send(
        "POST",
        path,
        data=urlencode(fields).encode(),
        headers={"Content-Type": FORM},
    )
    return await owner.open(sent.headers["Location"]) if sent.status == 303 else sent


class TestList:
    async def test_those_who_have_signed_in_are_found_by_address_name_and_role(
        self, shop: CustomerBackend, here: str, owner: Visitor
    ) -> None:
        await shop.sign_in("worker")
        await shop.sign_in("head")
        shop.trade.world.connection.execute(
            "UPDATE users SET name = %s, email_verified_at = now() WHERE id = %s", (HOSTILE, shop.id_of("worker"))
        )
        await shop.trade.change_product(assignments=[{"subject": "role:owner", "roles": ["editor"]}])

        page = await owner.follow(await owner.open(here), f"{here}/people")

        assert page.status == 200
        assert HOSTILE not in page.text
        assert "2 found" in page.text
        assert "chief@example.com" not in page.text
        assert "It does not share its directory." in page.text
        for query, found in (
            ("search=WORK", ["&lt;b onclick=alert(1)&gt;Worker&lt;/b&gt;"]),
            ("search=onclick", ["&lt;b onclick=alert(1)&gt;Worker&lt;/b&gt;"]),
            ("role=editor", ["head"]),
            ("role=editor&search=worker", []),
            ("search=chief", []),
        ):
            assert listed((await owner.open(f"{here}/people?{query}")).text) == found, query
        assert "No person of the customer fits." in (await owner.open(f"{here}/people?search=chief")).text
        # A role that the service no longer has finds everybody.
        assert "2 found" in (await owner.open(f"{here}/people?role=gone")).text

    async def test_a_shared_directory_shows_who_may_and_leads_to_those_who_have(
        self, shop: CustomerBackend, here: str, owner: Visitor
    ) -> None:
        await shop.sign_in("worker")
        await shop.trade.change_product(shares_directory=True)
        shop.add_unconfirmed("guest")

        page = await owner.open(f"{here}/people")

        assert listed(page.text) == ["chief", "head", "worker"]
        assert "which shares its directory" in page.text
        assert re.findall(rf'href="{here}/people/([0-9a-f-]+)"', page.text) == [str(shop.id_of("worker"))]
        for one in (shop.id_of("chief"), shop.id_of("guest"), shop.trade.vendor.ids["member"], NO_ID):
            assert (await owner.open(f"{here}/people/{one}")).status == 404, one

    async def test_a_long_list_goes_on_and_the_file_has_all(
        self, shop: CustomerBackend, here: str, owner: Visitor
    ) -> None:
        await shop.trade.change_product(shares_directory=True)
        for number in range(27):
            shop.trade.customer.add(f"clerk-{number}", "member")
        page = await owner.open(f"{here}/people?search=clerk")
        file = await owner.open(f"{here}/people/people.csv?search=clerk-1")

        [next_page] = re.findall(r'href="([^"]+after=[^"]+)"', page.text)
        rest = await owner.open(next_page.replace("&amp;", "&"))
        assert "27 found" in page.text
        assert len(listed(page.text)) == 25
        assert len(listed(rest.text)) == 2
        assert not set(listed(page.text)) & set(listed(rest.text))
        rows = list(csv.DictReader(file.text.splitlines()))
        assert sorted(row["email"] for row in rows) == sorted(
            f"clerk-{number}@example.com" for number in (1, *range(10, 20))
        )

    async def test_nobody_and_an_offer_are_said_so(self, shop: CustomerBackend, owner: Visitor) -> None:
        offered = await shop.trade.offer()
        assert "This is an offer." in (await owner.open(f"{SHOP}/customers/{offered}/people")).text
        assert f'href="{SHOP}/customers/{offered}/people"' not in (await owner.open(f"{SHOP}/customers/{offered}")).text

        await shop.trade.accept()

        page = await owner.open(f"{SHOP}/customers/{offered}/people")
        assert "No one has signed in for this customer yet." in page.text

    async def test_it_takes_the_capability_of_end_users_too(
        self, shop: CustomerBackend, here: str, browser_of: Callable[[str], Awaitable[Visitor]]
    ) -> None:
        world, vendor = shop.trade.world, shop.trade.vendor
        await shop.sign_in("worker")
        person = f"{here}/people/{shop.id_of('worker')}"
        for role, *capabilities in (
            ("builder", "services.manage"),
            ("reader", "services.manage", "end_users.view"),
            ("giver", "services.manage", "end_users.view", "end_users.manage"),
        ):
            world.custom_role(vendor.organization_id, role, *capabilities)
            vendor.add(role, role)

        builder, reader, giver = [await browser_of(name) for name in ("builder", "reader", "giver")]

        shown = (await builder.open(here)).text
        assert "You cannot see the people of customers." in shown
        assert "<code>end_users.view</code>" in shown
        assert f'href="{here}/people"' not in shown
        for path in ("/people", "/people/people.csv", f"/people/{shop.id_of('worker')}"):
            assert (await builder.open(here + path)).status == 403, path
        read = await reader.open(person)
        assert "You cannot change these roles." in read.text
        assert "You cannot find out why this person cannot sign in." in read.text
        assert 'name="roles"' not in read.text
        token = token_of(read)
        assert (await reader.post(person, {"form_token": token, "roles": "editor"})).status == 403
        assert "Why can they not sign in?" in (await giver.open(person)).text
        assert 'name="roles"' in (await giver.open(person)).text

    async def test_another_tenant_finds_nobody(
        self, shop: CustomerBackend, here: str, browser_of: Callable[[str], Awaitable[Visitor]]
    ) -> None:
        await shop.sign_in("worker")
        world = shop.trade.world
        blog = world.service(shop.trade.customer.organization_id, "blog")
        world.serve_customers(blog)
        head = await browser_of("head")
        own = f"/app/organizations/beta/services/blog/customers/{here.rpartition('/')[2]}/people"

        for path in ("", "/people.csv", f"/{shop.id_of('worker')}"):
            assert (await head.open(f"{here}/people{path}")).status == 403, path
            assert (await head.open(own + path)).status == 404, path
        token = token_of(await head.open("/app/organizations/beta/services/blog/customers"))
        sent = await head.post(f"{own}/{shop.id_of('worker')}", {"form_token": token, "roles": "editor"})
        assert sent.status == 404


class TestRoles:
    async def test_roles_are_given_and_taken(self, shop: CustomerBackend, here: str, owner: Visitor) -> None:
        await shop.sign_in("worker")
        await shop.trade.change_product(assignments=[{"subject": "everyone", "roles": ["viewer"]}])
        person = f"{here}/people/{shop.id_of('worker')}"

        page = await owner.follow(await owner.open(f"{here}/people"), person)
        given = await save(owner, page, person, [], "editor")
        again = await owner.open(person)
        taken = await save(owner, again, person, ["editor"])

        assert 'value="editor" checked' not in page.text
        assert "The roles are saved." in given.text
        assert 'value="editor" checked' in again.text
        assert '<input type="hidden" name="seen_roles" value="editor">' in again.text
        assert "The roles are saved." in taken.text, taken.text
        written = [
            (actor, details["old_own_roles"], details["own_roles"], details["service_roles"])
            for _, actor, details in shop.trade.log_of(shop.trade.vendor, "customer.user_changed")
        ]
        by = shop.trade.vendor.ids["owner"]
        assert written == [(by, [], ["editor"], ["editor", "viewer"]), (by, ["editor"], [], ["viewer"])]

    async def test_roles_that_were_changed_meanwhile_are_not_overwritten(
        self, shop: CustomerBackend, here: str, owner: Visitor
    ) -> None:
        await shop.sign_in("worker")
        person = f"{here}/people/{shop.id_of('worker')}"
        page = await owner.open(person)
        await save(owner, page, person, [], "viewer")

        late = await save(owner, page, person, [], "editor")
        unknown = await save(owner, page, person, ["viewer"], "boss")

        assert late.status == 409
        assert "The roles of this person have been changed meanwhile." in late.text
        assert 'value="editor" checked' in late.text
        assert '<input type="hidden" name="seen_roles" value="viewer">' in late.text
        assert unknown.status == 400
        assert "The service has no role boss." in unknown.text
        assert len(shop.trade.log_of(shop.trade.vendor, "customer.user_changed")) == 1

    async def test_the_page_leads_to_why_and_to_the_call_with_a_key(
        self, shop: CustomerBackend, here: str, owner: Visitor
    ) -> None:
        await shop.sign_in("worker")

        page = await owner.open(f"{here}/people/{shop.id_of('worker')}")
        [why] = re.findall(r'href="(/app/organizations/acme/why\?[^"]+)"', page.text)

        assert "worker@example.com" in (await owner.open(why.replace("&amp;", "&"))).text
        assert "X-Api-Key: $KEY" in page.text
        assert "Put an API key of the service in place of $KEY." in page.text

    async def test_who_has_left_or_is_suspended_has_no_page(
        self, shop: CustomerBackend, here: str, owner: Visitor
    ) -> None:
        for name in ("worker", "chief"):
            await shop.sign_in(name)
        shop.suspend("worker")
        await shop.remove("chief")

        for name in ("worker", "chief"):
            assert (await owner.open(f"{here}/people/{shop.id_of(name)}")).status == 404, name

    async def test_an_impersonator_takes_roles_and_gives_none(self, world: World) -> None:
        callers = insert_callers(world)
        service = world.service(callers.acme_id)
        world.serve_customers(service, "editor", "viewer")
        customer_id = world.customer(service, callers.globex_id)
        user_id = world.value("SELECT user_id FROM memberships WHERE organization_id = %s LIMIT 1", callers.globex_id)
        world.connection.execute(
            """
            INSERT INTO customer_users (customer_id, organization_id, user_id, first_sign_in_at, last_sign_in_at,
                                        own_role_ids)
            SELECT %s, %s, %s, now(), now(), ARRAY[(role_ids ->> 'editor')::uuid] FROM services WHERE id = %s
            """,
            (customer_id, callers.globex_id, user_id, service.id),
        )
        person = f"{SHOP}/customers/{customer_id}/people/{user_id}"
        acting = browser_of_caller(callers, Caller.IMPERSONATED)

        page = await acting.open(person)
        given = await save(acting, page, person, ["editor"], "editor", "viewer")
        taken = await save(acting, page, person, ["editor"])

        assert "you can only take rights away here" in page.text
        assert given.status == 403
        assert "outlast" in given.text
        assert "The roles are saved." in taken.text


async def test_the_pages_speak_german(shop: CustomerBackend, here: str, owner: Visitor) -> None:
    await shop.sign_in("worker")
    page = await owner.switch(await owner.open(f"{here}/people"), "de")

    assert "Er zeigt sein Verzeichnis nicht." in page.text
    assert "Rollen, die Sie vergeben" in (await owner.open(f"{here}/people/{shop.id_of('worker')}")).text
