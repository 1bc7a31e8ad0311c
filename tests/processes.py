"""`gatehouse` as a separate process, started, stopped and killed as by operators and supervisors.

`commands` runs one command to its end; `services` starts servers, each on a free port, and ends all of them. Both use
the test's own database unless the environment overrides it. `commands_here` runs without a process: it is for output
and refusals of a command, once another test has shown that the command works as a process.
"""

from __future__ import annotations

import gc
import http.client
import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import pytest
import structlog
from psycopg.conninfo import conninfo_to_dict

from adapters.crypto.vault import MasterKey
from adapters.postgres.embedded.server import EmbeddedPostgres
from entrypoints import logs, serving
from entrypoints.operator import cli
from tests.waiting import wait_until

GATEHOUSE = Path(sys.executable).with_name("gatehouse")
START_SECONDS_MAX = 120.0
ANSWER_SECONDS_MAX = 60.0
END_SECONDS_MAX = 120.0
# It ends a command that hangs. One that migrates beside a load waits for locks, and may try again several times.
COMMAND_SECONDS_MAX = 300.0
FREE_PORT = "127.0.0.1:0"
MASTER_KEY = MasterKey(bytes([9]) * 32).encoded()
PROGRESS = re.compile(
    r"^(?:[^:\n]+: )?[\d,]+(?: of [\d,]+)? \w+(?:, [\d,]+ (?:%|per second)|, about [\d,.]+ (?:s|min|h) left)+\n",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    cookies: Sequence[str] = ()

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.content)


@dataclass(frozen=True)
class Service:
    """A server that was started and may have ended."""

    process: subprocess.Popen[bytes]
    log_file: Path
    environment: dict[str, str]
    data_folder: Path

    @property
    def log(self) -> str:
        """All that it wrote to standard output and standard error."""
        return self.log_file.read_text()

    @property
    def events(self) -> list[dict[str, Any]]:
        """The complete lines of its log that are JSON."""
        lines = self.log.splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("\n")]

    def logged(self, event: str) -> list[dict[str, Any]]:
        """Return the lines of the log with that event."""
        return [line for line in self.events if line["event"] == event]

    @property
    def port(self) -> int:
        """The port on which it listens."""
        return int(self.logged("server.ready")[0]["bind"].rpartition(":")[2])

    def is_running(self) -> bool:
        """Return whether the process runs."""
        return self.process.poll() is None

    def wait_until_ready(self) -> Service:
        """Return when the log reports that it is ready; fail when it ends instead."""
        wait_until(lambda: bool(self.logged("server.ready")) or not self.is_running(), seconds_max=START_SECONDS_MAX)
        assert self.is_running(), self.log
        return self

    def wait_for(self, event: str, *, times: int = 1) -> None:
        """Return when the log has the event `times` times."""
        wait_until(lambda: len(self.logged(event)) >= times, seconds_max=START_SECONDS_MAX)

    def wait(self) -> int:
        """Wait for its end and return the exit status."""
        return self.process.wait(END_SECONDS_MAX)

    def stop(self) -> int:
        """Stop it as a supervisor does and return the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def kill(self) -> None:
        """Kill it and wait for its end."""
        self.process.kill()
        self.process.wait()

    def workers(self) -> list[psutil.Process]:
        """Return its worker processes."""
        return [child for child in psutil.Process(self.process.pid).children() if child.is_running()]

    def get(self, path: str) -> Answer:
        """Send a request on a new connection."""
        return self.request("GET", path)

    def request(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> Answer:
        """Send a request on a new connection; a body is JSON unless the headers say otherwise."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS_MAX)
        try:
            kind = {} if body is None else {"Content-Type": "application/json"}
            connection.request(method, path, body, headers={**kind, **(headers or {})})
            response = connection.getresponse()
            cookies = response.headers.get_all("Set-Cookie") or ()
            return Answer(response.status, dict(response.getheaders()), response.read(), cookies)
        finally:
            connection.close()


