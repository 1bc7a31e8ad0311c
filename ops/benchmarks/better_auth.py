"""better-auth, a peer: installed from npm into `.gatehouse-peers/`, with a PostgreSQL like Gatehouse's.

`peers/better_auth/` has its program and the exact versions of its packages.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from adapters.postgres.embedded.server import EmbeddedPostgres
from ops.benchmarks import servers
from ops.benchmarks.client import Answer, Client
from ops.benchmarks.hot_operations import Send, new_emails
from ops.benchmarks.openid import Endpoints, RelyingParty
from ops.benchmarks.progress import Say
from ops.benchmarks.releases import ROOT
from ops.benchmarks.servers import CannotMeasure, RunningServer
from ops.benchmarks.targets import USERS
from ops.seeding.population import PASSWORD, address

FILES: Final = Path(__file__).with_name("peers") / "better_auth"
# Where programs of others are that are installed from a registry.
INSTALLED: Final = ROOT / ".gatehouse-peers"
API: Final = "/api/auth"
INSTALL_SECONDS_MAX: Final = 300.0
ENDPOINTS: Final = Endpoints(
    authorization=f"{API}/oauth2/authorize",
    token=f"{API}/oauth2/token",
    userinfo=f"{API}/oauth2/userinfo",
    introspection=f"{API}/oauth2/introspect",
    client_token={"resource": "https://api.example.com"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BetterAuth:
    """A running better-auth, and the accounts that its client signs in."""

    server: RunningServer
    database: str
    credentials: tuple[str, str]
    users: range = range(1, USERS)

    def signed_in(self, number: int) -> Client:
        """Return the browser of a user."""
        browser = Client(self.server, {"Origin": f"http://{servers.HOST}:{self.server.port}"})
        _send(browser, "sign-in/email", {"email": address(number), "password": PASSWORD})
        return browser

    def client(self) -> RelyingParty:
        """Return the client of the OAuth provider, and the browser of the first account."""
        return RelyingParty(self.server, self.signed_in(self.users[0]), self.credentials, ENDPOINTS)

    def session(self) -> Send:
        """Read the session of the first account, and the user."""
        browser = self.signed_in(self.users[0])
        return lambda: browser.get(f"{API}/get-session")

    def login(self) -> Send:
        """Sign these accounts in, one after the other."""
        browser, emails = Client(self.server), cycle([address(number) for number in self.users])

        def send() -> None:
            _send(browser, "sign-in/email", {"email": next(emails), "password": PASSWORD})
            browser.forget_cookies()

        return send

    def signup(self) -> Send:
        """Register new accounts."""
        browser, emails = Client(self.server), new_emails()
        return lambda: _send(browser, "sign-up/email", {"email": next(emails), "password": PASSWORD, "name": "Ada"})

    def list_users(self) -> Send:
        """List the users, as an administrator."""
        admin = self.signed_in(0)
        return lambda: admin.get(f"{API}/admin/list-users?limit=50&sortBy=createdAt&sortDirection=desc")

    def new_user(self) -> Send:
        """Create users without a password, as an administrator."""
        admin, emails = self.signed_in(0), new_emails()
        return lambda: _send(admin, "admin/create-user", {"email": next(emails), "name": "Ada"})


@contextmanager
def better_auth(folder: Path, say: Say) -> Generator[BetterAuth]:
    """Install better-auth unless it is there, run it on a new database in this folder, and create the users."""
    program = _installed(say)
    client_file = folder / "client.json"
    with EmbeddedPostgres(folder / "data") as database:
        at = urlsplit(database)
        port = servers.free_port()
        environment = os.environ | {
            "NODE_ENV": "production",
            "PEER_PORT": str(port),
            "PEER_DATABASE_HOST": parse_qs(at.query)["host"][0],
            "PEER_DATABASE_PASSWORD": at.password or "",
            "PEER_SECRET": secrets.token_hex(32),
            "PEER_ADMIN": address(0),
            "PEER_PASSWORD": PASSWORD,
            "PEER_CLIENT_FILE": str(client_file),
        }
        log = folder / "better-auth.log"
        with servers.running("better-auth", ["node", str(program)], port, f"{API}/ok", log, environment) as started:
            postmaster = int((folder / "data/postgres/postmaster.pid").read_text().splitlines()[0])
            server = replace(started, roots=(*started.roots, postmaster))
            client = json.loads(client_file.read_text())
            for number in range(1, USERS):
                wanted = {"email": address(number), "password": PASSWORD, "name": "Ada"}
                server.post(f"{API}/sign-up/email", wanted)
            credentials = client["client_id"], client["client_secret"]
            yield BetterAuth(server=server, database=database, credentials=credentials)


def versions() -> str:
    """Return the versions of Node, of better-auth and of its packages."""
    packages: dict[str, str] = json.loads((FILES / "package.json").read_text())["dependencies"]
    return ", ".join([f"Node {_output_of('node', '--version')}", *map(" ".join, packages.items())])


def _installed(say: Say) -> Path:
    """Return the program of the peer, beside its packages."""
    wanted = (FILES / "package.json").read_bytes()
    folder = INSTALLED / f"bench-better-auth-{hashlib.sha256(wanted).hexdigest()[:12]}"
    if not (folder / "package-lock.json").exists():
        say(f"installing better-auth into {folder}")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_bytes(wanted)
        _output_of("npm", "install", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", folder=folder)
    return Path(shutil.copy(FILES / "server.mjs", folder))


def _output_of(*command: str, folder: Path | None = None) -> str:
    try:
        finished = subprocess.run(
            command, check=False, capture_output=True, text=True, cwd=folder, timeout=INSTALL_SECONDS_MAX
        )
    except (FileNotFoundError, subprocess.TimeoutExpired) as failure:
        raise CannotMeasure(f"better-auth needs Node 20 with npm, and the registry of npm once. {failure}") from failure
    if finished.returncode:
        raise CannotMeasure(f"{' '.join(command)} failed: {finished.stderr.strip()}")
    return finished.stdout.strip()


def _send(client: Client, path: str, body: dict[str, Any]) -> Answer:
    return client.send_json(f"{API}/{path}", body)
