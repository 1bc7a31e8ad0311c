"""Keys of an organization as its owner and its admins create, list and delete them."""

from __future__ import annotations

import hashlib
import re
from datetime import timedelta
from typing import Any

import pytest

from core.organizations.access import Capability
from core.organizations.keys import KEYS_MAX, LIFETIME_DAYS_MAX
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.world.builder import NO_ID
from tests.world.directory import insert_directory
from tests.world.organization_keys import (
    call_with_key,
    create_key,
    created_key,
    insert_organization_key,
    insert_program,
)
from tests.world.team import Team
from tests.world.world import assert_refused

SERVICE = {"slug": "till", "name": "Till", "service_type": "web", "redirect_uris": []}


class TestCreate:
    """POST /api/organizations/:slug/keys."""

    async def test_the_secret_is_shown_once_and_stored_as_a_hash(self, team: Team, clock: SettableClock) -> None:
        answer = await create_key(team, expires_in_days=30)

        assert answer.status == 200, answer.text
        assert answer.headers["Cache-Control"] == "no-store"
        secret = answer.json["secret"]
        assert re.fullmatch(r"gk_[0-9A-Za-z]{6}_[0-9A-Za-z]{43}", secret)
        key = {
            "id": answer.json["key"]["id"],
            "name": "Terraform",
            "prefix": secret[:9],
            "permissions": ["org.members.manage", "services.view"],
            "created_at": clock.now.isoformat().replace("+00:00", "Z"),
            "expires_at": (clock.now + timedelta(days=30)).isoformat().replace("+00:00", "Z"),
            "last_used_at": None,
        }
        assert answer.json == {"key": key, "secret": secret}
        assert (await team.request("admin", "GET", "/keys")).json == {"keys": [key], "total": 1}
        assert team.world.value("SELECT key_hash FROM organization_keys") == hashlib.sha256(secret.encode()).digest()

    async def test_invalid_fields_are_named_at_once(self, team: Team, subtests: pytest.Subtests) -> None:
        cases: list[tuple[dict[str, Any], list[str]]] = [
            ({"name": " "}, ["name"]),
            ({"name": "x" * 101, "permissions": []}, ["name", "permissions"]),
            ({"permissions": ["org.everything"]}, ["permissions[0]"]),
            ({"expires_in_days": 0}, ["expires_in_days"]),
            ({"expires_in_days": LIFETIME_DAYS_MAX + 1}, ["expires_in_days"]),
        ]
        for fields, named in cases:
            with subtests.test(fields=fields):
                answer = await create_key(team, **fields)

                assert_refused(answer, 400, "BAD_REQUEST")
                assert [problem["field"] for problem in answer.json["details"]] == named

    async def test_only_owner_and_admins_make_list_and_delete_keys(self, team: Team) -> None:
        team.custom_role("everything", *Capability)
        team.add("robot", "everything")
        key_id = (await created_key(team, by="admin"))["key"]["id"]

        for name in ("robot", "member"):
            assert_refused(await create_key(team, by=name), 403, "FORBIDDEN")
            assert_refused(await team.request(name, "GET", "/keys"), 403, "FORBIDDEN")
            assert_refused(await team.request(name, "DELETE", f"/keys/{key_id}"), 403, "FORBIDDEN")

    async def test_it_is_recorded_without_the_secret(self, team: Team) -> None:
        key = (await created_key(team))["key"]

        details = {
            "key_name": "Terraform",
            "key_prefix": key["prefix"],
            "permissions": ["org.members.manage", "services.view"],
            "expires_at": None,
        }
        assert team.world.audit_entries("organization_key.created") == [
            (team.organization_id, team.ids["owner"], key["id"], details)
        ]
        assert team.world.events("organization_key.created") == [
            (team.organization_id, "owner@example.com", details | {"key_id": key["id"]})
        ]

    async def test_an_organization_has_a_limited_number_of_keys(self, team: Team) -> None:
        for number in range(KEYS_MAX - 1):
            insert_organization_key(team.world, team.organization_id, team.ids["owner"], f"gk_{number:06}_{'n' * 43}")

        answers = await at_once(lambda: create_key(team), lambda: create_key(team))

        assert sorted(statuses_of(answers)) == [200, 400]
        assert team.world.value("SELECT count(*) FROM organization_keys") == KEYS_MAX


