"""The plan `oidcc-rp-initiated-logout-certification-test-plan` (OpenID Connect RP-Initiated Logout)."""

from __future__ import annotations

import base64
import json
from urllib.parse import urlencode

import jwt
import pytest

from tests.application import Answer
from tests.world.authorization import led_back
from tests.world.conformance import ConformanceClient, modules_of
from tests.world.signing_in import claims_of
from tests.world.visitor import forms_of

PLAN = (
    "oidcc-rp-initiated-logout-discovery-endpoint-verification",
    "oidcc-rp-initiated-logout",
    "oidcc-rp-initiated-logout-bad-post-logout-redirect-uri",
    "oidcc-rp-initiated-logout-modified-id-token-hint",
    "oidcc-rp-initiated-logout-no-id-token-hint",
    "oidcc-rp-initiated-logout-no-params",
    "oidcc-rp-initiated-logout-no-post-logout-redirect-uri",
    "oidcc-rp-initiated-logout-no-state",
    "oidcc-rp-initiated-logout-only-state",
    "oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri",
    "oidcc-rp-initiated-logout-bad-id-token-hint",
)

GOODBYE = "https://shop.example/bye"
# Long enough for HS256.
SECRET = "a key that the client has made itself"


@pytest.fixture
async def hint(suite: ConformanceClient) -> str:
    """The ID token of a user who has signed in."""
    suite.shop.set(post_logout_redirect_uris=[GOODBYE])
    return (await suite.tokens()).id_token


async def log_out(suite: ConformanceClient, **parameters: str) -> Answer:
    """Send the browser to the end session endpoint."""
    endpoint: str = (await suite.document())["end_session_endpoint"]
    return await suite.arrive(f"{endpoint.removeprefix('http://localhost:8000')}?{urlencode(parameters)}")


async def assert_signed_out(suite: ConformanceClient) -> None:
    """Assert that a request without a page is refused."""
    assert (await suite.refused(prompt="none"))["error"] == "login_required"


async def assert_signed_in(suite: ConformanceClient) -> None:
    """Assert that a request without a page is answered."""
    assert await suite.authorize_silently(prompt="none")


def assert_refused_or_asks(answer: Answer) -> None:
    """Assert that a page refuses the request or asks the user, and leads nowhere."""
    is_asking = any(form.action == "/auth/logout/confirm" for form in forms_of(answer))
    assert answer.status == 400 or is_asking
    assert "Location" not in answer.headers
    assert "Refresh" not in answer.headers


def without_signature(token: str) -> str:
    """Return an ID token whose header says that it has no signature."""
    header = base64.urlsafe_b64encode(json.dumps({"alg": "none"}).encode()).decode().rstrip("=")
    return f"{header}.{token.split('.')[1]}."


def test_every_module_of_the_plan_has_its_test() -> None:
    assert modules_of(globals()) == list(PLAN)


async def test_discovery_names_the_endpoint(suite: ConformanceClient) -> None:
    """oidcc-rp-initiated-logout-discovery-endpoint-verification: `end_session_endpoint`."""
    assert (await suite.document())["end_session_endpoint"].startswith("http://localhost:8000/")


async def test_the_user_is_signed_out_and_led_back_with_the_state(suite: ConformanceClient, hint: str) -> None:
    """oidcc-rp-initiated-logout: and nothing but the state comes back."""
    answer = await log_out(suite, id_token_hint=hint, post_logout_redirect_uri=GOODBYE, state="s-2")

    assert led_back(answer, GOODBYE) == {"state": "s-2"}
    await assert_signed_out(suite)


async def test_an_address_that_is_not_registered_is_not_followed(suite: ConformanceClient, hint: str) -> None:
    """oidcc-rp-initiated-logout-bad-post-logout-redirect-uri: a page refuses the request."""
    assert_refused_or_asks(
        await log_out(suite, id_token_hint=hint, post_logout_redirect_uri="https://shop.example/other", state="s-2")
    )


async def test_an_id_token_without_its_signature_is_no_hint(suite: ConformanceClient, hint: str) -> None:
    """oidcc-rp-initiated-logout-modified-id-token-hint: changed to `alg: none`, it signs out of nothing."""
    changed = without_signature(hint)

    assert_refused_or_asks(await log_out(suite, id_token_hint=changed, post_logout_redirect_uri=GOODBYE, state="s-2"))
    await assert_signed_in(suite)


async def test_without_an_id_token_the_address_alone_leads_nowhere(suite: ConformanceClient, hint: str) -> None:
    """oidcc-rp-initiated-logout-no-id-token-hint: a page refuses the request, or asks for a client that is named."""
    unnamed = await log_out(suite, post_logout_redirect_uri=GOODBYE, state="s-2")
    named = await log_out(suite, client_id=str(suite.shop.client_id), post_logout_redirect_uri=GOODBYE, state="s-2")

    assert_refused_or_asks(unnamed)
    assert_refused_or_asks(named)
    await assert_signed_in(suite)


async def test_without_parameters_the_user_is_signed_out_on_a_page(suite: ConformanceClient, hint: str) -> None:
    """oidcc-rp-initiated-logout-no-params: after the button, which says that the user is signed out."""
    done = await suite.visitor.submit(await log_out(suite), "/auth/logout/confirm")

    assert (done.status, "signed out" in done.text) == (200, True)
    await assert_signed_out(suite)


async def test_without_an_address_the_user_is_signed_out_on_a_page(suite: ConformanceClient, hint: str) -> None:
    """oidcc-rp-initiated-logout-no-post-logout-redirect-uri: at once, because of the ID token."""
    done = await log_out(suite, id_token_hint=hint, state="s-2")

    assert (done.status, "signed out" in done.text) == (200, True)
    await assert_signed_out(suite)


async def test_without_a_state_none_comes_back(suite: ConformanceClient, hint: str) -> None:
    """oidcc-rp-initiated-logout-no-state: the address is that which is registered."""
    answer = await log_out(suite, id_token_hint=hint, post_logout_redirect_uri=GOODBYE)

    assert led_back(answer, GOODBYE) == {}
    await assert_signed_out(suite)


async def test_with_a_state_alone_the_user_is_signed_out_on_a_page(suite: ConformanceClient, hint: str) -> None:
    """oidcc-rp-initiated-logout-only-state: after the button, and it comes back to nowhere."""
    done = await suite.visitor.submit(await log_out(suite, state="s-2"), "/auth/logout/confirm")

    assert (done.status, "signed out" in done.text) == (200, True)
    await assert_signed_out(suite)


async def test_a_query_that_was_added_makes_it_another_address(suite: ConformanceClient, hint: str) -> None:
    """oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri: `?foo=bar`."""
    assert_refused_or_asks(
        await log_out(suite, id_token_hint=hint, post_logout_redirect_uri=f"{GOODBYE}?foo=bar", state="s-2")
    )


async def test_an_id_token_that_the_client_has_signed_is_no_hint(suite: ConformanceClient, hint: str) -> None:
    """oidcc-rp-initiated-logout-bad-id-token-hint: with a key of its own."""
    forged = jwt.encode(claims_of(hint), SECRET, "HS256")

    assert_refused_or_asks(await log_out(suite, id_token_hint=forged, post_logout_redirect_uri=GOODBYE, state="s-2"))
    await assert_signed_in(suite)
