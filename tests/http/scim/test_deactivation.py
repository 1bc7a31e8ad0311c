"""Deactivating users, activating them again, and removing them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.application import Answer
from tests.world.directory import Directory, assert_scim_refused, insert_directory
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World, assert_refused

ADA = "ada@example.com"
OFF = {"op": "Replace", "path": "active", "value": "False"}
ON = {"op": "replace", "value": {"active": True}}


async def shared(directory: Directory) -> dict[str, Any]:
    """Add the account of a person who has one already."""
    directory.world.user(ADA)
    return await directory.create()


async def sign_in_here(directory: Directory) -> Answer:
    return await directory.world.log_in(ADA, org_slug=directory.team.slug)


class TestSharedAccount:
    """A user whose account is not the organization's own."""

    async def test_who_is_inactive_is_listed_and_has_no_access(self, directory: Directory) -> None:
        user = await shared(directory)

        answer = await directory.patch(user["id"], OFF)

        assert (answer.status, answer.json["active"]) == (200, False)
        assert await directory.found("active eq false") == [ADA]
        assert_refused(await sign_in_here(directory), 403, "FORBIDDEN")
        directory.world.service(directory.organization_id)
        service = await directory.world.log_in(ADA, org_slug=directory.team.slug, service_slug="shop")
        assert_refused(service, 403, "FORBIDDEN")
        tokens = await directory.world.sign_in(ADA)
        client, path = directory.world.client, directory.team.path
        for method, below in (("GET", ""), ("GET", "/roles"), ("POST", "/select")):
            refused = await client.request(method, path + below, token=tokens.access_token)
            assert_refused(refused, 403, "FORBIDDEN")
        [listed] = (await client.get("/api/organizations", token=tokens.access_token)).json
        assert listed["membership"]["status"] == "inactive"

    async def test_every_list_of_members_marks_one_that_is_deactivated(self, world: World, team: Team) -> None:
        directory = insert_directory(team, groups="directory")
        service_id = world.service(team.organization_id).id
        member = str(team.ids["member"])
        group = (await directory.request("POST", "/Groups", {"displayName": "Sales"})).json["id"]
        await directory.put_in(group, "member")
        world.link(team.organization_id, service_id, team.ids["member"])
        await team.request("owner", "PUT", f"/services/shop/grants/{member}", body={"relation": "viewer"})
        browser = Visitor(world.client)
        await browser.sign_in("owner@example.com")

        async def marks() -> list[str]:
            """Return what each list of the interface says of the member."""
            members = (await team.request("owner", "GET", "/members")).json["members"]
            [in_group] = (await team.request("owner", "GET", f"/groups/{group}/members")).json["members"]
            [granted] = (await team.request("owner", "GET", "/services/shop/grants")).json["grants"]
            [listed] = [one["membership"]["status"] for one in members if one["user"]["id"] == member]
            return [listed, in_group["status"], granted["user"]["status"]]

        active = await marks()
        await directory.patch(member, OFF)
        inactive = await marks()

        assert (active, inactive) == (["active"] * 3, ["inactive"] * 3)
        console = f"/app/organizations/{team.slug}"
        for path in (
            "/people?search=member",
            "/people/directory",
            f"/people/groups/{group}",
            "/people/end-users",
            f"/people/selected/change?members={member}",
            "/services/shop/grants?find=member",
        ):
            page = await browser.open(console + path)
            assert "Deactivated by your directory" in page.text, path
        for path in ("/people/members.csv", f"/people/groups/{group}/members.csv"):
            [header, line] = [
                one.split(",")
                for one in (await browser.open(console + path)).text.splitlines()
                if "@" not in one or "member@" in one
            ]
            assert line[header.index("suspended")] in {"true", "yes"}, path

    async def test_the_sessions_of_the_organization_end_in_the_same_moment_and_others_stay(
        self, directory: Directory
    ) -> None:
        user = await shared(directory)
        world = directory.world
        here = await world.sign_in(ADA, org_slug=directory.team.slug)
        elsewhere = await world.sign_in(ADA)

        await directory.patch(user["id"], OFF)

        assert [(await world.list_sessions(tokens)).status for tokens in (here, elsewhere)] == [401, 200]
        assert_refused(await world.refresh(here.refresh_token), 401, "UNAUTHORIZED")
        assert [data["sessions"] for _, _, data in world.events("session.revoked")] == [1]

    async def test_who_is_active_again_has_the_same_role_as_before(self, directory: Directory) -> None:
        admin = str(directory.team.ids["admin"])
        directory.team.add("second", "admin")
        await directory.patch(admin, OFF)

        answer = await directory.patch(admin, ON)

        assert (answer.json["active"], directory.team.role_of("admin")) == (True, "admin")
        assert (await directory.team.request("admin", "GET", "/roles")).status == 200
        for action in ("user.deactivated", "user.reactivated"):
            [(_, actor_id, target_id, details)] = directory.world.audit_entries(action)
            assert (actor_id, target_id, set(details)) == (None, admin, {"scim_token_id"})
            [(_, _, data)] = directory.world.events(action)
            assert data["user_id"] == admin

    async def test_who_is_inactive_stays_so_when_a_replacement_does_not_say(self, directory: Directory) -> None:
        user = await directory.create()
        await directory.patch(user["id"], OFF)

        answer = await directory.request("PUT", f"/Users/{user['id']}", {"userName": ADA, "displayName": "Ada"})

        assert (answer.json["displayName"], answer.json["active"]) == ("Ada", False)
        assert directory.world.events("user.reactivated") == []

    async def test_a_suspended_member_may_leave(self, directory: Directory) -> None:
        member = str(directory.team.ids["member"])
        await directory.patch(member, OFF)

        assert (await directory.team.request("member", "POST", "/leave")).status == 204
        assert directory.team.role_of("member") is None

    async def test_a_suspended_member_cannot_become_the_owner(self, directory: Directory) -> None:
        await directory.patch(str(directory.team.ids["member"]), OFF)

        body = {"new_owner_user_id": str(directory.team.ids["member"])}
        answer = await directory.team.request("owner", "POST", "/transfer-ownership", body=body)

        assert_refused(answer, 400, "BAD_REQUEST")

    async def test_the_open_invitations_of_a_suspended_member_are_withdrawn(self, directory: Directory) -> None:
        directory.team.add("second", "admin")
        body = {"email": "guest@example.com", "role": "member"}
        assert (await directory.team.request("admin", "POST", "/invitations", body=body)).status == 200

        await directory.patch(str(directory.team.ids["admin"]), OFF)

        assert directory.world.value("SELECT status FROM invitations") == "cancelled"

    async def test_a_removed_user_keeps_the_account(self, directory: Directory) -> None:
        user = await shared(directory)
        here = await directory.world.sign_in(ADA, org_slug=directory.team.slug)

        answer = await directory.request("DELETE", f"/Users/{user['id']}")

        assert (answer.status, answer.content) == (204, b"")
        assert directory.world.has_user(ADA)
        assert directory.team.role_of("ada") is None
        assert (await directory.world.list_sessions(here)).status == 401
        organization = directory.organization_id
        assert directory.world.rows("SELECT FROM login_events WHERE organization_id = %s", organization) == []
        [(_, _, _, details)] = directory.world.audit_entries("user.removed")
        assert (details["role"], "deleted" in details) == ("member", False)


