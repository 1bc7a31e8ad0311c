"""Setting and changing the password."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
import trio

from adapters.crypto.passwords import Argon2PasswordHasher
from adapters.postgres.driver.connection import Connection
from entrypoints.settings import Settings
from ports.accounts.passwords import PasswordHasher, PasswordVerdict
from tests.application import CHEAP, Answer, serving
from tests.clock import SettableClock
from tests.waiting import waiting_for_a_lock
from tests.world.builder import EMAIL, PASSWORD
from tests.world.world import World

NEW_PASSWORD = "a quite different one"


@dataclass(frozen=True)
class ResetDuringVerification:
    """A `PasswordHasher` during whose comparison the password is reset."""

    hasher: PasswordHasher
    connection: Connection

    async def hash(self, password: str, *, salt: bytes | None = None) -> str:
        """Return the hash of the password."""
        return await self.hasher.hash(password, salt=salt)

    async def verify(self, password: str, encoded: str | None, decoys: Sequence[str] = ()) -> PasswordVerdict:
        """Reset the password, then compare."""
        self.connection.execute("UPDATE users SET password_hash = 'the reset one'")
        return await self.hasher.verify(password, encoded, decoys)


async def set_password(world: World, token: str | None, password: str = NEW_PASSWORD) -> Answer:
    """Set a first password."""
    return await world.client.post("/api/user/set-password", token=token, body={"new_password": password})


async def change(world: World, token: str | None, current: str = PASSWORD, new: str = NEW_PASSWORD) -> Answer:
    """Change a password."""
    body = {"current_password": current, "new_password": new}
    return await world.client.post("/api/user/change-password", token=token, body=body)


async def test_an_account_without_a_password_sets_its_first_one(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token
    world.remove_password()
    await world.mails()

    answer = await set_password(world, token)

    assert answer.status == 200
    assert (await world.log_in(EMAIL, NEW_PASSWORD)).status == 200
    message = await world.mail()
    assert (message.to, message.template) == (EMAIL, "password_set")
    assert EMAIL not in world.installation.mail_renderer.render(message).subject


async def test_an_account_with_a_password_cannot_set_a_first_one(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token

    answer = await set_password(world, token)

    assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")
    assert (await world.log_in()).status == 200


async def test_a_first_password_is_refused_if_another_one_is_committed_before_it(
    world: World, connection: Connection
) -> None:
    token = (await world.register_and_sign_in()).access_token
    world.remove_password()
    answers: list[Answer] = []

    async def try_to_set() -> None:
        answers.append(await set_password(world, token))

    async with trio.open_nursery() as nursery:
        with connection.transaction():
            connection.execute("UPDATE users SET password_hash = 'the first'")
            nursery.start_soon(try_to_set)
            await waiting_for_a_lock(connection)

    assert [answer.status for answer in answers] == [400]
    assert connection.execute("SELECT password_hash FROM users").fetchone() == ("the first",)


async def test_of_two_concurrent_first_passwords_one_is_set(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token
    world.remove_password()
    outcomes: dict[str, int] = {}

    async def try_to_set(password: str) -> None:
        outcomes[password] = (await set_password(world, token, password)).status

    async with trio.open_nursery() as nursery:
        for password in ("the first password", "the other password"):
            nursery.start_soon(try_to_set, password)

    assert sorted(outcomes.values()) == [200, 400]
    [winner] = [password for password, status in outcomes.items() if status == 200]
    assert (await world.log_in(EMAIL, winner)).status == 200


async def test_setting_a_first_password_ends_no_session(world: World) -> None:
    token, other = (await world.register_and_sign_in()).access_token, (await world.sign_in()).access_token
    world.remove_password()

    await set_password(world, token)

    statuses = [(await world.client.get("/api/user", token=each)).status for each in (token, other)]
    assert statuses == [200, 200]


async def test_a_change_replaces_the_password(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token

    answer = await change(world, token)

    assert answer.status == 200
    assert (await world.log_in(EMAIL, NEW_PASSWORD)).status == 200
    assert (await world.log_in(EMAIL, PASSWORD)).status == 401


async def test_a_change_ends_all_sessions_but_the_current_one(world: World) -> None:
    token, other = (await world.register_and_sign_in()).access_token, (await world.sign_in()).access_token

    await change(world, token)

    assert (await world.client.get("/api/user", token=token)).status == 200
    assert (await world.client.get("/api/user", token=other)).status == 401


async def test_a_change_ends_sign_ins_that_wait_for_a_second_factor_and_reset_links(
    world: World, connection: Connection
) -> None:
    token = (await world.register_and_sign_in()).access_token
    await world.client.post("/api/auth/forgot-password", body={"email": EMAIL})
    reset_token = (await world.mail()).values["token"]
    connection.execute("UPDATE users SET mfa_enabled_at = created_at")
    await world.log_in()

    await change(world, token)

    assert connection.execute("SELECT used_at IS NULL FROM mfa_challenges").fetchall() == [(False,)]
    answer = await world.client.post(
        "/api/auth/reset-password", body={"token": reset_token, "new_password": "a third password"}
    )
    assert answer.status == 400


@pytest.mark.parametrize("wrong", ["not the password", "", PASSWORD + " ", "x" * 200])
async def test_a_wrong_current_password_changes_nothing(world: World, wrong: str) -> None:
    token, other = (await world.register_and_sign_in()).access_token, (await world.sign_in()).access_token

    answer = await change(world, token, current=wrong)

    assert (answer.status, answer.json["error_code"]) == (401, "UNAUTHORIZED")
    assert "current password is wrong" in answer.json["error"]
    assert (await world.client.get("/api/user", token=other)).status == 200


async def test_wrong_current_passwords_count_as_failed_sign_ins(world: World, clock: SettableClock) -> None:
    token = (await world.register_and_sign_in()).access_token
    limited = replace(world, client=serving(replace(world.installation, settings=Settings(dev=True))))
    guesses = [(await change(limited, token, current=f"guess {number}")).status for number in range(10)]

    assert guesses == [401] * 10
    assert (await change(limited, token)).status == 429
    assert (await limited.log_in(address="127.0.0.1")).status == 429

    clock.advance(timedelta(minutes=15, seconds=1))
    assert (await change(limited, (await limited.sign_in()).access_token)).status == 200


async def test_an_attempt_that_the_busy_hasher_refused_is_not_counted(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token
    full_hasher = Argon2PasswordHasher(places=1, cost=CHEAP)
    full_hasher._waiting_max = 0
    busy = replace(world, client=serving(replace(world.installation, passwords=full_hasher)))

    answer = await change(busy, token)

    assert answer.status == 503
    assert world.connection.execute("SELECT count(*) FROM sign_in_failures").fetchone() == (0,)


async def test_a_correct_current_password_is_not_counted_as_a_failure(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token

    statuses = [(await change(world, token, PASSWORD, PASSWORD)).status for _ in range(15)]

    assert statuses == [200] * 15


async def test_an_account_without_a_password_cannot_change_it(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token
    world.remove_password()

    answer = await change(world, token)

    assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")
    assert "set-password" in answer.json["error"]


async def test_of_two_concurrent_changes_one_succeeds(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token
    outcomes: dict[str, int] = {}

    async def try_to_change(password: str) -> None:
        outcomes[password] = (await change(world, token, new=password)).status

    async with trio.open_nursery() as nursery:
        for password in ("the first password", "the other password"):
            nursery.start_soon(try_to_change, password)

    assert sorted(outcomes.values()) == [200, 401]
    [winner] = [password for password, status in outcomes.items() if status == 200]
    assert (await world.log_in(EMAIL, winner)).status == 200


async def test_a_reset_during_the_comparison_wins_over_the_change(world: World, connection: Connection) -> None:
    token = (await world.register_and_sign_in()).access_token
    reset = replace(world.installation, passwords=ResetDuringVerification(world.installation.passwords, connection))

    answer = await change(replace(world, client=serving(reset)), token)

    assert (answer.status, answer.json["error_code"]) == (401, "UNAUTHORIZED")
    assert connection.execute("SELECT password_hash FROM users").fetchone() == ("the reset one",)


@pytest.mark.parametrize("password", ["7 chars", "x" * 129, "nul\x00 inside"])
async def test_an_invalid_new_password_is_refused_with_the_name_of_the_field(world: World, password: str) -> None:
    token = (await world.register_and_sign_in()).access_token
    changed = await change(world, token, new=password)
    world.remove_password()
    first = await set_password(world, token, password)

    for answer in (changed, first):
        assert (answer.status, answer.json["details"][0]["field"]) == (400, "new_password")


async def test_setting_and_changing_a_password_require_a_current_session(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token
    await world.client.post("/api/auth/logout", token=token)

    answers = [await act(world, each) for act in (set_password, change) for each in (None, "nonsense", token)]

    assert [answer.status for answer in answers] == [401] * 6


async def test_an_impersonator_cannot_set_or_change_the_password(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token
    await world.register_and_verify("owner@example.com")
    world.impersonate_in_sessions(EMAIL, owner="owner@example.com")

    answers = [await act(world, token) for act in (set_password, change)]

    assert [(answer.status, answer.json["error_code"]) for answer in answers] == [(403, "FORBIDDEN")] * 2


async def test_a_change_is_recorded_in_each_organization_of_the_user(world: World, connection: Connection) -> None:
    token = (await world.register_and_sign_in()).access_token
    organization_ids = [world.organization(slug) for slug in ("one", "two")]
    for organization_id in organization_ids:
        world.member(organization_id, world.user_id(EMAIL))

    await change(world, token)

    assert world.audit_entries("security.password.changed", "organization_id", "actor_user_id") == [
        (organization_id, world.user_id(EMAIL)) for organization_id in organization_ids
    ]
    assert world.events("security.password.changed") == [
        (organization_id, EMAIL, {}) for organization_id in organization_ids
    ]
    assert len(world.events("session.revoked")) == 0


async def test_the_user_gets_a_notice_of_the_change(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token
    await world.mails()

    await change(world, token)

    message = await world.mail()
    assert (message.to, message.template) == (EMAIL, "password_changed")
