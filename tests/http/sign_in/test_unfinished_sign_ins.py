"""Half-finished sign-ins end with the sessions of their account."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeAlias

import pytest
import trio

from core.sessions import sessions
from entrypoints.installation import Installation
from ports.unit_of_work import UnitOfWork
from tests.authenticators import Authenticator
from tests.concurrency import at_once
from tests.world.builder import EMAIL, PASSWORD
from tests.world.passkeys import Keyring
from tests.world.second_factors import Person, insert_person
from tests.world.world import World, assert_refused

Ender: TypeAlias = Callable[[Person], Awaitable[None]]

NEW_PASSWORD = "an entirely different phrase"
ROUNDS = 15


@pytest.fixture
async def ada(world: World) -> Person:
    """A user with an authenticator app, who is signed in."""
    person = insert_person(world)
    await person.turn_mfa_on()
    await person.sign_in_with_second_factor()
    person.next_step()
    return person


async def end_others(person: Person) -> None:
    answer = await person.world.client.delete("/api/user/sessions", token=person.token)
    assert answer.status == 204, answer.text


async def change_password(person: Person) -> None:
    body = {"current_password": PASSWORD, "new_password": NEW_PASSWORD}
    answer = await person.world.client.post("/api/user/change-password", token=person.token, body=body)
    assert answer.status == 200, answer.text


async def reset_password(person: Person) -> None:
    await person.reset_password(NEW_PASSWORD)


ENDERS = pytest.mark.parametrize("end", [end_others, change_password, reset_password])


@ENDERS
async def test_a_pre_auth_token_is_over_when_the_sessions_of_its_account_end(ada: Person, end: Ender) -> None:
    token = await ada.preauth_token()

    await end(ada)

    assert_refused(await ada.verify(token, ada.code()), 401, "UNAUTHORIZED")


@ENDERS
@pytest.mark.parametrize("address", [EMAIL, None])
async def test_a_passkey_challenge_is_over_when_the_sessions_of_the_account_that_answers_it_end(
    keyring: Keyring, ada: Person, end: Ender, address: str | None
) -> None:
    keyring.token = ada.token
    authenticator = await keyring.registered()
    challenge = await keyring.started(address)
    answer = authenticator.get(challenge["options"])

    await end(ada)

    assert_refused(await keyring.finish(challenge, answer), 401, "UNAUTHORIZED")
    assert (await keyring.sign_in(authenticator, address)).status == 200


async def test_a_registration_of_a_passkey_is_over_when_all_other_sessions_end(keyring: Keyring, ada: Person) -> None:
    keyring.token = ada.token
    challenge = await keyring.start_registration()
    credential = Authenticator().create(challenge["options"])

    await end_others(ada)

    answer = await keyring.finish_registration(challenge, credential)
    assert_refused(answer, 400, "BAD_REQUEST")
    assert "expired or was already used" in answer.json["error"]


@ENDERS
async def test_a_mailed_sign_in_link_is_over_when_the_sessions_of_its_account_end(
    world: World, ada: Person, end: Ender
) -> None:
    await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL})
    token = next(mail.values["token"] for mail in await world.mails() if mail.template == "magic_link")

    await end(ada)

    answer = await world.client.post("/api/auth/magic-link/verify", body={"token": token})
    assert_refused(answer, 401, "UNAUTHORIZED")


async def test_removing_a_device_ends_a_sign_in_that_may_have_begun_on_it(world: World) -> None:
    ada = insert_person(world)
    await ada.turn_mfa_on()
    await ada.sign_in_with_second_factor()
    ada.next_step()
    phone = {"User-Agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Safari/604.1"}
    await world.client.post(
        "/api/auth/mfa/verify", token=await ada.preauth_token(), body={"code": ada.code()}, headers=phone
    )
    ada.next_step()
    token = await ada.preauth_token(headers=phone)
    listed = (await world.client.get("/api/user/devices", token=ada.token)).json["devices"]

    for device in listed:
        await world.client.delete(f"/api/user/devices/{device['id']}", token=ada.token)

    assert_refused(await ada.verify(token, ada.code()), 401, "UNAUTHORIZED")


async def test_ending_an_end_users_sessions_ends_their_unfinished_sign_ins_to_that_organization_only(
    world: World,
) -> None:
    ada = insert_person(world, "ada@example.com")
    await ada.turn_mfa_on()
    acme = world.organization()
    world.service(acme, "shop")
    owner = await world.signed_in_member(acme, email="owner@example.com")
    first = await ada.preauth_token(org_slug="acme", service_slug="shop")
    assert (await ada.verify(first, ada.code())).status == 200
    ada.next_step()
    at_the_shop, elsewhere = await ada.preauth_token(org_slug="acme", service_slug="shop"), await ada.preauth_token()

    answer = await owner.delete(f"/api/organizations/acme/users/{ada.id}/sessions")

    assert answer.status == 200, answer.text
    assert_refused(await ada.verify(at_the_shop, ada.code()), 401, "UNAUTHORIZED")
    assert (await ada.verify(elsewhere, ada.code())).status == 200


async def test_unlinking_an_identity_ends_a_sign_in_that_may_have_begun_with_it(world: World, ada: Person) -> None:
    world.connection.execute(
        """
        INSERT INTO identities (id, user_id, provider, subject, linked_at, used_at)
        VALUES (gen_random_uuid(), %s, 'codehost', '1', now(), now())
        """,
        (ada.id,),
    )
    token = await ada.preauth_token()

    answer = await world.client.delete("/api/user/identities/codehost", token=ada.token)

    assert answer.status == 204, answer.text
    assert_refused(await ada.verify(token, ada.code()), 401, "UNAUTHORIZED")


class TestSameChecks:
    """The second half checks what the first one has checked."""

    async def test_a_code_signs_in_no_address_that_is_unproved_meanwhile(self, world: World, ada: Person) -> None:
        ada.join_organization("acme")
        token = await ada.preauth_token(org_slug="acme")
        world.connection.execute("UPDATE users SET email_verified_at = NULL WHERE id = %s", (ada.id,))

        answer = await ada.verify(token, ada.code())

        assert_refused(answer, 401, "UNAUTHORIZED")
        assert "Verify your email address" in answer.json["error"]

    async def test_a_code_signs_in_to_no_organization_that_the_user_has_left(self, world: World, ada: Person) -> None:
        organization_id = ada.join_organization("acme")
        token = await ada.preauth_token(org_slug="acme")
        world.connection.execute("DELETE FROM memberships WHERE organization_id = %s", (organization_id,))

        assert_refused(await ada.verify(token, ada.code()), 403, "FORBIDDEN")

    async def test_a_code_signs_in_to_no_organization_that_was_suspended(self, world: World, ada: Person) -> None:
        organization_id = ada.join_organization("acme")
        token = await ada.preauth_token(org_slug="acme")
        world.set_organization_status(organization_id, "suspended")

        assert_refused(await ada.verify(token, ada.code()), 403, "ORGANIZATION_NOT_ACTIVE")

    async def test_a_code_signs_in_to_no_service_that_was_deleted(self, world: World, ada: Person) -> None:
        world.service(world.organization(), "shop")
        token = await ada.preauth_token(org_slug="acme", service_slug="shop")
        world.connection.execute("DELETE FROM services")

        assert_refused(await ada.verify(token, ada.code()), 404, "NOT_FOUND")


class TestRaces:
    """A code beside what ends the sessions: the session ends, or never begins."""

    async def test_no_session_survives_a_code_beside_the_end_of_all_sessions(
        self, world: World, ada: Person, installation: Installation
    ) -> None:
        def end(uow: UnitOfWork) -> None:
            sessions.end_all(uow, ada.id, ada.email)

        for _ in range(ROUNDS):
            token, code = await ada.preauth_token(), ada.code()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(partial(ada.verify, token, code))
                nursery.start_soon(installation.database.transact, end)
            ada.next_step()

            assert world.value("SELECT count(*) FROM sessions WHERE revoked_at IS NULL") == 0

    async def test_no_session_survives_a_code_beside_a_deactivation(
        self, world: World, installation: Installation
    ) -> None:
        def deactivate(uow: Any, person: Person) -> None:
            uow._transaction.connection.execute("UPDATE users SET deactivated_at = now() WHERE id = %s", (person.id,))
            sessions.end_all(uow, person.id, person.email)

        for number in range(ROUNDS):
            person = insert_person(world, f"ada+{number}@example.com")
            await person.turn_mfa_on()
            token, code = await person.preauth_token(), person.code()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(partial(person.verify, token, code))
                nursery.start_soon(installation.database.transact, partial(deactivate, person=person))

        assert world.value("SELECT count(*) FROM sessions WHERE revoked_at IS NULL") == 0

    async def test_of_two_codes_at_once_one_begins_a_session(self, world: World, ada: Person) -> None:
        token = await ada.preauth_token()
        sessions_before = world.value("SELECT count(*) FROM sessions")

        answers = await at_once(
            *(partial(ada.verify, token, code) for code in (ada.code(), ada.backup_codes[0], ada.backup_codes[1]))
        )

        assert sorted(answer.status for answer in answers) == [200, 401, 401]
        assert world.value("SELECT count(*) FROM sessions") == sessions_before + 1

    async def test_no_session_survives_a_passkey_beside_the_end_of_all_sessions(
        self, world: World, ada: Person, keyring: Keyring, installation: Installation
    ) -> None:
        def end(uow: UnitOfWork) -> None:
            sessions.end_all(uow, ada.id, ada.email)

        keyring.token = ada.token
        authenticator = await keyring.registered()
        for _ in range(ROUNDS):
            challenge = await keyring.started(None)
            answer = authenticator.get(challenge["options"])
            async with trio.open_nursery() as nursery:
                nursery.start_soon(keyring.finish, challenge, answer)
                nursery.start_soon(installation.database.transact, end)

            assert world.value("SELECT count(*) FROM sessions WHERE revoked_at IS NULL") == 0
