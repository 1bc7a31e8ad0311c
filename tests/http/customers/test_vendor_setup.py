"""The parts that a vendor may go on setting up: the customer's owner says it, after a fresh sign-in."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from core.organizations import authorization
from core.organizations.organizations import OrganizationStatus
from tests.world.claims import ANN, Claims
from tests.world.trade import Trade
from tests.world.world import assert_refused


async def test_the_owner_lets_the_vendor_set_parts_up(trade: Trade) -> None:
    customer_id = await trade.begin()

    product = await trade.change_product(vendor_setup=["scim", "upstream", "scim"])

    assert product["vendor_setup"] == ["upstream", "scim"]
    assert (await trade.at_vendor("GET", f"/{customer_id}")).json["vendor_setup"] == ["upstream", "scim"]
    [[_, _, details]] = trade.log_of(trade.customer, "product_access.updated")
    assert details["changes"] == {"vendor_setup": {"from": [], "to": ["upstream", "scim"]}}


async def test_nobody_else_does(trade: Trade) -> None:
    await trade.begin()
    body = {"vendor_setup": ["scim"]}

    assert_refused(await trade.at_customer("PATCH", by="chief", body=body), 403, "FORBIDDEN")
    beside = body | {"hidden": True}
    assert_refused(await trade.at_customer("PATCH", by="chief", body=beside), 403, "FORBIDDEN")
    assert_refused(await trade.at_customer("PATCH", body={"vendor_setup": ["siem"]}), 400, "BAD_REQUEST")
    made = await trade.customer.request("head", "POST", "/keys", body={"name": "K", "permissions": ["products.manage"]})
    key = {"X-Api-Key": made.json["secret"]}
    path = f"{trade.customer.path}{trade.product_path}"
    assert_refused(await trade.world.client.request("PATCH", path, body=body, headers=key), 403, "FORBIDDEN")


async def test_it_takes_a_sign_in_within_ten_minutes(trade: Trade) -> None:
    await trade.begin()
    await trade.customer.token("head")
    trade.world.clock.advance(timedelta(minutes=10, seconds=1))

    refused = await trade.at_customer("PATCH", body={"vendor_setup": ["scim"]})

    assert_refused(refused, 403, "FORBIDDEN")
    assert "Sign in again" in refused.json["error"]
    assert (await trade.at_customer("PATCH", body={"vendor_setup": []})).status == 200


async def test_what_is_taken_away_ends_its_links_and_the_tokens_that_the_vendor_knows(trade: Trade) -> None:
    claims = Claims(trade)
    internal = await claims.internal(await trade.begin())
    await trade.change_product(vendor_setup=["scim", "groups", "upstream"])
    world = trade.world
    world.connection.execute(
        """
        INSERT INTO scim_tokens (id, organization_id, name, prefix, token_hash, created_at)
        VALUES (gen_random_uuid(), %(of)s, 'made', 'scim_live_abc123', '\\x01', now())
        """,
        {"of": internal},
    )
    for number, part in enumerate(("scim", "upstream")):
        world.connection.execute(
            """
            INSERT INTO setup_links (id, organization_id, parts, created_by, created_at, expires_at, secret_hash)
            VALUES (gen_random_uuid(), %s, %s, %s, now(), now() + interval '9 years', %s)
            """,
            (internal, [part], trade.vendor.ids["owner"], bytes([number])),
        )

    await trade.change_product(vendor_setup=["upstream"])

    assert world.rows("SELECT parts FROM setup_links") == [(["upstream"],)]
    assert world.value("SELECT token_hash FROM scim_tokens") != b"\x01"


async def test_what_is_taken_away_leaves_the_tokens_of_a_part_that_stays(trade: Trade) -> None:
    internal = await Claims(trade).internal(await trade.begin())
    await trade.change_product(vendor_setup=["scim", "upstream"])
    trade.world.connection.execute(
        """
        INSERT INTO scim_tokens (id, organization_id, name, prefix, token_hash, created_at)
        VALUES (gen_random_uuid(), %s, 'made', 'scim_live_abc123', '\\x01', now())
        """,
        (internal,),
    )

    await trade.change_product(vendor_setup=["scim"])

    assert trade.world.value("SELECT token_hash FROM scim_tokens") == b"\x01"


async def test_what_a_claimed_organization_opens_while_it_waits_for_approval(trade: Trade) -> None:
    claims = Claims(trade)
    customer_id = await claims.claimed()
    tokens = await trade.world.sign_in(ANN)
    path, product = "/api/organizations/globex", f"/products/{trade.service.client_id}"

    async def send(method: str, below: str, **options: Any) -> int:
        answer = await trade.world.client.request(method, path + below, token=tokens.access_token, **options)
        return answer.status

    assert trade.world.value("SELECT status FROM organizations WHERE slug = 'globex'") == "pending"
    assert [await send("GET", below) for below in ("", "/products", product)] == [200] * 3
    closed = [await send("GET", below) for below in ("/members", "/services", "/keys", "/setup-links", "/groups")]
    assert closed == [403] * 5
    assert await send("PATCH", product, body={"paused": True}) == 403
    assert await send("PATCH", product, body={"vendor_setup": ["scim"], "paused": True}) == 403
    assert await send("PATCH", product, body={"vendor_setup": ["scim"]}) == 200
    assert await send("DELETE", product) == 204
    assert (await trade.at_vendor("GET", f"/{customer_id}")).status == 404


@pytest.mark.parametrize("status", ["rejected", "suspended"])
async def test_a_claimed_organization_that_is_not_to_be_opens_nothing(trade: Trade, status: str) -> None:
    await Claims(trade).claimed()
    tokens = await trade.world.sign_in(ANN)
    trade.world.connection.execute("UPDATE organizations SET status = %s WHERE slug = 'globex'", (status,))

    for method, below in (("GET", "/products"), ("DELETE", f"/products/{trade.service.client_id}")):
        answer = await trade.world.client.request(
            method, f"/api/organizations/globex{below}", token=tokens.access_token
        )
        assert_refused(answer, 403, "ORGANIZATION_NOT_ACTIVE")


def test_one_list_says_what_a_claimed_organization_opens_while_it_waits() -> None:
    opened = vars(authorization)["_OF_CLAIMED_AND_PENDING"]

    # The relation alone: no member, role, key, service or setting. Adopted things belong to the owner.
    assert {one.name for one in opened} == {
        *("PRODUCTS_READ", "PRODUCT_END", "VENDOR_SETUP_CHANGE"),
        *("MADE_FOR_US_READ", "MADE_FOR_US_ADOPT", "MADE_FOR_US_REMOVE"),
    }
    assert not any(OrganizationStatus.PENDING in one.statuses for one in opened)
    assert [one.name for one in opened if one.makes_credential] == ["MADE_FOR_US_ADOPT"]


async def test_an_organization_that_its_owner_founded_opens_nothing_while_it_waits(trade: Trade) -> None:
    trade.world.user(ANN)
    tokens = await trade.world.sign_in(ANN)
    client = trade.world.client
    await client.post("/api/organizations", body={"slug": "own", "name": "Own"}, token=tokens.access_token)

    answer = await client.get("/api/organizations/own/products", token=tokens.access_token)

    assert_refused(answer, 403, "ORGANIZATION_NOT_ACTIVE")
