"""The customers of a service, as its vendor offers it to them and manages them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from core.customers.customers import OFFER_LIFETIME, OFFERS_MAX, OFFERS_WINDOW
from core.platform import housekeeping
from core.platform.housekeeping import Leftover
from tests.application import Answer, serving, with_mail_limits
from tests.concurrency import at_once
from tests.world.trade import Trade
from tests.world.world import assert_refused


def problem_of(answer: Answer) -> list[str]:
    """Return the fields that a refusal names."""
    assert_refused(answer, 400, "BAD_REQUEST")
    return [one["field"] for one in answer.json["details"]]


class TestOffering:
    async def test_an_offer_shows_the_slug_as_typed_and_no_name(self, trade: Trade) -> None:
        answer = await trade.at_vendor("POST", body={"organization": "beta", "external_id": "B-7"})

        assert answer.status == 200, answer.text
        assert answer.json == {
            "id": answer.json["id"],
            "organization": {"slug": "beta", "name": None},
            "state": "offered",
            "external_id": "B-7",
            "paused": False,
            "shares_directory": False,
            "unclaimed": False,
            "vendor_setup": [],
            "last_sign_in_at": None,
            "created_at": answer.json["created_at"],
            "metadata": {},
        }
        assert (await trade.at_vendor("GET", f"/{answer.json['id']}")).json == answer.json
        assert (await trade.at_vendor("GET")).json == {"customers": [answer.json], "total": 1}

    async def test_an_offer_is_answered_alike_whether_the_organization_exists(self, trade: Trade) -> None:
        offered = [await trade.at_vendor("POST", body={"organization": slug}) for slug in ("beta", "nowhere")]

        there, not_there = offered
        assert there.status == not_there.status == 200
        assert there.json | {"id": 0, "created_at": 0} == not_there.json | {
            "id": 0,
            "created_at": 0,
            "organization": {"slug": "beta", "name": None},
        }
        assert trade.log_of(trade.customer, "") == []
        assert [sorted(details) for _, _, details in trade.log_of(trade.vendor, "customer.")] == [
            ["client_id", "customer_id", "external_id", "organization_slug", "service_slug"]
        ] * 2

    async def test_an_organization_that_takes_the_slug_later_sees_nothing(self, trade: Trade) -> None:
        await trade.offer("gamma")
        later = trade.world.team("gamma")
        later.add("late", "owner")

        listed = await later.request("late", "GET", "/products")
        accepted = await later.request("late", "POST", "/products", body={"client_id": str(trade.service.client_id)})

        assert listed.json == {"products": [], "total": 0}
        assert_refused(accepted, 404, "NOT_FOUND")

    async def test_what_is_no_slug_and_the_vendor_itself_are_refused(self, trade: Trade) -> None:
        for slug in ("Beta", "b", "-beta", "be--ta", ""):
            assert problem_of(await trade.at_vendor("POST", body={"organization": slug})) == ["organization"], slug
        assert problem_of(await trade.at_vendor("POST", body={"organization": "acme"})) == ["organization"]
        assert problem_of(await trade.at_vendor("POST", body={"organization": "B", "external_id": ""})) == [
            "external_id",
            "organization",
        ]

    async def test_a_second_open_offer_and_one_to_a_customer_conflict(self, trade: Trade) -> None:
        await trade.offer("nowhere")
        await trade.begin()

        assert_refused(await trade.at_vendor("POST", body={"organization": "nowhere"}), 409, "CONFLICT")
        assert_refused(await trade.at_vendor("POST", body={"organization": "beta"}), 409, "CONFLICT")

    async def test_an_external_id_is_unique_in_the_service_over_customers_and_offers(self, trade: Trade) -> None:
        customer_id = await trade.begin(external_id="one")
        other = await trade.offer("nowhere", external_id="two")
        another_service = trade.world.service(trade.vendor.organization_id, "blog")
        trade.world.serve_customers(another_service)

        for taken in ("one", "two"):
            body = {"organization": "elsewhere", "external_id": taken}
            assert_refused(await trade.at_vendor("POST", body=body), 409, "CONFLICT")
        changed = await trade.at_vendor("PATCH", f"/{other}", body={"external_id": "one"})
        assert_refused(changed, 409, "CONFLICT")
        kept = await trade.at_vendor("PATCH", f"/{customer_id}", body={"external_id": "one"})
        assert kept.json["external_id"] == "one"
        in_another = await trade.vendor.request(
            "owner", "POST", "/services/blog/customers", body={"organization": "beta", "external_id": "one"}
        )
        assert in_another.status == 200

    async def test_an_external_id_has_1_to_255_characters(self, trade: Trade) -> None:
        for text in ("", "x" * 256, "a\nb"):
            body = {"organization": "beta", "external_id": text}
            assert problem_of(await trade.at_vendor("POST", body=body)) == ["external_id"], text

        customer_id = await trade.offer(external_id="x" * 255)
        for text in ("", "x" * 256):
            changed = await trade.at_vendor("PATCH", f"/{customer_id}", body={"external_id": text})
            assert problem_of(changed) == ["external_id"]

    async def test_a_service_without_customers_offers_nothing(self, trade: Trade) -> None:
        trade.set_policy("none", "all")

        assert_refused(await trade.at_vendor("POST", body={"organization": "beta"}), 400, "BAD_REQUEST")
        assert (await trade.at_vendor("GET")).json == {"customers": [], "total": 0}

    async def test_of_two_offers_at_once_to_one_slug_one_is_made(self, trade: Trade) -> None:
        await trade.vendor.token("owner")

        answers = await at_once(*[lambda: trade.at_vendor("POST", body={"organization": "beta"})] * 2)

        assert sorted(answer.status for answer in answers) == [200, 409]


class TestExpiring:
    async def test_an_offer_that_has_expired_is_as_if_absent(self, trade: Trade) -> None:
        customer_id = await trade.offer(external_id="one")
        trade.pass_time(OFFER_LIFETIME)

        for path in ("", f"/{customer_id}"):
            found = await trade.at_vendor("GET", path)
            assert found.status == 404 if path else found.json == {"customers": [], "total": 0}
        assert (await trade.at_customer("GET", "/products")).json["total"] == 0
        assert_refused(await trade.at_customer("GET"), 404, "NOT_FOUND")
        assert_refused(await trade.at_customer("DELETE"), 404, "NOT_FOUND")
        assert_refused(await trade.send_acceptance(), 404, "NOT_FOUND")
        assert_refused(await trade.at_vendor("DELETE", f"/{customer_id}"), 404, "NOT_FOUND")
        again = await trade.at_vendor("POST", body={"organization": "beta", "external_id": "one"})
        assert again.status == 200
        assert again.json["id"] != customer_id

    async def test_housekeeping_deletes_offers_that_have_expired_and_no_customer(self, trade: Trade) -> None:
        await trade.begin()
        await trade.offer("nowhere")
        trade.world.clock.advance(OFFER_LIFETIME - timedelta(seconds=1))

        async def sweep() -> int:
            return await trade.world.installation.database.transact(
                housekeeping.sweep, Leftover.CUSTOMER_OFFERS, Leftover.CUSTOMER_OFFERS.kept_for, 100
            )

        assert await sweep() == 0
        trade.world.clock.advance(timedelta(seconds=1))
        assert await sweep() == 1
        assert trade.world.value("SELECT count(*) FROM service_customers") == 1


class TestListing:
    async def test_customers_are_listed_newest_first_in_parts(self, trade: Trade) -> None:
        ids = [await trade.offer(slug) for slug in ("one-1", "two-2", "three-3")]

        page = await trade.at_vendor("GET", "?limit=2&offset=1")

        assert [one["id"] for one in page.json["customers"]] == [ids[1], ids[0]]
        assert page.json["total"] == 3
        beyond = await trade.at_vendor("GET", "?offset=3")
        assert beyond.json == {"customers": [], "total": 3}

    async def test_a_search_finds_slugs_names_of_customers_and_external_ids(self, trade: Trade) -> None:
        trade.world.connection.execute("UPDATE organizations SET name = 'Zeta Works' WHERE slug = 'beta'")
        await trade.offer("zeta-corp", external_id="E-9")
        await trade.offer()

        async def found(text: str) -> list[str]:
            answer = await trade.at_vendor("GET", f"?q={text}")
            assert answer.json["total"] == len(answer.json["customers"])
            return [one["organization"]["slug"] for one in answer.json["customers"]]

        assert await found("ZETA") == ["zeta-corp"]
        assert await found("works") == []
        assert await found("e-9") == ["zeta-corp"]
        await trade.accept()
        assert await found("zeta") == ["beta", "zeta-corp"]
        assert await found("eta") == ["beta", "zeta-corp"]
        assert await found("%") == []

    async def test_the_last_sign_in_is_exact_to_the_hour(self, trade: Trade) -> None:
        customer_id = await trade.begin()
        trade.world.connection.execute("UPDATE service_customers SET last_sign_in_at = '2026-02-03T04:05:06Z'")

        shown = await trade.at_vendor("GET", f"/{customer_id}")

        assert shown.json["last_sign_in_at"] == "2026-02-03T04:00:00Z"


class TestChanging:
    async def test_the_external_id_changes_and_is_cleared(self, trade: Trade) -> None:
        customer_id = await trade.begin(external_id="one")

        changed = await trade.at_vendor("PATCH", f"/{customer_id}", body={"external_id": "two"})
        cleared = await trade.at_vendor("PATCH", f"/{customer_id}", body={"external_id": None})
        same = await trade.at_vendor("PATCH", f"/{customer_id}", body={})

        assert (changed.json["external_id"], cleared.json["external_id"]) == ("two", None)
        assert same.json == cleared.json
        entries = [details for _, _, details in trade.log_of(trade.vendor, "service.updated")]
        assert [(one["old_external_id"], one["external_id"]) for one in entries] == [("one", "two"), ("two", None)]
        assert {one["change"] for one in entries} == {"customer_changed"}
        assert {one["customer_id"] for one in entries} == {customer_id}

    async def test_each_side_sets_and_lifts_its_own_pause_alone(self, trade: Trade) -> None:
        customer_id = UUID(await trade.begin())
        trade.rechecks()

        def states(at_vendor: Answer, at_customer: dict[str, Any]) -> list[tuple[str, bool]]:
            return [(one["state"], one["paused"]) for one in (at_vendor.json, at_customer)]

        async def pause(*, is_paused: bool) -> Answer:
            return await trade.at_vendor("PATCH", f"/{customer_id}", body={"paused": is_paused})

        at_vendor = await pause(is_paused=True)
        assert states(at_vendor, await trade.change_product(paused=False)) == [("paused", True), ("paused", False)]
        at_customer = await trade.change_product(paused=True)
        assert states(await pause(is_paused=False), at_customer) == [("paused", False), ("paused", True)]
        at_customer = await trade.change_product(paused=False)
        assert states(await pause(is_paused=False), at_customer) == [("active", False), ("active", False)]
        assert trade.rechecks() == {customer_id}

    async def test_an_offer_cannot_be_paused(self, trade: Trade) -> None:
        customer_id = await trade.offer()

        assert problem_of(await trade.at_vendor("PATCH", f"/{customer_id}", body={"paused": True})) == ["paused"]
        unchanged = await trade.at_vendor("PATCH", f"/{customer_id}", body={"paused": False})
        assert unchanged.json["state"] == "offered"


class TestEnding:
    async def test_an_offer_is_withdrawn(self, trade: Trade) -> None:
        customer_id = await trade.offer()

        assert (await trade.at_vendor("DELETE", f"/{customer_id}")).status == 204

        assert_refused(await trade.send_acceptance(), 404, "NOT_FOUND")
        assert trade.log_of(trade.customer, "") == []
        assert [action for action, _, _ in trade.log_of(trade.vendor, "customer.")] == [
            "customer.offered",
            "customer.ended",
        ]

    async def test_a_customer_ends_and_what_begins_anew_inherits_nothing(self, trade: Trade) -> None:
        customer_id = await trade.begin(external_id="one")
        await trade.change_product(access="assigned", hidden=True, assignments=[{"subject": "everyone"}])
        trade.rechecks()

        assert (await trade.at_vendor("DELETE", f"/{customer_id}")).status == 204

        assert trade.rechecks() == {UUID(customer_id)}
        assert_refused(await trade.at_customer("GET"), 404, "NOT_FOUND")
        assert_refused(await trade.at_vendor("GET", f"/{customer_id}"), 404, "NOT_FOUND")
        await trade.offer()
        product = await trade.accept()
        assert product["customer_id"] != customer_id
        assert (product["access"], product["hidden"], product["assignments"]) == ("members", False, [])


class TestWho:
    async def test_customers_take_the_management_of_the_service(self, trade: Trade) -> None:
        customer_id = await trade.offer()

        for method, path, body in (
            ("GET", "", None),
            ("POST", "", {"organization": "other"}),
            ("GET", f"/{customer_id}", None),
            ("PATCH", f"/{customer_id}", {}),
            ("DELETE", f"/{customer_id}", None),
        ):
            assert_refused(await trade.at_vendor(method, path, by="member", body=body), 403, "FORBIDDEN")
        trade.world.grant(trade.vendor.organization_id, trade.service.id, trade.vendor.ids["member"], "manager")
        assert (await trade.at_vendor("GET", by="member")).status == 200

    async def test_a_customer_is_found_at_its_own_service_alone(self, trade: Trade) -> None:
        customer_id = await trade.begin()
        blog = trade.world.service(trade.vendor.organization_id, "blog")
        trade.world.serve_customers(blog)
        # The customer is itself a vendor, of another service of the same slug.
        own = trade.world.service(trade.customer.organization_id, "shop")
        trade.world.serve_customers(own)

        for team, name, slug in ((trade.vendor, "owner", "blog"), (trade.customer, "head", "shop")):
            for method in ("GET", "PATCH", "DELETE"):
                body = {"paused": True} if method == "PATCH" else None
                answer = await team.request(name, method, f"/services/{slug}/customers/{customer_id}", body=body)
                assert_refused(answer, 404, "NOT_FOUND")
        assert_refused(await trade.at_vendor("GET", "/no-uuid"), 404, "NOT_FOUND")
        assert (await trade.at_vendor("GET", f"/{customer_id}")).json["state"] == "active"


class TestLogs:
    async def test_each_log_names_its_own_people_and_what_the_other_side_did_without_them(self, trade: Trade) -> None:
        customer_id = await trade.begin(external_id="one")
        await trade.at_vendor("PATCH", f"/{customer_id}", body={"paused": True})
        await trade.change_product(paused=True)
        await trade.at_vendor("PATCH", f"/{customer_id}", body={"paused": False})
        await trade.change_product(paused=False)
        await trade.at_customer("DELETE")

        owner, head = trade.vendor.ids["owner"], trade.customer.ids["head"]
        of_vendor = trade.log_of(trade.vendor, "customer.")
        of_customer = trade.log_of(trade.customer, "product_access.")
        assert [(action, actor, details.get("by")) for action, actor, details in of_vendor] == [
            ("customer.offered", owner, None),
            ("customer.accepted", None, "customer"),
            ("customer.paused", owner, "vendor"),
            ("customer.paused", None, "customer"),
            ("customer.resumed", owner, "vendor"),
            ("customer.resumed", None, "customer"),
            ("customer.ended", None, "customer"),
        ]
        assert [(action, actor, details["by"]) for action, actor, details in of_customer] == [
            ("product_access.accepted", head, "customer"),
            ("product_access.paused", None, "vendor"),
            ("product_access.paused", head, "customer"),
            ("product_access.resumed", None, "vendor"),
            ("product_access.resumed", head, "customer"),
            ("product_access.ended", head, "customer"),
        ]
        facts = {
            "customer_id": customer_id,
            "client_id": str(trade.service.client_id),
            "service_slug": "shop",
            "external_id": "one",
            "organization_slug": "beta",
        }
        assert of_vendor[0][2] == facts
        assert of_vendor[1][2] == facts | {"organization_name": "Beta", "by": "customer"}
        assert of_customer[1][2] == {
            "customer_id": customer_id,
            "client_id": str(trade.service.client_id),
            "service_name": "Shop",
            "vendor_slug": "acme",
            "vendor_name": "Acme",
            "by": "vendor",
        }
        assert str(trade.customer.organization_id) not in str(of_vendor)

    async def test_the_log_of_the_other_side_names_neither_address_nor_program_nor_actor(self, trade: Trade) -> None:
        customer_id = await trade.begin()
        trade.world.connection.execute("DELETE FROM audit_entries")
        trade.world.connection.execute("DELETE FROM events")

        await trade.at_vendor("PATCH", f"/{customer_id}", body={"paused": True})
        await trade.at_customer("DELETE")

        entries = """
            SELECT organization_id, target_type, target_id, ip_address IS NOT NULL OR user_agent IS NOT NULL,
                   request_id IS NOT NULL
            FROM   audit_entries ORDER BY id
        """
        vendor, customer = trade.vendor.organization_id, trade.customer.organization_id
        assert [(one, bool(origin), request) for one, _, _, origin, request in trade.world.rows(entries)] == [
            (vendor, True, True),
            (customer, False, False),
            (customer, True, True),
            (vendor, False, False),
        ]
        assert {(kind, target) for _, kind, target, _, _ in trade.world.rows(entries)} == {("customer", customer_id)}
        events = "SELECT organization_id, actor_user_id, actor_email FROM events ORDER BY id"
        assert trade.world.rows(events) == [
            (vendor, trade.vendor.ids["owner"], "owner@example.com"),
            (customer, None, None),
            (customer, trade.customer.ids["head"], "head@example.com"),
            (vendor, None, None),
        ]

    async def test_a_decline_tells_the_vendor_the_slug_that_it_typed(self, trade: Trade) -> None:
        await trade.offer()

        await trade.at_customer("DELETE")

        [_, (action, actor, details)] = trade.log_of(trade.vendor, "customer.")
        assert (action, actor, details["by"]) == ("customer.declined", None, "customer")
        assert details["organization_slug"] == "beta"
        assert "organization_name" not in details
        [declined] = trade.log_of(trade.customer, "product_access.")
        assert declined[:2] == ("product_access.declined", trade.customer.ids["head"])


async def test_an_organization_makes_100_offers_an_hour(trade: Trade) -> None:
    token, path = await trade.vendor.token("owner"), f"{trade.vendor.path}/services/shop/customers"
    client = serving(with_mail_limits(trade.world.installation))

    async def offer(number: int) -> Answer:
        return await client.request("POST", path, token=token, body={"organization": f"stranger-{number}"})

    made = [(await offer(number)).status for number in range(OFFERS_MAX)]
    refused = await offer(OFFERS_MAX)

    assert made == [200] * OFFERS_MAX
    assert_refused(refused, 429, "RATE_LIMIT_EXCEEDED")
    assert refused.headers["Retry-After"] == "3600"
    trade.world.clock.advance(OFFERS_WINDOW)
    trade.vendor.tokens.clear()
    token = await trade.vendor.token("owner")
    assert (await offer(OFFERS_MAX)).status == 200


@pytest.mark.parametrize("is_confirmed", [False, True])
async def test_a_vendor_that_asks_why_learns_nothing_of_who_belongs_to_its_customers(
    trade: Trade, is_confirmed: bool
) -> None:
    world = trade.world
    email = world.value("SELECT email FROM users WHERE id = %s", trade.customer.ids["worker"])
    # The vendor links any address to its service, whose user may have signed in to it as an individual.
    world.connection.execute(
        """
        INSERT INTO service_users (service_id, organization_id, user_id, email, first_login_at, last_login_at, origin)
        VALUES (%s, %s, %s, %s, %s, %s, 'key')
        """,
        (
            trade.service.id,
            trade.vendor.organization_id,
            trade.customer.ids["worker"],
            email,
            world.clock(),
            world.clock() if is_confirmed else None,
        ),
    )

    async def explained() -> Any:
        answer = await trade.vendor.request("owner", "GET", f"/why?email={email}&service=shop&way=password")
        assert answer.status == 200, answer.text
        return [(one["rule"], one["verdict"]) for one in answer.json["ways"][0]["rules"]]

    trade.set_policy("listed", "none")
    of_nobody = await explained()
    await trade.begin()
    of_customer = await explained()
    await trade.change_product(access="assigned")
    of_unassigned = await explained()
    await trade.change_product(access="members", paused=True)
    of_paused = await explained()

    assert of_nobody == of_customer == of_unassigned == of_paused
    assert ("customer", "not_told") in of_nobody
