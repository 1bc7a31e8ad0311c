"""The programs that a test runs by their recipes: how each is started, and what a person does and sees there."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sqlite3
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import ClassVar
from urllib.parse import urljoin, urlsplit

import httpx
from playwright.sync_api import Page

from entrypoints.pages.console.recipes import RECIPES
from tests.pages.services.programs import free_port, running
from tests.pages.services.recipes.administrator import Connected
from tests.peers import peer
from tests.waiting import wait_until

# Where the own file of a test has the text of the recipe.
RECIPE = "// The recipe.\n"


class Program(ABC):
    """A program that runs while a test does."""

    # The word of its recipe.
    word: ClassVar[str]
    # Whether it sends people who are not signed in to its only provider at once.
    sends_at_once: ClassVar[bool] = False
    # Whether signing out there ends the session here.
    signs_out: ClassVar[bool] = True

    @property
    def has_admins(self) -> bool:
        """Whether a claim makes admins there."""
        return not isinstance(self, MakesAdmins)

    @property
    def has_secret(self) -> bool:
        """Whether it authenticates by a client secret."""
        recipe = RECIPES[self.word]
        return recipe.service_type.is_confidential and not recipe.is_saml

    @contextmanager
    @abstractmethod
    def running(self, connected: Connected, folder: Path) -> Generator[None]:
        """Run it in a folder, at the address for which it was connected."""

    @abstractmethod
    def begin(self, page: Page, url: str) -> None:
        """Open it, and do what leads a person to Gatehouse."""

    def shown(self, page: Page) -> str:
        """Return what it says of the person who has signed in: the address, and whether that is an admin there."""
        return page.locator("#state").inner_text()

    def sign_out(self, page: Page) -> None:
        """Sign out there."""
        page.click("#out")


class MakesAdmins(ABC):
    """A program in which no claim makes admins."""

    @abstractmethod
    def make_admin(self, connected: Connected, folder: Path, email: str) -> None:
        """Make a person an admin who has signed in, as the recipe says. The program does not run meanwhile."""


def port_of(url: str) -> int:
    """Return the port of an address."""
    port = urlsplit(url).port
    assert port is not None
    return port


class _Node(Program):
    """A library of Node, in the smallest application: its file of the tests has a place for the recipe."""

    package: ClassVar[str]

    @contextmanager
    def running(self, connected: Connected, folder: Path) -> Generator[None]:
        """Write the application with the recipe in it, and run it."""
        found = peer(self.package)
        around = (found.files / "app.mjs").read_text()
        assert around.count(RECIPE) == 1
        (folder / "app.mjs").write_text(around.replace(RECIPE, connected.text + "\n"))
        (folder / "node_modules").symlink_to(found.programs.parent)
        if connected.certificate:
            (folder / "gatehouse.pem").write_text(connected.certificate)
        port = port_of(connected.url)
        node = shutil.which("node")
        assert node is not None
        environment = {"PORT": str(port), "AUTH_SECRET": secrets.token_hex(), "SESSION_SECRET": secrets.token_hex()}
        with running([node, "app.mjs"], folder, port, environment=environment):
            yield

    def begin(self, page: Page, url: str) -> None:
        """Open its first page, and follow the link."""
        page.goto(f"{url}/")
        page.click("#in")


class ExpressOpenIdConnect(_Node):
    """express-openid-connect of Auth0."""

    word = package = "express-openid-connect"


class AuthJs(_Node):
    """Auth.js in Express."""

    word, package = "auth-js", "auth-express"

    def begin(self, page: Page, url: str) -> None:
        """Press the button of its own page."""
        page.goto(f"{url}/auth/signin?callbackUrl=/")
        page.get_by_role("button", name="Sign in with Gatehouse").click()


class PassportSaml(_Node):
    """passport-saml in Express."""

    word = package = "passport-saml"


class OidcClientTs(Program):
    """A page with oidc-client-ts."""

    word = "oidc-client-ts"

    @contextmanager
    def running(self, connected: Connected, folder: Path) -> Generator[None]:
        """Serve the page, with the recipe in it, wherever it is led."""
        found = peer("oidc-client-ts")
        script = found.programs.parent / "oidc-client-ts" / "dist" / "browser" / "oidc-client-ts.min.js"
        (folder / "oidc-client-ts.js").write_bytes(script.read_bytes())
        page = (found.files / "recipe.html").read_text()
        (folder / "index.html").write_text(page.replace(RECIPE, connected.text + "\n"))
        port = port_of(connected.url)
        with running([sys.executable, str(found.files / "serve.py"), str(port)], folder, port):
            yield

    def begin(self, page: Page, url: str) -> None:
        """Press its button."""
        page.goto(f"{url}/")
        page.click("#in")


class MozillaDjangoOidc(Program):
    """A site in Django with mozilla-django-oidc."""

    word = "mozilla-django-oidc"

    @contextmanager
    def running(self, connected: Connected, folder: Path) -> Generator[None]:
        """Write the files of the recipe beside the site's own, and run it."""
        found = peer("mozilla-django-oidc")
        for file in ("serve.py", "settings.py", "urls.py"):
            shutil.copy(found.files / file, folder)
        for file, text in connected.texts.items():
            with (folder / file).open("a") as opened:
                opened.write(f"{text}\n")
        port = port_of(connected.url)
        environment = {"DJANGO_SETTINGS_MODULE": "settings"}
        with running([found.program("python"), "serve.py", str(port)], folder, port, environment=environment):
            yield

    def begin(self, page: Page, url: str) -> None:
        """Open a page for which one has to be signed in."""
        page.goto(f"{url}/private")


