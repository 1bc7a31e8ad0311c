"""The tests of the areas that have logs, run again with databases on a cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.citus import require_citus

ROOT: Final = Path(__file__).parent.parent
SECONDS_MAX: Final = 1800
# What reads and writes the logs, in groups that several processes share. `gatehouse backup` refuses a cluster.
STORAGE: Final = {
    "actors": ("tests/actors",),
    "audit": (
        "tests/adapters/audit",
        "tests/adapters/test_listening.py",
        "--ignore=tests/adapters/audit/test_sign_in_counts.py",
    ),
    "counts": ("tests/adapters/audit/test_sign_in_counts.py",),
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
# Through requests: of programs, and of the pages.
REQUESTS: Final = {
    "audit": ("tests/http/audit", "tests/http/mail", "tests/http/webhooks"),
    "organizations": ("tests/http/organizations/test_deletion.py", "tests/http/scim", "tests/http/service_api"),
    "platform": ("tests/http/platform", "tests/http/privacy"),
    "sign-ins": (
        "tests/http/sign_in/test_login_events.py",
        "tests/http/sign_in/test_risk.py",
        "tests/http/sign_in/test_second_factor_records.py",
        "tests/http/sign_in/test_sign_ins.py",
        "tests/pages/audit",
        "tests/pages/mail",
    ),
    "pages": ("tests/pages/platform", "tests/pages/privacy", "tests/pages/webhooks"),
}
RUN: Final = ("-q", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=900", "--database=citus")
# Without what only repeats or drives a browser.
SHORT: Final = "not long and not browser and not matrix"


@pytest.mark.long
@pytest.mark.parametrize("paths", STORAGE.values(), ids=STORAGE)
def test_what_stores_the_logs_passes_on_a_cluster(paths: tuple[str, ...]) -> None:
    pass_on_a_cluster(paths)


@pytest.mark.long
@pytest.mark.parametrize("paths", REQUESTS.values(), ids=REQUESTS)
def test_requests_that_read_and_write_the_logs_pass_on_a_cluster(paths: tuple[str, ...]) -> None:
    pass_on_a_cluster(paths)


def pass_on_a_cluster(paths: tuple[str, ...]) -> None:
    """Run the tests of these folders, none of which fails."""
    require_citus()
    # A run of its own.
    environment = {name: of for name, of in os.environ.items() if not name.startswith("PYTEST_")}

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
