"""Undoing a change of address after a takeover: the account has what it held before, and nothing made since opens."""

from __future__ import annotations

from datetime import timedelta

import pytest
import trio

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from adapters.postgres.unit_of_work import PostgresUnitOfWork, Tools
from core.accounts import email_change_undo
from core.privacy import anonymization
from core.sessions.origins import BACKGROUND
from tests.application import Answer
from tests.calls import counted_calls
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.secret_watch import WATCH
from tests.waiting import waiting_for_a_lock
from tests.world.builder import EMAIL
from tests.world.takeovers import BOSS, FRIEND, Intrusion, intrusion_of
from tests.world.victim import NEW, Victim
from tests.world.world import World, assert_refused

MINUTE = timedelta(minutes=1)
ACCOMPLICE = "second@evil.example"
OWNER, MEMBERS = "owner", "org.members.view"
# For the undo of a change of address, and for each member whose role falls back, with an audit entry and an event.
ROUND_TRIPS_MAX, CALLS_MAX, CALLS_OF_CHANGE_MAX = 81, 22_000, 200


@pytest.fixture
def founder(victim: Victim, clock: SettableClock) -> Intrusion:
    return intrusion_of(victim, clock, OWNER)


@pytest.fixture
def admin(victim: Victim, clock: SettableClock) -> Intrusion:
    return intrusion_of(victim, clock, "admin")


class TestOwnership:
    """An ownership that was transferred since comes back from the present owner, with the membership."""

    async def assert_owns(self, one: Intrusion) -> None:
        recovered = await one.victim.recover()
        assert one.role() == OWNER
        listed = await one.world.client.get("/api/organizations", token=recovered.json["access_token"])
        assert [(item["organization"]["slug"], item["membership"]["role"]) for item in listed.json] == [("acme", OWNER)]

    async def test_the_founder_owns_the_organization_again_and_the_invited_friend_has_no_access(
        self, founder: Intrusion
    ) -> None:
        await founder.take_over()
        friend = await founder.befriend()
        await founder.transfer_to(FRIEND)

        await self.assert_owns(founder)

        assert founder.members() == {EMAIL: (OWNER, True), FRIEND: ("admin", False)}
        answer = await founder.world.client.get("/api/organizations/acme", token=friend)
        assert_refused(answer, 403, "FORBIDDEN")
        changed = founder.world.events("organization.owner.changed")
        assert changed[-1][2]["new_owner_user_id"] == str(founder.victim.app.id)
        assert ("email_change_undone",) in founder.world.audit_entries("user.deactivated", "details ->> 'reason'")

    @pytest.mark.parametrize("way", ["removed", "left"])
    async def test_it_comes_back_also_when_the_account_is_no_member_any_more(
        self, founder: Intrusion, way: str
    ) -> None:
        await founder.take_over()
        friend = await founder.befriend()
        await founder.transfer_to(FRIEND)
        if way == "removed":
            await founder.act("POST", f"/members/{founder.victim.app.id}", token=friend)
        else:
            await founder.act("POST", "/leave")
        assert founder.role() is None

        await self.assert_owns(founder)

        assert founder.members()[FRIEND] == ("admin", False)
        entries = founder.world.audit_entries("user.joined", "details ->> 'role'", "details ->> 'reason'")
        assert (OWNER, "email_change_undone") in entries

    async def test_it_comes_back_from_the_last_of_a_chain_of_owners(self, founder: Intrusion) -> None:
        founder.world.member(founder.acme, founder.world.user(BOSS))
        await founder.take_over()
        friend = await founder.befriend()
        await founder.transfer_to(FRIEND)
        await founder.transfer_to(BOSS, token=friend)

        await self.assert_owns(founder)

        assert founder.members() == {EMAIL: (OWNER, True), FRIEND: ("admin", False), BOSS: ("member", True)}

    async def test_it_comes_back_between_the_wish_and_the_proof(self, founder: Intrusion) -> None:
        proof = await founder.ask()
        await founder.befriend()
        await founder.transfer_to(FRIEND)
        await founder.prove(proof)

        await self.assert_owns(founder)

    async def test_it_comes_back_from_a_present_owner_who_got_it_without_an_entry(self, founder: Intrusion) -> None:
        boss = founder.world.user(BOSS)
        founder.world.member(founder.acme, boss)
        await founder.take_over()
        for role, user_id in (("admin", founder.victim.app.id), (OWNER, boss)):
            founder.world.connection.execute("UPDATE memberships SET role = %s WHERE user_id = %s", (role, user_id))

        await self.assert_owns(founder)

        assert founder.members()[BOSS] == ("member", True)

    async def test_it_comes_back_in_a_suspended_organization_and_not_in_one_that_is_gone(
        self, founder: Intrusion
    ) -> None:
        bolt = founder.world.organization("bolt")
        founder.world.member(bolt, founder.victim.app.id, OWNER)
        await founder.take_over()
        await founder.befriend()
        await founder.transfer_to(FRIEND)
        founder.world.set_organization_status(founder.acme, "suspended")
        founder.world.connection.execute("DELETE FROM organizations WHERE id = %s", (bolt,))

        await self.assert_owns(founder)

    async def test_a_link_of_an_earlier_version_gives_it_back_to_a_member(self, founder: Intrusion) -> None:
        await founder.take_over()
        founder.world.connection.execute("UPDATE one_time_tokens SET data = data - 'held' - 'requested_at'")
        await founder.befriend()
        await founder.transfer_to(FRIEND)

        await self.assert_owns(founder)

    async def test_a_wish_of_an_earlier_version_records_what_is_held_at_the_change(self, founder: Intrusion) -> None:
        proof = await founder.ask()
        founder.world.connection.execute(
            "UPDATE one_time_tokens SET data = jsonb_build_object('signed_in_at', data -> 'signed_in_at')"
        )
        await founder.prove(proof)
        await founder.befriend()
        await founder.transfer_to(FRIEND)

        await self.assert_owns(founder)


