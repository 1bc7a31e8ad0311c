"""What the platform's support reads and does for a user."""

from __future__ import annotations

import pytest

from core.accounts.users import UserUnknown
from core.platform import sessions as platform_sessions
from core.platform import user_records
from entrypoints.installation import Installation
from tests.shown_text import shows
from tests.world.builder import EMAIL
from tests.world.platform import PLATFORM_OWNER
from tests.world.second_factors import insert_person
from tests.world.support import SupportDesk
from tests.world.world import World, assert_refused

USERS = "/api/platform/users"
UNKNOWN = "0191d3c1-0000-7000-8000-00000000000f"
SECRETS = ("secret", "hash", "sealed", "public_key", "access_token")


class TestRead:
    """What support reads."""

    async def test_the_record_of_a_user_shows_what_helps_and_no_secret(self, desk: SupportDesk, world: World) -> None:
        ada = insert_person(world)
        ada.join_organization("engines")
        await ada.turn_mfa_on()
        await ada.log_in("wrong")
        world.connection.execute("UPDATE users SET name = 'Ada', language = 'de' WHERE id = %s", (ada.id,))

        world.connection.execute(
            """
            INSERT INTO identities (id, user_id, provider, subject, email, linked_at, used_at)
            VALUES (gen_random_uuid(), %s, 'codehost', '4711', 'ada@home.example', %s, %s)
            """,
            (ada.id, world.clock(), world.clock()),
        )

        answer = await desk.request("GET", f"{USERS}/{ada.id}")

        assert answer.status == 200, answer.text
        record = answer.json
        assert record["user"] == {
            "id": str(ada.id),
            "email": EMAIL,
            "name": "Ada",
            "language": "de",
            "email_verified": True,
            "disowned": False,
            "is_platform_owner": False,
            "is_platform_support": False,
            "created_at": "2026-02-03T04:05:06Z",
            "updated_at": record["user"]["updated_at"],
            "deactivated_at": None,
            "closed_at": None,
            "locked_at": None,
        }
        assert record["sign_in_methods"] == {
            "has_password": True,
            "mfa_enabled": True,
            "backup_codes_remaining": 10,
            "passkeys": [],
            "identities": [
                {
                    "provider": "codehost",
                    "provider_user_id": "4711",
                    "email": "ada@home.example",
                    "linked_at": "2026-02-03T04:05:06Z",
                }
            ],
        }
        assert record["limits"] == {
            "failures": 1,
            "blocked_until": None,
            # The test's application limits nothing by network.
            "networks": [],
        }
        assert [one["slug"] for one in record["organizations"]] == ["engines"]
        assert (len(record["devices"]), record["devices_total"]) == (1, 1)
        assert (len(record["sessions"]), record["sessions_total"]) == (1, 1)
        assert [one["reason"] for one in record["sign_ins"]] == ["wrong_password", None]
        assert record["sign_ins_total"] == 2
        assert [one["template"] for one in record["mails"]] == ["mfa_enabled"]
        assert record["mails_total"] == 1
        assert [word for word in SECRETS if shows(answer.text.replace("second_factor", ""), word)] == []
        assert ada.secret not in answer.text

    async def test_each_opening_of_a_record_by_support_is_in_the_log_of_the_platform(
        self, desk: SupportDesk, world: World
    ) -> None:
        user_id = world.user()

        for path in ("", "/sign-ins", "/mfa/status"):
            assert (await desk.request("GET", f"{USERS}/{user_id}{path}")).status == 200
            assert (await desk.platform.request("GET", f"{USERS}/{user_id}{path}")).status == 200

        assert world.platform_audit_entries("user.opened") == [
            (desk.person.id, str(user_id), {"part": part}) for part in ("account", "sign_ins", "second_factor")
        ]
        log = await desk.platform.request("GET", f"/api/platform/audit-log?target_type=user&target_id={user_id}")
        assert [entry["actor"]["email"] for entry in log.json["logs"]] == ["helper@example.com"] * 3

    async def test_the_search_finds_users_and_no_platform_owner(self, desk: SupportDesk, world: World) -> None:
        user_id = world.user()
        owner_id = desk.platform.owner_id

        for query, addresses in (
            ("email=ada", [EMAIL]),
            ("email=a", [EMAIL]),
            ("email=example.com", [EMAIL, "helper@example.com"]),
            (f"user_id={user_id}", [EMAIL]),
            (f"user_id={owner_id}", []),
            ("email=owner", []),
            ("email=wner@", []),
        ):
            found = await desk.request("GET", f"{USERS}/search?{query}")
            assert sorted(one["email"] for one in found.json["users"]) == addresses, query
        by_owner = await desk.platform.request("GET", f"{USERS}/search?email=owner")
        assert [one["email"] for one in by_owner.json["users"]] == [PLATFORM_OWNER]

    async def test_organizations_are_listed_without_the_platform_owners_behind_them(
        self, desk: SupportDesk, world: World
    ) -> None:
        acme, globex = world.organization("acme"), world.organization("globex")
        world.member(acme, world.user(), "owner")
        world.member(globex, desk.platform.owner_id, "owner")
        world.connection.execute("UPDATE organizations SET approved_by = %s", (desk.platform.owner_id,))

        answer = await desk.request("GET", "/api/platform/organizations")

        listed = {one["organization"]["slug"]: one for one in answer.json["organizations"]}
        assert listed["acme"]["owner"]["email"] == EMAIL
        assert listed["globex"]["owner"] == {
            "id": "unknown",
            "email": "platform-owner@unknown",
            "is_platform_owner": True,
            "created_at": "1970-01-01T00:00:00Z",
        }
        assert listed["acme"]["organization"]["approved_by"] is None
        assert str(desk.platform.owner_id) not in answer.text
        by_owner = await desk.platform.request("GET", "/api/platform/organizations")
        assert str(desk.platform.owner_id) in by_owner.text

    async def test_alerts_about_platform_owners_are_for_owners(self, desk: SupportDesk, world: World) -> None:
        ada_id = world.user()
        for user_id in (ada_id, desk.platform.owner_id):
            world.connection.execute(
                """
                INSERT INTO mfa_events (id, user_id, event_type, success, details, created_at)
                SELECT gen_random_uuid(), %s, 'mfa_verify_failed', false, '{}', %s FROM generate_series(1, 5)
                """,
                (user_id, world.clock()),
            )

        alerts = (await desk.request("GET", "/api/platform/mfa/suspicious")).json["alerts"]
        of_owner = (await desk.platform.request("GET", "/api/platform/mfa/suspicious")).json["alerts"]

        assert [one["user_id"] for one in alerts] == [str(ada_id)]
        assert {one["user_id"] for one in of_owner} == {str(ada_id), str(desk.platform.owner_id)}

    async def test_an_account_that_does_not_exist_is_not_found(
        self, desk: SupportDesk, subtests: pytest.Subtests
    ) -> None:
        for named in (UNKNOWN, desk.platform.owner_id):
            for method, path in (
                ("GET", ""),
                ("GET", "/sign-ins"),
                ("GET", "/mfa/status"),
                ("DELETE", "/sessions"),
                ("DELETE", "/limits"),
                ("POST", "/resend-verification"),
            ):
                with subtests.test(method=method, path=path, named=named):
                    assert_refused(await desk.request(method, f"{USERS}/{named}{path}"), 404, "NOT_FOUND")


