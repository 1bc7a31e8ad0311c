"""An installation that asks a name server of the tests, and a mail server, for the pages of settings."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import pytest

from adapters.resolver import DnsResolver
from entrypoints.installation import Installation
from tests.mail_server import PostOffice
from tests.name_server import LOOPBACK, NameServer
from tests.world.fixtures import names

__all__ = ["installation", "names"]


@pytest.fixture
async def installation(installation: Installation, names: NameServer) -> Installation:
    """The installation, which asks that name server."""
    return replace(installation, resolver=DnsResolver((LOOPBACK, names.port)))


@pytest.fixture
def office() -> Generator[PostOffice]:
    """A mail server that takes every mail."""
    with PostOffice().open() as opened:
        yield opened
