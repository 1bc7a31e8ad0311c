"""Registering and managing passkeys."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest
import trio

from core.credentials.passkeys import PASSKEYS_MAX
from tests.application import Answer
from tests.authenticators import AAGUID, Authenticator, encoded
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.waiting import waiting_for_a_lock
from tests.world.builder import EMAIL
from tests.world.passkeys import Keyring
from tests.world.world import World, assert_refused

ROUNDS = 50
OTHER = "grace@example.com"


class TestRegistration:
    """From the options to the passkey."""

    async def test_a_passkey_is_registered_and_shown(self, keyring: Keyring, clock: SettableClock) -> None:
        await keyring.sign_up()

        answer = await keyring.register(Authenticator(is_backup_eligible=True), name="My telephone")

        assert answer.status == 200, answer.text
        assert answer.json == {
            "id": answer.json["id"],
            "name": "My telephone",
            "aaguid": str(UUID(bytes=AAGUID)),
            "backup_eligible": True,
            "created_at": clock.now.isoformat().replace("+00:00", "Z"),
            "last_used_at": None,
            "second_factor": False,
        }
        assert (await keyring.ask("GET")).json == {"passkeys": [answer.json], "total": 1}

    async def test_the_options_name_the_account_and_exclude_its_passkeys(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered(transports=["usb", "nfc", "teleport"])

        options = (await keyring.start_registration())["options"]

        assert options["user"]["name"] == EMAIL
        assert options["excludeCredentials"] == [
            {"id": encoded(authenticator.credential_id), "type": "public-key", "transports": ["nfc", "usb"]}
        ]

    async def test_a_passkey_without_a_name_gets_a_default_name(self, keyring: Keyring) -> None:
        await keyring.sign_up()

        answer = await keyring.register()

        assert 1 <= len(answer.json["name"]) <= 100

    async def test_a_name_has_1_to_100_characters(self, keyring: Keyring, subtests: pytest.Subtests) -> None:
        await keyring.sign_up()

        for name in ("x", "x" * 100, "  Schlüssel 🔑  "):
            with subtests.test(name=name):
                assert (await keyring.register(name=name)).json["name"] == name.strip()

    async def test_an_invalid_name_is_refused(self, keyring: Keyring, subtests: pytest.Subtests) -> None:
        await keyring.sign_up()

        for name in ("", "   ", "a\nb", "x" * 101, "nul\x00", 7):
            with subtests.test(name=name):
                answer = await keyring.register(name=name)

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.json["details"][0]["field"] == "name"

    async def test_a_registration_is_mailed_to_the_owner_and_recorded(self, keyring: Keyring) -> None:
        await keyring.sign_up()

        answer = await keyring.register(name="My telephone")

        [message] = await keyring.world.mails()
        assert (message.to, message.template, message.values["name"]) == (EMAIL, "passkey_added", "My telephone")
        assert "My telephone" in keyring.world.installation.mail_renderer.render(message).text
        assert keyring.security_log() == [("passkey_registered", True, {"passkey_id": answer.json["id"]})]

    async def test_a_credential_that_is_registered_already_is_refused(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()

        again = await keyring.register(authenticator)
        await keyring.sign_up(OTHER)
        elsewhere = await keyring.register(authenticator)

        assert_refused(again, 409, "CONFLICT")
        assert (elsewhere.status, elsewhere.json["error"]) == (409, again.json["error"])
        assert (await keyring.ask("GET")).json["total"] == 0

    async def test_an_account_has_a_limited_number_of_passkeys(self, keyring: Keyring, world: World) -> None:
        await keyring.sign_up()
        started = await keyring.start_registration()
        for _ in range(PASSKEYS_MAX):
            await keyring.registered()

        start = await keyring.ask("POST", "/register/start")
        finish = await keyring.finish_registration(started, Authenticator().create(started["options"]))

        assert_refused(start, 400, "BAD_REQUEST")
        assert_refused(finish, 400, "BAD_REQUEST")
        assert world.value("SELECT count(*) FROM passkeys") == PASSKEYS_MAX

    async def test_an_invalid_credential_is_refused_and_uses_the_challenge_up(
        self, keyring: Keyring, subtests: pytest.Subtests
    ) -> None:
        await keyring.sign_up()

        cases: list[dict[str, Any]] = [
            {"origin": "https://evil.example"},
            {"rp_id": "evil.example"},
            {"is_user_present": False},
            {"cross_origin": True},
        ]
        for wrong in cases:
            with subtests.test(wrong=wrong):
                started = await keyring.start_registration()

                answer = await keyring.finish_registration(started, Authenticator(**wrong).create(started["options"]))
                again = await keyring.finish_registration(started, Authenticator().create(started["options"]))

                assert_refused(answer, 400, "BAD_REQUEST")
                assert_refused(again, 400, "BAD_REQUEST")
                assert (await keyring.ask("GET")).json["total"] == 0

    async def test_an_answer_to_another_challenge_is_refused(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        first, second = await keyring.start_registration(), await keyring.start_registration()

        answer = await keyring.finish_registration(first, Authenticator().create(second["options"]))

        assert_refused(answer, 400, "BAD_REQUEST")

    async def test_a_challenge_expires_after_five_minutes(self, keyring: Keyring, clock: SettableClock) -> None:
        await keyring.sign_up()
        early, late = await keyring.start_registration(), await keyring.start_registration()

        clock.advance(timedelta(minutes=5) - timedelta(seconds=1))
        in_time = await keyring.finish_registration(early, Authenticator().create(early["options"]))
        clock.advance(timedelta(seconds=1))
        too_late = await keyring.finish_registration(late, Authenticator().create(late["options"]))

        assert in_time.status == 200
        assert_refused(too_late, 400, "BAD_REQUEST")

    async def test_a_challenge_belongs_to_its_account(self, keyring: Keyring) -> None:
        await keyring.sign_up(OTHER)
        started = await keyring.start_registration()
        await keyring.sign_up()

        answer = await keyring.finish_registration(started, Authenticator().create(started["options"]))

        assert_refused(answer, 400, "BAD_REQUEST")

    async def test_a_sign_in_challenge_cannot_register_a_passkey(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        sign_in_start, options = await keyring.started(None), (await keyring.start_registration())["options"]
        options["challenge"] = sign_in_start["options"]["challenge"]

        answer = await keyring.finish_registration(sign_in_start, Authenticator().create(options))

        assert_refused(answer, 400, "BAD_REQUEST")

    @pytest.mark.long
    async def test_of_two_concurrent_answers_exactly_one_succeeds(self, keyring: Keyring, world: World) -> None:
        await keyring.sign_up()
        for _ in range(ROUNDS):
            world.connection.execute("DELETE FROM passkeys")
            started, statuses = await keyring.start_registration(), list[int]()

            async def finish(started: dict[str, Any], statuses: list[int]) -> None:
                credential = Authenticator().create(started["options"])
                statuses.append((await keyring.finish_registration(started, credential)).status)

            async with trio.open_nursery() as nursery:
                for _ in range(2):
                    nursery.start_soon(finish, started, statuses)

            assert sorted(statuses) == [200, 400]
            assert world.value("SELECT count(*) FROM passkeys") == 1

    async def test_a_malformed_value_is_refused_with_the_name_of_the_field(
        self, keyring: Keyring, subtests: pytest.Subtests
    ) -> None:
        await keyring.sign_up()
        started = await keyring.start_registration()

        for field, value in (
            ("challenge_id", "no id"),
            ("challenge_id", None),
            ("credential", None),
            ("credential", "text"),
            ("credential.id", "no base64url!"),
            ("credential.id", ""),
            ("credential.id", "A" * 1400),
            ("credential.type", "password"),
            ("credential.response", []),
            ("credential.response.clientDataJSON", "a"),
            ("credential.response.clientDataJSON", 7),
            ("credential.response.attestationObject", "ä"),
            ("credential.response.attestationObject", "A" * 40_000),
            ("credential.response.transports", "usb"),
        ):
            with subtests.test(field=field, value=value):
                body: dict[str, Any] = {"credential": Authenticator().create(started["options"]), **started}
                *path, name = field.split(".")
                target = body
                for step in path:
                    target = target[step]
                target[name] = value

                answer = await keyring.ask("POST", "/register/finish", body)

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.json["details"][0]["field"] == field

    async def test_padded_base64url_is_accepted(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        started = await keyring.start_registration()
        credential = Authenticator().create(started["options"])
        for name in ("clientDataJSON", "attestationObject"):
            text = credential["response"][name]
            credential["response"][name] = text + "=" * (-len(text) % 4)

        assert (await keyring.finish_registration(started, credential)).status == 200


class TestManagement:
    """List, rename, remove."""

    async def test_users_see_their_own_passkeys_oldest_first(self, keyring: Keyring, clock: SettableClock) -> None:
        await keyring.sign_up(OTHER)
        await keyring.registered()
        await keyring.sign_up()
        for name in ("first", "second"):
            await keyring.register(name=name)
            clock.advance(timedelta(minutes=1))

        answer = await keyring.ask("GET")

        assert [passkey["name"] for passkey in answer.json["passkeys"]] == ["first", "second"]
        assert set(answer.json["passkeys"][0]) == {
            "id",
            "name",
            "aaguid",
            "backup_eligible",
            "created_at",
            "last_used_at",
            "second_factor",
        }

    async def test_a_passkey_can_be_renamed(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        passkey_id = (await keyring.register(name="old")).json["id"]

        answer = await keyring.ask("PATCH", f"/{passkey_id}", {"name": " new "})

        assert (answer.status, answer.json["id"], answer.json["name"]) == (200, passkey_id, "new")
        assert (await keyring.ask("GET")).json["passkeys"] == [answer.json]

    async def test_a_rename_requires_a_valid_name(self, keyring: Keyring, subtests: pytest.Subtests) -> None:
        await keyring.sign_up()
        passkey_id = (await keyring.register(name="old")).json["id"]

        for body in ({}, {"name": ""}, {"name": "a\nb"}, {"name": "x" * 101}, {"name": None}):
            with subtests.test(body=body):
                assert_refused(await keyring.ask("PATCH", f"/{passkey_id}", body), 400, "BAD_REQUEST")

    async def test_a_passkey_can_be_removed(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        authenticator = Authenticator()
        passkey_id = (await keyring.register(authenticator, name="My telephone")).json["id"]
        await keyring.world.mails()

        answer = await keyring.ask("DELETE", f"/{passkey_id}")

        assert (answer.status, answer.content) == (204, b"")
        assert (await keyring.ask("GET")).json["total"] == 0
        assert_refused(await keyring.sign_in(authenticator, None), 401, "UNAUTHORIZED")
        [message] = await keyring.world.mails()
        assert (message.template, message.values["name"]) == ("passkey_removed", "My telephone")
        assert "My telephone" in keyring.world.installation.mail_renderer.render(message).text
        assert keyring.security_log()[-1] == ("passkey_removed", True, {"passkey_id": passkey_id})

    @pytest.mark.parametrize("method", ["PATCH", "DELETE"])
    async def test_a_passkey_of_another_user_is_not_found(self, keyring: Keyring, method: str) -> None:
        await keyring.sign_up(OTHER)
        passkey_id = (await keyring.register()).json["id"]
        await keyring.sign_up()

        for unknown in (passkey_id, str(uuid4()), "no-id"):
            assert_refused(await keyring.ask(method, f"/{unknown}", {"name": "mine"}), 404, "NOT_FOUND")

    async def test_the_last_means_of_signing_in_cannot_be_removed(self, keyring: Keyring, world: World) -> None:
        await keyring.sign_up()
        ids = [(await keyring.register()).json["id"] for _ in range(2)]
        world.connection.execute("UPDATE users SET password_hash = NULL")

        first, last = [await keyring.ask("DELETE", f"/{passkey_id}") for passkey_id in ids]

        assert first.status == 204
        assert_refused(last, 400, "BAD_REQUEST")
        assert [passkey["id"] for passkey in (await keyring.ask("GET")).json["passkeys"]] == [ids[1]]

    @pytest.mark.long
    async def test_of_two_concurrent_removals_of_the_last_two_passkeys_one_succeeds(
        self, keyring: Keyring, world: World
    ) -> None:
        await keyring.sign_up()
        world.connection.execute("UPDATE users SET password_hash = NULL")
        for _ in range(ROUNDS):
            world.connection.execute("DELETE FROM passkeys")
            ids = [(await keyring.register()).json["id"] for _ in range(2)]

            answers = await at_once(*[partial(keyring.ask, "DELETE", f"/{passkey_id}") for passkey_id in ids])

            assert statuses_of(answers) == [204, 400]


class TestAccess:
    """Only the signed-in user can change passkeys, not an impersonator."""

    CALLS = (
        ("POST", "/register/start", None),
        ("POST", "/register/finish", {}),
        ("GET", "", None),
        ("PATCH", f"/{UUID(int=1)}", {"name": "mine"}),
        ("DELETE", f"/{UUID(int=2)}", None),
    )

    async def test_every_passkey_endpoint_requires_an_access_token(self, keyring: Keyring) -> None:
        for method, path, body in self.CALLS:
            answer: Answer = await keyring.client.request(method, f"/api/auth/passkeys{path}", body=body)

            assert_refused(answer, 401, "UNAUTHORIZED")

    async def test_an_impersonator_can_list_passkeys_but_not_change_them(self, keyring: Keyring, world: World) -> None:
        await keyring.sign_up()
        started, passkey = await keyring.start_registration(), (await keyring.register()).json
        owner = world.user("owner@example.com", is_platform_owner=True)
        world.connection.execute("UPDATE sessions SET impersonator_id = %s", (owner,))

        answers = [
            await keyring.ask("POST", "/register/start"),
            await keyring.finish_registration(started, Authenticator().create(started["options"])),
            await keyring.ask("PATCH", f"/{passkey['id']}", {"name": "mine"}),
            await keyring.ask("DELETE", f"/{passkey['id']}"),
        ]

        assert [answer.status for answer in answers] == [403] * 4
        assert (await keyring.ask("GET")).json["passkeys"] == [passkey]

    async def test_a_session_that_ends_during_the_registration_registers_nothing(
        self, keyring: Keyring, world: World
    ) -> None:
        await keyring.sign_up()
        started = await keyring.start_registration()
        holder = world.connection.transaction()
        statuses: list[int] = []

        async def finish() -> None:
            credential = Authenticator().create(started["options"])
            statuses.append((await keyring.finish_registration(started, credential)).status)

        async with trio.open_nursery() as nursery:
            with holder:
                # Like a verification of the address, this locks the account and ends its sessions.
                world.rows("SELECT FROM users WHERE email = %s FOR NO KEY UPDATE", EMAIL)
                nursery.start_soon(finish)
                await waiting_for_a_lock(world.connection)
                world.connection.execute("UPDATE sessions SET revoked_at = now()")

        assert statuses == [401]
        assert world.value("SELECT count(*) FROM passkeys") == 0
