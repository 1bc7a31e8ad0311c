"""A key changes an address to which another organization has given something: only its own part moves."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.world.backend import Backend, insert_backend
from tests.world.world import assert_refused

BOB = "bob@example.com"
NEW = "new@example.com"


@pytest.fixture
def other(backend: Backend) -> Backend:
    """The backend of a service of another organization."""
    return insert_backend(backend.world, "globex", key=f"sk_globex_{'g' * 43}")


async def request(backend: Backend, method: str, path: str, body: Any = None, *, status: int = 200) -> Any:
    answer = await backend.request(method, path, body=body)
    assert answer.status == status, answer.text
    return answer.json if answer.content else None


async def moved(backend: Backend, other: Backend) -> tuple[str, str]:
    """Change an address of a user that another organization has added too; return the known id and the account's id."""
    user_id = (await request(backend, "POST", "/users", {"email": BOB}))["id"]
    assert (await request(other, "POST", "/users", {"email": BOB}))["id"] == user_id
    changed = await request(backend, "PATCH", f"/users/{user_id}", {"email": NEW})
    assert (changed["id"], changed["email"]) == (user_id, NEW)
    return user_id, str(backend.world.user_id(NEW))


async def test_the_other_organization_keeps_its_user_and_the_key_takes_both_ids(
    backend: Backend, other: Backend
) -> None:
    plan = other.plan()
    user_id, own = await moved(backend, other)
    await request(other, "POST", "/subscriptions", {"user_id": user_id, "plan_id": str(plan)})

    theirs = await request(other, "GET", f"/users/{user_id}")
    assert (theirs["id"], theirs["email"]) == (user_id, BOB)
    assert (await request(other, "GET", "/users"))["total"] == 1
    assert own != user_id
    for one in (user_id, own):
        shown = await request(backend, "GET", f"/users/{one}")
        assert (shown["id"], shown["email"]) == (user_id, NEW)
        unchanged = await request(backend, "PATCH", f"/users/{one}", {"email": NEW})
        assert unchanged == shown
    listed = await request(backend, "GET", "/users")
    assert ([user["id"] for user in listed["users"]], listed["total"]) == ([user_id], 1)
    assert (await request(backend, "POST", "/users", {"email": NEW}))["id"] == user_id
    assert_refused(await other.request("GET", f"/users/{own}"), 404, "NOT_FOUND")


async def test_subscriptions_are_found_by_both_ids_and_show_the_known_one(backend: Backend, other: Backend) -> None:
    plan = str(backend.plan())
    user_id, own = await moved(backend, other)

    for one in (user_id, own):
        body = {"user_id": one, "plan_id": plan}
        created = await request(backend, "POST", "/subscriptions", body)
        assert created["user_id"] == user_id
        assert (await request(backend, "GET", f"/subscriptions/{one}"))["user_id"] == user_id
        listed = (await request(backend, "GET", "/subscriptions"))["subscriptions"]
        assert [subscription["user_id"] for subscription in listed] == [user_id]
        changed = await request(backend, "PATCH", f"/subscriptions/{one}", {"status": "past_due"})
        assert (changed["user_id"], changed["status"]) == (user_id, "past_due")
        assert_refused(await other.request("GET", f"/subscriptions/{one}"), 404, "NOT_FOUND")
        await request(backend, "DELETE", f"/subscriptions/{one}", status=204)
    assert backend.world.rows("SELECT FROM subscriptions") == []


async def test_subscriptions_that_there_were_move(backend: Backend, other: Backend) -> None:
    user_id = (await request(backend, "POST", "/users", {"email": BOB}))["id"]
    for one in (backend, other):
        await request(one, "POST", "/users", {"email": BOB})
        await request(one, "POST", "/subscriptions", {"user_id": user_id, "plan_id": str(one.plan())})

    await request(backend, "PATCH", f"/users/{user_id}", {"email": NEW})

    owners = backend.world.rows("SELECT organization_id, user_id FROM subscriptions")
    assert sorted(owners) == sorted(
        [(backend.organization_id, backend.world.user_id(NEW)), (other.organization_id, UUID(user_id))]
    )


async def test_removing_the_user_ends_its_own_part_alone_and_the_id(backend: Backend, other: Backend) -> None:
    user_id, _ = await moved(backend, other)

    await request(backend, "DELETE", f"/users/{user_id}", status=204)

    assert not backend.world.has_user(NEW)
    assert (await request(other, "GET", f"/users/{user_id}"))["email"] == BOB
    assert_refused(await backend.request("GET", f"/users/{user_id}"), 404, "NOT_FOUND")
    # The address is added again: another user, and another id.
    assert (await request(backend, "POST", "/users", {"email": BOB}))["id"] != user_id


async def test_a_link_that_its_user_made_is_the_keys_from_now_on_and_not_confirmed(
    backend: Backend, other: Backend
) -> None:
    user_id = (await request(backend, "POST", "/users", {"email": BOB}))["id"]
    await request(other, "POST", "/users", {"email": BOB})
    backend.world.connection.execute(
        "UPDATE service_users SET origin = 'self', last_login_at = now() WHERE organization_id = %s",
        (backend.organization_id,),
    )

    await request(backend, "PATCH", f"/users/{user_id}", {"email": NEW})

    query = "SELECT origin, last_login_at FROM service_users WHERE organization_id = %s"
    assert backend.world.rows(query, backend.organization_id) == [("key", None)]


async def test_the_change_is_recorded_with_both_accounts(backend: Backend, other: Backend) -> None:
    user_id, own = await moved(backend, other)

    [(organization_id, target_id, details)] = backend.world.audit_entries(
        "user.updated", "organization_id", "target_id", "details"
    )

    assert (organization_id, target_id) == (backend.organization_id, own)
    assert (details["previous_user_id"], details["service_slug"]) == (user_id, "shop")
    assert [data["user_id"] for _, _, data in backend.world.events("user.updated")] == [own]


async def test_a_taken_address_is_400_and_changes_nothing(backend: Backend, other: Backend) -> None:
    user_id = (await request(backend, "POST", "/users", {"email": BOB}))["id"]
    await request(other, "POST", "/users", {"email": BOB})
    backend.world.user(NEW)

    assert_refused(await backend.request("PATCH", f"/users/{user_id}", body={"email": NEW}), 400, "BAD_REQUEST")

    assert (await request(backend, "GET", f"/users/{user_id}"))["email"] == BOB


async def test_the_numbers_of_users_stay_right(backend: Backend, other: Backend) -> None:
    await moved(backend, other)

    changes = backend.world.rows(
        "SELECT service_id, sum(change) FROM service_user_changes GROUP BY service_id, user_id HAVING sum(change) <> 0"
    )

    assert sorted(changes) == sorted([(backend.service_id, 1), (other.service_id, 1)])