class TestDelete:
    """DELETE /api/organizations/:slug/keys/:key_id."""

    async def test_the_key_loses_access_at_once(self, team: Team) -> None:
        new = await created_key(team)
        assert (await call_with_key(team, new["secret"], "GET", "/services")).status == 200

        assert (await team.request("admin", "DELETE", f"/keys/{new['key']['id']}")).status == 204

        assert_refused(await call_with_key(team, new["secret"], "GET", "/services"), 401, "UNAUTHORIZED")
        details = {"key_name": "Terraform", "key_prefix": new["key"]["prefix"]}
        assert team.world.audit_entries("organization_key.deleted") == [
            (team.organization_id, team.ids["admin"], new["key"]["id"], details)
        ]

    async def test_one_of_two_deletions_finds_the_key(self, team: Team) -> None:
        path = f"/keys/{(await created_key(team))['key']['id']}"

        answers = await at_once(
            lambda: team.request("owner", "DELETE", path), lambda: team.request("admin", "DELETE", path)
        )

        assert sorted(statuses_of(answers)) == [204, 404]
        assert len(team.world.audit_entries("organization_key.deleted")) == 1

    async def test_an_unknown_key_is_404(self, team: Team) -> None:
        assert_refused(await team.request("owner", "DELETE", f"/keys/{NO_ID}"), 404, "NOT_FOUND")


