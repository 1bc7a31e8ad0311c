"""Signing in with the three external providers: who is signed in, and to which account."""

from __future__ import annotations

from functools import partial

import pytest
import trio

from tests.concurrency import at_once
from tests.shown_text import shows
from tests.upstream_provider import Account
from tests.waiting import waiting_for_a_lock
from tests.world.builder import EMAIL, new_id
from tests.world.upstream import Upstream, parameters_of
from tests.world.world import World

PROVIDERS = ("codehost", "websuite", "officesuite")


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_verified_address_at_a_provider_makes_an_account_that_is_signed_in(
    world: World, upstream: Upstream, provider: str
) -> None:
    page = await upstream.sign_in(f"/auth/{provider}")

    assert page.status == 200, page.text
    assert EMAIL in page.text
    assert world.value("SELECT email_verified_at IS NOT NULL FROM users WHERE email = %s", EMAIL)
    assert world.value("SELECT provider FROM sessions") == provider
    [(_, actor, data)] = world.events("user.signup.success")
    assert (actor, data["provider"]) == (EMAIL, provider)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_the_same_account_at_the_provider_signs_in_to_the_same_account_again(
    world: World, upstream: Upstream, provider: str
) -> None:
    await upstream.sign_in(f"/auth/{provider}")
    upstream.visitor.cookies.clear()

    await upstream.sign_in(f"/auth/{provider}", Account(email="renamed@example.com"))

    assert upstream.visitor.has_session
    assert world.value("SELECT count(*) FROM users") == 1
    assert world.value("SELECT email FROM users") == EMAIL


async def test_the_tenant_is_a_part_of_the_id_at_officesuite(world: World, upstream: Upstream) -> None:
    await upstream.sign_in("/auth/officesuite")
    upstream.visitor.cookies.clear()

    page = await upstream.sign_in("/auth/officesuite", Account(tenant="another-tenant", email="eve@example.com"))

    assert "eve@example.com" in page.text
    assert world.value("SELECT count(*) FROM users") == 2


async def test_an_address_that_the_provider_has_not_verified_makes_no_account(
    world: World, upstream: Upstream, subtests: pytest.Subtests
) -> None:
    for provider in PROVIDERS:
        with subtests.test(provider=provider):
            page = await upstream.sign_in(f"/auth/{provider}", Account(is_verified=False, shows_emails=False))

            assert page.status == 403
            assert "gave no verified email address" in page.text
            assert world.value("SELECT count(*) FROM users") == 0
            assert not upstream.visitor.has_session


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_address_that_the_provider_has_not_verified_takes_over_no_account(
    world: World, upstream: Upstream, provider: str
) -> None:
    world.user()

    page = await upstream.sign_in(f"/auth/{provider}", Account(is_verified=False))

    assert page.status in {200, 403}
    assert not upstream.visitor.has_session
    assert world.value("SELECT count(*) FROM identities WHERE email = %s", EMAIL) == 0


async def test_an_account_at_the_provider_without_an_address_makes_no_account(
    world: World, upstream: Upstream, subtests: pytest.Subtests
) -> None:
    for email in (None, "not an address", "a@b@c", "x" * 400 + "@example.com"):
        with subtests.test(email=email):
            page = await upstream.sign_in("/auth/websuite", Account(email=email))

            assert page.status == 403
            assert world.value("SELECT count(*) FROM users") == 0


async def test_an_account_whose_address_was_never_proved_is_taken_over_without_what_was_prepared(
    world: World, upstream: Upstream
) -> None:
    world.user(is_verified=False)

    page = await upstream.sign_in()

    assert EMAIL in page.text
    assert (await world.log_in()).status == 401
    assert world.value("SELECT count(*) FROM users") == 1


async def test_an_account_with_a_proved_address_is_linked_only_after_signing_in_to_it(
    world: World, upstream: Upstream
) -> None:
    world.user()

    asked = await upstream.sign_in()

    assert not upstream.visitor.has_session
    assert world.value("SELECT count(*) FROM identities") == 0
    methods = await upstream.visitor.submit(asked, "/app/sign-in", email=EMAIL)
    page = await upstream.visitor.submit(methods, "/app/sign-in/password", password="correct horse battery")
    assert EMAIL in page.text
    assert world.value("SELECT count(*) FROM identities WHERE email = %s", EMAIL) == 1
    assert "identity_linked" in {message.template for message in await world.mails()}
    upstream.visitor.cookies.clear()
    await upstream.sign_in()
    assert upstream.visitor.has_session


