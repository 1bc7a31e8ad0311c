"""The roles of an organization: built-in and custom ones."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
import trio

from core.organizations.access import Capability
from core.organizations.roles import DESCRIPTION_CHARACTERS_MAX, ROLES_MAX
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.world.builder import FREE_TIER, new_id
from tests.world.team import Team
from tests.world.world import assert_refused

A_WHILE = timedelta(seconds=5)
EVERYTHING = [str(capability) for capability in Capability]
AUDITOR = {
    "slug": "auditor",
    "name": "Auditor",
    "description": "Looks, and touches nothing.",
    "permissions": ["audit_logs.view", "analytics.view"],
}


async def test_every_invalid_field_of_a_new_or_changed_role_is_named(team: Team) -> None:
    invalid = {"name": "", "description": "x" * (DESCRIPTION_CHARACTERS_MAX + 1)}
    team.custom_role("auditor")

    created = await team.request("owner", "POST", "/roles", body=AUDITOR | invalid | {"slug": "-"})
    changed = await team.request("owner", "PATCH", "/roles/auditor", body=invalid)

    assert (created.status, created.invalid_fields) == (400, ["slug", "name", "description"])
    assert (changed.status, changed.invalid_fields) == (400, ["name", "description"])


class TestRead:
    """Reading roles."""

    async def test_built_in_roles_come_first_with_their_permissions(self, team: Team) -> None:
        team.custom_role("auditor", "audit_logs.view")
        team.custom_role("accountant", "billing.manage")

        answer = await team.request("member", "GET", "/roles")

        assert answer.status == 200
        assert answer.json["total"] == 5
        roles = answer.json["roles"]
        assert [role["slug"] for role in roles] == ["owner", "admin", "member", "accountant", "auditor"]
        assert [role["is_built_in"] for role in roles] == [True, True, True, False, False]
        assert [role["permissions"] for role in roles] == [
            EVERYTHING,
            EVERYTHING,
            ["org.members.view", "services.view", "end_users.view", "analytics.view"],
            ["billing.manage"],
            ["audit_logs.view"],
        ]

    async def test_a_role_is_shown_as_it_is_listed(self, team: Team, subtests: pytest.Subtests) -> None:
        team.custom_role("auditor", "audit_logs.view")

        for slug in ("owner", "admin", "member", "auditor"):
            with subtests.test(slug=slug):
                answer = await team.request("member", "GET", f"/roles/{slug}")

                assert answer.status == 200
                assert answer.json in (await team.request("member", "GET", "/roles")).json["roles"]
                assert answer.json["slug"] == slug

    async def test_roles_of_another_organization_are_not_found(self, team: Team) -> None:
        team.world.team("bolt").custom_role("auditor", "audit_logs.view")

        assert_refused(await team.request("owner", "GET", "/roles/auditor"), 404, "NOT_FOUND")
        assert (await team.request("owner", "GET", "/roles")).json["total"] == 3

    async def test_a_non_member_cannot_read_roles(self, team: Team) -> None:
        team.user("eve")

        for path in ("/roles", "/roles/owner"):
            assert_refused(await team.request("eve", "GET", path), 403, "FORBIDDEN")


class TestCreate:
    """Creating a role."""

    @pytest.mark.parametrize("by", ["owner", "admin"])
    async def test_a_role_is_created_with_its_capabilities(self, team: Team, clock: SettableClock, by: str) -> None:
        answer = await team.request(by, "POST", "/roles", body=AUDITOR)

        now = clock.now.isoformat().replace("+00:00", "Z")
        assert answer.status == 200, answer.text
        assert answer.json == AUDITOR | {"scopes": [], "is_built_in": False, "created_at": now, "updated_at": now}
        assert (await team.request("member", "GET", "/roles/auditor")).json == answer.json

    async def test_a_role_allows_only_what_its_capabilities_allow(self, team: Team) -> None:
        await team.request("owner", "POST", "/roles", body=AUDITOR | {"permissions": ["org.members.view"]})

        await team.request("owner", "PATCH", f"/members/{team.ids['admin']}", body={"role": "auditor"})

        assert (await team.request("admin", "GET", "/members")).status == 200
        assert_refused(await team.request("admin", "POST", f"/members/{team.ids['member']}"), 403, "FORBIDDEN")

    async def test_a_duplicate_capability_is_stored_once(self, team: Team) -> None:
        named = ["services.view", "billing.manage", "services.view"]

        answer = await team.request("owner", "POST", "/roles", body=AUDITOR | {"permissions": named})

        assert answer.json["permissions"] == ["billing.manage", "services.view"]

    async def test_the_description_is_optional_and_the_capabilities_may_be_empty(self, team: Team) -> None:
        answer = await team.request(
            "owner", "POST", "/roles", body={"slug": "guest", "name": "Guest", "permissions": []}
        )

        assert (answer.status, answer.json["description"], answer.json["permissions"]) == (200, "", [])

    async def test_an_invalid_field_is_refused(self, team: Team, subtests: pytest.Subtests) -> None:
        for field, value in (
            ("slug", "ab"),
            ("slug", "a" * 51),
            ("slug", "-abc"),
            ("slug", "abc-"),
            ("slug", "a--b"),
            ("slug", "Abc"),
            ("slug", "a b"),
            ("name", " "),
            ("name", "x" * 101),
            ("name", "Auditor\nAdmin"),
            ("name", "rotidua\u202e"),
            ("description", "x" * (DESCRIPTION_CHARACTERS_MAX + 1)),
            ("permissions", None),
        ):
            with subtests.test(field=field, value=value):
                answer = await team.request("owner", "POST", "/roles", body=AUDITOR | {field: value})

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.json["details"][0]["field"] == field

    async def test_an_unknown_capability_is_refused(self, team: Team, subtests: pytest.Subtests) -> None:
        for word in ("org.everything", "", "*", "AUDIT_LOGS.VIEW", "owner"):
            with subtests.test(word=word):
                answer = await team.request(
                    "owner", "POST", "/roles", body=AUDITOR | {"permissions": ["billing.manage", word]}
                )

                assert_refused(answer, 400, "BAD_REQUEST")
                assert team.world.value("SELECT count(*) FROM organization_roles") == 0

    async def test_a_taken_slug_is_a_conflict(self, team: Team, subtests: pytest.Subtests) -> None:
        team.custom_role("auditor", "audit_logs.view")

        for slug in ("auditor", "owner", "admin", "member"):
            with subtests.test(slug=slug):
                assert_refused(
                    await team.request("owner", "POST", "/roles", body=AUDITOR | {"slug": slug}), 409, "CONFLICT"
                )

    async def test_a_slug_may_be_in_use_in_another_organization(self, team: Team) -> None:
        team.world.team("bolt").custom_role("auditor", "audit_logs.view")

        assert (await team.request("owner", "POST", "/roles", body=AUDITOR)).status == 200

    async def test_a_caller_cannot_create_a_role_with_capabilities_that_they_lack(self, team: Team) -> None:
        team.custom_role("keeper", "org.roles.manage", "services.view")
        team.add("ann", "keeper")

        refused = await team.request("ann", "POST", "/roles", body=AUDITOR)
        made = await team.request("ann", "POST", "/roles", body=AUDITOR | {"permissions": ["services.view"]})

        assert_refused(refused, 403, "FORBIDDEN")
        assert "audit_logs.view" in refused.json["error"]
        assert made.status == 200

    async def test_a_member_cannot_create_a_role(self, team: Team) -> None:
        assert_refused(await team.request("member", "POST", "/roles", body=AUDITOR), 403, "FORBIDDEN")

    async def test_the_number_of_roles_is_limited(self, team: Team) -> None:
        for number in range(ROLES_MAX):
            team.custom_role(f"role-{number}")

        assert_refused(await team.request("owner", "POST", "/roles", body=AUDITOR), 400, "BAD_REQUEST")

    async def test_of_two_concurrent_creations_with_one_slug_one_wins(self, team: Team) -> None:
        await team.token("owner")

        answers = await at_once(*[partial(team.request, "owner", "POST", "/roles", body=AUDITOR)] * 2)

        assert statuses_of(answers) == [200, 409]


class TestChange:
    """Changing a role."""

    async def test_only_the_given_fields_change(self, team: Team, clock: SettableClock) -> None:
        made = (await team.request("owner", "POST", "/roles", body=AUDITOR)).json
        clock.advance(A_WHILE)

        answers = [
            (await team.request("owner", "PATCH", "/roles/auditor", body=body)).json
            for body in ({"name": " Inspector "}, {"description": ""}, {"permissions": ["billing.manage"]})
        ]

        now = clock.now.isoformat().replace("+00:00", "Z")
        first = made | {"name": "Inspector", "updated_at": now}
        assert answers == [
            first,
            first | {"description": ""},
            first | {"description": "", "permissions": ["billing.manage"]},
        ]
        assert (await team.request("owner", "GET", "/roles/auditor")).json == answers[-1]

    async def test_a_request_without_new_values_changes_nothing(
        self, team: Team, clock: SettableClock, subtests: pytest.Subtests
    ) -> None:
        made = (await team.request("owner", "POST", "/roles", body=AUDITOR)).json
        clock.advance(A_WHILE)

        for body in (
            {},
            {"name": None},
            {"slug": "other"},
            {"name": "Auditor"},
            {"permissions": AUDITOR["permissions"]},
        ):
            with subtests.test(body=body):
                answer = await team.request("owner", "PATCH", "/roles/auditor", body=body)

                assert (answer.status, answer.json) == (200, made)
                assert len(team.world.audit_entries("organization.updated")) == 1

    async def test_a_change_applies_to_the_next_request_of_a_member_with_the_role(self, team: Team) -> None:
        team.custom_role("auditor", "org.members.view")
        team.add("ann", "auditor")
        assert (await team.request("ann", "GET", "/members")).status == 200

        await team.request("owner", "PATCH", "/roles/auditor", body={"permissions": []})

        assert_refused(await team.request("ann", "GET", "/members"), 403, "FORBIDDEN")

    async def test_a_caller_cannot_take_capabilities_that_they_lack_from_a_role(self, team: Team) -> None:
        team.custom_role("keeper", "org.roles.manage", "services.view")
        team.add("ann", "keeper")
        team.custom_role("auditor", "audit_logs.view", "services.view")

        refused = await team.request("ann", "PATCH", "/roles/auditor", body={"permissions": ["services.view"]})
        allowed = await team.request("ann", "PATCH", "/roles/auditor", body={"permissions": ["audit_logs.view"]})

        assert_refused(refused, 403, "FORBIDDEN")
        assert "audit_logs.view" in refused.json["error"]
        assert (allowed.status, allowed.json["permissions"]) == (200, ["audit_logs.view"])

    async def test_a_caller_cannot_add_capabilities_that_they_lack(self, team: Team) -> None:
        team.custom_role("keeper", "org.roles.manage")
        team.custom_role("auditor", "audit_logs.view")
        team.add("ann", "keeper")

        raised = await team.request("ann", "PATCH", "/roles/keeper", body={"permissions": EVERYTHING})
        renamed = await team.request("ann", "PATCH", "/roles/auditor", body={"name": "Inspector"})

        assert_refused(raised, 403, "FORBIDDEN")
        assert (renamed.status, renamed.json["permissions"]) == (200, ["audit_logs.view"])

    async def test_an_invalid_field_is_refused(self, team: Team, subtests: pytest.Subtests) -> None:
        team.custom_role("auditor", "audit_logs.view")

        for field, value in (("name", ""), ("description", "x" * 1000), ("permissions", ["nothing"])):
            with subtests.test(field=field, value=value):
                for slug in ("auditor", "no-such-role"):
                    answer = await team.request("owner", "PATCH", f"/roles/{slug}", body={field: value})
                    assert_refused(answer, 400, "BAD_REQUEST")

    async def test_a_weakened_role_withdraws_invitations_of_its_own_organization_only(self, team: Team) -> None:
        bolt = team.world.team("bolt")
        bolt.add("bolt-owner", "owner")
        for of, inviter in ((team, "ivy"), (bolt, "ian")):
            of.custom_role("inviters", "org.members.manage")
            of.add(inviter, "inviters")
            sent = await of.request(
                inviter, "POST", "/invitations", body={"email": f"{inviter}@guest.example", "role": "member"}
            )
            assert sent.status == 200, sent.text

        changed = await team.request("owner", "PATCH", "/roles/inviters", body={"permissions": ["org.members.view"]})

        assert changed.status == 200, changed.text
        assert team.world.rows("SELECT email, status FROM invitations ORDER BY email") == [
            ("ian@guest.example", "pending"),
            ("ivy@guest.example", "cancelled"),
        ]

    async def test_built_in_roles_cannot_be_changed_or_deleted(self, team: Team, subtests: pytest.Subtests) -> None:
        for slug in ("owner", "admin", "member"):
            with subtests.test(slug=slug):
                changed = await team.request("owner", "PATCH", f"/roles/{slug}", body={"name": "Other"})
                deleted = await team.request("owner", "DELETE", f"/roles/{slug}")

                assert_refused(changed, 400, "BAD_REQUEST")
                assert_refused(deleted, 400, "BAD_REQUEST")

    async def test_a_role_of_another_organization_is_not_found_and_stays(self, team: Team) -> None:
        team.world.team("bolt").custom_role("auditor", "audit_logs.view")

        assert_refused(await team.request("owner", "PATCH", "/roles/auditor", body={"name": "X"}), 404, "NOT_FOUND")
        assert_refused(await team.request("owner", "DELETE", "/roles/auditor"), 404, "NOT_FOUND")
        assert team.world.value("SELECT name FROM organization_roles") == "Auditor"


class TestDelete:
    """Deleting a role."""

    async def test_an_unused_role_is_deleted(self, team: Team) -> None:
        team.custom_role("auditor", "audit_logs.view")

        answer = await team.request("admin", "DELETE", "/roles/auditor")

        assert (answer.status, answer.content) == (204, b"")
        assert_refused(await team.request("admin", "GET", "/roles/auditor"), 404, "NOT_FOUND")
        assert_refused(await team.request("admin", "DELETE", "/roles/auditor"), 404, "NOT_FOUND")

    async def test_a_role_that_a_member_has_cannot_be_deleted(self, team: Team) -> None:
        team.custom_role("auditor", "audit_logs.view")
        team.add("ann", "auditor")

        assert_refused(await team.request("owner", "DELETE", "/roles/auditor"), 409, "CONFLICT")
        await team.request("owner", "POST", f"/members/{team.ids['ann']}")
        assert (await team.request("owner", "DELETE", "/roles/auditor")).status == 204

    @pytest.mark.parametrize(("status", "expected"), [("pending", 409), ("cancelled", 204), ("expired", 204)])
    async def test_a_role_of_a_pending_invitation_cannot_be_deleted(
        self, team: Team, status: str, expected: int
    ) -> None:
        team.custom_role("auditor", "audit_logs.view")
        team.world.connection.execute(
            """
            INSERT INTO invitations (id, organization_id, email, role, status, token_hash, proof_hash, created_at,
                                     expires_at)
            VALUES (%s, %s, 'ann@example.com', 'auditor', %s, '', '', now(), now())
            """,
            (new_id(), team.organization_id, status),
        )

        assert (await team.request("owner", "DELETE", "/roles/auditor")).status == expected

    async def test_a_role_is_deleted_although_its_slug_is_in_use_in_another_organization(self, team: Team) -> None:
        team.custom_role("auditor", "audit_logs.view")
        bolt = team.world.team("bolt")
        bolt.custom_role("auditor", "audit_logs.view")
        bolt.add("eve", "auditor")

        assert (await team.request("owner", "DELETE", "/roles/auditor")).status == 204

    async def test_a_member_cannot_delete_a_role(self, team: Team) -> None:
        team.custom_role("auditor", "audit_logs.view")

        assert_refused(await team.request("member", "DELETE", "/roles/auditor"), 403, "FORBIDDEN")

    async def test_a_role_assigned_and_deleted_concurrently_is_assigned_or_deleted(self, team: Team) -> None:
        team.custom_role("auditor", "audit_logs.view")
        await team.token("owner")
        await team.token("admin")
        statuses: dict[str, int] = {}

        async def assign() -> None:
            answer = await team.request("owner", "PATCH", f"/members/{team.ids['member']}", body={"role": "auditor"})
            statuses["assigned"] = answer.status

        async def delete() -> None:
            statuses["deleted"] = (await team.request("admin", "DELETE", "/roles/auditor")).status

        async with trio.open_nursery() as nursery:
            nursery.start_soon(assign)
            nursery.start_soon(delete)

        assert (statuses["assigned"], statuses["deleted"], team.role_of("member")) in [
            (200, 409, "auditor"),
            (400, 204, "member"),
        ]


async def test_every_change_is_audited_and_published(team: Team) -> None:
    await team.request("owner", "POST", "/roles", body=AUDITOR)
    await team.request("owner", "PATCH", "/roles/auditor", body={"permissions": []})
    await team.request("admin", "DELETE", "/roles/auditor")

    target = str(team.organization_id)
    entries = team.world.audit_entries("organization.updated")
    assert [(organization_id, actor, target_id) for organization_id, actor, target_id, _ in entries] == [
        (team.organization_id, team.ids[by], target) for by in ("owner", "owner", "admin")
    ]
    assert [details for *_, details in entries] == [
        {"change": change, "role_slug": "auditor", "role_name": "Auditor", "permissions": permissions} | before
        for change, permissions, before in (
            ("role_created", ["audit_logs.view", "analytics.view"], {}),
            ("role_updated", [], {"old_permissions": ["audit_logs.view", "analytics.view"]}),
            ("role_deleted", [], {}),
        )
    ]
    assert [data for _, _, data in team.world.events("organization.updated")] == [
        {"change": change, "role_slug": "auditor"} for change in ("role_created", "role_updated", "role_deleted")
    ]


async def test_every_operation_requires_an_active_organization(team: Team, subtests: pytest.Subtests) -> None:
    await team.token("owner")
    team.world.connection.execute("UPDATE organizations SET status = 'suspended' WHERE tier_id = %s", (FREE_TIER,))

    for method, path in (("GET", "/roles"), ("GET", "/roles/owner"), ("POST", "/roles"), ("DELETE", "/roles/owner")):
        with subtests.test(method=method, path=path):
            assert_refused(await team.request("owner", method, path), 403, "ORGANIZATION_NOT_ACTIVE")
