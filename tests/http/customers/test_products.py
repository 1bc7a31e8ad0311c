"""The services of other organizations that an organization uses as their customer."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
import trio

from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.waiting import waiting_for_a_lock
from tests.world.directory import Directory
from tests.world.trade import Trade
from tests.world.world import assert_refused


def problems_of(answer: Answer) -> list[str]:
    """Return the fields that a refusal names."""
    assert_refused(answer, 400, "BAD_REQUEST")
    return [one["field"] for one in answer.json["details"]]


async def send_change(trade: Trade, **fields: Any) -> Answer:
    """Change the product."""
    return await trade.at_customer("PATCH", body=fields)


class TestAccepting:
    async def test_an_offer_is_shown_to_every_member_and_accepted(self, trade: Trade) -> None:
        customer_id = await trade.offer(external_id="one")
        offered = {
            "client_id": str(trade.service.client_id),
            "customer_id": customer_id,
            "service": {"slug": "shop", "name": "Shop"},
            "vendor": {"slug": "acme", "name": "Acme"},
            "state": "offered",
            "access": "members",
            "assignments": [],
            "shares_directory": False,
            "groups": [],
            "hidden": False,
            "vendor_setup": [],
            "paused": False,
            "created_at": "2026-02-03T04:05:06Z",
        }

        for name in ("head", "chief", "worker"):
            assert (await trade.at_customer("GET", "/products", by=name)).json == {"products": [offered], "total": 1}
            assert (await trade.at_customer("GET", by=name)).json == offered
        accepted = await trade.accept()

        assert accepted == offered | {"state": "active"}
        assert (await trade.at_customer("GET", by="worker")).json == accepted
        at_vendor = await trade.at_vendor("GET", f"/{customer_id}")
        assert at_vendor.json["state"] == "active"
        assert at_vendor.json["organization"] == {"slug": "beta", "name": "Beta"}
        assert str(trade.customer.organization_id) not in at_vendor.text

    async def test_a_service_that_is_open_to_any_needs_no_offer(self, trade: Trade) -> None:
        trade.set_policy("any")

        product = await trade.accept()

        assert product["state"] == "active"
        [customer] = (await trade.at_vendor("GET")).json["customers"]
        assert (customer["id"], customer["state"]) == (product["customer_id"], "active")
        assert customer["organization"] == {"slug": "beta", "name": "Beta"}

    async def test_an_offer_of_a_service_that_is_open_to_any_is_what_is_accepted(self, trade: Trade) -> None:
        trade.set_policy("any")
        customer_id = await trade.offer(external_id="one")

        product = await trade.accept()

        assert product["customer_id"] == customer_id
        assert (await trade.at_vendor("GET", f"/{customer_id}")).json["external_id"] == "one"

    async def test_every_service_that_is_neither_offered_nor_open_is_unknown(self, trade: Trade) -> None:
        unknown = await trade.send_acceptance(client_id=uuid4())
        listed = await trade.send_acceptance()
        trade.set_policy("none", "all")
        without_customers = await trade.send_acceptance()
        trade.set_policy("any")
        trade.world.set_organization_status(trade.vendor.organization_id, "suspended")
        of_inactive = await trade.send_acceptance()

        answers = [unknown, listed, without_customers, of_inactive]
        for answer in answers:
            assert_refused(answer, 404, "NOT_FOUND")
        assert len({answer.json["error"] for answer in answers}) == 1

    async def test_an_offer_to_another_organization_is_unknown(self, trade: Trade) -> None:
        third = trade.world.team("gamma")
        third.add("third", "owner")
        customer_id = await trade.offer()

        for is_accepted in (False, True):
            if is_accepted:
                await trade.accept()
            listed = await third.request("third", "GET", "/products")
            assert listed.json == {"products": [], "total": 0}
            body = {"client_id": str(trade.service.client_id)}
            assert_refused(await third.request("third", "POST", "/products", body=body), 404, "NOT_FOUND")
            for method in ("GET", "PATCH", "DELETE"):
                answer = await third.request(
                    "third", method, trade.product_path, body={"paused": True} if method == "PATCH" else None
                )
                assert_refused(answer, 404, "NOT_FOUND")
        assert (await trade.at_vendor("GET", f"/{customer_id}")).json["state"] == "active"

    async def test_the_offer_of_a_vendor_that_is_not_active_is_not_shown(self, trade: Trade) -> None:
        await trade.offer()
        trade.world.set_organization_status(trade.vendor.organization_id, "suspended")

        assert (await trade.at_customer("GET", "/products")).json["total"] == 0
        assert_refused(await trade.send_acceptance(), 404, "NOT_FOUND")

    async def test_a_second_active_record_conflicts(self, trade: Trade) -> None:
        await trade.begin()

        assert_refused(await trade.send_acceptance(), 409, "CONFLICT")

    async def test_the_vendor_is_no_customer_of_its_own_service(self, trade: Trade) -> None:
        trade.set_policy("any")

        body = {"client_id": str(trade.service.client_id)}
        answer = await trade.vendor.request("owner", "POST", "/products", body=body)

        assert problems_of(answer) == ["client_id"]

    async def test_only_what_manages_products_accepts_and_changes(self, trade: Trade) -> None:
        await trade.offer()
        trade.customer.custom_role("buyer", "products.manage")
        trade.customer.add("buyer", "buyer")

        assert_refused(await trade.send_acceptance(by="worker"), 403, "FORBIDDEN")
        for method in ("PATCH", "DELETE"):
            body = {"paused": True} if method == "PATCH" else None
            assert_refused(await trade.at_customer(method, by="worker", body=body), 403, "FORBIDDEN")
        assert (await trade.send_acceptance(by="buyer")).status == 200
        assert (await trade.at_customer("PATCH", by="buyer", body={"hidden": True})).status == 200
        # Sharing the directory takes the right to see it.
        shared = await trade.at_customer("PATCH", by="buyer", body={"shares_directory": True})
        assert_refused(shared, 403, "FORBIDDEN")
        assert (await trade.at_customer("PATCH", by="chief", body={"shares_directory": True})).status == 200
        assert (await trade.at_customer("PATCH", by="buyer", body={"shares_directory": False})).status == 200

    async def test_individuals_are_checked_again_when_an_organization_begins(self, trade: Trade) -> None:
        trade.set_policy("any", "others")
        trade.rechecks()

        await trade.accept()

        assert trade.rechecks() == {None}

    async def test_the_slug_of_a_customer_is_never_given_to_another_organization(self, trade: Trade) -> None:
        await trade.offer()
        founder = await trade.world.signed_in_user("founder@example.com")

        async def found(slug: str) -> Answer:
            body = {"slug": slug, "name": "Another one"}
            return await trade.world.client.post("/api/organizations", token=founder.tokens.access_token, body=body)

        await trade.accept()
        await trade.at_customer("DELETE")
        trade.world.connection.execute("DELETE FROM organizations WHERE slug = 'beta'")
        again = await found("beta")

        assert_refused(again, 409, "CONFLICT")
        trade.world.connection.execute("DELETE FROM customer_slugs")
        assert (await found("beta")).status == 200
        assert again.json["error"] == (await found("beta")).json["error"]

    async def test_products_are_listed_before_offers_each_by_name_in_parts(self, trade: Trade) -> None:
        await trade.begin()
        for slug, name in (("blog", "Zeitung"), ("chat", "chat")):
            service = trade.world.service(trade.vendor.organization_id, slug, name=name)
            trade.world.serve_customers(service)
            body = {"organization": "beta"}
            offered = await trade.vendor.request("owner", "POST", f"/services/{slug}/customers", body=body)
            assert offered.status == 200

        everything = (await trade.at_customer("GET", "/products")).json
        part = (await trade.at_customer("GET", "/products?limit=1&offset=1")).json

        assert [one["service"]["slug"] for one in everything["products"]] == ["shop", "chat", "blog"]
        assert [one["service"]["slug"] for one in part["products"]] == ["chat"]
        assert everything["total"] == part["total"] == 3


class TestRaces:
    async def test_of_two_acceptances_at_once_one_makes_a_customer(self, trade: Trade) -> None:
        for policy in ("listed", "any"):
            trade.set_policy(policy)
            if policy == "listed":
                await trade.offer()
            await trade.customer.token("head")
            await trade.customer.token("chief")

            answers = await at_once(
                *(lambda by=by: trade.send_acceptance(by=by) for by in ("head", "chief", "head", "chief"))
            )

            assert statuses_of(answers) == [200, 409, 409, 409]
            assert trade.world.value("SELECT count(*) FROM service_customers") == 1
            assert len(trade.log_of(trade.customer, "product_access.accepted")) == 1
            await trade.at_customer("DELETE")
            trade.world.connection.execute("DELETE FROM audit_entries")

    @pytest.mark.parametrize("meanwhile", ["DELETE FROM service_customers", "UPDATE services SET customers = 'none'"])
    async def test_an_offer_that_ends_while_it_is_accepted_is_unknown(self, trade: Trade, meanwhile: str) -> None:
        if meanwhile.startswith("DELETE"):
            await trade.offer()
        else:
            trade.set_policy("any")
        await trade.customer.token("head")
        answers: list[Answer] = []

        async def accept() -> None:
            answers.append(await trade.send_acceptance())

        async with trio.open_nursery() as nursery:
            with trade.world.connection.transaction():
                trade.world.rows("SELECT FROM services WHERE slug = 'shop' FOR UPDATE")
                nursery.start_soon(accept)
                await waiting_for_a_lock(trade.world.connection)
                trade.world.connection.execute(meanwhile.encode())

        assert_refused(answers[0], 404, "NOT_FOUND")
        assert trade.world.value("SELECT count(*) FROM service_customers") == 0

    async def test_a_product_that_ends_while_it_is_changed_is_unknown(self, trade: Trade) -> None:
        await trade.begin()
        answers: list[Answer] = []

        async def change() -> None:
            answers.append(await send_change(trade, hidden=True))

        async with trio.open_nursery() as nursery:
            with trade.world.connection.transaction():
                trade.world.rows("SELECT FROM services WHERE slug = 'shop' FOR UPDATE")
                nursery.start_soon(change)
                await waiting_for_a_lock(trade.world.connection)
                trade.world.connection.execute("DELETE FROM service_customers")

        assert_refused(answers[0], 404, "NOT_FOUND")

    async def test_a_service_without_a_product_any_more_is_not_found_at_its_lock(self, trade: Trade) -> None:
        await trade.begin()
        answers: list[Answer] = []

        async def change() -> None:
            answers.append(await send_change(trade, hidden=True))

        async with trio.open_nursery() as nursery:
            with trade.world.connection.transaction():
                trade.world.rows("SELECT FROM services WHERE slug = 'shop' FOR UPDATE")
                nursery.start_soon(change)
                await waiting_for_a_lock(trade.world.connection)
                trade.world.connection.execute("DELETE FROM services")

        assert_refused(answers[0], 404, "NOT_FOUND")

    async def test_of_an_acceptance_and_the_end_of_customers_at_once_one_succeeds(self, trade: Trade) -> None:
        await trade.offer()
        await trade.customer.token("head")
        await trade.vendor.token("owner")

        async def close() -> Answer:
            return await trade.vendor.request("owner", "PATCH", "/services/shop", body={"customers": "none"})

        answers = await at_once(trade.send_acceptance, close)

        is_closed = trade.world.value("SELECT customers FROM services") == "none"
        assert statuses_of(answers) == ([200, 404] if is_closed else [200, 409])
        assert trade.world.value("SELECT count(*) FROM service_customers") == (0 if is_closed else 1)


class TestChanging:
    async def test_all_settings_change_and_what_is_not_named_stays(self, trade: Trade, groups: Directory) -> None:
        await trade.begin()
        group_id = await groups.create_group("Sales")

        changed = await trade.change_product(
            access="assigned",
            assignments=[{"subject": "everyone", "roles": ["viewer", "editor", "viewer"]}],
            shares_directory=True,
            groups=[group_id, group_id],
            hidden=True,
            paused=True,
        )
        same = await trade.change_product()
        less = await trade.change_product(groups=[])

        assert changed["access"] == "assigned"
        assert changed["assignments"] == [{"subject": "everyone", "roles": ["editor", "viewer"]}]
        assert changed["groups"] == [group_id]
        assert (changed["shares_directory"], changed["hidden"]) == (True, True)
        assert (changed["paused"], changed["state"]) == (True, "paused")
        assert same == changed
        assert less == changed | {"groups": []}
        at_vendor = (await trade.at_vendor("GET")).json["customers"][0]
        assert (at_vendor["shares_directory"], at_vendor["state"], at_vendor["paused"]) == (True, "paused", False)

    async def test_a_change_records_what_it_changed_for_the_customer_alone(self, trade: Trade) -> None:
        await trade.begin()
        await trade.change_product(assignments=[{"subject": "role:admin", "roles": ["viewer"]}])
        await trade.change_product(access="assigned", assignments=[{"subject": "everyone"}])
        await trade.change_product(access="assigned")

        entries = trade.log_of(trade.customer, "product_access.updated")

        assert [details["changes"] for _, _, details in entries] == [
            {"assignments": {"from": [], "to": [{"subject": "role:admin", "roles": ["viewer"]}]}},
            {
                "access": {"from": "members", "to": "assigned"},
                "assignments": {
                    "from": [{"subject": "role:admin", "roles": ["viewer"]}],
                    "to": [{"subject": "everyone", "roles": []}],
                },
            },
        ]
        assert {actor for _, actor, _ in entries} == {trade.customer.ids["head"]}
        assert len(trade.log_of(trade.vendor, "customer.")) == 2

    async def test_an_offer_is_accepted_before_it_is_changed(self, trade: Trade) -> None:
        await trade.offer()

        assert_refused(await send_change(trade, hidden=True), 400, "BAD_REQUEST")

    async def test_invalid_input_is_refused_before_an_unknown_product(self, trade: Trade) -> None:
        answer = await send_change(trade, assignments=[{"subject": "nobody"}], groups=[str(uuid4())] * 2)

        assert problems_of(answer) == ["assignments"]
        assert_refused(await send_change(trade, groups=[str(uuid4())]), 404, "NOT_FOUND")

    async def test_what_may_shut_out_members_is_checked_again(self, trade: Trade) -> None:
        customer_id = UUID(await trade.begin())
        trade.rechecks()
        everyone, admins = {"subject": "everyone"}, {"subject": "role:admin", "roles": ["viewer"]}

        for fields, rechecks in (
            # While every member may come, an assignment gives roles alone.
            ({"assignments": [everyone, admins]}, set[UUID]()),
            ({"assignments": [admins]}, set[UUID]()),
            ({"hidden": True}, set[UUID]()),
            ({"access": "assigned"}, {customer_id}),
            ({"assignments": [everyone, {"subject": "role:admin"}]}, {customer_id}),
            ({"assignments": [{"subject": "role:admin"}]}, {customer_id}),
            ({"access": "members", "assignments": [everyone]}, {customer_id}),
            ({"paused": True}, {customer_id}),
        ):
            await trade.change_product(**fields)
            assert trade.rechecks() == rechecks, fields


class TestAssignments:
    async def test_every_kind_of_subject_is_assigned_and_shown_in_order(self, trade: Trade, groups: Directory) -> None:
        await trade.begin()
        group_id = await groups.create_group("Sales")
        trade.customer.custom_role("buyer", "products.manage")
        unconfirmed = trade.customer.user("new")
        trade.world.member(trade.customer.organization_id, unconfirmed, is_confirmed=False)
        wanted = [
            {"subject": f"user:{trade.customer.ids['worker']}", "roles": ["editor"]},
            {"subject": f"user:{unconfirmed}", "roles": []},
            {"subject": f"group:{group_id}", "roles": ["viewer"]},
            {"subject": "role:buyer", "roles": ["editor", "viewer"]},
            {"subject": "role:owner", "roles": []},
            {"subject": "everyone", "roles": ["viewer"]},
        ]

        changed = await trade.change_product(assignments=wanted)

        assert changed["assignments"] == wanted

    async def test_a_subject_of_another_form_or_organization_is_refused(self, trade: Trade, groups: Directory) -> None:
        await trade.begin()
        member = trade.customer.ids["worker"]
        trade.world.connection.execute("UPDATE memberships SET suspended_at = now() WHERE user_id = %s", (member,))
        trade.vendor.custom_role("buyer", "products.manage")
        stranger = trade.vendor.ids["member"]
        subjects = [
            *("", "nobody", "everyone:", "role:", "role", "group:x", "user:", f"user:{member}x", "role:buyer"),
            *(f"user:{member}", f"user:{stranger}", f"group:{uuid4()}", f"user:{uuid4()}", "role:Owner"),
            f"group:{trade.customer.ids['head']}",
        ]

        for subject in subjects:
            answer = await send_change(trade, assignments=[{"subject": subject}])
            assert problems_of(answer) == ["assignments"], subject

    async def test_a_role_that_the_service_does_not_have_is_refused(self, trade: Trade) -> None:
        await trade.begin()

        answer = await send_change(trade, assignments=[{"subject": "everyone", "roles": ["viewer", "owner"]}])

        assert problems_of(answer) == ["assignments"]
        assert "owner" in answer.json["error"]

    async def test_a_subject_is_named_once_and_at_most_200_are(self, trade: Trade) -> None:
        await trade.begin()
        member = trade.customer.ids["worker"]
        twice = [{"subject": f"user:{member}"}, {"subject": f"user:{str(member).upper()}"}]
        many = [{"subject": f"role:role-{number}"} for number in range(201)]

        assert problems_of(await send_change(trade, assignments=twice)) == ["assignments"]
        assert problems_of(await send_change(trade, assignments=many)) == ["assignments"]
        for one in many[:200]:
            trade.customer.custom_role(one["subject"].removeprefix("role:"))
        changed = await trade.change_product(assignments=many[:200])
        assert len(changed["assignments"]) == 200

    async def test_groups_are_those_of_the_directory_and_at_most_200(self, trade: Trade, groups: Directory) -> None:
        await trade.begin()
        group_id = await groups.create_group("Sales")

        for wrong in ([str(uuid4())], [group_id, str(uuid4())], [str(uuid4()) for _ in range(201)]):
            assert problems_of(await send_change(trade, groups=wrong)) == ["groups"]
        shown = await trade.change_product(groups=[group_id], assignments=[{"subject": f"group:{group_id}"}])
        assert (shown["groups"], len(shown["assignments"])) == ([group_id], 1)
        # A group that is deleted is shown no more, and takes its assignment along.
        assert (await groups.request("DELETE", f"/Groups/{group_id}")).status == 204
        without = (await trade.at_customer("GET")).json
        assert (without["groups"], without["assignments"]) == ([], [])

    async def test_a_member_who_is_suspended_keeps_an_assignment_and_one_who_leaves_loses_it(
        self, trade: Trade
    ) -> None:
        await trade.begin()
        worker = trade.customer.ids["worker"]
        assigned = [{"subject": f"user:{worker}", "roles": ["viewer"]}]
        await trade.change_product(assignments=assigned)
        trade.world.connection.execute("UPDATE memberships SET suspended_at = now() WHERE user_id = %s", (worker,))

        assert (await trade.change_product(assignments=assigned))["assignments"] == assigned
        trade.world.connection.execute("DELETE FROM memberships WHERE user_id = %s", (worker,))
        assert (await trade.at_customer("GET")).json["assignments"] == []

    async def test_a_role_that_the_service_makes_again_inherits_nothing(self, trade: Trade) -> None:
        await trade.begin()
        await trade.change_product(
            access="assigned",
            assignments=[
                {"subject": "role:admin", "roles": ["editor"]},
                {"subject": "role:owner", "roles": ["editor", "viewer"]},
                {"subject": "everyone"},
            ],
        )
        trade.rechecks()

        async def set_roles(*names: str) -> None:
            roles = [{"name": name, "title": name.title(), "description": ""} for name in names]
            changed = await trade.vendor.request("owner", "PATCH", "/services/shop", body={"roles": roles})
            assert changed.status == 200, changed.text

        await set_roles("viewer")
        assert trade.rechecks() == {None}
        await set_roles("viewer", "editor")

        assert (await trade.at_customer("GET")).json["assignments"] == [
            {"subject": "role:owner", "roles": ["viewer"]},
            {"subject": "everyone", "roles": []},
        ]


class TestEnding:
    async def test_an_offer_is_declined(self, trade: Trade) -> None:
        customer_id = await trade.offer()

        assert (await trade.at_customer("DELETE")).status == 204

        assert_refused(await trade.at_customer("GET"), 404, "NOT_FOUND")
        assert_refused(await trade.at_vendor("GET", f"/{customer_id}"), 404, "NOT_FOUND")
        await trade.offer()

    async def test_a_product_ends_with_all_that_belongs_to_it(self, trade: Trade) -> None:
        customer_id = UUID(await trade.begin())
        await trade.change_product(assignments=[{"subject": "everyone"}])
        trade.rechecks()

        assert (await trade.at_customer("DELETE", by="chief")).status == 204

        assert trade.rechecks() == {customer_id}
        assert trade.world.rows("SELECT FROM service_customers") == []
        assert trade.world.rows("SELECT FROM customer_assignments") == []
        assert_refused(await trade.at_customer("DELETE"), 404, "NOT_FOUND")
        assert trade.customer.role_of("worker") == "member"