async def test_signing_in_to_another_account_links_nothing(world: World, upstream: Upstream) -> None:
    world.user()
    world.user("eve@example.com")

    asked = await upstream.sign_in()
    methods = await upstream.visitor.submit(asked, "/app/sign-in", email="eve@example.com")
    page = await upstream.visitor.submit(methods, "/app/sign-in/password", password="correct horse battery")

    assert page.status == 403
    assert world.value("SELECT count(*) FROM identities") == 0


async def test_a_deactivated_account_is_not_signed_in(world: World, upstream: Upstream) -> None:
    await upstream.sign_in()
    world.connection.execute("UPDATE users SET deactivated_at = now()")
    upstream.visitor.cookies.clear()

    page = await upstream.sign_in()

    assert page.status == 401
    assert not upstream.visitor.has_session


async def test_a_provider_never_takes_the_place_of_the_second_factor(world: World, upstream: Upstream) -> None:
    await upstream.sign_in()
    world.connection.execute("UPDATE users SET mfa_enabled_at = now()")
    upstream.visitor.cookies.clear()

    page = await upstream.sign_in()

    assert "Enter your code" in page.text
    assert not upstream.visitor.has_session


async def test_two_browsers_that_sign_in_first_at_once_make_one_account(world: World, upstream: Upstream) -> None:
    others = [type(upstream.visitor)(upstream.visitor.client) for _ in range(2)]
    backs = [upstream.stand_in.sign_in(await upstream.depart(visitor=one), Account()) for one in others]

    await at_once(*(partial(one.send, "GET", back) for one, back in zip(others, backs, strict=True)))

    assert all(one.has_session for one in others)
    assert world.value("SELECT count(*) FROM users") == 1
    assert world.value("SELECT count(*) FROM identities") == 1


async def test_a_first_sign_in_uses_the_account_that_another_has_just_made(world: World, upstream: Upstream) -> None:
    back = upstream.stand_in.sign_in(await upstream.depart(), Account())

    async with trio.open_nursery() as nursery:
        with world.connection.transaction():
            world.connection.execute(
                """
                INSERT INTO identities (id, user_id, provider, subject, email, linked_at, used_at)
                VALUES (%s, %s, 'codehost', '4711', %s, now(), now())
                """,
                (new_id(), world.user(), EMAIL),
            )
            nursery.start_soon(upstream.visitor.send, "GET", back)
            await waiting_for_a_lock(world.connection)

    assert upstream.visitor.has_session
    assert world.value("SELECT count(*) FROM users") == 1
    assert world.value("SELECT count(*) FROM identities") == 1


async def test_the_sign_in_leads_back_to_the_page_that_asked_for_it(upstream: Upstream) -> None:
    answer = await upstream.come_back("/auth/codehost?return_to=/app/sign-out")

    assert answer.headers["Location"] == "/app/sign-out"


async def test_the_sign_in_leads_to_no_other_site(upstream: Upstream, subtests: pytest.Subtests) -> None:
    for elsewhere in ("https://evil.example", "//evil.example", "/\\evil.example", "/app/../..//evil"):
        with subtests.test(elsewhere=elsewhere):
            answer = await upstream.come_back(f"/auth/codehost?return_to={elsewhere}")

            assert answer.headers["Location"] == "/app"


async def test_the_provider_is_asked_with_pkce_and_sent_the_verifier(upstream: Upstream) -> None:
    address = await upstream.depart("/auth/websuite")

    parameters = parameters_of(address)
    assert parameters["code_challenge_method"] == "S256"
    assert parameters["redirect_uri"] == "http://localhost:8000/auth/websuite/callback"
    assert parameters["access_type"] == "offline"
    await upstream.visitor.send("GET", upstream.stand_in.sign_in(address, Account()))
    assert len(upstream.stand_in.requests[0].form["code_verifier"]) == 43


async def test_no_token_and_no_verifier_is_in_an_address(upstream: Upstream) -> None:
    address = await upstream.depart("/auth/websuite")

    answer = await upstream.visitor.send("GET", upstream.stand_in.sign_in(address, Account()))

    sent = upstream.stand_in.requests[0].form["code_verifier"]
    assert sent not in address
    assert not shows(answer.headers["Location"], "at-")