class TestOwnRole:
    """A role is the lower of the present one and the one when the change was asked for."""

    @pytest.mark.parametrize(
        ("then", "now", "kept"),
        [
            ("admin", "member", "member"),
            ("admin", "deputy", "deputy"),
            ("deputy", "admin", "deputy"),
            ("member", "admin", "member"),
            ("clerk", "deputy", "member"),
            ("deputy", "clerk", "member"),
            # Both allow the same, so that nothing has to change.
            ("deputy", "second", "second"),
        ],
    )
    async def test_it_is_the_lower_of_both_or_member(
        self, victim: Victim, clock: SettableClock, then: str, now: str, kept: str
    ) -> None:
        one = intrusion_of(victim, clock, then)
        one.world.custom_role(one.acme, "deputy", "org.members.manage", MEMBERS, "services.view")
        one.world.custom_role(one.acme, "clerk", "billing.manage", MEMBERS, "services.view")
        one.world.custom_role(one.acme, "second", "org.members.manage", MEMBERS, "services.view")
        await one.take_over()
        one.world.connection.execute("UPDATE memberships SET role = %s WHERE user_id = %s", (now, victim.app.id))

        await one.undo()

        assert one.role() == kept

    async def test_a_role_that_was_deleted_since_is_none_to_go_back_to(
        self, victim: Victim, clock: SettableClock
    ) -> None:
        one = intrusion_of(victim, clock, "deputy")
        one.world.custom_role(one.acme, "deputy", "org.members.manage")
        await one.take_over()
        one.world.connection.execute("UPDATE memberships SET role = 'admin' WHERE user_id = %s", (victim.app.id,))
        one.world.connection.execute("DELETE FROM organization_roles")

        await one.undo()

        assert one.role() == "member"

    async def test_a_membership_that_was_not_confirmed_at_the_wish_ends(self, admin: Intrusion) -> None:
        bolt = admin.world.organization("bolt")
        admin.world.member(bolt, admin.victim.app.id, is_confirmed=False)
        proof = await admin.ask()
        admin.world.connection.execute("UPDATE memberships SET confirmed_at = created_at")
        await admin.prove(proof)

        await admin.undo()

        assert admin.world.role_of(bolt, EMAIL) is None
        assert admin.role() == "admin"

    async def test_a_grant_is_the_lower_of_both(self, admin: Intrusion) -> None:
        shop, till, desk = (admin.world.service(admin.acme, slug) for slug in ("shop", "till", "desk"))
        user_id = admin.victim.app.id
        admin.world.grant(admin.acme, shop.id, user_id, "viewer")
        admin.world.grant(admin.acme, till.id, user_id, "manager")
        await admin.take_over()
        for slug, relation in (("shop", "manager"), ("till", "viewer"), ("desk", "viewer")):
            await admin.act("PUT", f"/services/{slug}/grants/{user_id}", {"relation": relation})

        await admin.undo()

        found = admin.world.rows("SELECT service_id, relation FROM service_grants ORDER BY relation, service_id")
        assert sorted(found) == sorted([(shop.id, "viewer"), (till.id, "viewer")])
        assert desk.id not in dict(found)


