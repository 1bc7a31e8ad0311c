"""`gatehouse serve` from its start until it is ready, or until it explains in one line why it refuses to start."""

from __future__ import annotations

import json
import re
import resource
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import argon2
import httpx
import psutil
import pytest
from psycopg.conninfo import conninfo_to_dict

from adapters.postgres.driver.connection import Connection
from adapters.postgres.schema import migrations
from tests.postgres import Databases
from tests.processes import (
    GATEHOUSE,
    MASTER_KEY,
    CommandsHere,
    Service,
    Services,
    address,
    clean_environment,
    given_database,
    is_postgres_alive,
    lay_made_cluster,
)
from tests.shown_text import shows
from tests.waiting import wait_until

IDLE_BYTES_MAX = 110 * 1024**2
MISTYPED = "BASEURL"


def refusal(service: Service) -> str:
    """Return the line with which a server refused to start; fail on a traceback."""
    return refusal_in(service.wait(), service.log)


def refusal_in(status: int, written: str) -> str:
    """Return the line with which a start was refused, out of its whole output."""
    assert status == 1, written
    assert not shows(written, "Traceback")
    lines = [line for line in written.splitlines() if line.startswith("gatehouse: ")]
    assert len(lines) == 1, written
    return lines[0].removeprefix("gatehouse: ")


def refusal_here(commands_here: CommandsHere, **environment: str) -> str:
    """Return the line with which a start in this process is refused."""
    finished = commands_here.run("serve", **environment)
    return refusal_in(finished.returncode, finished.stdout + finished.stderr)


@pytest.fixture(scope="module")
def running(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A server that the tests of this module do not change."""
    with databases.migrated() as url:
        services = Services(tmp_path_factory.mktemp("running"), given_database(url))
        yield services.ready(BASE_URL="https://id.example.com", **{MISTYPED: "https://id.example.com"})
        services.close()


@dataclass(frozen=True)
class Developing:
    """A server in development mode after its second start, and its owner's password from the first start."""

    service: Service
    first_password: str

    @property
    def password(self) -> str:
        """The owner's password in its file."""
        return (self.service.data_folder / "owner-password").read_text().strip()


@pytest.fixture(scope="module")
def developing(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Developing]:
    """A server in development mode that the tests of this module do not change."""
    with databases.migrated() as url:
        services = Services(tmp_path_factory.mktemp("developing"), given_database(url) | {"GATEHOUSE_DEV": "on"})
        first = services.ready()
        first.stop()
        first_password = Developing(first, "").password
        yield Developing(services.ready(), first_password)
        services.close()


def test_a_server_on_an_external_database_becomes_ready(running: Service) -> None:
    assert running.get("/health").status == 200
    assert running.get("/health/ready").json["database"] == "connected"
    assert len(running.get("/.well-known/jwks.json").json["keys"]) == 4


def test_a_ready_server_logs_its_addresses(running: Service) -> None:
    [line] = running.logged("server.ready")

    assert line["address"] == "https://id.example.com"
    assert re.fullmatch(r"127\.0\.0\.1:[1-9]\d+", line["bind"])


def test_a_server_that_sells_nothing_says_what_to_set(running: Service) -> None:
    [line] = running.logged("billing.nothing_for_sale")

    assert "GATEHOUSE_BILLING_SECRET_KEY" in line["advice"]
    assert "GATEHOUSE_BILLING_SANDBOX=on" in line["advice"]


def test_a_server_raises_its_file_limit_to_the_hard_limit(running: Service) -> None:
    soft, hard = resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE)

    assert soft == hard


@pytest.mark.long
def test_a_server_that_may_open_few_files_says_how_many_connections_it_serves_and_what_to_do(
    database_url: str, tmp_path: Path
) -> None:
    wrapper = ("sh", "-c", 'ulimit -n 1024 && exec "$0" "$@"')
    services = Services(tmp_path, given_database(database_url), wrapper=wrapper)
    try:
        [line] = services.ready().logged("server.few_open_files")
    finally:
        services.close()

    assert (line["open_files_max"], line["connections_max"]) == (1024, 758)
    assert "LimitNOFILE=" in line["advice"]


