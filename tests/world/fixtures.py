"""The world and its views as fixtures; the `conftest.py` of a folder imports those that its tests use."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from adapters.postgres.driver.connection import Connection
from entrypoints.installation import Installation
from tests.application import Client
from tests.clock import SettableClock
from tests.name_server import NameServer
from tests.world.acme_shop import AcmeShop, insert_acme_shop
from tests.world.billing import Seller, insert_seller
from tests.world.builder import EMAIL, Builder
from tests.world.hooks import Hooks
from tests.world.inviter import Inviter, insert_inviter
from tests.world.passkeys import Keyring
from tests.world.platform import PLATFORM_OWNER, Platform
from tests.world.saml import SamlService, SamlWorld
from tests.world.second_factors import Person
from tests.world.setups import Setups
from tests.world.support import SupportDesk, open_desk
from tests.world.team import Team
from tests.world.victim import Victim
from tests.world.visitor import Visitor
from tests.world.world import World


@pytest.fixture
def builder(connection: Connection, clock: SettableClock) -> Builder:
    """A builder of rows, for tests without the application."""
    return Builder(connection, clock)


@pytest.fixture
def world(connection: Connection, clock: SettableClock, client: Client, installation: Installation) -> World:
    """The test's world, which is empty."""
    return World(connection=connection, clock=clock, client=client, installation=installation)


@pytest.fixture
def team(world: World) -> Team:
    """An organization with an owner, an admin and a member."""
    team = world.team()
    team.add("owner", "owner")
    team.add("admin", "admin")
    team.add("member", "member")
    return team


@pytest.fixture
async def platform(world: World) -> Platform:
    """The platform, with an owner who is signed in."""
    owner_id = world.user(PLATFORM_OWNER, is_platform_owner=True)
    return Platform(world, owner_id, await world.sign_in(PLATFORM_OWNER))


@pytest.fixture
async def desk(platform: Platform) -> SupportDesk:
    """The platform, with a person of its support who is signed in."""
    return await open_desk(platform)


@pytest.fixture
def acme_shop(world: World) -> AcmeShop:
    """An active organization with a service."""
    return insert_acme_shop(world)


@pytest.fixture
def seller(world: World) -> Seller:
    """An organization that sells a service."""
    return insert_seller(world)


@pytest.fixture
async def inviter(world: World) -> Inviter:
    """An organization whose owner invites."""
    return await insert_inviter(world)


@pytest.fixture
def keyring(world: World) -> Keyring:
    """A user's passkeys."""
    return Keyring(world)


@pytest.fixture
def saml(world: World) -> SamlWorld:
    """A maker of services with SAML."""
    return SamlWorld(world)


@pytest.fixture
async def saml_shop(team: Team, saml: SamlWorld) -> SamlService:
    """A service of the team with SAML."""
    return await saml.service(team.organization_id, team.slug)


@pytest.fixture
def setups(team: Team, visitor: Visitor) -> Setups:
    """The setup links of the team."""
    return Setups(team, visitor)


@pytest.fixture
def hooks(team: Team) -> Hooks:
    """The webhooks of the team."""
    return Hooks(team)


@pytest.fixture
async def victim(world: World, keyring: Keyring) -> Victim:
    """An account that is signed in and has not been taken over yet."""
    await keyring.sign_up()
    app = Person(world, world.user_id(EMAIL), EMAIL, token=keyring.token)
    return Victim(world, keyring, app)


@pytest.fixture
def visitor(world: World) -> Visitor:
    """A browser without a session."""
    return Visitor(world.client)


@pytest.fixture
def names() -> Generator[NameServer]:
    """A name server on loopback."""
    with NameServer().open() as opened:
        yield opened
