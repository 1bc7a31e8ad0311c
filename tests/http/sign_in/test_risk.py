"""The risk score of sign-ins, and the mail about a risky one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from core.mail import mail
from core.mail.mail import MailMessage
from tests.world.builder import EMAIL
from tests.world.world import World

CURL = {"User-Agent": "curl/8.5.0"}
MAILS_MAX = 100


async def fail(world: World, times: int) -> None:
    """Send wrong passwords."""
    for _ in range(times):
        assert (await world.log_in(password="not the password")).status == 401


async def messages(world: World) -> list[MailMessage]:
    """Claim the mails that wait to be sent."""
    claimed = await world.client.application.installation.database.transact(mail.claim, MAILS_MAX)
    return [outgoing.message for outgoing in claimed]


def last_event(world: World) -> dict[str, Any]:
    """Return the risk of the last attempt."""
    [(score, factors)] = world.rows("SELECT risk_score, risk_factors FROM login_events ORDER BY id DESC LIMIT 1")
    return {"score": score, "factors": factors}


class TestMail:
    """A user without a second factor gets a mail about a risky sign-in."""

    async def test_a_risk_above_0_7_sends_a_mail(self, world: World) -> None:
        world.user()
        await fail(world, 3)

        await world.sign_in(headers=CURL)

        assert last_event(world)["score"] == 90
        [message] = await messages(world)
        assert (message.to, message.template.value) == (EMAIL, "new_sign_in")

    async def test_a_risk_of_0_7_sends_no_mail(self, world: World) -> None:
        world.user()
        await fail(world, 2)

        await world.sign_in(headers=CURL)

        assert last_event(world) == {"score": 70, "factors": ["new_device", "failed_attempt", "failed_attempt"]}
        assert await messages(world) == []

    async def test_a_known_device_needs_more_failures_for_a_mail(self, world: World) -> None:
        world.user()
        known = CURL | {"X-Device-Token": (await world.sign_in(headers=CURL)).device_token}
        await fail(world, 3)
        await world.sign_in(headers=known)
        assert await messages(world) == []

        await fail(world, 1)
        await world.sign_in(headers=known)

        assert last_event(world)["score"] == 80
        assert len(await messages(world)) == 1

    async def test_failures_count_for_fifteen_minutes(self, world: World) -> None:
        world.user()
        await fail(world, 3)
        world.clock.advance(timedelta(minutes=15))

        await world.sign_in(headers=CURL)

        assert last_event(world) == {"score": 30, "factors": ["new_device"]}
        assert await messages(world) == []

    async def test_failures_of_other_users_do_not_count(self, world: World) -> None:
        world.user()
        world.user("eve@example.com")
        await fail(world, 3)

        await world.sign_in("eve@example.com", headers=CURL)

        assert last_event(world)["score"] == 30

    async def test_the_mail_names_the_device_the_address_and_the_time(self, world: World) -> None:
        world.user()
        await fail(world, 3)
        await world.log_in(headers=CURL, address="192.0.2.44")

        [message] = await messages(world)

        text = world.installation.mail_renderer.render(message).text
        assert "curl" in text
        assert "192.0.2.44" in text
        assert "3 February 2026, 04:05 UTC" in text

    async def test_the_owners_device_name_is_used_only_for_a_device_with_its_token(self, world: World) -> None:
        world.user()
        known = await world.sign_in(headers=CURL)
        [(device_id,)] = world.rows("SELECT id FROM devices")
        await world.client.patch(
            f"/api/user/devices/{device_id}", token=known.access_token, body={"name": "My kitchen laptop"}
        )
        await fail(world, 4)

        await world.sign_in(headers=CURL)
        await world.sign_in(headers=CURL | {"X-Device-Token": known.device_token})

        assert [message.values["device"] for message in await messages(world)] == ["curl", "My kitchen laptop"]

    async def test_the_device_shows_the_score_of_its_last_sign_in(self, world: World) -> None:
        world.user()
        await fail(world, 3)

        tokens = await world.sign_in(headers=CURL)

        [(device_id,)] = world.rows("SELECT id FROM devices")
        detail = await world.client.get(f"/api/user/devices/{device_id}", token=tokens.access_token)
        assert detail.json["risk_score"] == 0.9


async def test_the_usual_times_are_learned_from_sign_ins(world: World) -> None:
    world.user()
    token = (await world.sign_in(headers=CURL)).device_token
    known = CURL | {"X-Device-Token": token}
    for _ in range(9):
        world.clock.advance(timedelta(days=1))
        await world.sign_in(headers=known)
        assert last_event(world) == {"score": 0, "factors": []}

    world.clock.advance(timedelta(hours=12))
    await world.sign_in(headers=known)

    assert last_event(world) == {"score": 10, "factors": ["unusual_time"]}
    # That sign-in has made the time usual.
    await world.sign_in(headers=known)
    assert last_event(world) == {"score": 0, "factors": []}
