"""A program of others that is connected, and the application, whose connections to it end with the test.

The table `PROGRAMS` of a module names the programs with which its tests run.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.gateways.key_sets import HttpKeySets
from adapters.gateways.outbound import outbound_client
from adapters.gateways.upstream_connections import HttpConnectionGateway
from adapters.gateways.upstream_requests import UpstreamRequests
from adapters.gateways.upstream_saml import HttpSamlConnectionGateway
from entrypoints.installation import Installation
from entrypoints.settings import LOOPBACK, Settings
from tests.application import VERSION
from tests.clock import SettableClock
from tests.identity_programs.connected import ConnectedProgram, connected_program
from tests.identity_programs.program import Program
from tests.world.visitor import Visitor
from tests.world.world import World


@pytest.fixture
def settings() -> Settings:
    """Development mode, without rate limits."""
    return Settings(dev=True, rate_limits=False)


@pytest.fixture
async def installation(installation: Installation, clock: SettableClock) -> AsyncGenerator[Installation]:
    """The installation, with clients for connections that are closed at the end."""
    async with outbound_client(LOOPBACK) as client:
        requests = UpstreamRequests(client, version=VERSION)
        yield replace(
            installation,
            key_sets=HttpKeySets(client),
            upstream_connections=HttpConnectionGateway(requests, clock=clock),
            saml_connections=HttpSamlConnectionGateway(requests, processors=1),
        )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with each program of its module, where it does not name some of them."""
    named = any("program" in marker.args[0] for marker in metafunc.definition.iter_markers("parametrize"))
    if "program" in metafunc.fixturenames and not named:
        assert metafunc.module is not None, "a test is of no module"
        metafunc.parametrize("program", metafunc.module.PROGRAMS, indirect=True)


@pytest.fixture
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Program]:
    """The provider."""
    with request.module.PROGRAMS[request.param](tmp_path) as running:
        yield running


@pytest.fixture
async def acme(world: World, visitor: Visitor, program: Program) -> ConnectedProgram:
    """Acme, which is connected with the provider."""
    return await connected_program(world, visitor, program)
