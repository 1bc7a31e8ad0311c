"""What an organization gives to an address ends with a change of the address, until the person has confirmed it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.world import address_changes
from tests.world.backend import Backend, insert_backend
from tests.world.directory import Directory, insert_directory
from tests.world.inviter import GUEST, Inviter
from tests.world.world import World, assert_refused

MINE = "mallory@evil.example"
PASSWORD = "mallory's own password"


@pytest.fixture
def evil(world: World) -> Directory:
    """Return the directory of another organization."""
    return insert_directory(world.team("evil"))


async def choose_password(world: World, email: str) -> None:
    """Reset the password of an account from the mailbox of its address."""
    await world.mails()
    await world.client.post("/api/auth/forgot-password", body={"email": email})
    [token] = [mail.values["token"] for mail in await world.mails() if mail.to == email]
    body = {"token": token, "new_password": PASSWORD}
    assert (await world.client.post("/api/auth/reset-password", body=body)).status == 200


async def readdress(directory: Directory, user: dict[str, Any], email: str = MINE) -> None:
    answer = await directory.patch(user["id"], {"op": "replace", "path": "userName", "value": email})
    assert answer.status == 200, answer.text


def told(inviter: Inviter) -> list[dict[str, Any]]:
    """Return the details of the entries about members who were removed."""
    return [details for _, _, details, _ in inviter.audit_entries("user.removed")]


class TestAddressChangedByAnotherOrganization:
    async def test_an_invitation_accepted_on_behalf_does_not_come_along(
        self, evil: Directory, inviter: Inviter
    ) -> None:
        user = await evil.create(GUEST)
        await inviter.accept_on_behalf(await inviter.invite(role="admin"))
        assert inviter.role_of() == "admin"

        await readdress(evil, user)
        await choose_password(inviter.world, MINE)

        assert_refused(await inviter.world.log_in(MINE, PASSWORD, org_slug="acme"), 403, "FORBIDDEN")
        assert inviter.role_of(MINE) is None
        # It stays with the address.
        assert inviter.role_of() == "admin"
        assert told(inviter) == []

    async def test_a_membership_by_scim_and_a_link_with_a_subscription_by_a_key_do_not_come_along(
        self, evil: Directory, world: World
    ) -> None:
        user = await evil.create(GUEST)
        backend = insert_backend(world)
        added = await backend.request("POST", "/users", body={"email": GUEST})
        plan_id = str(backend.plan())
        body = {"user_id": added.json["id"], "plan_id": plan_id}
        assert (await backend.request("POST", "/subscriptions", body=body)).status == 200
        other = insert_directory(world.team("globex"), f"scim_live_globex_{'g' * 43}")
        await other.create(GUEST)

        await readdress(evil, user)
        await choose_password(world, MINE)

        tokens = await world.sign_in(MINE, PASSWORD, org_slug="acme", service_slug="shop")
        subscription = await world.client.get("/api/subscription", token=tokens.access_token)
        assert subscription.json["plan"] != "Pro"
        assert_refused(await world.log_in(MINE, PASSWORD, org_slug="globex"), 403, "FORBIDDEN")
        assert await other.found(f'userName eq "{MINE}"') == []
        # All of it stays with the address.
        assert (await backend.request("GET", "/subscriptions")).json["total"] == 1
        assert await other.found(f'userName eq "{GUEST}"') == [GUEST]

    async def test_what_the_organization_gave_itself_stays(self, evil: Directory) -> None:
        user = await evil.create(GUEST)

        await readdress(evil, user)

        assert await evil.found(f'userName eq "{MINE}"') == [MINE]

    async def test_a_confirmed_membership_elsewhere_forbids_the_change(self, evil: Directory, inviter: Inviter) -> None:
        user = await evil.create(GUEST)
        await inviter.accept(await inviter.invite(), is_proved=True)

        answer = await evil.patch(user["id"], {"op": "replace", "path": "userName", "value": MINE})

        assert answer.status == 403

    async def test_a_key_carries_nothing_away_either(self, inviter: Inviter) -> None:
        backend = insert_backend(inviter.world, "evil", "trap")
        added = await backend.request("POST", "/users", body={"email": GUEST})
        await inviter.accept_on_behalf(await inviter.invite())

        changed = await backend.request("PATCH", f"/users/{added.json['id']}", body={"email": MINE})

        assert changed.status == 200
        assert inviter.role_of(MINE) is None
        assert (inviter.role_of(), told(inviter)) == ("member", [])


class TestAddressChangedByItsUser:
    async def test_unconfirmed_memberships_end_and_confirmed_ones_stay(self, inviter: Inviter) -> None:
        world = inviter.world
        user_id = world.user(GUEST)
        globex = world.organization("globex")
        world.member(globex, user_id)
        await inviter.accept_on_behalf(await inviter.invite())
        tokens = await world.sign_in(GUEST)

        await world.change_address(tokens.access_token, "guest@home.example")

        assert inviter.role_of("guest@home.example") is None
        assert world.role_of(globex, "guest@home.example") == "member"
        assert [details["reason"] for details in told(inviter)] == ["address_changed"]

    async def test_an_unconfirmed_link_ends_with_its_subscription_and_its_organization_is_told(
        self, world: World
    ) -> None:
        backend = insert_backend(world)
        world.user(GUEST)
        added = await backend.request("POST", "/users", body={"email": GUEST})
        body = {"user_id": added.json["id"], "plan_id": str(backend.plan())}
        assert (await backend.request("POST", "/subscriptions", body=body)).status == 200
        tokens = await world.sign_in(GUEST)

        await world.change_address(tokens.access_token, "guest@home.example")

        assert (await backend.request("GET", "/subscriptions")).json["total"] == 0
        [(_, _, details, *_)] = world.audit_entries("user.removed", "action", "target_id", "details")
        assert details["reason"] == "address_changed"
        [(details,)] = world.audit_entries("subscription.canceled", "details")
        assert details["reason"] == "address_changed"

    async def test_a_service_that_changes_the_address_of_its_user_carries_nothing_away(self, inviter: Inviter) -> None:
        world = inviter.world
        evil = world.organization("evil")
        world.service(evil, "trap")
        world.user(GUEST)
        tokens = await world.sign_in(GUEST, org_slug="evil", service_slug="trap")
        await inviter.accept_on_behalf(await inviter.invite(role="admin"))

        await world.change_address(tokens.access_token, MINE)

        assert inviter.role_of(MINE) is None


class TestAccountChangedByAService:
    """A password that the makers of a service set opens nothing that others give to the address."""

    async def prepared(self, inviter: Inviter) -> None:
        world = inviter.world
        world.service(world.organization("evil"), "trap")
        world.user(GUEST)
        tokens = await world.sign_in(GUEST, org_slug="evil", service_slug="trap")
        world.remove_password(GUEST)
        body = {"new_password": PASSWORD}
        assert (await world.client.post("/api/user/set-password", body=body, token=tokens.access_token)).status == 200
        await world.mails()

    async def test_using_the_membership_does_not_confirm_it(self, inviter: Inviter) -> None:
        await self.prepared(inviter)
        await inviter.accept_on_behalf(await inviter.invite(role="admin"))
        tokens = await inviter.world.sign_in(GUEST, PASSWORD)

        selected = await inviter.world.client.post("/api/organizations/acme/select", token=tokens.access_token)

        assert_refused(selected, 403, "FORBIDDEN")
        assert_refused(await inviter.world.log_in(GUEST, PASSWORD, org_slug="acme"), 403, "FORBIDDEN")
        # Going without confirming stays possible.
        left = await inviter.world.client.post("/api/organizations/acme/leave", token=tokens.access_token)
        assert left.status == 204

    async def test_accepting_while_signed_in_does_not_confirm_it(self, inviter: Inviter) -> None:
        await self.prepared(inviter)
        invitation = await inviter.invite(role="admin")
        tokens = await inviter.world.sign_in(GUEST, PASSWORD)
        body = {"token": invitation.token}
        accepted = await inviter.world.client.post("/api/invitations/accept", body=body, token=tokens.access_token)
        assert accepted.status == 200

        selected = await inviter.world.client.post("/api/organizations/acme/select", token=tokens.access_token)

        assert_refused(selected, 403, "FORBIDDEN")

    async def test_the_proof_of_the_mailed_link_gives_the_account_to_its_owner(self, inviter: Inviter) -> None:
        await self.prepared(inviter)

        accepted = await inviter.accept(await inviter.invite(role="admin"), is_proved=True)

        assert accepted.status == 200
        assert_refused(await inviter.world.log_in(GUEST, PASSWORD), 401, "UNAUTHORIZED")
        assert inviter.world.value(
            "SELECT confirmed_at IS NOT NULL FROM memberships WHERE organization_id = %s AND role = 'admin'",
            inviter.organization_id,
        )
        assert inviter.world.value("SELECT changed_by_service_at FROM users WHERE email = %s", GUEST) is None

    async def test_a_sign_in_link_that_names_the_organization_is_such_a_proof(self, inviter: Inviter) -> None:
        await self.prepared(inviter)
        world = inviter.world
        await inviter.accept_on_behalf(await inviter.invite(role="admin"))
        await world.mails()
        await world.client.post("/api/auth/magic-link/request", body={"email": GUEST, "org_slug": "acme"})
        [token] = [mail.values["token"] for mail in await world.mails() if mail.template == "magic_link"]

        verified = await world.client.post("/api/auth/magic-link/verify", body={"token": token})

        assert verified.status == 200, verified.text
        assert_refused(await world.log_in(GUEST, PASSWORD), 401, "UNAUTHORIZED")

    async def test_a_link_by_a_key_of_another_organization_waits_as_well(self, inviter: Inviter) -> None:
        await self.prepared(inviter)
        backend: Backend = insert_backend(inviter.world, "globex", "till")
        assert (await backend.request("POST", "/users", body={"email": GUEST})).status == 200

        refused = await inviter.world.log_in(GUEST, PASSWORD, org_slug="globex", service_slug="till")

        assert_refused(refused, 403, "FORBIDDEN")


async def test_a_first_proof_takes_nothing_away_and_makes_it_unconfirmed_again(
    evil: Directory, inviter: Inviter
) -> None:
    user = await evil.create("someone@example.com")
    await inviter.accept_on_behalf(await inviter.invite("someone@example.com"))

    await choose_password(inviter.world, "someone@example.com")

    assert inviter.role_of("someone@example.com") == "member"
    query = "SELECT confirmed_at FROM memberships WHERE user_id = %s"
    assert inviter.world.rows(query, user["id"]) == [(None,), (None,)]
    assert (await inviter.world.log_in("someone@example.com", PASSWORD, org_slug="acme")).status == 200


async def test_a_session_from_before_the_address_does_not_confirm_what_is_given_to_it(evil: Directory) -> None:
    world = evil.world
    world.user(GUEST)
    before = await world.sign_in(GUEST)
    links = await address_changes.asked(world, before.access_token, MINE)
    world.clock.advance(timedelta(seconds=1))
    assert (await address_changes.prove(world, links[MINE])).status == 200
    await evil.create(MINE)

    select = "/api/organizations/evil/select"
    assert_refused(await world.client.post(select, token=before.access_token), 403, "FORBIDDEN")

    since = await world.sign_in(MINE)
    assert (await world.client.post(select, token=since.access_token)).status == 200
    # It is confirmed now, and belongs to the account in each of its sessions.
    assert (await world.client.post(select, token=before.access_token)).status == 200