class PagedProgram(Program):
    """A program with pages of its own."""

    # What only an admin sees there, where it has admins.
    of_admins: ClassVar[str] = ""

    def shown(self, page: Page) -> str:
        """Return the address on its page, and whether an admin sees the page."""
        found = re.search(r"[\w.]+@example\.com", page.inner_text("body"))
        is_admin = self.has_admins and page.locator(self.of_admins).count()
        return found[0] + (" (admin)" if is_admin else "") if found else ""


class JupyterHub(PagedProgram):
    """JupyterHub with its proxy; the test starts no notebook."""

    word, of_admins = "jupyterhub", "a[href='/hub/admin']"

    @contextmanager
    def running(self, connected: Connected, folder: Path) -> Generator[None]:
        """Write its configuration, and run it."""
        found, proxy, port = peer("jupyterhub"), peer("configurable-http-proxy"), port_of(connected.url)
        settings = (
            f"c.JupyterHub.bind_url = {connected.url!r}",
            f"c.JupyterHub.hub_port = {free_port()}",
            f"c.ConfigurableHTTPProxy.api_url = 'http://localhost:{free_port()}'",
            f"c.ConfigurableHTTPProxy.command = [{proxy.program('configurable-http-proxy')!r}]",
            "c.JupyterHub.default_url = '/hub/home'",
            connected.text,
        )
        (folder / "jupyterhub_config.py").write_text("\n".join((*settings, "")))
        environment = {"JUPYTERHUB_CRYPT_KEY": secrets.token_hex(), "PYTHONPATH": ""}
        with running([found.program("jupyterhub")], folder, port, environment=environment):
            # Its proxy listens before the Hub does.
            wait_until(lambda: httpx.get(f"{connected.url}/hub/login").is_success)
            yield

    def begin(self, page: Page, url: str) -> None:
        """Press the button of its own page."""
        page.goto(f"{url}/hub/login")
        page.locator("a", has_text="Sign in with").click()

    def sign_out(self, page: Page) -> None:
        """Sign out there, and press the button of Gatehouse: the Hub keeps no token that says who it is."""
        page.goto(page.url.partition("/hub/")[0] + "/hub/logout")
        page.get_by_role("button", name="Sign out").click()


