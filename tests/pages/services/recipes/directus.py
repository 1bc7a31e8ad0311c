"""Directus as a program that is connected, with a database of PostgreSQL of its own."""

from __future__ import annotations

import secrets
import shutil
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin
from uuid import uuid4

import psycopg
from playwright.sync_api import Page
from psycopg.conninfo import conninfo_to_dict

from tests.pages.services.programs import running
from tests.pages.services.recipes.administrator import Connected
from tests.pages.services.recipes.programs import Program, port_of
from tests.peers import peer

_BOOTSTRAP_SECONDS_MAX = 180.0
# The role of people who are no admins: it may open the application.
_MAKE_ROLE = (
    "INSERT INTO directus_roles (id, name) VALUES (%(role)s, 'Members')",
    "INSERT INTO directus_policies (id, name, app_access) VALUES (%(policy)s, 'Members', true)",
    "INSERT INTO directus_access (id, role, policy) VALUES (%(access)s, %(role)s, %(policy)s)",
)


class Directus(Program):
    """Directus."""

    word = "directus"

    def __init__(self, database_url: str) -> None:
        self._database_url = database_url

    @contextmanager
    def running(self, connected: Connected, folder: Path) -> Generator[None]:
        """Make its tables and a role, write its configuration, and run it."""
        found, port = peer("directus"), port_of(connected.url)
        node = shutil.which("node")
        assert node is not None
        command = [node, "--require", str(found.files / "without_scripts.cjs")]
        command.append(str(found.programs.parent / "directus" / "cli.js"))
        general = (
            f"PORT={port}",
            "HOST=localhost",
            f"SECRET={secrets.token_hex()}",
            "DB_CLIENT=pg",
            *(f"DB_{name.upper()}={value}" for name, value in self._database().items()),
            "ADMIN_EMAIL=operator@example.org",
            f"ADMIN_PASSWORD={secrets.token_hex()}",
            "TELEMETRY=false",
            # Otherwise it refuses the files of its own page where its process was busy for 250 ms.
            "PRESSURE_LIMITER_ENABLED=false",
        )
        settings = folder / ".env"
        settings.write_text("\n".join((*general, "")))
        made = subprocess.run(
            [*command, "bootstrap"],
            check=False,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_BOOTSTRAP_SECONDS_MAX,
        )
        assert made.returncode == 0, made.stdout + made.stderr
        settings.write_text("\n".join((*general, self._with_roles(connected.text), "")))
        with running([*command, "start"], folder, port):
            yield

    def begin(self, page: Page, url: str) -> None:
        """Press the button of its own page."""
        page.goto(f"{url}/admin/login")
        page.get_by_text("Log In with Gatehouse").click()

    def shown(self, page: Page) -> str:
        """Return what its interface says of the user in its cookie."""
        answer = page.request.get(urljoin(page.url, "/users/me"), params={"fields": "email"})
        if not answer.ok:
            return ""
        # Only an admin may ask for it.
        is_admin = page.request.get(urljoin(page.url, "/schema/snapshot")).ok
        return answer.json()["data"]["email"] + (" (admin)" if is_admin else "")

    def sign_out(self, page: Page) -> None:
        """Open what its menu leads to."""
        page.goto(urljoin(page.url, "/admin/logout"))

    def _database(self) -> Mapping[str, object]:
        """Return where its database is, in its own words."""
        known = conninfo_to_dict(self._database_url)
        return {
            "host": known["host"],
            "port": known.get("port", 5432),
            "user": known["user"],
            "password": known.get("password", ""),
            "database": known["dbname"],
        }

    def _with_roles(self, text: str) -> str:
        """Enter the ids of its roles in the recipe, of which one is made."""
        ids = {"role": uuid4(), "policy": uuid4(), "access": uuid4()}
        with psycopg.connect(self._database_url) as connection:
            for statement in _MAKE_ROLE:
                connection.execute(statement, ids)
            [(admins,)] = connection.execute("SELECT id FROM directus_roles WHERE name = 'Administrator'").fetchall()
        texts = {"ID_OF_A_ROLE": str(ids["role"]), "ID_OF_THE_ADMINISTRATOR_ROLE": str(admins)}
        for placeholder, value in texts.items():
            assert text.count(placeholder) == 1
            text = text.replace(placeholder, value)
        return text