def test_an_idle_server_needs_little_memory(running: Service) -> None:
    assert psutil.Process(running.process.pid).memory_info().rss < IDLE_BYTES_MAX


def test_a_server_shows_its_pages_and_describes_its_interface(running: Service) -> None:
    # It imports both with the first request for one of them.
    assert shows(running.get("/app/sign-in").content.decode(), "Sign in")
    assert "/api/user" in running.get("/openapi.json").json["paths"]
    assert running.get("/health").status == 200


@pytest.mark.long
def test_a_second_start_in_the_same_folder_is_refused(running: Service) -> None:
    environment = {name: value for name, value in running.environment.items() if not name.endswith(MISTYPED)}

    second = Services(running.data_folder.parent, environment).start()

    assert refusal(second) == (
        f"Gatehouse already serves from {running.data_folder} (process {running.process.pid})."
        " Stop that process first, or give this one a folder of its own with GATEHOUSE_DATA_DIR."
    )
    assert running.get("/health").status == 200


def test_an_unknown_setting_is_reported_at_the_start(running: Service) -> None:
    assert running.log.startswith(
        "gatehouse: GATEHOUSE_BASEURL is set, but there is no such setting. Is GATEHOUSE_BASE_URL meant?\n"
    )


def test_a_request_is_logged_as_json(running: Service) -> None:
    running.get("/api/nothing")

    line = running.logged("request")[-1]
    assert (line["method"], line["route"], line["status"], line["level"]) == ("GET", "unmatched", 404, "info")


