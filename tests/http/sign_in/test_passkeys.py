"""Signing in with a passkey (decisions 3.9, pitfalls 14 and 16)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
import trio

from tests.authenticators import Authenticator, decoded, encoded
from tests.passkeys import Keyring, keyring
from tests.sign_ins import EMAIL, assert_refused, claims_of, door
from tests.statements import recorded_statements

if TYPE_CHECKING:
    from tests.application import Answer
    from tests.clock import SettableClock
    from tests.sign_ins import Door

__all__ = ["door", "keyring"]

ROUNDS = 50
OTHER = "grace@example.com"
REFUSAL = (
    "This passkey was not accepted. Try again, or use another sign-in method; if your email address is not verified"
    " yet, verify it first."
)


def assert_not_accepted(answer: Answer) -> None:
    """See that the answer is the one that every passkey gets that is not accepted."""
    assert_refused(answer, 401, "UNAUTHORIZED")
    assert answer.json["error"] == REFUSAL


class TestSigningIn:
    """With a right passkey."""

    @pytest.mark.parametrize("email", [EMAIL, f"  {EMAIL.upper()} ", None])
    async def test_with_or_without_an_address_it_answers_like_login(self, keyring: Keyring, email: str | None) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()

        answer = await keyring.sign_in(authenticator, email)

        assert answer.status == 200, answer.text
        assert set(answer.json) == {"access_token", "refresh_token", "expires_in", "token_type", "device_token"}
        assert "gatehouse_device=" in answer.headers["Set-Cookie"]
        assert claims_of(answer.json["access_token"])["email"] == EMAIL
        assert (await keyring.ask("GET", token=answer.json["access_token"])).status == 200

    async def test_the_options_name_the_passkeys_of_the_address(self, keyring: Keyring) -> None:
        await keyring.arrive()
        made = [await keyring.registered(transports=["hybrid", "internal"]) for _ in range(2)]

        options = (await keyring.started())["options"]

        assert options["allowCredentials"] == [
            {"id": encoded(one.credential_id), "type": "public-key", "transports": ["hybrid", "internal"]}
            for one in made
        ]
        assert (options["rpId"], options["userVerification"]) == ("localhost", "preferred")

    async def test_without_an_address_they_name_none(self, keyring: Keyring) -> None:
        assert (await keyring.started(None))["options"]["allowCredentials"] == []

    async def test_it_is_remembered_when_the_passkey_was_used_last(
        self, keyring: Keyring, clock: SettableClock
    ) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()
        clock.advance(timedelta(hours=1))

        answer = await keyring.sign_in(authenticator)

        [passkey] = (await keyring.ask("GET", token=answer.json["access_token"])).json["passkeys"]
        assert passkey["last_used_at"] == clock.now.isoformat().replace("+00:00", "Z")

    async def test_the_event_and_the_session_name_the_way(self, keyring: Keyring, door: Door) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()

        await keyring.sign_in(authenticator)

        assert door.events("user.login.success")[-1][2]["provider"] == "passkey"
        assert door.value("SELECT provider FROM sessions ORDER BY id DESC LIMIT 1") == "passkey"
        assert door.value("SELECT provider FROM login_events WHERE success ORDER BY id DESC LIMIT 1") == "passkey"

    @pytest.mark.parametrize(
        ("is_backup_eligible", "is_user_verified", "amr"),
        [
            (False, True, ["hwk", "user", "mfa"]),
            (True, True, ["swk", "user", "mfa"]),
            (False, False, ["hwk", "user"]),
            (True, False, ["swk", "user"]),
        ],
    )
    async def test_the_token_says_how(
        self, keyring: Keyring, is_backup_eligible: bool, is_user_verified: bool, amr: list[str]
    ) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered(is_backup_eligible=is_backup_eligible)
        authenticator.is_user_verified = is_user_verified

        answer = await keyring.sign_in(authenticator)

        assert claims_of(answer.json["access_token"])["amr"] == amr

    async def test_a_user_verified_passkey_satisfies_mfa_and_another_does_not(
        self, keyring: Keyring, door: Door
    ) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()
        door.connection.execute("UPDATE users SET mfa_enabled_at = created_at")

        verified = await keyring.sign_in(authenticator)
        authenticator.is_user_verified = False
        touched = await keyring.sign_in(authenticator)

        assert "mfa_required" not in verified.json
        assert set(touched.json) == {"access_token", "refresh_token", "expires_in", "mfa_required", "preauth_token"}
        assert touched.json["mfa_required"] is True

    async def test_an_organization_that_asks_for_mfa_takes_a_user_verified_passkey(
        self, keyring: Keyring, door: Door
    ) -> None:
        await keyring.arrive()
        user_id = door.value("SELECT id FROM users")
        door.member(door.organization(mfa_required=True), user_id)
        authenticator = await keyring.registered()

        verified = await keyring.sign_in(authenticator, org_slug="acme")
        authenticator.is_user_verified = False
        touched = await keyring.sign_in(authenticator, org_slug="acme")

        assert (verified.status, claims_of(verified.json["access_token"])["org"]) == (200, "acme")
        assert_refused(touched, 403, "FORBIDDEN")

    async def test_it_signs_in_to_a_service(self, keyring: Keyring, door: Door) -> None:
        await keyring.arrive()
        client_id = door.service(door.organization())
        authenticator = await keyring.registered()

        answer = await keyring.sign_in(authenticator, None, org_slug="acme", service_slug="shop")

        claims = claims_of(answer.json["access_token"])
        assert (claims["aud"], claims["service"]) == (str(client_id), "shop")

    async def test_who_wants_to_where_they_do_not_belong_is_refused_like_at_login(
        self, keyring: Keyring, door: Door
    ) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()
        door.organization()

        assert_refused(await keyring.start(org_slug="nowhere"), 404, "NOT_FOUND")
        assert_refused(await keyring.start(service_slug="shop"), 400, "BAD_REQUEST")
        assert_refused(await keyring.sign_in(authenticator, org_slug="nowhere"), 404, "NOT_FOUND")
        assert_refused(await keyring.sign_in(authenticator, org_slug="acme"), 403, "FORBIDDEN")

    async def test_an_authenticator_may_keep_to_itself_whose_key_it_is_when_it_was_told(self, keyring: Keyring) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()
        for silence in (None, b""):
            authenticator.user_handle = silence

            assert (await keyring.sign_in(authenticator)).status == 200
            assert_not_accepted(await keyring.sign_in(authenticator, None))


class TestRefusals:
    """With a wrong one: one answer for all of them."""

    @pytest.mark.parametrize("email", [EMAIL, None])
    @pytest.mark.parametrize(
        "wrong",
        [
            {"origin": "https://evil.example"},
            {"rp_id": "evil.example"},
            {"is_user_present": False},
            {"cross_origin": True},
            {"user_handle": b"\x01" * 16},
            {"credential_id": b"unknown"},
            {"key": Authenticator().key},
        ],
    )
    async def test_what_is_wrong_is_refused_and_right_it_goes_on(
        self, keyring: Keyring, wrong: dict[str, Any], email: str | None
    ) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()

        assert_not_accepted(await keyring.sign_in(replace(authenticator, **wrong), email))
        assert (await keyring.sign_in(authenticator, email)).status == 200

    async def test_an_altered_signature_is_refused(self, keyring: Keyring) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()
        asked = await keyring.started()
        credential = authenticator.get(asked["options"])
        signature = bytearray(decoded(credential["response"]["signature"]))
        signature[-1] ^= 1
        credential["response"]["signature"] = encoded(bytes(signature))

        assert_not_accepted(await keyring.finish(asked, credential))

    async def test_the_user_verified_flag_cannot_be_added(self, keyring: Keyring) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered(is_user_verified=False)
        asked = await keyring.started()
        credential = authenticator.get(asked["options"])
        data = bytearray(decoded(credential["response"]["authenticatorData"]))
        data[32] |= 0x04
        credential["response"]["authenticatorData"] = encoded(bytes(data))

        assert_not_accepted(await keyring.finish(asked, credential))

    async def test_an_answer_to_another_challenge_is_refused(self, keyring: Keyring) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()
        first, second = await keyring.started(), await keyring.started()

        assert_not_accepted(await keyring.finish(first, authenticator.get(second["options"])))

    async def test_an_answer_is_good_once(self, keyring: Keyring) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered(counts=False)
        asked = await keyring.started()
        credential = authenticator.get(asked["options"])

        assert (await keyring.finish(asked, credential)).status == 200
        assert_not_accepted(await keyring.finish(asked, credential))

    async def test_a_wrong_answer_spends_the_challenge(self, keyring: Keyring) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()
        asked = await keyring.started()

        assert_not_accepted(await keyring.finish(asked, replace(authenticator, origin="x").get(asked["options"])))
        assert_not_accepted(await keyring.finish(asked, authenticator.get(asked["options"])))

    async def test_a_challenge_is_good_for_five_minutes(self, keyring: Keyring, clock: SettableClock) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()
        early, late = await keyring.started(), await keyring.started()

        clock.advance(timedelta(minutes=5) - timedelta(seconds=1))
        assert (await keyring.finish(early, authenticator.get(early["options"]))).status == 200
        clock.advance(timedelta(seconds=1))
        assert_not_accepted(await keyring.finish(late, authenticator.get(late["options"])))

    async def test_a_challenge_of_a_registration_signs_nobody_in(self, keyring: Keyring) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()
        asked = await keyring.start_registration()

        assert_not_accepted(await keyring.finish(asked, authenticator.get(asked["options"])))

    @pytest.mark.parametrize("asked_for", [OTHER, "passwordonly@example.com", "nobody@example.com", ""])
    async def test_a_challenge_for_an_address_is_for_nobody_else(
        self, keyring: Keyring, door: Door, asked_for: str
    ) -> None:
        door.account("passwordonly@example.com")
        await keyring.arrive(OTHER)
        await keyring.registered()
        await keyring.arrive()
        authenticator = await keyring.registered()

        assert_not_accepted(await keyring.sign_in(authenticator, asked_for))

    async def test_an_unknown_challenge_is_refused(self, keyring: Keyring) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()
        asked = await keyring.started()

        answer = await keyring.finish({"challenge_id": str(uuid4())}, authenticator.get(asked["options"]))

        assert_not_accepted(answer)

    @pytest.mark.parametrize("change", ["deactivated_at = created_at", "email_verified_at = NULL"])
    async def test_whoever_may_not_sign_in_is_refused_in_the_same_words(
        self, keyring: Keyring, door: Door, change: str
    ) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()
        door.connection.execute(f"UPDATE users SET {change}".encode())

        assert_not_accepted(await keyring.sign_in(authenticator))

    async def test_a_refusal_is_remembered(self, keyring: Keyring, door: Door) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()

        await keyring.sign_in(replace(authenticator, key=Authenticator().key))

        [[_, email, data]] = door.events("user.login.failed")
        assert (email, data) == (EMAIL, {"provider": "passkey", "reason": "wrong_passkey"})
        assert door.rows("SELECT provider FROM login_events WHERE NOT success") == [("passkey",)]
        assert 'sso_login_failures_total{reason="invalid_credentials"} 1.0' in (
            keyring.installation.metrics.exposition().decode()
        )

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("challenge_id", 7),
            ("credential", None),
            ("credential.id", "%"),
            ("credential.type", None),
            ("credential.response.clientDataJSON", None),
            ("credential.response.authenticatorData", "a"),
            ("credential.response.signature", "_-+"),
            ("credential.response.userHandle", "!"),
            ("org_slug", 7),
        ],
    )
    async def test_what_is_malformed_is_refused_by_name(self, keyring: Keyring, field: str, value: Any) -> None:
        asked = await keyring.started(None)
        body: dict[str, Any] = {
            "challenge_id": asked["challenge_id"],
            "credential": Authenticator().get(asked["options"]),
        }
        *path, name = field.split(".")
        inside = body
        for step in path:
            inside = inside[step]
        inside[name] = value

        answer = await keyring.client.post("/api/auth/passkeys/authenticate/finish", body=body)

        assert_refused(answer, 400, "BAD_REQUEST")
        assert answer.json["details"][0]["field"] == field

    async def test_too_many_tries_from_one_address_have_to_wait(self, keyring: Keyring) -> None:
        statuses: list[int] = []
        for _ in range(11):
            asked = await keyring.started(None)
            body = {"challenge_id": asked["challenge_id"], "credential": Authenticator().get(asked["options"])}
            statuses.append((await keyring.client.post("/api/auth/passkeys/authenticate/finish", body=body)).status)

        assert statuses == [401] * 10 + [429]


class TestCounting:
    """What an authenticator says about how often it was used."""

    async def test_one_that_counts_backwards_or_stands_still_is_refused_and_written_down(
        self, keyring: Keyring, door: Door
    ) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()
        authenticator.sign_count = 41
        assert (await keyring.sign_in(authenticator)).status == 200

        for sign_count in (41, 0):
            authenticator.sign_count = sign_count
            assert_not_accepted(await keyring.sign_in(authenticator))

        passkey_id = str(door.value("SELECT id FROM passkeys"))
        assert keyring.security_log()[1:] == [
            ("passkey_sign_count_regressed", False, {"passkey_id": passkey_id, "expected_over": 42, "given": given})
            for given in (42, 1)
        ]
        assert [data["reason"] for _, _, data in door.events("user.login.failed")] == ["sign_count_regressed"] * 2

    async def test_one_that_stops_counting_is_refused(self, keyring: Keyring) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()
        authenticator.counts, authenticator.sign_count = False, 0

        assert_not_accepted(await keyring.sign_in(authenticator))

    async def test_one_that_never_counts_is_taken(self, keyring: Keyring) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered(counts=False)

        assert [(await keyring.sign_in(authenticator)).status for _ in range(2)] == [200, 200]


class TestRaces:
    """Of any two at once one wins."""

    async def test_of_two_answers_to_one_challenge(self, keyring: Keyring, door: Door) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered(counts=False)
        for number in range(ROUNDS):
            asked = await keyring.started(EMAIL if number % 2 else None)
            credential, statuses = authenticator.get(asked["options"]), list[int]()

            async def finish(asked: dict[str, Any], credential: Any, statuses: list[int]) -> None:
                statuses.append((await keyring.finish(asked, credential)).status)

            async with trio.open_nursery() as nursery:
                for _ in range(2):
                    nursery.start_soon(finish, asked, credential, statuses)

            assert sorted(statuses) == [200, 401]

    async def test_of_two_copies_that_count_alike(self, keyring: Keyring) -> None:
        await keyring.arrive()
        authenticator = await keyring.registered()
        for _ in range(ROUNDS):
            copies, statuses = [authenticator, replace(authenticator)], list[int]()
            both = [await keyring.started() for _ in copies]

            async def finish(copy: Authenticator, asked: dict[str, Any], statuses: list[int]) -> None:
                statuses.append((await keyring.finish(asked, copy.get(asked["options"]))).status)

            async with trio.open_nursery() as nursery:
                for copy, asked in zip(copies, both, strict=True):
                    nursery.start_soon(finish, copy, asked, statuses)

            assert sorted(statuses) == [200, 401]

    async def test_a_passkey_that_is_removed_at_this_moment_signs_in_before_or_not_at_all(
        self, keyring: Keyring
    ) -> None:
        await keyring.arrive()
        for _ in range(ROUNDS):
            authenticator = Authenticator()
            passkey_id = (await keyring.register(authenticator)).json["id"]
            asked, statuses = await keyring.started(), dict[str, int]()
            credential = authenticator.get(asked["options"])

            async def finish(asked: dict[str, Any], credential: Any, statuses: dict[str, int]) -> None:
                statuses["sign in"] = (await keyring.finish(asked, credential)).status

            async def remove(passkey_id: str, statuses: dict[str, int]) -> None:
                statuses["remove"] = (await keyring.ask("DELETE", f"/{passkey_id}")).status

            async with trio.open_nursery() as nursery:
                nursery.start_soon(finish, asked, credential, statuses)
                nursery.start_soon(remove, passkey_id, statuses)

            assert statuses["remove"] == 204
            assert statuses["sign in"] in {200, 401}
            assert_not_accepted(await keyring.sign_in(authenticator, None))


class TestStrangers:
    """Nothing tells whoever asks who exists."""

    async def test_an_address_that_nobody_has_gets_a_plausible_challenge(self, keyring: Keyring) -> None:
        await keyring.arrive()
        await keyring.registered(transports=["hybrid", "internal"])

        known, unknown = await keyring.start(), await keyring.start("nobody@example.com")

        assert set(known.json) == set(unknown.json)
        assert set(known.json["options"]) == set(unknown.json["options"])
        assert len(known.json["options"]["challenge"]) == len(unknown.json["options"]["challenge"])
        [credential, *_] = unknown.json["options"]["allowCredentials"]
        assert set(credential) == {"id", "type", "transports"}
        assert len(known.content) - len(unknown.content) < 200

    @pytest.mark.parametrize("email", ["nobody@example.com", "passwordonly@example.com", "no address", "", "x" * 9999])
    async def test_asking_twice_looks_the_same(self, keyring: Keyring, door: Door, email: str) -> None:
        door.account("passwordonly@example.com")

        first, second = await keyring.started(email), await keyring.started(f" {email.upper()}")

        assert first["options"]["allowCredentials"] == second["options"]["allowCredentials"] != []
        assert first["options"]["challenge"] != second["options"]["challenge"]

    async def test_another_house_makes_up_others(self, keyring: Keyring, door: Door) -> None:
        one = await keyring.started("nobody@example.com")
        database: Any = keyring.installation.database
        database.tools.pepper.load(b"\x07" * 32)

        other = await keyring.started("nobody@example.com")

        assert one["options"]["allowCredentials"] != other["options"]["allowCredentials"]

    async def test_a_made_up_passkey_cannot_be_told_by_registering_it(self, keyring: Keyring) -> None:
        await keyring.arrive(OTHER)
        real = await keyring.registered()
        await keyring.arrive()
        [made_up, *_] = (await keyring.started("nobody@example.com"))["options"]["allowCredentials"]

        answers = [
            await keyring.register(Authenticator(credential_id=credential_id))
            for credential_id in (real.credential_id, decoded(made_up["id"]))
        ]

        for answer in answers:
            assert_refused(answer, 409, "CONFLICT")
        assert answers[0].json["error"] == answers[1].json["error"]
        assert (await keyring.ask("GET")).json["total"] == 0

    async def test_asking_takes_the_same_statements(self, keyring: Keyring, door: Door) -> None:
        door.account("passwordonly@example.com")
        door.account("gone@example.com", is_active=False)
        await keyring.arrive()
        await keyring.registered()
        taken: dict[str, list[str]] = {}
        for email in (EMAIL, "passwordonly@example.com", "gone@example.com", "nobody@example.com", "no address"):
            with recorded_statements() as statements:
                await keyring.start(email)
            taken[email] = statements

        for statements in taken.values():
            assert statements == taken[EMAIL]
        # Nor does a row belong to an account, whose key would be looked up.
        assert door.rows("SELECT DISTINCT user_id FROM passkey_challenges WHERE purpose = 'authenticate'") == [(None,)]

    async def test_being_refused_takes_the_same_statements(self, keyring: Keyring, door: Door) -> None:
        await keyring.arrive()
        door.member(door.organization(), door.value("SELECT id FROM users"))
        real = await keyring.registered()
        forged = {
            "real": replace(real, key=Authenticator().key),
            "made up": Authenticator(
                credential_id=decoded(
                    (await keyring.started("nobody@example.com"))["options"]["allowCredentials"][0]["id"]
                )
            ),
            "unknown": Authenticator(),
        }
        taken: dict[str, list[str]] = {}
        for name, authenticator in forged.items():
            for email in (EMAIL, "nobody@example.com"):
                asked = await keyring.started(email)
                with recorded_statements() as statements:
                    assert_not_accepted(await keyring.finish(asked, authenticator.get(asked["options"])))
                taken[f"{name}, asked for {email}"] = statements

        assert len(taken[f"real, asked for {EMAIL}"]) >= 5
        for name, statements in taken.items():
            assert statements == taken[f"real, asked for {EMAIL}"], name
