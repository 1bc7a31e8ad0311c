"""People that a vendor admits for a customer: they use its service there, and are members of nothing."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from core.organizations import members
from tests.application import Answer
from tests.world import internal
from tests.world.signing_in import claims_of
from tests.world.trade import Trade

ADA = "ada@example.com"


@pytest.fixture
async def customer_id(trade: Trade) -> UUID:
    """A customer of the service, for which the vendor has made something that admits Ada."""
    customer_id = UUID(await trade.begin())
    internal_id = await internal.internal_of(trade.world, customer_id)
    internal.admit(trade.world, internal_id, trade.world.user(ADA))
    return customer_id


async def log_in(trade: Trade, customer: object = "beta", email: str = ADA) -> Answer:
    return await trade.world.log_in(email, org_slug="acme", service_slug="shop", customer=str(customer))


async def token(trade: Trade) -> str:
    answer = await log_in(trade)
    assert answer.status == 200, answer.text
    return str(answer.json["access_token"])


async def listed(trade: Trade, customer_id: UUID) -> list[dict[str, Any]]:
    page = await trade.at_vendor("GET", f"/{customer_id}/users")
    return list(page.json["users"]) if page.status == 200 else []


async def test_their_tokens_name_the_customer_and_no_role_there(trade: Trade, customer_id: UUID) -> None:
    access_token = await token(trade)
    claims = claims_of(access_token)
    profile = (await trade.world.client.get("/api/user", token=access_token)).json

    for one in (claims, profile):
        assert (one["customer"], one["customer_id"]) == ("beta", str(customer_id))
        assert (one["customer_role"], one["service_roles"]) == (None, [])


async def test_they_are_members_of_nothing(trade: Trade, customer_id: UUID) -> None:
    signed_in = await trade.world.sign_in(ADA)
    internal_slug = f"internal:{customer_id}"

    mine = await trade.world.client.get("/api/organizations", token=signed_in.access_token)
    assert mine.json == []
    for slug in (internal_slug, internal_slug.replace(":", "%3A"), "beta", "acme"):
        for path in ("", "/users", "/members", "/services"):
            answer = await trade.world.client.get(f"/api/organizations/{slug}{path}", token=signed_in.access_token)
            assert answer.status in {403, 404}, (slug, path)
    refused = await trade.world.log_in(ADA, org_slug=internal_slug)
    assert refused.status == 404


async def test_the_service_of_the_customer_is_among_their_applications(trade: Trade, customer_id: UUID) -> None:
    own = await trade.world.client.get("/api/user/customers", token=await token(trade))

    assert [one["id"] for one in own.json["customers"]] == [str(customer_id)]


async def test_a_customer_that_lets_in_assigned_people_lets_them_in_without_its_roles(
    trade: Trade, customer_id: UUID
) -> None:
    await trade.change_product(access="assigned", assignments=[{"subject": "everyone", "roles": ["editor"]}])
    assert claims_of(await token(trade))["service_roles"] == []
    trade.world.connection.execute(
        "UPDATE customer_users SET own_role_ids = ARRAY[%s]::uuid[] WHERE customer_id = %s",
        (trade.role_ids["viewer"], customer_id),
    )

    assert claims_of(await token(trade))["service_roles"] == ["viewer"]


async def test_a_membership_of_the_customer_goes_first(trade: Trade, customer_id: UUID) -> None:
    trade.world.member(trade.customer.organization_id, trade.world.user_id(ADA), "admin")
    assert claims_of(await token(trade))["customer_role"] == "admin"

    trade.world.connection.execute(
        "UPDATE memberships SET suspended_at = now() WHERE organization_id = %s AND user_id = %s",
        (trade.customer.organization_id, trade.world.user_id(ADA)),
    )

    assert (await log_in(trade)).status == 403


async def test_another_customer_of_the_same_organization_does_not_know_them(trade: Trade, customer_id: UUID) -> None:
    other = trade.world.service(trade.vendor.organization_id, "desk")
    trade.world.serve_customers(other)
    trade.world.customer(other, trade.customer.organization_id)

    answer = await trade.world.log_in(ADA, org_slug="acme", service_slug="desk", customer="beta")

    assert answer.status == 403


@pytest.mark.parametrize("end", ["pause", "end", "suspend"])
async def test_what_ends_the_customer_ends_their_access_with_the_next_request(
    trade: Trade, customer_id: UUID, end: str
) -> None:
    access_token = await token(trade)

    if end == "pause":
        await trade.at_vendor("PATCH", f"/{customer_id}", body={"paused": True})
    elif end == "end":
        await trade.at_vendor("DELETE", f"/{customer_id}")
    else:
        trade.world.connection.execute(
            "UPDATE organizations SET status = 'suspended' WHERE id = %s", (trade.customer.organization_id,)
        )

    assert (await trade.world.client.get("/api/user", token=access_token)).status == 403
    assert (await log_in(trade)).status == 403
    if end == "end":
        assert trade.world.value("SELECT count(*) FROM memberships WHERE made_for IS NOT NULL") == 0


async def test_an_unconfirmed_admission_hangs_on_the_address(trade: Trade, customer_id: UUID) -> None:
    ada = trade.world.user_id(ADA)
    await token(trade)
    transact = trade.world.installation.database.transact
    await transact(members.remove_unconfirmed, ada, reason="address_changed")
    assert trade.world.value("SELECT count(*) FROM memberships WHERE made_for IS NOT NULL") == 1

    trade.world.connection.execute("UPDATE memberships SET confirmed_at = NULL WHERE user_id = %s", (ada,))
    await transact(members.remove_unconfirmed, ada, reason="address_changed")

    assert trade.world.value("SELECT count(*) FROM memberships WHERE made_for IS NOT NULL") == 0
    assert trade.world.value("SELECT count(*) FROM sessions WHERE customer_id IS NOT NULL AND revoked_at IS NULL") == 0


async def test_an_ended_admission_ends_access_with_the_next_request(trade: Trade, customer_id: UUID) -> None:
    access_token = await token(trade)

    trade.world.connection.execute("DELETE FROM memberships WHERE made_for = %s", (customer_id,))

    assert (await trade.world.client.get("/api/user", token=access_token)).status == 403


async def test_a_vendor_has_no_power_over_an_account_that_another_one_admits(trade: Trade, customer_id: UUID) -> None:
    world, other = trade.world, trade.world.team("initech")
    desk = world.service(other.organization_id, "desk")
    world.serve_customers(desk)
    record = world.customer(desk, trade.customer.organization_id)
    internal.admit(world, await internal.internal_of(world, record), world.user_id(ADA))
    there = await world.log_in(ADA, org_slug="initech", service_slug="desk", customer="beta")

    for access_token in (await token(trade), str(there.json["access_token"])):
        for method, path, body in (
            ("PATCH", "/api/user", {"email": "eve@example.com"}),
            ("POST", "/api/user/mfa/setup", None),
        ):
            answer = await world.client.request(method, path, token=access_token, body=body)
            assert answer.status == 403, path
    alone = await world.client.get("/api/user/sessions", token=await token(trade))
    query = "SELECT id::text FROM sessions WHERE service_id = %s"
    assert {(one["id"],) for one in alone.json["sessions"]} == {*world.rows(query, trade.service.id)}
