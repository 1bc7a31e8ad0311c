"""Glewlwyd, an OpenID provider of Debian: its server with a database in a file, and what its pages ask of it.

Its pages are scripts that call its interface, so the browser of these tests makes the same calls.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import jwt

from tests.identity_programs.program import (
    CALLBACK,
    CLIENT_ID,
    CLIENT_SECRET,
    GATEHOUSE,
    PASSWORD,
    PEOPLE,
    SECONDS_MAX,
    SIGNED_OUT,
    Program,
    ProgramBrowser,
    http_client,
    require,
)
from tests.kept_keys import rsa_key
from tests.mellon import free_port
from tests.service_provider import PostedForm
from tests.waiting import wait_until

PACKAGES = "glewlwyd dbconfig-sqlite3"
SCHEMA = Path("/usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz")
MODULES = "/usr/lib/glewlwyd"
# As its schema says.
_ADMINISTRATOR = {"username": "admin", "password": "password"}
_CONFIGURATION = """
port = {port}
bind_address = "127.0.0.1"
external_url = "{url}"
login_url = "login.html"
api_prefix = "api"
log_mode = "file"
log_level = "DEBUG"
log_file = "{folder}/log"
cookie_secure = 0
session_expiration = 3600
session_key = "GLEWLWYD2_SESSION_ID"
admin_session_authentication = "cookie"
profile_session_authentication = "cookie"
login_api_enabled = true
admin_scope = "g_admin"
profile_scope = "g_profile"
user_module_path = "{modules}/user"
client_module_path = "{modules}/client"
user_auth_scheme_module_path = "{modules}/scheme"
plugin_module_path = "{modules}/plugin"
hash_algorithm = "SHA512"
database = {{ type = "sqlite3"; path = "{folder}/database"; }};
"""
_SESSION_COOKIE = "GLEWLWYD2_OIDC_SID"
_PLUGIN = {
    "jwt-type": "rsa",
    "jwt-key-size": "256",
    "access-token-duration": 3600,
    "refresh-token-duration": 86_400,
    "code-duration": 600,
    "allow-non-oidc": False,
    "auth-type-code-enabled": True,
    "auth-type-token-enabled": False,
    "auth-type-id-token-enabled": True,
    "auth-type-refresh-enabled": True,
    "jwks-show": True,
    "subject-type": "public",
    "pkce-allowed": True,
    "email-claim": "mandatory",
    "name-claim": "mandatory",
    "session-management-allowed": True,
    "session-cookie-name": _SESSION_COOKIE,
    "session-cookie-expiration": 3600,
    "back-channel-logout-allowed": True,
    "claims": [{"name": "groups", "user-property": "groups", "type": "string", "mandatory": True, "on-demand": False}],
}


class GlewlwydBrowser(ProgramBrowser):
    """A browser that does what the pages of Glewlwyd do."""

    def open(self, address: str, form: Mapping[str, str] | None = None) -> str | PostedForm:
        """Open an address, sign in where it leads to the page for that, and return the address of Gatehouse."""
        answer = self.client.get(address)
        where = answer.headers["Location"]
        if where.startswith(f"{GATEHOUSE}/"):
            return where
        parts = urlsplit(where)
        base, asked = f"{parts.scheme}://{parts.netloc}", dict(parse_qsl(parts.query))
        if "sid" in asked:
            return self._signed_out(base, asked)
        if self.client.get(f"{base}/api/profile_list").status_code != 200:
            self.sign_ins += 1
            signed_in = self.client.post(f"{base}/api/auth/", json={"username": self.person, "password": PASSWORD})
            signed_in.raise_for_status()
        self.client.put(f"{base}/api/auth/grant/{CLIENT_ID}", json={"scope": "openid"}).raise_for_status()
        back = self.client.get(f"{asked['callback_url']}&g_continue").headers["Location"]
        assert back.startswith(f"{GATEHOUSE}/"), back
        return back

    def _signed_out(self, base: str, asked: Mapping[str, str]) -> str:
        self.client.delete(f"{base}/api/oidc/session/{asked['sid']}/").raise_for_status()
        self.client.delete(f"{base}/api/auth/").raise_for_status()
        return asked["callback_url"]


class Glewlwyd(Program):
    """A running server, and its administrator."""

    kind = "oidc"
    names_no_groups = False

    def __init__(self, url: str) -> None:
        self.url = url
        self._administrator = http_client(base_url=f"{url}/api")
        self._administrator.post("/auth/", json=_ADMINISTRATOR).raise_for_status()
        self._keys = [rsa_key(f"identity program {number}") for number in range(3)]
        self._set_up()

    def connection(self) -> dict[str, Any]:
        """Return the fields of a connection to it."""
        issuer = f"{self.url}/api/oidc"
        return {"type": "oidc", "issuer": issuer, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}

    def set_groups(self, person: str, *groups: str) -> None:
        """Put a person into these groups alone."""
        self._send("PUT", f"/user/{person}", {**_person(person), "groups": list(groups)})

    def rotate(self, *, keeps_old: bool) -> None:
        """Sign with another key, and go on to publish the old one, or not."""
        old = self._keys.pop(0)
        self._send("PUT", "/mod/plugin/oidc", self._plugin(*([old] if keeps_old else [])))
        self._send("PUT", "/mod/plugin/oidc/reset")

    def tell_of_logouts(self, address: str) -> None:
        """Tell an address of Gatehouse of logouts, by OpenID's back channel."""
        changed = {**self._client, "backchannel_logout_uri": address, "backchannel_logout_session_required": "true"}
        self._send("PUT", f"/client/{CLIENT_ID}", changed)

    def sign_out(self, browser: ProgramBrowser) -> str:
        """Sign a person out at the provider, which tells Gatehouse by itself."""
        session = browser.client.cookies[_SESSION_COOKIE]
        browser.client.delete(f"{self.url}/api/oidc/session/{session}/").raise_for_status()
        return ""

    def browser(self, person: str) -> GlewlwydBrowser:
        """Return a new browser of a person, who is not signed in."""
        return GlewlwydBrowser(person)

    def _set_up(self) -> None:
        self._add_property("user", "groups")
        # Which is spelled otherwise in its database.
        self._add_property("client", "post_logout_redirect_uris")
        self._send("POST", "/mod/plugin/", self._plugin())
        client = {
            "client_id": CLIENT_ID,
            "name": "Gatehouse",
            "enabled": True,
            "confidential": True,
            "password": CLIENT_SECRET,
            "redirect_uri": [CALLBACK],
            "authorization_type": ["code"],
            "token_endpoint_auth_method": ["client_secret_basic", "client_secret_post"],
            "post_logout_redirect_uris": [SIGNED_OUT],
            "scope": ["openid"],
        }
        self._client = client
        self._send("POST", "/client/", client)
        for person in PEOPLE:
            self._send("POST", "/user/", _person(person))

    def _add_property(self, kind: str, name: str) -> None:
        """Let users or clients have a property with several values."""
        module = self._administrator.get(f"/mod/{kind}/database").raise_for_status().json()
        module["parameters"]["data-format"][name] = {"multiple": True, "read": True, "write": True}
        self._send("PUT", f"/mod/{kind}/database", module)
        self._send("PUT", f"/mod/{kind}/database/reset")

    def _plugin(self, *former: Any) -> dict[str, Any]:
        parameters = {**_PLUGIN, "iss": f"{self.url}/api/oidc", "jwks-private": _key_set(self._keys[0], *former)}
        return {"module": "oidc", "name": "oidc", "display_name": "OpenID", "parameters": parameters}

    def _send(self, method: str, path: str, body: Any = None) -> None:
        answer = self._administrator.request(method, path, json=body)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"


