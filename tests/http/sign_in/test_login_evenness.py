"""That a refused sign-in takes the same work and the same time whoever it was about (pitfall 14).

The same statements are the reason, and are compared one by one; the time is the effect, and is measured. The whole
measurement, with hashes at their real cost, is `ops/bench --only evenness`.
"""

from __future__ import annotations

import random
import statistics
import time
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from entrypoints.settings import Settings
from tests.application import serving
from tests.statements import recorded_statements
from tests.world.builder import EMAIL, PASSWORD

if TYPE_CHECKING:
    from entrypoints.installation import Installation
    from tests.application import Client
    from tests.clock import SettableClock
    from tests.world.world import World

UNKNOWN = "nobody@example.com"
ROUNDS_MIN = 20
ROUNDS_MAX = 500
DIFFERENCE_MAX = 0.10


@pytest.fixture
def settings() -> Settings:
    """With rate limits, without which failed sign-ins are not counted either."""
    return Settings(dev=True)


@pytest.fixture
def strangers(world: World) -> dict[str, tuple[str, str]]:
    """An address and a password for every way to be refused in the same words."""
    world.user("busy@example.com")
    user_id = world.user("member@example.com")
    for slug in ("acme", "bolt", "cord"):
        world.member(world.organization(slug), user_id)
    world.user("passwordless@example.com", password_hash=None)
    world.user("deactivated@example.com", is_active=False)
    world.user("unverified@example.com", is_verified=False)
    return {
        "unknown account": (UNKNOWN, "wrong"),
        "wrong password": ("busy@example.com", "wrong"),
        "member of organizations": ("member@example.com", "wrong"),
        "no password": ("passwordless@example.com", "wrong"),
        "deactivated": ("deactivated@example.com", "wrong"),
        "deactivated, right password": ("deactivated@example.com", PASSWORD),
        "unverified": ("unverified@example.com", "wrong"),
    }


class TestStatements:
    """The same statements in the same order."""

    async def test_of_every_refusal(self, world: World, strangers: dict[str, tuple[str, str]]) -> None:
        taken: dict[str, list[str]] = {}
        for name, (email, password) in strangers.items():
            with recorded_statements() as statements:
                assert (await world.log_in(email, password)).status == 401
            taken[name] = statements

        assert len(taken["unknown account"]) >= 5
        for name, statements in taken.items():
            assert statements == taken["unknown account"], name

    async def test_of_every_refusal_on_a_device_that_is_known_to_somebody(
        self, world: World, strangers: dict[str, tuple[str, str]]
    ) -> None:
        token = (await world.sign_in("busy@example.com")).device_token
        taken: dict[str, list[str]] = {}
        for name, (email, password) in strangers.items():
            with recorded_statements() as statements:
                await world.log_in(email, password, headers={"X-Device-Token": token})
            taken[name] = statements

        for name, statements in taken.items():
            assert statements == taken["unknown account"], name

    async def test_of_whoever_has_to_wait(self, world: World) -> None:
        world.user()
        taken: list[list[str]] = []
        for email in (EMAIL, UNKNOWN):
            for number in range(1, 11):
                await world.log_in(email, "wrong", address=f"192.0.2.{number}")
            with recorded_statements() as statements:
                assert (await world.log_in(email, "wrong", address="192.0.2.11")).status == 429
            taken.append(statements)

        assert taken[0] == taken[1]


def undisturbed(taken: list[float]) -> float:
    """Give the time that a try takes while nobody else wants the processor: the quickest quarter ends there."""
    return statistics.quantiles(taken, n=4)[0]


class TestTime:
    """The same time, of interleaved tries."""

    @pytest.fixture
    def client(self, installation: Installation) -> Client:
        """A client without limits."""
        return serving(replace(installation, settings=Settings(rate_limits=False)))

    async def test_of_every_refusal(
        self, world: World, strangers: dict[str, tuple[str, str]], clock: SettableClock
    ) -> None:
        seconds: dict[str, list[float]] = {name: [] for name in strangers}
        spread = 1.0
        for number in range(ROUNDS_MAX):
            # So that those who were refused before are no burden on those who come after them.
            clock.advance(timedelta(hours=1))
            # In another order each time, so that nobody is always the first after a pause.
            for name in random.sample(list(strangers), len(strangers)):
                email, password = strangers[name]
                started = time.perf_counter()
                await world.log_in(email, password)
                seconds[name].append(time.perf_counter() - started)
            if number < ROUNDS_MIN:
                continue
            usual = {name: undisturbed(taken) for name, taken in seconds.items()}
            spread = max(usual.values()) / min(usual.values()) - 1
            # A busy machine needs more tries until the noise is gone; a real difference would stay.
            if spread <= DIFFERENCE_MAX:
                break

        assert spread <= DIFFERENCE_MAX
