"""Concurrent answers to an invitation."""

from __future__ import annotations

from functools import partial

import psycopg
import trio

from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.waiting import eventually
from tests.world.builder import PASSWORD
from tests.world.inviter import Inviter
from tests.world.world import assert_refused


async def test_of_two_concurrent_acceptances_one_gets_the_last_seat(inviter: Inviter) -> None:
    for seats in range(2, 8):
        inviter.world.rows("UPDATE organizations SET max_users = %s RETURNING id", seats)
        pair = [await inviter.invite(f"{name}{seats}@example.com") for name in ("anna", "bert")]

        answers = await at_once(*(lambda one=one: inviter.accept(one) for one in pair))

        assert statuses_of(answers) == [200, 400]
        assert inviter.world.value("SELECT count(*) FROM memberships") == seats


async def test_concurrent_acceptances_of_an_invitation_add_one_member(inviter: Inviter) -> None:
    invitation = await inviter.invite()

    answers = await at_once(
        lambda: inviter.accept(invitation),
        lambda: inviter.accept_on_behalf(invitation),
        lambda: inviter.accept(invitation),
    )

    assert statuses_of(answers).count(200) == 1
    assert inviter.world.value("SELECT count(*) FROM memberships") == 2
    assert len(inviter.audit_entries("user.joined")) == 1


async def test_of_concurrent_acceptance_decline_and_revocation_one_wins(inviter: Inviter) -> None:
    for number in range(5):
        invitation = await inviter.invite(f"guest{number}@example.com")

        answers = await at_once(
            lambda one=invitation: inviter.accept(one),
            lambda one=invitation: inviter.decline(one),
            lambda one=invitation: inviter.revoke(one),
        )

        assert statuses_of(answers).count(200) == 1
        is_member = inviter.role_of(f"guest{number}@example.com") is not None
        assert is_member == (inviter.status(invitation) == "accepted")


async def test_an_invitation_that_ends_while_it_is_revoked_is_not_found(inviter: Inviter, database_url: str) -> None:
    invitation = await inviter.invite()
    answers: list[Answer] = []

    async def revoke() -> None:
        answers.append(await inviter.revoke(invitation))

    with psycopg.connect(database_url) as other:
        other.execute("UPDATE invitations SET status = 'cancelled'")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(revoke)
            await eventually(partial(trio.to_thread.run_sync, inviter.world.has_lock_waiter))
            other.commit()

    assert_refused(answers[0], 404, "NOT_FOUND")
    assert inviter.audit_entries("invitation.revoked") == []


async def test_an_invitation_that_ends_while_it_is_accepted_adds_no_member(inviter: Inviter, database_url: str) -> None:
    invitation = await inviter.invite()
    answers: list[Answer] = []

    async def accept() -> None:
        answers.append(await inviter.accept(invitation))

    with psycopg.connect(database_url) as other:
        other.execute("SELECT FROM organizations FOR UPDATE")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(accept)
            await eventually(partial(trio.to_thread.run_sync, inviter.world.has_lock_waiter))
            other.execute("UPDATE invitations SET status = 'cancelled'")
            other.commit()

    assert_refused(answers[0], 400, "BAD_REQUEST")
    assert inviter.world.value("SELECT count(*) FROM memberships") == 1


async def test_concurrent_registration_and_acceptance_create_one_account(inviter: Inviter) -> None:
    for number in range(5):
        email = f"guest{number}@example.com"
        invitation = await inviter.invite(email)
        body = {"email": email, "password": PASSWORD}

        answers = await at_once(
            lambda one=invitation: inviter.accept(one),
            lambda sent=body: inviter.world.client.post("/api/auth/register", body=sent),
        )

        assert statuses_of(answers) in ([200, 200], [200, 409])
        assert inviter.role_of(email) == "member"
        await inviter.world.mails()


async def test_of_two_managers_who_accept_on_behalf_at_once_one_succeeds(inviter: Inviter) -> None:
    invitation = await inviter.invite()

    answers = await at_once(*[lambda: inviter.accept_on_behalf(invitation)] * 2)

    assert statuses_of(answers) == [200, 404]
    assert len(inviter.audit_entries("user.joined")) == 1
    assert inviter.world.value("SELECT count(*) FROM mails WHERE template = 'membership_added'") == 1


async def test_of_leaving_and_accepting_again_at_once_the_person_is_gone(inviter: Inviter) -> None:
    inviter.world.user("guest@example.com")
    first = await inviter.invite()
    await inviter.accept_on_behalf(first)
    guest = await inviter.world.sign_in("guest@example.com")
    leave = "/api/organizations/acme/leave"

    answers = await at_once(
        lambda: inviter.world.client.post(leave, token=guest.access_token),
        lambda: inviter.accept(first, is_proved=True),
    )

    # The old invitation confirms a membership that exists, and never makes another one.
    assert statuses_of(answers) in ([200, 204], [204, 400])
    assert inviter.role_of() is None