def _person(name: str) -> dict[str, Any]:
    return {
        "username": name,
        "name": f"{name.title()} Example",
        "password": PASSWORD,
        "email": f"{name}@acme.example",
        "scope": ["openid"],
        "enabled": True,
    }


def _key_set(*keys: Any) -> str:
    """Return a set of private keys as JSON; the first one signs."""
    algorithm = jwt.get_algorithm_by_name("RS256")
    known = [json.loads(algorithm.to_jwk(key)) for key in keys]
    return json.dumps({"keys": [{**key, "kid": key["n"][:8], "alg": "RS256"} for key in known]})


@contextmanager
def running_glewlwyd(folder: Path) -> Generator[Glewlwyd]:
    """Run Glewlwyd from a folder."""
    program = shutil.which("glewlwyd")
    require(program and SCHEMA.exists(), PACKAGES)
    assert program is not None, "Glewlwyd is there"
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    database = sqlite3.connect(folder / "database")
    database.executescript(gzip.decompress(SCHEMA.read_bytes()).decode())
    database.close()
    configuration = _CONFIGURATION.format(port=port, url=url, folder=folder, modules=MODULES)
    (folder / "configuration").write_text(configuration)
    command = [program, f"--config-file={folder / 'configuration'}"]
    with (
        (folder / "errors").open("w") as errors,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors) as process,
    ):
        try:
            _wait_until_it_answers(process, url, folder)
            yield Glewlwyd(url)
        finally:
            process.terminate()


def _wait_until_it_answers(process: subprocess.Popen[bytes], url: str, folder: Path) -> None:
    def answers() -> bool:
        assert process.poll() is None, (folder / "log").read_text()
        try:
            httpx.get(f"{url}/api/mod/type", timeout=SECONDS_MAX)
        except httpx.TransportError:
            return False
        return True

    wait_until(answers)
