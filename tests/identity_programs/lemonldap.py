"""LemonLDAP::NG of Debian, as an OpenID provider or one of SAML: its portal under the plainest server of Plack.

Its configuration, its sessions and its users are in files. It reads its configuration when it starts, so it is started
again where that changes; it looks groups up at each sign-in.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from abc import abstractmethod
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any, TypeVar

import httpx
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.identity_programs.program import (
    CALLBACK,
    CLIENT_ID,
    CLIENT_SECRET,
    GATEHOUSE,
    PEOPLE,
    SECONDS_MAX,
    SIGNED_OUT,
    Program,
    ProgramBrowser,
    SamlProgram,
    require,
)
from tests.mellon import free_port
from tests.service_provider import KeyPair, key_pair
from tests.waiting import wait_until

PACKAGES = "liblemonldap-ng-portal-perl liblasso-perl libio-string-perl libstring-random-perl libxml-simple-perl"
PORTAL = Path("/usr/share/lemonldap-ng/portal")
LASSO = "/usr/lib/*/perl5/*/Lasso.pm"
# The users of its demonstration are named in its own source; these take their place.
_APPLICATION = """
use strict;
use JSON;
use Lemonldap::NG::Portal::Main;
use Lemonldap::NG::Portal::UserDB::Demo;

my $portal = Lemonldap::NG::Portal::Main->run({{}});
sub read_file {{
    local $/;
    open(my $file, '<', "{folder}/$_[0]") or die $!;
    return decode_json(<$file>);
}}
%Lemonldap::NG::Portal::UserDB::Demo::demoAccounts = %{{ read_file('people') }};
sub {{
    %Lemonldap::NG::Portal::UserDB::Demo::demoGroups = %{{ read_file('groups') }};
    return $portal->(@_);
}};
"""
_INI = """
[all]
logLevel = info
localSessionStorage =
checkTime = 600
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


class Lemonldap(Program):
    """A running portal, and its administrator."""

    def __init__(self, folder: Path, program: str) -> None:
        self._folder, self._program = folder, program
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self._keys = [key_pair(f"identity program {number}") for number in range(3)]
        self._running: subprocess.Popen[bytes] | None = None
        self._groups: dict[str, tuple[str, ...]] = {}

    @abstractmethod
    def configured(self, key: KeyPair) -> Mapping[str, Any]:
        """Return the part of the configuration that is about Gatehouse and the key."""

    def set_groups(self, person: str, *groups: str) -> None:
        """Put a person into these groups alone."""
        self._groups[person] = groups
        names = {group for own in self._groups.values() for group in own}
        members = {name: [one for one, own in self._groups.items() if name in own] for name in names}
        (self._folder / "groups").write_text(json.dumps(members))

    def rotate(self, *, keeps_old: bool) -> None:
        """Sign with another key; it publishes one alone."""
        assert not keeps_old, "LemonLDAP::NG publishes one key alone"
        self._keys.pop(0)
        self.restart()

    def browser(self, person: str) -> ProgramBrowser:
        """Return a new browser of a person, whose password is their name there."""
        return ProgramBrowser(person, password=person)

    def prepare(self) -> None:
        """Make its folders, its users and its application."""
        for name in ("configuration", "sessions", "sessions/lock", "psessions", "psessions/lock", "cache"):
            (self._folder / name).mkdir()
        people = {
            name: {"uid": name, "cn": f"{name.title()} Example", "mail": f"{name}@acme.example"} for name in PEOPLE
        }
        (self._folder / "people").write_text(json.dumps(people))
        (self._folder / "groups").write_text("{}")
        (self._folder / "application.psgi").write_text(_APPLICATION.format(folder=self._folder))
        (self._folder / "lemonldap-ng.ini").write_text(_INI.format(folder=self._folder, portal=PORTAL))

    def restart(self) -> None:
        """Start it with its configuration as it is to be now."""
        self.stop()
        configuration = {**self._general(), **self.configured(self._keys[0])}
        (self._folder / "configuration" / "lmConf-1.json").write_text(json.dumps(configuration))
        command = [self._program, "-s", "HTTP::Server::PSGI", "-E", "deployment"]
        with (self._folder / "errors").open("a") as errors:
            self._running = subprocess.Popen(
                [*command, "-o", "127.0.0.1", "-p", str(self._port), str(self._folder / "application.psgi")],
                env={**os.environ, "LLNG_DEFAULTCONFFILE": str(self._folder / "lemonldap-ng.ini")},
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
            )
        wait_until(self._answers)

    def stop(self) -> None:
        """Stop it, if it runs."""
        if self._running is not None:
            self._running.terminate()
            self._running.wait(SECONDS_MAX)

    def _answers(self) -> bool:
        assert self._running is not None, "it was not started"
        assert self._running.poll() is None, (self._folder / "errors").read_text()[-4000:]
        try:
            httpx.get(f"{self.url}/ping", timeout=SECONDS_MAX)
        except httpx.TransportError:
            return False
        return True

    def _general(self) -> dict[str, Any]:
        storage = {"Directory": f"{self._folder}/sessions", "LockDirectory": f"{self._folder}/sessions/lock"}
        persistent = {"Directory": f"{self._folder}/psessions", "LockDirectory": f"{self._folder}/psessions/lock"}
        return {
            "cfgNum": 1,
            "cfgDate": 1,
            "cfgVersion": "2.16.1",
            "portal": f"{self.url}/",
            "domain": "127.0.0.1",
            "securedCookie": 0,
            "key": "of the tests alone",
            "authentication": "Demo",
            "userDB": "Same",
            "passwordDB": "Null",
            "registerDB": "Null",
            "demoExportedVars": {"uid": "uid", "cn": "cn", "mail": "mail"},
            "globalStorage": "Apache::Session::File",
            "globalStorageOptions": storage,
            "persistentStorage": "Apache::Session::File",
            "persistentStorageOptions": persistent,
            "localSessionStorage": "",
            "whatToTrace": "uid",
            # They take a package that draws pictures.
            "captcha": "::Main::Plugin",
            **dict.fromkeys(("portalDisplayRegister", "portalDisplayResetPassword"), 0),
            "locationRules": {"127.0.0.1": {"default": "accept"}},
            "cspFormAction": "*",
        }


