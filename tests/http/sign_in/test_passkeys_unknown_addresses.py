"""Sign-ins with passkeys do not show which addresses have an account."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.authenticators import Authenticator, decoded
from tests.http.sign_in.passkeys import assert_not_accepted
from tests.statements import alike, recorded_statements
from tests.world.builder import EMAIL
from tests.world.passkeys import Keyring
from tests.world.world import World, assert_refused

OTHER = "grace@example.com"


class TestUnknownAddresses:
    """Neither answers nor statements reveal which accounts exist."""

    async def test_an_address_without_an_account_gets_a_plausible_challenge(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        await keyring.registered(transports=["hybrid", "internal"])

        known, unknown = await keyring.start(), await keyring.start("nobody@example.com")

        assert set(known.json) == set(unknown.json)
        assert set(known.json["options"]) == set(unknown.json["options"])
        assert len(known.json["options"]["challenge"]) == len(unknown.json["options"]["challenge"])
        [credential, *_] = unknown.json["options"]["allowCredentials"]
        assert set(credential) == {"id", "type", "transports"}
        assert len(known.content) - len(unknown.content) < 200

    async def test_repeated_challenges_name_the_same_decoy_credentials(
        self, keyring: Keyring, world: World, subtests: pytest.Subtests
    ) -> None:
        world.user("passwordonly@example.com")

        for email in ("nobody@example.com", "passwordonly@example.com", "no address", "", "x" * 9999):
            with subtests.test(email=email):
                first, second = await keyring.started(email), await keyring.started(f" {email.upper()}")

                assert first["options"]["allowCredentials"] == second["options"]["allowCredentials"] != []
                assert first["options"]["challenge"] != second["options"]["challenge"]

    async def test_another_installation_makes_other_decoy_credentials(self, keyring: Keyring, world: World) -> None:
        one = await keyring.started("nobody@example.com")
        database: Any = keyring.world.installation.database
        database.tools.pepper.load(b"\x07" * 32)

        other = await keyring.started("nobody@example.com")

        assert one["options"]["allowCredentials"] != other["options"]["allowCredentials"]

    async def test_registering_a_decoy_credential_does_not_reveal_it(self, keyring: Keyring) -> None:
        await keyring.sign_up(OTHER)
        real = await keyring.registered()
        await keyring.sign_up()
        [decoy, *_] = (await keyring.started("nobody@example.com"))["options"]["allowCredentials"]

        answers = [
            await keyring.register(Authenticator(credential_id=credential_id))
            for credential_id in (real.credential_id, decoded(decoy["id"]))
        ]

        for answer in answers:
            assert_refused(answer, 409, "CONFLICT")
        assert answers[0].json["error"] == answers[1].json["error"]
        assert (await keyring.ask("GET")).json["total"] == 0

    async def test_starting_takes_the_same_statements_for_every_address(self, keyring: Keyring, world: World) -> None:
        world.user("passwordonly@example.com")
        world.user("gone@example.com", is_active=False)
        await keyring.sign_up()
        await keyring.registered()
        executed: dict[str, list[str]] = {}
        for email in (EMAIL, "passwordonly@example.com", "gone@example.com", "nobody@example.com", "no address"):
            with recorded_statements() as statements:
                await keyring.start(email)
            executed[email] = statements

        for statements in executed.values():
            assert statements == executed[EMAIL]
        # Challenges do not name an account either, so no foreign key is checked.
        assert world.rows("SELECT DISTINCT user_id FROM passkey_challenges WHERE purpose = 'authenticate'") == [(None,)]

    async def test_a_refusal_takes_the_same_statements_for_every_address(self, keyring: Keyring, world: World) -> None:
        await keyring.sign_up()
        world.member(world.organization(), world.value("SELECT id FROM users"))
        real = await keyring.registered()
        forged = {
            "real": replace(real, key=Authenticator().key),
            "decoy": Authenticator(
                credential_id=decoded(
                    (await keyring.started("nobody@example.com"))["options"]["allowCredentials"][0]["id"]
                )
            ),
            "unknown": Authenticator(),
        }
        executed: dict[str, list[str]] = {}
        for name, authenticator in forged.items():
            for email in (EMAIL, "nobody@example.com"):
                challenge = await keyring.started(email)
                with recorded_statements() as statements:
                    assert_not_accepted(await keyring.finish(challenge, authenticator.get(challenge["options"])))
                executed[f"{name}, challenge for {email}"] = alike(statements)

        assert len(executed[f"real, challenge for {EMAIL}"]) >= 5
        for name, statements in executed.items():
            assert statements == executed[f"real, challenge for {EMAIL}"], name
