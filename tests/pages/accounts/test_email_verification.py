"""The page of the link that verifies an address, and requesting it again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import LiteralString

import pytest
import trio

from adapters.postgres.driver.connection import Connection
from entrypoints.settings import Settings
from tests.application import Answer, Client, serving
from tests.clock import SettableClock
from tests.world.acme_shop import AcmeShop
from tests.world.builder import EMAIL, PASSWORD
from tests.world.visitor import Visitor
from tests.world.world import World

ROUNDS = 50
JSON = {"Accept": "application/json"}


async def link(world: World) -> str:
    """Return the path of the link in the latest mail."""
    return f"/auth/verify-email?token={(await world.mail()).values['token']}"


async def confirm(visitor: Visitor, path: str, password: str = PASSWORD) -> Answer:
    """Open the link in another browser than the one of the registration, and give the password."""
    return await visitor.submit(await visitor.open(path), "/auth/verify-email/confirm", password=password)


async def resend(world: World, email: str = EMAIL, **others: str) -> Answer:
    """Request the link again."""
    return await world.client.post("/api/auth/resend-verification", body={"email": email, **others})


@pytest.mark.parametrize("accept", ["text/html", "*/*", "text/html,application/xhtml+xml,*/*;q=0.8", "image/*", None])
async def test_opening_the_link_on_a_page_spends_nothing_and_asks(world: World, accept: str | None) -> None:
    await world.register()
    path = await link(world)
    headers = {"Accept": accept} if accept is not None else {}

    answers = [await world.client.get(path, headers=headers) for _ in range(2)]

    for answer in answers:
        assert answer.status == 200
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert "An account was registered with your address" in answer.text
        assert EMAIL in answer.text
        assert "127.0.0.1" in answer.text
    assert (await world.log_in()).status == 401
    assert (await world.client.get(path, headers=JSON)).status == 200
    assert (await world.log_in()).status == 200


async def test_json_is_returned_on_request(world: World) -> None:
    await world.register()

    answer = await world.client.get(await link(world), headers=JSON)

    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json == {"message": f"Your email address is verified. You can sign in with {EMAIL} now."}


async def test_any_other_accept_header_gets_a_page(world: World, subtests: pytest.Subtests) -> None:
    for accept in ("*/*", "text/html,application/xhtml+xml,*/*;q=0.8", "image/png"):
        with subtests.test(accept=accept):
            answer = await world.client.get("/auth/verify-email?token=nonsense", headers={"Accept": accept})

            assert answer.status == 400
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"


async def test_a_link_is_valid_for_24_hours(world: World, clock: SettableClock) -> None:
    await world.register()
    path = await link(world)

    clock.advance(timedelta(hours=24) - timedelta(seconds=1))

    assert (await world.client.get(path)).status == 200


async def test_after_24_hours_a_page_says_that_the_link_has_expired(world: World, clock: SettableClock) -> None:
    await world.register()
    path = await link(world)

    clock.advance(timedelta(hours=24))
    answer = await world.client.get(path)

    assert answer.status == 400
    assert "This link has expired" in answer.text
    assert (await world.log_in()).status == 401


async def test_a_link_is_valid_once(world: World) -> None:
    await world.register()
    path = await link(world)
    await world.client.get(path, headers=JSON)

    answer = await world.client.get(path)
    as_json = await world.client.get(path, headers=JSON)

    assert answer.status == 400
    assert "used already" in answer.text
    assert (as_json.status, as_json.json["error_code"]) == (400, "BAD_REQUEST")


async def test_of_two_concurrent_requests_for_a_link_one_succeeds(world: World) -> None:
    for round_number in range(ROUNDS):
        await world.register(f"racer{round_number}@example.com")
        path, statuses = await link(world), list[int]()

        async def open_link(path: str, statuses: list[int]) -> None:
            statuses.append((await world.client.get(path, headers=JSON)).status)

        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(open_link, path, statuses)

        assert sorted(statuses) == [200, 400]


async def test_the_page_of_an_invalid_link_says_what_to_do(client: Client, subtests: pytest.Subtests) -> None:
    for query in ("", "?token=", "?token=nonsense", "?token=%00", "?token=" + "0" * 5000, "?other=1"):
        with subtests.test(query=query):
            answer = await client.get("/auth/verify-email" + query)

            assert answer.status == 400
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
            assert "<h1" in answer.text


async def test_a_token_for_another_purpose_verifies_nothing(world: World) -> None:
    await world.register()
    await world.mails()
    await world.client.post("/api/auth/forgot-password", body={"email": EMAIL})

    answer = await world.client.get(await link(world))

    assert answer.status == 400
    assert (await world.log_in()).status == 401


async def test_a_head_request_does_not_use_the_link_up(world: World) -> None:
    await world.register()
    path = await link(world)

    answers = [await world.client.request("HEAD", path) for _ in range(2)]

    assert [answer.status for answer in answers] == [200, 200]
    assert answers[0].headers["Content-Type"] == "text/html; charset=utf-8"
    assert (await world.client.request("HEAD", "/auth/verify-email?token=nonsense")).status == 400
    assert (await world.client.get(path)).status == 200


async def test_the_link_of_a_deactivated_account_is_refused(world: World) -> None:
    await world.register()
    path = await link(world)
    world.deactivate()

    assert (await world.client.get(path)).status == 400


async def test_the_link_to_an_address_that_the_account_no_longer_has_is_refused(world: World) -> None:
    await world.register()
    path = await link(world)
    world.set_unproved_address(EMAIL, "ada@new.example")

    assert (await world.client.get(path)).status == 400


async def test_the_link_of_an_address_that_is_already_verified_is_still_valid(
    world: World, connection: Connection
) -> None:
    await world.register()
    path = await link(world)
    connection.execute("UPDATE users SET email_verified_at = created_at - interval '1 hour'")

    page = await world.client.get(path)
    answer = await world.client.get(path, headers=JSON)

    assert (page.status, answer.status) == (200, 200)
    assert "Your email address is verified" in page.text
    is_unchanged = connection.execute("SELECT email_verified_at < created_at FROM users").fetchall()
    assert is_unchanged == [(True,)]


async def test_the_page_links_back_to_the_service_that_requested_the_link(
    world: World, visitor: Visitor, acme_shop: AcmeShop
) -> None:
    await world.register(**acme_shop.return_request)

    answer = await confirm(visitor, await link(world))

    assert visitor.has_session
    assert f'href="{acme_shop.redirect_uri}"' in answer.text
    assert "Continue to Acme Shop" in answer.text


@pytest.mark.parametrize(
    "since",
    [
        "UPDATE services SET redirect_uris = '{}'",
        "UPDATE organizations SET status = 'suspended'",
        "DELETE FROM services",
        "DELETE FROM organizations",
    ],
)
async def test_the_page_does_not_link_back_to_an_address_withdrawn_since(
    world: World, visitor: Visitor, acme_shop: AcmeShop, connection: Connection, since: LiteralString
) -> None:
    await world.register(**acme_shop.return_request)
    path = await link(world)
    connection.execute(since)

    answer = await confirm(visitor, path)

    assert answer.status == 200
    assert acme_shop.redirect_uri not in answer.text


async def test_the_link_is_sent_again(world: World) -> None:
    await world.register()
    first = await link(world)

    answer = await resend(world, " ADA@example.com")

    assert answer.status == 200
    assert (await world.client.get(await link(world), headers=JSON)).status == 200
    assert (await world.client.get(first, headers=JSON)).status == 400
    assert (await world.log_in()).status == 200


async def test_a_newer_link_leaves_the_older_one_valid(world: World) -> None:
    await world.register()
    first = await link(world)
    await resend(world)

    assert (await world.client.get(first, headers=JSON)).status == 200


async def test_a_link_that_is_sent_again_leads_back_to_the_requesting_service(
    world: World, visitor: Visitor, acme_shop: AcmeShop
) -> None:
    await world.register()
    await world.mails()

    await resend(world, **acme_shop.return_request)

    assert "Continue to Acme Shop" in (await confirm(visitor, await link(world))).text


async def test_a_link_that_is_sent_again_leads_back_to_the_service_of_the_registration(
    world: World, visitor: Visitor, acme_shop: AcmeShop
) -> None:
    await world.register(**acme_shop.return_request)
    await world.mails()

    await resend(world)

    assert "Continue to Acme Shop" in (await confirm(visitor, await link(world))).text


async def test_an_address_without_a_pending_verification_gets_the_same_answer_and_no_mail(world: World) -> None:
    await world.register_and_verify("verified@example.com")
    await world.register("gone@example.com")
    world.deactivate("gone@example.com")
    await world.register()
    await world.mails()

    expected = await resend(world)
    assert len(await world.mails()) == 1

    for email in ("verified@example.com", "gone@example.com", "nobody@example.com", "no address at all"):
        answer = await resend(world, email)

        assert (answer.status, answer.content) == (expected.status, expected.content)
    assert await world.mails() == []


async def test_a_rate_limited_page_has_a_retry_after_header(world: World) -> None:
    limited = serving(replace(world.installation, settings=Settings(dev=True)))

    answers = [await limited.get("/auth/verify-email?token=nonsense") for _ in range(21)]

    assert answers[-1].status == 429
    assert int(answers[-1].headers["Retry-After"]) >= 1
    assert '<h1 id="heading">Too many requests</h1>' in answers[-1].text
