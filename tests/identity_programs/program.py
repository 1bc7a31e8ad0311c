"""An independent identity provider, as a process of its own, and a browser of one of its people.

Each has the people of `PEOPLE`, whose addresses lie in `acme.example`. It knows Gatehouse as the client of these tests,
and can do what `Program` says. What only some can do has a flag.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode, urljoin

import httpx
import pytest

from tests.secret_watch import WATCH
from tests.service_provider import PostedForm

GATEHOUSE = "http://localhost:8000"
CALLBACK = f"{GATEHOUSE}/auth/upstream/callback"
SIGNED_OUT = f"{GATEHOUSE}/auth/upstream/signed-out"
PEOPLE = ("ada", "grace", "bob", "dora", "fay", "owner", "paul", "sam")
CLIENT_ID = "gatehouse-at-the-program"
CLIENT_SECRET = "the-secret-at-the-program"
PASSWORD = "of this provider alone"
STEPS_MAX = 20
SECONDS_MAX = 60.0
# The buttons that a person presses on the pages of the programs, by their names, where such a button is there.
_PRESSED = {"action": ("grant", "logout"), "allow": ("Authorize", "Logout"), "confirm": ("1",)}
_NAMES = ("login", "user", "username")


class Program(ABC):
    """A running provider: its address, and what its administrator can do."""

    kind: str
    url: str
    # Whether it can publish the key that signed before.
    keeps_old_keys = True
    # Whether it says of people without a group that they are in none.
    names_no_groups = True

    @abstractmethod
    def connection(self) -> dict[str, Any]:
        """Return the fields of a connection to it."""

    @abstractmethod
    def set_groups(self, person: str, *groups: str) -> None:
        """Put a person into these groups alone."""

    @abstractmethod
    def rotate(self, *, keeps_old: bool) -> None:
        """Sign with another key, and go on to publish the old one, or not."""

    def browser(self, person: str) -> ProgramBrowser:
        """Return a new browser of a person, who is not signed in."""
        return ProgramBrowser(person)


class SamlProgram(Program):
    """A running provider by SAML."""

    kind = "saml"

    @property
    @abstractmethod
    def metadata_url(self) -> str:
        """Where it publishes its metadata."""

    @property
    def metadata(self) -> str:
        """Its metadata as they are now."""
        return httpx.get(self.metadata_url, timeout=SECONDS_MAX).raise_for_status().text

    @abstractmethod
    def know(self, entity_id: str, metadata: str) -> None:
        """Take the metadata of Gatehouse."""

    def connection(self) -> dict[str, Any]:
        """Return the fields of a connection to it."""
        return {"type": "saml", "metadata_xml": self.metadata}


def http_client(**options: Any) -> httpx.Client:
    """Return a client that leaves no connection open, for which the tests look."""
    return httpx.Client(timeout=SECONDS_MAX, limits=httpx.Limits(max_keepalive_connections=0), **options)


@dataclass
class ProgramBrowser:
    """A browser at a provider: it follows redirects, and fills in the forms of a person, until it is sent back."""

    person: str
    client: httpx.Client = field(default_factory=http_client)
    password: str = PASSWORD
    # How often it was asked for a password.
    sign_ins: int = 0

    def open(self, address: str, form: Mapping[str, str] | None = None) -> str | PostedForm:
        """Open an address, or send a form to it; return the address or the form with which Gatehouse is reached."""
        answer = self.client.get(address) if form is None else self.client.post(address, data=dict(form))
        for _ in range(STEPS_MAX):
            if answer.is_redirect:
                address = urljoin(str(answer.url), answer.headers["Location"])
                if address.startswith(f"{GATEHOUSE}/"):
                    return address
                answer = self.client.get(address)
                continue
            assert answer.status_code < 400, f"{answer.status_code} {answer.url}\n{answer.text}"
            found = _form_of(answer.text)
            assert found is not None, f"no form at {answer.url}\n{answer.text}"
            if found.action.startswith(f"{GATEHOUSE}/"):
                return PostedForm(found.action, dict(found.fields))
            where = urljoin(str(answer.url), found.action) if found.action else str(answer.url)
            filled = self._filled(found)
            answer = self._submitted(where, filled, is_posted=found.is_posted)
        raise AssertionError(f"the provider did not send the browser back: {answer.url}\n{answer.text}")

    def _submitted(self, where: str, filled: list[tuple[str, str]], *, is_posted: bool) -> httpx.Response:
        if not is_posted:
            return self.client.get(f"{where}?{urlencode(filled)}")
        # Some programs look at the page that a form comes from.
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Referer": where}
        return self.client.post(where, content=urlencode(filled), headers=headers)

    def _filled(self, form: _Form) -> list[tuple[str, str]]:
        known = {**dict.fromkeys(_NAMES, self.person), "password": self.password}
        self.sign_ins += any(name == "password" for name, _ in form.fields)
        pressed = [(name, value) for name, value in form.buttons if value in _PRESSED.get(name, ())]
        return [*((name, known.get(name, value)) for name, value in form.fields), *pressed]


@dataclass
class _Form:
    action: str
    is_posted: bool
    # A name may stand there more than once.
    fields: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    buttons: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[_Form] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(_Form(given.get("action", ""), given.get("method", "get").lower() == "post"))
        elif tag in {"input", "button"} and self.forms and given.get("name"):
            name, value = given["name"], given.get("value", "")
            if tag == "button" or given.get("type") == "submit":
                self.forms[-1].buttons.append((name, value))
            elif given.get("type") not in {"checkbox", "radio"} or "checked" in given:
                self.forms[-1].fields.append((name, value))


def _form_of(page: str) -> _Form | None:
    """Return the form of a page that goes on: one to Gatehouse, else the first one."""
    parser = _Forms()
    parser.feed(page)
    ours = [form for form in parser.forms if form.action.startswith(f"{GATEHOUSE}/")]
    return next(iter(ours or parser.forms), None)


def require(is_there: object, packages: str) -> None:
    """Skip a test whose program is missing; in CI fail, so that success means that these tests ran."""
    if not is_there:
        missing = pytest.fail if "CI" in os.environ else pytest.skip
        missing(f"a program is missing; apt-get install --no-install-recommends {packages}")


WATCH.add(CLIENT_SECRET, PASSWORD)
