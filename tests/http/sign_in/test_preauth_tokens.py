"""The pre-auth token between the password and the code: its purpose and its lifetime."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from core.sessions.tokens import TokenKind
from core.sign_in.mfa_challenges import LIFETIME
from entrypoints.installation import Installation
from tests.application import Answer, Client
from tests.clock import SettableClock
from tests.world.second_factors import Person, insert_person
from tests.world.world import World


@pytest.fixture
async def ada(world: World) -> Person:
    """A user with a second factor."""
    person = insert_person(world)
    await person.turn_mfa_on()
    return person


@pytest.fixture
async def grace(world: World) -> Person:
    """Another user with a second factor."""
    person = insert_person(world, "grace@example.com")
    await person.turn_mfa_on()
    return person


def assert_refused(answer: Answer, error_code: str = "UNAUTHORIZED") -> None:
    assert (answer.status, answer.json["error_code"]) == (401, error_code)


async def test_a_body_without_a_code_is_malformed(ada: Person, client: Client, subtests: pytest.Subtests) -> None:
    for body in ({}, {"code": None}, {"code": 123456}, {"code": "123456", "trust_device": "yes"}):
        with subtests.test(body=body):
            answer = await client.post("/api/auth/mfa/verify", token=await ada.preauth_token(), body=body)

            assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")


async def test_a_code_without_a_pre_auth_token_is_refused(ada: Person, client: Client) -> None:
    answer = await client.post("/api/auth/mfa/verify", body={"code": ada.code()})

    assert_refused(answer)


@pytest.mark.parametrize("token", ["nonsense", "a.b.c"])
async def test_a_token_that_is_not_a_jwt_is_a_jwt_error(ada: Person, client: Client, token: str) -> None:
    in_header = await client.post("/api/auth/mfa/verify", token=token, body={"code": ada.code()})
    in_body = await client.post("/api/auth/mfa/verify", body={"code": ada.code(), "preauth_token": token})

    assert_refused(in_header, "JWT_ERROR")
    assert_refused(in_body, "JWT_ERROR")


async def test_another_authorization_scheme_is_refused(ada: Person, client: Client) -> None:
    body = {"code": ada.code(), "preauth_token": await ada.preauth_token()}

    assert_refused(await client.post("/api/auth/mfa/verify", headers={"Authorization": "Basic YWRh"}, body=body))


async def test_an_access_token_is_refused_as_a_pre_auth_token(ada: Person, client: Client) -> None:
    in_header = await client.post("/api/auth/mfa/verify", token=ada.token, body={"code": ada.code()})
    in_body = await client.post("/api/auth/mfa/verify", body={"code": ada.code(), "preauth_token": ada.token})

    assert_refused(in_header, "JWT_ERROR")
    assert_refused(in_body, "JWT_ERROR")


@pytest.mark.parametrize("path", ["/api/user/sessions", "/api/user/mfa/status"])
async def test_a_pre_auth_token_is_refused_as_an_access_token(ada: Person, client: Client, path: str) -> None:
    assert_refused(await client.get(path, token=await ada.preauth_token()), "JWT_ERROR")


async def test_a_pre_auth_token_is_refused_as_a_refresh_token(ada: Person, client: Client) -> None:
    assert_refused(await client.post("/api/auth/refresh", body={"refresh_token": await ada.preauth_token()}))


async def test_a_pre_auth_token_is_valid_until_its_last_second(ada: Person, clock: SettableClock) -> None:
    token = await ada.preauth_token()

    clock.advance(LIFETIME - timedelta(seconds=1))

    assert (await ada.verify(token, ada.code())).status == 200


async def test_a_pre_auth_token_expires(ada: Person, clock: SettableClock) -> None:
    token = await ada.preauth_token()

    clock.advance(LIFETIME)

    answer = await ada.verify(token, ada.code())
    assert_refused(answer, "TOKEN_EXPIRED")
    assert "Sign in again" in answer.json["error"]


async def test_a_pre_auth_token_accepts_only_the_codes_of_its_own_user(ada: Person, grace: Person) -> None:
    token = await ada.preauth_token()

    assert_refused(await ada.verify(token, grace.code()))
    assert_refused(await ada.verify(token, grace.backup_codes[0]))
    assert (await grace.verify(await grace.preauth_token(), grace.backup_codes[0])).status == 200


async def test_a_pre_auth_token_of_an_unknown_challenge_is_refused(ada: Person, installation: Installation) -> None:
    claims = {"sub": str(ada.id), "aud": installation.settings.base_url, "challenge": str(uuid4())}
    token = installation.tokens.sign(claims, kind=TokenKind.PRE_AUTH, lifetime=LIFETIME, now=installation.clock())

    assert_refused(await ada.verify(token, ada.code()))
