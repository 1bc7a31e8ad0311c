"""Verifying the second factor at sign-in."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from adapters.postgres.driver.connection import Connection
from core.sessions.tokens import TokenKind
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from tests.application import Answer, Client
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.world.second_factors import Person, insert_person
from tests.world.world import World

RACES = 50


@pytest.fixture
async def ada(world: World) -> Person:
    """A user with a second factor."""
    person = insert_person(world)
    await person.turn_mfa_on()
    return person


def assert_refused(answer: Answer, error_code: str = "UNAUTHORIZED") -> None:
    assert (answer.status, answer.json["error_code"]) == (401, error_code)


async def test_a_right_password_returns_only_a_pre_auth_token(ada: Person) -> None:
    answer = await ada.log_in()

    assert answer.status == 200
    assert answer.json == {
        "access_token": answer.json["preauth_token"],
        "refresh_token": "",
        "expires_in": 600,
        "mfa_required": True,
        "preauth_token": answer.json["preauth_token"],
    }
    assert "Set-Cookie" not in answer.headers


async def test_a_totp_code_completes_the_sign_in(ada: Person, client: Client) -> None:
    answer = await ada.verify(await ada.preauth_token(), ada.code())

    assert answer.status == 200
    assert set(answer.json) == {
        "access_token",
        "refresh_token",
        "expires_in",
        "token_type",
        "device_token",
        "method",
    }
    assert answer.json["method"] == "totp"
    assert (await client.get("/api/user/sessions", token=answer.json["access_token"])).status == 200
    assert answer.json["device_token"] in answer.headers["Set-Cookie"]


async def test_a_backup_code_completes_the_sign_in(ada: Person, client: Client) -> None:
    answer = await ada.verify(await ada.preauth_token(), ada.backup_codes[3])

    assert (answer.status, answer.json["method"]) == (200, "backup_code")
    assert (await client.get("/api/user/sessions", token=answer.json["access_token"])).status == 200


async def test_the_access_token_names_both_factors(ada: Person, installation: Installation) -> None:
    answer = await ada.verify(await ada.preauth_token(), ada.code())

    claims = installation.tokens.verify(answer.json["access_token"], kind=TokenKind.ACCESS, now=installation.clock())
    assert claims["amr"] == ["pwd", "otp", "mfa"]


async def test_the_refresh_token_continues_the_session(ada: Person, client: Client) -> None:
    answer = await ada.verify(await ada.preauth_token(), ada.code())

    refreshed = await client.post("/api/auth/refresh", body={"refresh_token": answer.json["refresh_token"]})

    assert refreshed.status == 200


async def test_the_pre_auth_token_may_be_sent_in_the_body(ada: Person, client: Client) -> None:
    body = {"code": ada.code(), "preauth_token": await ada.preauth_token()}

    answer = await client.post("/api/auth/mfa/verify", body=body)

    assert answer.status == 200


async def test_a_sign_in_to_an_organization_keeps_its_context(
    ada: Person, installation: Installation, connection: Connection
) -> None:
    ada.join_organization()

    answer = await ada.verify(await ada.preauth_token(org_slug="engines"), ada.code())

    claims = installation.tokens.verify(answer.json["access_token"], kind=TokenKind.ACCESS, now=installation.clock())
    assert (claims["org"], claims["role"]) == ("engines", "member")


async def test_two_factors_satisfy_an_organization_that_requires_mfa(ada: Person, connection: Connection) -> None:
    ada.join_organization(mfa_required=True)

    answer = await ada.verify(await ada.preauth_token(org_slug="engines"), ada.code())

    assert answer.status == 200


@pytest.mark.parametrize("retyped", [str.lower, str.upper, lambda code: code.replace("-", "").lower()])
async def test_a_backup_code_may_be_typed_in_any_case_and_without_its_dash(ada: Person, retyped: Any) -> None:
    answer = await ada.verify(await ada.preauth_token(), retyped(ada.backup_codes[0]))

    assert answer.status == 200


@pytest.mark.parametrize("steps", [-1, 0, 1])
async def test_a_code_one_step_off_is_accepted(ada: Person, steps: int) -> None:
    assert (await ada.verify(await ada.preauth_token(), ada.code(steps))).status == 200


@pytest.mark.parametrize("steps", [-2, 2])
async def test_a_code_two_steps_off_is_refused(ada: Person, steps: int) -> None:
    assert_refused(await ada.verify(await ada.preauth_token(), ada.code(steps)))


async def test_a_step_works_once(ada: Person) -> None:
    code = ada.code()
    assert (await ada.verify(await ada.preauth_token(), code)).status == 200

    assert_refused(await ada.verify(await ada.preauth_token(), code))


async def test_a_step_earlier_than_the_last_used_one_is_refused(ada: Person) -> None:
    assert (await ada.verify(await ada.preauth_token(), ada.code(1))).status == 200

    assert_refused(await ada.verify(await ada.preauth_token(), ada.code()))


async def test_the_code_of_the_next_step_is_accepted(ada: Person) -> None:
    assert (await ada.verify(await ada.preauth_token(), ada.code())).status == 200

    ada.next_step()

    assert (await ada.verify(await ada.preauth_token(), ada.code())).status == 200


async def test_the_code_that_enabled_mfa_can_sign_in(ada: Person) -> None:
    # The clock has not moved since the fixture enabled MFA.
    assert (await ada.verify(await ada.preauth_token(), ada.code())).status == 200


async def test_a_backup_code_works_once(ada: Person) -> None:
    assert (await ada.verify(await ada.preauth_token(), ada.backup_codes[0])).status == 200

    assert_refused(await ada.verify(await ada.preauth_token(), ada.backup_codes[0]))


async def test_a_pre_auth_token_works_once(ada: Person) -> None:
    token = await ada.preauth_token()
    assert (await ada.verify(token, ada.code())).status == 200

    assert_refused(await ada.verify(token, ada.backup_codes[0]))


@pytest.mark.long
async def test_of_two_concurrent_codes_for_one_pre_auth_token_exactly_one_wins(ada: Person) -> None:
    for _ in range(RACES):
        token, code, next_code = await ada.preauth_token(), ada.code(), ada.code(1)

        answers = await at_once(partial(ada.verify, token, code), partial(ada.verify, token, next_code))

        assert statuses_of(answers) == [200, 401]
        ada.next_step()
        ada.next_step()


@pytest.mark.long
async def test_of_two_concurrent_uses_of_one_step_exactly_one_wins(ada: Person) -> None:
    for _ in range(RACES):
        one, other, code = await ada.preauth_token(), await ada.preauth_token(), ada.code()

        answers = await at_once(partial(ada.verify, one, code), partial(ada.verify, other, code))

        assert statuses_of(answers) == [200, 401]
        # Long enough for the failures not to count in the next rounds.
        ada.world.clock.advance(timedelta(minutes=5))


@pytest.mark.long
async def test_of_two_concurrent_uses_of_one_backup_code_exactly_one_wins(ada: Person, connection: Connection) -> None:
    for round_ in range(RACES):
        if round_ % 10 == 0:
            await ada.sign_in_with_second_factor()
            ada.backup_codes = (await ada.mfa("POST", "/backup-codes/regenerate")).json["backup_codes"]
        one, other, code = await ada.preauth_token(), await ada.preauth_token(), ada.backup_codes[round_ % 10]

        answers = await at_once(partial(ada.verify, one, code), partial(ada.verify, other, code))

        assert statuses_of(answers) == [200, 401]
        ada.world.clock.advance(timedelta(minutes=5))


async def test_the_pre_auth_token_survives_four_wrong_codes(ada: Person) -> None:
    token = await ada.preauth_token()

    for _ in range(4):
        assert_refused(await ada.verify(token, ada.wrong_code()))

    assert (await ada.verify(token, ada.code())).status == 200


async def test_five_wrong_codes_void_the_pre_auth_token(ada: Person) -> None:
    token = await ada.preauth_token()
    for code in [ada.wrong_code(), "XXXX-XXXX", ada.wrong_code(), "AAAA2222", ada.wrong_code()]:
        assert_refused(await ada.verify(token, code))

    assert_refused(await ada.verify(token, ada.code()))
    assert (await ada.verify(await ada.preauth_token(), ada.code())).status == 200


async def test_concurrent_wrong_codes_are_all_counted(ada: Person) -> None:
    token, wrong = await ada.preauth_token(), ada.wrong_code()

    answers = await at_once(*[partial(ada.verify, token, wrong)] * 5)

    assert statuses_of(answers) == [401] * 5

    assert_refused(await ada.verify(token, ada.code()))


async def test_a_malformed_code_is_refused_and_not_counted(ada: Person) -> None:
    token = await ada.preauth_token()

    for code in [
        "",
        "12345",
        "1234567",
        "12345a",
        "ABCD-234",
        "ABCD--2345",
        "AB-CD2345",
        "ABCD-23456",
        "ÄBCD-2345",
    ] * 2:
        answer = await ada.verify(token, code)
        assert answer.status == 400, code
        assert [problem["field"] for problem in answer.json["details"]] == ["code"]

    assert (await ada.verify(token, ada.code())).status == 200


async def test_turning_mfa_off_invalidates_a_pending_sign_in(ada: Person) -> None:
    token = await ada.preauth_token()
    code, backup_code = ada.code(), ada.backup_codes[0]

    await ada.mfa("DELETE", "")

    assert_refused(await ada.verify(token, code))
    assert_refused(await ada.verify(token, backup_code))
    await ada.set_up()
    assert_refused(await ada.verify(token, ada.code()))


async def test_a_right_code_for_a_deactivated_account_is_refused(ada: Person, connection: Connection) -> None:
    token = await ada.preauth_token()
    connection.execute("UPDATE users SET deactivated_at = now() WHERE id = %s", (ada.id,))

    answer = await ada.verify(token, ada.code())

    assert_refused(answer)
    # The password was right, and so was the code, so the message must not blame either.
    assert "password" not in answer.json["error"]


class TestRateLimit:
    """Wrong codes count as failed sign-ins for the address, whatever the pre-auth token."""

    @pytest.fixture
    def settings(self) -> Settings:
        """Settings with rate limits; the tests change the address, so that no other limit refuses them."""
        return Settings(dev=True)

    async def ten_wrong_codes(self, person: Person) -> str:
        """Use up the attempts of one network, and return a pre-auth token that is still valid."""
        tokens: list[str] = []
        for number in range(3):
            person.address = f"192.0.2.{number}"
            tokens.append(await person.preauth_token())
        for number in range(10):
            person.address = f"192.0.2.{10 + number}"
            assert_refused(await person.verify(tokens[number // 4], person.wrong_code()))
        person.address = "192.0.2.99"
        return tokens[2]

    async def test_ten_wrong_codes_from_one_network_block_that_network(self, ada: Person) -> None:
        token = await self.ten_wrong_codes(ada)

        answer = await ada.verify(token, ada.code())

        assert (answer.status, answer.json["error_code"]) == (429, "RATE_LIMIT_EXCEEDED")
        assert int(answer.headers["Retry-After"]) == 15 * 60
        assert (await ada.log_in()).status == 429

    async def test_another_network_is_not_blocked(self, ada: Person) -> None:
        token = await self.ten_wrong_codes(ada)

        ada.address = "198.51.100.1"

        assert (await ada.verify(token, ada.code())).status == 200

    async def test_the_block_ends_after_fifteen_minutes(self, ada: Person, clock: SettableClock) -> None:
        await self.ten_wrong_codes(ada)

        clock.advance(timedelta(minutes=15))

        assert (await ada.verify(await ada.preauth_token(), ada.code())).status == 200

    async def test_right_codes_do_not_count(self, ada: Person) -> None:
        for number in range(12):
            ada.address = f"192.0.2.{number}"
            assert (await ada.verify(await ada.preauth_token(), ada.code())).status == 200
            ada.next_step()
