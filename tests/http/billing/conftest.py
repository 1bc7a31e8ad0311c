"""A payment provider, and a seller who is connected with it, for the tests in this folder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest

from adapters.gateways import stripe
from adapters.gateways.stripe import StripeGateway
from core.secrets import Secret
from entrypoints.installation import Installation
from tests.application import serving
from tests.payment_provider import KEY, PaymentProvider, running_provider
from tests.world.billing import Seller, insert_seller
from tests.world.signing_in import SignedInUser
from tests.world.world import World


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[PaymentProvider]:
    """A payment provider, which is asked again without a pause."""
    monkeypatch.setattr(stripe, "PAUSE_SECONDS_MIN", 0.0)
    with running_provider() as provider:
        yield provider


@pytest.fixture
async def gateway(world: World, provider: PaymentProvider) -> AsyncIterator[StripeGateway]:
    """The gateway to the provider."""
    gateway = StripeGateway(url=provider.url, key=Secret(KEY), clock=world.clock)
    yield gateway
    await gateway.close()


@pytest.fixture
def shop(world: World, installation: Installation, gateway: StripeGateway) -> Seller:
    """The seller, with the payment provider instead of the sandbox."""
    return insert_seller(replace(world, client=serving(replace(installation, billing=gateway))))


@pytest.fixture
async def buyer(shop: Seller) -> SignedInUser:
    """The buyer, signed in."""
    return await shop.buyer()
