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
SECONDS_MAX: Final = 3600
# Those that pass; the others follow as their statements are made to fit.
PASSING: Final = ("tests/adapters/scim/test_callers.py", "tests/adapters/scim/test_log_months.py")


# What writes and reads the logs through requests: of programs, and of the pages.
REQUESTS: Final = (
    "tests/http/accounts",
    "tests/http/audit",
    "tests/http/billing",
    "tests/http/customers",
    "tests/http/invitations",
    "tests/http/mail",
    "tests/http/organizations",
    "tests/http/platform",
    "tests/http/privacy",
    "tests/http/scim",
    "tests/http/service_api",
    "tests/http/services",
    "tests/http/sign_in",
    "tests/http/webhooks",
    "tests/pages/audit",
    "tests/pages/mail",
    "tests/pages/organizations",
    "tests/pages/platform",
    "tests/pages/privacy",
    "tests/pages/scim",
    "tests/pages/sign_in",
    "tests/pages/webhooks",
)
RUN: Final = ("-q", "-p", "no:cacheprovider", "-n", "2", "--database=citus")
# Without what only repeats or drives a browser.
SHORT: Final = "not long and not browser and not matrix"


@pytest.mark.long
@pytest.mark.parametrize(
    "paths",
    [
        pytest.param(PASSING, marks=pytest.mark.in_turn(part="cluster_areas")),
        pytest.param(REQUESTS, marks=pytest.mark.in_turn(part="cluster_requests")),
    ],
    ids=["areas", "requests"],
)
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
