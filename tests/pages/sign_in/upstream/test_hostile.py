"""Hostile and broken providers, and hostile sites: refused, each with a page that says what to do."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pytest

from entrypoints.installation import Installation
from tests.application import serving, upstream_gateway
from tests.clock import SettableClock
from tests.concurrency import at_once
from tests.upstream_provider import Account, StandIn
from tests.world.upstream import Upstream, parameters_of
from tests.world.visitor import Visitor
from tests.world.world import World

JSON = "application/json"
OVER = "This sign-in is over"


def assert_nothing_happened(world: World) -> None:
    """Assert that no account, no identity and no session was made."""
    assert world.value("SELECT count(*) FROM users") == 0
    assert world.value("SELECT count(*) FROM identities") == 0
    assert world.value("SELECT count(*) FROM sessions") == 0


async def test_a_state_is_good_once(world: World, upstream: Upstream) -> None:
    address = await upstream.depart()
    await upstream.visitor.send("GET", upstream.stand_in.sign_in(address, Account()))

    again = await upstream.visitor.send("GET", upstream.stand_in.sign_in(address, Account()))

    assert again.status == 400
    assert OVER in again.text
    assert world.value("SELECT count(*) FROM sessions") == 1


async def test_of_two_requests_with_one_state_one_signs_in(world: World, upstream: Upstream) -> None:
    back = upstream.stand_in.sign_in(await upstream.depart(), Account())

    answers = await at_once(*[partial(upstream.visitor.send, "GET", back)] * 2)

    assert sorted(answer.status for answer in answers) == [303, 400]
    assert world.value("SELECT count(*) FROM sessions") == 1


async def test_a_state_is_good_for_fifteen_minutes(world: World, upstream: Upstream, clock: SettableClock) -> None:
    back = upstream.stand_in.sign_in(await upstream.depart(), Account())
    clock.advance(timedelta(minutes=15))

    answer = await upstream.visitor.send("GET", back)

    assert answer.status == 400
    assert_nothing_happened(world)


async def test_another_browser_cannot_finish_a_sign_in(world: World, upstream: Upstream) -> None:
    back = upstream.stand_in.sign_in(await upstream.depart(), Account())
    victim = Visitor(upstream.visitor.client)
    await victim.send("GET", "/auth/codehost")

    answer = await victim.send("GET", back)

    assert answer.status == 400
    assert_nothing_happened(world)
    # The browser that it belongs to may still use it.
    assert (await upstream.visitor.send("GET", back)).status == 303


async def test_a_state_that_was_not_issued_is_refused(
    world: World, upstream: Upstream, subtests: pytest.Subtests
) -> None:
    await upstream.depart()

    for state in ("", "unknown", "%00", "%ed%a0%80", "x" * 3000):
        with subtests.test(state=state):
            answer = await upstream.visitor.send("GET", f"/auth/codehost/callback?code=c&state={state}")

            assert answer.status == 400
            assert_nothing_happened(world)


async def test_the_answer_of_one_provider_is_not_taken_at_the_callback_of_another(
    world: World, upstream: Upstream
) -> None:
    back = upstream.stand_in.sign_in(await upstream.depart("/auth/codehost"), Account())

    answer = await upstream.visitor.send("GET", back.replace("codehost", "websuite"))

    assert answer.status == 400
    assert_nothing_happened(world)


async def test_a_code_of_another_sign_in_is_worth_nothing(world: World, upstream: Upstream) -> None:
    stolen = parameters_of(upstream.stand_in.sign_in(await upstream.depart(), Account()))["code"]
    state = parameters_of(await upstream.depart())["state"]

    answer = await upstream.visitor.send(
        "GET", f"/auth/codehost/callback?{urlencode({'code': stolen, 'state': state})}"
    )

    assert answer.status == 502
    assert_nothing_happened(world)


async def test_a_user_who_declines_is_told_what_to_do(world: World, upstream: Upstream) -> None:
    state = parameters_of(await upstream.depart())["state"]

    page = await upstream.visitor.send("GET", f"/auth/codehost/callback?error=access_denied&state={state}")

    assert page.status == 403
    assert "try again, or use another way" in page.text
    assert_nothing_happened(world)


@pytest.mark.parametrize(
    "lie",
    [
        {"aud": "another-client"},
        {"aud": None},
        {"aud": ["gatehouse-at-the-provider", "another-client"]},
        {"aud": ["gatehouse-at-the-provider"], "azp": "another-client"},
        {"exp": 1},
        {"exp": None},
        {"exp": "4000000000"},
        {"iat": 3_999_999_999},
        {"iat": "yesterday"},
        {"nonce": "of another sign-in"},
        {"nonce": None},
        {"sub": "another-account"},
    ],
    ids=str,
)
async def test_a_provider_that_lies_in_its_id_token_is_refused(
    world: World, upstream: Upstream, lie: dict[str, Any]
) -> None:
    page = await upstream.sign_in("/auth/websuite", Account(claims=lie))

    assert page.status == 502
    assert "did not answer as it should" in page.text
    assert_nothing_happened(world)


async def test_an_account_at_officesuite_without_its_ids_is_refused(
    world: World, upstream: Upstream, subtests: pytest.Subtests
) -> None:
    for claims in ({"tid": None}, {"oid": None}, {"tid": ""}, {"oid": True}, {"oid": ["x"]}, {"tid": "a\nb"}):
        with subtests.test(claims=claims):
            page = await upstream.sign_in("/auth/officesuite", Account(claims=claims))

            assert page.status == 502
            assert_nothing_happened(world)


async def test_an_address_that_a_tenant_of_officesuite_has_set_counts_for_nothing(
    world: World, upstream: Upstream, subtests: pytest.Subtests
) -> None:
    for claims in ({"xms_edov": False}, {"xms_edov": None}, {"xms_edov": "no"}):
        with subtests.test(claims=claims):
            page = await upstream.sign_in("/auth/officesuite", Account(claims={**claims, "email_verified": True}))

            assert page.status == 403
            assert_nothing_happened(world)


@pytest.mark.long
@pytest.mark.parametrize(
    ("status", "media_type", "body"),
    [
        (0, "", b""),
        (200, JSON, b"null"),
        (200, JSON, b"[]"),
        (200, JSON, b"{}"),
        (200, JSON, b'{"access_token": 7, "id": null}'),
        (200, JSON, b'{"error": "bad_verification_code"}'),
        (200, JSON, b"[" * 100_000),
        (200, JSON, b'{"id": 1, "access_token": "' + b"x" * 300_000 + b'"}'),
        (200, "text/html", b"<html>sign in first</html>"),
        (200, "text/html", b"\xff\xfe"),
        (302, JSON, b"{}"),
        (400, JSON, b'{"error": "invalid_grant"}'),
        (500, JSON, b'{"access_token": "x", "id": 1}'),
        (503, "text/plain", b"busy"),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_a_provider_that_answers_nonsense_gets_a_page_that_says_what_to_do(
    world: World, upstream: Upstream, status: int, media_type: str, body: bytes
) -> None:
    upstream.stand_in.wrong["/codehost/token"] = (status, media_type, body)

    page = await upstream.sign_in()

    assert page.status == 502
    assert "tell the people who run this site the id below" in page.text
    assert_nothing_happened(world)


async def test_a_user_who_is_described_as_nonsense_is_not_signed_in(
    world: World, upstream: Upstream, subtests: pytest.Subtests
) -> None:
    for wrong in ((0, "", b""), (200, JSON, b"[]"), (200, "text/html", b"<p>"), (403, JSON, b"{}")):
        with subtests.test(wrong=wrong):
            upstream.stand_in.wrong["/codehost/user"] = wrong

            page = await upstream.sign_in()

            assert page.status == 502
            assert_nothing_happened(world)


async def test_addresses_that_make_no_sense_count_for_nothing(
    world: World, upstream: Upstream, subtests: pytest.Subtests
) -> None:
    for body in (b"null", b'["a@example.com"]', b'[{"email": 7, "verified": true}]'):
        with subtests.test(body=body):
            upstream.stand_in.wrong["/codehost/user/emails"] = (200, JSON, body)

            page = await upstream.sign_in()

            assert page.status == 403
            assert_nothing_happened(world)


async def test_a_provider_that_is_down_gets_a_page_that_says_what_to_do(
    world: World, upstream: Upstream, installation: Installation
) -> None:
    down = {
        name: replace(one, token_url="http://127.0.0.1:9/token")
        for name, one in installation.external_providers.items()
    }
    upstream.visitor.client = serving(replace(installation, external_providers=down))

    page = await upstream.sign_in()

    assert page.status == 502
    assert_nothing_happened(world)


async def test_a_provider_that_does_not_answer_is_not_waited_for_and_delays_nobody(
    world: World, upstream: Upstream, installation: Installation, clock: SettableClock, stand_in: StandIn
) -> None:
    stand_in.waiting["/codehost/token"] = threading.Event()
    upstream.visitor.client = serving(replace(installation, upstream=upstream_gateway(clock, seconds_max=0.2)))

    page = await upstream.sign_in()

    assert page.status == 502
    assert "did not answer as it should" in page.text
    assert_nothing_happened(world)
    assert (await upstream.sign_in("/auth/websuite")).status == 200


async def test_a_sign_in_that_failed_can_be_begun_again(upstream: Upstream) -> None:
    upstream.stand_in.wrong["/codehost/user"] = (503, JSON, b"")
    await upstream.sign_in()
    upstream.stand_in.wrong.clear()

    page = await upstream.sign_in()

    assert page.status == 200
    assert upstream.visitor.has_session


@pytest.mark.parametrize("account_id", [4711, "4711", 2**62], ids=repr)
async def test_the_id_of_an_account_may_be_a_number(world: World, upstream: Upstream, account_id: object) -> None:
    await upstream.sign_in(account=Account(id=account_id))

    assert world.value("SELECT subject FROM identities") == str(account_id)


async def test_an_account_without_a_stable_id_is_refused(
    world: World, upstream: Upstream, subtests: pytest.Subtests
) -> None:
    for account_id in (None, "", True, 1.5, "x" * 256, "a\nb", {"id": 1}):
        with subtests.test(account_id=account_id):
            page = await upstream.sign_in(account=Account(id=account_id))

            assert page.status == 502
            assert_nothing_happened(world)


async def test_a_link_of_another_user_is_refused(world: World, upstream: Upstream) -> None:
    attacker = await world.signed_in_user("eve@example.com")
    asked = await attacker.post("/api/user/identities/codehost/link")
    world.user()
    await upstream.visitor.sign_in()

    page = await upstream.visitor.open(asked.json["authorization_url"].removeprefix("http://localhost:8000"))

    assert page.status == 403
    assert world.value("SELECT count(*) FROM identities") == 0
