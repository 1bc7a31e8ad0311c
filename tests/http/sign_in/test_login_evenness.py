"""A refused sign-in takes the same work and the same time for every account.

The statements are compared one by one, because they determine the time; the time itself is measured. The complete
measurement, with hashes at their real cost, is `ops/bench --only evenness`.

No caller learns which accounts exist: a public endpoint does the same work for an address with an account and for one
without (`core/sign_in/login_events.py`, and the discarded mails of `core/mail/mail.py`).
"""

from __future__ import annotations

import random
import statistics
import time
from dataclasses import replace
from datetime import timedelta

import pytest

from entrypoints.installation import Installation
from entrypoints.settings import Settings
from tests.application import Client, serving
from tests.clock import SettableClock
from tests.statements import alike, recorded_statements
from tests.world.builder import EMAIL, PASSWORD
from tests.world.world import World

UNKNOWN = "nobody@example.com"
# Each takes about half as long as the rest of a sign-in, so the difference would show.
BCRYPT = "$2b$06$" + "." * 53
PBKDF2 = f"pbkdf2_sha256$12000$seasalt${'A' * 43}="
ROUNDS_MIN = 20
ROUNDS_MAX = 500
DIFFERENCE_MAX = 0.10


@pytest.fixture
def settings() -> Settings:
    """Settings with rate limits, because failed sign-ins are counted only with them."""
    return Settings(dev=True)


@pytest.fixture
def refused_logins(world: World) -> dict[str, tuple[str, str]]:
    """An address and a password for every case that gets the same refusal."""
    world.user("busy@example.com")
    user_id = world.user("member@example.com")
    for slug in ("acme", "bolt", "cord"):
        world.member(world.organization(slug), user_id)
    world.user("passwordless@example.com", password_hash=None)
    world.user("deactivated@example.com", is_active=False)
    world.user("unverified@example.com", is_verified=False)
    world.user("bcrypt@example.com", password_hash=BCRYPT)
    world.user("pbkdf2@example.com", password_hash=PBKDF2)
    return {
        "unknown account": (UNKNOWN, "wrong"),
        "wrong password": ("busy@example.com", "wrong"),
        "member of organizations": ("member@example.com", "wrong"),
        "no password": ("passwordless@example.com", "wrong"),
        "deactivated": ("deactivated@example.com", "wrong"),
        "deactivated, right password": ("deactivated@example.com", PASSWORD),
        "unverified": ("unverified@example.com", "wrong"),
        "imported, bcrypt": ("bcrypt@example.com", "wrong"),
        "imported, PBKDF2": ("pbkdf2@example.com", "wrong"),
    }


class TestStatements:
    """The same statements in the same order."""

    async def test_every_refusal_takes_the_same_statements(
        self, world: World, refused_logins: dict[str, tuple[str, str]]
    ) -> None:
        executed: dict[str, list[str]] = {}
        for name, (email, password) in refused_logins.items():
            with recorded_statements() as statements:
                assert (await world.log_in(email, password)).status == 401
            executed[name] = alike(statements)

        assert len(executed["unknown account"]) >= 5
        for name, statements in executed.items():
            assert statements == executed["unknown account"], name

    async def test_refusals_with_the_token_of_a_known_device_take_the_same_statements(
        self, world: World, refused_logins: dict[str, tuple[str, str]]
    ) -> None:
        token = (await world.sign_in("busy@example.com")).device_token
        executed: dict[str, list[str]] = {}
        for name, (email, password) in refused_logins.items():
            with recorded_statements() as statements:
                await world.log_in(email, password, headers={"X-Device-Token": token})
            executed[name] = alike(statements)

        for name, statements in executed.items():
            assert statements == executed["unknown account"], name

    async def test_rate_limited_sign_ins_take_the_same_statements(self, world: World) -> None:
        world.user()
        executed: list[list[str]] = []
        for email in (EMAIL, UNKNOWN):
            for number in range(1, 11):
                await world.log_in(email, "wrong", address=f"192.0.2.{number}")
            with recorded_statements() as statements:
                assert (await world.log_in(email, "wrong", address="192.0.2.11")).status == 429
            executed.append(alike(statements))

        assert executed[0] == executed[1]


def idle_seconds(seconds: list[float]) -> float:
    """Return the time of a sign-in on an idle processor: the first quartile."""
    return statistics.quantiles(seconds, n=4)[0]


class TestTime:
    """The same time, measured by interleaved sign-ins."""

    @pytest.fixture
    def client(self, installation: Installation) -> Client:
        """A client without rate limits."""
        return serving(replace(installation, settings=Settings(rate_limits=False)))

    @pytest.mark.long
    @pytest.mark.timing
    async def test_every_refusal_takes_the_same_time(
        self, world: World, refused_logins: dict[str, tuple[str, str]], clock: SettableClock
    ) -> None:
        seconds: dict[str, list[float]] = {name: [] for name in refused_logins}
        spread = 1.0
        for number in range(ROUNDS_MAX):
            # The failures of earlier rounds must not slow the later ones down.
            clock.advance(timedelta(hours=1))
            # The order changes each time, so that no case is always the first after a pause.
            for name in random.sample(list(refused_logins), len(refused_logins)):
                email, password = refused_logins[name]
                started = time.perf_counter()
                await world.log_in(email, password)
                seconds[name].append(time.perf_counter() - started)
            if number < ROUNDS_MIN:
                continue
            usual = {name: idle_seconds(measured) for name, measured in seconds.items()}
            spread = max(usual.values()) / min(usual.values()) - 1
            # A busy machine needs more rounds to average out the noise; a real difference would remain.
            if spread <= DIFFERENCE_MAX:
                break

        assert spread <= DIFFERENCE_MAX
