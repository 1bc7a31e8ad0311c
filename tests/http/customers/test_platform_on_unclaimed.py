"""The platform's decisions about organizations that vendors have made and that have no owner yet."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.world.builder import NO_ID
from tests.world.claims import ANN, Claims
from tests.world.trade import Trade
from tests.world.world import SignedInUser, assert_refused

PATH = "/api/platform/organizations"


@pytest.fixture
def claims(trade: Trade) -> Claims:
    """A vendor that makes customers."""
    return Claims(trade)


@pytest.fixture
async def root(trade: Trade) -> SignedInUser:
    """A platform owner."""
    return await trade.world.signed_in_platform_owner()


async def made(claims: Claims) -> tuple[str, UUID]:
    """Return a customer that the vendor has made and set up, and its organization."""
    customer_id = await claims.make("Globex")
    await claims.internal(customer_id)
    return customer_id, claims.organization_of(customer_id)


async def listed(root: SignedInUser, query: str = "") -> dict[str, Any]:
    """Return the list of organizations by their names."""
    answer = await root.get(f"{PATH}{query}")
    assert answer.status == 200, answer.text
    return {one["organization"]["name"]: one for one in answer.json["organizations"]}


async def test_the_list_says_that_nobody_owns_it_and_has_no_internal_organization(
    claims: Claims, root: SignedInUser
) -> None:
    _, organization_id = await made(claims)

    found = await listed(root)

    assert found["Globex"]["organization"]["id"] == str(organization_id)
    assert (found["Globex"]["unclaimed"], found["Globex"]["owner"]) == (True, None)
    assert {name: one["unclaimed"] for name, one in found.items()} == {"Globex": True, "Acme": False, "Beta": False}
    assert list(await listed(root, "?status=pending")) == ["Globex"]
    assert (await root.get(PATH)).json["total"] == 3


async def test_a_claimed_one_is_listed_with_its_owner(claims: Claims, root: SignedInUser) -> None:
    await claims.claimed("Globex")

    one = (await listed(root))["Globex"]

    assert (one["unclaimed"], one["owner"]["email"]) == (False, ANN)


async def test_an_internal_organization_cannot_be_decided_about(claims: Claims, root: SignedInUser) -> None:
    customer_id = await claims.make()
    internal_id = await claims.internal(customer_id)

    for verb, body in (("approve", {}), ("reject", {"reason": "No."}), ("suspend", {}), ("activate", {})):
        assert_refused(await root.post(f"{PATH}/{internal_id}/{verb}", body=body), 404, "NOT_FOUND")
    assert_refused(await root.delete(f"{PATH}/{internal_id}"), 404, "NOT_FOUND")
    assert_refused(await root.delete(f"{PATH}/{NO_ID}"), 404, "NOT_FOUND")
    assert claims.trade.world.value("SELECT status FROM organizations WHERE id = %s", internal_id) == "active"


async def test_it_is_approved_and_the_relation_goes_on(claims: Claims, root: SignedInUser) -> None:
    customer_id, organization_id = await made(claims)
    await claims.trade.world.mails()

    approved = await root.post(f"{PATH}/{organization_id}/approve", body={})

    assert approved.status == 200, approved.text
    assert approved.json["organization"]["status"] == "active"
    assert (await claims.record(customer_id))["state"] == "active"
    assert (await listed(root))["Globex"]["unclaimed"] is True
    assert await claims.trade.world.mails() == []


async def test_nothing_of_the_relation_works_once_it_is_rejected(claims: Claims, root: SignedInUser) -> None:
    customer_id, organization_id = await made(claims)
    token = await claims.token(customer_id)

    rejected = await root.post(f"{PATH}/{organization_id}/reject", body={"reason": "A copy of another one."})

    assert rejected.status == 200, rejected.text
    assert await claims.trade.world.mails() == []
    await assert_nothing_works(claims, customer_id, token)


async def test_nothing_of_the_relation_works_while_it_is_suspended(claims: Claims, root: SignedInUser) -> None:
    customer_id, organization_id = await made(claims)
    token = await claims.token(customer_id)
    await root.post(f"{PATH}/{organization_id}/approve", body={})

    suspended = await root.post(f"{PATH}/{organization_id}/suspend", body={})

    assert suspended.status == 200, suspended.text
    await assert_nothing_works(claims, customer_id, token)

    activated = await root.post(f"{PATH}/{organization_id}/activate")

    assert activated.status == 200, activated.text
    page = await claims.claim(await claims.browser(), token)
    assert page.status == 200, page.text
    assert (await claims.record(customer_id))["unclaimed"] is False


async def assert_nothing_works(claims: Claims, customer_id: str, token: str) -> None:
    """Assert that what was made admits no person, that nothing more is set up, and that it cannot be claimed."""
    trade = claims.trade
    status = trade.world.value("SELECT status FROM organizations WHERE internal_of = %s", customer_id)
    assert status == "suspended"
    body = {"parts": ["upstream"]}
    assert_refused(
        await trade.at_vendor("POST", f"/{customer_id}/setup-links", body=body), 403, "ORGANIZATION_NOT_ACTIVE"
    )
    assert (await claims.claim(await claims.browser(), token)).status == 400
    assert (await trade.at_vendor("GET", f"/{customer_id}")).status == 200


async def test_one_that_the_platform_deletes_ends_the_relation_with_all_that_was_made(
    claims: Claims, root: SignedInUser
) -> None:
    customer_id, organization_id = await made(claims)

    deleted = await root.delete(f"{PATH}/{organization_id}")

    assert deleted.status == 204, deleted.text
    assert_refused(await claims.trade.at_vendor("GET", f"/{customer_id}"), 404, "NOT_FOUND")
    assert claims.trade.world.value("SELECT count(*) FROM organizations WHERE internal_of IS NOT NULL") == 0


async def test_an_ended_one_stays_unclaimed_until_it_is_deleted(claims: Claims, root: SignedInUser) -> None:
    customer_id, _ = await made(claims)

    await claims.trade.at_vendor("DELETE", f"/{customer_id}")

    one = (await listed(root, "?status=deleting"))["Globex"]
    assert (one["unclaimed"], one["owner"]) == (True, None)
