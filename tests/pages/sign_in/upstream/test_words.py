"""What a person reads when a sign-in by a connection fails: the reason, and who can help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.sign_in.upstream.provider_problems import ProviderProblem
from entrypoints.pages.sign_in.upstream.provider_problems import TO_PEOPLE
from tests.openid_provider import OpenIdProvider
from tests.shown_text import shows
from tests.world.openid_acme import Acme

ADA = "ada@acme.example"
CODE_PAGE = "/app/sign-in/code"
WHY_A_CODE = "it takes a code that is mailed to you besides, once"
# What may pass by itself.
TEMPORARY = {
    ProviderProblem.NAME_UNKNOWN,
    ProviderProblem.UNREACHABLE,
    ProviderProblem.TOO_SLOW,
    ProviderProblem.NO_ANSWER,
    ProviderProblem.BUSY,
}


def test_every_problem_names_whom_to_tell_and_another_try_only_where_it_may_help() -> None:
    assert TO_PEOPLE.keys() == set(ProviderProblem)
    for problem, sentence in TO_PEOPLE.items():
        assert "your IT staff" in sentence, problem
        assert sentence.count("the id below") == 1 or "the metadata" in sentence.lower(), problem
        assert ("Try again in a moment" in sentence) == (problem in TEMPORARY), problem


def secret(provider: OpenIdProvider) -> None:
    """Change the client secret at the provider."""
    provider.client_secret = "another"


def clock(provider: OpenIdProvider) -> None:
    """Let ID tokens end before they are issued."""
    provider.claims = {"exp": 1}


def token(provider: OpenIdProvider) -> None:
    """Let the token endpoint fail."""
    provider.token_error = "server_error"


@pytest.mark.parametrize(
    ("breaks", "told"),
    [
        (secret, "does not accept the credentials that were set up for signing in here"),
        (clock, "is not valid at this time, as when its clock is wrong"),
        (token, "is not set up as it should be"),
    ],
    ids=["secret", "clock", "token"],
)
async def test_a_fault_of_the_provider_is_its_own_with_the_reason_and_the_id(
    acme: Acme, breaks: Callable[[OpenIdProvider], None], told: str
) -> None:
    breaks(acme.provider)

    page = await acme.sign_in()

    assert page.status == 502
    assert told in page.text
    assert "ell your IT staff the id below" in page.text
    assert page.headers["X-Request-Id"] in page.text
    assert not shows(page.text, "Try again in a moment")


async def test_a_provider_that_cannot_be_reached_may_be_tried_again(acme: Acme) -> None:
    await acme.change(issuer="http://localhost:1", client_secret="another-secret")

    page = await acme.visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")

    assert page.status == 502
    assert "cannot be reached now" in page.text
    assert "Try again in a moment; if it happens again, tell your IT staff the id below." in page.text


@pytest.mark.parametrize("column", ["deactivated_at", "locked_at"])
async def test_who_comes_back_from_a_provider_has_typed_no_password(acme: Acme, column: str) -> None:
    await acme.sign_in()
    acme.visitor.cookies.clear()
    acme.world.connection.execute(f"UPDATE users SET {column} = now() WHERE email = %s".encode(), (ADA,))

    page = await acme.sign_in()

    assert page.status == 401
    assert "This account cannot be used" in page.text
    assert not shows(page.text, "password is wrong")
    # A stranger who has only the address learns nothing.
    stranger = await acme.world.client.post("/api/auth/login", body={"email": ADA, "password": "a wrong password"})
    assert stranger.json["error"] == "Email address or password is wrong."


async def test_a_code_that_a_role_takes_is_asked_for_with_its_reason(acme: Acme) -> None:
    await acme.sign_in()
    acme.world.member(acme.organization_id, acme.world.user_id(ADA), role="admin")
    acme.visitor.cookies.clear()

    page = await acme.sign_in()
    again = await acme.visitor.submit(page, CODE_PAGE, code="000000")

    assert WHY_A_CODE in page.text
    assert (again.status, WHY_A_CODE in again.text) == (401, True)
    # A person who asks for a mailed code on their own came from no provider.
    acme.visitor.cookies.clear()
    methods = await acme.visitor.submit(await acme.visitor.open("/app/sign-in"), "/app/sign-in", email="bo@b.example")
    plain = await acme.visitor.submit(methods, "/app/sign-in/link")
    assert shows(plain.text, "Check your email")
    assert not shows(plain.text, WHY_A_CODE)


@pytest.mark.parametrize("given", ["ada", "ada@", "@acme.example"])
async def test_a_value_that_is_no_address_is_called_so(acme: Acme, given: Any) -> None:
    acme.provider.claims = {"email": given}

    page = await acme.sign_in()

    assert page.status == 403
    assert "sent something that is not an email address" in page.text
    assert acme.world.rows("SELECT problem FROM upstream_failures") == [("not_an_address",)]


async def test_what_is_no_address_is_not_kept_as_one(acme: Acme) -> None:
    await acme.sign_in()
    acme.visitor.cookies.clear()
    acme.provider.claims = {"email": "ada"}

    await acme.sign_in()

    assert acme.live_sessions == 2
    assert acme.world.value("SELECT email FROM identities") is None
