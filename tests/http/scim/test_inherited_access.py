"""What organizations gave to an address stays with the address when another account proves it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.world.address_changes import NEW, asked, prove
from tests.world.backend import insert_backend
from tests.world.builder import EMAIL, PASSWORD
from tests.world.directory import Directory, insert_directory
from tests.world.world import World

GLOBEX = f"scim_live_globex_{'g' * 43}"


@pytest.fixture
def other(directory: Directory) -> Directory:
    """The directory of another organization."""
    return insert_directory(directory.world.team("globex"), GLOBEX)


async def wished(world: World) -> tuple[str, str]:
    """Sign in with another address, and ask to change it to this one; return the session's token and the link's."""
    token = (await world.register_and_sign_in()).access_token
    return token, (await asked(world, token))[NEW]


async def take(world: World, link: str) -> None:
    """Prove the address by a change that another account has asked for."""
    assert (await prove(world, link)).status == 200


def removals(world: World) -> list[Any]:
    return [details["reason"] for (details,) in world.audit_entries("user.removed", "details")]


async def test_a_directory_keeps_its_user_by_the_same_id(directory: Directory, other: Directory) -> None:
    world = directory.world
    token, link = await wished(world)
    user = await directory.create(NEW, externalId="1", displayName="Ada")
    await other.create(NEW)

    await take(world, link)

    shown = await directory.show(user["id"])
    assert {**shown, "meta": None} == {**user, "meta": None}
    assert str(world.user_id(NEW)) != user["id"]
    assert await directory.show(str(world.user_id(NEW))) == shown
    assert await directory.found(f'userName eq "{NEW}"') == [NEW]
    assert await other.found(f'userName eq "{NEW}"') == [NEW]
    assert removals(world) == []
    query = "SELECT confirmed_at FROM memberships WHERE user_id = %s"
    assert world.rows(query, world.user_id(NEW)) == [(None,), (None,)]
    selected = await world.client.post("/api/organizations/acme/select", token=token)
    assert selected.status == 200, selected.text


async def test_what_the_unproved_account_had_itself_goes(directory: Directory) -> None:
    world = directory.world
    _, link = await wished(world)
    await world.register(NEW, "a password of a stranger")
    [verification] = [mail for mail in await world.mails() if mail.to == NEW]
    await directory.create(NEW)

    await take(world, link)

    assert (await world.log_in(NEW, "a password of a stranger")).status == 401
    assert (await prove(world, verification.values["token"])).status == 400
    assert (await world.log_in(NEW, PASSWORD, org_slug="acme")).status == 200
    assert world.rows("SELECT email FROM users WHERE email LIKE %s", "%invalid") == []


async def test_links_subscriptions_and_grants_come_along(world: World) -> None:
    backend = insert_backend(world)
    _, link = await wished(world)
    added = (await backend.request("POST", "/users", body={"email": NEW})).json
    body = {"user_id": added["id"], "plan_id": str(backend.plan())}
    assert (await backend.request("POST", "/subscriptions", body=body)).status == 200

    await take(world, link)

    [subscription] = (await backend.request("GET", "/subscriptions")).json["subscriptions"]
    assert subscription["user_id"] == added["id"]
    found = await backend.request("GET", f"/users/{added['id']}")
    assert (found.status, found.json["id"], found.json["email"]) == (200, added["id"], NEW)
    assert removals(world) == []
    tokens = await world.sign_in(NEW, PASSWORD, org_slug="acme", service_slug="shop")
    assert (await world.client.get("/api/subscription", token=tokens.access_token)).json["plan"] == "Pro"


async def test_a_membership_that_the_account_has_confirmed_stays_as_it_is(directory: Directory) -> None:
    world = directory.world
    mine = (await world.register_and_sign_in()).access_token
    world.member(directory.organization_id, world.user_id(EMAIL), "admin")
    service = world.service(directory.organization_id, "shop")
    link = (await asked(world, mine))[NEW]
    user = await directory.create(NEW)
    world.grant(directory.organization_id, service.id, UUID(user["id"]), "viewer")
    world.link(directory.organization_id, service.id, UUID(user["id"]))

    await take(world, link)

    assert world.role_of(directory.organization_id, NEW) == "admin"
    assert removals(world) == ["address_proved_by_another_account"]
    query = "SELECT user_id FROM service_grants UNION ALL SELECT user_id FROM service_users"
    assert world.rows(query) == [(world.user_id(NEW),)] * 2
    assert world.rows("SELECT FROM known_account_ids WHERE user_id IS NOT NULL") == []
    assert (await directory.request("GET", f"/Users/{user['id']}")).status == 404


async def test_a_gift_to_the_former_address_gives_way_to_one_to_the_new_address(directory: Directory) -> None:
    world = directory.world
    token, link = await wished(world)
    former = await directory.create(EMAIL)
    user = await directory.create(NEW)

    await take(world, link)

    assert removals(world) == ["address_changed"]
    assert (await directory.show(user["id"]))["userName"] == NEW
    assert (await directory.request("GET", f"/Users/{former['id']}")).json["id"] == user["id"]
    assert (await world.client.get("/api/user", token=token)).json["email"] == NEW


async def test_an_undone_change_leaves_what_was_given_to_the_old_address_meanwhile(directory: Directory) -> None:
    world = directory.world
    token = (await world.register_and_sign_in()).access_token
    link = (await asked(world, token))[NEW]
    await take(world, link)
    [undo] = [mail.values["token"] for mail in await world.mails() if mail.template == "email_changed"]
    given = await directory.create(NEW)
    user = await directory.create(EMAIL)

    form = {"Content-Type": "application/x-www-form-urlencoded"}
    undone = await world.client.post("/auth/undo-email-change", data=f"token={undo}".encode(), headers=form)

    assert undone.status == 200, undone.text
    assert (await directory.show(user["id"]))["userName"] == EMAIL
    assert await directory.found(f'userName eq "{NEW}"') == []
    assert removals(world) == ["address_changed"]
    assert given["id"] != user["id"]


async def test_an_id_that_the_organization_knew_before_is_kept_again(directory: Directory, other: Directory) -> None:
    """The unproved account is itself known by another id, because an address was changed before."""
    world = directory.world
    _, link = await wished(world)
    user = await directory.create("before@acme.example")
    await other.create("before@acme.example")
    body = {"op": "replace", "path": "userName", "value": NEW}
    assert (await directory.patch(user["id"], body)).status == 200
    assert str(world.user_id(NEW)) != user["id"]

    await take(world, link)

    assert (await directory.show(user["id"]))["userName"] == NEW
    assert await other.found('userName eq "before@acme.example"') == ["before@acme.example"]
