"""A name server with an installation that asks it, and mail servers, for the tests of settings."""

from __future__ import annotations

import socket
from collections.abc import Generator
from dataclasses import replace

import pytest

from adapters.resolver import DnsResolver
from entrypoints.installation import Installation
from tests.mail_server import PostOffice
from tests.name_server import LOOPBACK, NameServer
from tests.world.domains import Domains
from tests.world.fixtures import names
from tests.world.mail_servers import MailServers
from tests.world.team import Team

__all__ = ["domains", "installation", "names"]


@pytest.fixture
async def installation(installation: Installation, names: NameServer) -> Installation:
    """The installation, which asks that name server."""
    return replace(installation, resolver=DnsResolver((LOOPBACK, names.port)))


@pytest.fixture
def domains(team: Team, names: NameServer) -> Domains:
    """The custom domain of the team, which is not set yet."""
    return Domains(team, names)


@pytest.fixture
def servers(team: Team) -> MailServers:
    """The team's mail server, which is not set yet."""
    return MailServers(team)


@pytest.fixture
def office() -> Generator[PostOffice]:
    """A mail server that takes every mail."""
    with PostOffice().open() as opened:
        yield opened


@pytest.fixture
def dead_port() -> int:
    """A port at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        return closed.getsockname()[1]