class TestFounding:
    """An organization that the account founded since is suspended; one that it was given refuses the undo."""

    @pytest.mark.parametrize("status", ["active", "pending"])
    async def test_one_that_was_founded_since_is_suspended_until_the_platform_has_looked(
        self, victim: Victim, world: World, clock: SettableClock, status: str
    ) -> None:
        await victim.take_over()
        clock.advance(MINUTE)
        body = {"slug": "acme", "name": "Acme"}
        assert (await world.client.post("/api/organizations", token=victim.token, body=body)).status == 200
        world.connection.execute("UPDATE organizations SET status = %s", (status,))

        await victim.recover()

        assert world.rows("SELECT status, suspension_reason FROM organizations") == [("suspended", "address_undone")]
        root = await world.signed_in_platform_owner()
        organization_id = world.value("SELECT id FROM organizations")
        answer = await root.post(f"/api/platform/organizations/{organization_id}/activate")
        assert answer.status == 200, answer.text

    async def test_one_that_was_founded_and_passed_on_is_suspended_too(
        self, victim: Victim, world: World, clock: SettableClock
    ) -> None:
        one = Intrusion(victim, clock, victim.app.id)
        await one.take_over()
        clock.advance(MINUTE)
        body = {"slug": "acme", "name": "Acme"}
        assert (await world.client.post("/api/organizations", token=victim.token, body=body)).status == 200
        world.connection.execute("UPDATE organizations SET status = 'active'")
        one.acme = world.value("SELECT id FROM organizations")
        await one.befriend()
        await one.transfer_to(FRIEND)

        await one.undo()

        assert world.value("SELECT status FROM organizations") == "suspended"
        assert one.members() == {FRIEND: (OWNER, True)}

    async def test_one_that_the_platform_has_rejected_stays_rejected(
        self, victim: Victim, world: World, clock: SettableClock
    ) -> None:
        await victim.take_over()
        clock.advance(MINUTE)
        body = {"slug": "acme", "name": "Acme"}
        assert (await world.client.post("/api/organizations", token=victim.token, body=body)).status == 200
        world.connection.execute("UPDATE organizations SET status = 'rejected'")

        assert (await victim.undo()).status == 200

        assert world.value("SELECT status FROM organizations") == "rejected"

    async def test_an_ownership_that_was_given_since_refuses_the_undo(self, admin: Intrusion) -> None:
        boss = (await admin.world.sign_in(BOSS)).access_token
        await admin.take_over()
        body = {"new_owner_user_id": str(admin.victim.app.id)}
        await admin.act("POST", "/transfer-ownership", body, token=boss)

        answer = await admin.victim.undo()

        assert answer.status == 400
        assert "ask the operator of this service for help" in answer.text
        assert admin.members() == {NEW: (OWNER, True), BOSS: ("admin", True)}

    async def test_an_ownership_that_was_given_and_passed_on_refuses_the_undo(self, admin: Intrusion) -> None:
        boss = (await admin.world.sign_in(BOSS)).access_token
        await admin.take_over()
        body = {"new_owner_user_id": str(admin.victim.app.id)}
        await admin.act("POST", "/transfer-ownership", body, token=boss)
        await admin.befriend()
        await admin.transfer_to(FRIEND)

        assert (await admin.victim.undo()).status == 400
        assert admin.members()[FRIEND] == (OWNER, True)