@pytest.mark.long
@pytest.mark.long
def test_a_later_start_reuses_the_keys_and_is_refused_without_the_master_key(
    embedded_services: Services, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lay_made_cluster(embedded_services, tmp_path_factory)
    first = embedded_services.ready()
    keys = first.get("/.well-known/jwks.json").json
    first.stop()
    is_stopped = not is_postgres_alive(first.data_folder)

    second = embedded_services.ready()
    keys_later = second.get("/.well-known/jwks.json").json
    permissions = (second.data_folder / "master-key").stat().st_mode & 0o777
    second.stop()
    (second.data_folder / "master-key").unlink()

    third = embedded_services.start()

    assert is_stopped
    assert keys_later == keys
    assert permissions == 0o600
    assert refusal(third).endswith("Put the master key back that the database was used with: data/master-key.")


@pytest.mark.long
def test_a_used_address_is_refused_before_anything_is_started(embedded_services: Services) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        bind = f"127.0.0.1:{other.getsockname()[1]}"

        service = embedded_services.start(BIND=bind)

        assert refusal(service) == (
            f"Cannot listen on {bind}: Address already in use."
            " Stop the process that uses this address, or set GATEHOUSE_BIND to another one."
        )
        assert not (service.data_folder / "postgres").exists()


def test_an_unresolvable_host_is_refused(commands_here: CommandsHere) -> None:
    line = refusal_here(commands_here, BIND="nowhere.invalid:8000")

    assert line.startswith("Cannot listen on nowhere.invalid:8000: ")


@pytest.mark.long
@pytest.mark.long
def test_a_wrong_master_key_is_refused_once_by_one_process_and_by_several(
    services: Services, commands_here: CommandsHere
) -> None:
    assert commands_here.run("keys", "rotate").returncode == 0

    for arguments in ([], ["--workers", "2"]):
        service = services.start(*arguments, MASTER_KEYS="A" * 43)

        assert refusal(service).endswith(
            "GATEHOUSE_MASTER_KEYS has no such key."
            " Put the master key back that the database was used with: GATEHOUSE_MASTER_KEYS."
        )


def test_a_damaged_generated_master_key_is_named_with_its_path(commands_here: CommandsHere, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "master-key").touch()

    line = refusal_here(commands_here, DEV="on", MASTER_KEYS="")

    assert line == "data/master-key is wrong. Master key 1 has 0 bytes; it takes 32, in base64."


def test_an_external_database_is_not_opened_without_a_master_key(commands_here: CommandsHere) -> None:
    line = refusal_here(commands_here, MASTER_KEYS="")

    assert line == (
        "GATEHOUSE_MASTER_KEYS is missing, and secrets are never stored unencrypted. Make a key with"
        " `gatehouse keys generate` and keep a copy of it: what it encrypts is lost without it."
    )


@pytest.mark.parametrize(
    ("name", "value"), [("MASTER_KEYS", "hush"), ("SMTP_URL", "gopher://hush"), ("LOG_LEVEL", "hush")]
)
def test_a_wrong_setting_is_named_without_its_value(commands_here: CommandsHere, name: str, value: str) -> None:
    line = refusal_here(commands_here, **{name: value})

    assert line.startswith(f"GATEHOUSE_{name} ")
    assert not shows(line, "hush")


def test_an_outdated_schema_is_refused_in_production(commands_here: CommandsHere, empty_database_url: str) -> None:
    line = refusal_here(commands_here, DATABASE_URL=address(empty_database_url))

    assert line == (
        f"The database's schema lacks {len(migrations.known())} of the migrations of this version."
        " Run `gatehouse migrate`; `gatehouse migrate --plan` lists them."
    )


@pytest.mark.long
@pytest.mark.long
def test_an_outdated_schema_is_migrated_in_development_mode(services: Services, empty_database_url: str) -> None:
    service = services.ready(DATABASE_URL=address(empty_database_url), DEV="on")

    assert service.get("/health/ready").status == 200


@pytest.mark.long
@pytest.mark.long
def test_a_database_that_still_starts_is_waited_for(services: Services, database_url: str, tmp_path: Path) -> None:
    parts = conninfo_to_dict(database_url)
    late = tmp_path / "late"

    service = services.start(DATABASE_URL=address(database_url.replace(str(parts["host"]), str(late))))
    service.wait_for("database.preparing")
    late.symlink_to(str(parts["host"]))

    service.wait_until_ready()
    assert "Trying again for 30 s." in service.logged("database.preparing")[0]["text"]


@pytest.mark.long
def test_the_development_owner_is_announced_with_a_valid_password(services: Services, connection: Connection) -> None:
    service = services.start(DEV="on", LOG_FORMAT="console", BASE_URL="http://localhost:8000")
    wait_until(lambda: "Gatehouse is ready at" in service.log or not service.is_running())

    announced = re.search(
        r"""
  Reference   http://localhost:8000/docs
  Mailbox     http://localhost:8000/dev/mailbox
  Metrics     http://localhost:8000/metrics
  Owner       owner@gatehouse\.test
  Password    (\S{16})
  Approval    new organizations wait for it; GATEHOUSE_AUTO_APPROVE=on opens them at once

  Stop with Ctrl-C\.

  Gatehouse is ready at http://localhost:8000
$""",
        service.log,
    )
    assert announced is not None, service.log
    assert re.search(r" \[info +\] server\.ready +address=http://localhost:8000 ", service.log)
    [(email, password_hash)] = connection.execute("SELECT email, password_hash FROM users WHERE is_platform_owner")
    assert email == "owner@gatehouse.test"
    assert argon2.PasswordHasher().verify(password_hash, announced[1])


@pytest.mark.long
def test_the_address_stays_the_last_line_while_actors_begin_their_work_on_a_new_database(
    services: Services, empty_database_url: str
) -> None:
    service = services.start(DATABASE_URL=address(empty_database_url), DEV="on", LOG_FORMAT="console")
    wait_until(lambda: "Gatehouse is ready at" in service.log or not service.is_running())
    [port] = re.findall(r" bind=\S+:(\d+)", service.log)
    kept = 'sso_job_processing_duration_seconds_count{job_type="log_months"}'

    wait_until(lambda: kept in httpx.get(f"http://127.0.0.1:{port}/metrics").text)

    lines = [line for line in service.log.splitlines() if not line.startswith("200 GET /metrics ")]
    assert lines[-1].strip().startswith("Gatehouse is ready at http://")


@pytest.mark.long
def test_the_log_of_development_mode_has_a_short_line_for_each_request_and_none_for_assets(services: Services) -> None:
    service = services.start(DEV="on", LOG_FORMAT="console")
    wait_until(lambda: "Gatehouse is ready at" in service.log or not service.is_running())
    began = len(service.log.splitlines())
    [port] = re.findall(r" bind=\S+:(\d+)", service.log)

    def get(path: str) -> httpx.Response:
        return httpx.get(f"http://127.0.0.1:{port}{path}")

    page = get("/app/sign-in")
    style = re.findall('href="(/assets/[^"]+css)"', page.text)[0]

    assert get(style).status_code == 200
    assert get(f"/api/organizations/{'x' * 60}/services/{'y' * 60}").status_code == 401
    assert get("/none").status_code == 404

    def of_requests() -> list[str]:
        # Other lines begin with the time.
        return [line for line in service.log.splitlines()[began:] if not line.startswith("20") or "[" not in line[:40]]

    wait_until(lambda: len(of_requests()) >= 3)
    lines = of_requests()
    assert [line for line in lines if len(line) > 100] == []
    for line, begin in zip(lines, ("200 GET /app/sign-in ", "401 GET /api/organizations/", "404 GET "), strict=True):
        assert line.startswith(begin), line
    assert re.fullmatch(r"200 GET /app/sign-in \d+ms", lines[0])


@pytest.mark.long
def test_the_development_owner_keeps_the_password_after_a_restart(developing: Developing) -> None:
    assert developing.password == developing.first_password


@pytest.mark.long
def test_a_json_log_contains_no_password(developing: Developing) -> None:
    assert developing.first_password not in developing.service.log
    assert all(json.loads(line) for line in developing.service.log.splitlines())


@pytest.mark.long
@pytest.mark.long
def test_the_first_owner_is_made_from_the_settings_and_no_second_one(
    services: Services, connection: Connection
) -> None:
    services.ready(OWNER_EMAIL="Ann@Example.com", OWNER_PASSWORD="correct horse").stop()

    services.ready(OWNER_EMAIL="bob@example.com", OWNER_PASSWORD="another horse")

    [(email, password_hash)] = connection.execute("SELECT email, password_hash FROM users")
    assert email == "ann@example.com"
    assert argon2.PasswordHasher().verify(password_hash, "correct horse")


@pytest.mark.long
def test_no_secret_is_in_the_log_at_debug_level(services: Services) -> None:
    secrets = {
        "OWNER_PASSWORD": "hush-owner-password",
        "SMTP_URL": "smtp://me:hush-mail-password@127.0.0.1:9?from=id@example.com",
    }
    service = services.ready(OWNER_EMAIL="ann@example.com", LOG_LEVEL="debug", **secrets)
    database_password = services.environment["GATEHOUSE_DATABASE_URL"].partition("@")[0].rpartition(":")[2]

    service.request("GET", "/api/nothing?token=hush-query", headers={"Authorization": "Bearer hush-token"})
    service.stop()

    assert service.logged("request")
    assert not shows(service.log, "hush")
    assert MASTER_KEY not in service.log
    assert database_password not in service.log


@pytest.mark.long
def test_a_closed_log_pipe_stops_nothing(services: Services) -> None:
    environment = clean_environment() | services.environment
    first_line = subprocess.Popen(["head", "-n", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    server = subprocess.Popen([GATEHOUSE, "serve"], cwd=services.folder, env=environment, stdout=first_line.stdin)
    try:
        line, _ = first_line.communicate()
        port = int(json.loads(line)["bind"].rpartition(":")[2])

        for _ in range(3):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(b"GET /api/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                assert connection.recv(65536).startswith(b"HTTP/1.1 404")
    finally:
        server.terminate()
    assert server.wait() == 0
