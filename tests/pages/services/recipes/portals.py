"""LemonLDAP::NG of Debian as a program that is connected: its portal, configured by the commands of the recipe.

A small program stands in for its manager: it takes the manager's commands, and writes what they set.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from tests.identity_programs.lemonldap import PACKAGES, PORTAL
from tests.pages.services.programs import running
from tests.pages.services.recipes.administrator import Connected
from tests.pages.services.recipes.programs import PagedProgram
from tests.service_provider import key_pair

CLI = "/usr/share/lemonldap-ng/bin/lemonldap-ng-cli"
_APPLICATION = "use strict; use Lemonldap::NG::Portal::Main; Lemonldap::NG::Portal::Main->run({});"
_INI = """
[all]
logLevel = info
localSessionStorage =
[configuration]
type = File
dirName = {folder}/configuration
[portal]
staticPrefix = /static
templateDir = {portal}/templates
languages = en
[handler]
status = 0
"""
_SET = """
import json, sys
file, _, _, command, *words = sys.argv[1:]
with open(file) as opened:
    known = json.load(opened)
if command == "set":
    known |= dict(zip(words[::2], words[1::2]))
else:
    for path, name, value in zip(words[::3], words[1::3], words[2::3]):
        at = known
        for part in path.split("/"):
            at = at.setdefault(part, {})
        at[name] = value
with open(file, "w") as opened:
    json.dump(known, opened)
"""
_GENERAL = """{{
  "cfgNum": 1, "cfgDate": 1, "cfgVersion": "2.16.1", "domain": "localhost", "securedCookie": 0, "key": "of the tests",
  "passwordDB": "Null", "registerDB": "Null", "localSessionStorage": "", "whatToTrace": "_whatToTrace",
  "macros": {{"_whatToTrace": "$_auth eq 'SAML' ? lc($_user.'@'.$_idpConfKey) : lc($_user.'@'.$_oidc_OP)"}},
  "globalStorage": "Apache::Session::File", "persistentStorage": "Apache::Session::File",
  "globalStorageOptions": {{"Directory": "{folder}/sessions", "LockDirectory": "{folder}/sessions/lock"}},
  "persistentStorageOptions": {{"Directory": "{folder}/psessions", "LockDirectory": "{folder}/psessions/lock"}},
  "captcha": "::Main::Plugin", "portalDisplayRegister": 0, "portalDisplayResetPassword": 0,
  "locationRules": {{"localhost": {{"default": "accept"}}}}
}}
"""


class _Portal(PagedProgram):
    """The portal."""

    # The application that its rule lets the group in to; its menu has what a person may open.
    of_admins = "a[href='https://reports.example.com/']"

    def made_before(self) -> Mapping[str, str]:
        """Return what its administrator has made before."""
        return {}

    @contextmanager
    def running(self, connected: Connected, folder: Path) -> Generator[None]:
        """Make its folders, take the commands of the recipe, and run it."""
        program = shutil.which("plackup")
        if program is None or not PORTAL.exists():
            pytest.skip(f"it needs {PACKAGES}")
        for name in ("configuration", "sessions/lock", "psessions/lock", "cache"):
            (folder / name).mkdir(parents=True)
        configuration = folder / "configuration" / "lmConf-1.json"
        configuration.write_text(json.dumps({**json.loads(_GENERAL.format(folder=folder)), **self.made_before()}))
        (folder / "lemonldap-ng.ini").write_text(_INI.format(folder=folder, portal=PORTAL))
        (folder / "application.psgi").write_text(_APPLICATION)
        (folder / "set.py").write_text(_SET)
        command = f"{sys.executable} {folder}/set.py {configuration}"
        subprocess.run(["sh", "-ec", connected.text.replace(CLI, command)], check=True, cwd=folder)
        host, port = "localhost", urlsplit(connected.url).port or 80
        command = [program, "-s", "HTTP::Server::PSGI", "-E", "deployment", "-o", host, "-p", str(port)]
        environment = {**os.environ, "LLNG_DEFAULTCONFFILE": str(folder / "lemonldap-ng.ini")}
        with running([*command, "application.psgi"], folder, port, environment=environment):
            yield

    def begin(self, page: Page, url: str) -> None:
        """Open the portal, which leads on by itself where it knows one provider."""
        page.goto(f"{url}/")

    def sign_out(self, page: Page) -> None:
        """Open the address of its tab for that."""
        page.goto(page.url.partition("?")[0] + "?logout=1")


class LemonldapOpenId(_Portal):
    """The portal, which signs people in by OpenID Connect."""

    word = "lemonldap-openid"
    sends_at_once = True


class LemonldapSaml(_Portal):
    """The portal, which signs people in by SAML."""

    word = "lemonldap-saml"

    def made_before(self) -> Mapping[str, str]:
        """Return its key, which is made in its manager, and a cookie that needs no https."""
        key = key_pair("sp of lemonldap")
        return {
            "samlServicePrivateKeySig": key.private_pem,
            "samlServicePublicKeySig": key.certificate_pem,
            "sameSite": "Lax",
        }
