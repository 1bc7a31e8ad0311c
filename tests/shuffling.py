"""Another order of the modules, for reports: `-p tests.shuffling --shuffle SEED`.

A module's verdict does not depend on which ones ran before it in its process. The tests of a module stay together, in
their order, so that what they share is made once.
"""

from __future__ import annotations

from random import Random

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run name the seed of its order."""
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the modules in the order that this seed draws")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the modules into the order of the seed."""
    seed: int | None = config.getoption("shuffle")
    if seed is not None:
        items[:] = shuffled(items, seed)


def shuffled(items: list[pytest.Item], seed: int) -> list[pytest.Item]:
    """Return the tests with their modules in another order, which follows from the seed and the modules alone."""
    modules = sorted({str(item.path) for item in items})
    Random(seed).shuffle(modules)
    places = {module: place for place, module in enumerate(modules)}
    return sorted(items, key=lambda item: places[str(item.path)])
