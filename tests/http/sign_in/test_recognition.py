"""Which device a sign-in comes from, and when a device is trusted (decisions 4.1 and 4.2)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from core.organizations.organizations import DEVICE_TRUST_DEFAULT
from core.sign_in.recognition import TOKEN_LIFETIME
from tests.world.second_factors import Person, insert_person

if TYPE_CHECKING:
    from uuid import UUID

    from adapters.postgres.driver.connection import Connection
    from tests.clock import SettableClock
    from tests.world.signing_in import Tokens
    from tests.world.world import World

FIREFOX = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0"}
CURL = {"User-Agent": "curl/8.5.0"}
MOMENT = timedelta(seconds=1)
EVE = "eve@example.com"


def shown(tokens: Tokens) -> dict[str, str]:
    """What the device of a sign-in shows from then on."""
    return {"X-Device-Token": tokens.device_token}


def device_of(world: World, tokens: Tokens) -> UUID:
    """Say on which device a session is."""
    return world.value("SELECT device_id FROM sessions WHERE id = %s", tokens.session_id)


def counted_as_new(world: World) -> bool:
    """Say whether the device of the last sign-in was new for the risk."""
    return "new_device" in world.value("SELECT risk_factors FROM login_events ORDER BY id DESC LIMIT 1")


class TestToken:
    """A token proves a device."""

    async def test_the_device_that_shows_it_is_known_whatever_it_calls_itself(self, world: World) -> None:
        world.user()
        first = await world.sign_in(headers=FIREFOX)

        again = await world.sign_in(headers=CURL | shown(first))

        assert device_of(world, again) == device_of(world, first)
        assert again.device_token == first.device_token
        assert not counted_as_new(world)

    async def test_it_wins_over_another_device_that_calls_itself_the_same(self, world: World) -> None:
        world.user()
        firefox = await world.sign_in(headers=FIREFOX)
        curl = await world.sign_in(headers=CURL)

        again = await world.sign_in(headers=FIREFOX | shown(curl))

        assert device_of(world, again) == device_of(world, curl) != device_of(world, firefox)

    async def test_it_is_good_for_ninety_days(self, world: World) -> None:
        world.user()
        first = await world.sign_in(headers=FIREFOX)

        world.clock.advance(TOKEN_LIFETIME - MOMENT)
        await world.sign_in(headers=FIREFOX | shown(first))
        assert not counted_as_new(world)
        world.clock.advance(MOMENT)
        later = await world.sign_in(headers=FIREFOX | shown(first))

        assert counted_as_new(world)
        assert later.device_token != first.device_token
        assert device_of(world, later) == device_of(world, first)

    async def test_the_token_of_another_users_device_proves_nothing(self, world: World) -> None:
        world.user()
        world.user(EVE)
        ada = await world.sign_in(headers=FIREFOX)

        eve = await world.sign_in(EVE, headers=FIREFOX | shown(ada))

        assert counted_as_new(world)
        assert device_of(world, eve) != device_of(world, ada)
        assert eve.device_token != ada.device_token
        assert world.value("SELECT user_id FROM devices WHERE id = %s", device_of(world, ada)) == world.value(
            "SELECT id FROM users WHERE email = 'ada@example.com'"
        )

    @pytest.mark.parametrize("token", ["an invention", "x" * 5000, "ünïcödé"])
    async def test_an_invention_proves_nothing(self, world: World, token: str) -> None:
        world.user()

        tokens = await world.sign_in(headers=FIREFOX | {"Cookie": f"gatehouse_device={token}"})

        assert counted_as_new(world)
        assert tokens.device_token != token


class TestSameMake:
    """What calls itself the same, without a token, is listed as the same device and is new to everything else."""

    async def test_it_is_listed_once_and_counts_as_new(self, world: World) -> None:
        world.user()
        first = await world.sign_in(headers=FIREFOX)

        again = await world.sign_in(headers=FIREFOX)

        assert device_of(world, again) == device_of(world, first)
        assert counted_as_new(world)

    async def test_each_machine_keeps_a_token_of_its_own(self, world: World) -> None:
        world.user()
        one, other = await world.sign_in(headers=FIREFOX), await world.sign_in(headers=FIREFOX)

        for machine in (one, other, one):
            again = await world.sign_in(headers=FIREFOX | shown(machine))
            assert not counted_as_new(world)
            assert again.device_token == machine.device_token
        assert one.device_token != other.device_token

    async def test_another_make_is_another_device(self, world: World) -> None:
        world.user()
        firefox, curl = await world.sign_in(headers=FIREFOX), await world.sign_in(headers=CURL)

        assert device_of(world, curl) != device_of(world, firefox)
        assert counted_as_new(world)

    async def test_those_that_call_themselves_nothing_are_one(self, world: World) -> None:
        world.user()
        nameless = {"User-Agent": ""}

        one, other = await world.sign_in(headers=nameless), await world.sign_in(headers=nameless)

        assert device_of(world, one) == device_of(world, other)

    async def test_of_two_of_one_make_it_is_the_one_used_last(self, world: World) -> None:
        world.user()
        curl = await world.sign_in(headers=CURL)
        firefox = await world.sign_in(headers=FIREFOX)
        world.clock.advance(MOMENT)
        # From now on both call themselves the same.
        await world.sign_in(headers=FIREFOX | shown(curl))
        world.clock.advance(MOMENT)
        await world.sign_in(headers=FIREFOX | shown(firefox))

        assert device_of(world, await world.sign_in(headers=FIREFOX)) == device_of(world, firefox)

    async def test_everybody_has_devices_of_their_own(self, world: World) -> None:
        world.user()
        world.user(EVE)

        ada, eve = await world.sign_in(headers=FIREFOX), await world.sign_in(EVE, headers=FIREFOX)

        assert device_of(world, ada) != device_of(world, eve)


class TestTrust:
    """A device remembers the second factor for a while, if somebody asked it to."""

    @pytest.fixture
    async def ada(self, world: World) -> Person:
        """Somebody with a second factor, whose app showed a new code since it was set up."""
        person = insert_person(world)
        await person.turn_mfa_on()
        person.next_step()
        return person

    async def verified(self, ada: Person, headers: dict[str, str], *, trust: bool = True, **where: str) -> Any:
        """Sign in with a code from a device."""
        answer = await ada.world.client.post(
            "/api/auth/mfa/verify",
            token=(await ada.log_in(headers=headers, **where)).json["preauth_token"],
            body={"code": ada.code(), "trust_device": trust},
            headers=headers,
        )
        assert answer.status == 200, answer.text
        return answer.json

    async def trusted(self, ada: Person, access_token: str) -> dict[str, bool]:
        """Say of each device in the list, by its name, whether it is trusted, and see that its detail agrees."""
        listed = (await ada.world.client.get("/api/user/devices", token=access_token)).json["devices"]
        for device in listed:
            detail = await ada.world.client.get(f"/api/user/devices/{device['id']}", token=access_token)
            assert detail.json["trusted"] == device["trusted"]
        return {device["name"]: device["trusted"] for device in listed}

    async def token_of(self, ada: Person, headers: dict[str, str], **where: str) -> str:
        """Sign in from a device that is trusted."""
        answer = await ada.log_in(headers=headers, **where)
        assert answer.json.get("mfa_required") is None, answer.text
        return answer.json["access_token"]

    async def test_it_is_trusted_after_a_code_and_the_wish(self, ada: Person) -> None:
        await self.verified(ada, FIREFOX)
        ada.next_step()
        curl = await self.verified(ada, CURL, trust=False)

        assert await self.trusted(ada, curl["access_token"]) == {
            "Unknown device": False,  # where the second factor was set up
            "Firefox on Linux": True,
            "curl": False,
        }

    async def test_a_machine_of_the_same_make_is_listed_with_it_and_asked_for_a_code_all_the_same(
        self, ada: Person
    ) -> None:
        await self.verified(ada, FIREFOX)

        assert (await ada.log_in(headers=FIREFOX)).json["mfa_required"] is True
        ada.next_step()
        other = await self.verified(ada, FIREFOX, trust=False)
        assert (await ada.log_in(headers=FIREFOX | {"X-Device-Token": other["device_token"]})).json["mfa_required"]
        # One of the two that are listed as one remembers.
        assert (await self.trusted(ada, other["access_token"]))["Firefox on Linux"] is True

    async def test_it_lasts_thirty_days_without_an_organization(self, ada: Person, clock: SettableClock) -> None:
        firefox = FIREFOX | {"X-Device-Token": (await self.verified(ada, FIREFOX))["device_token"]}

        clock.advance(DEVICE_TRUST_DEFAULT - MOMENT)
        access_token = await self.token_of(ada, firefox)
        assert (await self.trusted(ada, access_token))["Firefox on Linux"] is True
        clock.advance(MOMENT)
        assert (await self.trusted(ada, access_token))["Firefox on Linux"] is False

    async def test_it_lasts_as_long_as_the_organization_of_the_caller_says(
        self, ada: Person, clock: SettableClock, connection: Connection
    ) -> None:
        ada.join_organization(device_trust_days=1)
        verified = await self.verified(ada, FIREFOX)
        firefox = FIREFOX | {"X-Device-Token": verified["device_token"]}
        clock.advance(timedelta(days=1) - MOMENT)
        inside, outside = await self.token_of(ada, firefox, org_slug="engines"), await self.token_of(ada, firefox)

        assert (await self.trusted(ada, inside))["Firefox on Linux"] is True
        clock.advance(MOMENT)

        assert (await self.trusted(ada, inside))["Firefox on Linux"] is False
        assert (await self.trusted(ada, outside))["Firefox on Linux"] is True

    async def test_it_ends_with_the_life_of_the_token(
        self, ada: Person, clock: SettableClock, connection: Connection
    ) -> None:
        ada.join_organization(device_trust_days=1000)
        verified = await self.verified(ada, FIREFOX)
        firefox = FIREFOX | {"X-Device-Token": verified["device_token"]}

        clock.advance(TOKEN_LIFETIME - MOMENT)
        access_token = await self.token_of(ada, firefox, org_slug="engines")
        assert (await self.trusted(ada, access_token))["Firefox on Linux"] is True
        clock.advance(MOMENT)
        assert (await self.trusted(ada, access_token))["Firefox on Linux"] is False

    async def test_it_ends_when_the_device_is_removed(self, ada: Person, connection: Connection) -> None:
        verified = await self.verified(ada, FIREFOX)
        ada.next_step()
        curl = await self.verified(ada, CURL)
        [(device_id,)] = connection.execute("SELECT id FROM devices WHERE browser = 'Firefox'").fetchall()

        answer = await ada.world.client.delete(f"/api/user/devices/{device_id}", token=curl["access_token"])

        assert answer.status == 200
        again = await ada.log_in(headers=FIREFOX | {"X-Device-Token": verified["device_token"]})
        assert again.json["mfa_required"] is True

    async def test_it_ends_when_the_second_factor_is_turned_off(self, ada: Person) -> None:
        verified = await self.verified(ada, FIREFOX)

        await ada.world.client.delete("/api/user/mfa", token=verified["access_token"])

        assert (await self.trusted(ada, verified["access_token"]))["Firefox on Linux"] is False
