"""Leaving an organization, and what becomes of the invitations that a member has sent."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.world.team import Team
from tests.world.world import World, assert_refused

MANAGER = "org.members.manage"
ROLES = "org.roles.manage"


async def invite(team: Team, by: str, email: str = "guest@example.com", role: str = "member") -> str:
    """Invite an address as a member; return the id of the invitation."""
    answer = await team.request(by, "POST", "/invitations", body={"email": email, "role": role})
    assert answer.status == 200, answer.text
    return answer.json["invitation"]["id"]


def statuses(team: Team) -> dict[str, str]:
    """Return the statuses of invitations by address."""
    return dict(team.world.rows("SELECT email, status FROM invitations"))


class TestLeave:
    """Every member can leave, except the owner."""

    @pytest.mark.parametrize("status", ["pending", "active", "suspended", "rejected"])
    @pytest.mark.parametrize("name", ["admin", "member"])
    async def test_a_member_leaves_in_every_state_of_the_organization(self, team: Team, name: str, status: str) -> None:
        await team.token(name)
        team.world.set_organization_status(team.organization_id, status)

        answer = await team.request(name, "POST", "/leave")

        assert (answer.status, answer.content) == (204, b"")
        assert team.role_of(name) is None
        assert team.world.audit_entries("user.removed") == [
            (team.organization_id, team.ids[name], str(team.ids[name]), {"role": name, "left": True})
        ]
        [(organization_id, actor, data)] = team.world.events("user.removed")
        assert (organization_id, actor, data["left"]) == (team.organization_id, f"{name}@example.com", True)

    async def test_the_owner_cannot_leave(self, team: Team) -> None:
        answer = await team.request("owner", "POST", "/leave")

        assert_refused(answer, 400, "BAD_REQUEST")
        assert "Transfer the ownership" in answer.json["error"]
        assert team.role_of("owner") == "owner"

    async def test_a_member_leaves_once_and_can_be_invited_again(self, team: Team) -> None:
        token = await team.token("member")

        answers = await at_once(*[partial(team.request, "member", "POST", "/leave")] * 2)

        assert statuses_of(answers) == [204, 403]
        await invite(team, "owner", "member@example.com")
        mine = await team.world.client.get("/api/invitations", token=token)
        accepted = await team.world.client.post(
            "/api/invitations/accept", body={"token": mine.json[0]["token"]}, token=token
        )
        assert accepted.status == 200
        assert team.role_of("member") == "member"

    async def test_one_factor_is_enough_to_leave(self, team: Team) -> None:
        await team.token("member")
        team.world.connection.execute("UPDATE organizations SET mfa_required = true")

        assert (await team.request("member", "POST", "/leave")).status == 204

    async def test_an_impersonator_cannot_leave_for_the_user(self, team: Team) -> None:
        await team.token("member")
        team.world.user("root@example.com")
        team.world.impersonate_in_sessions("member@example.com", owner="root@example.com")

        assert_refused(await team.request("member", "POST", "/leave"), 403, "FORBIDDEN")
        assert team.role_of("member") == "member"

    async def test_leaving_deletes_the_grants_and_leaves_other_organizations_alone(self, team: Team) -> None:
        bolt = team.world.organization("bolt")
        team.world.member(bolt, team.ids["member"])
        service = team.world.service(team.organization_id)
        team.world.grant(team.organization_id, service.id, team.ids["member"], "viewer")

        await team.request("member", "POST", "/leave")

        assert team.world.value("SELECT count(*) FROM service_grants") == 0
        assert team.world.role_of(bolt, "member@example.com") == "member"

    async def test_leaving_while_the_ownership_is_transferred_leaves_one_owner(self, team: Team) -> None:
        await team.token("owner")
        await team.token("admin")
        body = {"new_owner_user_id": str(team.ids["admin"])}

        answers = await at_once(
            partial(team.request, "owner", "POST", "/transfer-ownership", body=body),
            partial(team.request, "admin", "POST", "/leave"),
        )

        assert statuses_of(answers) in ([200, 400], [204, 400])
        assert team.world.value("SELECT count(*) FROM memberships WHERE role = 'owner'") == 1


class TestInvitationsOfAMember:
    """A member's open invitations end with the right to send them."""

    @pytest.mark.parametrize(
        ("by", "method", "path", "body"),
        [
            ("host", "POST", "/leave", None),
            ("owner", "POST", "/members/{host}", None),
            ("owner", "PATCH", "/members/{host}", {"role": "member"}),
            ("owner", "PATCH", "/roles/host", {"permissions": ["audit_logs.view"]}),
        ],
    )
    async def test_they_are_withdrawn_and_others_stay(
        self, team: Team, by: str, method: str, path: str, body: Any
    ) -> None:
        team.custom_role("host", MANAGER)
        team.add("host", "host")
        withdrawn = await invite(team, "host")
        await invite(team, "admin", "other@example.com")

        answer = await team.request(by, method, path.format(host=team.ids["host"]), body=body)

        assert answer.status in {200, 204}, answer.text
        assert statuses(team) == {"guest@example.com": "cancelled", "other@example.com": "pending"}
        assert team.world.value("SELECT count(*) FROM invitations WHERE token_sealed IS NOT NULL") == 1
        assert [target for _, _, target, _ in team.world.audit_entries("invitation.revoked")] == [withdrawn]
        assert [data for _, _, data in team.world.events("invitation.revoked")] == [{"invitation_id": withdrawn}]

    async def test_those_to_roles_that_the_inviter_may_still_give_stay(self, team: Team) -> None:
        team.custom_role("chief", MANAGER, ROLES, "audit_logs.view")
        team.custom_role("auditor", "audit_logs.view")
        team.custom_role("biller", "billing.manage")
        await invite(team, "admin", "one@example.com", "auditor")
        await invite(team, "admin", "two@example.com", "biller")
        await invite(team, "admin", "three@example.com", "admin")
        await invite(team, "admin", "four@example.com")

        await team.request("owner", "PATCH", f"/members/{team.ids['admin']}", body={"role": "chief"})

        assert statuses(team) == {
            "one@example.com": "pending",
            "two@example.com": "cancelled",
            "three@example.com": "cancelled",
            "four@example.com": "pending",
        }

    async def test_a_role_that_gains_capabilities_withdraws_nothing(self, team: Team) -> None:
        team.custom_role("host", MANAGER)
        team.add("host", "host")
        await invite(team, "host")

        await team.request("owner", "PATCH", "/roles/host", body={"permissions": [MANAGER, ROLES]})

        assert statuses(team) == {"guest@example.com": "pending"}

    async def test_those_to_other_organizations_stay(self, team: Team, world: World) -> None:
        world.member(world.organization("bolt"), team.ids["admin"], "owner")
        token = await team.token("admin")
        await world.client.post(
            "/api/organizations/bolt/invitations", body={"email": "bolt@example.com", "role": "member"}, token=token
        )

        await team.request("admin", "POST", "/leave")

        assert statuses(team) == {"bolt@example.com": "pending"}

    async def test_an_accepted_invitation_of_a_former_member_stays_accepted(self, team: Team) -> None:
        team.world.user("guest@example.com")
        invitation = await invite(team, "admin")
        await team.request("owner", "POST", f"/invitations/{invitation}/accept")

        await team.request("admin", "POST", "/leave")

        assert statuses(team) == {"guest@example.com": "accepted"}
        assert team.role_of("guest") == "member"

    async def test_a_withdrawn_invitation_cannot_be_accepted_at_the_same_time(self, team: Team) -> None:
        invitation = await invite(team, "admin")
        await team.token("owner")

        async def accept() -> Answer:
            return await team.request("owner", "POST", f"/invitations/{invitation}/accept")

        answers = await at_once(partial(team.request, "admin", "POST", "/leave"), accept)

        is_accepted = statuses_of(answers) == [200, 204]
        assert is_accepted or statuses_of(answers) == [204, 404]
        assert statuses(team) == {"guest@example.com": "accepted" if is_accepted else "cancelled"}