class TestGivenToOthers:
    """Roles, grants and invitations that the account gave since fall back, and what these people gave in turn."""

    async def test_roles_fall_back_to_those_before_the_first_change(self, founder: Intrusion) -> None:
        world = founder.world
        world.custom_role(founder.acme, "deputy", MEMBERS)
        ids = {name: world.user(f"{name}@example.com") for name in ("up", "twice", "down", "gone", "kept")}
        for name, role in (("up", "member"), ("twice", "member"), ("down", "admin"), ("gone", "deputy")):
            world.member(founder.acme, ids[name], role)
        world.member(founder.acme, ids["kept"], "admin")
        await founder.take_over()
        for name, role in (("up", "admin"), ("twice", "deputy"), ("twice", "admin"), ("down", "member")):
            await founder.act("PATCH", f"/members/{ids[name]}", {"role": role})
        await founder.act("PATCH", f"/members/{ids['gone']}", {"role": "admin"})
        await founder.act("DELETE", "/roles/deputy")

        await founder.undo()

        roles = {email.partition("@")[0]: role for email, (role, _) in founder.members().items()}
        assert [roles[name] for name in ids] == ["member", "member", "admin", "member", "admin"]

    async def test_roles_of_many_fall_back_in_statements_for_all_of_them(self, founder: Intrusion) -> None:
        await founder.take_over()
        founder.promote_newcomers(80)

        with counted_calls() as calls:
            await founder.undo()

        assert {role for role, _ in founder.members().values()} == {OWNER, "member"}
        assert len(founder.world.events("user.role_updated")) == 80
        assert calls.round_trips <= ROUND_TRIPS_MAX
        assert calls.number <= CALLS_MAX + 80 * CALLS_OF_CHANGE_MAX

    async def test_each_falls_back_to_the_custom_role_of_before(self, founder: Intrusion) -> None:
        for role in ("viewer", "auditor"):
            founder.world.custom_role(founder.acme, role, "services.view")
        await founder.take_over()
        for role in ("viewer", "auditor", "gone"):
            founder.promote_newcomers(1, before=role)

        await founder.undo()

        assert {role for role, _ in founder.members().values()} == {OWNER, "viewer", "auditor", "member"}

    async def test_a_role_that_another_owner_has_changed_meanwhile_is_only_lowered(self, founder: Intrusion) -> None:
        world = founder.world
        user_id = world.user(BOSS)
        world.member(founder.acme, user_id, "member")
        world.custom_role(founder.acme, "deputy", MEMBERS, "services.view")
        await founder.take_over()
        await founder.act("PATCH", f"/members/{user_id}", {"role": "admin"})
        world.connection.execute("UPDATE memberships SET role = 'deputy' WHERE user_id = %s", (user_id,))

        await founder.undo()

        assert founder.members()[BOSS] == ("deputy", True)

    async def test_the_permissions_of_a_custom_role_fall_back(self, founder: Intrusion) -> None:
        founder.world.custom_role(founder.acme, "deputy", MEMBERS)
        founder.world.member(founder.acme, founder.world.user(BOSS), "deputy")
        await founder.take_over()
        for permissions in ([MEMBERS, "services.manage"], [MEMBERS, "services.manage", "org.members.manage"]):
            await founder.act("PATCH", "/roles/deputy", {"permissions": permissions})

        await founder.undo()

        assert founder.world.value("SELECT permissions FROM organization_roles") == [MEMBERS]

    async def test_the_scopes_of_a_custom_role_fall_back(self, founder: Intrusion) -> None:
        founder.world.service(founder.acme, "shop")
        founder.world.connection.execute(
            'UPDATE services SET scopes = \'[{"name": "refund", "description": "Give money back"}]\''
        )
        founder.world.custom_role(founder.acme, "deputy", MEMBERS)
        await founder.take_over()
        await founder.act("PATCH", "/roles/deputy", {"scopes": ["refund"]})
        await founder.act("PATCH", "/roles/deputy", {"permissions": [MEMBERS, "services.manage"]})

        await founder.undo()

        assert founder.world.rows("SELECT permissions, scopes FROM organization_roles") == [([MEMBERS], [])]

    async def test_grants_fall_back_to_what_they_replaced(self, founder: Intrusion) -> None:
        shop, till = founder.world.service(founder.acme, "shop"), founder.world.service(founder.acme, "till")
        user_id = founder.world.user(BOSS)
        founder.world.member(founder.acme, user_id)
        founder.world.grant(founder.acme, shop.id, user_id, "viewer")
        await founder.take_over()
        for service, relation in (("shop", "manager"), ("till", "viewer"), ("till", "manager")):
            await founder.act("PUT", f"/services/{service}/grants/{user_id}", {"relation": relation})

        await founder.undo()

        assert founder.world.rows("SELECT service_id, relation FROM service_grants") == [(shop.id, "viewer")]
        recorded = founder.world.rows(
            """
            SELECT details ->> 'change', details ->> 'service_slug'
            FROM   audit_entries
            WHERE  action = 'service.updated' AND details ->> 'reason' = 'email_change_undone'
            ORDER  BY id
            """
        )
        assert sorted(recorded) == [("access_granted", "shop"), ("access_revoked", "till")]
        assert till.id != shop.id

    async def test_what_a_member_made_by_a_grant_is_withdrawn_also_when_the_grant_has_ended(
        self, founder: Intrusion
    ) -> None:
        founder.world.service(founder.acme, "shop")
        user_id = founder.world.user(BOSS)
        founder.world.member(founder.acme, user_id)
        token = (await founder.world.sign_in(BOSS)).access_token
        await founder.take_over()
        grant = f"/services/shop/grants/{user_id}"
        await founder.act("PUT", grant, {"relation": "manager"})
        body = {"name": "Key", "permissions": ["read:users"]}
        made = await founder.act("POST", "/services/shop/api-keys", body, token=token)
        WATCH.add(made.json["key"])
        await founder.act("DELETE", grant)

        await founder.undo()

        assert founder.world.rows("SELECT id FROM api_keys") == []

    async def test_whom_an_invited_friend_invites_has_no_access_either(self, founder: Intrusion) -> None:
        await founder.take_over()
        friend = await founder.befriend()
        second = await founder.befriend(email=ACCOMPLICE, token=friend)

        await founder.undo()

        assert founder.members() == {EMAIL: (OWNER, True), FRIEND: ("admin", False), ACCOMPLICE: ("admin", False)}
        answer = await founder.world.client.get("/api/organizations/acme/members", token=second)
        assert_refused(answer, 403, "FORBIDDEN")

    async def test_members_by_invitations_of_before_keep_their_access(self, founder: Intrusion) -> None:
        await founder.befriend(email="colleague@example.com")
        await founder.take_over()

        await founder.undo()

        assert founder.members()["colleague@example.com"] == ("admin", True)

    async def test_a_member_who_joined_before_the_upgrade_is_found_by_the_address(self, founder: Intrusion) -> None:
        await founder.take_over()
        await founder.befriend()
        founder.world.connection.execute("UPDATE audit_entries SET details = details - 'user_id'")

        await founder.undo()

        assert founder.members()[FRIEND] == ("admin", False)

    async def test_users_of_a_directory_that_the_intruder_connected_are_suspended(self, founder: Intrusion) -> None:
        await founder.take_over()
        made = await founder.act("POST", "/scim-tokens", {"name": "Directory"})
        body = {
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
            "userName": ACCOMPLICE,
            "active": True,
        }
        created = await founder.world.client.post("/scim/v2/Users", token=made.json["token"], body=body)
        assert created.status == 201, created.text

        await founder.undo()

        assert founder.members()[ACCOMPLICE] == ("member", False)

    async def test_what_a_promoted_member_made_by_the_promotion_is_withdrawn(self, founder: Intrusion) -> None:
        boss = founder.world.user(BOSS)
        founder.world.member(founder.acme, boss)
        token = (await founder.world.sign_in(BOSS)).access_token
        await founder.take_over()
        await founder.act("PATCH", f"/members/{boss}", {"role": "admin"})
        await founder.act("POST", "/scim-tokens", {"name": "Directory"}, token=token)

        await founder.undo()

        assert founder.members()[BOSS] == ("member", True)
        assert founder.world.rows("SELECT FROM scim_tokens") == []


