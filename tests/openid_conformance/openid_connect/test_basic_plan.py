"""The plan `oidcc-basic-certification-test-plan`: code flow with `client_secret_basic`, and once in the body.

The plan `oidcc-formpost-basic-certification-test-plan` has the same modules, with answers in a form that the browser
posts.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qsl, urlencode

import jwt
import pytest

from core.openid import scopes
from tests.world.authorization import led_back, posted_back
from tests.world.builder import EMAIL
from tests.world.conformance import ConformanceClient, checked_code, checked_user_info, modules_of
from tests.world.relying_party import CHALLENGE, VERIFIER, insert_relying_party
from tests.world.visitor import FORM

PLAN = (
    "oidcc-server",
    "oidcc-response-type-missing",
    "oidcc-idtoken-signature",
    "oidcc-idtoken-unsigned",
    "oidcc-userinfo-get",
    "oidcc-userinfo-post-header",
    "oidcc-userinfo-post-body",
    "oidcc-ensure-request-without-nonce-succeeds-for-code-flow",
    "oidcc-scope-profile",
    "oidcc-scope-email",
    "oidcc-scope-address",
    "oidcc-scope-phone",
    "oidcc-scope-all",
    "oidcc-alternate-happy-flow",
    "oidcc-display-page",
    "oidcc-display-popup",
    "oidcc-prompt-login",
    "oidcc-prompt-none-not-logged-in",
    "oidcc-prompt-none-logged-in",
    "oidcc-max-age-1",
    "oidcc-max-age-10000",
    "oidcc-ensure-request-with-unknown-parameter-succeeds",
    "oidcc-id-token-hint",
    "oidcc-login-hint",
    "oidcc-ui-locales",
    "oidcc-claims-locales",
    "oidcc-ensure-request-with-acr-values-succeeds",
    "oidcc-codereuse",
    "oidcc-codereuse-30seconds",
    "oidcc-ensure-registered-redirect-uri",
    "oidcc-ensure-post-request-succeeds",
    "oidcc-server-client-secret-post",
    "oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported",
    "oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported",
    "oidcc-claims-essential",
    "oidcc-ensure-request-object-with-redirect-uri",
    "oidcc-refresh-token",
    "oidcc-ensure-request-with-valid-pkce-succeeds",
)


@pytest.fixture(params=["query", "form_post"])
def suite(suite: ConformanceClient, request: pytest.FixtureRequest) -> ConformanceClient:
    """The client of the plan, and the client of the plan with posted answers."""
    return replace(suite, response_mode=request.param)


def unsigned(**claims: str) -> str:
    """Return a request object without a signature."""
    return jwt.encode(claims, "", algorithm="none")


def test_every_module_of_the_plan_has_its_test() -> None:
    assert modules_of(globals()) == list(PLAN)


async def test_a_user_signs_in_and_the_client_gets_what_it_asked_for(suite: ConformanceClient) -> None:
    """oidcc-server: the code flow, with everything that a response and its tokens have to be."""
    tokens = await suite.tokens()

    assert (await suite.user_info(tokens)).keys() == {"sub"}


async def test_a_request_without_a_response_type_is_refused(suite: ConformanceClient) -> None:
    """oidcc-response-type-missing: `invalid_request` or `unsupported_response_type` goes back to the client."""
    assert (await suite.refused(response_type=""))["error"] == "invalid_request"


async def test_an_id_token_is_signed_with_rs256_by_a_key_that_it_names(suite: ConformanceClient) -> None:
    """oidcc-idtoken-signature: `kid` and `alg` of the header."""
    header = jwt.get_unverified_header((await suite.tokens()).id_token)

    assert (header["alg"], bool(header["kid"])) == ("RS256", True)


async def test_id_tokens_without_a_signature_are_not_offered(suite: ConformanceClient) -> None:
    """oidcc-idtoken-unsigned: skipped by the suite where discovery does not offer `none`."""
    assert "none" not in (await suite.document())["id_token_signing_alg_values_supported"]


async def test_the_user_information_is_read_by_get(suite: ConformanceClient) -> None:
    """oidcc-userinfo-get: the subject is the ID token's."""
    tokens = await suite.tokens(scope="openid email")

    assert (await suite.user_info(tokens))["email"] == EMAIL


async def test_the_user_information_is_read_by_post(suite: ConformanceClient) -> None:
    """oidcc-userinfo-post-header: with the token in the header."""
    tokens = await suite.tokens()

    checked_user_info(await suite.world.client.post("/auth/userinfo", token=tokens.access_token), tokens)


