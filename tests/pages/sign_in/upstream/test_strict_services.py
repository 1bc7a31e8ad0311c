"""Users of a service with the profile `fapi2` sign in at the page of its request, in any way that it offers."""

from __future__ import annotations

import pytest

from tests.upstream_provider import Account
from tests.world.authorization import led_back
from tests.world.builder import EMAIL
from tests.world.strict_party import StrictParty, insert_strict_party
from tests.world.upstream import Upstream, parameters_of
from tests.world.world import World


@pytest.fixture
async def bank(world: World) -> StrictParty:
    """A service with the profile, which knows a nonce."""
    bank = insert_strict_party(world)
    await bank.learn_nonce()
    return bank


async def test_a_provider_signs_in_on_the_way_of_a_pushed_request(bank: StrictParty, upstream: Upstream) -> None:
    sign_in_page = (await upstream.visitor.send("GET", await bank.address())).headers["Location"]

    back = led_back(await upstream.sign_in(f"/auth/codehost?return_id={parameters_of(sign_in_page)['return_id']}"))

    assert (await bank.redeem(back["code"])).status == 200


async def test_a_service_does_not_send_its_users_to_a_provider_itself(
    bank: StrictParty, upstream: Upstream, world: World
) -> None:
    path = "/auth/codehost?org=bank&service=bank&redirect_uri=https://shop.example/callback"

    answer = await upstream.visitor.send("GET", path)

    assert answer.status == 403
    assert world.value("SELECT count(*) FROM upstream_sign_ins") == 0


async def test_a_sign_in_with_a_provider_that_began_before_the_profile_gets_no_code(
    bank: StrictParty, upstream: Upstream
) -> None:
    bank.party.set(security_profile=None)
    path = "/auth/codehost?org=bank&service=bank&redirect_uri=https://shop.example/callback"
    address = await upstream.depart(path)
    bank.register()

    answer = await upstream.visitor.open(upstream.stand_in.sign_in(address, Account(email=EMAIL)))

    assert answer.status == 403
    assert "unauthorized_client" in answer.text
