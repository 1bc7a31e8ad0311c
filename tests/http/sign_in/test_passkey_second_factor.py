"""A sign-in that is finished with a passkey: what it signs belongs to one sign-in, counts once, and is limited."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from entrypoints.settings import Settings
from tests.application import Answer
from tests.authenticators import Authenticator
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.world.passkeys import Keyring
from tests.world.second_factors import Person, insert_person
from tests.world.signing_in import claims_of
from tests.world.world import World, assert_refused

OTHER = "bob@example.com"
START = "/api/auth/mfa/passkey"


@pytest.fixture
async def ada(world: World, keyring: Keyring) -> Person:
    """A user who is signed in, as the owner of the key ring."""
    person = insert_person(world)
    await person.sign_in()
    keyring.token = person.token
    return person


async def factor_of(keyring: Keyring, **traits: Any) -> tuple[Authenticator, str]:
    """Return an authenticator whose passkey is a second factor, and the id of the passkey."""
    authenticator = Authenticator(**traits)
    passkey_id = (await keyring.register(authenticator)).json["id"]
    answer = await keyring.ask("PATCH", f"/{passkey_id}", {"second_factor": True})
    assert answer.status == 200, answer.text
    return authenticator, passkey_id


async def asked(person: Person, preauth_token: str) -> dict[str, Any]:
    """Return the options for a passkey that finishes a sign-in."""
    answer = await person.ask_passkey(preauth_token)
    assert answer.status == 200, answer.text
    assert set(answer.json) == {"options"}
    return answer.json["options"]


def assert_wrong(answer: Answer) -> None:
    """Assert that a passkey was not accepted."""
    assert_refused(answer, 401, "UNAUTHORIZED")
    assert answer.json["error"].startswith("This passkey was not accepted.")


@pytest.mark.parametrize(("is_backup_eligible", "method"), [(False, "hwk"), (True, "swk")])
async def test_a_passkey_finishes_a_sign_in(
    ada: Person, keyring: Keyring, is_backup_eligible: bool, method: str
) -> None:
    # Neither it nor its authenticator has to know a PIN: the password was the other factor.
    passkey, _ = await factor_of(keyring, is_user_verified=False, is_backup_eligible=is_backup_eligible)

    answer = await ada.verify_with(passkey)

    assert (answer.status, answer.json["method"]) == (200, "passkey")
    assert claims_of(answer.json["access_token"])["amr"] == ["pwd", method, "user", "mfa"]


async def test_the_options_name_the_factors_alone(ada: Person, keyring: Keyring) -> None:
    passkey, _ = await factor_of(keyring)
    await keyring.registered()

    options = await asked(ada, await ada.preauth_token())

    assert len(options["allowCredentials"]) == 1
    assert options["hints"] == ["client-device"]
    assert (await ada.answer(await ada.preauth_token(), passkey.get(options))).status == 401


async def test_only_who_has_one_is_asked_for_one(ada: Person, keyring: Keyring) -> None:
    await keyring.registered()
    await ada.turn_mfa_on()

    assert_refused(await ada.ask_passkey(await ada.preauth_token()), 400, "BAD_REQUEST")
    assert_refused(await ada.world.client.post(START, body={}), 401, "UNAUTHORIZED")


async def test_a_passkey_that_has_begun_the_sign_in_does_not_finish_it(ada: Person, keyring: Keyring) -> None:
    passkey, _ = await factor_of(keyring, is_user_verified=False)

    begun = await keyring.sign_in(passkey)

    assert begun.json["mfa_required"] is True
    assert_refused(await ada.ask_passkey(begun.json["preauth_token"]), 400, "BAD_REQUEST")


async def test_an_answer_is_for_one_sign_in_and_once(ada: Person, keyring: Keyring) -> None:
    passkey, _ = await factor_of(keyring)
    one, other = await ada.preauth_token(), await ada.preauth_token()
    signed = passkey.get(await asked(ada, one))
    await asked(ada, other)

    assert_wrong(await ada.answer(other, signed))
    assert (await ada.answer(one, signed)).status == 200
    assert_refused(await ada.answer(one, signed), 401, "UNAUTHORIZED")


async def test_a_wrong_answer_uses_up_what_was_to_be_signed(ada: Person, keyring: Keyring) -> None:
    passkey, _ = await factor_of(keyring)
    token = await ada.preauth_token()
    options = await asked(ada, token)
    damaged = passkey.get(options)
    damaged["response"]["signature"] = damaged["response"]["clientDataJSON"]

    assert_wrong(await ada.answer(token, damaged))
    assert_wrong(await ada.answer(token, passkey.get(options)))
    assert (await ada.answer(token, passkey.get(await asked(ada, token)))).status == 200


async def test_asking_again_replaces_what_was_to_be_signed(ada: Person, keyring: Keyring) -> None:
    passkey, _ = await factor_of(keyring)
    token = await ada.preauth_token()
    earlier = passkey.get(await asked(ada, token))
    await asked(ada, token)

    assert_wrong(await ada.answer(token, earlier))


async def test_nothing_was_asked(ada: Person, keyring: Keyring) -> None:
    passkey, _ = await factor_of(keyring)
    other = await asked(ada, await ada.preauth_token())

    assert_wrong(await ada.answer(await ada.preauth_token(), passkey.get(other)))


async def test_an_answer_comes_within_five_minutes(ada: Person, keyring: Keyring, clock: SettableClock) -> None:
    passkey, _ = await factor_of(keyring)
    token = await ada.preauth_token()
    signed = passkey.get(await asked(ada, token))

    clock.advance(timedelta(minutes=5))

    assert_wrong(await ada.answer(token, signed))


async def test_a_passkey_of_another_account_or_no_factor_finishes_nothing(
    world: World, ada: Person, keyring: Keyring
) -> None:
    await factor_of(keyring)
    plain = await keyring.registered()
    bob = insert_person(world, OTHER)
    await bob.sign_in()
    keyring.token = bob.token
    strange, _ = await factor_of(keyring)

    for passkey in (plain, strange, Authenticator()):
        token = await ada.preauth_token()
        assert_wrong(await ada.answer(token, passkey.get(await asked(ada, token))))


async def test_a_counter_that_does_not_increase_is_refused_and_recorded(ada: Person, keyring: Keyring) -> None:
    passkey, _ = await factor_of(keyring)
    assert (await ada.verify_with(passkey)).status == 200
    passkey.sign_count -= 1

    assert_wrong(await ada.verify_with(passkey))

    assert keyring.security_log()[-1][0] == "passkey_sign_count_regressed"


@pytest.mark.parametrize("change", ["removed", "no factor"])
async def test_a_passkey_that_is_gone_meanwhile_finishes_nothing(ada: Person, keyring: Keyring, change: str) -> None:
    await factor_of(keyring)
    passkey, passkey_id = await factor_of(keyring)
    token = await ada.preauth_token()
    signed = passkey.get(await asked(ada, token))

    if change == "removed":
        await keyring.ask("DELETE", f"/{passkey_id}")
    else:
        await keyring.ask("PATCH", f"/{passkey_id}", {"second_factor": False})

    assert_refused(await ada.answer(token, signed), 401, "UNAUTHORIZED")


async def test_five_wrong_answers_of_either_kind_end_a_sign_in(ada: Person, keyring: Keyring) -> None:
    passkey, _ = await factor_of(keyring)
    await ada.set_up()
    await ada.mfa("POST", "/verify", {"code": ada.code()})
    token = await ada.preauth_token()
    for _ in range(2):
        assert_wrong(await ada.answer(token, Authenticator().get(await asked(ada, token))))
        assert_refused(await ada.verify(token, ada.wrong_code()), 401, "UNAUTHORIZED")

    last = await ada.answer(token, Authenticator().get(await asked(ada, token)))

    assert last.json["error"].endswith("too many wrong answers. Sign in again.")
    assert_refused(await ada.ask_passkey(token), 401, "UNAUTHORIZED")
    assert_refused(await ada.verify(token, ada.code()), 401, "UNAUTHORIZED")
    assert (await ada.verify_with(passkey)).status == 200


class TestRateLimit:
    """Wrong passkeys count as failed sign-ins for the address, as wrong codes do."""

    @pytest.fixture
    def settings(self) -> Settings:
        """Settings with rate limits; the test changes the address, so that no other limit refuses it."""
        return Settings(dev=True)

    async def test_ten_wrong_answers_from_one_network_block_that_network(
        self, world: World, ada: Person, keyring: Keyring
    ) -> None:
        await factor_of(keyring)
        addresses = (f"192.0.2.{number}" for number in count(1))
        tokens: list[str] = []
        for _ in range(3):
            ada.address = next(addresses)
            tokens.append(await ada.preauth_token())
        for number in range(10):
            ada.address = next(addresses)
            options = await asked(ada, tokens[number // 4])
            assert_wrong(await ada.answer(tokens[number // 4], Authenticator().get(options)))
        ada.address = next(addresses)

        assert_refused(await ada.log_in(), 429, "RATE_LIMIT_EXCEEDED")
        assert world.value("SELECT count(*) FROM sign_in_failures") == 10


async def test_of_two_equal_answers_at_once_one_signs_in(ada: Person, keyring: Keyring) -> None:
    passkey, _ = await factor_of(keyring, counts=False)
    token = await ada.preauth_token()
    signed = passkey.get(await asked(ada, token))

    answers = await at_once(*[lambda: ada.answer(token, signed)] * 2)

    assert statuses_of(answers) == [200, 401]


async def test_the_code_of_an_app_that_is_not_set_up_is_wrong(ada: Person, keyring: Keyring) -> None:
    await factor_of(keyring)
    await ada.set_up()

    assert_refused(await ada.verify(await ada.preauth_token(), ada.code()), 401, "UNAUTHORIZED")


async def test_a_code_or_a_passkey_but_not_both(ada: Person, keyring: Keyring) -> None:
    passkey, _ = await factor_of(keyring)
    token = await ada.preauth_token()
    signed = passkey.get(await asked(ada, token))

    assert_refused(await ada.answer(token, signed, code="123456"), 400, "BAD_REQUEST")
    assert_refused(await ada.answer(token, None), 400, "BAD_REQUEST")


async def test_a_device_that_a_passkey_has_trusted_is_not_asked_again(ada: Person, keyring: Keyring) -> None:
    passkey, _ = await factor_of(keyring)
    token = await ada.preauth_token()
    trusted = await ada.answer(token, passkey.get(await asked(ada, token)), trust_device=True)

    answer = await ada.log_in(headers={"X-Device-Token": trusted.json["device_token"]})

    assert claims_of(answer.json["access_token"])["amr"] == ["pwd", "trusted"]


async def test_an_organization_that_requires_a_second_factor_takes_it(ada: Person, keyring: Keyring) -> None:
    ada.join_organization(mfa_required=True)
    passkey, _ = await factor_of(keyring, is_user_verified=False)

    answer = await ada.verify_with(passkey, org_slug="engines")

    assert claims_of(answer.json["access_token"])["org"]