async def test_the_user_information_is_read_with_a_token_in_a_form(suite: ConformanceClient) -> None:
    """oidcc-userinfo-post-body: with the token in the body."""
    tokens = await suite.tokens()

    checked_user_info(await suite.shop.send("/auth/userinfo", {"access_token": tokens.access_token}), tokens)


async def test_a_nonce_is_not_needed(suite: ConformanceClient) -> None:
    """oidcc-ensure-request-without-nonce-succeeds-for-code-flow: the ID token then has none."""
    back = await suite.authorize(nonce="")

    assert "nonce" not in (await suite.redeem(back["code"], nonce=None)).claims


async def test_the_scope_profile_opens_claims_about_the_user(suite: ConformanceClient) -> None:
    """oidcc-scope-profile: by the user information endpoint."""
    tokens = await suite.tokens(scope="openid profile")

    assert (await suite.user_info(tokens))["preferred_username"] == EMAIL


async def test_the_scope_email_opens_the_address(suite: ConformanceClient) -> None:
    """oidcc-scope-email: and whether it is verified, as a boolean."""
    info = await suite.user_info(await suite.tokens(scope="openid email"))

    assert (info["email"], info["email_verified"]) == (EMAIL, True)


async def test_the_scope_address_is_not_offered_and_ignored(suite: ConformanceClient) -> None:
    """oidcc-scope-address: skipped by the suite where discovery does not offer the scope."""
    tokens = await suite.tokens(scope="openid address")

    assert "address" not in (await suite.document())["scopes_supported"]
    assert (await suite.user_info(tokens)).keys() == {"sub"}


async def test_the_scope_phone_is_not_offered_and_ignored(suite: ConformanceClient) -> None:
    """oidcc-scope-phone: skipped by the suite where discovery does not offer the scope."""
    tokens = await suite.tokens(scope="openid phone")

    assert "phone" not in (await suite.document())["scopes_supported"]
    assert (await suite.user_info(tokens)).keys() == {"sub"}


async def test_all_scopes_together_open_what_each_opens(suite: ConformanceClient) -> None:
    """oidcc-scope-all: unknown ones are left out (RFC 6749, 3.3)."""
    tokens = await suite.tokens(scope="openid email phone address profile")

    assert {"sub", "email", "email_verified", "preferred_username"} <= (await suite.user_info(tokens)).keys()


async def test_neither_the_order_of_scopes_nor_that_of_parameters_matters(suite: ConformanceClient) -> None:
    """oidcc-alternate-happy-flow: both reversed."""
    path, _, query = suite.address(scope="email openid").partition("?")
    reversed_query = urlencode(list(reversed(parse_qsl(query))))

    back = checked_code(await suite.sign_in(await suite.arrive(f"{path}?{reversed_query}")))

    tokens = await suite.redeem(back["code"], scope="openid email")
    assert (await suite.user_info(tokens))["email"] == EMAIL


async def test_the_display_page_is_no_error(suite: ConformanceClient) -> None:
    """oidcc-display-page: the usual page."""
    assert await suite.tokens(display="page")


async def test_the_display_popup_is_no_error(suite: ConformanceClient) -> None:
    """oidcc-display-popup: the usual page."""
    assert await suite.tokens(display="popup")


async def test_the_prompt_login_asks_again(suite: ConformanceClient) -> None:
    """oidcc-prompt-login: and `auth_time` is later."""
    first = await suite.tokens()
    suite.world.clock.advance(timedelta(seconds=1))

    page = await suite.arrive(suite.address(prompt="login"))
    second = await suite.redeem(checked_code(await suite.sign_in(page))["code"])

    assert "Sign in again" in page.text
    assert second.claims["auth_time"] > first.claims["auth_time"]
    assert second.claims["sub"] == first.claims["sub"]


async def test_the_prompt_none_without_a_session_is_refused(suite: ConformanceClient) -> None:
    """oidcc-prompt-none-not-logged-in: `login_required` or its like."""
    assert (await suite.refused(prompt="none"))["error"] == "login_required"


async def test_the_prompt_none_with_a_session_succeeds(suite: ConformanceClient) -> None:
    """oidcc-prompt-none-logged-in: without a page, for the same user and sign-in."""
    first = await suite.tokens()
    suite.world.clock.advance(timedelta(seconds=1))

    second = await suite.redeem((await suite.authorize_silently(prompt="none"))["code"])

    assert [second.claims[name] for name in ("sub", "auth_time")] == [first.claims[n] for n in ("sub", "auth_time")]


