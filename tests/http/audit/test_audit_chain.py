"""The proof and the export of an audit log: everything that a verifier needs, however long the log is."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

import pytest
import trio

from core.audit.chain import EXPORT_ENTRIES_MAX, FIRST_HASH
from core.audit.chain_verification import ChainBroken, ChainVerifier, KeptHead
from core.sessions.tokens import TokenKind
from entrypoints.web.serving import exchanges
from tests.audit_chains import add_entry, seal_all
from tests.cut_answers import take_cut_answers
from tests.web.probe import http_scope
from tests.world.team import Team
from tests.world.world import World, assert_refused

Transact = Callable[..., Any]


def claims_of(head: str) -> dict[str, Any]:
    """Return the claims of a JWS."""
    payload = head.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def add_entries(team: Team, count: int, **details: Any) -> list[UUID]:
    """Insert entries of the organization."""
    world = team.world
    return [add_entry(world.connection, team.organization_id, world.clock, n=n, **details) for n in range(count)]


def verify(lines: list[dict[str, Any]]) -> int:
    """Verify an export, and return the number of entries."""
    *entries, proof = lines
    claims = claims_of(proof["head"])
    verifier = ChainVerifier()
    for line in entries:
        verifier.check(line)
    verifier.finish(KeptHead(position=claims["position"], hash=claims["hash"]))
    return verifier.position


async def export(team: Team, name: str = "admin") -> list[dict[str, Any]]:
    """Return the lines of the export."""
    answer = await team.request(name, "GET", "/audit-log/export")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/x-ndjson"), answer.text
    return [json.loads(line) for line in answer.content.splitlines()]


async def test_an_export_that_is_cut_short_ends_without_its_proof(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchanges, "RESPONSE_SECONDS_MAX", 0)
    take_cut_answers(team.world.client)

    assert await export(team) == []


async def test_the_proof_names_the_end_of_the_chain_in_a_signed_head(
    team: Team, transact: Transact, world: World
) -> None:
    *_, last = add_entries(team, 3)
    seal_all(transact)
    add_entries(team, 1)

    answer = await team.request("admin", "GET", "/audit-log/proof")

    head = answer.json.pop("head")
    assert answer.json | {"sealed_at": None} == {
        "entries": 4,
        "sealed_through": 3,
        "pending": 1,
        "sealed_at": None,
        "head": head,
    }
    assert answer.json["sealed_at"] == world.clock().isoformat().replace("+00:00", "Z")
    claims = world.installation.tokens.verify(head, kind=TokenKind.AUDIT_HEAD, now=world.clock())
    assert claims["sub"] == str(team.organization_id)
    assert (claims["position"], claims["hash"]) == (
        3,
        world.value("SELECT hash FROM audit_seals WHERE entry_id = %s", last),
    )


async def test_the_proof_of_a_log_that_is_not_sealed_yet_names_no_entry(team: Team) -> None:
    answer = await team.request("admin", "GET", "/audit-log/proof")

    assert (answer.json["entries"], answer.json["sealed_through"], answer.json["sealed_at"]) == (0, 0, None)
    assert claims_of(answer.json["head"])["hash"] == FIRST_HASH


async def test_the_head_of_a_proof_opens_nothing(team: Team) -> None:
    head = (await team.request("admin", "GET", "/audit-log/proof")).json["head"]

    assert_refused(await team.world.client.get(f"{team.path}/audit-log", token=head), 401, "JWT_ERROR")


async def test_the_export_verifies_and_ends_with_the_proof(team: Team, transact: Transact) -> None:
    add_entries(team, 3, reason="größer\n", nested={"b": [1.5, None], "a": True})
    await team.request("admin", "POST", "/invitations", body={"email": "eve@example.com", "role": "member"})
    seal_all(transact)

    lines = await export(team)

    assert verify(lines) == 4
    assert [line["position"] for line in lines[:-1]] == [1, 2, 3, 4]
    assert lines[0]["previous_hash"] == FIRST_HASH
    assert [line["previous_hash"] for line in lines[1:-1]] == [line["hash"] for line in lines[:-2]]
    assert lines[3]["details"]["invited_email"] == "eve@example.com"
    assert sorted(lines[-1]) == ["entries", "head", "pending", "sealed_at", "sealed_through"]


async def test_an_export_is_recorded_after_what_it_contains(team: Team, transact: Transact) -> None:
    add_entries(team, 2)
    seal_all(transact)

    lines = await export(team)

    assert verify(lines) == 2
    [(organization_id, actor, _, details)] = team.world.audit_entries("audit_log.exported")
    assert (organization_id, actor) == (team.organization_id, team.ids["admin"])
    assert details == {"sealed_through": 2}


@pytest.mark.parametrize("count", [EXPORT_ENTRIES_MAX - 1, EXPORT_ENTRIES_MAX, EXPORT_ENTRIES_MAX + 1])
async def test_an_export_of_several_pages_has_every_entry_once(team: Team, transact: Transact, count: int) -> None:
    entries = add_entries(team, count)
    seal_all(transact)

    lines = await export(team)

    assert [line["id"] for line in lines[:-1]] == [str(entry) for entry in entries]
    assert verify(lines) == count


async def test_the_export_has_the_entries_of_its_organization_alone(team: Team, transact: Transact) -> None:
    other = team.world.organization("globex")
    add_entry(team.world.connection, other, team.world.clock)
    [entry] = add_entries(team, 1)
    seal_all(transact)

    lines = await export(team)

    assert [line["id"] for line in lines[:-1]] == [str(entry)]


async def test_a_removed_entry_is_missing_in_the_export_and_the_others_are_there(
    team: Team, transact: Transact
) -> None:
    entries = add_entries(team, 5)
    seal_all(transact)
    team.world.connection.execute("DELETE FROM audit_entries WHERE id = ANY (%s)", (entries[1:3],))

    lines = await export(team)

    assert [line["position"] for line in lines[:-1]] == [1, 4, 5]
    with pytest.raises(ChainBroken, match="Entry 2 was removed"):
        verify(lines)


async def export_to(team: Team, take: Callable[[bytes], None]) -> bool:
    """Export to a client that takes one part after the other; return whether the answer was complete."""
    headers = [(b"authorization", f"Bearer {await team.token('admin')}".encode())]
    endings: list[bool] = []

    async def receive() -> Any:
        await trio.sleep_forever()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            take(message["body"])
            endings.append(message["more_body"])

    await team.world.client.application(
        cast("Any", http_scope("GET", f"{team.path}/audit-log/export", headers=headers)), receive, send
    )
    return not endings[-1]


async def test_no_transaction_is_open_while_the_client_takes_a_part_of_the_export(
    team: Team, transact: Transact
) -> None:
    add_entries(team, 3 * EXPORT_ENTRIES_MAX)
    seal_all(transact)
    parts: list[bytes] = []

    def take(part: bytes) -> None:
        parts.append(part)
        busy = team.world.rows(
            """
            SELECT query
            FROM   pg_stat_activity
            WHERE  datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'
            """
        )
        assert busy == []

    assert await export_to(team, take)
    # In memory is one page at a time.
    assert [len(part.splitlines()) for part in parts] == [EXPORT_ENTRIES_MAX] * 3 + [1, 0]


async def test_an_export_ends_with_the_membership(team: Team, transact: Transact) -> None:
    add_entries(team, 2 * EXPORT_ENTRIES_MAX)
    seal_all(transact)
    parts: list[bytes] = []

    def take(part: bytes) -> None:
        parts.append(part)
        team.world.connection.execute("DELETE FROM memberships WHERE user_id = %s", (team.ids["admin"],))

    assert not await export_to(team, take)
    assert [len(part.splitlines()) for part in parts] == [EXPORT_ENTRIES_MAX]
