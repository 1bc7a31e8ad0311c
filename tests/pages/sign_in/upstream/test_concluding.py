"""What changes between the two transactions of a sign-in, while a provider is asked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from core.accounts.sign_in_methods import Provider
from core.sign_in.identities import PLATFORM, IdentityContext, ProvenIdentity
from core.sign_in.proofs import Destination
from core.sign_in.reasons import SignInInterrupted
from core.sign_in.upstream import by_connection, sign_in
from core.sign_in.upstream.by_connection import ConnectionClosed
from core.sign_in.upstream.flows import ReturnAddress, SignInOver, UpstreamSignIn
from entrypoints.installation import Installation
from tests.world.builder import new_id
from tests.world.openid_connection import CONNECTIONS, Connected, connected_organization
from tests.world.world import World


def departed(world: World, provider: Provider, context: IdentityContext = PLATFORM) -> UpstreamSignIn:
    """Return a sign-in that has gone to a provider, without its row."""
    return UpstreamSignIn(
        id=new_id(),
        provider=provider,
        context=context,
        client_id="client",
        user_id=None,
        way=ReturnAddress(),
        expires_at=world.clock(),
    )


@pytest.fixture
async def acme(world: World) -> Connected:
    """An organization with a connection, whose provider is never asked."""
    return await connected_organization(world, "https://idp.example", client_id="client", client_secret="secret")


@pytest.fixture
def by_acme(world: World, acme: Connected) -> UpstreamSignIn:
    """A sign-in that has gone to the provider of the connection, and is no longer kept."""
    context = IdentityContext(organization_id=acme.organization_id, connection_id=UUID(acme.connection_id))
    return departed(world, Provider.UPSTREAM, context)


async def test_a_connection_that_is_switched_off_concludes_no_sign_in(
    installation: Installation, acme: Connected, by_acme: UpstreamSignIn
) -> None:
    await acme.owner.patch(f"{CONNECTIONS}/{acme.connection_id}", {"enabled": False})

    with pytest.raises(ConnectionClosed):
        await installation.database.transact(by_connection.lock, by_acme)


async def test_a_connection_that_has_got_another_provider_concludes_no_sign_in(
    installation: Installation, by_acme: UpstreamSignIn
) -> None:
    with pytest.raises(SignInOver):
        await installation.database.transact(by_connection.lock, by_acme)


async def test_an_identity_that_was_unlinked_signs_in_no_more(world: World, installation: Installation) -> None:
    def conclude(uow: Any) -> None:
        linked = SimpleNamespace(user_id=user_id)
        uow.identities = SimpleNamespace(find=lambda *_: linked, use=lambda *_: False)
        sign_in.conclude(uow, departed(world, Provider.CODEHOST), proven, Destination(), browser="the browser")

    user_id = world.user()
    proven = ProvenIdentity(provider=Provider.CODEHOST, subject="4711", email=None)

    with pytest.raises(SignInInterrupted):
        await installation.database.transact(conclude)

    assert world.value("SELECT count(*) FROM sessions") == 0