class TestClosedAccounts:
    """An account that the intruder has closed is open again after the undo; one that others deactivated stays so."""

    async def test_an_account_that_was_closed_since_is_reopened_and_owns_again(self, founder: Intrusion) -> None:
        await founder.take_over()
        await founder.befriend()
        await founder.transfer_to(FRIEND)
        await founder.act("POST", "/leave")
        closed = await founder.world.client.delete("/api/user", token=founder.victim.token)
        assert closed.status == 204, closed.text

        await founder.undo()

        assert founder.world.rows("SELECT closed_at FROM users WHERE email = %s", EMAIL) == [(None,)]
        assert "account_reopened" in founder.world.mfa_log(founder.victim.app.id)
        assert founder.members() == {EMAIL: (OWNER, True), FRIEND: ("admin", False)}

    async def test_an_account_that_is_undone_is_not_anonymized_two_weeks_after_it_was_closed(
        self, victim: Victim, world: World, clock: SettableClock, database: PostgresDatabase
    ) -> None:
        await victim.take_over()
        assert (await world.client.delete("/api/user", token=victim.token)).status == 204
        clock.advance(timedelta(days=6))
        assert (await victim.undo()).status == 200

        clock.advance(timedelta(days=9))

        assert not await database.transact(anonymization.forget_next_closed)
        assert world.rows("SELECT email FROM users WHERE id = %s", victim.app.id) == [(EMAIL,)]

    async def test_a_deactivated_account_stays_deactivated(self, founder: Intrusion) -> None:
        await founder.take_over()
        founder.world.connection.execute(
            "UPDATE users SET deactivated_at = now() WHERE id = %s", (founder.victim.app.id,)
        )

        answer = await founder.victim.undo()

        assert answer.status == 400
        assert founder.world.value("SELECT deactivated_at IS NOT NULL FROM users WHERE email = %s", NEW)