class TestSessions:
    """Ending the sessions of a user."""

    async def test_all_sessions_of_a_user_end_and_the_log_says_so(self, desk: SupportDesk, world: World) -> None:
        user_id = world.user()
        first, second = await world.sign_in(), await world.sign_in()

        answer = await desk.request("DELETE", f"{USERS}/{user_id}/sessions")

        assert (answer.status, answer.json["sessions_revoked"]) == (200, 2)
        for tokens in (first, second):
            assert (await world.list_sessions(tokens)).status == 401
            assert (await world.refresh(tokens.refresh_token)).status == 401
        assert world.platform_audit_entries("user.sessions_ended") == [(desk.person.id, str(user_id), {"sessions": 2})]
        again = await desk.request("DELETE", f"{USERS}/{user_id}/sessions")
        assert again.json == {"message": "There was no session to end.", "sessions_revoked": 0}

    async def test_a_platform_owner_does_so_for_every_account(self, desk: SupportDesk, world: World) -> None:
        second_id = world.user("second@example.com", is_platform_owner=True)
        second = await world.sign_in("second@example.com")

        answer = await desk.platform.request("DELETE", f"{USERS}/{second_id}/sessions")

        assert answer.json["sessions_revoked"] == 1
        assert (await world.list_sessions(second)).status == 401

    async def test_an_operator_does_so_by_command_without_an_actor_in_the_log(
        self, world: World, installation: Installation
    ) -> None:
        user_id = world.user()
        tokens = await world.sign_in()

        assert await installation.database.transact(platform_sessions.end_all_of_address, " ADA@example.com ") == 1

        assert (await world.list_sessions(tokens)).status == 401
        assert world.platform_audit_entries("user.sessions_ended") == [(None, str(user_id), {"sessions": 1})]
        with pytest.raises(UserUnknown):
            await installation.database.transact(platform_sessions.end_all_of_address, "new@example.com")


class TestVerification:
    """Sending the link that verifies an address again."""

    async def test_the_user_gets_the_link_of_their_registration_again_in_their_language(
        self, desk: SupportDesk, world: World
    ) -> None:
        await world.client.post("/api/auth/register", body={"email": EMAIL, "password": "correct horse battery"})
        user_id = world.user_id(EMAIL)

        answer = await desk.request("POST", f"{USERS}/{user_id}/resend-verification")

        assert (answer.status, answer.json) == (200, {"sent": True})
        links = [one for one in await world.mails() if one.template == "verify_email"]
        assert [one.to for one in links] == [EMAIL, EMAIL]
        token = links[-1].values["token"]
        verified = await world.client.get(f"/auth/verify-email?token={token}", headers={"Accept": "application/json"})
        assert verified.status == 200, verified.text
        assert (await world.log_in(EMAIL, "correct horse battery")).status == 200
        assert world.platform_audit_entries("user.verification_sent") == [
            (desk.person.id, str(user_id), {"sent": True})
        ]

    async def test_an_account_without_a_registration_gets_a_link_as_well(self, desk: SupportDesk, world: World) -> None:
        user_id = world.user(is_verified=False)

        answer = await desk.request("POST", f"{USERS}/{user_id}/resend-verification")

        assert answer.json == {"sent": True}

    async def test_what_is_verified_or_deactivated_gets_none(self, desk: SupportDesk, world: World) -> None:
        for user_id in (
            world.user(),
            world.user("second@example.com", is_verified=False, is_active=False),
        ):
            answer = await desk.request("POST", f"{USERS}/{user_id}/resend-verification")
            assert_refused(answer, 409, "CONFLICT")
        assert world.platform_audit_entries("user.verification_sent") == []


async def test_an_operator_sees_the_record_of_an_address_by_command(world: World, installation: Installation) -> None:
    world.user()

    record = await installation.database.read(user_records.show_of_address, " ADA@example.com")

    assert record.user.email == EMAIL
    with pytest.raises(UserUnknown):
        await installation.database.read(user_records.show_of_address, "new@example.com")