async def test_an_older_sign_in_than_max_age_asks_again(suite: ConformanceClient) -> None:
    """oidcc-max-age-1: after two seconds, and `auth_time` is later and new."""
    first = await suite.tokens()
    suite.world.clock.advance(timedelta(seconds=2))

    page = await suite.arrive(suite.address(max_age="1"))
    second = await suite.redeem(checked_code(await suite.sign_in(page))["code"])

    assert "Sign in again" in page.text
    assert second.claims["auth_time"] > first.claims["auth_time"]
    assert second.claims["auth_time"] == int(suite.world.clock().timestamp())


async def test_a_newer_sign_in_than_max_age_is_used(suite: ConformanceClient) -> None:
    """oidcc-max-age-10000: `auth_time` and `sub` stay."""
    first = await suite.tokens(max_age="15000")
    suite.world.clock.advance(timedelta(seconds=1))

    second = await suite.redeem((await suite.authorize_silently(max_age="10000"))["code"])

    assert [second.claims[name] for name in ("sub", "auth_time")] == [first.claims[n] for n in ("sub", "auth_time")]


async def test_an_unknown_parameter_is_ignored(suite: ConformanceClient) -> None:
    """oidcc-ensure-request-with-unknown-parameter-succeeds: `extra=foobar` (RFC 6749, 3.1)."""
    assert await suite.tokens(extra="foobar")


async def test_an_id_token_names_the_user_who_is_signed_in(suite: ConformanceClient) -> None:
    """oidcc-id-token-hint: with the prompt `none`, also when the ID token has expired."""
    first = await suite.tokens()
    suite.world.clock.advance(timedelta(hours=1))

    second = await suite.redeem((await suite.authorize_silently(prompt="none", id_token_hint=first.id_token))["code"])

    assert [second.claims[name] for name in ("sub", "auth_time")] == [first.claims[n] for n in ("sub", "auth_time")]


async def test_a_login_hint_is_no_error(suite: ConformanceClient) -> None:
    """oidcc-login-hint: the page proposes the address."""
    page = await suite.arrive(suite.address(login_hint=EMAIL))

    assert EMAIL in page.text
    assert checked_code(await suite.sign_in(page))


async def test_locales_of_the_pages_are_no_error(suite: ConformanceClient) -> None:
    """oidcc-ui-locales: one that is not offered, and one in which the page is then shown."""
    page = await suite.arrive(suite.address(ui_locales="se de"))

    assert 'lang="de"' in page.text
    assert checked_code(await suite.sign_in(page))


async def test_locales_of_claims_are_no_error(suite: ConformanceClient) -> None:
    """oidcc-claims-locales: `claims_locales=se`."""
    assert await suite.tokens(claims_locales="se")


async def test_classes_that_are_offered_may_be_asked_for(suite: ConformanceClient) -> None:
    """oidcc-ensure-request-with-acr-values-succeeds: the ID token names one of them."""
    offered = (await suite.document())["acr_values_supported"]

    assert (await suite.tokens(acr_values=" ".join(offered))).claims["acr"] in offered
    assert set(offered) == set(scopes.CONTEXT_CLASSES)


async def test_a_code_works_once(suite: ConformanceClient) -> None:
    """oidcc-codereuse: the second time is `invalid_grant`."""
    back = await suite.authorize()
    await suite.redeem(back["code"])

    again = await suite.exchange(back["code"])

    assert (again.status, again.json["error"]) == (400, "invalid_grant")


async def test_a_code_that_is_used_again_later_ends_the_tokens(suite: ConformanceClient) -> None:
    """oidcc-codereuse-30seconds: the access token is then refused."""
    back = await suite.authorize()
    tokens = await suite.redeem(back["code"])
    suite.world.clock.advance(timedelta(seconds=30))

    again = await suite.exchange(back["code"])
    opened = await suite.world.client.get("/auth/userinfo", token=tokens.access_token)

    assert (again.status, again.json["error"]) == (400, "invalid_grant")
    assert (opened.status, opened.json["error"]) == (401, "invalid_token")


async def test_an_address_that_is_not_registered_is_not_followed(suite: ConformanceClient) -> None:
    """oidcc-ensure-registered-redirect-uri: a page says so."""
    answer = await suite.arrive(suite.address(redirect_uri="https://shop.example/callback/x"))

    assert (answer.status, "not registered" in answer.text) == (400, True)