class TestAnonymization:
    """The owner by a takeover cannot anonymize the account while its change of address can be undone."""

    async def test_the_new_owner_cannot_anonymize_the_founder_before_the_link_of_the_undo_expires(
        self, founder: Intrusion
    ) -> None:
        user_id = founder.victim.app.id
        await founder.take_over()
        friend = await founder.befriend()
        await founder.transfer_to(FRIEND)

        answer = await founder.world.client.delete(f"/api/privacy/forget/{user_id}", token=friend)

        assert_refused(answer, 403, "FORBIDDEN")
        assert "seven days" in answer.text
        await founder.undo()
        assert founder.role() == OWNER

    async def test_the_owner_can_once_the_link_has_expired(self, founder: Intrusion) -> None:
        user_id = founder.victim.app.id
        await founder.take_over()
        await founder.befriend()
        await founder.transfer_to(FRIEND)
        founder.clock.advance(timedelta(days=7, minutes=1))
        friend = (await founder.world.sign_in(FRIEND)).access_token

        answer = await founder.world.client.delete(f"/api/privacy/forget/{user_id}", token=friend)

        assert answer.status == 200, answer.text


class TestRaces:
    """What is given or made while the change is undone is taken back, or refused."""

    async def test_a_transfer_that_commits_after_the_undo_is_refused(
        self, founder: Intrusion, connection: Connection, tools: Tools
    ) -> None:
        boss = founder.world.user(BOSS)
        founder.world.member(founder.acme, boss)
        await founder.take_over()
        statuses: list[int] = []

        async def transfer() -> None:
            body = {"new_owner_user_id": str(boss)}
            answer = await founder.world.client.post(
                "/api/organizations/acme/transfer-ownership", token=founder.victim.token, body=body
            )
            statuses.append(answer.status)

        async with trio.open_nursery() as nursery:
            with connection.transaction():
                email_change_undo.undo(PostgresUnitOfWork(connection, BACKGROUND, tools), founder.victim.undo_token)
                nursery.start_soon(transfer)
                await waiting_for_a_lock(connection)

        assert statuses == [401]
        assert founder.role() == OWNER

    async def test_an_invitation_that_is_accepted_during_the_undo_gives_no_access(
        self, founder: Intrusion, connection: Connection, tools: Tools
    ) -> None:
        await founder.take_over()
        founder.world.user(FRIEND)
        friend = (await founder.world.sign_in(FRIEND)).access_token
        invited = await founder.act("POST", "/invitations", {"email": FRIEND, "role": "admin"})
        statuses: list[int] = []

        async def accept() -> None:
            body = {"token": invited.json["token"]}
            answer = await founder.world.client.post("/api/invitations/accept", token=friend, body=body)
            statuses.append(answer.status)

        async with trio.open_nursery() as nursery:
            with connection.transaction():
                email_change_undo.undo(PostgresUnitOfWork(connection, BACKGROUND, tools), founder.victim.undo_token)
                nursery.start_soon(accept)
                await waiting_for_a_lock(connection)

        assert statuses == [400]
        assert founder.members() == {EMAIL: (OWNER, True)}

    async def test_of_an_undo_and_a_transfer_at_once_the_founder_owns_in_the_end(self, founder: Intrusion) -> None:
        boss = founder.world.user(BOSS)
        founder.world.member(founder.acme, boss)
        await founder.take_over()
        body = {"new_owner_user_id": str(boss)}

        async def transfer() -> Answer:
            return await founder.world.client.post(
                "/api/organizations/acme/transfer-ownership", token=founder.victim.token, body=body
            )

        answers = await at_once(founder.victim.undo, transfer)

        assert 200 in statuses_of(answers)
        assert founder.members() == {EMAIL: (OWNER, True), BOSS: ("member", True)}

    async def test_an_account_that_is_about_to_join_when_the_change_is_undone_leaves_again(
        self, admin: Intrusion, connection: Connection
    ) -> None:
        bolt = admin.world.organization("bolt")
        await admin.take_over()
        statuses: list[int] = []

        async def undo() -> None:
            statuses.append((await admin.victim.undo()).status)

        async with trio.open_nursery() as nursery:
            with connection.transaction():
                admin.world.member(bolt, admin.victim.app.id)
                nursery.start_soon(undo)
                await waiting_for_a_lock(connection)

        assert statuses == [200]
        assert admin.world.role_of(bolt, EMAIL) is None


async def test_the_undo_of_a_chain_counts_from_the_wish_of_its_link(founder: Intrusion) -> None:
    await founder.take_over()
    first = founder.victim.undo_token
    await founder.befriend()
    founder.clock.advance(MINUTE)
    founder.victim.undo_token = (await founder.victim.change("third@other.example"))["email_changed"]
    await founder.transfer_to(FRIEND)
    await founder.undo()
    assert founder.members()[FRIEND] == ("admin", True), "the friend joined before the second wish"

    founder.victim.undo_token = first
    await founder.undo()

    assert founder.members() == {EMAIL: (OWNER, True), FRIEND: ("admin", False)}
    assert WATCH.leaks() == []
