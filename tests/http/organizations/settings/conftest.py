"""A name server, and an installation that asks it, for the tests of domains."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from adapters.resolver import DnsResolver
from tests.name_server import LOOPBACK
from tests.world.domains import Domains
from tests.world.fixtures import names

if TYPE_CHECKING:
    from entrypoints.installation import Installation
    from tests.name_server import NameServer
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
