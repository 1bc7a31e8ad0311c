"""What the vendor learns of its customers' setup, and who is named as having done it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from core.customers import mail_domains
from core.customers.setup_callers import CustomerPath
from core.sessions.origins import BACKGROUND
from core.sign_in.upstream.connections import failures
from core.sign_in.upstream.domains import domain_routes
from core.sign_in.upstream.provider_problems import ProviderProblem
from tests.world.customer_setups import CustomerSetup, make_customer_setup
from tests.world.trade import Trade

DOMAIN = "globex.com"


@pytest.fixture
async def setup(trade: Trade) -> CustomerSetup:
    """Return a made customer, and a key that sets it up."""
    return await make_customer_setup(trade)


def told(trade: Trade, name: str) -> list[dict[str, Any]]:
    """Return the data of the vendor's events of a type; none of them may name a person."""
    rows = trade.world.rows(
        "SELECT data, actor_user_id, actor_email FROM events WHERE organization_id = %s AND type = %s ORDER BY id",
        trade.vendor.organization_id,
        name,
    )
    assert [(actor, email) for _, actor, email in rows if (actor, email) != (None, None)] == []
    return [data for data, _, _ in rows]


async def prove(setup: CustomerSetup) -> dict[str, Any]:
    """Prove a mail domain for the customer as a member of the vendor; return the domain."""
    connection = await setup.connect()
    made = await setup.by_key("POST", "/mail-domains", body={"domain": DOMAIN, "provider_id": connection["id"]})
    world = setup.trade.world
    await setup.by_member("GET", "/mail-domains")
    session_id = world.value("SELECT id FROM sessions WHERE user_id = %s", setup.trade.vendor.ids["owner"])
    path = CustomerPath(org_slug="acme", service_slug="shop", customer_id=UUID(setup.customer_id))
    await world.installation.database.on_behalf_of(BACKGROUND, session_id).transact(
        mail_domains.verify, path, UUID(made.json["id"]), [made.json["txt_value"]]
    )
    world.connection.execute("UPDATE events SET actor_user_id = NULL, actor_email = NULL")
    return made.json


async def test_a_connection_that_fails_is_told_once_with_the_reason(setup: CustomerSetup, trade: Trade) -> None:
    connection = await setup.connect()

    for request_id in ("first", "second"):
        await trade.world.installation.database.transact(
            failures.note,
            setup.internal_id,
            UUID(connection["id"]),
            ProviderProblem.WRONG_SECRET,
            request_id=request_id,
        )

    states = [(one["state"], one.get("reason")) for one in told(trade, "customer.connection_changed")]
    assert states == [("configured", None), ("failing", "wrong_secret")]


async def test_what_one_person_has_done_wrong_is_no_failure_of_the_connection(
    setup: CustomerSetup, trade: Trade
) -> None:
    connection = await setup.connect()

    await trade.world.installation.database.transact(
        failures.note, setup.internal_id, UUID(connection["id"]), ProviderProblem.DECLINED, request_id="one"
    )

    assert [one["state"] for one in told(trade, "customer.connection_changed")] == ["configured"]


async def test_a_domain_is_proved_and_lost_by_removing_it(setup: CustomerSetup, trade: Trade) -> None:
    made = await prove(setup)

    assert [one["domain"] for one in told(trade, "customer.domain_proved")] == [DOMAIN]
    assert (await setup.by_key("DELETE", f"/mail-domains/{made['id']}")).status == 204

    assert [(one["domain"], one["reason"]) for one in told(trade, "customer.domain_lost")] == [(DOMAIN, "removed")]


async def test_a_domain_that_was_never_proved_is_not_lost(setup: CustomerSetup, trade: Trade) -> None:
    connection = await setup.connect()
    made = await setup.by_key("POST", "/mail-domains", body={"domain": DOMAIN, "provider_id": connection["id"]})

    assert (await setup.by_key("DELETE", f"/mail-domains/{made.json['id']}")).status == 204

    assert told(trade, "customer.domain_lost") == []


async def test_a_domain_is_lost_once_when_its_record_is_gone(setup: CustomerSetup, trade: Trade) -> None:
    made = await prove(setup)
    database = trade.world.installation.database
    [claim] = [
        one
        for one in await database.transact(lambda uow: uow.domain_routes.of_organization(setup.internal_id))
        if one.id == UUID(made["id"])
    ]

    for _ in range(2):
        await database.transact(domain_routes.record_check, claim, [])

    assert [(one["domain"], one["reason"]) for one in told(trade, "customer.domain_lost")] == [
        (DOMAIN, "record_missing")
    ]


async def test_of_another_organization_that_proves_the_domain_the_vendor_learns_nothing(
    setup: CustomerSetup, trade: Trade
) -> None:
    await prove(setup)
    connection = await trade.customer.request(
        "head", "POST", "/upstream-providers", body={"type": "saml", "name": "Own"}
    )
    body = {"domain": DOMAIN, "provider_id": connection.json["id"], "enforced": False}
    route = await trade.customer.request("head", "POST", "/domain-routes", body=body)
    session_id = trade.world.value("SELECT id FROM sessions WHERE user_id = %s", trade.customer.ids["head"])

    await trade.world.installation.database.on_behalf_of(BACKGROUND, session_id).transact(
        domain_routes.verify, "beta", UUID(route.json["id"]), [route.json["txt_value"]]
    )

    [lost] = told(trade, "customer.domain_lost")
    assert (lost["domain"], lost["reason"], lost["customer_id"]) == (
        DOMAIN,
        "proved_by_organization",
        setup.customer_id,
    )
    assert "beta" not in lost.values()
    assert "head@example.com" not in str(lost)


async def test_the_vendors_log_names_the_key_and_the_customers_log_names_nobody(
    setup: CustomerSetup, trade: Trade
) -> None:
    connection = await setup.connect()
    await setup.by_key("POST", "/mail-domains", body={"domain": DOMAIN, "provider_id": connection["id"]})
    await setup.by_key("POST", "/scim-tokens", body={"name": "Okta"})
    rule = {"source": connection["id"], "group": "Editors", "service_roles": ["editor"]}
    await setup.by_key("POST", "/group-rules", body=rule)
    await setup.link("scim")
    key_id = str(trade.world.value("SELECT id FROM api_keys"))
    customer = trade.world.value("SELECT organization_id FROM service_customers WHERE id = %s", setup.customer_id)

    entries = trade.world.rows(
        """
        SELECT   organization_id, action, actor_user_id, details
        FROM     audit_entries
        WHERE    details ->> 'customer_id' = %s AND action NOT LIKE 'customer.%%' AND action NOT LIKE 'product%%'
        ORDER BY id
        """,
        setup.customer_id,
    )

    of_vendor = [(action, actor, data) for owner, action, actor, data in entries if owner != customer]
    of_customer = [(action, actor, data) for owner, action, actor, data in entries if owner == customer]
    assert len(of_vendor) == len(of_customer) == 5
    assert [action for action, _, _ in of_vendor] == [action for action, _, _ in of_customer]
    assert all(actor is None and data["api_key_id"] == key_id for _, actor, data in of_vendor)
    assert all(actor is None and data["by"] == "vendor" and "api_key_id" not in data for _, actor, data in of_customer)
