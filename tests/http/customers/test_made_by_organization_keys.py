"""What a key of the vendor's organization has made for customers, and which part of it ends with the key."""

from __future__ import annotations

from uuid import UUID

import pytest

from tests.secret_watch import WATCH
from tests.world.customer_setups import CustomerSetup, make_customer_setup
from tests.world.directory import Directory, assert_scim_refused
from tests.world.organization_keys import Program, insert_program
from tests.world.setups import Setups
from tests.world.trade import Trade
from tests.world.visitor import Visitor


@pytest.fixture
async def setup(trade: Trade) -> CustomerSetup:
    """A customer that the vendor has made."""
    return await make_customer_setup(trade)


@pytest.fixture
def program(trade: Trade) -> Program:
    """A program with a key of the vendor's organization."""
    return insert_program(trade.vendor)


async def make_each(setup: CustomerSetup, program: Program) -> tuple[dict[str, str], dict[str, str]]:
    """Make a SCIM token and a setup link for the customer with the key, and return both."""
    path = f"/services/shop/customers/{setup.customer_id}"
    token = await program.request("POST", f"{path}/scim-tokens", body={"name": "Okta"})
    link = await program.request("POST", f"{path}/setup-links", body={"parts": ["scim"]})
    assert (token.status, link.status) == (200, 200), token.text + link.text
    WATCH.add(token.json["token"])
    return token.json, link.json


async def test_the_key_lists_what_it_has_made_for_customers(
    trade: Trade, setup: CustomerSetup, program: Program
) -> None:
    token, link = await make_each(setup, program)
    other = insert_program(trade.vendor, key=f"gk_second_{'s' * 43}")

    listed = await trade.vendor.request("owner", "GET", f"/keys/{program.key_id}/made")
    of_other = await trade.vendor.request("owner", "GET", f"/keys/{other.key_id}/made")

    expected = {("scim_token", token["id"], "Okta"), ("setup_link", link["id"], "scim")}
    assert {(one["kind"], one["id"], one["name"]) for one in listed.json["things"]} == expected
    assert {(one["service_slug"], one["customer_id"]) for one in listed.json["things"]} == {("shop", setup.customer_id)}
    assert (listed.json["total"], of_other.json["total"]) == (2, 0)


@pytest.mark.parametrize("with_made", [True, False])
async def test_its_links_end_with_the_key_and_the_tokens_where_that_is_asked(
    trade: Trade, setup: CustomerSetup, program: Program, *, with_made: bool
) -> None:
    token, link = await make_each(setup, program)
    kept = await setup.by_key("POST", "/scim-tokens", body={"name": "Kept"})
    visitor = Visitor(trade.world.client)
    await Setups(trade.vendor, visitor).begin(link)
    query = f"?with_made={str(with_made).lower()}"

    deleted = await trade.vendor.request("owner", "DELETE", f"/keys/{program.key_id}{query}")

    assert deleted.status == 204
    assert (await visitor.open("/app/setup/parts/scim")).status == 404
    answer = await Directory(trade.vendor, token["token"]).request("GET", "/Users")
    if with_made:
        assert_scim_refused(answer, 401)
    else:
        assert answer.status == 200, answer.text
    assert (await Directory(trade.vendor, kept.json["token"]).request("GET", "/Users")).status == 200


async def test_both_logs_and_the_vendors_feed_say_what_has_ended(
    trade: Trade, setup: CustomerSetup, program: Program
) -> None:
    token, link = await make_each(setup, program)
    query = f"/keys/{program.key_id}?with_made=true"

    assert (await trade.vendor.request("owner", "DELETE", query)).status == 204

    customer_organization = trade.world.value(
        "SELECT organization_id FROM service_customers WHERE id = %s", setup.customer_id
    )
    for organization_id in (trade.vendor.organization_id, customer_organization):
        ended = trade.world.rows(
            """
            SELECT action, target_id, details FROM audit_entries
            WHERE  organization_id = %s AND details ->> 'reason' = 'organization_key_deleted'
            """,
            organization_id,
        )
        found = {action: (target, details) for action, target, details in ended}
        assert len(ended) == 2
        assert {target for target, _ in found.values()} == {setup.customer_id}
        assert found["scim_token.revoked"][1]["scim_token_id"] == token["id"]
        assert found["organization.updated"][1]["setup_link"]["id"] == link["id"]
    *_, event = trade.world.events("customer.directory_changed")
    assert (event[0], event[-1]["state"], event[-1]["scim_token_id"]) == (
        trade.vendor.organization_id,
        "removed",
        token["id"],
    )
    assert UUID(event[-1]["customer_id"]) == UUID(setup.customer_id)