class LemonldapOpenId(Lemonldap):
    """The portal as an OpenID provider."""

    kind = "oidc"
    keeps_old_keys = False
    names_no_groups = False

    def connection(self) -> dict[str, Any]:
        """Return the fields of a connection to it."""
        return {"type": "oidc", "issuer": self.url, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}

    def configured(self, key: KeyPair) -> Mapping[str, Any]:
        """Return the part of the configuration that is about Gatehouse and the key."""
        public = key.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        option = "oidcRPMetaDataOptions"
        return {
            "issuerDBOpenIDConnectActivation": 1,
            "oidcServiceMetaDataIssuer": self.url,
            "oidcServicePrivateKeySig": key.private_pem,
            "oidcServicePublicKeySig": public.decode(),
            "oidcServiceKeyIdSig": f"key-{len(self._keys)}",
            "oidcRPMetaDataOptions": {
                "gatehouse": {
                    f"{option}ClientID": CLIENT_ID,
                    f"{option}ClientSecret": CLIENT_SECRET,
                    f"{option}DisplayName": "Gatehouse",
                    f"{option}IDTokenSignAlg": "RS256",
                    f"{option}RedirectUris": CALLBACK,
                    f"{option}PostLogoutRedirectUris": SIGNED_OUT,
                    f"{option}UserIDAttr": "uid",
                    f"{option}BypassConsent": 1,
                    f"{option}LogoutBypassConfirm": 1,
                }
            },
            "oidcRPMetaDataExportedVars": {
                "gatehouse": {"email": "mail", "name": "cn", "groups": "groups;string;always"}
            },
            # The claims that the scope `email` asks for.
            "oidcRPMetaDataOptionsExtraClaims": {"gatehouse": {"email": "email groups"}},
        }


class LemonldapSaml(Lemonldap, SamlProgram):
    """The portal as an identity provider of SAML."""

    keeps_old_keys = False
    _known: str | None = None

    @property
    def metadata_url(self) -> str:
        """Where it publishes them."""
        return f"{self.url}/saml/metadata/idp"

    def sign_out(self, browser: ProgramBrowser) -> str:
        """Sign a person out at the provider; its page notifies Gatehouse in a frame."""
        page = browser.client.get(f"{self.url}/?logout=1").text
        [address] = re.findall(rf'<iframe src="({GATEHOUSE}/[^"]+)"', page)
        return unescape(address)

    def know(self, entity_id: str, metadata: str) -> None:
        """Register Gatehouse."""
        self._known = metadata
        self.restart()

    def configured(self, key: KeyPair) -> Mapping[str, Any]:
        """Return the part of the configuration that is about Gatehouse and the key."""
        option = "samlSPMetaDataOptions"
        known = {"gatehouse": {"samlSPMetaDataXML": self._known}} if self._known is not None else {}
        return {
            "issuerDBSAMLActivation": 1,
            "samlServicePrivateKeySig": key.private_pem,
            "samlServicePublicKeySig": key.certificate_pem,
            "samlServiceUseCertificateInResponse": 1,
            "samlSPMetaDataXML": known,
            "samlSPMetaDataOptions": {
                "gatehouse": {
                    f"{option}NameIDFormat": "persistent",
                    f"{option}SignSSOMessage": 1,
                    f"{option}SignSLOMessage": 1,
                    f"{option}CheckSSOMessageSignature": 1,
                    f"{option}CheckSLOMessageSignature": 1,
                }
            },
            # Whether it is required, its name, its format, and its name for people.
            "samlSPMetaDataExportedAttributes": {
                "gatehouse": {"mail": "1;email;;", "cn": "0;displayName;;", "groups": "0;groups;;"}
            },
        }


Portal = TypeVar("Portal", bound=Lemonldap)


@contextmanager
def running_lemonldap_openid(folder: Path) -> Generator[LemonldapOpenId]:
    """Run LemonLDAP::NG as an OpenID provider from a folder."""
    with _running(LemonldapOpenId(folder, _program())) as started:
        yield started


@contextmanager
def running_lemonldap_saml(folder: Path) -> Generator[LemonldapSaml]:
    """Run LemonLDAP::NG as an identity provider of SAML from a folder."""
    require(any(Path("/").glob(LASSO.removeprefix("/"))), PACKAGES)
    with _running(LemonldapSaml(folder, _program())) as started:
        yield started


@contextmanager
def _running(portal: Portal) -> Generator[Portal]:
    portal.prepare()
    try:
        portal.restart()
        yield portal
    finally:
        portal.stop()


def _program() -> str:
    program = shutil.which("plackup")
    require(program is not None and PORTAL.exists(), PACKAGES)
    assert program is not None, "Plack is there"
    return program
