"""Guesses by the holder of a session, which may be stolen with its device, have limits of their own."""

from __future__ import annotations

import pytest

from core.accounts.sign_in_failures import FAILURES_FROM_ANYWHERE_MAX, FAILURES_IN_SESSION_MAX, WINDOW
from entrypoints.settings import Settings
from tests.application import Answer
from tests.clock import SettableClock
from tests.world.builder import EMAIL, PASSWORD
from tests.world.second_factors import Person
from tests.world.visitor import Visitor
from tests.world.world import World, assert_refused

NEW = "another horse battery"


@pytest.fixture
def settings() -> Settings:
    """Return settings with rate limits on; without them failed attempts are not counted."""
    return Settings(dev=True)


def network(number: int) -> str:
    """Return an address of a network of its own."""
    return f"10.{number // 250}.{number % 250}.1"


class TestChangingThePassword:
    """`POST /api/user/change-password`."""

    async def change(self, world: World, token: str, number: int, current: str = "a guess") -> Answer:
        """Send a current password from a network of its own."""
        return await world.client.post(
            "/api/user/change-password",
            token=token,
            body={"current_password": current, "new_password": NEW},
            address=network(number),
        )

    async def test_ten_guesses_in_a_session_are_compared_from_whatever_networks(
        self, world: World, clock: SettableClock
    ) -> None:
        world.user()
        token = (await world.sign_in()).access_token
        other = (await world.sign_in()).access_token

        guesses = [(await self.change(world, token, number)).status for number in range(FAILURES_IN_SESSION_MAX)]
        refused = await self.change(world, token, 20, PASSWORD)

        assert guesses == [401] * FAILURES_IN_SESSION_MAX
        assert_refused(refused, 429, "RATE_LIMIT_EXCEEDED")
        assert refused.headers["Retry-After"] == str(int(WINDOW.total_seconds()))
        assert (await self.change(world, other, 21, PASSWORD)).status == 200

    async def test_the_session_goes_on_and_may_try_again_after_the_wait(
        self, world: World, clock: SettableClock
    ) -> None:
        world.user()
        tokens = await world.sign_in()
        for number in range(FAILURES_IN_SESSION_MAX):
            await self.change(world, tokens.access_token, number)
        clock.advance(WINDOW)

        refreshed = (await world.refresh(tokens.refresh_token)).json

        assert (await self.change(world, refreshed["access_token"], 20, PASSWORD)).status == 200

    async def test_an_attacker_elsewhere_does_not_keep_the_user_from_changing_it(self, world: World) -> None:
        world.user()
        token = (await world.sign_in()).access_token
        for number in range(FAILURES_FROM_ANYWHERE_MAX):
            await world.log_in(EMAIL, "wrong", address=network(number))

        assert (await world.log_in(address=network(200))).status == 429
        assert (await self.change(world, token, 201, PASSWORD)).status == 200


class TestSigningInAgain:
    """The page that asks a user who is signed in to prove that they are there."""

    async def stolen(self, world: World) -> Visitor:
        """Return a browser with the cookies of the session and the device."""
        visitor = Visitor(world.client)
        await visitor.sign_in()
        assert any("gatehouse_device" in name for name in visitor.cookies)
        return visitor

    async def guess(self, visitor: Visitor, number: int, **fields: str) -> Answer:
        """Submit a guess from a network of its own."""
        visitor.address = network(number)
        page = await visitor.open("/app/sign-in-again")
        return await visitor.submit(page, "/app/sign-in-again", fields)

    async def test_a_known_device_does_not_exempt_guesses_of_the_password(self, world: World) -> None:
        world.user()
        visitor = await self.stolen(world)

        statuses = [(await self.guess(visitor, number, password="a guess")).status for number in range(11)]

        assert statuses == [401] * FAILURES_IN_SESSION_MAX + [429]
        assert (await self.guess(visitor, 20, password=PASSWORD)).status == 429
        assert visitor.has_session

    async def test_guesses_of_codes_count_with_those_of_the_password(self, world: World) -> None:
        world.user()
        visitor = await self.stolen(world)
        person = Person(world, world.user_id(EMAIL), EMAIL)
        await person.turn_mfa_on()

        for number in range(5):
            assert (await self.guess(visitor, number, password="a guess")).status == 401
            assert (await self.guess(visitor, 100 + number, code=person.wrong_code())).status == 401

        assert (await self.guess(visitor, 50, code=person.code())).status == 429

    async def test_an_attacker_elsewhere_does_not_keep_the_user_from_it(self, world: World) -> None:
        world.user()
        visitor = await self.stolen(world)
        for number in range(FAILURES_FROM_ANYWHERE_MAX):
            await world.log_in(EMAIL, "wrong", address=network(number))

        assert (await self.guess(visitor, 200, password=PASSWORD)).status == 200