@dataclass
class Commands:
    """Runs commands."""

    folder: Path
    environment: dict[str, str]

    def run(self, *arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; settings are named without their prefix."""
        return subprocess.run(
            [GATEHOUSE, *arguments],
            check=False,
            cwd=self.folder,
            env=clean_environment() | self.environment | prefixed(environment),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS_MAX,
        )


@dataclass
class CommandsHere:
    """Runs commands in the process of the tests, without changing its signals and limits."""

    folder: Path
    environment: dict[str, str]
    capsys: pytest.CaptureFixture[str]

    def run(self, *arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; settings are named without their prefix."""
        self.capsys.readouterr()
        with pytest.MonkeyPatch.context() as patch:
            for name in os.environ.keys() - clean_environment().keys():
                patch.delenv(name)
            for name, value in (self.environment | prefixed(environment)).items():
                patch.setenv(name, value)
            patch.chdir(self.folder)
            patch.setattr(sys, "stdin", io.StringIO(stdin))
            patch.setattr(cli, "stop_signals", set)
            patch.setattr(cli, "reload_signals", frozenset)
            patch.setattr(logs, "configure", _log_to_stderr)
            patch.setattr(resource, "setrlimit", _keep_limit)
            patch.setattr(serving, "_serve_with", _fail_when_serving)
            log_before = structlog.get_config()
            try:
                status = _status_of(arguments)
            finally:
                structlog.configure(**log_before)
                # A start turns it off until it serves, which it does not here.
                gc.enable()
        written = self.capsys.readouterr()
        return subprocess.CompletedProcess(arguments, status, written.out, written.err)


def _status_of(arguments: Sequence[str]) -> int:
    try:
        return cli.main(arguments)
    except SystemExit as ended:
        # The parser exits like this: with 0 after its help, with 2 after an error.
        return int(ended.code or 0)


def _log_to_stderr(*, log_level: str, **_options: object) -> None:
    """Replace the configuration of the log, so that the watch stays, and log lines appear beside the error line."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(log_level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def _keep_limit(_which: int, _limits: tuple[int, int]) -> None:
    """Replace raising a limit."""


def _fail_when_serving(*_arguments: object) -> int:
    """Replace serving, which would not return: a server is started here only to be refused."""
    raise AssertionError("the server was not refused")


@dataclass
class Services:
    """Starts servers, and ends those that still run."""

    folder: Path
    environment: dict[str, str]
    # A command that starts the server, with other limits.
    wrapper: tuple[str, ...] = ()
    started: list[Service] = field(default_factory=list)
    # Otherwise the terminal of the tests is theirs as well, if there is one.
    has_own_session: bool = False
    # Descriptors that the command gets.
    inherited: tuple[int, ...] = ()

    def start(self, *arguments: str, **environment: str) -> Service:
        """Start a server without waiting for it; settings are named without their prefix."""
        whole = clean_environment() | self.environment | prefixed(environment)
        descriptor, name = tempfile.mkstemp(prefix="log-", dir=self.folder)
        log_file = Path(name)
        with os.fdopen(descriptor, "wb") as log:
            process = subprocess.Popen(
                [*self.wrapper, GATEHOUSE, "serve", *arguments],
                cwd=self.folder,
                env=whole,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=self.inherited,
                # As from a terminal: Ctrl-C reaches a process group, which must not be the tests' own.
                start_new_session=self.has_own_session,
                process_group=None if self.has_own_session else 0,
            )
        service = Service(process, log_file, whole, self.folder / whole["GATEHOUSE_DATA_DIR"])
        self.started.append(service)
        return service

    def ready(self, *arguments: str, **environment: str) -> Service:
        """Start a server and wait until it is ready."""
        return self.start(*arguments, **environment).wait_until_ready()

    def close(self) -> None:
        """Kill every server, and every worker whose parent has ended."""
        for service in self.started:
            with suppress(ProcessLookupError):
                os.killpg(service.process.pid, signal.SIGKILL)
            service.process.wait()


def without_progress(printed: str) -> str:
    """Return what a command has printed without lines of progress, which it prints where it takes seconds."""
    return PROGRESS.sub("", printed)


def clean_environment() -> dict[str, str]:
    """Return our environment without settings, and without what makes a start half as slow again for no benefit."""
    # Measuring coverage, and recompiling all our modules.
    slow = ("COVERAGE_PROCESS_", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if not name.startswith(("GATEHOUSE_", *slow))}


def prefixed(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings with their prefix."""
    return {f"GATEHOUSE_{name}": value for name, value in settings.items()}


def address(conninfo: str) -> str:
    """Return a connection string as the URL that the setting takes."""
    parts = {name: quote(str(value), safe="") for name, value in conninfo_to_dict(conninfo).items()}
    user, password, database = parts.pop("user"), parts.pop("password", ""), parts.pop("dbname")
    rest = "&".join(f"{name}={value}" for name, value in parts.items())
    return f"postgresql://{user}:{password}@/{database}?{rest}"


def given_database(conninfo: str) -> dict[str, str]:
    """Return the settings of a service as in production on a database."""
    return prefixed(
        {
            "DATABASE_URL": address(conninfo),
            "MASTER_KEYS": MASTER_KEY,
            "DATA_DIR": "data",
            "BIND": FREE_PORT,
            "RATE_LIMITS": "off",
        }
    )


def embedded_database() -> dict[str, str]:
    """Return the settings of a service on the embedded database."""
    return prefixed({"DATA_DIR": "data", "BIND": FREE_PORT, "RATE_LIMITS": "off"})


@pytest.fixture
def commands(tmp_path: Path, database_url: str) -> Commands:
    """Commands on the test's own database."""
    return Commands(tmp_path, given_database(database_url))


@pytest.fixture
def commands_here(commands: Commands, capsys: pytest.CaptureFixture[str]) -> CommandsHere:
    """Commands on the test's own database, without separate processes."""
    return CommandsHere(commands.folder, commands.environment, capsys)


@pytest.fixture
def services(tmp_path: Path, database_url: str) -> Iterator[Services]:
    """Servers on the test's own database."""
    services = Services(tmp_path, given_database(database_url))
    yield services
    services.close()


def lay_made_cluster(services: Services, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Copy a cluster into the data folder, so that servers need not make one.

    Tests of an empty data folder do not use this.
    """
    made = tmp_path_factory.getbasetemp() / "made-cluster"
    if not made.exists():
        with EmbeddedPostgres(made):
            pass
    # Preserves the owners of the files, among them PostgreSQL's user.
    subprocess.run(["cp", "-a", made, services.folder / "data"], check=True, timeout=END_SECONDS_MAX)


@pytest.fixture
def embedded_services(tmp_path: Path) -> Iterator[Services]:
    """Servers on an embedded database, all in one data folder."""
    services = Services(tmp_path, embedded_database())
    yield services
    services.close()
    # The last user of the cluster stops it.
    with EmbeddedPostgres(tmp_path / "data"):
        pass


@pytest.fixture
def embedded_commands(embedded_services: Services) -> Commands:
    """Commands in the data folder of those servers."""
    return Commands(embedded_services.folder, embedded_services.environment)


def is_postgres_alive(folder: Path) -> bool:
    """Return whether a process of PostgreSQL uses a data folder."""
    command_lines = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    return any(str(folder) in argument for line in command_lines for argument in line)
