"""Searching the audit logs: by actor, time, address and request."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from core.ids import first_id_at
from tests.application import Answer
from tests.world.signing_in import SignedInUser
from tests.world.world import World, assert_refused

PATH = "/api/organizations/acme/audit-log"
PLATFORM = "/api/platform/audit-log"
KEY = "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"
NOON = datetime(2026, 2, 3, 12, tzinfo=UTC)


@pytest.fixture
def acme(world: World) -> UUID:
    """An organization."""
    return world.organization()


@pytest.fixture
async def ada(world: World, acme: UUID) -> SignedInUser:
    """The owner of the organization, who is a platform owner, signed in."""
    root = await world.signed_in_platform_owner()
    world.member(acme, root.id, "owner")
    world.connection.execute("DELETE FROM audit_entries")
    world.connection.execute("DELETE FROM platform_audit_entries")
    return root


def write(world: World, organization_id: UUID, minute: int, **columns: Any) -> None:
    """Insert an entry of both logs, written at this minute after noon; its target is the minute."""
    written_at = NOON.replace(minute=minute)
    entry_id = UUID(int=first_id_at(written_at).int | (organization_id.int & (2**60 - 1)))
    values = {
        "id": entry_id,
        "organization_id": organization_id,
        "actor_user_id": None,
        "action": "user.exported",
        "target_type": "user",
        "target_id": str(minute),
        "ip_address": None,
        "request_id": None,
        "success": True,
        "details": {},
        "created_at": written_at,
    } | columns
    values["details"] = Jsonb(values["details"])
    names = ", ".join(values)
    for table in ("audit_entries", "platform_audit_entries"):
        world.connection.execute(
            f"INSERT INTO {table} ({names}) VALUES ({', '.join(['%s'] * len(values))})".encode(), tuple(values.values())
        )


async def found(world: World, ada: SignedInUser, query: str, path: str = PATH) -> list[int]:
    answer = await world.client.get(f"{path}?{query}", token=ada.token)
    assert answer.status == 200, answer.text
    assert "looked_back_to" not in answer.json
    assert answer.json["pagination"]["total"] == len(answer.json["logs"])
    return [int(entry["target_id"]) for entry in answer.json["logs"]]


async def test_entries_are_found_by_actor_time_address_and_request(world: World, acme: UUID, ada: SignedInUser) -> None:
    ada_id, email = ada.id, ada.email
    write(world, acme, 1, actor_user_id=ada_id, ip_address="192.0.2.7", request_id="req-1")
    write(world, acme, 2, actor_user_id=ada_id, action="user.anonymized")
    write(world, acme, 3, details={"organization_key_id": KEY}, ip_address="2001:db8::1")
    write(world, acme, 4, details={"setup_link_id": KEY}, ip_address="192.0.2.7")
    write(world, acme, 5)
    write(world, world.organization("bolt"), 1, actor_user_id=ada_id, ip_address="192.0.2.7", request_id="req-1")
    world.connection.execute("DELETE FROM platform_audit_entries WHERE organization_id <> %s", (acme,))

    for query, expected in (
        (f"actor={email}", [2, 1]),
        (f"actor=%20{email.upper()}", [2, 1]),
        (f"actor={str(ada_id).upper()}", [2, 1]),
        ("actor=unknown@example.com", []),
        (f"actor=api_key:{KEY}", [3]),
        (f"actor=setup_link:{KEY}", [4]),
        ("actor=system", [5]),
        (f"actor={KEY}", []),
        (f"actor={email}&action=user.anonymized", [2]),
        (f"actor={email}&target_type=user&target_id=1", [1]),
        (f"actor={email}&target_type=user", [2, 1]),
        ("q=192.0.2.7", [4, 1]),
        ("q=2001:DB8:0::1", [3]),
        ("q=req-1", [1]),
        ("q=req-1&actor=system", []),
        ("q=", []),
        ("since=2026-02-03T12:04:00Z", [5, 4]),
        ("until=2026-02-03T12:02:00Z", [1]),
        ("since=2026-02-03T14:02:00%2B02:00&until=2026-02-03T12:04:00Z", [3, 2]),
        ("since=0001-01-01T00:00:00Z&until=9999-12-31T23:59:59Z", [5, 4, 3, 2, 1]),
        ("since=9999-12-31T23:59:59Z", []),
        ("q=192.0.2.7&since=2026-02-03T12:02:00Z", [4]),
    ):
        assert await found(world, ada, query) == expected, query
        assert await found(world, ada, query, PLATFORM) == expected, query


@pytest.mark.parametrize("path", [PATH, PLATFORM])
@pytest.mark.parametrize(
    ("query", "field"),
    [("actor=ada", "actor"), ("actor=", "actor"), ("since=yesterday", "since"), ("until=2026-13-01", "until")],
)
async def test_what_cannot_be_searched_for_is_refused(
    world: World, ada: SignedInUser, path: str, query: str, field: str
) -> None:
    answer = await world.client.get(f"{path}?{query}", token=ada.token)

    assert_refused(answer, 400, "BAD_REQUEST")
    assert answer.json["details"][0]["field"] == field


async def test_a_search_says_how_far_it_has_looked_and_goes_on_there(
    world: World, acme: UUID, ada: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("core.audit.audit_log", "adapters.postgres.audit.entry_search"):
        monkeypatch.setattr(f"{module}.COUNTED_MAX", 3)
    monkeypatch.setattr("adapters.postgres.audit.entry_search.LOOKED_AT_MAX", 3)
    for minute in range(1, 9):
        write(world, acme, minute, ip_address="192.0.2.7", action="user.updated" if minute < 3 else "user.joined")

    async def read(query: str) -> Answer:
        return await world.client.get(f"{PATH}?limit=2&{query}", token=ada.token)

    first, second = await read("q=192.0.2.7"), await read("q=192.0.2.7&page=2")
    beyond = await read("q=192.0.2.7&page=9000")
    going_on = await read(f"q=192.0.2.7&until={first.json['looked_back_to']}")
    exactly = await read(f"q=192.0.2.7&before_id={first.json['looked_back_to_id']}")

    assert [entry["target_id"] for entry in (*first.json["logs"], *second.json["logs"])] == ["8", "7", "6"]
    assert first.json["pagination"] | {"page": 2, "has_next": False, "has_prev": True} == second.json["pagination"]
    assert first.json["pagination"]["total"] == 3
    assert first.json["looked_back_to"] == second.json["looked_back_to"] == "2026-02-03T12:06:00.001000Z"
    assert beyond.json["logs"] == []
    assert [entry["target_id"] for entry in going_on.json["logs"]] == ["6", "5"]
    assert [entry["target_id"] for entry in exactly.json["logs"]] == ["5", "4"]


async def test_the_condition_with_the_fewest_entries_leads(
    world: World, acme: UUID, ada: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("core.audit.audit_log", "adapters.postgres.audit.entry_search"):
        monkeypatch.setattr(f"{module}.COUNTED_MAX", 3)
    monkeypatch.setattr("adapters.postgres.audit.entry_search.LOOKED_AT_MAX", 3)
    for minute in range(1, 9):
        write(world, acme, minute, ip_address="192.0.2.7", action="user.updated" if minute < 3 else "user.joined")

    assert await found(world, ada, "q=192.0.2.7&action=user.updated") == [2, 1]


async def test_the_request_that_did_it_is_recorded(world: World, acme: UUID, ada: SignedInUser) -> None:
    created = await world.client.post(
        "/api/organizations/acme/services",
        body={"slug": "shop", "name": "Shop", "service_type": "web"},
        token=ada.token,
    )
    assert created.status == 200, created.text

    request_id = created.headers["X-Request-Id"]
    answer = await world.client.get(f"{PATH}?q={request_id}", token=ada.token)

    assert [entry["action"] for entry in answer.json["logs"]] == ["service.created"]
    assert "request_id" not in answer.json["logs"][0]
