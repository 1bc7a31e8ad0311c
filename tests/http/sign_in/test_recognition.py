"""Recognizing the device of a sign-in, and trusting a device."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from core.organizations.organizations import DEVICE_TRUST_DEFAULT
from core.sign_in.recognition import TOKEN_LIFETIME
from tests.clock import SettableClock
from tests.world.second_factors import Person, insert_person
from tests.world.signing_in import Tokens
from tests.world.world import World

FIREFOX = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0"}
CURL = {"User-Agent": "curl/8.5.0"}
SECOND = timedelta(seconds=1)
EVE = "eve@example.com"


def device_header(tokens: Tokens) -> dict[str, str]:
    """Return the header that the device of a sign-in sends from then on."""
    return {"X-Device-Token": tokens.device_token}


def device_of(world: World, tokens: Tokens) -> UUID:
    """Return the device of a session."""
    return world.value("SELECT device_id FROM sessions WHERE id = %s", tokens.session_id)


def counted_as_new(world: World) -> bool:
    """Return whether the risk of the last sign-in counted its device as new."""
    return "new_device" in world.value("SELECT risk_factors FROM login_events ORDER BY id DESC LIMIT 1")


class TestToken:
    """A device token identifies a device."""

    async def test_a_device_with_its_token_is_known_with_any_user_agent(self, world: World) -> None:
        world.user()
        first = await world.sign_in(headers=FIREFOX)

        again = await world.sign_in(headers=CURL | device_header(first))

        assert device_of(world, again) == device_of(world, first)
        assert again.device_token == first.device_token
        assert not counted_as_new(world)

    async def test_the_token_takes_precedence_over_another_device_with_the_same_user_agent(self, world: World) -> None:
        world.user()
        firefox = await world.sign_in(headers=FIREFOX)
        curl = await world.sign_in(headers=CURL)

        again = await world.sign_in(headers=FIREFOX | device_header(curl))

        assert device_of(world, again) == device_of(world, curl) != device_of(world, firefox)

    async def test_a_device_token_is_valid_for_ninety_days(self, world: World) -> None:
        world.user()
        first = await world.sign_in(headers=FIREFOX)

        world.clock.advance(TOKEN_LIFETIME - SECOND)
        await world.sign_in(headers=FIREFOX | device_header(first))
        assert not counted_as_new(world)
        world.clock.advance(SECOND)
        later = await world.sign_in(headers=FIREFOX | device_header(first))

        assert counted_as_new(world)
        assert later.device_token != first.device_token
        assert device_of(world, later) == device_of(world, first)

    async def test_the_token_of_another_users_device_is_ignored(self, world: World) -> None:
        world.user()
        world.user(EVE)
        ada = await world.sign_in(headers=FIREFOX)

        eve = await world.sign_in(EVE, headers=FIREFOX | device_header(ada))

        assert counted_as_new(world)
        assert device_of(world, eve) != device_of(world, ada)
        assert eve.device_token != ada.device_token
        assert world.value("SELECT user_id FROM devices WHERE id = %s", device_of(world, ada)) == world.value(
            "SELECT id FROM users WHERE email = 'ada@example.com'"
        )

    @pytest.mark.parametrize("token", ["a forged token", "x" * 5000, "ünïcödé"])
    async def test_a_forged_token_is_ignored(self, world: World, token: str) -> None:
        world.user()

        tokens = await world.sign_in(headers=FIREFOX | {"Cookie": f"gatehouse_device={token}"})

        assert counted_as_new(world)
        assert tokens.device_token != token


class TestSameUserAgent:
    """Without a token, a known user agent is listed as the same device, and counts as new otherwise."""

    async def test_the_same_user_agent_is_listed_once_and_counts_as_new(self, world: World) -> None:
        world.user()
        first = await world.sign_in(headers=FIREFOX)

        again = await world.sign_in(headers=FIREFOX)

        assert device_of(world, again) == device_of(world, first)
        assert counted_as_new(world)

    async def test_each_machine_keeps_a_token_of_its_own(self, world: World) -> None:
        world.user()
        one, other = await world.sign_in(headers=FIREFOX), await world.sign_in(headers=FIREFOX)

        for machine in (one, other, one):
            again = await world.sign_in(headers=FIREFOX | device_header(machine))
            assert not counted_as_new(world)
            assert again.device_token == machine.device_token
        assert one.device_token != other.device_token

    async def test_another_user_agent_is_another_device(self, world: World) -> None:
        world.user()
        firefox, curl = await world.sign_in(headers=FIREFOX), await world.sign_in(headers=CURL)

        assert device_of(world, curl) != device_of(world, firefox)
        assert counted_as_new(world)

    async def test_devices_without_a_user_agent_are_listed_as_one(self, world: World) -> None:
        world.user()
        nameless = {"User-Agent": ""}

        one, other = await world.sign_in(headers=nameless), await world.sign_in(headers=nameless)

        assert device_of(world, one) == device_of(world, other)

    async def test_of_two_devices_with_the_same_user_agent_the_one_used_last_is_chosen(self, world: World) -> None:
        world.user()
        curl = await world.sign_in(headers=CURL)
        firefox = await world.sign_in(headers=FIREFOX)
        world.clock.advance(SECOND)
        # From now on both devices have the same user agent.
        await world.sign_in(headers=FIREFOX | device_header(curl))
        world.clock.advance(SECOND)
        await world.sign_in(headers=FIREFOX | device_header(firefox))

        assert device_of(world, await world.sign_in(headers=FIREFOX)) == device_of(world, firefox)

    async def test_two_users_do_not_share_a_device(self, world: World) -> None:
        world.user()
        world.user(EVE)

        ada, eve = await world.sign_in(headers=FIREFOX), await world.sign_in(EVE, headers=FIREFOX)

        assert device_of(world, ada) != device_of(world, eve)


class TestTrust:
    """A device remembers the second factor for a limited time, if the user requested it."""

    @pytest.fixture
    async def ada(self, world: World) -> Person:
        """A user with a second factor whose app has shown a new code since it was set up."""
        person = insert_person(world)
        await person.turn_mfa_on()
        person.next_step()
        return person

    async def verified(self, ada: Person, headers: dict[str, str], *, trust: bool = True, **context: str) -> Any:
        """Sign in with a code from a device."""
        answer = await ada.world.client.post(
            "/api/auth/mfa/verify",
            token=(await ada.log_in(headers=headers, **context)).json["preauth_token"],
            body={"code": ada.code(), "trust_device": trust},
            headers=headers,
        )
        assert answer.status == 200, answer.text
        return answer.json

    async def trusted(self, ada: Person, access_token: str) -> dict[str, bool]:
        """Return for each listed device, by name, whether it is trusted; assert that its details agree."""
        listed = (await ada.world.client.get("/api/user/devices", token=access_token)).json["devices"]
        for device in listed:
            detail = await ada.world.client.get(f"/api/user/devices/{device['id']}", token=access_token)
            assert detail.json["trusted"] == device["trusted"]
        return {device["name"]: device["trusted"] for device in listed}

    async def token_of(self, ada: Person, headers: dict[str, str], **context: str) -> str:
        """Sign in from a device that is trusted."""
        answer = await ada.log_in(headers=headers, **context)
        assert answer.json.get("mfa_required") is None, answer.text
        return answer.json["access_token"]

    async def test_a_device_is_trusted_after_a_code_with_the_request_for_trust(self, ada: Person) -> None:
        await self.verified(ada, FIREFOX)
        ada.next_step()
        curl = await self.verified(ada, CURL, trust=False)

        assert await self.trusted(ada, curl["access_token"]) == {
            "Unknown device": False,  # on which the second factor was set up
            "Firefox on Linux": True,
            "curl": False,
        }

    async def test_another_machine_with_the_same_user_agent_still_needs_a_code(self, ada: Person) -> None:
        await self.verified(ada, FIREFOX)

        assert (await ada.log_in(headers=FIREFOX)).json["mfa_required"] is True
        ada.next_step()
        other = await self.verified(ada, FIREFOX, trust=False)
        assert (await ada.log_in(headers=FIREFOX | {"X-Device-Token": other["device_token"]})).json["mfa_required"]
        # Of the two machines that are listed as one device, one is trusted.
        assert (await self.trusted(ada, other["access_token"]))["Firefox on Linux"] is True

    async def test_trust_lasts_thirty_days_without_an_organization(self, ada: Person, clock: SettableClock) -> None:
        firefox = FIREFOX | {"X-Device-Token": (await self.verified(ada, FIREFOX))["device_token"]}

        clock.advance(DEVICE_TRUST_DEFAULT - SECOND)
        access_token = await self.token_of(ada, firefox)
        assert (await self.trusted(ada, access_token))["Firefox on Linux"] is True
        clock.advance(SECOND)
        assert (await self.trusted(ada, access_token))["Firefox on Linux"] is False

    async def test_trust_is_shown_by_the_duration_of_the_callers_organization(
        self, ada: Person, clock: SettableClock, connection: Connection
    ) -> None:
        ada.join_organization(device_trust_days=1)
        verified = await self.verified(ada, FIREFOX)
        firefox = FIREFOX | {"X-Device-Token": verified["device_token"]}
        clock.advance(timedelta(days=1) - SECOND)
        inside, outside = await self.token_of(ada, firefox, org_slug="engines"), await self.token_of(ada, firefox)

        assert (await self.trusted(ada, inside))["Firefox on Linux"] is True
        clock.advance(SECOND)

        assert (await self.trusted(ada, inside))["Firefox on Linux"] is False
        assert (await self.trusted(ada, outside))["Firefox on Linux"] is True

    async def test_trust_ends_when_the_device_token_expires(
        self, ada: Person, clock: SettableClock, connection: Connection
    ) -> None:
        ada.join_organization(device_trust_days=1000)
        verified = await self.verified(ada, FIREFOX)
        firefox = FIREFOX | {"X-Device-Token": verified["device_token"]}

        clock.advance(TOKEN_LIFETIME - SECOND)
        access_token = await self.token_of(ada, firefox, org_slug="engines")
        assert (await self.trusted(ada, access_token))["Firefox on Linux"] is True
        clock.advance(SECOND)
        assert (await self.trusted(ada, access_token))["Firefox on Linux"] is False

    async def test_trust_ends_when_the_device_is_removed(self, ada: Person, connection: Connection) -> None:
        verified = await self.verified(ada, FIREFOX)
        ada.next_step()
        curl = await self.verified(ada, CURL)
        [(device_id,)] = connection.execute("SELECT id FROM devices WHERE browser = 'Firefox'").fetchall()

        answer = await ada.world.client.delete(f"/api/user/devices/{device_id}", token=curl["access_token"])

        assert answer.status == 200
        again = await ada.log_in(headers=FIREFOX | {"X-Device-Token": verified["device_token"]})
        assert again.json["mfa_required"] is True

    async def test_trust_ends_when_the_second_factor_is_turned_off(self, ada: Person) -> None:
        verified = await self.verified(ada, FIREFOX)

        await ada.world.client.delete("/api/user/mfa", token=verified["access_token"])

        assert (await self.trusted(ada, verified["access_token"]))["Firefox on Linux"] is False
