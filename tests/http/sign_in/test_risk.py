"""What a risky sign-in leads to: a code all the same, or a letter (decisions 4.3)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from adapters.gateways.mail_renderer import JinjaMailRenderer
from core.mail import mail
from tests.sign_ins import EMAIL, Door, door

if TYPE_CHECKING:
    from core.mail.mail import MailMessage

__all__ = ["door"]

CURL = {"User-Agent": "curl/8.5.0"}
LETTERS_MAX = 100


async def fail(door: Door, times: int) -> None:
    """Try with a wrong password."""
    for _ in range(times):
        assert (await door.knock(password="not the password")).status == 401


async def messages(door: Door) -> list[MailMessage]:
    """Take the letters that wait to be sent."""
    claimed = await door.client.application.installation.database.transact(mail.claim, LETTERS_MAX)
    return [one.message for one in claimed]


def last_event(door: Door) -> dict[str, Any]:
    """Look at the risk of the last attempt."""
    [(score, factors)] = door.rows("SELECT risk_score, risk_factors FROM login_events ORDER BY id DESC LIMIT 1")
    return {"score": score, "factors": factors}


class TestLetter:
    """Somebody without a second factor is told of a sign-in that looks wrong."""

    async def test_above_0_7_there_is_a_letter(self, door: Door) -> None:
        door.account()
        await fail(door, 3)

        await door.enter(headers=CURL)

        assert last_event(door)["score"] == 90
        [message] = await messages(door)
        assert (message.to, message.template.value) == (EMAIL, "new_sign_in")

    async def test_at_0_7_there_is_none(self, door: Door) -> None:
        door.account()
        await fail(door, 2)

        await door.enter(headers=CURL)

        assert last_event(door) == {"score": 70, "factors": ["new_device", "failed_attempt", "failed_attempt"]}
        assert await messages(door) == []

    async def test_on_a_known_device_it_takes_more_failures(self, door: Door) -> None:
        door.account()
        known = CURL | {"X-Device-Token": (await door.enter(headers=CURL)).device_token}
        await fail(door, 3)
        await door.enter(headers=known)
        assert await messages(door) == []

        await fail(door, 1)
        await door.enter(headers=known)

        assert last_event(door)["score"] == 80
        assert len(await messages(door)) == 1

    async def test_after_fifteen_minutes_the_failures_are_forgotten(self, door: Door) -> None:
        door.account()
        await fail(door, 3)
        door.clock.advance(timedelta(minutes=15))

        await door.enter(headers=CURL)

        assert last_event(door) == {"score": 30, "factors": ["new_device"]}
        assert await messages(door) == []

    async def test_failures_of_others_do_not_count(self, door: Door) -> None:
        door.account()
        door.account("eve@example.com")
        await fail(door, 3)

        await door.enter("eve@example.com", headers=CURL)

        assert last_event(door)["score"] == 30

    async def test_it_says_from_what_from_where_and_when(self, door: Door) -> None:
        door.account()
        await fail(door, 3)
        await door.knock(headers=CURL, address="192.0.2.44")

        [message] = await messages(door)

        text = JinjaMailRenderer(base_url="http://localhost:8000").render(message).text
        assert "curl" in text
        assert "192.0.2.44" in text
        assert "2026-02-03 04:05 UTC" in text

    async def test_a_stranger_of_the_same_make_is_not_called_by_the_owners_name(self, door: Door) -> None:
        door.account()
        known = await door.enter(headers=CURL)
        [(device_id,)] = door.rows("SELECT id FROM devices")
        await door.client.patch(
            f"/api/user/devices/{device_id}", token=known.access_token, body={"name": "My kitchen laptop"}
        )
        await fail(door, 4)

        await door.enter(headers=CURL)
        await door.enter(headers=CURL | {"X-Device-Token": known.device_token})

        assert [message.values["device"] for message in await messages(door)] == ["curl", "My kitchen laptop"]

    async def test_the_score_is_kept_with_the_device(self, door: Door) -> None:
        door.account()
        await fail(door, 3)

        entered = await door.enter(headers=CURL)

        [(device_id,)] = door.rows("SELECT id FROM devices")
        detail = await door.client.get(f"/api/user/devices/{device_id}", token=entered.access_token)
        assert detail.json["risk_score"] == 0.9


async def test_habits_are_learned_from_sign_ins(door: Door) -> None:
    door.account()
    token = (await door.enter(headers=CURL)).device_token
    known = CURL | {"X-Device-Token": token}
    for _ in range(9):
        door.clock.advance(timedelta(days=1))
        await door.enter(headers=known)
        assert last_event(door) == {"score": 0, "factors": []}

    door.clock.advance(timedelta(hours=12))
    await door.enter(headers=known)

    assert last_event(door) == {"score": 10, "factors": ["unusual_time"]}
    # By that it has become usual.
    await door.enter(headers=known)
    assert last_event(door) == {"score": 0, "factors": []}
