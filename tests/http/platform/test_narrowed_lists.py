"""The platform's log records what support searches for, and no list shows addresses of platform owners to support."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.world.platform import Platform
from tests.world.support import SupportDesk, open_desk

BOB = "bob@example.com"
WISHED = "wished@example.com"


@pytest.fixture
async def desk(platform: Platform) -> SupportDesk:
    return await open_desk(platform)


async def test_each_narrowed_list_is_an_entry_also_where_nothing_is_found(desk: SupportDesk) -> None:
    user_id = desk.world.user(BOB)
    for path in (
        f"/api/platform/users/search?email={quote(BOB)}",
        "/api/platform/users/search?email=nobody",
        f"/api/platform/users/search?user_id={user_id}",
        f"/api/platform/mails?email={quote(BOB)}",
        "/api/platform/mails",
    ):
        assert (await desk.request("GET", path)).status == 200, path

    entries = desk.world.platform_audit_entries("list.narrowed")
    assert [(actor, target) for actor, target, _ in entries] == [
        (desk.person.id, "users"),
        (desk.person.id, "users"),
        (desk.person.id, "users"),
        (desk.person.id, "mails"),
    ]
    assert [set(details) for _, _, details in entries] == [
        {"address_hash"},
        {"address_hash"},
        {"user_id"},
        {"address_hash"},
    ]
    assert BOB not in str(entries)


async def test_owners_leave_no_entry(platform: Platform) -> None:
    assert (await platform.request("GET", f"/api/platform/mails?email={quote(BOB)}")).status == 200

    assert platform.world.platform_audit_entries("list.narrowed") == []


async def test_a_platform_owners_wished_address_is_in_no_list_of_mails(desk: SupportDesk) -> None:
    answer = await desk.platform.request("PATCH", "/api/user", {"email": WISHED})
    assert answer.status == 200, answer.text
    mail_id = desk.world.value("SELECT id FROM mails WHERE recipient = %s", WISHED)

    everything = await desk.request("GET", "/api/platform/mails")
    narrowed = await desk.request("GET", f"/api/platform/mails?email={quote(WISHED)}")
    retried = await desk.request("POST", f"/api/platform/mails/{mail_id}/retry")
    of_owner = await desk.platform.request("GET", f"/api/platform/mails?email={quote(WISHED)}")

    assert WISHED not in everything.text
    assert (narrowed.json["mails"], narrowed.json["total"]) == ([], 0)
    assert retried.status == 404
    assert of_owner.json["total"] == 1
