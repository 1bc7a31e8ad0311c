"""The people of a customer: the backend of the service reads them and gives them roles."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.application import Answer
from tests.world.backend import KEY, insert_backend, insert_key
from tests.world.builder import NO_ID
from tests.world.customer_backend import CustomerBackend
from tests.world.signing_in import claims_of
from tests.world.world import assert_refused


@pytest.fixture
async def customer_id(shop: CustomerBackend) -> str:
    """A customer of the service, all of whose members may use it."""
    return await shop.trade.begin(external_id="B-7")


async def emails(shop: CustomerBackend, customer_id: str, query: str = "") -> list[str]:
    answer = await shop.people(customer_id, query)
    assert answer.status == 200, answer.text
    assert answer.json["total"] == len(answer.json["users"])
    return sorted(one["email"].partition("@")[0] for one in answer.json["users"])


async def roles_of(shop: CustomerBackend, name: str) -> list[str]:
    """Return the roles of the service in the token of a new sign-in."""
    signed_in = await shop.sign_in(name)
    assert signed_in.status == 200, signed_in.text
    return claims_of(signed_in.json["access_token"])["service_roles"]


class TestListing:
    async def test_those_who_have_signed_in_are_listed_and_no_others(
        self, shop: CustomerBackend, customer_id: str
    ) -> None:
        assert (await shop.people(customer_id)).json == {"users": [], "total": 0}
        await shop.sign_in("worker")

        listed = await shop.people(customer_id)

        assert listed.json == {
            "users": [
                {
                    "id": str(shop.id_of("worker")),
                    "email": "worker@example.com",
                    "name": None,
                    "service_roles": [],
                    "own_roles": [],
                    "last_sign_in_at": listed.json["users"][0]["last_sign_in_at"],
                    "metadata": {},
                }
            ],
            "total": 1,
        }
        assert listed.json["users"][0]["last_sign_in_at"] is not None

    async def test_a_shared_directory_shows_all_whom_the_customer_lets_in(
        self, shop: CustomerBackend, customer_id: str
    ) -> None:
        await shop.sign_in("worker")
        await shop.trade.change_product(shares_directory=True)
        shop.add_unconfirmed("guest")

        assert await emails(shop, customer_id) == ["chief", "head", "worker"]
        times = {one["email"]: one["last_sign_in_at"] for one in (await shop.people(customer_id)).json["users"]}
        assert [email for email, at in times.items() if at is not None] == ["worker@example.com"]

        await shop.trade.change_product(access="assigned", assignments=[{"subject": "role:admin"}])
        assert await emails(shop, customer_id) == ["chief"]

    async def test_who_has_left_is_suspended_or_unassigned_is_not_listed(
        self, shop: CustomerBackend, customer_id: str
    ) -> None:
        for name in ("worker", "chief", "head"):
            await shop.sign_in(name)
        assert await emails(shop, customer_id) == ["chief", "head", "worker"]

        shop.suspend("worker")
        assert await emails(shop, customer_id) == ["chief", "head"]
        await shop.trade.change_product(access="assigned", assignments=[{"subject": "role:owner"}])
        assert await emails(shop, customer_id) == ["head"]

    async def test_the_directory_s_name_shows_only_where_it_is_shared(
        self, shop: CustomerBackend, customer_id: str
    ) -> None:
        await shop.sign_in("worker")
        await shop.sign_in("chief")
        shop.trade.world.connection.execute(
            """
            INSERT INTO scim_profiles (organization_id, user_id, user_name, display_name, updated_at)
            VALUES (%s, %s, 'w', 'Willa Worker', now()), (%s, %s, 'c', 'Not Shown', now())
            """,
            (
                shop.trade.customer.organization_id,
                shop.id_of("worker"),
                shop.trade.customer.organization_id,
                shop.id_of("chief"),
            ),
        )
        shop.trade.world.connection.execute("UPDATE users SET name = 'Chief' WHERE id = %s", (shop.id_of("chief"),))

        async def names() -> dict[str, Any]:
            return {one["email"]: one["name"] for one in (await shop.people(customer_id)).json["users"]}

        assert await names() == {"worker@example.com": None, "chief@example.com": "Chief"}
        assert await emails(shop, customer_id, "?q=willa") == []
        await shop.trade.change_product(shares_directory=True)
        assert (await names())["worker@example.com"] == "Willa Worker"
        assert await emails(shop, customer_id, "?q=WILLA") == ["worker"]

    async def test_people_are_found_by_address_name_and_role(self, shop: CustomerBackend, customer_id: str) -> None:
        for name in ("worker", "chief", "head"):
            await shop.sign_in(name)
        shop.trade.world.connection.execute("UPDATE users SET name = 'Zoë' WHERE id = %s", (shop.id_of("chief"),))
        await shop.trade.change_product(assignments=[{"subject": "role:owner", "roles": ["editor"]}])
        await shop.give(customer_id, "worker", "editor")

        assert await emails(shop, customer_id, "?q=WORK") == ["worker"]
        assert await emails(shop, customer_id, "?q=zo") == ["chief"]
        assert await emails(shop, customer_id, "?q=%25") == []
        assert await emails(shop, customer_id, "?role=editor") == ["head", "worker"]
        assert await emails(shop, customer_id, "?role=editor&q=head") == ["head"]
        assert await emails(shop, customer_id, "?role=viewer") == []
        assert (await shop.people(customer_id, "?role=boss")).invalid_fields == ["role"]

    async def test_pages_follow_each_other_by_number_and_by_the_last_id(
        self, shop: CustomerBackend, customer_id: str
    ) -> None:
        for name in ("worker", "chief", "head"):
            await shop.sign_in(name)
        ids = [one["id"] for one in (await shop.people(customer_id)).json["users"]]

        first, second = [(await shop.people(customer_id, f"?limit=2&page={page}")).json for page in (1, 2)]
        after = (await shop.people(customer_id, f"?limit=2&after={ids[1]}")).json

        assert [one["id"] for one in first["users"]] == ids[:2]
        assert [one["id"] for one in second["users"]] == [one["id"] for one in after["users"]] == ids[2:]
        assert first["total"] == second["total"] == after["total"] == 3
        assert (await shop.people(customer_id, "?page=9")).json == {"users": [], "total": 3}
        assert ids == sorted(ids)

    async def test_an_offer_has_no_people(self, shop: CustomerBackend) -> None:
        offered = await shop.trade.offer()

        assert (await shop.people(offered)).json == {"users": [], "total": 0}
        assert_refused(await shop.set_roles(offered, shop.id_of("worker"), []), 404, "NOT_FOUND")


class TestOwnRoles:
    async def test_they_add_to_the_assigned_ones_in_this_context_alone(
        self, shop: CustomerBackend, customer_id: str
    ) -> None:
        other = shop.trade.world.team("gamma")
        shop.trade.world.member(other.organization_id, shop.id_of("worker"))
        other_id = shop.trade.world.customer(shop.trade.service, other.organization_id)
        await shop.trade.change_product(assignments=[{"subject": "everyone", "roles": ["viewer"]}])
        tokens = (await shop.sign_in("worker")).json

        given = await shop.set_roles(customer_id, shop.id_of("worker"), ["editor", "editor"])

        assert given.status == 200, given.text
        assert (given.json["service_roles"], given.json["own_roles"]) == (["editor", "viewer"], ["editor"])
        assert (await shop.people(customer_id)).json["users"] == [given.json]
        profile = await shop.trade.world.client.get("/api/user", token=tokens["access_token"])
        assert profile.json["service_roles"] == ["editor", "viewer"]
        refreshed = await shop.trade.world.client.post(
            "/api/auth/refresh", body={"refresh_token": tokens["refresh_token"]}
        )
        assert claims_of(refreshed.json["access_token"])["service_roles"] == ["editor", "viewer"]
        elsewhere = await shop.sign_in("worker", customer=str(other_id))
        assert claims_of(elsewhere.json["access_token"])["service_roles"] == []
        taken = await shop.set_roles(customer_id, shop.id_of("worker"), [])
        assert (taken.json["service_roles"], taken.json["own_roles"]) == (["viewer"], [])

    async def test_they_admit_nobody(self, shop: CustomerBackend, customer_id: str) -> None:
        await shop.sign_in("worker")
        await shop.trade.change_product(access="assigned", assignments=[{"subject": "role:owner"}])

        given = await shop.set_roles(customer_id, shop.id_of("worker"), ["editor"])

        assert given.status == 200
        assert_refused(await shop.sign_in("worker"), 403, "FORBIDDEN")

    async def test_a_role_that_is_made_again_inherits_nothing(self, shop: CustomerBackend, customer_id: str) -> None:
        await shop.sign_in("worker")
        await shop.give(customer_id, "worker", "editor")

        for roles in ([{"name": "viewer", "title": "Viewer"}], [{"name": "editor", "title": "Editor"}]):
            changed = await shop.trade.vendor.request("owner", "PATCH", "/services/shop", body={"roles": roles})
            assert changed.status == 200, changed.text

        [shown] = (await shop.people(customer_id)).json["users"]
        assert (shown["service_roles"], shown["own_roles"]) == ([], [])
        assert await roles_of(shop, "worker") == []

    async def test_they_end_with_the_membership_and_with_the_record(
        self, shop: CustomerBackend, customer_id: str
    ) -> None:
        await shop.sign_in("worker")
        await shop.give(customer_id, "worker", "editor")
        worker = shop.id_of("worker")
        await shop.remove("worker")
        assert_refused(await shop.set_roles(customer_id, worker, ["editor"]), 404, "NOT_FOUND")
        shop.trade.world.member(shop.trade.customer.organization_id, worker)
        assert await roles_of(shop, "worker") == []

        await shop.give(customer_id, "worker", "editor")
        await shop.backend.request("DELETE", f"/customers/{customer_id}")
        anew = await shop.trade.begin()
        await shop.sign_in("worker", customer=anew)
        assert [one["own_roles"] for one in (await shop.people(anew)).json["users"]] == [[]]

    async def test_a_suspended_member_keeps_them(self, shop: CustomerBackend, customer_id: str) -> None:
        await shop.sign_in("worker")
        await shop.give(customer_id, "worker", "editor")
        shop.suspend("worker")
        shop.suspend("worker", is_suspended=False)

        assert await roles_of(shop, "worker") == ["editor"]

    async def test_they_are_roles_of_the_service(self, shop: CustomerBackend, customer_id: str) -> None:
        await shop.sign_in("worker")
        worker = shop.id_of("worker")

        for roles in (["boss"], ["editor", ""], ["editor"] * 51):
            assert (await shop.set_roles(customer_id, worker, roles)).invalid_fields == ["roles"], roles
        # Invalid input comes before what is unknown.
        assert (await shop.set_roles(customer_id, NO_ID, ["boss"])).invalid_fields == ["roles"]
        missing = await shop.backend.request("PUT", f"/customers/{customer_id}/users/{worker}", body={})
        assert missing.invalid_fields == ["roles"]

    async def test_who_has_not_signed_in_is_unknown_like_a_stranger(
        self, shop: CustomerBackend, customer_id: str
    ) -> None:
        await shop.trade.change_product(shares_directory=True)
        shop.add_unconfirmed("guest")
        elsewhere = shop.trade.world.user("elsewhere@example.com")
        ids = [shop.id_of("chief"), shop.id_of("guest"), shop.trade.vendor.ids["member"], elsewhere, NO_ID]

        answers = [await shop.set_roles(customer_id, one, ["editor"]) for one in ids]

        for answer in answers:
            assert_refused(answer, 404, "NOT_FOUND")
        assert len({answer.json["error"] for answer in answers}) == 1

    async def test_a_change_is_recorded_with_the_key_and_the_same_roles_are_not(
        self, shop: CustomerBackend, customer_id: str
    ) -> None:
        await shop.sign_in("worker")
        worker = shop.id_of("worker")
        for roles in (["editor"], ["editor"], []):
            await shop.set_roles(customer_id, worker, roles)

        written = shop.trade.log_of(shop.trade.vendor, "customer.user_changed")
        key_id = str(shop.trade.world.value("SELECT id FROM api_keys"))
        assert written[0] == (
            "customer.user_changed",
            None,
            {
                "customer_id": customer_id,
                "external_id": "B-7",
                "client_id": str(shop.trade.service.client_id),
                "service_slug": "shop",
                "user_id": str(worker),
                "service_roles": ["editor"],
                "own_roles": ["editor"],
                "old_own_roles": [],
                "api_key_id": key_id,
            },
        )
        assert [details["own_roles"] for _, _, details in written] == [["editor"], []]
        sent = shop.trade.world.events("customer.user_changed")
        assert [(organization_id, actor) for organization_id, actor, _ in sent] == [
            (shop.trade.vendor.organization_id, None)
        ] * 2
        assert set(sent[0][2]) == {
            *("customer_id", "external_id", "client_id", "service_slug"),
            *("user_id", "email", "name", "service_roles"),
        }
        assert shop.trade.log_of(shop.trade.customer, "customer.") == []


async def test_another_service_and_another_customer_are_out_of_reach(shop: CustomerBackend, customer_id: str) -> None:
    world = shop.trade.world
    blog = world.service(shop.trade.vendor.organization_id, "blog")
    world.serve_customers(blog, "editor")
    key = f"sk_blog12_{'b' * 43}"
    insert_key(world, shop.trade.vendor.organization_id, blog.id, key)
    globex = insert_backend(world, "globex", "till", key=f"sk_globex_{'g' * 43}")
    other_id = str(world.customer(shop.trade.service, world.organization("gamma")))
    await shop.sign_in("worker")
    worker = shop.id_of("worker")

    for backend in (shop.backend.with_key(key), globex):
        assert_refused(await backend.request("GET", f"/customers/{customer_id}/users"), 404, "NOT_FOUND")
        answer = await backend.request("PUT", f"/customers/{customer_id}/users/{worker}", body={"roles": []})
        assert_refused(answer, 404, "NOT_FOUND")
    assert_refused(await shop.set_roles(other_id, worker, ["editor"]), 404, "NOT_FOUND")
    assert (await shop.people(other_id)).json == {"users": [], "total": 0}
    assert_refused(await shop.people(str(UUID(int=7))), 404, "NOT_FOUND")


async def test_a_key_that_reads_gives_no_roles(shop: CustomerBackend, customer_id: str) -> None:
    reading = f"sk_read12_{'r' * 43}"
    insert_key(
        shop.trade.world,
        shop.trade.vendor.organization_id,
        shop.trade.service.id,
        reading,
        permissions=["read:customers"],
    )
    backend = shop.backend.with_key(reading)
    assert reading != KEY

    assert (await backend.request("GET", f"/customers/{customer_id}/users")).status == 200
    answer: Answer = await backend.request("PUT", f"/customers/{customer_id}/users/{NO_ID}", body={"roles": []})
    assert_refused(answer, 403, "FORBIDDEN")
