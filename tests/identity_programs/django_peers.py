"""The providers that are made with Django: django-allauth, django-oauth-toolkit and djangosaml2idp."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.identity_programs.program import CLIENT_ID, CLIENT_SECRET, PEOPLE, Program, SamlProgram, require
from tests.peers import ROOT, peer
from tests.service_provider import key_pair

# They sign with one after the other.
KEYS = tuple(key_pair(f"identity program {number}") for number in range(3))


class DjangoProgram(Program):
    """A script of a peer, to which lines in JSON say what to do."""

    def __init__(self, running: subprocess.Popen[str], errors: Path) -> None:
        self._running = running
        self._errors = errors
        self.url = self._read()

    def _read(self) -> Any:
        assert self._running.stdout is not None, "the provider has no output"
        line = self._running.stdout.readline()
        assert line, self._errors.read_text()
        return json.loads(line)

    def tell(self, command: str, **arguments: Any) -> Any:
        """Let the provider do something, and return what it says."""
        assert self._running.stdin is not None, "the provider has no input"
        self._running.stdin.write(json.dumps([command, arguments]) + "\n")
        self._running.stdin.flush()
        return self._read()

    def set_groups(self, person: str, *groups: str) -> None:
        """Put a person into these groups alone."""
        self.tell("set_groups", name=person, groups=groups)

    def rotate(self, *, keeps_old: bool) -> None:
        """Sign with another key, and go on to publish the old one, or not."""
        self.tell("rotate", keeps_old=keeps_old)


class DjangoOpenId(DjangoProgram):
    """One by OpenID Connect, whose issuer is its address and a path."""

    kind = "oidc"
    path = ""

    def connection(self) -> dict[str, Any]:
        """Return the fields of a connection to it."""
        issuer = f"{self.url}{self.path}"
        return {"type": "oidc", "issuer": issuer, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}


class Allauth(DjangoOpenId):
    """django-allauth's `idp.oidc`."""


class OAuthToolkit(DjangoOpenId):
    """django-oauth-toolkit."""

    path = "/o"


class DjangoSaml2Idp(DjangoProgram, SamlProgram):
    """djangosaml2idp, which is made with pysaml2."""

    @property
    def metadata_url(self) -> str:
        """Where it publishes them."""
        return f"{self.url}/idp/metadata/"

    def know(self, entity_id: str, metadata: str) -> None:
        """Register Gatehouse."""
        self.tell("know", entity_id=entity_id, metadata=metadata)


@contextmanager
def running_allauth(folder: Path) -> Generator[Allauth]:
    """Run django-allauth's `idp.oidc` from a folder."""
    with _running("django-allauth", folder, str(folder), CLIENT_ID, CLIENT_SECRET) as (process, errors):
        yield Allauth(process, errors)


@contextmanager
def running_oauth_toolkit(folder: Path, people: Sequence[str] = PEOPLE) -> Generator[OAuthToolkit]:
    """Run django-oauth-toolkit from a folder; the ids of its people are their numbers in the order that is given."""
    arguments = (str(folder), CLIENT_ID, CLIENT_SECRET)
    with _running("django-oauth-toolkit", folder, *arguments, people=people) as (process, errors):
        yield OAuthToolkit(process, errors)


@contextmanager
def running_djangosaml2idp(folder: Path) -> Generator[DjangoSaml2Idp]:
    """Run djangosaml2idp from a folder."""
    require(shutil.which("xmlsec1"), "xmlsec1")
    with _running("djangosaml2idp", folder, str(folder)) as (process, errors):
        yield DjangoSaml2Idp(process, errors)


@contextmanager
def _running(
    name: str, folder: Path, *arguments: str, people: Sequence[str] = PEOPLE
) -> Generator[tuple[subprocess.Popen[str], Path]]:
    library = peer(name)
    for number, key in enumerate(KEYS):
        (folder / f"key-{number}").write_text(key.private_pem)
        (folder / f"key-{number}.pem").write_text(key.certificate_pem)
    keys = [str(folder / f"key-{number}") for number in range(len(KEYS))]
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GATEHOUSE_"))}
    with (
        (folder / "errors").open("w") as errors,
        subprocess.Popen(
            [library.program("python"), str(library.files / "provider.py"), *arguments, *keys],
            cwd=folder,
            env={**own, "PEOPLE": ",".join(people), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as running,
    ):
        yield running, folder / "errors"
        # Its input ends, and it with it.
        running.communicate()