class TestRank:
    """A custom role that manages members has no power over roles that allow more."""

    @pytest.fixture
    def team(self, team: Team) -> Team:
        """A team with a host, who manages members and no more."""
        team.custom_role("host", MANAGER)
        team.custom_role("auditor", "audit_logs.view")
        team.add("host", "host")
        team.add("auditor", "auditor")
        return team

    @pytest.mark.parametrize(("target", "status"), [("admin", 403), ("auditor", 403), ("member", 200)])
    async def test_a_manager_removes_only_people_whose_roles_allow_no_more(
        self, team: Team, target: str, status: int
    ) -> None:
        answer = await team.request("host", "POST", f"/members/{team.ids[target]}")

        assert answer.status == status
        assert (team.role_of(target) is None) == (status == 200)

    @pytest.mark.parametrize("action", ["", "/accept"])
    @pytest.mark.parametrize(("role", "status"), [("admin", 403), ("auditor", 403), ("member", 200), ("host", 200)])
    async def test_a_manager_withdraws_and_accepts_only_invitations_to_roles_that_allow_no_more(
        self, team: Team, action: str, role: str, status: int
    ) -> None:
        invitation = await invite(team, "admin", role=role)

        answer = await team.request("host", "POST", f"/invitations/{invitation}{action}")

        assert answer.status == status, answer.text
        assert (statuses(team)["guest@example.com"] == "pending") == (status == 403)

    async def test_an_invitation_to_a_deleted_role_can_be_withdrawn(self, team: Team) -> None:
        invitation = await invite(team, "admin", role="auditor")
        team.world.rows("DELETE FROM organization_roles WHERE slug = 'auditor' RETURNING slug")

        assert (await team.request("host", "POST", f"/invitations/{invitation}")).status == 200
