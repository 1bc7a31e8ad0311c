"""An installation that asks a name server of the tests, and a mail server, for the pages of settings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from adapters.resolver import DnsResolver
from tests.mail_server import PostOffice
from tests.name_server import LOOPBACK
from tests.world.fixtures import names

if TYPE_CHECKING:
    from collections.abc import Generator

    from entrypoints.installation import Installation
    from tests.name_server import NameServer

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
