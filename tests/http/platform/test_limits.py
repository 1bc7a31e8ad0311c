"""Support lifts the rate limits of an account or an address."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.mail import mail
from core.mail.mail import MailTemplate
from core.platform import limits
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from tests.application import with_mail_limits
from tests.clock import SettableClock
from tests.world.builder import EMAIL
from tests.world.platform import PLATFORM_OWNER
from tests.world.support import SupportDesk
from tests.world.world import World

USERS = "/api/platform/users"
# An address in the network of the guesses.
NEIGHBOUR = "203.0.113.77"


@pytest.fixture
def settings() -> Settings:
    """Return settings with rate limits on; without them failed sign-ins limit nothing."""
    return Settings(dev=True)


async def guess(world: World, email: str) -> None:
    """Send ten wrong passwords from one network."""
    statuses = [(await world.log_in(email, "wrong", address=f"203.0.113.{number}")).status for number in range(10)]
    assert statuses == [401] * 10


async def test_the_limit_on_failed_sign_ins_of_a_user_is_lifted(
    desk: SupportDesk, world: World, clock: SettableClock
) -> None:
    user_id = world.user()
    await guess(world, EMAIL)
    assert (await world.log_in(address=NEIGHBOUR)).status == 429
    shown = (await desk.request("GET", f"{USERS}/{user_id}")).json["limits"]
    until = (clock.now + timedelta(minutes=15)).isoformat().replace("+00:00", "Z")
    assert shown == {
        "failures": 10,
        "blocked_until": None,
        "networks": [{"network": "203.0.113.0/24", "failures": 10, "blocked_until": until}],
    }

    answer = await desk.request("DELETE", f"{USERS}/{user_id}/limits")

    assert (answer.status, answer.json) == (200, {"failed_sign_ins": 10, "mail_counts": 0})
    assert (await world.log_in(address=NEIGHBOUR)).status == 200
    assert world.platform_audit_entries("user.limits_lifted") == [
        (desk.person.id, str(user_id), {"failed_sign_ins": 10, "mail_counts": 0})
    ]


async def test_the_limits_of_an_address_without_an_account_are_lifted_too(desk: SupportDesk, world: World) -> None:
    await guess(world, "new@example.com")

    answer = await desk.request("POST", "/api/platform/limits/lift", {"email": "New@example.com"})

    assert answer.json == {"failed_sign_ins": 10, "mail_counts": 0}
    assert (await world.log_in("new@example.com", "wrong", address=NEIGHBOUR)).status == 401
    [(actor_id, target_id, _)] = world.platform_audit_entries("address.limits_lifted")
    assert actor_id == desk.person.id
    assert "new" not in target_id


async def test_the_limits_of_an_owner_are_not_lifted_by_support_which_is_told_nothing(
    desk: SupportDesk, world: World
) -> None:
    world.user()
    for address in (PLATFORM_OWNER, EMAIL):
        await world.log_in(address, "wrong", address="203.0.113.7")

    by_support = await desk.request("POST", "/api/platform/limits/lift", {"email": PLATFORM_OWNER})
    of_user = await desk.request("POST", "/api/platform/limits/lift", {"email": EMAIL})
    by_owner = await desk.platform.request("POST", "/api/platform/limits/lift", {"email": PLATFORM_OWNER})

    assert by_support.json == {"failed_sign_ins": 0, "mail_counts": 0}
    assert of_user.json == by_owner.json == {"failed_sign_ins": 1, "mail_counts": 0}
    assert len(world.platform_audit_entries("user.limits_lifted")) == 2


async def test_an_operator_lifts_them_by_command(world: World, installation: Installation) -> None:
    user_id = world.user()
    await world.log_in(EMAIL, "wrong")

    lifted = await installation.database.transact(limits.lift_by_command, EMAIL)

    assert lifted == limits.LiftedLimits(failed_sign_ins=1, mail_counts=0)
    assert [entry[:2] for entry in world.platform_audit_entries("user.limits_lifted")] == [(None, str(user_id))]


async def test_a_mail_above_the_limit_of_its_address_leaves_again(
    desk: SupportDesk, world: World, installation: Installation
) -> None:
    user_id = world.user()
    limited = with_mail_limits(installation)

    async def sent() -> bool:
        return await limited.database.transact(mail.send, EMAIL, MailTemplate.WELCOME, organization="Acme")

    assert [await sent() for _ in range(6)] == [True] * 5 + [False]
    answer = await desk.request("DELETE", f"{USERS}/{user_id}/limits")

    assert answer.json == {"failed_sign_ins": 0, "mail_counts": 1}
    assert await sent() is True