class TestOwnAccount:
    """A user whose account the organization made."""

    async def test_deactivating_deactivates_the_account_in_the_mail_domain_of_the_organization(
        self, directory: Directory
    ) -> None:
        world = directory.world
        world.mail_domain(directory.organization_id, "example.com")
        user = await directory.create()

        await directory.patch(user["id"], OFF)

        query = "SELECT deactivated_at IS NOT NULL FROM users WHERE id = %s"
        assert world.value(query, user["id"]) is True
        assert (await directory.patch(user["id"], ON)).json["active"] is True
        assert world.value(query, user["id"]) is False

    async def test_an_account_that_was_deactivated_otherwise_stays_so(self, directory: Directory) -> None:
        user = await directory.create()
        directory.world.connection.execute("UPDATE users SET deactivated_at = now() WHERE id = %s", (user["id"],))

        unconfirmed = await directory.patch(user["id"], ON)
        directory.world.connection.execute("UPDATE memberships SET confirmed_at = now()")
        confirmed = await directory.patch(user["id"], ON)

        assert directory.world.value("SELECT deactivated_at FROM users WHERE id = %s", user["id"]) is not None
        # The organization learns nothing of a person who has not confirmed the membership.
        assert (unconfirmed.status, unconfirmed.json["active"]) == (200, True)
        assert (confirmed.status, confirmed.json["active"]) == (200, False)

    async def test_another_organization_does_not_see_the_account_as_inactive(self, directory: Directory) -> None:
        user = await directory.create()
        await directory.patch(user["id"], OFF)
        globex = directory.world.team("globex")
        other = insert_directory(globex, f"scim_live_globex_{'g' * 43}")

        assert (await other.create())["active"] is True

    async def test_a_removed_user_is_deleted_for_good(self, directory: Directory) -> None:
        user = await directory.create()

        answer = await directory.request("DELETE", f"/Users/{user['id']}")

        assert (answer.status, answer.content) == (204, b"")
        assert not directory.world.has_user(ADA)
        for table in ("scim_profiles", "mails", "one_time_tokens"):
            assert directory.world.rows(f"SELECT FROM {table}") == [], table
        [(_, _, _, details)] = directory.world.audit_entries("user.removed")
        assert "deleted" not in details
        assert_scim_refused(await directory.request("DELETE", f"/Users/{user['id']}"), 404)
        assert (await directory.create())["id"] != user["id"]

    async def test_a_user_who_was_removed_while_inactive_is_active_when_added_again(self, directory: Directory) -> None:
        user = await directory.create()
        await directory.patch(user["id"], OFF)
        await directory.patch_group({"op": "remove", "path": f'members[value eq "{user["id"]}"]'})

        again = await directory.create()

        assert (again["id"], again["active"]) == (user["id"], True)
        assert directory.world.value("SELECT deactivated_at FROM users WHERE id = %s", user["id"]) is None


async def test_the_owner_is_neither_deactivated_nor_removed(directory: Directory) -> None:
    user_id = str(directory.team.ids["owner"])

    assert_scim_refused(await directory.patch(user_id, OFF), 403)
    assert_scim_refused(await directory.request("DELETE", f"/Users/{user_id}"), 403)
    assert_scim_refused(
        await directory.request("PUT", f"/Users/{user_id}", {"userName": "owner@example.com", "active": False}), 403
    )
    assert directory.team.role_of("owner") == "owner"


@pytest.mark.parametrize("is_deleted", [False, True])
async def test_the_only_admin_loses_access_at_once(directory: Directory, is_deleted: bool) -> None:
    team = directory.team
    token, admin = await team.token("admin"), str(team.ids["admin"])

    answer = await (directory.request("DELETE", f"/Users/{admin}") if is_deleted else directory.patch(admin, OFF))

    assert answer.status == (204 if is_deleted else 200)
    assert (await team.world.client.get(f"{team.path}/members", token=token)).status in {401, 403}
    assert team.role_of("admin") == (None if is_deleted else "admin")
