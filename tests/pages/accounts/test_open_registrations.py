"""Several registrations of one address: each has a password and a link of its own until the address is proved."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest

from adapters.postgres.driver.connection import Connection
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.statements import alike, recorded_statements
from tests.world.builder import EMAIL, PASSWORD, PASSWORD_HASH
from tests.world.inviter import Inviter
from tests.world.registrations import (
    CONFIRM,
    JSON,
    RESEND,
    STRANGER,
    mailed,
    registered,
    registered_on_page,
    signs_in,
)
from tests.world.visitor import Visitor
from tests.world.world import World, assert_refused

ROUNDS = 10


class TestWhoseItWas:
    """The link that is used makes the password of its registration the account's, and ends the others."""

    async def test_a_person_who_registers_after_a_stranger_gets_the_account(
        self, world: World, visitor: Visitor
    ) -> None:
        strangers = await registered(world)
        mine = await registered_on_page(visitor, world)

        home = await visitor.submit(await visitor.open(mine), CONFIRM)

        assert "You are signed in as" in home.text
        assert await signs_in(world, PASSWORD, STRANGER) == [200, 401]
        assert (await world.client.get(strangers, headers=JSON)).status == 400
        assert world.rows("SELECT FROM open_registrations") == []

    async def test_a_program_that_registers_again_gets_a_conflict_and_a_link_of_its_own(self, world: World) -> None:
        await registered(world)

        again = await world.register(EMAIL, PASSWORD)
        used = await world.client.get(await mailed(world), headers=JSON)

        assert_refused(again, 409, "CONFLICT")
        assert used.status == 200
        assert await signs_in(world, PASSWORD, STRANGER) == [200, 401]

    async def test_a_registration_with_the_password_of_an_open_one_is_that_one_again(
        self, world: World, clock: SettableClock
    ) -> None:
        kept = "SELECT id, name, created_at, password_hash FROM open_registrations ORDER BY created_at, id"
        first = await registered(world)
        await registered(world, PASSWORD)
        before, password_hash = world.rows(kept), world.value("SELECT password_hash FROM users")
        clock.advance(timedelta(hours=2))

        again = await world.client.post(
            "/api/auth/register", body={"email": EMAIL, "password": STRANGER, "name": "Another"}
        )
        link = await mailed(world)

        assert_refused(again, 409, "CONFLICT")
        assert world.rows(kept) == before
        assert world.value("SELECT password_hash FROM users") == password_hash
        # The link that was mailed anew is good as long as any, and so is the first until then.
        clock.advance(timedelta(hours=23))
        assert (await world.client.get(first, headers=JSON)).status == 400
        assert (await world.client.get(link, headers=JSON)).json["message"].startswith("Your email address is verified")
        assert await signs_in(world, STRANGER, PASSWORD) == [200, 401]

    @pytest.mark.parametrize("resent", ["before", "after", "never"])
    async def test_each_link_of_a_registration_that_was_repeated_keeps_its_password(
        self, world: World, clock: SettableClock, resent: str
    ) -> None:
        for number in range(3):
            email = f"ada{number}@example.com"
            links = [await registered(world, PASSWORD, email)]
            for step in ("before", "repeated", "after"):
                clock.advance(timedelta(hours=1))
                if step == "repeated":
                    links.append(await registered(world, PASSWORD, email))
                elif step == resent:
                    await world.client.post(RESEND, body={"email": email})
                    links.append(await mailed(world))

            used = await world.client.get(links[min(number, len(links) - 1)], headers=JSON)

            assert used.json["message"].startswith("Your email address is verified"), (resent, number)
            assert (await world.log_in(email, PASSWORD)).status == 200

    async def test_before_the_proof_a_sign_in_compares_with_the_newest_password(self, world: World) -> None:
        await registered(world)
        await registered(world, PASSWORD)

        answers = [await world.log_in(EMAIL, password) for password in (STRANGER, PASSWORD)]

        assert [answer.status for answer in answers] == [401, 401]
        assert ["Verify your email address" in answer.json["error"] for answer in answers] == [False, True]

    async def test_of_two_links_at_once_one_registration_wins(self, world: World) -> None:
        for number in range(ROUNDS):
            email = f"racer{number}@example.com"
            links = {password: await registered(world, password, email) for password in (STRANGER, PASSWORD)}

            answers = await at_once(*[partial(world.client.get, path, headers=JSON) for path in links.values()])

            assert statuses_of(answers) == [200, 400]
            logins = [(await world.log_in(email, password)).status for password in links]
            assert sorted(logins) == [200, 401]

    async def test_a_registration_beside_the_use_of_another_link_is_kept_or_finds_the_address_proved(
        self, world: World
    ) -> None:
        for number in range(ROUNDS):
            email = f"racer{number}@example.com"
            path = await registered(world, PASSWORD, email)

            answers = await at_once(
                partial(world.client.get, path, headers=JSON), partial(world.register, email, STRANGER)
            )

            assert statuses_of(answers) == [200, 409]
            assert (await world.log_in(email)).status == 200
            assert world.rows("SELECT FROM open_registrations") == []
            await world.mails()

    @pytest.mark.parametrize("state", ["verified", "deactivated", "closed"])
    async def test_nothing_is_kept_for_an_account_that_is_proved_or_not_active(
        self, world: World, connection: Connection, state: str
    ) -> None:
        world.user(is_verified=state == "verified", is_active=state != "deactivated")
        if state == "closed":
            connection.execute("UPDATE users SET closed_at = created_at")

        answer = await world.register(EMAIL, STRANGER)

        assert_refused(answer, 409, "CONFLICT")
        assert world.rows("SELECT FROM open_registrations") == []
        assert world.rows("SELECT password_hash FROM users") == [(PASSWORD_HASH,)]
        assert await world.mails() == []

    async def test_an_account_that_an_organization_made_is_registered_like_any_other(self, world: World) -> None:
        world.user(is_verified=False, password_hash=None)

        answer = await world.register()
        path = await mailed(world)

        assert_refused(answer, 409, "CONFLICT")
        assert (await world.client.get(path, headers=JSON)).status == 200
        assert await signs_in(world, PASSWORD) == [200]

    async def test_a_program_takes_the_same_statements_for_a_proved_address_and_for_one_that_waits(
        self, world: World
    ) -> None:
        world.user("verified@example.com")
        world.user("unverified@example.com", is_verified=False)
        executed: list[list[str]] = []

        for email in ("verified@example.com", "unverified@example.com", "new@example.com", "new@example.com"):
            with recorded_statements() as statements:
                await world.register(email)
            executed.append(alike(statements))

        assert executed == [executed[0]] * 4

    async def test_a_registration_is_kept_for_a_day(self, world: World, clock: SettableClock) -> None:
        await registered(world)
        clock.advance(timedelta(hours=1))
        await world.client.post(RESEND, body={"email": EMAIL})
        later = await mailed(world)

        clock.advance(timedelta(hours=23))
        answer = await world.client.get(later, headers=JSON)

        assert "Choose a password for ada@example.com" in answer.json["message"]
        assert await signs_in(world, STRANGER) == [401]

    async def test_a_proof_by_other_means_ends_the_registrations(self, world: World) -> None:
        path = await registered(world)
        await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL})
        token = (await world.mail()).values["token"]

        assert (await world.client.post("/api/auth/magic-link/verify", body={"token": token})).status == 200

        assert (await world.client.get(path, headers=JSON)).status == 400
        assert await signs_in(world, STRANGER) == [401]
        assert world.rows("SELECT FROM open_registrations") == []

    async def test_a_link_sent_again_with_several_registrations_keeps_no_password(self, world: World) -> None:
        for password in (STRANGER, PASSWORD):
            await registered(world, password)
        await world.client.post(RESEND, body={"email": EMAIL})

        answer = await world.client.get(await mailed(world), headers=JSON)

        assert "Choose a password for ada@example.com" in answer.json["message"]
        assert await signs_in(world, STRANGER, PASSWORD) == [401, 401]

    async def test_an_imported_password_is_kept_beside_those_of_registrations(
        self, world: World, clock: SettableClock, connection: Connection
    ) -> None:
        user_id = world.user(is_verified=False)
        connection.execute(
            "INSERT INTO open_registrations (id, user_id, email, password_hash, data, created_at)"
            " SELECT id, id, email, password_hash, '{}', created_at FROM users"
        )
        clock.advance(timedelta(days=30))
        await registered(world)
        clock.advance(timedelta(days=1))
        await world.client.post(RESEND, body={"email": EMAIL})

        answer = await world.client.get(await mailed(world), headers=JSON)

        assert answer.status == 200
        assert world.user_id(EMAIL) == user_id
        assert await signs_in(world, PASSWORD, STRANGER) == [200, 401]


class TestScanners:
    """A mail scanner opens every link."""

    async def test_it_verifies_nothing_and_lets_no_admin_accept_an_invitation(self, inviter: Inviter) -> None:
        world = inviter.world
        invitation = await inviter.invite("scanned@example.com")
        await world.mails()
        path = await registered(world, STRANGER, "scanned@example.com")

        for accept in ("text/html", "*/*", "application/*", None):
            opened = await world.client.get(path, headers={"Accept": accept} if accept is not None else {})
            assert opened.headers["Content-Type"].startswith("text/html"), accept

        assert (
            world.rows("SELECT FROM users WHERE email = 'scanned@example.com' AND email_verified_at IS NOT NULL") == []
        )
        assert (await world.log_in("scanned@example.com", STRANGER)).status == 401
        assert (inviter.status(invitation), inviter.role_of("scanned@example.com")) == ("pending", None)

    async def test_a_browser_that_prefers_a_page_gets_one(self, world: World) -> None:
        path = await registered(world)

        answer = await world.client.get(path, headers={"Accept": "text/html, application/json;q=0.5"})

        assert answer.headers["Content-Type"].startswith("text/html")
        assert await signs_in(world, STRANGER) == [401]
