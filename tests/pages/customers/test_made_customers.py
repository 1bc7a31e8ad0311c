"""The pages of customers that a vendor makes: the list by state, adding one, its owner, and restoring one."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from core.customers import made_customers
from tests.shown_text import shows
from tests.world.claims import ANN, Claims
from tests.world.internal import add_mail_domain
from tests.world.trade import Trade
from tests.world.visitor import Visitor

CUSTOMERS = "/app/organizations/acme/services/shop/customers"
NEW = f"{CUSTOMERS}/new"


@pytest.fixture
async def owner(browser_of: Callable[[str], Awaitable[Visitor]]) -> Visitor:
    """The browser of the owner of the vendor."""
    return await browser_of("owner")


@pytest.fixture
def claims(trade: Trade) -> Claims:
    """The vendor, which makes customers."""
    return Claims(trade)


def listed(text: str) -> list[str]:
    """List the customers that a page shows, as it names them."""
    return re.findall(rf'<a href="{CUSTOMERS}/[0-9a-f-]{{36}}">([^<]+)</a>', text)


def counts(text: str) -> dict[str, int]:
    """Return how many customers the page says that each filter finds."""
    found = re.findall(r"<div><dt>(?:<a[^>]*>)?([^<]+)(?:</a>)?</dt><dd>(\d+)</dd></div>", text)
    return {name: int(count) for name, count in found}


def add_connection(trade: Trade, internal_id: object, *, state: str = "configured") -> object:
    """Insert a connection that the vendor has made for a customer, and return its id."""
    return trade.world.value(
        """
        INSERT INTO upstream_connections (id, organization_id, type, name, issuer, client_id, client_secret_sealed,
                                          scopes, attribute_mapping, trust_mfa, enabled, created_at, updated_at,
                                          setup_state)
        VALUES (gen_random_uuid(), %s, 'oidc', 'Okta', 'https://login.globex.com', 'gatehouse', 'sealed', '{openid}',
                '{}', false, true, %s, %s, %s)
        RETURNING id
        """,
        internal_id,
        trade.world.clock(),
        trade.world.clock(),
        state,
    )


class TestList:
    async def test_customers_are_found_by_state_and_counted(self, trade: Trade, claims: Claims, owner: Visitor) -> None:
        await trade.begin()
        await trade.offer("nowhere")
        await claims.make("Globex")
        paused = await claims.make("Hooli")
        await trade.at_vendor("PATCH", f"/{paused}", body={"paused": True})
        being_set_up = await claims.make("Initech")
        add_connection(trade, await claims.internal(being_set_up))
        await trade.at_vendor("DELETE", f"/{await claims.make('Umbrella')}")

        page = await owner.open(CUSTOMERS)

        assert counts(page.text) == {
            "Offered": 1,
            "Unclaimed": 3,
            "Setting up": 1,
            "Active": 3,
            "Paused": 1,
            "Something fails": 0,
            "Ended": 1,
        }
        for state, found in {
            "offered": ["nowhere"],
            "unclaimed": ["Initech", "Hooli", "Globex"],
            "setting_up": ["Initech"],
            "active": ["Initech", "Globex", "Beta"],
            "paused": ["Hooli"],
            "failing": [],
            "ended": ["Umbrella"],
            "unknown": ["Initech", "Hooli", "Globex", "nowhere", "Beta"],
        }.items():
            assert listed((await owner.open(f"{CUSTOMERS}?state={state}")).text) == found, state
        assert shows((await owner.open(f"{CUSTOMERS}?state=setting_up")).text, "waits for a test sign-in")
        assert listed((await owner.open(f"{CUSTOMERS}?state=unclaimed&search=HOO")).text) == ["Hooli"]

    async def test_a_file_of_ended_customers_has_none(self, claims: Claims, trade: Trade, owner: Visitor) -> None:
        await trade.at_vendor("DELETE", f"/{await claims.make('Umbrella')}")
        await claims.make("Globex")

        ended, others = [await owner.open(f"{CUSTOMERS}/customers.csv?state={state}") for state in ("ended", "active")]

        assert (len(ended.text.splitlines()), len(others.text.splitlines())) == (1, 2)
        assert "Globex" in others.text

    async def test_what_fails_stands_in_the_list_with_the_reason(
        self, trade: Trade, claims: Claims, owner: Visitor
    ) -> None:
        world = trade.world
        customer_id = await claims.make("Globex")
        internal_id = await claims.internal(customer_id)
        connection_id = add_connection(trade, internal_id, state="failing")
        world.connection.execute(
            """
            INSERT INTO upstream_failures (organization_id, connection_id, problem, first_at, last_at, occurrences,
                                           last_request_id)
            VALUES (%s, %s, 'wrong_secret', %s, %s, 1, 'abc')
            """,
            (internal_id, connection_id, world.clock(), world.clock()),
        )
        add_mail_domain(world, str(connection_id), internal_id, "globex.example")
        world.connection.execute(
            "UPDATE domain_routes SET status = 'failing', failing_since = %s WHERE made_for = %s",
            (world.clock(), customer_id),
        )

        page = await owner.open(f"{CUSTOMERS}?state=failing")
        file = await owner.open(f"{CUSTOMERS}/customers.csv?state=failing")

        assert listed(page.text) == ["Globex"]
        assert counts(page.text)["Something fails"] == 1
        assert shows(page.text, "The connection Okta fails.")
        assert shows(page.text, "The mail domain globex.example is being lost.")
        assert "connection_failing domain_failing" in file.text

    async def test_a_refused_call_of_the_directory_stands_on_the_page_of_the_customer(
        self, trade: Trade, claims: Claims, owner: Visitor
    ) -> None:
        customer_id = await claims.make()
        made = await trade.at_vendor("POST", f"/{customer_id}/scim-tokens", body={"name": "Entra"})
        headers = {"Authorization": f"Bearer {made.json['token']}"}
        refused = await trade.world.client.post("/scim/v2/Users", body={}, headers=headers)
        assert refused.status == 400

        page = await owner.open(f"{CUSTOMERS}/{customer_id}")

        assert shows(page.text, "The last call of the directory was refused.")

    async def test_what_the_owner_does_not_let_the_vendor_set_up_is_not_told(
        self, trade: Trade, claims: Claims, owner: Visitor
    ) -> None:
        world = trade.world
        customer_id = await claims.make("Globex")
        internal_id = await claims.internal(customer_id)
        add_mail_domain(world, str(add_connection(trade, internal_id)), internal_id, "globex.example")
        world.connection.execute("UPDATE domain_routes SET status = 'failing', failing_since = verified_at")
        world.connection.execute("UPDATE organizations SET is_unclaimed = false")

        untold = await owner.open(f"{CUSTOMERS}?state=failing")
        world.connection.execute("UPDATE service_customers SET vendor_setup = '{mail_domain}'")
        told = await owner.open(f"{CUSTOMERS}?state=failing")

        assert listed(untold.text) == []
        assert listed(told.text) == ["Globex"]


class TestAdding:
    async def test_a_customer_is_added_with_its_owner_asked(self, trade: Trade, claims: Claims, owner: Visitor) -> None:
        page = await owner.open(CUSTOMERS)

        made = await owner.submit(page, NEW, name=" Globex ", external_id="crm-7", owner_email=f" {ANN} ")

        assert "The customer is added." in made.text
        assert shows(made.text, "Unclaimed")
        assert shows(made.text, ANN)
        assert await claims.mailed_token()
        [record] = (await trade.at_vendor("GET")).json["customers"]
        assert (record["organization"]["name"], record["external_id"], record["unclaimed"]) == ("Globex", "crm-7", True)

    async def test_a_refusal_shows_what_was_typed_in_its_own_form(
        self, trade: Trade, claims: Claims, owner: Visitor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await claims.make("Hooli", external_id="one")
        page = await owner.open(CUSTOMERS)

        for fields, status, text in (
            ({"name": "G", "external_id": "x", "owner_email": ANN}, 400, "The customer was not added."),
            ({"name": "Globex", "external_id": "x", "owner_email": "nobody"}, 400, "The customer was not added."),
            ({"name": "Globex", "external_id": "one", "owner_email": ANN}, 409, "has this external id already"),
        ):
            shown = await owner.submit(page, NEW, fields)
            assert (shown.status, text in shown.text) == (status, True), fields
            for name, value in fields.items():
                assert re.search(rf'id="new-{name}" name="{name}" type="\w+" value="{value}"', shown.text), name
            assert '<details class="creating" id="add" open>' in shown.text
        monkeypatch.setattr(made_customers, "UNCLAIMED_MAX", 1)
        many = await owner.submit(page, NEW, name="Globex", external_id="", owner_email="")
        assert many.status == 429
        assert "Name an owner for some of them, or end them." in many.text
        assert 'value="Globex"' in many.text

    async def test_the_first_customer_is_added_in_place_of_the_list(self, trade: Trade, owner: Visitor) -> None:
        page = await owner.open(CUSTOMERS)

        assert shows(page.text, "For a customer that has no organization here yet.")
        assert shows(page.text, "For a customer that has an organization here already.")


class TestOwner:
    async def test_another_link_replaces_the_one_before(self, trade: Trade, claims: Claims, owner: Visitor) -> None:
        customer_id = await claims.make("Globex", owner_email=ANN)
        await claims.mailed_token()
        here = f"{CUSTOMERS}/{customer_id}"
        page = await owner.open(here)

        sent = await owner.submit(page, f"{here}/owner", email="bob@globex.example")
        refused = await owner.submit(page, f"{here}/owner", email="nobody")

        assert f'value="{ANN}"' in page.text
        assert "The link is mailed." in sent.text
        assert shows(sent.text, "bob@globex.example")
        assert await claims.mailed_token()
        assert refused.status == 400
        assert "The link was not mailed. Correct the marked field." in refused.text
        assert 'value="nobody"' in refused.text

    async def test_a_link_that_has_expired_is_said_to_have(self, trade: Trade, claims: Claims, owner: Visitor) -> None:
        customer_id = await claims.make("Globex", owner_email=ANN)
        trade.world.connection.execute(
            "UPDATE customer_claims SET expires_at = %s", (trade.world.clock() - timedelta(hours=1),)
        )

        page = await owner.open(f"{CUSTOMERS}/{customer_id}")

        assert "The link has expired. Send another one." in page.text

    async def test_a_claimed_customer_says_since_when_and_what_may_be_set_up(
        self, trade: Trade, claims: Claims, owner: Visitor
    ) -> None:
        customer_id = await claims.claimed()
        here = f"{CUSTOMERS}/{customer_id}"

        none = await owner.open(here)
        trade.world.connection.execute("UPDATE service_customers SET vendor_setup = '{upstream,scim}'")
        some = await owner.open(here)
        refused = await owner.post(f"{here}/owner", {"form_token": token_of(none.text), "email": ANN})

        assert shows(none.text, "By the link that was mailed to")
        assert shows(none.text, ANN)
        assert "Its owner does not let you set up anything." in none.text
        assert "Its owner lets you set up: Connections, Directory (SCIM)." in some.text
        assert refused.status == 409


class TestRestoring:
    async def test_an_ended_customer_is_restored_from_its_page_and_from_the_list(
        self, trade: Trade, claims: Claims, owner: Visitor
    ) -> None:
        customer_id = await claims.make("Globex", external_id="crm-7")
        here = f"{CUSTOMERS}/{customer_id}"
        for place in (here, f"{CUSTOMERS}?state=ended"):
            await trade.at_vendor("DELETE", f"/{customer_id}")

            page = await owner.open(place)
            restored = await owner.submit(page, f"{here}/restore")

            assert shows(page.text, "Globex"), place
            assert "The customer is restored" in restored.text, place
            assert (await claims.record(customer_id))["external_id"] == "crm-7"

    async def test_another_one_with_its_external_id_is_named(
        self, trade: Trade, claims: Claims, owner: Visitor
    ) -> None:
        customer_id = await claims.make("Globex", external_id="crm-7")
        await trade.at_vendor("DELETE", f"/{customer_id}")
        await claims.make("Hooli", external_id="crm-7")
        page = await owner.open(f"{CUSTOMERS}?state=ended")

        refused = await owner.submit(page, f"{CUSTOMERS}/{customer_id}/restore")

        assert refused.status == 409
        assert "has this external id already" in refused.text

    async def test_the_page_of_one_that_cannot_be_restored_is_not_there(
        self, trade: Trade, claims: Claims, owner: Visitor
    ) -> None:
        customer_id = await claims.make("Globex")
        await trade.at_vendor("DELETE", f"/{customer_id}")
        trade.world.connection.execute(
            "UPDATE organizations SET deletes_at = %s WHERE status = 'deleting'", (trade.world.clock(),)
        )

        assert (await owner.open(f"{CUSTOMERS}/{customer_id}")).status == 404


def token_of(text: str) -> str:
    """Return the token of the forms of a page."""
    return re.findall(r'name="form_token" value="([^"]+)"', text)[0]
