"""The FAPI 2.0 Security Profile at the endpoints for authorization requests, pushed and not.

Each test stands for modules of the OpenID Foundation's plan `fapi2-security-profile-final-test-plan`, with
`private_key_jwt`, DPoP, OpenID Connect and plain responses; the comment names them without their common beginning.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from core.openid.clients import ASSERTION_TYPE
from tests.application import Answer
from tests.world.authorization import ISSUER, address_of, led_back
from tests.world.builder import EMAIL
from tests.world.relying_party import REDIRECT_URI
from tests.world.signing_in import claims_of
from tests.world.strict_party import PAR, REQUEST, StrictKey, StrictParty, insert_strict_party
from tests.world.visitor import Visitor
from tests.world.world import World


@pytest.fixture
async def bank(world: World) -> StrictParty:
    """A service with the profile, which knows a nonce, and a user."""
    world.user(EMAIL)
    bank = insert_strict_party(world)
    await bank.learn_nonce()
    return bank


def refused_push(answer: Answer) -> str:
    """Return the name of the refusal of a pushed request."""
    assert answer.status in {400, 401}, answer.text
    return answer.json["error"]


# happy-flow, par-without-duplicate-parameters
async def test_a_client_pushes_and_the_user_signs_in_and_the_client_gets_bound_tokens(
    bank: StrictParty, visitor: Visitor
) -> None:
    back = await bank.sign_in(visitor)
    answer = await bank.redeem(back["code"])

    tokens = answer.json
    assert (back["state"], back["iss"]) == ("s-1", ISSUER)
    assert answer.headers["Cache-Control"] == "no-store"
    assert (tokens["token_type"], tokens["scope"]) == ("DPoP", "openid email")
    assert claims_of(tokens["access_token"])["cnf"] == {"jkt": bank.holder.thumbprint}
    identity = claims_of(tokens["id_token"])
    assert (identity["iss"], identity["aud"], identity["nonce"]) == (ISSUER, bank.client_id, "n-1")
    assert (await bank.userinfo(tokens["access_token"])).json["email"] == EMAIL


# happy-flow, which uses two clients
async def test_two_clients_with_the_profile_sign_the_same_user_in(
    bank: StrictParty, visitor: Visitor, world: World
) -> None:
    broker = insert_strict_party(world, "broker")
    await broker.learn_nonce()
    first = await bank.tokens(visitor)

    question = await visitor.open(await broker.address())
    back = led_back(await visitor.submit(question, "/auth/authorize/allow"))
    second = (await broker.redeem(back["code"])).json

    assert claims_of(first["id_token"])["sub"] == claims_of(second["id_token"])["sub"]
    assert claims_of(second["id_token"])["aud"] == broker.client_id


# user-rejects-authentication
async def test_a_user_who_declines_goes_back_with_access_denied(bank: StrictParty, visitor: Visitor) -> None:
    await visitor.sign_in()
    question = await visitor.open(await bank.address())

    back = led_back(await visitor.submit(question, "/auth/authorize/deny"))

    assert (back["error"], back["state"], back["iss"]) == ("access_denied", "s-1", ISSUER)


# ensure-authorization-request-without-state-success, state-only-outside-request-object-not-used
async def test_without_a_pushed_state_none_comes_back(bank: StrictParty, visitor: Visitor) -> None:
    request_uri = (await bank.push(state=None)).json["request_uri"]
    back = await bank.sign_in(visitor, bank.address_of(request_uri, state="outside"))

    assert "state" not in back
    assert "s_hash" not in claims_of((await bank.redeem(back["code"])).json["id_token"])


# ensure-different-state-inside-and-outside-request-object, ensure-different-nonce-inside-and-outside-request-object
async def test_only_what_was_pushed_counts(bank: StrictParty, visitor: Visitor) -> None:
    request_uri = (await bank.push()).json["request_uri"]
    address = bank.address_of(request_uri, state="outside", nonce="outside", redirect_uri="https://evil.example/")

    back = await bank.sign_in(visitor, address)

    assert back["state"] == "s-1"
    assert claims_of((await bank.redeem(back["code"])).json["id_token"])["nonce"] == "n-1"


# ensure-authorization-request-without-nonce-success
async def test_without_a_nonce_the_id_token_has_none(bank: StrictParty, visitor: Visitor) -> None:
    assert "nonce" not in claims_of((await bank.tokens(visitor, nonce=None))["id_token"])


# ensure-authorization-request-with-64-char-nonce-success, ensure-authorization-request-with-long-nonce,
# ensure-authorization-request-with-long-state
async def test_a_long_nonce_and_a_long_state_come_back_whole(bank: StrictParty, visitor: Visitor) -> None:
    for characters in (64, 384, 1000):
        nonce, state = "n" * characters, "s" * characters
        back = await bank.sign_in(visitor, nonce=nonce, state=state)

        assert back["state"] == state
        assert claims_of((await bank.redeem(back["code"])).json["id_token"])["nonce"] == nonce


# ensure-other-scope-order-succeeds
async def test_the_order_of_the_scopes_does_not_matter(bank: StrictParty, visitor: Visitor) -> None:
    tokens = await bank.tokens(visitor, scope="email openid")

    assert set(tokens["scope"].split(" ")) == {"openid", "email"}
    assert "id_token" in tokens


# ensure-unsigned-authorization-request-without-using-par-fails
async def test_a_request_that_was_not_pushed_is_refused_on_a_page(bank: StrictParty, visitor: Visitor) -> None:
    answer = await visitor.send("GET", address_of(bank.party))

    assert answer.status == 403
    assert "Location" not in answer.headers
    assert "unauthorized_client" in answer.text


async def test_a_browser_cannot_push_a_request_by_a_form(bank: StrictParty, visitor: Visitor) -> None:
    hint = (await bank.tokens(visitor))["id_token"]

    posted = await visitor.post(
        "/auth/authorize",
        {**REQUEST, "client_id": bank.client_id, "id_token_hint": hint, "is_pushed": "yes"},
        is_followed=False,
    )
    answer = await visitor.send("GET", posted.headers["Location"])
    in_address = await visitor.send("GET", address_of(bank.party, is_pushed="yes"))

    assert "request_uri" in posted.headers["Location"]
    assert (answer.status, in_address.status) == (403, 403)


# ensure-request-object-without-redirect-uri-fails, ensure-redirect-uri-in-authorization-request,
# plain-fapi-ensure-registered-redirect-uri, plain-fapi-tolerate-unregistered-redirect-uri,
# ensure-response-type-code-idtoken-fails, ensure-response-type-token-fails,
# par-ensure-pkce-required, par-plain-pkce-rejected, par-authorization-request-containing-request_uri-form-param
async def test_an_invalid_request_is_refused_when_it_is_pushed(bank: StrictParty, subtests: pytest.Subtests) -> None:
    plain = {"code_challenge": "v" * 43, "code_challenge_method": "plain"}
    changes: list[tuple[dict[str, str | None], str]] = [
        ({"redirect_uri": None}, "invalid_request"),
        ({"redirect_uri": "https://shop.example/other"}, "invalid_request"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        (dict(plain), "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"request_uri": "urn:ietf:params:oauth:request_uri:x"}, "invalid_request"),
        ({"request": "eyJhbGciOiJub25lIn0.e30."}, "request_not_supported"),
    ]
    for change, error in changes:
        with subtests.test(change=change):
            assert refused_push(await bank.push(**change)) == error


# par-attempt-reuse-request_uri
async def test_a_pushed_request_is_answered_once(bank: StrictParty, visitor: Visitor) -> None:
    address = await bank.address()
    await bank.sign_in(visitor, address)

    again = await visitor.send("GET", address)

    assert again.status == 400
    assert "Location" not in again.headers


# par-ensure-reused-request-uri-prior-to-auth-completion-succeeds
async def test_a_pushed_request_may_be_opened_twice_before_anyone_has_signed_in(
    bank: StrictParty, visitor: Visitor
) -> None:
    address = await bank.address()
    first = await visitor.open(address)

    back = await bank.sign_in(visitor, address)

    assert first.status == 200
    assert (await bank.redeem(back["code"])).status == 200


# par-attempt-to-use-expired-request_uri
async def test_a_pushed_request_that_has_expired_is_refused(bank: StrictParty, visitor: Visitor, world: World) -> None:
    pushed = (await bank.push()).json
    world.clock.advance(timedelta(seconds=pushed["expires_in"]))

    answer = await visitor.send("GET", bank.address_of(pushed["request_uri"]))

    assert 5 <= pushed["expires_in"] < 600
    assert answer.status == 400


# par-attempt-to-use-request_uri-for-different-client
async def test_a_pushed_request_is_that_of_its_client(bank: StrictParty, visitor: Visitor, world: World) -> None:
    broker = insert_strict_party(world, "broker")
    request_uri = (await bank.push()).json["request_uri"]

    assert (await visitor.send("GET", broker.address_of(request_uri))).status == 400
    assert "code" in await bank.sign_in(visitor, bank.address_of(request_uri))


# par-attempt-invalid-http-method
async def test_requests_are_pushed_by_post_alone(bank: StrictParty) -> None:
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        assert (await bank.world.client.request(method, PAR)).status == 405, method


# par-ensure-jwt-client-assertion-nbf-8-seconds-in-the-future-is-accepted
async def test_the_clock_of_the_client_may_be_some_seconds_ahead(bank: StrictParty) -> None:
    for seconds in (8, 10):
        ahead = bank.now + seconds
        assertion = bank.assertion(nbf=ahead, iat=ahead, exp=ahead + 60)

        assert (await bank.push(client_assertion=assertion)).status == 201


# par-ensure-jwt-client-assertion-iat-nbf-over-60-seconds-in-the-future-fails
async def test_an_assertion_of_the_future_is_refused(bank: StrictParty, subtests: pytest.Subtests) -> None:
    ahead = bank.now + 61
    times: list[dict[str, Any]] = [
        {"nbf": ahead, "iat": ahead, "exp": ahead + 60},
        {"nbf": ahead, "exp": ahead + 60},
        # The nbf does not excuse the iat.
        {"nbf": bank.now, "iat": ahead, "exp": ahead + 60},
    ]
    for claims in times:
        with subtests.test(claims=claims):
            assert refused_push(await bank.push(client_assertion=bank.assertion(**claims))) == "invalid_client"


# par-test-array-as-audience-fails, par-test-par-endpoint-url-as-audience-fails,
# par-test-token-endpoint-url-as-audience-fails
async def test_the_audience_of_an_assertion_is_the_issuer_as_a_text(
    bank: StrictParty, subtests: pytest.Subtests
) -> None:
    for audience in (
        [ISSUER],
        [ISSUER, f"{ISSUER}/auth/par"],
        f"{ISSUER}/auth/par",
        f"{ISSUER}/auth/token",
        f"{ISSUER}/",
        "https://other.example",
        None,
    ):
        with subtests.test(audience=audience):
            assertion = bank.assertion(aud=audience)

            assert refused_push(await bank.push(client_assertion=assertion)) == "invalid_client"


async def test_an_assertion_is_good_once(bank: StrictParty) -> None:
    assertion = bank.assertion()

    assert (await bank.push(client_assertion=assertion)).status == 201
    assert refused_push(await bank.push(client_assertion=assertion)) == "invalid_client"


# ensure-mismatched-dpop-jkt-fails
async def test_a_request_announces_the_key_of_its_proof_or_none(bank: StrictParty) -> None:
    answer = await bank.push(proof=bank.proof("POST", PAR), dpop_jkt=StrictKey().thumbprint)

    assert refused_push(answer) == "invalid_dpop_proof"


async def test_a_proof_of_a_pushed_request_follows_the_rules_of_the_profile(
    bank: StrictParty, subtests: pytest.Subtests
) -> None:
    for name, proof in (
        ("RS256", bank.proof("POST", PAR, key=StrictKey("RS256"))),
        ("a minute ahead", bank.proof("POST", PAR, iat=bank.now + 61)),
        ("valid in a minute", bank.proof("POST", PAR, nbf=bank.now + 61)),
    ):
        with subtests.test(name):
            assert refused_push(await bank.push(proof=proof)) == "invalid_dpop_proof"


async def test_a_client_without_an_assertion_pushes_nothing(bank: StrictParty) -> None:
    bank.party.set(client_secret_hash=b"\x00" * 32)
    without = {"client_assertion": None, "client_assertion_type": None}

    nameless = await bank.push(**without, client_id=bank.client_id)
    secret = await bank.push(**without, client_id=bank.client_id, client_secret="secret")
    only_type = await bank.push(client_assertion=None, client_assertion_type=ASSERTION_TYPE, client_id=bank.client_id)

    assert [refused_push(answer) for answer in (nameless, secret, only_type)] == ["invalid_client"] * 3
    assert REDIRECT_URI not in secret.text
