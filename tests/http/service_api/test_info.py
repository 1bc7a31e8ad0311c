"""The backend of a service reads and changes the record of the service."""

from __future__ import annotations

import pytest
import trio

from adapters.postgres.driver.connection import RawConnection
from tests.application import Answer
from tests.waiting import waiting_for_a_lock
from tests.world.backend import Backend, insert_backend
from tests.world.world import assert_refused

PATH = "/info"


async def test_it_is_the_service_as_its_members_see_it(backend: Backend) -> None:
    owner = await backend.world.signed_in_member(backend.organization_id)

    answer = await backend.request("GET", PATH)

    assert answer.status == 200, answer.text
    seen = (await owner.get("/api/organizations/acme/services/shop")).json
    # It does not learn to which of the organization's people it is assigned.
    assert answer.json == {name: value for name, value in seen.items() if name != "assignments"}
    assert not {"plan_count", "subscription_count", "client_secret_hash"} & set(answer.json)


async def test_the_named_fields_change_and_the_key_is_recorded(backend: Backend) -> None:
    before = (await backend.request("GET", PATH)).json

    answer = await backend.request(
        "PATCH", PATH, body={"name": "Shop 2", "redirect_uris": ["https://shop.example/callback"]}
    )

    changed = before | {"name": "Shop 2", "redirect_uris": ["https://shop.example/callback"]}
    assert (answer.status, answer.json) == (200, changed)
    [(_, actor_id, target_id, details)] = backend.world.audit_entries("service.updated")
    assert (actor_id, target_id) == (None, str(backend.service_id))
    assert details["api_key_id"] == str(backend.world.value("SELECT id FROM api_keys"))
    assert set(details["changes"]) == {"name", "redirect_uris"}


async def test_nothing_or_an_invalid_value_is_400(backend: Backend, subtests: pytest.Subtests) -> None:
    for body in ({}, {"name": ""}, {"service_type": "game"}, {"redirect_uris": ["nowhere"]}):
        with subtests.test(body=body):
            assert_refused(await backend.request("PATCH", PATH, body=body), 400, "BAD_REQUEST")


async def test_another_tenant_s_service_is_out_of_reach(backend: Backend) -> None:
    globex = insert_backend(backend.world, "globex", "till", key=f"sk_globex_{'g' * 43}")

    await backend.request("PATCH", PATH, body={"name": "Mine", "slug": "till", "id": str(globex.service_id)})

    assert backend.world.rows("SELECT slug, name FROM services ORDER BY slug") == [("shop", "Mine"), ("till", "Till")]


async def test_a_key_whose_service_is_deleted_at_this_moment_is_401(
    backend: Backend, raw_connection: RawConnection
) -> None:
    answers: list[Answer] = []

    async def change() -> None:
        answers.append(await backend.request("PATCH", PATH, body={"name": "Late"}))

    async with trio.open_nursery() as nursery:
        with raw_connection.transaction():
            raw_connection.execute("SELECT FROM organizations FOR NO KEY UPDATE")
            nursery.start_soon(change)
            await waiting_for_a_lock(backend.world.connection)
            raw_connection.execute("DELETE FROM services")

    assert_refused(answers[0], 401, "UNAUTHORIZED")


async def test_a_name_with_an_address_of_the_web_is_refused(backend: Backend) -> None:
    answer = await backend.request("PATCH", "/info", body={"name": "URGENT https://evil.example/login"})

    assert answer.invalid_fields == ["name"]
