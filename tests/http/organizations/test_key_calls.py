"""The calls of a program with a key of an organization, their limits, and their entries in the logs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from core.audit import siem_stream
from core.organizations import key_callers
from core.organizations.access import Capability
from core.platform.housekeeping import Leftover, sweep
from core.sessions.origins import BACKGROUND
from tests.application import serving_with_rate_limits
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.secret_watch import WATCH
from tests.world.organization_keys import (
    call_with_key,
    created_key,
    insert_organization_key,
    insert_program,
)
from tests.world.team import Team
from tests.world.world import World, assert_refused

SERVICE = {"slug": "till", "name": "Till", "service_type": "web", "redirect_uris": []}


class TestCalls:
    """Calling with a key."""

    async def test_the_logs_name_the_key_and_no_person(self, team: Team) -> None:
        program = insert_program(team)

        assert (await program.request("POST", "/services", body=SERVICE)).status == 200

        named = {"organization_key_id": str(program.key_id), "organization_key_name": "Terraform"}
        [(_, actor, _, details)] = team.world.audit_entries("service.created")
        assert actor is None
        assert details.items() >= named.items()
        [(_, email, data)] = team.world.events("service.created")
        assert email is None
        assert data.items() >= named.items()
        [entry] = (await program.request("GET", "/audit-log")).json["logs"]
        assert entry["actor"] == {"id": f"api_key:{program.key_id}", "email": "", "is_platform_owner": False}

    async def test_concurrent_uses_all_succeed(self, team: Team) -> None:
        program = insert_program(team)

        answers = await at_once(*[lambda: program.request("GET", "/services")] * 10)

        assert statuses_of(answers) == [200] * 10

    async def test_the_platform_ownership_of_its_maker_is_not_its_own(self, team: Team) -> None:
        team.world.connection.execute("UPDATE users SET is_platform_owner = true")
        program = insert_program(team)

        answer = await team.world.client.get("/api/platform/organizations", headers={"X-Api-Key": program.key})

        assert_refused(answer, 401, "UNAUTHORIZED")

    async def test_what_is_refused_says_why_as_the_manual_has_it(self, team: Team) -> None:
        world = team.world
        world.organization("other")
        program = insert_program(team, Capability.SERVICES_VIEW)
        key = {"X-Api-Key": program.key}

        closed = await world.client.get("/api/user", headers=key)
        assert_refused(closed, 401, "UNAUTHORIZED")
        assert "A key of an organization does not open this." in closed.json["error"]
        assert "/api/organizations/" in closed.json["error"]
        assert_refused(await program.request("POST", "/services", body=SERVICE), 403, "FORBIDDEN")
        assert_refused(await program.request("DELETE", ""), 403, "FORBIDDEN")
        assert (await world.client.get("/api/organizations/other/services", headers=key)).status == 404
        world.connection.execute("UPDATE organizations SET status = 'suspended' WHERE slug = 'acme'")
        assert_refused(await program.request("GET", "/services"), 403, "ORGANIZATION_NOT_ACTIVE")

    async def test_a_valid_key_is_told_where_keys_open_nothing(self, team: Team) -> None:
        client, program = team.world.client, insert_program(team, Capability.SERVICES_VIEW)
        unknown = f"{program.key[:-1]}x"
        paths = ("/api/user", "/api/service/users", "/scim/v2/Users", "/api/platform/organizations", "/auth/userinfo")

        for path in paths:
            closed = await client.get(path, headers={"X-Api-Key": program.key})
            others = [await client.get(path, headers={"X-Api-Key": one}) for one in (unknown, "gk_", "sk_")]
            without = await client.get(path)

            assert (closed.status, {one.status for one in others}) == (401, {401}), closed.text
            assert "does not open this" in closed.text, path
            assert all("does not open this" not in one.text for one in (*others, without)), path

    async def test_what_a_key_does_not_open_takes_a_token_as_before(self, team: Team) -> None:
        program, token = insert_program(team), await team.token("member")

        answer = await team.world.client.get("/api/user", token=token, headers={"X-Api-Key": program.key})
        ended = await team.world.client.get("/api/user", token=f"{token}x", headers={"X-Api-Key": program.key})
        wrong = {"email": "member@example.com", "password": "not the password of it"}
        refused = await team.world.client.post("/api/auth/login", body=wrong, headers={"X-Api-Key": program.key})

        assert answer.status == 200
        assert (ended.status, refused.status) == (401, 401)
        assert all("does not open this" not in one.text for one in (ended, refused))

    async def test_a_misspelt_role_is_an_error_of_the_input_for_a_key_too(self, team: Team) -> None:
        program = insert_program(team, Capability.ORG_MEMBERS_MANAGE)
        team.custom_role("viewer", "services.view")
        invitation = {"email": "eve@example.com", "role": "veiwer"}

        misspelt = await program.request("POST", "/invitations", body=invitation)
        beyond = await program.request("POST", "/invitations", body=invitation | {"role": "viewer"})

        assert_refused(misspelt, 400, "BAD_REQUEST")
        assert [problem["field"] for problem in misspelt.json["details"]] == ["role"]
        assert_refused(beyond, 403, "FORBIDDEN")

    async def test_an_access_token_counts_when_both_are_sent(self, team: Team) -> None:
        program = insert_program(team)

        answer = await team.request("member", "GET", "/invitations", headers={"X-Api-Key": program.key})

        assert_refused(answer, 403, "FORBIDDEN")

    async def test_the_last_use_is_recorded_at_most_once_a_minute(self, team: Team, clock: SettableClock) -> None:
        program, first = insert_program(team), clock.now

        for seconds, recorded_at in ((0, first), (59, first), (1, first + timedelta(minutes=1))):
            clock.now += timedelta(seconds=seconds)
            assert (await program.request("GET", "/services")).status == 200
            assert team.world.value("SELECT last_used_at FROM organization_keys") == recorded_at

    async def test_a_test_delivery_names_no_person(self, team: Team) -> None:
        program = insert_program(team)
        hook = {"name": "hook", "url": "https://hooks.example.com/", "events": ["user.invited"]}
        webhook = (await program.request("POST", "/webhooks", body=hook)).json
        WATCH.add(webhook["secret"])

        assert (await program.request("POST", f"/webhooks/{webhook['id']}/test")).status == 200

        assert team.world.rows("SELECT actor_user_id, actor_email FROM events WHERE type = 'webhook.test'") == [
            (None, None)
        ]

    async def test_ended_sessions_are_ended_by_the_key(self, team: Team) -> None:
        program, service = insert_program(team), team.world.service(team.organization_id)
        user_id = team.user("visitor")
        team.world.link(team.organization_id, service.id, user_id)
        await team.world.sign_in("visitor@example.com", org_slug=team.slug, service_slug="shop")

        assert (await program.request("DELETE", f"/users/{user_id}/sessions")).status == 200

        [(_, _, data)] = team.world.events("session.revoked")
        assert data["revoked_by"] == f"api_key:{program.key_id}"

    async def test_the_test_of_a_siem_has_the_key_as_its_actor(self, team: Team) -> None:
        program = insert_program(team)
        siem = {"provider": "http", "endpoint": "http://127.0.0.1:9/"}
        assert (await program.request("POST", "/siem", body=siem)).status == 200

        database = team.world.installation.database.on_behalf_of(
            BACKGROUND, organization_credential=key_callers.presented(program.key)
        )
        _, event = await database.transact(siem_stream.prepare_test, team.slug)

        assert event.payload["actor"] == {
            "id": f"api_key:{program.key_id}",
            "email": "",
            "is_platform_owner": False,
        }

    async def test_a_credential_that_it_makes_is_its_makers(self, team: Team) -> None:
        program = insert_program(team, maker="admin")
        assert (await program.request("POST", "/services", body=SERVICE)).status == 200

        assert team.world.value("SELECT client_secret_made_by FROM services") == team.ids["admin"]

    async def test_sixty_requests_are_granted_at_once_for_each_key(self, team: Team) -> None:
        program = insert_program(team)
        other = insert_program(team, key=f"gk_second_{'s' * 43}")
        client = serving_with_rate_limits(team.world.installation)

        async def get(key: str) -> int:
            return (await client.get(f"{team.path}/services", headers={"X-Api-Key": key})).status

        assert [await get(program.key) for _ in range(61)] == [200] * 60 + [429]
        assert await get(other.key) == 200

    async def test_one_that_expired_long_ago_is_deleted(self, team: Team, clock: SettableClock, transact: Any) -> None:
        for days, name in ((1, "a"), (60, "b")):
            insert_organization_key(
                team.world,
                team.organization_id,
                team.ids["owner"],
                f"gk_{name * 6}_{name * 43}",
                expires_at=clock.now + timedelta(days=days),
            )
        insert_organization_key(team.world, team.organization_id, team.ids["owner"])
        clock.now += timedelta(days=92)
        leftover = Leftover.ORGANIZATION_KEYS

        assert transact(lambda uow: sweep(uow, leftover, leftover.kept_for, 10)) == 1
        assert (await team.request("owner", "GET", "/keys")).json["total"] == 2


async def test_a_script_provisions_an_organization_with_a_key(team: Team, world: World) -> None:
    """What a program does after a person has made its key: a service, a role, an invitation, and the audit log."""
    permissions = [
        "services.view",
        "services.create",
        "services.manage",
        "org.members.view",
        "org.members.manage",
        "org.roles.manage",
        "audit_logs.view",
    ]
    secret = (await created_key(team, permissions=permissions))["secret"]

    service = await call_with_key(team, secret, "POST", "/services", body=SERVICE)
    plan = await call_with_key(
        team, secret, "POST", "/services/till/plans", body={"name": "Pro", "price_cents": 900, "currency": "eur"}
    )
    changed = await call_with_key(team, secret, "PATCH", "/services/till", body={"name": "Till 2"})
    role = {"slug": "reader", "name": "Reader", "description": "", "permissions": ["audit_logs.view"]}
    made = await call_with_key(team, secret, "POST", "/roles", body=role)
    invited = await call_with_key(
        team, secret, "POST", "/invitations", body={"email": "new@example.com", "role": "reader"}
    )
    log = await call_with_key(team, secret, "GET", "/audit-log?limit=10")

    for answer in (service, plan, changed, made, invited, log):
        assert answer.status in {200, 201}, answer.text
    assert changed.json["name"] == "Till 2"
    assert invited.json["inviter"]["email"] == "owner@example.com"
    assert [mail.to for mail in await world.mails()] == ["new@example.com"]
    actors = {entry["action"]: entry["actor"]["id"] for entry in log.json["logs"]}
    by_key = {"service.created", "plan.created", "service.updated", "organization.updated", "user.invited"}
    assert by_key <= set(actors)
    assert {actors[action] for action in by_key} == {actors["service.created"]}
    assert actors["service.created"].startswith("api_key:")
    assert actors["organization_key.created"] == str(team.ids["owner"])
