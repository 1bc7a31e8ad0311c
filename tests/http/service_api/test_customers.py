"""The backend of a service manages its customers with an API key."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

import pytest
import trio

from adapters.postgres.driver.connection import RawConnection
from core.customers.customers import OFFERS_MAX
from tests.application import Answer, serving, with_mail_limits
from tests.concurrency import at_once, statuses_of
from tests.waiting import waiting_for_a_lock
from tests.world.backend import KEY, Backend, insert_backend, insert_key
from tests.world.builder import NO_ID
from tests.world.customer_backend import CustomerBackend
from tests.world.trade import Trade
from tests.world.world import assert_refused

PATH = "/customers"


@pytest.fixture
def trade(shop: CustomerBackend) -> Trade:
    """A vendor with a service for customers, and another organization."""
    return shop.trade


@pytest.fixture
def backend(shop: CustomerBackend) -> Backend:
    """The backend of the service, with a key that has every permission."""
    return shop.backend


async def offer(backend: Backend, organization: str = "beta", **others: Any) -> Answer:
    return await backend.request("POST", PATH, body={"organization": organization, **others})


def key_id(backend: Backend) -> str:
    return str(backend.world.value("SELECT id FROM api_keys WHERE service_id = %s", backend.service_id))


async def test_a_backend_sees_and_changes_what_members_of_the_vendor_do(backend: Backend, trade: Trade) -> None:
    offered = await offer(backend, external_id="B-7")
    await trade.accept()
    customer_id = offered.json["id"]

    assert offered.status == 200, offered.text
    assert (offered.json["state"], offered.json["organization"]) == ("offered", {"slug": "beta", "name": None})
    shown = await backend.request("GET", f"{PATH}/{customer_id}")
    assert shown.json == (await trade.at_vendor("GET", f"/{customer_id}")).json
    assert shown.json["state"] == "active"
    assert (await backend.request("GET", f"{PATH}?q=b-7")).json == {"customers": [shown.json], "total": 1}
    assert (await backend.request("GET", f"{PATH}?q=other")).json == {"customers": [], "total": 0}
    paused = await backend.request("PATCH", f"{PATH}/{customer_id}", body={"paused": True, "external_id": "B-8"})
    assert (paused.json["state"], paused.json["external_id"]) == ("paused", "B-8")
    assert (await backend.request("DELETE", f"{PATH}/{customer_id}")).status == 204
    assert (await trade.at_vendor("GET")).json == {"customers": [], "total": 0}


async def test_a_backend_makes_a_customer_that_no_person_owns_yet(backend: Backend, trade: Trade) -> None:
    made = await backend.request("POST", PATH, body={"name": "Globex"})

    assert made.status == 200, made.text
    assert (made.json["state"], made.json["unclaimed"]) == ("active", True)
    listed = (await trade.at_vendor("GET")).json
    assert made.json in listed["customers"]


async def test_the_vendor_s_log_names_the_key_and_the_customer_s_log_does_not(backend: Backend, trade: Trade) -> None:
    customer_id = (await offer(backend)).json["id"]
    await trade.accept()
    await backend.request("PATCH", f"{PATH}/{customer_id}", body={"external_id": "B-8", "paused": True})
    await backend.request("PATCH", f"{PATH}/{customer_id}", body={"paused": False})
    await backend.request("DELETE", f"{PATH}/{customer_id}")

    written = {
        action: (actor, details.get("api_key_id"), details["customer_id"])
        for action, actor, details in trade.log_of(trade.vendor, "")
        if action != "customer.accepted"
    }
    by_key = (None, key_id(backend), customer_id)
    actions = ("customer.offered", "service.updated", "customer.paused", "customer.resumed", "customer.ended")
    assert written == dict.fromkeys(actions, by_key)
    for action, actor, details in trade.log_of(trade.customer, "product_access."):
        by = "customer" if action == "product_access.accepted" else "vendor"
        assert (details["by"], "api_key_id" in details) == (by, False)
        assert actor == (trade.customer.ids["head"] if by == "customer" else None)


async def test_an_offer_is_answered_alike_whether_the_organization_exists(backend: Backend, trade: Trade) -> None:
    there, not_there = [await offer(backend, slug) for slug in ("beta", "nowhere")]

    assert there.status == not_there.status == 200
    assert there.json | {"id": 0, "created_at": 0, "organization": 0} == not_there.json | {
        "id": 0,
        "created_at": 0,
        "organization": 0,
    }
    assert trade.log_of(trade.customer, "") == []


async def test_what_is_refused_to_members_is_refused_to_keys(backend: Backend, trade: Trade) -> None:
    first = (await offer(backend, "nowhere", external_id="one")).json["id"]
    second = (await offer(backend, external_id="two")).json["id"]

    assert_refused(await offer(backend, "acme"), 400, "BAD_REQUEST")
    assert_refused(await offer(backend, "B"), 400, "BAD_REQUEST")
    assert_refused(await offer(backend), 409, "CONFLICT")
    assert_refused(await offer(backend, "elsewhere", external_id="one"), 409, "CONFLICT")
    for body, refusal in (
        ({"external_id": "one"}, (409, "CONFLICT")),
        ({"external_id": ""}, (400, "BAD_REQUEST")),
        ({"paused": True}, (400, "BAD_REQUEST")),
    ):
        assert_refused(await backend.request("PATCH", f"{PATH}/{second}", body=body), *refusal)
    await trade.accept()
    assert_refused(await offer(backend), 409, "CONFLICT")
    assert (await backend.request("DELETE", f"{PATH}/{first}")).status == 204
    trade.world.connection.execute("DELETE FROM service_customers")
    trade.set_policy("none", "all")
    assert_refused(await offer(backend), 400, "BAD_REQUEST")


async def test_offers_by_keys_and_by_members_share_the_limit_of_the_organization(
    backend: Backend, trade: Trade
) -> None:
    token, by_member = await trade.vendor.token("owner"), f"{trade.vendor.path}/services/shop/customers"
    client = serving(with_mail_limits(trade.world.installation))

    async def send(number: int) -> Answer:
        body = {"organization": f"stranger-{number}"}
        if number % 2:
            return await client.request("POST", by_member, token=token, body=body)
        return await client.request("POST", f"/api/service{PATH}", headers={"X-Api-Key": KEY}, body=body)

    made = [(await send(number)).status for number in range(OFFERS_MAX)]
    refused = [await send(OFFERS_MAX + number) for number in range(2)]

    assert made == [200] * OFFERS_MAX
    for one in refused:
        assert_refused(one, 429, "RATE_LIMIT_EXCEEDED")
        assert one.headers["Retry-After"] == "3600"


async def test_customers_of_another_service_are_unknown(backend: Backend, trade: Trade) -> None:
    blog = trade.world.service(backend.organization_id, "blog")
    trade.world.serve_customers(blog)
    key = f"sk_blog12_{'b' * 43}"
    insert_key(trade.world, backend.organization_id, blog.id, key)
    globex = insert_backend(trade.world, "globex", "till", key=f"sk_globex_{'g' * 43}")
    customer_id = await trade.begin()

    for other in (backend.with_key(key), globex):
        assert (await other.request("GET", PATH)).json == {"customers": [], "total": 0}
        for method, body in (("GET", None), ("PATCH", {"paused": True}), ("DELETE", None)):
            options = {"body": body} if body is not None else {}
            for unknown in (customer_id, NO_ID):
                assert_refused(await other.request(method, f"{PATH}/{unknown}", **options), 404, "NOT_FOUND")
    assert (await trade.at_vendor("GET", f"/{customer_id}")).json["state"] == "active"


async def test_a_key_that_sets_customers_up_reads_them_and_changes_none(trade: Trade) -> None:
    key = f"sk_setup1_{'s' * 43}"
    insert_key(trade.world, trade.vendor.organization_id, trade.service.id, key, permissions=["setup:customers"])
    backend = Backend(trade.world, trade.vendor.organization_id, trade.service.id, key)
    customer_id = await trade.begin()

    assert (await backend.request("GET", PATH)).json["total"] == 1
    assert (await backend.request("GET", f"{PATH}/{customer_id}")).status == 200
    assert_refused(await offer(backend, "gamma"), 403, "FORBIDDEN")
    assert_refused(await backend.request("DELETE", f"{PATH}/{customer_id}"), 403, "FORBIDDEN")


async def test_a_key_does_what_its_permissions_say(trade: Trade) -> None:
    reading, other = f"sk_read12_{'r' * 43}", f"sk_other1_{'o' * 43}"
    insert_key(trade.world, trade.vendor.organization_id, trade.service.id, reading, permissions=["read:customers"])
    insert_key(trade.world, trade.vendor.organization_id, trade.service.id, other, permissions=["write:users"])
    backend = Backend(trade.world, trade.vendor.organization_id, trade.service.id, reading)
    customer_id = UUID(await trade.begin())

    assert (await backend.request("GET", f"{PATH}/{customer_id}")).status == 200
    assert_refused(await offer(backend, "gamma"), 403, "FORBIDDEN")
    assert_refused(await backend.request("DELETE", f"{PATH}/{customer_id}"), 403, "FORBIDDEN")
    assert_refused(await backend.with_key(other).request("GET", PATH), 403, "FORBIDDEN")


async def test_of_two_offers_at_once_to_one_slug_one_is_made(backend: Backend) -> None:
    assert sorted(statuses_of(await at_once(*[partial(offer, backend)] * 2))) == [200, 409]


async def test_a_key_whose_service_is_deleted_at_this_moment_is_401(
    backend: Backend, raw_connection: RawConnection
) -> None:
    answers: list[Answer] = []

    async def send() -> None:
        answers.append(await offer(backend))

    async with trio.open_nursery() as nursery:
        with raw_connection.transaction():
            raw_connection.execute("SELECT FROM organizations WHERE slug = 'acme' FOR NO KEY UPDATE")
            nursery.start_soon(send)
            await waiting_for_a_lock(backend.world.connection)
            raw_connection.execute("DELETE FROM services")

    assert_refused(answers[0], 401, "UNAUTHORIZED")
