"""Listing, changing and removing the members of an organization."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from uuid import UUID

import pytest

from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.shown_text import shows
from tests.statements import recorded_statements
from tests.world.builder import FREE_TIER
from tests.world.signing_in import claims_of
from tests.world.team import Team
from tests.world.world import assert_refused

UNKNOWN_ID = UUID(int=1)
SECOND = timedelta(seconds=1)


class TestList:
    """Listing the members of an organization."""

    async def test_a_member_is_listed_with_user_and_membership(self, team: Team, clock: SettableClock) -> None:
        answer = await team.request("member", "GET", "/members?role=owner")

        assert answer.status == 200
        assert answer.json == {
            "members": [
                {
                    "user": {
                        "id": str(team.ids["owner"]),
                        "email": "owner@example.com",
                        "name": None,
                        "is_platform_owner": False,
                    },
                    "membership": {
                        "id": str(team.world.value("SELECT id FROM memberships WHERE role = 'owner'")),
                        "role": "owner",
                        "role_source": None,
                        "created_at": clock.now.isoformat().replace("+00:00", "Z"),
                        "status": "active",
                    },
                }
            ],
            "pagination": {"page": 1, "limit": 50, "total": 1},
            "limits": {"max_users": 100, "source": "tier"},
        }

    async def test_members_are_listed_in_pages_the_oldest_first(self, team: Team, clock: SettableClock) -> None:
        clock.advance(SECOND)
        team.add("zoe", "member")
        clock.advance(SECOND)
        team.add("bob", "member", is_platform_owner=True)

        pages = [(await team.request("owner", "GET", f"/members?limit=2&page={page}")).json for page in (1, 2, 3, 4)]

        listed = [[item["user"]["email"].partition("@")[0] for item in page["members"]] for page in pages]
        assert listed == [["owner", "admin"], ["member", "zoe"], ["bob"], []]
        assert [page["pagination"] for page in pages] == [
            {"page": page, "limit": 2, "total": 5} for page in (1, 2, 3, 4)
        ]
        assert pages[2]["members"][0]["user"]["is_platform_owner"] is True

    async def test_the_list_is_filtered_by_role_including_custom_roles(self, team: Team) -> None:
        team.custom_role("auditor", "audit_logs.view", "org.members.view")
        team.add("ann", "auditor")
        team.add("bob", "member")

        answers = {
            role: (await team.request("ann", "GET", f"/members?role={role}")).json
            for role in ("owner", "admin", "member", "auditor", "nothing")
        }

        listed = {
            role: [item["user"]["email"].partition("@")[0] for item in answer["members"]]
            for role, answer in answers.items()
        }
        assert listed == {
            "owner": ["owner"],
            "admin": ["admin"],
            "member": ["member", "bob"],
            "auditor": ["ann"],
            "nothing": [],
        }
        assert {role: answer["pagination"]["total"] for role, answer in answers.items()} == {
            role: len(names) for role, names in listed.items()
        }

    async def test_members_of_another_organization_are_not_listed(self, team: Team) -> None:
        team.world.team("bolt").add("eve", "owner")

        answer = await team.request("owner", "GET", "/members")

        assert answer.json["pagination"]["total"] == 3
        assert not shows(answer.text, "eve")

    async def test_the_limit_is_the_organizations_own_or_that_of_its_tier(
        self, team: Team, subtests: pytest.Subtests
    ) -> None:
        for tier, own, limits in (
            ("free", None, {"max_users": 100, "source": "tier"}),
            ("professional", None, {"max_users": 1000, "source": "tier"}),
            ("enterprise", None, {"max_users": None, "source": "tier"}),
            ("enterprise", 7, {"max_users": 7, "source": "organization"}),
            ("free", 0, {"max_users": 0, "source": "organization"}),
        ):
            with subtests.test(tier=tier, own=own, limits=limits):
                team.world.connection.execute(
                    "UPDATE organizations SET max_users = %s, tier_id = (SELECT id FROM tiers WHERE name = %s)",
                    (own, tier),
                )

                assert (await team.request("member", "GET", "/members")).json["limits"] == limits

    async def test_it_executes_two_statements(self, team: Team, subtests: pytest.Subtests) -> None:
        await team.token("member")

        for query in ("", "?role=member&page=2&limit=1", "?page=9"):
            with subtests.test(query=query):
                with recorded_statements() as statements:
                    await team.request("member", "GET", f"/members{query}")

                assert len(statements) == 2

    async def test_an_invalid_page_or_limit_is_refused(self, team: Team, subtests: pytest.Subtests) -> None:
        for query in ("page=0", "page=x", "limit=0", "limit=-1"):
            with subtests.test(query=query):
                assert_refused(await team.request("member", "GET", f"/members?{query}"), 400, "BAD_REQUEST")

    async def test_a_limit_above_the_maximum_is_lowered(self, team: Team) -> None:
        answer = await team.request("member", "GET", "/members?limit=1000")

        assert answer.json["pagination"]["limit"] == 100

    async def test_a_custom_role_without_the_capability_cannot_list_members(self, team: Team) -> None:
        team.custom_role("biller", "billing.manage")
        team.add("ann", "biller")

        assert_refused(await team.request("ann", "GET", "/members"), 403, "FORBIDDEN")


class TestChange:
    """Changing the role of a member."""

    @pytest.mark.parametrize(("old", "new"), [("member", "admin"), ("admin", "member"), ("member", "auditor")])
    async def test_the_owner_changes_the_role_of_a_member(self, team: Team, old: str, new: str) -> None:
        team.custom_role("auditor", "audit_logs.view")

        answer = await team.request("owner", "PATCH", f"/members/{team.ids[old]}", body={"role": new})

        assert answer.status == 200, answer.text
        user_id = str(team.ids[old])
        assert answer.json["user"] == {"id": user_id, "email": f"{old}@example.com"}
        membership = answer.json["membership"]
        assert (membership["user_id"], membership["org_id"], membership["role"]) == (
            user_id,
            str(team.organization_id),
            new,
        )
        assert set(membership) == {"id", "org_id", "user_id", "role", "created_at", "status"}
        assert team.role_of(old) == new

    async def test_the_audit_entry_and_the_event_have_the_old_and_the_new_role(self, team: Team) -> None:
        await team.request("owner", "PATCH", f"/members/{team.ids['member']}", body={"role": "admin"})

        roles = {"old_role": "member", "new_role": "admin"}
        user_id = str(team.ids["member"])
        assert team.world.audit_entries("user.role_updated") == [
            (team.organization_id, team.ids["owner"], user_id, roles)
        ]
        assert team.world.events("user.role_updated") == [
            (team.organization_id, "owner@example.com", {"user_id": user_id, **roles})
        ]

    async def test_assigning_the_current_role_changes_nothing(self, team: Team) -> None:
        answer = await team.request("owner", "PATCH", f"/members/{team.ids['admin']}", body={"role": "admin"})

        assert (answer.status, answer.json["membership"]["role"]) == (200, "admin")
        assert team.world.audit_entries("user.role_updated") == []
        assert team.world.events("user.role_updated") == []

    async def test_the_next_request_for_the_profile_shows_the_new_permissions(self, team: Team) -> None:
        team.custom_role("auditor", "audit_logs.view", "analytics.view")
        tokens = await team.world.sign_in("member@example.com", org_slug="acme")
        before = (await team.world.client.get("/api/user", token=tokens.access_token)).json

        await team.request("owner", "PATCH", f"/members/{team.ids['member']}", body={"role": "auditor"})
        as_auditor = (await team.world.client.get("/api/user", token=tokens.access_token)).json
        await team.request("owner", "PATCH", f"/members/{team.ids['member']}", body={"role": "admin"})
        as_admin = (await team.world.client.get("/api/user", token=tokens.access_token)).json

        assert (before["role"], as_auditor["role"], as_admin["role"]) == ("member", "auditor", "admin")
        assert before["permissions"] == ["analytics.view", "end_users.view", "org.members.view", "services.view"]
        assert as_auditor["permissions"] == ["analytics.view", "audit_logs.view"]
        assert len(as_admin["permissions"]) == 15

    async def test_an_unknown_role_is_refused(self, team: Team, subtests: pytest.Subtests) -> None:
        for role in ("nothing", "", "Admin", "x" * 1000):
            with subtests.test(role=role):
                answer = await team.request("owner", "PATCH", f"/members/{team.ids['member']}", body={"role": role})

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.json["details"][0]["field"] == "role"

    async def test_a_role_of_another_organization_is_refused(self, team: Team) -> None:
        team.world.team("bolt").custom_role("auditor", "audit_logs.view")

        answer = await team.request("owner", "PATCH", f"/members/{team.ids['member']}", body={"role": "auditor"})

        assert_refused(answer, 400, "BAD_REQUEST")

    async def test_the_role_owner_cannot_be_assigned(self, team: Team) -> None:
        answer = await team.request("owner", "PATCH", f"/members/{team.ids['admin']}", body={"role": "owner"})

        assert_refused(answer, 400, "BAD_REQUEST")
        assert team.role_of("admin") == "admin"

    async def test_the_owner_cannot_change_their_own_role(self, team: Team) -> None:
        answer = await team.request("owner", "PATCH", f"/members/{team.ids['owner']}", body={"role": "admin"})

        assert_refused(answer, 400, "BAD_REQUEST")
        assert team.role_of("owner") == "owner"

    async def test_only_the_owner_changes_roles(self, team: Team) -> None:
        for name in ("admin", "member"):
            answer = await team.request(name, "PATCH", f"/members/{team.ids['member']}", body={"role": "admin"})
            assert_refused(answer, 403, "FORBIDDEN")

    async def test_a_user_who_is_no_member_is_not_found(self, team: Team) -> None:
        elsewhere = team.world.team("bolt").add("eve", "member")

        for user_id in (UNKNOWN_ID, elsewhere):
            answer = await team.request("owner", "PATCH", f"/members/{user_id}", body={"role": "admin"})
            assert_refused(answer, 404, "NOT_FOUND")

    async def test_the_role_is_validated_before_the_member_is_looked_up(self, team: Team) -> None:
        answer = await team.request("owner", "PATCH", f"/members/{UNKNOWN_ID}", body={"role": "nothing"})

        assert_refused(answer, 400, "BAD_REQUEST")


class TestRemove:
    """Removing a member."""

    @pytest.mark.parametrize(("by", "target"), [("owner", "member"), ("owner", "admin"), ("admin", "member")])
    async def test_an_owner_or_admin_removes_a_member(self, team: Team, by: str, target: str) -> None:
        answer = await team.request(by, "POST", f"/members/{team.ids[target]}")

        assert answer.status == 200
        assert set(answer.json) == {"message"}
        assert team.role_of(target) is None
        assert_refused(await team.request(target, "GET", "/members"), 403, "FORBIDDEN")

    async def test_the_audit_entry_and_the_event_have_the_role(self, team: Team) -> None:
        await team.request("admin", "POST", f"/members/{team.ids['member']}")

        user_id = str(team.ids["member"])
        assert team.world.audit_entries("user.removed") == [
            (team.organization_id, team.ids["admin"], user_id, {"role": "member"})
        ]
        assert team.world.events("user.removed") == [
            (team.organization_id, "admin@example.com", {"user_id": user_id, "role": "member"})
        ]

    async def test_removal_ends_no_session_and_refuses_tokens_that_name_the_organization(self, team: Team) -> None:
        bolt = team.world.team("bolt")
        team.world.member(bolt.organization_id, team.ids["member"])
        here = await team.world.sign_in("member@example.com", org_slug="acme")
        there = await team.world.sign_in("member@example.com", org_slug="bolt")
        nowhere = await team.world.sign_in("member@example.com")

        await team.request("admin", "POST", f"/members/{team.ids['member']}")

        assert [(await team.world.list_sessions(tokens)).status for tokens in (here, there, nowhere)] == [
            403,
            200,
            200,
        ]
        for path in ("/api/user", "/api/user/sessions", "/api/organizations", "/api/organizations/acme"):
            assert_refused(await team.world.client.get(path, token=here.access_token), 403, "FORBIDDEN")
        # The token of the session names this organization, but membership decides about the one in the path.
        assert (await team.world.client.get("/api/organizations/bolt", token=here.access_token)).status == 200
        assert team.world.events("session.revoked") == []

    async def test_a_removed_member_refreshes_selects_or_logs_out(self, team: Team) -> None:
        team.world.member(team.world.organization("bolt"), team.ids["member"])
        refreshing, selecting, leaving = [
            await team.world.sign_in("member@example.com", org_slug="acme") for _ in range(3)
        ]
        await team.request("admin", "POST", f"/members/{team.ids['member']}")
        client = team.world.client

        refreshed = (await team.world.refresh(refreshing.refresh_token)).json
        selected = (await client.post("/api/organizations/bolt/select", token=selecting.access_token)).json
        logged_out = await client.post("/api/auth/logout", token=leaving.access_token)

        assert not {"org", "role"} & claims_of(refreshed["access_token"]).keys()
        assert claims_of(selected["access_token"])["org"] == "bolt"
        for tokens in (refreshed, selected):
            assert (await client.get("/api/user", token=tokens["access_token"])).status == 200
        assert logged_out.status == 200
        assert (await team.world.refresh(leaving.refresh_token)).status == 401

    async def test_removal_deletes_the_members_grants_on_services(self, team: Team) -> None:
        team.world.service(team.organization_id)
        await team.request("owner", "PUT", f"/services/shop/grants/{team.ids['member']}", body={"relation": "manager"})

        await team.request("owner", "POST", f"/members/{team.ids['member']}")

        assert team.world.value("SELECT count(*) FROM service_grants") == 0

    @pytest.mark.parametrize("by", ["owner", "admin"])
    async def test_a_member_cannot_remove_themselves(self, team: Team, by: str) -> None:
        answer = await team.request(by, "POST", f"/members/{team.ids[by]}")

        assert_refused(answer, 400, "BAD_REQUEST")
        assert team.role_of(by) == by

    async def test_the_owner_cannot_be_removed(self, team: Team) -> None:
        answer = await team.request("admin", "POST", f"/members/{team.ids['owner']}")

        assert_refused(answer, 400, "BAD_REQUEST")
        assert team.role_of("owner") == "owner"

    async def test_a_plain_member_cannot_remove_members(self, team: Team) -> None:
        assert_refused(await team.request("member", "POST", f"/members/{team.ids['admin']}"), 403, "FORBIDDEN")

    async def test_a_custom_role_that_manages_members_can_remove_them(self, team: Team) -> None:
        team.custom_role("keeper", "org.members.manage")
        team.add("ann", "keeper")

        assert (await team.request("ann", "POST", f"/members/{team.ids['member']}")).status == 200

    async def test_a_member_of_another_organization_is_not_found_and_stays_there(self, team: Team) -> None:
        bolt = team.world.team("bolt")
        elsewhere = bolt.add("eve", "member")

        for user_id in (UNKNOWN_ID, elsewhere):
            assert_refused(await team.request("admin", "POST", f"/members/{user_id}"), 404, "NOT_FOUND")
        assert bolt.role_of("eve") == "member"

    async def test_of_two_admins_who_remove_each_other_concurrently_one_stays(self, team: Team) -> None:
        team.add("other", "admin")
        await team.token("admin")
        await team.token("other")

        async def remove(by: str, target: str) -> Answer:
            return await team.request(by, "POST", f"/members/{team.ids[target]}")

        answers = await at_once(partial(remove, "admin", "other"), partial(remove, "other", "admin"))

        assert statuses_of(answers) == [200, 403]
        assert sorted(str(team.role_of(name)) for name in ("admin", "other")) == ["None", "admin"]

    async def test_of_two_concurrent_removals_of_a_member_one_succeeds(self, team: Team) -> None:
        await team.token("admin")
        await team.token("owner")

        answers = await at_once(
            partial(team.request, "admin", "POST", f"/members/{team.ids['member']}"),
            partial(team.request, "owner", "POST", f"/members/{team.ids['member']}"),
        )

        assert statuses_of(answers) == [200, 404]
        assert len(team.world.audit_entries("user.removed")) == 1


async def test_every_operation_requires_an_active_organization(team: Team, subtests: pytest.Subtests) -> None:
    await team.token("owner")

    for status in ("pending", "suspended", "rejected"):
        for method, path, body in (
            ("GET", "/members", None),
            ("PATCH", f"/members/{UNKNOWN_ID}", {"role": "admin"}),
            ("POST", f"/members/{UNKNOWN_ID}", None),
            ("POST", "/transfer-ownership", {"new_owner_user_id": str(UNKNOWN_ID)}),
        ):
            with subtests.test(method=method, path=path, body=body, status=status):
                team.world.connection.execute(
                    "UPDATE organizations SET status = %s WHERE tier_id = %s", (status, FREE_TIER)
                )

                assert_refused(await team.request("owner", method, path, body=body), 403, "ORGANIZATION_NOT_ACTIVE")
