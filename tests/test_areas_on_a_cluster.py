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
# What reads and writes the logs; `gatehouse backup` refuses a cluster.
PASSING: Final = (
    "tests/actors",
    "tests/adapters/audit",
    "tests/adapters/mail",
    "tests/adapters/platform",
    "tests/adapters/privacy",
    "tests/adapters/scim",
    "tests/adapters/sign_in",
    "tests/adapters/webhooks",
)
RUN: Final = ("-q", "-p", "no:cacheprovider", "-n", "2", "-m", "not long and not browser", "--database=citus")


@pytest.mark.long
@pytest.mark.in_turn(part="cluster_areas")
def test_the_areas_of_the_logs_pass_on_a_cluster() -> None:
    require_citus()
    # A run of its own, of all of them.
    environment = {name: of for name, of in os.environ.items() if not name.startswith("PYTEST_") and name != SEED}

    done = subprocess.run(
        [sys.executable, "-m", "pytest", *RUN, *PASSING],
        check=False,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )

    assert done.returncode == 0, done.stdout[-20_000:]
