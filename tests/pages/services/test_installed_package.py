"""The Python package, installed from the running installation by the line that the page of a service shows."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.postgres.driver.connection import Connection
from tests.account_site import sign_in
from tests.browser import Site, Watched
from tests.pages.services.programs import insert_shop
from tests.world.builder import Builder

# The packages that it needs come from the package index.
pytestmark = [pytest.mark.browser, pytest.mark.long]

SECONDS_MAX = 300.0


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line as a reader does, without what the environment of the tests sets for Python."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return subprocess.run(
        ["sh", "-c", command],
        check=False,
        cwd=folder,
        env=kept | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )


def test_the_shown_line_installs_the_package_in_an_empty_folder_and_another_file_is_refused(
    world_of_now: Builder, connection: Connection, site: Site, watch: Callable[..., Watched], tmp_path: Path
) -> None:
    insert_shop(world_of_now, connection, "https://shop.example")
    page = watch().page
    page.goto(f"{site.url}/app/organizations/acme/services/shop")
    sign_in(page)
    environment, install = (page.locator("#copy-install-flask").text_content() or "").splitlines()
    head, digest = install.removesuffix('"').rsplit("=", 1)
    other = f'{head}={digest[:-1]}{"1" if digest[-1] == "0" else "0"}"'

    made = run(environment, tmp_path)
    refused = run(other, tmp_path)
    missing = run(".venv/bin/python -c 'import gatehouse_client'", tmp_path)
    installed = run(install, tmp_path)
    used = run(".venv/bin/python -c 'import gatehouse_client.flask; print(gatehouse_client.__file__)'", tmp_path)
    checked = run(".venv/bin/python -m pip check", tmp_path)

    assert made.returncode == 0, made.stderr
    assert refused.returncode != 0
    assert "DO NOT MATCH THE HASHES" in refused.stderr
    assert missing.returncode != 0
    assert installed.returncode == 0, installed.stderr
    assert used.stdout.startswith(str(tmp_path / ".venv")), used.stderr
    assert checked.returncode == 0, checked.stdout
