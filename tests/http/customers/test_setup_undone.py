"""What undoing a takeover does to what the intruder, as a member of a vendor, has set up for a customer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.customers.test_claims_undone import Stolen
from tests.world.claims import Claims
from tests.world.customer_setups import CONNECTION, CustomerSetup, make_customer_setup
from tests.world.trade import Trade


@pytest.fixture
async def setup(trade: Trade) -> CustomerSetup:
    """A customer that the vendor has made."""
    return await make_customer_setup(trade)


async def set_up(setup: CustomerSetup, token: str, name: str) -> dict[str, Any]:
    """Set something of every kind up with a token of a session, and return the rule of groups and the connection."""
    client, world = setup.trade.vendor, setup.trade.world
    path = f"{client.path}/services/shop/customers/{setup.customer_id}"

    async def send(below: str, **body: object) -> Any:
        answer = await world.client.post(f"{path}{below}", body=body, token=token)
        assert answer.status == 200, answer.text
        return answer.json

    connection = await send("/connections", **CONNECTION | {"name": name})
    await send("/scim-tokens", name=name)
    await send("/setup-links", parts=["upstream"])
    rule = await send("/group-rules", source=connection["id"], group=name, service_roles=["editor"])
    return {"connection": connection["id"], "rule": rule["id"]}


async def test_what_the_intruder_has_set_up_is_withdrawn_or_off(setup: CustomerSetup, trade: Trade) -> None:
    world = trade.world
    kept = await set_up(setup, (await world.sign_in("owner@example.com")).access_token, "honest")
    owner = Stolen(Claims(trade), "admin@example.com")
    await owner.take_over()
    await set_up(setup, owner.token, "evil")
    await world.mails()

    await owner.get_back()

    connections = world.rows("SELECT name, enabled FROM upstream_connections ORDER BY name")
    assert connections == [("evil", False), ("honest", True)]
    assert world.rows("SELECT name FROM scim_tokens") == [("honest",)]
    assert world.rows("SELECT created_by FROM setup_links") == [(trade.vendor.ids["owner"],)]
    assert [str(one) for (one,) in world.rows("SELECT id FROM customer_group_rules")] == [kept["rule"]]
    assert world.value("SELECT count(*) FROM audit_entries WHERE organization_id = %s", setup.internal_id) == 3
    for organization in ("vendor_id", "organization_id"):
        told = world.value(
            f"""
            SELECT a.details -> 'setup_withdrawn'
            FROM   audit_entries a
            JOIN   service_customers c ON c.{organization} = a.organization_id
            WHERE  c.id = %s AND a.action = 'customer.changed' AND a.details ->> 'reason' = 'email_change_undone'
            """,
            setup.customer_id,
        )
        assert told is True
    [mail] = [one for one in await world.mails() if one.template.value == "takeover_undone"]
    withdrawn = [one.removeprefix("acme: ") for one in mail.values["withdrawn"].split("; ")]
    for kind in ("setup link", "SCIM token", "connection", "rule of groups"):
        assert [one for one in withdrawn if one.startswith(kind)], withdrawn


async def test_a_rule_that_the_intruder_has_changed_is_deleted(setup: CustomerSetup, trade: Trade) -> None:
    world = trade.world
    kept = await set_up(setup, (await world.sign_in("owner@example.com")).access_token, "honest")
    owner = Stolen(Claims(trade), "admin@example.com")
    await owner.take_over()
    path = f"{trade.vendor.path}/services/shop/customers/{setup.customer_id}/group-rules/{kept['rule']}"
    changed = await world.client.patch(path, body={"service_roles": ["viewer"]}, token=owner.token)
    assert changed.status == 200, changed.text

    await owner.get_back()

    assert world.rows("SELECT id FROM customer_group_rules") == []


async def test_a_rule_that_was_deleted_since_is_passed_over(setup: CustomerSetup, trade: Trade) -> None:
    world = trade.world
    owner = Stolen(Claims(trade), "admin@example.com")
    await owner.take_over()
    made = await set_up(setup, owner.token, "evil")
    deleted = await setup.by_member("DELETE", f"/group-rules/{made['rule']}")
    assert deleted.status == 204, deleted.text
    await world.mails()

    await owner.get_back()

    assert world.rows("SELECT name, enabled FROM upstream_connections") == [("evil", False)]
    [mail] = [one for one in await world.mails() if one.template.value == "takeover_undone"]
    assert "rule of groups" not in mail.values["withdrawn"]


async def test_what_is_set_up_for_a_customer_that_has_ended_comes_back_without_power(
    setup: CustomerSetup, trade: Trade
) -> None:
    world = trade.world
    owner = Stolen(Claims(trade), "admin@example.com")
    await owner.take_over()
    await set_up(setup, owner.token, "evil")
    ended = await trade.at_vendor("DELETE", f"/{setup.customer_id}")
    assert ended.status == 204, ended.text

    await owner.get_back()

    # Neither log says more of an ended customer than that it has ended.
    assert [action for action, _, _ in trade.log_of(trade.vendor, "customer.changed")] == []
    restored = await trade.at_vendor("POST", f"/{setup.customer_id}/restore")
    assert restored.status == 200, restored.text
    assert world.rows("SELECT name, enabled FROM upstream_connections") == [("evil", False)]
    assert world.value("SELECT count(*) FROM scim_tokens") == 0
    assert world.value("SELECT count(*) FROM setup_links") == 0


async def test_what_is_set_up_for_customers_of_others_stays(trade: Trade, setup: CustomerSetup) -> None:
    await set_up(setup, (await trade.world.sign_in("owner@example.com")).access_token, "honest")
    head = Stolen(Claims(trade), "chief@example.com")
    await head.take_over()

    await head.get_back()

    assert trade.world.value("SELECT enabled FROM upstream_connections") is True
    assert trade.world.value("SELECT count(*) FROM setup_links") == 1
