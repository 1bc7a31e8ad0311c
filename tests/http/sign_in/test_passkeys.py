"""Signing in with a passkey."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from entrypoints.settings import Settings
from tests.authenticators import Authenticator, decoded, encoded
from tests.clock import SettableClock
from tests.http.sign_in.passkeys import assert_not_accepted
from tests.world.builder import EMAIL
from tests.world.passkeys import Keyring
from tests.world.signing_in import claims_of
from tests.world.world import World, assert_refused

OTHER = "grace@example.com"


@pytest.fixture
def settings() -> Settings:
    """Settings with rate limits, because failed sign-ins are counted only with them."""
    return Settings(dev=True)


class TestSigningIn:
    """Signing in with a valid passkey."""

    async def test_a_passkey_signs_in_with_or_without_an_address(
        self, keyring: Keyring, subtests: pytest.Subtests
    ) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()

        for email in (EMAIL, f"  {EMAIL.upper()} ", None):
            with subtests.test(email=email):
                answer = await keyring.sign_in(authenticator, email)

                assert answer.status == 200, answer.text
                assert set(answer.json) == {"access_token", "refresh_token", "expires_in", "token_type", "device_token"}
                assert "gatehouse_device=" in answer.headers["Set-Cookie"]
                assert claims_of(answer.json["access_token"])["email"] == EMAIL
                assert (await keyring.ask("GET", token=answer.json["access_token"])).status == 200

    async def test_the_options_name_the_passkeys_of_the_address(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        registered = [await keyring.registered(transports=["hybrid", "internal"]) for _ in range(2)]

        options = (await keyring.started())["options"]

        assert options["allowCredentials"] == [
            {"id": encoded(passkey.credential_id), "type": "public-key", "transports": ["hybrid", "internal"]}
            for passkey in registered
        ]
        assert (options["rpId"], options["userVerification"]) == ("localhost", "preferred")

    async def test_the_options_without_an_address_name_no_passkey(self, keyring: Keyring) -> None:
        assert (await keyring.started(None))["options"]["allowCredentials"] == []

    async def test_a_sign_in_updates_the_last_use_of_the_passkey(self, keyring: Keyring, clock: SettableClock) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()
        clock.advance(timedelta(hours=1))

        answer = await keyring.sign_in(authenticator)

        [passkey] = (await keyring.ask("GET", token=answer.json["access_token"])).json["passkeys"]
        assert passkey["last_used_at"] == clock.now.isoformat().replace("+00:00", "Z")

    async def test_the_event_and_the_session_name_the_passkey_as_provider(self, keyring: Keyring, world: World) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()

        await keyring.sign_in(authenticator)

        assert world.events("user.login.success")[-1][2]["provider"] == "passkey"
        assert world.value("SELECT provider FROM sessions ORDER BY id DESC LIMIT 1") == "passkey"
        assert world.value("SELECT provider FROM login_events WHERE success ORDER BY id DESC LIMIT 1") == "passkey"

    @pytest.mark.parametrize(
        ("is_backup_eligible", "is_user_verified", "amr"),
        [
            (False, True, ["hwk", "user", "mfa"]),
            (True, True, ["swk", "user", "mfa"]),
            (False, False, ["hwk", "user"]),
            (True, False, ["swk", "user"]),
        ],
    )
    async def test_the_token_names_the_authentication_methods(
        self, keyring: Keyring, is_backup_eligible: bool, is_user_verified: bool, amr: list[str]
    ) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered(is_backup_eligible=is_backup_eligible)
        authenticator.is_user_verified = is_user_verified

        answer = await keyring.sign_in(authenticator)

        assert claims_of(answer.json["access_token"])["amr"] == amr

    async def test_a_user_verified_passkey_satisfies_mfa_and_another_does_not(
        self, keyring: Keyring, world: World
    ) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()
        world.connection.execute("UPDATE users SET mfa_enabled_at = created_at")

        verified = await keyring.sign_in(authenticator)
        authenticator.is_user_verified = False
        unverified = await keyring.sign_in(authenticator)

        assert "mfa_required" not in verified.json
        assert set(unverified.json) == {"access_token", "refresh_token", "expires_in", "mfa_required", "preauth_token"}
        assert unverified.json["mfa_required"] is True

    async def test_an_organization_that_requires_mfa_accepts_only_a_user_verified_passkey(
        self, keyring: Keyring, world: World
    ) -> None:
        await keyring.sign_up()
        user_id = world.value("SELECT id FROM users")
        world.member(world.organization(mfa_required=True), user_id)
        authenticator = await keyring.registered()

        verified = await keyring.sign_in(authenticator, org_slug="acme")
        authenticator.is_user_verified = False
        unverified = await keyring.sign_in(authenticator, org_slug="acme")

        assert (verified.status, claims_of(verified.json["access_token"])["org"]) == (200, "acme")
        assert_refused(unverified, 403, "FORBIDDEN")

    async def test_a_passkey_signs_in_to_a_service(self, keyring: Keyring, world: World) -> None:
        await keyring.sign_up()
        client_id = world.service(world.organization()).client_id
        authenticator = await keyring.registered()

        answer = await keyring.sign_in(authenticator, None, org_slug="acme", service_slug="shop")

        claims = claims_of(answer.json["access_token"])
        assert (claims["aud"], claims["service"]) == (str(client_id), "shop")

    async def test_an_unknown_or_forbidden_context_is_refused_like_at_login(
        self, keyring: Keyring, world: World
    ) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()
        world.organization()

        assert_refused(await keyring.start(org_slug="nowhere"), 404, "NOT_FOUND")
        assert_refused(await keyring.start(service_slug="shop"), 400, "BAD_REQUEST")
        assert_refused(await keyring.sign_in(authenticator, org_slug="nowhere"), 404, "NOT_FOUND")
        assert_refused(await keyring.sign_in(authenticator, org_slug="acme"), 403, "FORBIDDEN")

    async def test_the_user_handle_may_be_missing_if_the_address_was_given(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()
        for user_handle in (None, b""):
            authenticator.user_handle = user_handle

            assert (await keyring.sign_in(authenticator)).status == 200
            assert_not_accepted(await keyring.sign_in(authenticator, None))


class TestRefusals:
    """Refused passkeys, which all get the same answer."""

    async def test_an_invalid_answer_is_refused_and_the_passkey_stays_valid(
        self, keyring: Keyring, subtests: pytest.Subtests
    ) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()

        for wrong in (
            {"origin": "https://evil.example"},
            {"rp_id": "evil.example"},
            {"is_user_present": False},
            {"cross_origin": True},
            {"user_handle": b"\x01" * 16},
            {"credential_id": b"unknown"},
            {"key": Authenticator().key},
        ):
            for email in (EMAIL, None):
                with subtests.test(email=email, wrong=wrong):
                    assert_not_accepted(await keyring.sign_in(replace(authenticator, **wrong), email))
                    assert (await keyring.sign_in(authenticator, email)).status == 200

    async def test_an_altered_signature_is_refused(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()
        challenge = await keyring.started()
        credential = authenticator.get(challenge["options"])
        signature = bytearray(decoded(credential["response"]["signature"]))
        signature[-1] ^= 1
        credential["response"]["signature"] = encoded(bytes(signature))

        assert_not_accepted(await keyring.finish(challenge, credential))

    async def test_the_user_verified_flag_cannot_be_added(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered(is_user_verified=False)
        challenge = await keyring.started()
        credential = authenticator.get(challenge["options"])
        data = bytearray(decoded(credential["response"]["authenticatorData"]))
        data[32] |= 0x04
        credential["response"]["authenticatorData"] = encoded(bytes(data))

        assert_not_accepted(await keyring.finish(challenge, credential))

    async def test_an_answer_to_another_challenge_is_refused(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()
        first, second = await keyring.started(), await keyring.started()

        assert_not_accepted(await keyring.finish(first, authenticator.get(second["options"])))

    async def test_an_answer_works_once(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered(counts=False)
        challenge = await keyring.started()
        credential = authenticator.get(challenge["options"])

        assert (await keyring.finish(challenge, credential)).status == 200
        assert_not_accepted(await keyring.finish(challenge, credential))

    async def test_a_refused_answer_uses_up_the_challenge(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()
        challenge = await keyring.started()

        assert_not_accepted(
            await keyring.finish(challenge, replace(authenticator, origin="x").get(challenge["options"]))
        )
        assert_not_accepted(await keyring.finish(challenge, authenticator.get(challenge["options"])))

    async def test_a_challenge_is_valid_for_five_minutes(self, keyring: Keyring, clock: SettableClock) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()
        early, late = await keyring.started(), await keyring.started()

        clock.advance(timedelta(minutes=5) - timedelta(seconds=1))
        assert (await keyring.finish(early, authenticator.get(early["options"]))).status == 200
        clock.advance(timedelta(seconds=1))
        assert_not_accepted(await keyring.finish(late, authenticator.get(late["options"])))

    async def test_a_challenge_of_a_registration_is_refused(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()
        challenge = await keyring.start_registration()

        assert_not_accepted(await keyring.finish(challenge, authenticator.get(challenge["options"])))

    async def test_a_challenge_for_another_address_is_refused(
        self, keyring: Keyring, world: World, subtests: pytest.Subtests
    ) -> None:
        world.user("passwordonly@example.com")
        await keyring.sign_up(OTHER)
        await keyring.registered()
        await keyring.sign_up()
        authenticator = await keyring.registered()

        for other_email in (OTHER, "passwordonly@example.com", "nobody@example.com", ""):
            with subtests.test(other_email=other_email):
                assert_not_accepted(await keyring.sign_in(authenticator, other_email))

    async def test_an_unknown_challenge_is_refused(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()
        challenge = await keyring.started()

        answer = await keyring.finish({"challenge_id": str(uuid4())}, authenticator.get(challenge["options"]))

        assert_not_accepted(answer)

    @pytest.mark.parametrize("change", ["deactivated_at = created_at", "email_verified_at = NULL"])
    async def test_deactivated_and_unverified_users_get_the_same_refusal(
        self, keyring: Keyring, world: World, change: str
    ) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()
        world.connection.execute(f"UPDATE users SET {change}".encode())

        assert_not_accepted(await keyring.sign_in(authenticator))

    async def test_a_refusal_is_recorded(self, keyring: Keyring, world: World) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()

        await keyring.sign_in(replace(authenticator, key=Authenticator().key))

        [[_, email, data]] = world.events("user.login.failed")
        assert (email, data) == (EMAIL, {"provider": "passkey", "reason": "wrong_passkey"})
        assert world.rows("SELECT provider FROM login_events WHERE NOT success") == [("passkey",)]
        assert 'sso_login_failures_total{reason="invalid_credentials"} 1.0' in (
            keyring.world.installation.metrics.exposition().decode()
        )

    async def test_a_malformed_field_is_named_in_the_refusal(self, keyring: Keyring, subtests: pytest.Subtests) -> None:
        challenge = await keyring.started(None)

        for field, value in (
            ("challenge_id", 7),
            ("credential", None),
            ("credential.id", "%"),
            ("credential.type", None),
            ("credential.response.clientDataJSON", None),
            ("credential.response.authenticatorData", "a"),
            ("credential.response.signature", "_-+"),
            ("credential.response.userHandle", "!"),
            ("org_slug", 7),
        ):
            with subtests.test(field=field, value=value):
                body: dict[str, Any] = {
                    "challenge_id": challenge["challenge_id"],
                    "credential": Authenticator().get(challenge["options"]),
                }
                *path, name = field.split(".")
                parent = body
                for step in path:
                    parent = parent[step]
                parent[name] = value

                answer = await keyring.client.post("/api/auth/passkeys/authenticate/finish", body=body)

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.json["details"][0]["field"] == field

    async def test_too_many_attempts_from_one_address_are_rate_limited(self, keyring: Keyring) -> None:
        statuses: list[int] = []
        for _ in range(11):
            challenge = await keyring.started(None)
            body = {"challenge_id": challenge["challenge_id"], "credential": Authenticator().get(challenge["options"])}
            statuses.append((await keyring.client.post("/api/auth/passkeys/authenticate/finish", body=body)).status)

        assert statuses == [401] * 10 + [429]
