"""The tests of the areas that have logs, run again with databases on a cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.citus import require_citus
from tests.turns import SEED

ROOT: Final = Path(__file__).parent.parent
SECONDS_MAX: Final = 1800
# What reads and writes the logs, in parts that several processes share. `gatehouse backup` refuses a cluster.
PASSING: Final = {
    "actors": ("tests/actors",),
    "audit": ("tests/adapters/audit",),
    "platform": (
        "tests/adapters/accounts",
        "tests/adapters/billing",
        "tests/adapters/credentials",
        "tests/adapters/invitations",
        "tests/adapters/organizations",
        "tests/adapters/platform",
        "tests/adapters/privacy",
    ),
    "services": (
        "tests/adapters/mail",
        "tests/adapters/scim",
        "tests/adapters/service_api",
        "tests/adapters/services",
        "tests/adapters/sign_in",
        "tests/adapters/webhooks",
    ),
}
RUN: Final = ("-q", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=900", "--database=citus")
# Without what only repeats or drives a browser.
SHORT: Final = "not long and not browser and not matrix"


@pytest.mark.long
@pytest.mark.in_turn(part="cluster_areas")
@pytest.mark.parametrize("paths", PASSING.values(), ids=PASSING)
def test_the_areas_of_the_logs_pass_on_a_cluster(paths: tuple[str, ...]) -> None:
    require_citus()
    # A run of its own, of all of them.
    environment = {name: of for name, of in os.environ.items() if not name.startswith("PYTEST_") and name != SEED}

    done = subprocess.run(
        [sys.executable, "-m", "pytest", *RUN, "-m", SHORT, *paths],
        check=False,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )

    assert done.returncode == 0, done.stdout[-20_000:]
