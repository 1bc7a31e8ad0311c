"""A customer without an owner ends with the relation, and can be restored with it for 14 days."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from core.organizations.organizations import RESTORABLE_FOR
from core.platform import ended_organizations
from tests.application import Answer
from tests.concurrency import at_once
from tests.world.backend import KEY, Backend, insert_key
from tests.world.claims import CLAIMS, Claims
from tests.world.customer_setups import make_customer_setup
from tests.world.trade import Trade
from tests.world.world import assert_refused


@pytest.fixture
def claims(trade: Trade) -> Claims:
    """A vendor that makes customers."""
    return Claims(trade)


async def end(claims: Claims, customer_id: str) -> None:
    answer = await claims.trade.at_vendor("DELETE", f"/{customer_id}")
    assert answer.status == 204, answer.text


async def restore(claims: Claims, customer_id: str, *, by: str = "owner") -> Answer:
    return await claims.trade.at_vendor("POST", f"/{customer_id}/restore", by=by)


async def clean_up(claims: Claims) -> None:
    while await claims.trade.world.installation.database.transact(ended_organizations.delete_next):
        pass


def status_of(claims: Claims, organization_id: UUID) -> str | None:
    found = claims.trade.world.rows("SELECT status FROM organizations WHERE id = %s", organization_id)
    return found[0][0] if found else None


async def test_it_comes_back_as_it_was(claims: Claims) -> None:
    customer_id = await claims.make(external_id="G-1")
    organization_id, internal = claims.organization_of(customer_id), await claims.internal(customer_id)
    before = await claims.record(customer_id)
    claims.trade.rechecks()

    await end(claims, customer_id)

    assert claims.trade.rechecks() == {UUID(customer_id)}
    assert (await claims.trade.at_vendor("GET", f"/{customer_id}")).status == 404
    assert (await claims.trade.at_vendor("GET")).json == {"customers": [], "total": 0}
    assert (status_of(claims, organization_id), status_of(claims, internal)) == ("deleting", "suspended")
    answer = await restore(claims, customer_id)
    assert answer.status == 200, answer.text
    assert answer.json == before
    assert await claims.record(customer_id) == before
    assert (status_of(claims, organization_id), status_of(claims, internal)) == ("pending", "active")


async def test_both_logs_say_that_it_ended_and_came_back(claims: Claims) -> None:
    customer_id = await claims.make()

    await end(claims, customer_id)
    await restore(claims, customer_id)

    entries = claims.trade.log_of(claims.trade.vendor, "customer.")
    assert [action for action, _, _ in entries] == ["customer.accepted", "customer.ended", "customer.accepted"]
    assert [details.get("restored") for _, _, details in entries] == [None, None, True]
    own = claims.trade.world.rows(
        "SELECT action FROM audit_entries WHERE organization_id = %s ORDER BY id", claims.organization_of(customer_id)
    )
    changes = ("accepted", "ended", "accepted")
    assert [action for (action,) in own] == [f"product_access.{change}" for change in changes]


async def test_its_external_id_is_free_meanwhile_and_may_be_taken_then(claims: Claims) -> None:
    customer_id = await claims.make(external_id="G-1")
    await end(claims, customer_id)
    other = await claims.make("Initech", external_id="G-1")

    assert_refused(await restore(claims, customer_id), 409, "CONFLICT")

    await claims.trade.at_vendor("PATCH", f"/{other}", body={"external_id": "I-1"})
    assert (await restore(claims, customer_id)).json["external_id"] == "G-1"


async def test_a_link_to_claim_it_does_not_come_back(claims: Claims) -> None:
    customer_id = await claims.make()
    token = await claims.token(customer_id)
    await end(claims, customer_id)
    client = claims.trade.world.client
    assert (await client.get(f"{CLAIMS}?token={token}")).status == 400

    await restore(claims, customer_id)

    assert (await client.get(f"{CLAIMS}?token={token}")).status == 400
    assert (await client.get(f"{CLAIMS}?token={await claims.token(customer_id)}")).status == 200


async def test_after_14_days_it_is_deleted_for_good(claims: Claims) -> None:
    customer_id = await claims.make()
    organization_id, internal = claims.organization_of(customer_id), await claims.internal(customer_id)
    await end(claims, customer_id)
    claims.trade.pass_time(RESTORABLE_FOR - timedelta(seconds=1))
    await clean_up(claims)
    assert status_of(claims, organization_id) == "deleting"

    claims.trade.pass_time(timedelta(seconds=1))

    assert_refused(await restore(claims, customer_id), 404, "NOT_FOUND")
    await clean_up(claims)
    assert status_of(claims, organization_id) is None
    assert status_of(claims, internal) is None
    assert claims.trade.world.value("SELECT count(*) FROM service_customers") == 0


async def test_what_was_claimed_or_accepted_ends_for_good(claims: Claims) -> None:
    for customer_id in (await claims.claimed(), await claims.trade.begin()):
        organization_id = claims.organization_of(customer_id)
        await end(claims, customer_id)

        assert_refused(await restore(claims, customer_id), 404, "NOT_FOUND")
        assert status_of(claims, organization_id) in {"pending", "active"}


async def test_what_has_not_ended_and_what_is_another_service_s_is_not_restored(claims: Claims) -> None:
    customer_id = await claims.make()
    assert_refused(await restore(claims, customer_id), 404, "NOT_FOUND")
    claims.trade.world.service(claims.trade.vendor.organization_id, "other")
    await end(claims, customer_id)

    path = f"/services/other/customers/{customer_id}/restore"
    elsewhere = await claims.trade.vendor.request("owner", "POST", path)

    assert_refused(elsewhere, 404, "NOT_FOUND")
    assert_refused(await restore(claims, customer_id, by="member"), 403, "FORBIDDEN")


async def test_a_service_without_customers_restores_none(claims: Claims) -> None:
    customer_id = await claims.make()
    await end(claims, customer_id)
    answer = await claims.trade.vendor.request("owner", "PATCH", "/services/shop", body={"customers": "none"})
    assert answer.status == 200, answer.text

    assert_refused(await restore(claims, customer_id), 400, "BAD_REQUEST")

    await claims.trade.vendor.request("owner", "PATCH", "/services/shop", body={"customers": "listed"})
    assert (await restore(claims, customer_id)).status == 200


async def test_of_two_at_once_one_restores_it(claims: Claims) -> None:
    customer_id = await claims.make()
    await end(claims, customer_id)

    answers = await at_once(*[lambda: restore(claims, customer_id)] * 2)

    assert sorted(answer.status for answer in answers) == [200, 404]


async def test_a_backend_restores_what_it_has_ended(claims: Claims) -> None:
    trade = claims.trade
    backend = Backend(trade.world, trade.vendor.organization_id, trade.service.id)
    insert_key(trade.world, trade.vendor.organization_id, trade.service.id, KEY)
    customer_id = await claims.make()

    ended = await backend.request("DELETE", f"/customers/{customer_id}")
    answer = await backend.request("POST", f"/customers/{customer_id}/restore")

    assert (ended.status, answer.status) == (204, 200), answer.text
    assert answer.json == await claims.record(customer_id)


async def test_they_count_among_those_that_nobody_has_claimed(claims: Claims) -> None:
    await end(claims, await claims.make())

    count = claims.trade.world.installation.database.transact(
        lambda uow: uow.service_customers.count_unclaimed(claims.trade.vendor.organization_id)
    )

    assert await count == 1


async def test_a_deleted_service_leaves_no_organization(claims: Claims) -> None:
    customer_id = await claims.make()
    organization_id, internal = claims.organization_of(customer_id), await claims.internal(customer_id)
    vendor = claims.trade.vendor
    assert_refused(await vendor.request("owner", "DELETE", "/services/shop"), 409, "CONFLICT")
    await end(claims, customer_id)

    assert (await vendor.request("owner", "DELETE", "/services/shop")).status == 204

    assert status_of(claims, internal) is None
    claims.trade.pass_time(RESTORABLE_FOR)
    await clean_up(claims)
    assert status_of(claims, organization_id) is None


async def test_a_vendor_that_restores_itself_restores_its_customers_one_by_one(claims: Claims) -> None:
    customer_id = await claims.make(external_id="G-1")
    claimed = await claims.claimed("Initech", "initech")
    accepted = await claims.trade.begin()
    organization_id = claims.organization_of(customer_id)
    kept = [claims.organization_of(one) for one in (claimed, accepted)]
    vendor = claims.trade.vendor

    assert (await vendor.request("owner", "DELETE", "")).status == 204

    assert status_of(claims, organization_id) == "deleting"
    assert [status_of(claims, one) for one in kept] == ["pending", "active"]
    await claims.trade.world.installation.database.transact(
        lambda uow: uow.deleted_organizations.restore(vendor.organization_id)
    )
    assert (await restore(claims, customer_id)).json["external_id"] == "G-1"
    assert_refused(await restore(claims, claimed), 404, "NOT_FOUND")


async def test_a_vendor_that_is_deleted_for_good_leaves_no_organization(claims: Claims) -> None:
    customer_id, ended = await claims.make(), await claims.make("Initech")
    await end(claims, ended)
    organizations = [claims.organization_of(one) for one in (customer_id, ended)]
    root = await claims.trade.world.signed_in_platform_owner()

    answer = await root.delete(f"/api/platform/organizations/{claims.trade.vendor.organization_id}")

    assert answer.status == 204, answer.text
    await clean_up(claims)
    assert status_of(claims, organizations[0]) is None
    claims.trade.world.clock.advance(RESTORABLE_FOR)
    await clean_up(claims)
    assert status_of(claims, organizations[1]) is None


async def test_the_platform_deletes_an_unclaimed_organization_with_the_customer(claims: Claims) -> None:
    customer_id = await claims.make()
    organization_id, internal = claims.organization_of(customer_id), await claims.internal(customer_id)
    root = await claims.trade.world.signed_in_platform_owner()

    answer = await root.delete(f"/api/platform/organizations/{organization_id}")

    assert answer.status == 204, answer.text
    assert (status_of(claims, organization_id), status_of(claims, internal)) == (None, None)
    assert (await claims.trade.at_vendor("GET", f"/{customer_id}")).status == 404


async def test_who_finds_its_connection_while_it_ends_comes_by_it_no_more(claims: Claims) -> None:
    trade = claims.trade
    setup = await make_customer_setup(trade)
    connection = await setup.connect(enabled=True)
    path = f"/auth/upstream?connection_id={connection['id']}"
    await end(claims, setup.customer_id)
    # What a request sees that reads the connection before the end, and the customer after it.
    trade.world.connection.execute("UPDATE organizations SET status = 'active' WHERE id = %s", (setup.internal_id,))

    refused = await trade.world.client.get(path)

    assert refused.status == 404
    assert "Signing in here is not set up any more" in refused.text
