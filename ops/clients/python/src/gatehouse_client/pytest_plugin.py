"""The pytest plugin: the fixture `gatehouse`, and the instance behind it, which a run of pytest starts once.

pytest imports it in every project that has this package, so the kit and what it needs are imported with the first test.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from gatehouse_client.testing.instance import Instance
    from gatehouse_client.testing.kit import GatehouseKit

# What `gatehouse test-instance` has printed, for an instance that runs already.
STARTED: Final = "GATEHOUSE_TEST_INSTANCE"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a project name its Gatehouse, in its configuration or on the command line."""
    for name, about in (
        (
            "gatehouse_requirement",
            "what pip installs as the server of the tests: a wheel of Gatehouse, or the folder of a copy",
        ),
        ("gatehouse_command", "the command of a Gatehouse that is installed already"),
    ):
        parser.addini(name, about, default="")
        parser.addoption(f"--{name.replace('_', '-')}", default="", help=about)


@pytest.fixture(scope="session")
def gatehouse_instance(pytestconfig: pytest.Config) -> Generator[Instance]:
    """The instance, which starts with the first test that needs it and stops with the run."""
    from gatehouse_client.testing.instance import connected, running  # noqa: PLC0415 - see above

    if given := os.environ.get(STARTED):
        started = json.loads(given)
        with connected(started["base_url"], started["token"], started["owner"]) as instance:
            yield instance
        return
    with running(_command(pytestconfig)) as instance:
        yield instance


@pytest.fixture
def gatehouse(gatehouse_instance: Instance) -> Generator[GatehouseKit]:
    """A Gatehouse in a fresh state."""
    from gatehouse_client.testing.kit import GatehouseKit  # noqa: PLC0415 - see above

    gatehouse_instance.reset()
    kit = GatehouseKit(gatehouse_instance)
    yield kit
    kit.close()


def _command(config: pytest.Config) -> Sequence[str | Path]:
    from gatehouse_client.testing import installing  # noqa: PLC0415 - see above

    if command := _setting(config, "gatehouse_command"):
        found = shutil.which(command)
        if found is None:
            raise pytest.UsageError(f"There is no command {command}. Correct gatehouse_command.")
        return [found]
    return [installing.installed_command(_setting(config, "gatehouse_requirement"))]


def _setting(config: pytest.Config, name: str) -> str:
    return config.getoption(name) or config.getini(name)
