"""A closed service in sign-ins of several steps: passkeys, second factors, and the choice of a customer."""

from __future__ import annotations

from typing import Any

import pytest

from core.sign_in.customer_choices import NoCustomer
from tests.application import Answer
from tests.authenticators import Authenticator
from tests.world.builder import Service
from tests.world.closed_service import TEXT, ClosedService, insert_closed_service
from tests.world.passkeys import Keyring
from tests.world.second_factors import Person
from tests.world.signing_in import claims_of
from tests.world.world import World, assert_refused

AT_SHOP: dict[str, Any] = {"org_slug": "acme", "service_slug": "shop"}
# Each closes the service to a stranger.
CLOSED = pytest.mark.parametrize("access", ["members", "assigned"])


@pytest.fixture
def shop(world: World) -> ClosedService:
    return insert_closed_service(world)


def email_of(name: str) -> str:
    """Return the address of a person by their name in the team."""
    return f"{name}@example.com"


async def by_passkey(shop: ClosedService, name: str, *, says_address: bool = True) -> Answer:
    """Register a passkey, and sign in to the service with it."""
    keyring = Keyring(shop.world, (await shop.world.sign_in(email_of(name))).access_token)
    authenticator = await keyring.registered()
    return await keyring.sign_in(authenticator, email_of(name) if says_address else None, **AT_SHOP)


async def with_second_factor(shop: ClosedService, name: str) -> Person:
    """Give a person an authenticator app, whose next code is good."""
    person = Person(shop.world, shop.team.ids[name], email_of(name))
    await person.turn_mfa_on()
    person.next_step()
    return person


def assert_kept_out(shop: ClosedService, answer: Answer, text: str = TEXT) -> None:
    """Assert that a person reads a text, by default about closed services, and that nothing was left behind."""
    assert_refused(answer, 403, "FORBIDDEN")
    assert answer.json["error"] == text
    assert "access_token" not in answer.json
    assert shop.users() == 0
    assert shop.world.rows("SELECT FROM sessions WHERE service_id IS NOT NULL") == []


class TestPasskeys:
    @CLOSED
    @pytest.mark.parametrize("says_address", [True, False])
    async def test_a_stranger_is_refused_and_becomes_no_end_user(
        self, shop: ClosedService, access: str, *, says_address: bool
    ) -> None:
        await shop.close(access, "everyone")

        assert_kept_out(shop, await by_passkey(shop, "sam", says_address=says_address))

    async def test_a_member_who_is_not_assigned_is_refused(self, shop: ClosedService) -> None:
        await shop.close("assigned", "role:admin")

        assert_kept_out(shop, await by_passkey(shop, "mia"))

    @CLOSED
    async def test_an_assigned_member_comes_in(self, shop: ClosedService, access: str) -> None:
        await shop.close(access, mia=["editor"])

        answer = await by_passkey(shop, "mia")

        assert answer.status == 200, answer.text
        assert claims_of(answer.json["access_token"])["service_roles"] == ["editor"]
        assert shop.users() == 1

    @CLOSED
    async def test_a_challenge_of_before_is_answered_by_what_holds_then(self, shop: ClosedService, access: str) -> None:
        keyring = Keyring(shop.world, (await shop.world.sign_in(email_of("sam"))).access_token)
        authenticator = await keyring.registered()
        started = await keyring.start(email_of("sam"), **AT_SHOP)
        await shop.close(access, "everyone")

        answer = await keyring.finish(started.json, authenticator.get(started.json["options"]), **AT_SHOP)

        assert_kept_out(shop, answer)


class TestSecondFactors:
    @CLOSED
    async def test_a_challenge_of_before_lets_no_stranger_in(self, shop: ClosedService, access: str) -> None:
        sam = await with_second_factor(shop, "sam")
        token = await sam.preauth_token(**AT_SHOP)
        await shop.close(access, "everyone")

        assert_kept_out(shop, await sam.verify(token, sam.code()))

    async def test_a_challenge_of_before_lets_nobody_in_who_is_not_assigned_any_more(self, shop: ClosedService) -> None:
        await shop.close("assigned", mia=[])
        mia = await with_second_factor(shop, "mia")
        token = await mia.preauth_token(**AT_SHOP)
        await shop.close("assigned", "role:admin")

        assert_kept_out(shop, await mia.verify(token, mia.code()))

    async def test_a_passkey_as_second_factor_lets_no_stranger_in_either(self, shop: ClosedService) -> None:
        sam = Person(shop.world, shop.team.ids["sam"], email_of("sam"))
        await sam.sign_in()
        keyring, passkey = Keyring(shop.world, sam.token), Authenticator()
        registered = await keyring.register(passkey)
        await keyring.ask("PATCH", f"/{registered.json['id']}", {"second_factor": True})
        token = await sam.preauth_token(**AT_SHOP)
        asked = await sam.ask_passkey(token)
        await shop.close("members")

        assert_kept_out(shop, await sam.answer(token, passkey.get(asked.json["options"])))

    async def test_an_assigned_member_goes_on(self, shop: ClosedService) -> None:
        mia = await with_second_factor(shop, "mia")
        token = await mia.preauth_token(**AT_SHOP)
        await shop.close("assigned", mia=["editor"])

        answer = await mia.verify(token, mia.code())

        assert answer.status == 200, answer.text
        assert claims_of(answer.json["access_token"])["service_roles"] == ["editor"]


class TestCustomers:
    """A service with customers that admits individuals, until it is closed while they choose."""

    @CLOSED
    async def test_a_choice_of_before_lets_no_stranger_in_for_no_customer(
        self, shop: ClosedService, access: str
    ) -> None:
        await shop.change(customers="listed", individuals="all")
        globex = shop.world.organization("globex")
        shop.world.member(globex, shop.team.ids["sam"])
        customer_id = shop.world.customer(Service(id=shop.party.service_id, client_id=shop.party.client_id), globex)
        alone, for_it = [await shop.log_in("sam") for _ in range(2)]
        await shop.close(access, "everyone")

        async def choose(asked: Answer, customer: str | None) -> Answer:
            body = {"customer_token": asked.json["customer_token"], "customer": customer}
            return await shop.world.client.post("/api/auth/customer", body=body)

        refused = await choose(alone, None)

        assert_refused(alone, 409, "CUSTOMER_REQUIRED")
        assert alone.json["individual"] is True
        # The text for a person who could act for a customer speaks of customers.
        assert_kept_out(shop, refused, NoCustomer().message)
        # The customer is open as before.
        chosen = await choose(for_it, str(customer_id))
        assert claims_of(chosen.json["access_token"])["customer"] == "globex"
