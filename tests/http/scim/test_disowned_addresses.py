"""What becomes of an address that the organization of its mail domain has disowned, or given to a successor."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
import trio

from tests.http.scim.test_mail_domains import ADA, OFF, employee, rename
from tests.waiting import waiting_for_a_lock
from tests.world.address_changes import asked, prove, submit
from tests.world.directory import Directory, insert_directory
from tests.world.inviter import Inviter
from tests.world.signing_in import Tokens
from tests.world.world import World

HOME = "ada@home.example"
UNDO = "/auth/undo-email-change"


@pytest.fixture
def corp(world: World) -> Directory:
    """The directory of an organization whose mail domain is acme.example."""
    team = world.team("corp")
    world.mail_domain(team.organization_id, "acme.example")
    return insert_directory(team)


async def disowned(corp: Directory) -> tuple[dict[str, Any], Tokens]:
    """Deactivate an employee who is a member elsewhere too; return the user and a session."""
    user, tokens = await employee(corp)
    corp.world.member(corp.world.organization("globex"), user["id"])
    await corp.patch(user["id"], OFF)
    await corp.world.mails()
    return user, tokens


def email_of(corp: Directory, user: dict[str, Any]) -> str:
    return corp.world.value("SELECT email FROM users WHERE id = %s", user["id"])


def role_in(access_token: str) -> str | None:
    return jwt.decode(access_token, options={"verify_signature": False}).get("role")


async def test_the_mailbox_undoes_no_change_to_an_address_of_the_users_own(corp: Directory) -> None:
    user, tokens = await disowned(corp)
    links = await asked(corp.world, tokens.access_token, HOME)

    await prove(corp.world, links[HOME])

    assert set(links) == {HOME}
    assert [mail for mail in await corp.world.mails() if mail.to == ADA] == []
    assert email_of(corp, user) == HOME


async def test_an_earlier_link_to_undo_a_change_ends_with_the_address(corp: Directory) -> None:
    world = corp.world
    user, tokens = await employee(corp)
    world.connection.execute("UPDATE memberships SET confirmed_at = now()")
    links = await asked(world, tokens.access_token, "ada.l@acme.example")
    await prove(world, links["ada.l@acme.example"])
    [undo] = [mail.values["token"] for mail in await world.mails() if mail.to == ADA]
    world.member(world.organization("globex"), user["id"])
    await corp.patch(user["id"], OFF)

    refused = await submit(world, UNDO, undo)

    assert refused.status == 400
    assert email_of(corp, user) == "ada.l@acme.example"


async def test_an_invitation_to_the_mailbox_gives_the_account_nothing(corp: Directory, inviter: Inviter) -> None:
    _, tokens = await disowned(corp)
    invitation = await inviter.invite(ADA, role="admin")

    await inviter.accept_on_behalf(invitation)
    await inviter.accept(invitation, is_proved=True)

    selected = await inviter.world.client.post("/api/organizations/acme/select", token=tokens.access_token)
    assert selected.status == 403


async def test_a_token_does_not_name_the_role_that_waits_for_another_address(corp: Directory, inviter: Inviter) -> None:
    world = inviter.world
    world.service(inviter.organization_id, "shop")
    user, _ = await employee(corp)
    world.member(world.organization("globex"), user["id"])
    shop = await world.sign_in(ADA, org_slug="acme", service_slug="shop")
    await corp.patch(user["id"], OFF)
    await world.mails()
    await inviter.accept_on_behalf(await inviter.invite(ADA, role="admin"))

    refreshed = await world.refresh(shop.refresh_token)

    assert (refreshed.status, role_in(refreshed.json["access_token"])) == (200, None)


async def test_another_organizations_directory_does_not_give_the_address_back(corp: Directory) -> None:
    _, tokens = await disowned(corp)
    again = await corp.create("eve@acme.example")

    await corp.patch(again["id"], {"op": "replace", "path": "active", "value": True})

    profile = await corp.world.client.get("/api/user", token=tokens.access_token)
    assert profile.json["email_verified"] is False


async def test_undoing_a_change_keeps_the_account_of_the_successor(corp: Directory) -> None:
    world = corp.world
    user, tokens = await employee(corp)
    world.connection.execute("UPDATE memberships SET confirmed_at = now()")
    links = await asked(world, tokens.access_token, HOME)
    await prove(world, links[HOME])
    [undo] = [mail.values["token"] for mail in await world.mails() if mail.to == ADA]
    assert (await corp.request("DELETE", f"/Users/{user['id']}")).status == 204
    successor = await corp.create(ADA)

    refused = await submit(world, UNDO, undo)

    assert refused.status == 400
    assert email_of(corp, successor) == ADA


async def test_a_wish_for_an_address_does_not_remove_the_account_that_was_deactivated_with_it(corp: Directory) -> None:
    world = corp.world
    world.user("mallory@evil.example")
    tokens = await world.sign_in("mallory@evil.example")
    links = await asked(world, tokens.access_token, ADA)
    user = await corp.create(ADA)
    await corp.patch(user["id"], OFF)

    await prove(world, links[ADA])

    assert email_of(corp, user) == ADA
    assert (await world.log_in(ADA)).status == 401


async def test_what_the_user_confirms_while_the_directory_changes_the_address_does_not_go_along(
    corp: Directory, inviter: Inviter
) -> None:
    world = inviter.world
    user, tokens = await employee(corp)
    await world.mails()
    await inviter.accept_on_behalf(await inviter.invite(ADA, role="admin"))
    statuses: list[int] = []

    async def change_address() -> None:
        statuses.append((await corp.patch(user["id"], rename("mallory@evil.example"))).status)

    async with trio.open_nursery() as nursery:
        with world.connection.transaction():
            # A registration of the new address, which fails.
            world.user("mallory@evil.example")
            nursery.start_soon(change_address)
            await waiting_for_a_lock(world.connection)
            used = await world.client.get("/api/organizations/acme", token=tokens.access_token)
            world.connection.execute("DELETE FROM users WHERE email = 'mallory@evil.example'")

    assert (used.status, statuses) == (200, [403])
    assert inviter.role_of(ADA) == "admin"
