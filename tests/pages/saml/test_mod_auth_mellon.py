"""mod_auth_mellon signs users in, refuses tampered answers, and logs out in both directions."""

from __future__ import annotations

import base64
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime

import httpx
import pytest

from tests.clock import SettableClock
from tests.mellon import Mellon, mellon
from tests.pages.saml.peers import MEMBER, follow, metadata_of, next_address
from tests.service_provider import PostedForm, key_pair
from tests.world.saml import BASE_URL, SamlService, SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor

pytestmark = pytest.mark.long


@pytest.fixture
async def service(team: Team, saml: SamlWorld, clock: SettableClock) -> SamlService:
    """A service whose service provider is not known yet."""
    clock.now = datetime.now(UTC)
    return await saml.service(team.organization_id, "acme", attribute_mapping={"email": "mail"})


class Browser:
    """The side of the browser that talks to Apache, with its cookies there."""

    def __init__(self, apache: Mellon, http: httpx.Client) -> None:
        self.apache = apache
        self.http = http

    def open(self, path: str = "/secret/") -> httpx.Response:
        """Open a page, or an address that Gatehouse redirects to."""
        return self.http.get(path)

    def leave(self, path: str = "/secret/") -> str:
        """Open a page, and return the address at Gatehouse to which its redirects lead."""
        location = self.open(path).headers["Location"]
        return location if location.startswith(BASE_URL) else self.leave(location)

    def post(self, form: PostedForm, **changes: str) -> httpx.Response:
        """Post an answer."""
        return self.http.post(form.action, data={**form.fields, **changes})


def _http(apache: Mellon) -> httpx.Client:
    return httpx.Client(base_url=apache.url, timeout=60.0)


@contextmanager
def browsers(apache: Mellon) -> Generator[tuple[Browser, Browser]]:
    """Two browsers, until the block ends."""
    with _http(apache) as first, _http(apache) as second:
        yield Browser(apache, first), Browser(apache, second)


async def signed_in(browser: Browser, visitor: Visitor) -> PostedForm:
    """Sign in at Gatehouse and at Apache, and return the answer that was posted."""
    await visitor.sign_in(MEMBER)
    form = await follow(visitor, browser.leave(), BASE_URL)
    back = browser.post(form)
    assert back.status_code == 303, browser.apache.errors
    return form


async def test_it_signs_in_refuses_a_tampered_answer_and_logs_out(
    service: SamlService, team: Team, visitor: Visitor
) -> None:
    with (
        mellon(metadata=await metadata_of(service), key=key_pair("mellon")) as apache,
        browsers(apache) as (browser, other),
    ):
        document = browser.open("/mellon/metadata").text
        imported = await team.request("owner", "POST", "/services/shop/saml/metadata", body={"metadata": document})
        assert imported.status == 200, imported.text
        form = await signed_in(browser, visitor)

        secret = browser.open()
        again = await follow(visitor, other.leave(), BASE_URL)
        evil = base64.b64encode(again.xml.replace(MEMBER.encode(), b"owners@example.com")).decode()
        tampered = other.post(again, SAMLResponse=evil)
        leaving = browser.leave("/mellon/logout?ReturnTo=/secret/")
        answered = await visitor.send("GET", leaving.removeprefix(BASE_URL))
        logged_out = browser.open(answered.headers["Location"])

        assert form.statuses == ["Success"]
        assert (secret.status_code, secret.text, secret.headers["X-Mail"]) == (200, "a secret", MEMBER)
        assert tampered.status_code >= 400
        assert (logged_out.status_code, logged_out.headers["Location"]) == (303, "/secret/")
        assert browser.open().status_code == 303
        assert (await visitor.send("GET", "/app/account")).status == 303


async def test_it_is_told_of_a_logout_and_answers(service: SamlService, team: Team, visitor: Visitor) -> None:
    with (
        mellon(metadata=await metadata_of(service), key=key_pair("mellon")) as apache,
        browsers(apache) as (browser, _),
    ):
        document = browser.open("/mellon/metadata").text
        await team.request("owner", "POST", "/services/shop/saml/metadata", body={"metadata": document})
        await signed_in(browser, visitor)

        first = await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out", is_followed=False)
        told = await visitor.send("GET", first.headers["Location"])
        answer = browser.open(next_address(told))
        last = await visitor.send("GET", answer.headers["Location"].removeprefix(BASE_URL))

        assert (last.status, last.headers["Location"]) == (303, "/app/sign-out")
        assert browser.open().status_code == 303
