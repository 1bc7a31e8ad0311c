"""Concurrent sign-ins with one passkey, and the counter that reveals a copied one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import trio

from tests.authenticators import Authenticator
from tests.http.sign_in.passkeys import assert_not_accepted
from tests.world.builder import EMAIL
from tests.world.passkeys import Keyring
from tests.world.world import World

ROUNDS = 50


class TestSignCount:
    """The sign counter that an authenticator reports."""

    async def test_a_counter_that_does_not_increase_is_refused_and_logged(self, keyring: Keyring, world: World) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()
        authenticator.sign_count = 41
        assert (await keyring.sign_in(authenticator)).status == 200

        for sign_count in (41, 0):
            authenticator.sign_count = sign_count
            assert_not_accepted(await keyring.sign_in(authenticator))

        passkey_id = str(world.value("SELECT id FROM passkeys"))
        assert keyring.security_log()[1:] == [
            ("passkey_sign_count_regressed", False, {"passkey_id": passkey_id, "expected_over": 42, "given": given})
            for given in (42, 1)
        ]
        assert [data["reason"] for _, _, data in world.events("user.login.failed")] == ["sign_count_regressed"] * 2

    async def test_an_authenticator_that_stops_counting_is_refused(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()
        authenticator.counts, authenticator.sign_count = False, 0

        assert_not_accepted(await keyring.sign_in(authenticator))

    async def test_an_authenticator_that_never_counts_is_accepted(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered(counts=False)

        assert [(await keyring.sign_in(authenticator)).status for _ in range(2)] == [200, 200]


@pytest.mark.long
class TestRaces:
    """Of two concurrent sign-ins one wins."""

    async def test_of_two_concurrent_answers_to_one_challenge_one_wins(self, keyring: Keyring, world: World) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered(counts=False)
        for number in range(ROUNDS):
            challenge = await keyring.started(EMAIL if number % 2 else None)
            credential, statuses = authenticator.get(challenge["options"]), list[int]()

            async def finish(challenge: dict[str, Any], credential: Any, statuses: list[int]) -> None:
                statuses.append((await keyring.finish(challenge, credential)).status)

            async with trio.open_nursery() as nursery:
                for _ in range(2):
                    nursery.start_soon(finish, challenge, credential, statuses)

            assert sorted(statuses) == [200, 401]

    async def test_of_two_copies_with_the_same_counter_one_wins(self, keyring: Keyring) -> None:
        await keyring.sign_up()
        authenticator = await keyring.registered()
        for _ in range(ROUNDS):
            copies, statuses = [authenticator, replace(authenticator)], list[int]()
            challenges = [await keyring.started() for _ in copies]

            async def finish(copy: Authenticator, challenge: dict[str, Any], statuses: list[int]) -> None:
                statuses.append((await keyring.finish(challenge, copy.get(challenge["options"]))).status)

            async with trio.open_nursery() as nursery:
                for copy, challenge in zip(copies, challenges, strict=True):
                    nursery.start_soon(finish, copy, challenge, statuses)

            assert sorted(statuses) == [200, 401]

    async def test_a_concurrently_removed_passkey_signs_in_before_its_removal_or_not_at_all(
        self, keyring: Keyring
    ) -> None:
        await keyring.sign_up()
        for _ in range(ROUNDS):
            authenticator = Authenticator()
            passkey_id = (await keyring.register(authenticator)).json["id"]
            challenge, statuses = await keyring.started(), dict[str, int]()
            credential = authenticator.get(challenge["options"])

            async def finish(challenge: dict[str, Any], credential: Any, statuses: dict[str, int]) -> None:
                statuses["sign in"] = (await keyring.finish(challenge, credential)).status

            async def remove(passkey_id: str, statuses: dict[str, int]) -> None:
                statuses["remove"] = (await keyring.ask("DELETE", f"/{passkey_id}")).status

            async with trio.open_nursery() as nursery:
                nursery.start_soon(finish, challenge, credential, statuses)
                nursery.start_soon(remove, passkey_id, statuses)

            assert statuses["remove"] == 204
            assert statuses["sign in"] in {200, 401}
            assert_not_accepted(await keyring.sign_in(authenticator, None))
