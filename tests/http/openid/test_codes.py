"""Codes are exchanged for tokens once, by the client and the browser session that they were issued to."""

from __future__ import annotations

import base64
import hashlib
from datetime import timedelta
from functools import partial

import pytest

from core.secrets import hash_token
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.world.builder import EMAIL
from tests.world.relying_party import VERIFIER, RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.world import World


def assert_oauth_error(answer: Answer, status: int, error: str) -> None:
    """Assert that an answer is this refusal, in the shape of OAuth."""
    assert (answer.status, answer.json["error"]) == (status, error), answer.text
    assert set(answer.json) == {"error", "error_description", "error_code", "timestamp"}


async def test_a_code_is_exchanged_for_an_access_token_a_refresh_token_and_an_id_token(shop: RelyingParty) -> None:
    answer = await shop.redeem(await shop.code(nonce="n-1"))

    assert answer.status == 200, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    tokens = answer.json
    assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == ("Bearer", 900, "openid email")
    access, identity = claims_of(tokens["access_token"]), claims_of(tokens["id_token"])
    assert access["aud"] == access["client_id"] == identity["aud"] == str(shop.client_id)
    half = hashlib.sha256(tokens["access_token"].encode()).digest()[:16]
    assert identity["at_hash"] == base64.urlsafe_b64encode(half).decode().rstrip("=")
    assert (identity["nonce"], identity["email"], identity["email_verified"]) == ("n-1", EMAIL, True)
    assert (identity["sub"], identity["sid"]) == (access["sub"], access["sid"])
    assert identity["iss"] == "http://localhost:8000"


async def test_an_address_that_its_mail_domain_has_taken_back_is_not_verified(shop: RelyingParty, world: World) -> None:
    world.connection.execute(
        "UPDATE users SET disowned_at = now(), disowned_by_organization_id = %s", (world.organization("corp"),)
    )

    identity = claims_of((await shop.tokens(scope="openid email"))["id_token"])

    assert (identity["email"], identity["email_verified"]) == (EMAIL, False)


async def test_without_the_scope_openid_there_is_no_id_token(shop: RelyingParty) -> None:
    assert "id_token" not in await shop.tokens(scope="email")


async def test_a_code_that_is_used_twice_ends_what_came_of_it(shop: RelyingParty) -> None:
    code = await shop.code()
    tokens = (await shop.redeem(code)).json

    assert_oauth_error(await shop.redeem(code), 400, "invalid_grant")
    assert not shop.is_live(tokens)
    assert_oauth_error(await shop.token("refresh_token", refresh_token=tokens["refresh_token"]), 400, "invalid_grant")


async def test_of_two_requests_with_one_code_at_once_at_most_one_gets_tokens(shop: RelyingParty) -> None:
    code = await shop.code()

    answers = await at_once(*[partial(shop.redeem, code)] * 4)

    assert statuses_of(answers) == [200, 400, 400, 400]


async def test_a_code_yields_the_refresh_token_of_its_session(shop: RelyingParty, world: World) -> None:
    code = await shop.code()
    [before] = world.connection.execute("SELECT refresh_hash FROM sessions WHERE service_id IS NOT NULL").fetchall()

    refresh_token = (await shop.redeem(code)).json["refresh_token"]

    [after] = world.connection.execute("SELECT refresh_hash FROM sessions WHERE service_id IS NOT NULL").fetchall()
    assert before == after == (hash_token(refresh_token),)
    assert (await shop.token("refresh_token", refresh_token=refresh_token)).status == 200


async def test_a_code_whose_session_began_before_codes_yielded_tokens_gets_a_new_one(
    shop: RelyingParty, world: World
) -> None:
    code = await shop.code()
    world.connection.execute("UPDATE sessions SET refresh_hash = %s WHERE service_id IS NOT NULL", (hash_token("x"),))

    refresh_token = (await shop.redeem(code)).json["refresh_token"]

    assert (await shop.token("refresh_token", refresh_token=refresh_token)).status == 200


async def test_a_code_of_another_client_is_worth_nothing_to_a_client(shop: RelyingParty, world: World) -> None:
    other = insert_relying_party(world, slug="evil", service_slug="evil")
    code = await shop.code()

    assert_oauth_error(await other.redeem(code), 400, "invalid_grant")
    assert (await shop.redeem(code)).status == 200


async def test_a_code_with_another_redirect_uri_or_verifier_is_refused_and_used_up(
    shop: RelyingParty, subtests: pytest.Subtests
) -> None:
    for fields in (
        {"redirect_uri": "https://shop.example/other"},
        {"redirect_uri": ""},
        {"code_verifier": "x" * 43},
        {"code_verifier": ""},
    ):
        with subtests.test(fields=fields):
            code = await shop.code()

            assert_oauth_error(await shop.redeem(code, None, **fields), 400, "invalid_grant")
            assert_oauth_error(await shop.redeem(code), 400, "invalid_grant")


async def test_a_verifier_without_a_challenge_is_refused(shop: RelyingParty) -> None:
    code = await shop.code(code_challenge="", code_challenge_method="")

    assert_oauth_error(await shop.redeem(code, code_verifier=VERIFIER), 400, "invalid_grant")


async def test_a_confidential_client_may_do_without_pkce(shop: RelyingParty) -> None:
    code = await shop.code(code_challenge="", code_challenge_method="")

    assert (await shop.redeem(code, code_verifier="")).status == 200


async def test_a_code_expires_after_a_minute(shop: RelyingParty, world: World) -> None:
    code = await shop.code()
    world.clock.advance(timedelta(seconds=60))

    assert_oauth_error(await shop.redeem(code), 400, "invalid_grant")


async def test_a_code_is_worth_nothing_once_its_session_has_ended(shop: RelyingParty, world: World) -> None:
    code = await shop.code()
    world.connection.execute("UPDATE sessions SET revoked_at = now()")

    assert_oauth_error(await shop.redeem(code), 400, "invalid_grant")


async def test_a_confidential_client_authenticates_to_exchange_a_code(shop: RelyingParty) -> None:
    code = await shop.code()

    unauthenticated = await shop.redeem(code, {}, client_id=str(shop.client_id))
    wrong = await shop.redeem(code, {}, client_id=str(shop.client_id), client_secret="wrong")
    right = await shop.redeem(code, {}, client_id=str(shop.client_id), client_secret=shop.secret or "")

    assert_oauth_error(unauthenticated, 401, "invalid_client")
    assert_oauth_error(wrong, 401, "invalid_client")
    assert right.status == 200


async def test_a_public_client_names_itself_and_sends_the_verifier(shop: RelyingParty, app: RelyingParty) -> None:
    code = await app.code()

    assert (await app.redeem(code)).status == 200
    assert_oauth_error(await app.redeem(await app.code(), code_verifier=""), 400, "invalid_grant")


async def test_the_code_of_a_user_who_was_deactivated_is_worth_nothing(shop: RelyingParty, world: World) -> None:
    code = await shop.code()
    world.deactivate()

    assert_oauth_error(await shop.redeem(code), 400, "invalid_grant")


async def test_an_incomplete_grant_is_refused(shop: RelyingParty, subtests: pytest.Subtests) -> None:
    for grant_type, error in (
        ("", "invalid_request"),
        ("password", "unsupported_grant_type"),
        ("authorization_code", "invalid_request"),
        ("refresh_token", "invalid_request"),
        ("urn:ietf:params:oauth:grant-type:device_code", "invalid_request"),
    ):
        with subtests.test(grant_type=grant_type, error=error):
            assert_oauth_error(await shop.token(grant_type), 400, error)