class TestMaker:
    """A key never outlives or exceeds its maker."""

    async def test_it_ends_with_the_membership_and_the_log_says_so(self, team: Team, subtests: pytest.Subtests) -> None:
        directory = insert_directory(team)
        ways = {
            "removed": lambda user_id: team.request("owner", "POST", f"/members/{user_id}"),
            "deleted by the directory": lambda user_id: directory.request("DELETE", f"/Users/{user_id}"),
            "taken out of the group": lambda user_id: directory.patch_group(
                {"op": "remove", "path": f'members[value eq "{user_id}"]'}
            ),
            "left": lambda _user_id: team.request("maker-3", "POST", "/leave"),
        }
        for number, (way, remove) in enumerate(ways.items()):
            with subtests.test(way=way):
                name = f"maker-{number}"
                user_id = team.add(name, "admin")
                new = await created_key(team, by=name)

                assert (await remove(user_id)).status in {200, 204}

                assert_refused(await call_with_key(team, new["secret"], "GET", "/services"), 401, "UNAUTHORIZED")
                [(_, _, target, details)] = team.world.audit_entries("organization_key.deleted")[number:]
                assert (target, details["reason"]) == (new["key"]["id"], "maker_left")

    async def test_it_does_not_come_back_with_a_new_membership(self, team: Team) -> None:
        new = await created_key(team, by="admin")
        await team.request("owner", "POST", f"/members/{team.ids['admin']}")
        team.world.member(team.organization_id, team.ids["admin"], "admin")

        assert_refused(await call_with_key(team, new["secret"], "GET", "/services"), 401, "UNAUTHORIZED")

    async def test_it_loses_what_its_maker_loses_and_gets_it_back(self, team: Team) -> None:
        secret = (await created_key(team, by="admin"))["secret"]
        role = f"/members/{team.ids['admin']}"

        for given, status in (("member", 403), ("admin", 200)):
            assert (await team.request("owner", "PATCH", role, body={"role": given})).status == 200
            assert (await call_with_key(team, secret, "GET", "/invitations")).status == status
            assert (await call_with_key(team, secret, "GET", "/services")).status == 200

    async def test_it_has_what_its_makers_custom_role_allows_now(self, team: Team) -> None:
        program = insert_program(team, Capability.AUDIT_LOGS_VIEW, Capability.WEBHOOKS_MANAGE, maker="admin")
        team.custom_role("auditor", "audit_logs.view", "services.view")
        body = {"role": "auditor"}
        assert (await team.request("owner", "PATCH", f"/members/{team.ids['admin']}", body=body)).status == 200

        for path, status in (("/audit-log", 200), ("/webhooks", 403), ("/services", 403)):
            assert (await program.request("GET", path)).status == status, path

    async def test_it_ends_when_the_address_is_first_proved_or_the_account_forgotten(self, team: Team) -> None:
        insert_program(team, maker="admin")
        insert_program(team, maker="member", key=f"gk_second_{'s' * 43}")
        world = team.world
        world.connection.execute("UPDATE users SET email_verified_at = NULL WHERE id = %s", (team.ids["admin"],))
        await world.client.post("/api/auth/magic-link/request", body={"email": "admin@example.com"})
        token = (await world.mail()).values["token"]
        assert (await world.client.post("/api/auth/magic-link/verify", body={"token": token})).status == 200
        root = await world.signed_in_platform_owner()
        assert (await root.delete(f"/api/privacy/forget/{team.ids['member']}")).status == 200

        reasons = [details["reason"] for _, _, _, details in world.audit_entries("organization_key.deleted")]
        assert reasons == ["maker_proved_address", "maker_anonymized"]
        assert world.value("SELECT count(*) FROM organization_keys") == 0

    async def test_a_grant_on_a_service_gives_the_key_of_a_member_nothing(self, team: Team) -> None:
        service = team.world.service(team.organization_id)
        team.world.grant(team.organization_id, service.id, team.ids["member"], "manager")
        program = insert_program(team, maker="member")

        answer = await program.request("PATCH", "/services/shop", body={"name": "Mine"})

        assert_refused(answer, 403, "FORBIDDEN")

    async def test_it_changes_only_what_its_own_capabilities_allow(self, team: Team) -> None:
        program = insert_program(team, Capability.ORG_ROLES_MANAGE, Capability.ORG_MEMBERS_MANAGE)
        team.custom_role("auditor", "audit_logs.view")
        auditor = team.add("auditor", "auditor")

        for path, body in (
            ("/roles", {"slug": "mighty", "name": "Mighty", "description": "", "permissions": ["billing.manage"]}),
            ("/invitations", {"email": "eve@example.com", "role": "auditor"}),
            (f"/members/{auditor}", None),
        ):
            assert_refused(await program.request("POST", path, body=body), 403, "FORBIDDEN")

    async def test_it_makes_no_admin(self, team: Team) -> None:
        program = insert_program(team)
        invitation = {"email": "eve@example.com", "role": "admin"}
        by_person = await team.request("owner", "POST", "/invitations", body=invitation | {"email": "bob@example.com"})

        refused = await program.request("POST", "/invitations", body=invitation)
        not_accepted = await program.request("POST", f"/invitations/{by_person.json['invitation']['id']}/accept")

        assert_refused(refused, 403, "FORBIDDEN")
        assert_refused(not_accepted, 403, "FORBIDDEN")
        assert (await program.request("POST", "/invitations", body=invitation | {"role": "member"})).status == 200

    async def test_it_asks_for_no_less_second_factors(self, team: Team) -> None:
        one, two = insert_program(team), insert_program(team, key=f"gk_second_{'s' * 43}", has_second_factor=True)
        team.world.connection.execute("UPDATE organizations SET mfa_required = true")

        assert_refused(await one.request("GET", "/services"), 403, "FORBIDDEN")
        assert (await two.request("GET", "/services")).status == 200
        assert_refused(await two.request("PATCH", "", body={"mfa_required": False}), 403, "FORBIDDEN")
        assert (await two.request("PATCH", "", body={"name": "Acme Inc"})).status == 200
