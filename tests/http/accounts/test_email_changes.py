"""Changing an account's address, and undoing the change (decisions 3.10)."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from tests.concurrency import at_once, statuses_of
from tests.world.builder import EMAIL, PASSWORD

if TYPE_CHECKING:
    from adapters.postgres.driver.connection import Connection
    from tests.application import Answer
    from tests.clock import SettableClock
    from tests.world.world import World

NEW = "ada@new.example"
THIRD = "ada@third.example"
NEW_PASSWORD = "a quite different one"
WEEK = timedelta(days=7)


async def change(world: World, token: str, email: str = NEW) -> Answer:
    """Change the address."""
    return await world.client.patch("/api/user", token=token, body={"email": email})


async def changed(world: World, token: str, email: str = NEW) -> dict[str, str]:
    """Change the address; return the token in the mail to each address."""
    await world.mails()
    assert (await change(world, token, email)).status == 200
    return {message.to: message.values["token"] for message in await world.mails()}


async def undo(world: World, token: str) -> Answer:
    """Submit the form of the undo page."""
    return await world.client.post(
        "/auth/undo-email-change",
        data=urlencode({"token": token}).encode(),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )


async def verify(world: World, token: str) -> Answer:
    """Open the link that verifies an address."""
    return await world.client.get(f"/auth/verify-email?token={token}")


async def test_the_new_address_counts_at_once_and_is_not_verified(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token

    answer = await change(world, token, " ADA@New.Example ")

    assert answer.status == 200
    assert (answer.json["email"], answer.json["email_verified"]) == (NEW, False)
    assert answer.json == (await world.client.get("/api/user", token=token)).json
    assert (await world.log_in(NEW)).json["error"].startswith("Verify your email address first")
    assert (await world.log_in(EMAIL)).status == 401


async def test_the_new_address_gets_a_link_to_verify_and_the_old_one_a_notice(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token
    await world.mails()

    await change(world, token)

    messages = {message.to: message for message in await world.mails()}
    assert {to: message.template.value for to, message in messages.items()} == {
        NEW: "verify_new_email",
        EMAIL: "email_changed",
    }
    # The notice to the old mailbox does not disclose the new address.
    assert NEW not in world.installation.mail_renderer.render(messages[EMAIL]).text
    assert (await verify(world, messages[NEW].values["token"])).status == 200
    assert (await world.log_in(NEW)).status == 200


async def test_a_change_of_address_ends_no_session(world: World) -> None:
    token, other = (await world.register_and_sign_in()).access_token, (await world.sign_in()).access_token

    await change(world, token)

    statuses = [(await world.client.get("/api/user", token=each)).status for each in (token, other)]
    assert statuses == [200, 200]


async def test_an_address_that_is_taken_is_refused(world: World) -> None:
    await world.register("taken@example.com")
    token = (await world.register_and_sign_in()).access_token
    await world.mails()

    answer = await change(world, token, "Taken@example.com")

    assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")
    assert (await world.client.get("/api/user", token=token)).json["email"] == EMAIL
    assert await world.mails() == []


async def test_an_invalid_address_is_refused_with_the_name_of_the_field(world: World) -> None:
    answer = await change(world, (await world.register_and_sign_in()).access_token, "no address")

    assert (answer.status, answer.json["details"][0]["field"]) == (400, "email")


async def test_of_two_concurrent_changes_to_one_address_one_succeeds(world: World) -> None:
    tokens = [
        (await world.register_and_sign_in(email)).access_token for email in ("one@example.com", "two@example.com")
    ]

    answers = await at_once(*[partial(change, world, token) for token in tokens])

    assert statuses_of(answers) == [200, 400]


async def test_an_impersonator_may_not_change_the_address(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token
    await world.register_and_verify("owner@example.com")
    world.impersonate_in_sessions(EMAIL, owner="owner@example.com")

    assert (await change(world, token)).status == 403
    assert world.has_user(EMAIL)


async def test_a_change_of_address_invalidates_links_sent_to_the_old_address(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token
    await world.client.post("/api/auth/forgot-password", body={"email": EMAIL})
    reset_token = (await world.mail()).values["token"]

    await change(world, token)

    body = {"token": reset_token, "new_password": NEW_PASSWORD}
    assert (await world.client.post("/api/auth/reset-password", body=body)).status == 400


async def test_a_verification_link_to_an_address_that_the_account_no_longer_has_is_refused(
    world: World, connection: Connection
) -> None:
    await world.register()
    link = (await world.mail()).values["token"]
    connection.execute("UPDATE users SET email = %s", (NEW,))

    assert (await verify(world, link)).status == 400


async def test_opening_the_undo_page_changes_nothing(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token
    path = f"/auth/undo-email-change?token={(await changed(world, token))[EMAIL]}"

    answers = [await world.client.get(path), await world.client.request("HEAD", path), await world.client.get(path)]

    assert [answer.status for answer in answers] == [200, 200, 200]
    assert "2026-02-03 at 04:05 UTC" in answers[-1].text
    assert world.has_user(NEW)


async def test_undoing_restores_the_old_address_and_invalidates_all_sessions_and_the_password(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token
    tokens = await changed(world, token)

    answer = await undo(world, tokens[EMAIL])

    assert answer.status == 200
    assert world.has_user(EMAIL)
    assert not world.has_user(NEW)
    assert (await world.client.get("/api/user", token=token)).status == 401
    assert (await world.log_in(EMAIL, PASSWORD)).status == 401
    assert (await verify(world, tokens[NEW])).status == 400


async def test_the_page_after_undoing_links_to_the_choice_of_a_new_password(world: World) -> None:
    tokens = await changed(world, (await world.register_and_sign_in()).access_token)
    answer = await undo(world, tokens[EMAIL])
    reset_token = answer.text.partition("/auth/reset-password?token=")[2].partition('"')[0]

    body = {"token": reset_token, "new_password": NEW_PASSWORD}
    assert (await world.client.post("/api/auth/reset-password", body=body)).status == 200

    assert (await world.log_in(EMAIL, NEW_PASSWORD)).status == 200


async def test_undoing_invalidates_a_password_that_was_reset_through_the_new_address(world: World) -> None:
    tokens = await changed(world, (await world.register_and_sign_in()).access_token)
    await world.client.post("/api/auth/forgot-password", body={"email": NEW})
    body = {"token": (await world.mail()).values["token"], "new_password": NEW_PASSWORD}
    assert (await world.client.post("/api/auth/reset-password", body=body)).status == 200

    await undo(world, tokens[EMAIL])

    assert (await world.log_in(NEW, NEW_PASSWORD)).status == 401
    assert (await world.log_in(EMAIL, NEW_PASSWORD)).status == 401


async def test_a_change_can_be_undone_once_and_for_seven_days(world: World, clock: SettableClock) -> None:
    undo_token = (await changed(world, (await world.register_and_sign_in()).access_token))[EMAIL]

    clock.advance(WEEK - timedelta(seconds=1))
    assert (await undo(world, undo_token)).status == 200
    again = await undo(world, undo_token)

    assert again.status == 400
    assert "used already" in again.text


async def test_a_change_cannot_be_undone_after_seven_days(world: World, clock: SettableClock) -> None:
    undo_token = (await changed(world, (await world.register_and_sign_in()).access_token))[EMAIL]

    clock.advance(WEEK)
    shown = await world.client.get(f"/auth/undo-email-change?token={undo_token}")

    assert (shown.status, (await undo(world, undo_token)).status) == (400, 400)
    assert "expired" in shown.text
    assert world.has_user(NEW)


@pytest.mark.parametrize("token", ["", "nonsense"])
async def test_an_invalid_undo_link_answers_with_a_page(world: World, token: str) -> None:
    shown = await world.client.get(f"/auth/undo-email-change?token={token}")
    submitted = await undo(world, token)

    for answer in (shown, submitted):
        assert answer.status == 400
        assert "This link is not valid" in answer.text


async def test_the_first_address_of_a_chain_can_undo_all_of_it(world: World, clock: SettableClock) -> None:
    token = (await world.register_and_sign_in()).access_token
    first = await changed(world, token)
    await verify(world, first[NEW])
    clock.advance(timedelta(minutes=1))
    second = await changed(world, token, THIRD)

    assert (await undo(world, first[EMAIL])).status == 200

    assert world.has_user(EMAIL)
    assert (await undo(world, second[NEW])).status == 400


async def test_an_undo_by_a_later_address_of_a_chain_leaves_the_undo_link_of_the_first_valid(
    world: World, clock: SettableClock
) -> None:
    token = (await world.register_and_sign_in()).access_token
    first = await changed(world, token)
    await verify(world, first[NEW])
    clock.advance(timedelta(minutes=1))
    second = await changed(world, token, THIRD)

    assert (await undo(world, second[NEW])).status == 200
    assert world.has_user(NEW)
    assert (await undo(world, first[EMAIL])).status == 200
    assert world.has_user(EMAIL)


async def test_an_unverified_old_address_gets_no_undo_link(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token
    await changed(world, token, "ada@tyop.example")

    messages = await changed(world, token)

    assert set(messages) == {NEW}


async def test_other_accounts_cannot_take_the_old_address_for_a_week(world: World, clock: SettableClock) -> None:
    other = (await world.register_and_sign_in("eve@example.com")).access_token
    await changed(world, (await world.register_and_sign_in()).access_token)

    assert (await world.register(EMAIL)).status == 409
    assert (await change(world, other, EMAIL)).status == 400

    clock.advance(WEEK)
    assert (await world.register(EMAIL)).status == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/auth/login", {"password": PASSWORD}),
        ("/api/auth/forgot-password", {}),
        ("/api/auth/resend-verification", {}),
        ("/api/auth/magic-link/request", {}),
    ],
)
async def test_the_reserved_old_address_is_treated_like_an_unknown_address(
    world: World, path: str, body: dict[str, str]
) -> None:
    await changed(world, (await world.register_and_sign_in()).access_token)

    answers = [await world.client.post(path, body={"email": to, **body}) for to in (EMAIL, "nobody@example.com")]

    bodies = [{**answer.json, "timestamp": "", "request_id": ""} for answer in answers]
    assert (answers[0].status, bodies[0]) == (answers[1].status, bodies[1])
    assert await world.mails() == []


async def test_the_account_itself_can_change_back_to_the_old_address(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token
    await changed(world, token)

    assert set(await changed(world, token, EMAIL)) == {EMAIL}
    assert world.has_user(EMAIL)


async def test_an_old_address_that_now_belongs_to_another_account_cannot_be_restored(
    world: World, connection: Connection
) -> None:
    undo_token = (await changed(world, (await world.register_and_sign_in()).access_token))[EMAIL]
    await world.register("eve@example.com")
    connection.execute("UPDATE users SET email = %s WHERE email = 'eve@example.com'", (EMAIL,))

    answer = await undo(world, undo_token)

    assert answer.status == 400
    assert "belongs to another account now" in answer.text
    assert world.has_user(NEW)


async def test_the_security_log_records_the_change_and_the_undo(world: World, connection: Connection) -> None:
    tokens = await changed(world, (await world.register_and_sign_in()).access_token)
    await undo(world, tokens[EMAIL])

    kinds = connection.execute("SELECT event_type, success FROM mfa_events ORDER BY id").fetchall()
    assert kinds == [("email_changed", True), ("email_change_undone", True)]


async def test_a_change_of_a_deactivated_account_cannot_be_undone(world: World) -> None:
    tokens = await changed(world, (await world.register_and_sign_in()).access_token)
    world.deactivate(NEW)

    assert (await undo(world, tokens[EMAIL])).status == 400