class PgAdmin(PagedProgram, MakesAdmins):
    """pgAdmin as a server."""

    word = "pgadmin"

    @contextmanager
    def running(self, connected: Connected, folder: Path) -> Generator[None]:
        """Write its configuration, make its tables, and run it."""
        found, port = peer("pgadmin4"), port_of(connected.url)
        [package] = found.programs.parent.glob("lib/python*/site-packages/pgadmin4")
        settings = (
            "SERVER_MODE = True",
            f"DATA_DIR = {str(folder)!r}",
            f"LOG_FILE = {str(folder / 'log')!r}",
            f"DEFAULT_SERVER_PORT = {port}",
            "DEFAULT_SERVER = 'localhost'",
            "UPGRADE_CHECK_ENABLED = False",
            connected.texts["config_local.py"],
        )
        (folder / "config_local.py").write_text("\n".join((*settings, "")))
        environment = {
            "PYTHONPATH": str(folder),
            "PGADMIN_SETUP_EMAIL": "operator@pgadmin.example",
            "PGADMIN_SETUP_PASSWORD": secrets.token_hex(),
        }
        with running([found.program("python"), str(package / "pgAdmin4.py")], folder, port, environment=environment):
            yield

    def make_admin(self, connected: Connected, folder: Path, email: str) -> None:
        """Run the command of the recipe."""
        command = connected.texts["pgadmin4-cli"].replace("YOU@YOUR-DOMAIN", email)
        path = f"{peer('pgadmin4').programs}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "PYTHONPATH": str(folder)}
        subprocess.run(["sh", "-ec", command], check=True, cwd=folder, env=environment, capture_output=True)

    def shown(self, page: Page) -> str:
        """Return the address on its page, and what its interface gets about the person."""
        is_admin = "'is_admin': true" in page.request.get(urljoin(page.url, "/user_management/current_user.js")).text()
        shown = super().shown(page)
        return f"{shown} (admin)" if shown and is_admin else shown

    def begin(self, page: Page, url: str) -> None:
        """Press the button of its own page."""
        page.goto(f"{url}/login")
        page.get_by_role("button", name="Gatehouse").click()

    def sign_out(self, page: Page) -> None:
        """Open what its menu leads to."""
        page.goto(page.url.partition("/browser")[0] + "/oauth2/logout")


class Synapse(Program, MakesAdmins):
    """Synapse, at whose sign-in a client of Matrix opens a browser and gets a token at an address of its own."""

    word = "synapse"
    signs_out = False

    def __init__(self) -> None:
        self._token = ""

    @contextmanager
    def running(self, connected: Connected, folder: Path) -> Generator[None]:
        """Write its configuration with keys, and run it."""
        found, port = peer("matrix-synapse"), port_of(connected.url)
        settings = (
            "server_name: localhost",
            f"listeners: [{{port: {port}, bind_addresses: [127.0.0.1], type: http, resources: [{{names: [client]}}]}}]",
            f"database: {{name: sqlite3, args: {{database: {folder}/homeserver.db}}}}",
            f"media_store_path: {folder}/media",
            f"signing_key_path: {folder}/signing.key",
            f"macaroon_secret_key: {secrets.token_hex()}",
            "report_stats: false",
            "trusted_key_servers: []",
            connected.texts["homeserver.yaml"],
        )
        (folder / "homeserver.yaml").write_text("\n".join((*settings, "")))
        command = [found.program("python"), "-m", "synapse.app.homeserver", "-c", "homeserver.yaml"]
        subprocess.run([*command, "--generate-keys"], cwd=folder, check=True, capture_output=True)
        with running(command, folder, port):
            yield

    def begin(self, page: Page, url: str) -> None:
        """Open what a client opens, which is to be led back to an address of Synapse."""
        page.goto(
            f"{url}/_matrix/client/v3/login/sso/redirect/oidc-gatehouse?redirectUrl={url}/_matrix/client/versions"
        )

    def shown(self, page: Page) -> str:
        """Return the address that the account has, of which the client has got a token, while this is valid."""
        origin = urlsplit(page.url)
        api = f"{origin.scheme}://{origin.netloc}/_matrix/client/v3"
        self._token = self._token or self._redeemed(page, api)
        headers = {"Authorization": f"Bearer {self._token}"}
        answer = httpx.get(f"{api}/account/3pid", headers=headers)
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            return ""
        [address] = answer.raise_for_status().json()["threepids"]
        is_admin = httpx.get(f"{origin.scheme}://{origin.netloc}/_synapse/admin/v2/users", headers=headers).is_success
        return address["address"] + (" (admin)" if is_admin else "")

    def make_admin(self, connected: Connected, folder: Path, email: str) -> None:
        """Run the statement of the recipe."""
        statement = connected.texts["psql"].replace("YOU:YOUR-SERVER-NAME", f"{email.partition('@')[0]}:localhost")
        with closing(sqlite3.connect(folder / "homeserver.db")) as connection, connection:
            connection.execute(statement)

    def _redeemed(self, page: Page, api: str) -> str:
        """Go on to the client, and return the token that it gets."""
        page.get_by_role("link", name="Continue").click()
        page.wait_for_url("**/versions?loginToken=*")
        login = {"type": "m.login.token", "token": page.url.partition("?loginToken=")[2]}
        return httpx.post(f"{api}/login", json=login).raise_for_status().json()["access_token"]


PROGRAMS: tuple[type[Program], ...] = (
    MozillaDjangoOidc,
    ExpressOpenIdConnect,
    AuthJs,
    OidcClientTs,
    PassportSaml,
    JupyterHub,
    PgAdmin,
    Synapse,
)
