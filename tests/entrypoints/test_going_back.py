"""Back to a release, as ops/docs/upgrading.md says it, when people have signed up meanwhile.

The releases run with the packages of this version, which their own allow, so that nothing has to be installed.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from adapters.postgres.schema.migrations import known
from ops.benchmarks import releases
from tests.documents import ROOT
from tests.entrypoints.site import BASE_URL, Site
from tests.other_postgres import OtherPostgres, other_postgres
from tests.processes import Commands, Service, Services, address, given_database, prefixed
from tests.waiting import wait_until

# Each starts several servers, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

MANUAL: Final = ROOT / "ops/docs/upgrading.md"
FIRST: Final = "0.1.0"
PASSWORD: Final = "correct horse battery"
SETTINGS: Final = prefixed({"BASE_URL": BASE_URL, "DEV": "on", "AUTO_APPROVE": "on"})
LINK: Final = re.compile(r"/auth/verify-email\?token=[A-Za-z0-9_-]+")


@dataclass
class Version:
    """A version of Gatehouse: its commands, and its server on the same database."""

    services: Services
    environment: dict[str, str]

    def run(self, *arguments: str, status: int = 0, **settings: str) -> tuple[str, str]:
        """Run a command, which ends as expected, and return what it printed, and its errors."""
        done = Commands(self.services.folder, self.environment).run(*arguments, **settings)
        assert done.returncode == status, (done.stdout, done.stderr)
        return done.stdout, done.stderr

    def serve(self, **settings: str) -> Service:
        """Start its server."""
        return self._start(**settings).wait_until_ready()

    def refuse(self, **settings: str) -> str:
        """Start its server, which refuses to, and return its log."""
        service = self._start(**settings)
        assert service.wait() == 1, service.log
        return service.log

    def _start(self, **settings: str) -> Service:
        self.services.environment = self.environment
        return self.services.start(**settings)


def extracted(version: str, folder: Path) -> Path:
    """Return the files of a release."""
    found = releases.release(releases.RELEASES.read_text(), version)
    releases.extract(found, folder / version, repository=releases.ROOT)
    return folder / version


def last_with_older_schema(folder: Path) -> str:
    return releases.extract_older(releases.RELEASES.read_text(), folder / "older", len(known())).version


def versions(services: Services, environment: dict[str, str], *, before: str) -> tuple[Version, Version]:
    """Return a release and this version, on the database that the environment names."""
    path = {"PYTHONPATH": str(extracted(before, services.folder))}
    return Version(services, environment | path), Version(services, environment)


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Services]:
    """Servers of either version."""
    services = Services(tmp_path, {})
    yield services
    services.close()


@pytest.fixture
def environment(empty_database_url: str) -> dict[str, str]:
    """The settings of servers on an empty database."""
    return given_database(empty_database_url) | SETTINGS


@pytest.fixture
def other() -> Iterator[OtherPostgres]:
    """A PostgreSQL of Debian with its programs."""
    with other_postgres() as postgres:
        postgres.environment |= {"PGHOST": str(postgres.folder), "PGPORT": "5432", "PGUSER": "postgres"}
        postgres.start()
        yield postgres


def sign_up(service: Service, email: str) -> None:
    """Register, open the mailed link, and sign in."""
    site = Site(service)
    known = links(site)
    site.ask("POST", "/api/auth/register", {"email": email, "password": PASSWORD})
    wait_until(lambda: bool(links(site) - known), seconds_max=120)
    [link] = links(site) - known
    page = site.open(link)
    assert page.status == 200, page.content
    if b"/auth/verify-email/confirm" in page.content:
        # The link of a later version waits for a button, so that no scanner uses it up.
        site.submit(page, "/auth/verify-email/confirm", password=PASSWORD)
    assert sign_in(service, email) == 200


def links(site: Site) -> set[str]:
    return set(LINK.findall(site.call("GET", "/dev/mailbox").content.decode()))


def sign_in(service: Service, email: str) -> int:
    return Site(service).call("POST", "/api/auth/login", {"email": email, "password": PASSWORD}).status


def found_organization(service: Service, email: str, slug: str) -> None:
    site = Site(service)
    token = site.ask("POST", "/api/auth/login", {"email": email, "password": PASSWORD})["access_token"]
    site.ask("POST", "/api/organizations", {"name": slug, "slug": slug}, token=token)


def one(url: str, statement: str, *values: Any) -> Any:
    with psycopg.connect(url) as connection:
        row = connection.execute(statement.encode(), values).fetchone()
    assert row is not None
    return row[0]


def schema_of(url: str) -> int:
    return one(url, "SELECT max(version) FROM schema_migrations")


def rows_of_manual() -> dict[str, tuple[int, str]]:
    """Return what the manual says of each version: its last migration, and the way back to it."""
    rows = re.findall(r"^\| (\d+\.\d+\.\d+) \| (\d{4}) \| (\w+)", MANUAL.read_text(), re.MULTILINE)
    return {version: (int(last), way) for version, last, way in rows}


def blocks(section: str) -> list[str]:
    """Return the commands that a section of the manual shows."""
    [text] = re.findall(rf"^##+ {section}$(.*?)(?=^##|\Z)", MANUAL.read_text(), re.MULTILINE | re.DOTALL)
    found = re.findall(r"^( *)```sh\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL)
    return [line for _, block in found for line in textwrap.dedent(block).splitlines()]


def test_the_manual_says_the_way_back_to_every_release(tmp_path: Path) -> None:
    said = rows_of_manual()
    listed = [
        line.split()[0] for line in releases.RELEASES.read_text().splitlines() if line and not line.startswith("#")
    ]

    assert set(said) == set(listed)
    for version in listed:
        files = (extracted(version, tmp_path) / "adapters/postgres/schema/migrations").glob("*.sql")
        assert said[version][0] == max(int(file.name[:4]) for file in files)
    assert {version: way for version, (_, way) in said.items()} == {FIRST: "restore"} | {
        version: "start" for version in listed if version != FIRST
    }


def require_said(listed: str, url: str, *, lost: set[str]) -> None:
    """Require that the loss was announced, and that the statement of the manual lists the people."""
    newest = one(url, "SELECT to_char(max(created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') FROM users")
    [moment] = re.findall(r"^The backup is of (.+) UTC\.", listed, re.MULTILINE)
    sessions = one(url, "SELECT count(*) FROM sessions WHERE created_at > %s", f"{moment}+00")
    assert f"\n  accounts: {len(lost)}, the newest of {newest} UTC\n" in listed
    assert "\n  organizations: 1, the newest of " in listed
    assert f"\n  sessions: {sessions}, the newest of " in listed
    [statement] = re.findall(r"`(SELECT email, created_at FROM users WHERE created_at > ')", MANUAL.read_text())
    with psycopg.connect(url) as connection:
        assert {email for email, _ in connection.execute(f"{statement}{moment}+00'".encode())} == lost


def test_back_to_the_first_release_by_restore_when_people_have_signed_up_meanwhile(
    servers: Services, environment: dict[str, str], empty_database_url: str
) -> None:
    first, today = versions(servers, environment, before=FIRST)
    first.run("migrate")
    schema = schema_of(empty_database_url)
    old = first.serve()
    sign_up(old, "before@example.com")
    found_organization(old, "before@example.com", "early")

    # Before the upgrade, with the program of this version. The second of the backup says what a way back loses.
    wait_until(lambda: one(empty_database_url, "SELECT max(created_at) < date_trunc('second', now()) FROM sessions"))
    written, _ = today.run("backup", "before.tar")
    assert f" with schema {schema}, PostgreSQL " in written
    assert "`gatehouse restore --replace --without-migrating before.tar`" in written
    # The old processes go on until the migration, and not beside it.
    sign_up(old, "between@example.com")
    assert old.stop() == 0
    today.run("migrate")
    server = today.serve()
    sign_up(server, "meanwhile@example.com")
    found_organization(server, "meanwhile@example.com", "late")
    assert sign_in(server, "before@example.com") == 200
    assert server.stop() == 0
    assert "The database is ahead of this version" in first.refuse()

    # The loss is announced, and nothing is done.
    today.run("backup", "after.tar")
    listed, refusal = today.run("restore", "--without-migrating", "before.tar", status=1)
    assert "with --replace. Nothing was changed." in refusal
    require_said(listed, empty_database_url, lost={"between@example.com", "meanwhile@example.com"})
    assert schema_of(empty_database_url) > schema

    # Back, as the manual says.
    [command] = blocks("Going back")
    assert command == "gatehouse restore --replace --without-migrating before-upgrade.tar"
    restored, _ = today.run(*command.split()[1:-1], "before.tar")
    assert listed.splitlines()[1:] == restored.splitlines()[1:-1]
    assert f"Restored with schema {schema}, and not migrated." in restored
    assert schema_of(empty_database_url) == schema
    assert "lacks" in today.run("keys", "rotate", status=1)[1]
    old = first.serve()
    assert sign_in(old, "before@example.com") == 200
    assert [sign_in(old, f"{name}@example.com") for name in ("between", "meanwhile")] == [401, 401]
    sign_up(old, "meanwhile@example.com")
    found_organization(old, "meanwhile@example.com", "late")
    assert old.stop() == 0

    # And forward again.
    today.run("migrate")
    server = today.serve()
    assert [sign_in(server, f"{name}@example.com") for name in ("before", "meanwhile")] == [200, 200]
    assert sign_in(server, "between@example.com") == 401
    sign_up(server, "between@example.com")
    assert server.stop() == 0


def test_back_to_the_first_release_with_the_programs_of_postgresql(servers: Services, other: OtherPostgres) -> None:
    url, back = other.create_database("gatehouse"), other.url("gatehouse_before")
    first, today = versions(servers, given_database(url) | SETTINGS, before=FIRST)
    dump, *restoring = blocks("With the programs of PostgreSQL")
    file = str(other.folder / "before-upgrade.dump")
    first.run("migrate")
    old = first.serve()
    sign_up(old, "before@example.com")
    other.run(*dump.replace("before-upgrade.dump", file).split())

    assert old.stop() == 0
    today.run("migrate")
    server = today.serve()
    sign_up(server, "meanwhile@example.com")
    assert server.stop() == 0

    for command in restoring:
        other.run(*command.replace("before-upgrade.dump", file).split())
    settings = {"DATABASE_URL": address(back)}
    old = first.serve(**settings)
    assert sign_in(old, "before@example.com") == 200
    assert sign_in(old, "meanwhile@example.com") == 401
    assert old.stop() == 0
    # The upgraded database is as it was.
    assert one(url, "SELECT count(*) FROM users WHERE email = %s", "meanwhile@example.com") == 1
    today.run("migrate", DATABASE_URL=address(back))
    server = today.serve(**settings)
    assert sign_in(server, "before@example.com") == 200
    assert server.stop() == 0


def test_a_release_whose_range_has_this_schema_is_started_again_and_nothing_is_lost(
    servers: Services, environment: dict[str, str]
) -> None:
    release, today = versions(servers, environment, before=last_with_older_schema(servers.folder))
    release.run("migrate")
    old = release.serve()
    sign_up(old, "before@example.com")
    assert old.stop() == 0
    plan, _ = today.run("migrate", "--plan")
    assert "The previous version works with the schema after every step." in plan
    today.run("migrate")
    server = today.serve()
    sign_up(server, "meanwhile@example.com")
    assert server.stop() == 0

    old = release.serve()
    assert len(old.logged("database.newer_schema")) == 1
    assert [sign_in(old, f"{name}@example.com") for name in ("before", "meanwhile")] == [200, 200]
    sign_up(old, "later@example.com")
    assert old.stop() == 0

    server = today.serve()
    assert [sign_in(server, f"{name}@example.com") for name in ("before", "meanwhile", "later")] == [200] * 3
    assert server.stop() == 0
