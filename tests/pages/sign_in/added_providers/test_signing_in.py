"""Signing in with a provider that the operator has added: who is signed in, and which answers count for nothing."""

from __future__ import annotations

from functools import partial

import pytest

from tests.concurrency import at_once
from tests.openid_provider import OTHER_KEY, public_key
from tests.world.added_providers import Added
from tests.world.builder import EMAIL
from tests.world.upstream import parameters_of
from tests.world.world import World


async def test_a_verified_address_makes_an_account_that_is_signed_in(world: World, added: Added) -> None:
    page = await added.sign_in()

    assert (page.status, EMAIL in page.text) == (200, True)
    assert world.value("SELECT email_verified_at IS NOT NULL FROM users WHERE email = %s", EMAIL)
    assert world.value("SELECT provider FROM sessions") == "acme"
    assert world.value("SELECT provider FROM login_events") == "acme"
    assert world.value("SELECT subject FROM identities") == f"{added.acme.url}#employee-1"
    [(_, actor, data)] = world.events("user.signup.success")
    assert (actor, data["provider"]) == (EMAIL, "acme")


async def test_the_same_account_at_the_provider_signs_in_to_the_same_account_again(world: World, added: Added) -> None:
    await added.sign_in()
    added.visitor.cookies.clear()
    added.acme.claims["email"] = "renamed@example.com"

    await added.sign_in()

    assert added.visitor.has_session
    assert world.value("SELECT array_agg(email) FROM users") == [EMAIL]


async def test_the_request_has_pkce_a_nonce_and_the_scopes_of_the_table(added: Added) -> None:
    asked = parameters_of(await added.depart())

    assert (asked["scope"], asked["code_challenge_method"]) == ("openid profile email", "S256")
    assert asked["redirect_uri"] == "http://localhost:8000/auth/acme/callback"
    assert asked["nonce"]


async def test_an_account_of_that_address_is_linked_only_after_signing_in_to_it(world: World, added: Added) -> None:
    world.user()

    page = await added.sign_in()

    assert "Sign in" in page.text
    assert not added.visitor.has_session
    assert world.value("SELECT count(*) FROM identities") == 0
    methods = await added.visitor.submit(page, "/app/sign-in", email=EMAIL)
    await added.visitor.submit(methods, "/app/sign-in/password", password="correct horse battery")
    assert world.value("SELECT provider FROM identities") == "acme"


@pytest.mark.parametrize("claims", [{"email_verified": False}, {"email_verified": None}, {"email": None}])
async def test_an_address_that_the_provider_has_not_verified_makes_no_account(
    world: World, added: Added, claims: dict[str, object]
) -> None:
    added.acme.claims |= claims
    added.acme.user = {"sub": "employee-1"}

    page = await added.sign_in()

    assert page.status == 403
    assert "gave no verified email address" in page.text
    assert "Sign in in another way" in page.text
    assert world.value("SELECT count(*) FROM users") == 0


async def test_what_names_the_address_also_says_whether_it_is_verified(world: World, added: Added) -> None:
    added.acme.claims = {"email": None, "email_verified": True}
    added.acme.user = {"sub": "employee-1", "email": EMAIL, "email_verified": False}

    page = await added.sign_in()

    assert page.status == 403
    assert world.value("SELECT count(*) FROM users") == 0


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://another.example"},
        {"aud": "another-client"},
        {"nonce": "another"},
        {"exp": 1_000_000_000},
        {"sub": None},
        {"sub": 4711},
    ],
    ids=str,
)
async def test_an_id_token_that_is_not_for_this_sign_in_counts_for_nothing(
    world: World, added: Added, claims: dict[str, object]
) -> None:
    added.acme.claims |= claims

    page = await added.sign_in()

    assert page.status == 502
    assert "did not answer as it should" in page.text
    assert "Sign in in another way" in page.text
    assert world.value("SELECT count(*) FROM users") == 0


@pytest.mark.parametrize("iss", ["", "https://another.example"])
async def test_the_answer_of_another_issuer_counts_for_nothing(world: World, added: Added, iss: str) -> None:
    added.acme.document["authorization_response_iss_parameter_supported"] = True

    page = await added.sign_in(iss=iss)

    assert page.status == 502
    assert [one.path for one in added.acme.requests if one.path == "/token"] == []
    assert world.value("SELECT count(*) FROM users") == 0


@pytest.mark.parametrize("callback", ["/auth/other/callback", "/auth/codehost/callback", "/auth/upstream/callback"])
async def test_the_callback_of_another_provider_takes_no_state(world: World, added: Added, callback: str) -> None:
    back = added.acme.sign_in(await added.depart())

    page = await added.visitor.open(back.replace("/auth/acme/callback", callback))

    assert page.status == 400
    assert "This sign-in is over" in page.text
    assert [one.path for one in (*added.acme.requests, *added.other.requests) if one.path == "/token"] == []
    assert world.value("SELECT count(*) FROM users") == 0


async def test_a_state_is_good_once_and_in_its_browser_alone(world: World, added: Added) -> None:
    back = added.acme.sign_in(await added.depart())

    elsewhere = await added.visitor.client.get(back, headers={"Accept": "text/html"})
    answers = await at_once(*[partial(added.visitor.send, "GET", back)] * 2)

    assert elsewhere.status == 400
    assert sorted(answer.status for answer in answers) == [303, 400]
    assert world.value("SELECT count(*) FROM sessions") == 1


async def test_the_same_subject_at_two_providers_is_two_people(world: World, added: Added) -> None:
    await added.sign_in()
    added.visitor.cookies.clear()
    added.other.claims["email"] = "eve@example.com"

    await added.sign_in("/auth/other")

    assert world.value("SELECT count(*) FROM users") == 2


async def test_new_keys_of_the_provider_are_fetched(added: Added) -> None:
    await added.sign_in()
    added.visitor.cookies.clear()
    added.acme.keys = [public_key(OTHER_KEY, "2"), *added.acme.keys]

    await added.sign_in()

    assert added.visitor.has_session


async def test_the_user_may_decline(added: Added) -> None:
    departure = parameters_of(await added.depart())

    page = await added.visitor.open(
        f"/auth/acme/callback?error=access_denied&state={departure['state']}&iss={added.acme.url}"
    )

    assert page.status == 403
    assert "You have not signed in at the provider" in page.text


async def test_a_name_that_was_not_added_has_no_path(added: Added) -> None:
    assert (await added.visitor.send("GET", "/auth/unknown")).status == 404
    # As before there were such paths.
    assert (await added.visitor.send("GET", "/auth/token")).status == 405