async def test_a_request_may_come_as_a_form(suite: ConformanceClient) -> None:
    """oidcc-ensure-post-request-succeeds: from the page of the client."""
    path, _, query = suite.address().partition("?")
    headers = {"Content-Type": FORM, "Sec-Fetch-Site": "cross-site"}

    posted = await suite.visitor.send("POST", path, data=query.encode(), headers=headers)
    back = checked_code(await suite.sign_in(await suite.arrive(posted.headers["Location"])))

    assert await suite.redeem(back["code"])


async def test_the_secret_may_be_in_the_body(suite: ConformanceClient) -> None:
    """oidcc-server-client-secret-post: the same flow."""
    assert await replace(suite, is_posting_secret=True).tokens()


async def test_a_request_by_reference_is_refused(suite: ConformanceClient) -> None:
    """oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported: `request_uri_not_supported`."""
    back = await suite.refused(request_uri="https://shop.example/request.jwt")

    assert back["error"] == "request_uri_not_supported"
    assert (await suite.document())["request_uri_parameter_supported"] is False


async def test_a_request_object_is_refused(suite: ConformanceClient) -> None:
    """oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported: `request_not_supported`."""
    back = await suite.refused(request=unsigned(response_type="code", nonce="n-2"))

    assert back["error"] == "request_not_supported"
    assert (await suite.document())["request_parameter_supported"] is False


async def test_an_essential_claim_is_given_where_it_is_known(suite: ConformanceClient) -> None:
    """oidcc-claims-essential: the request succeeds also for one that is not known; the ID token has none."""
    claims = {"userinfo": {"name": {"essential": True}, "email": {"essential": True}}}

    tokens = await suite.tokens(claims=json.dumps(claims))

    assert (await suite.document())["claims_parameter_supported"] is True
    assert (await suite.user_info(tokens))["email"] == EMAIL
    assert tokens.claims.keys().isdisjoint({"name", "email"})


async def test_a_request_object_does_not_make_an_address_right(suite: ConformanceClient) -> None:
    """oidcc-ensure-request-object-with-redirect-uri: nor does a wrong address get the refusal."""
    answer = await suite.arrive(
        suite.address(redirect_uri="https://evil.example/", request=unsigned(redirect_uri="https://shop.example/x"))
    )

    assert (answer.status, answer.headers.get("Location")) == (400, None)


async def test_refresh_tokens_give_new_tokens_to_their_client_alone(
    suite: ConformanceClient, subtests: pytest.Subtests
) -> None:
    """oidcc-refresh-token: the ID token keeps `iss`, `sub`, `aud` and `auth_time`, and has a new `iat`."""
    asked = await suite.sign_in(await suite.arrive(suite.address(scope="openid offline_access", prompt="consent")))
    back = checked_code(await suite.visitor.submit(asked, "/auth/authorize/allow"))
    first = await suite.redeem(back["code"], scope="openid offline_access")
    suite.world.clock.advance(timedelta(seconds=1))
    other = replace(suite, shop=insert_relying_party(suite.world, slug="second", service_slug="second"))

    foreign = await other.token(grant_type="refresh_token", refresh_token=first.refresh_token)
    refreshed = await suite.token(grant_type="refresh_token", refresh_token=first.refresh_token)
    second = await suite.checked_tokens(refreshed, nonce=None, scope="openid offline_access")

    assert (foreign.status, foreign.json["error"]) == (400, "invalid_grant")
    assert second.access_token != first.access_token
    assert second.claims["iat"] > first.claims["iat"]
    assert await suite.user_info(second)
    for name in ("iss", "sub", "aud", "auth_time", "azp"):
        with subtests.test(claim=name):
            assert second.claims.get(name) == first.claims.get(name)


async def test_pkce_may_be_used(suite: ConformanceClient) -> None:
    """oidcc-ensure-request-with-valid-pkce-succeeds: by a confidential client too."""
    back = await suite.authorize(code_challenge=CHALLENGE, code_challenge_method="S256")

    assert await suite.redeem(back["code"], code_verifier=VERIFIER)


async def test_an_answer_comes_as_it_was_asked_for(suite: ConformanceClient) -> None:
    """Of the plan with posted answers every module does this."""
    answer = await suite.sign_in(await suite.arrive(suite.address()))

    read = posted_back if suite.response_mode == "form_post" else led_back
    assert read(answer)["code"]
    assert suite.response_mode in (await suite.document())["response_modes_supported"]
