"""Passkeys with a real browser: Chromium makes them with a virtual authenticator, and signs in with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import CDPSession, Page

from core.sessions.signing_keys import KeyPair
from tests.account_site import running_site_with_account
from tests.browser import Site, Watched
from tests.world.builder import EMAIL, PASSWORD
from tests.world.signing_in import claims_of

pytestmark = pytest.mark.browser

PATH = "/api/auth/passkeys"
CREATE = """async (options) => {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return (await navigator.credentials.create({publicKey})).toJSON();
}"""
GET = """async (options) => {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    return (await navigator.credentials.get({publicKey})).toJSON();
}"""


@dataclass
class Visitor:
    """A browser with a virtual authenticator."""

    page: Page
    url: str
    devtools: CDPSession
    authenticator_id: str = ""

    def plug_in(self, *, is_user_verified: bool = True, transport: str = "internal") -> None:
        """Replace the browser's authenticator by a new one."""
        if self.authenticator_id:
            self.devtools.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": self.authenticator_id})
        options = {
            "protocol": "ctap2",
            "transport": transport,
            "hasResidentKey": True,
            "hasUserVerification": is_user_verified,
            "isUserVerified": is_user_verified,
            "automaticPresenceSimulation": True,
        }
        added = self.devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        self.authenticator_id = added["authenticatorId"]

    def post(self, path: str, body: Any, *, token: str | None = None) -> tuple[int, Any]:
        """Call an endpoint as a page's script would."""
        headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        answer = self.page.request.post(self.url + path, data=body, headers=headers)
        return answer.status, answer.json()

    def log_in(self) -> str:
        """Sign in by password, and return the access token."""
        status, answer = self.post("/api/auth/login", {"email": EMAIL, "password": PASSWORD})
        assert status == 200, answer
        return answer["access_token"]

    def register(self, token: str) -> tuple[int, Any]:
        """Create a passkey in the browser, and register it."""
        status, started = self.post(f"{PATH}/register/start", {}, token=token)
        assert status == 200, started
        credential = self.page.evaluate(CREATE, started["options"])
        body = {"challenge_id": started["challenge_id"], "credential": credential, "name": "This browser"}
        return self.post(f"{PATH}/register/finish", body, token=token)

    def sign_in(self, email: str | None = None) -> tuple[int, Any]:
        """Sign in with a passkey in the browser."""
        status, started = self.post(f"{PATH}/authenticate/start", {"email": email})
        assert status == 200, started
        credential = self.page.evaluate(GET, started["options"])
        return self.post(
            f"{PATH}/authenticate/finish", {"challenge_id": started["challenge_id"], "credential": credential}
        )


@pytest.fixture
def site(database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server, and an account in it."""
    with running_site_with_account(database_url, key_pairs) as site:
        yield site


@pytest.fixture
def visitor(site: Site, watch: Callable[..., Watched]) -> Visitor:
    """Return a browser that shows a page of the installation."""
    page = watch().page
    page.goto(f"{site.url}/docs")
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    visitor = Visitor(page, site.url, devtools)
    visitor.plug_in()
    return visitor


def test_a_browser_registers_a_passkey_and_signs_in_with_it(visitor: Visitor) -> None:
    status, passkey = visitor.register(visitor.log_in())
    assert (status, passkey["name"]) == (200, "This browser"), passkey

    for email in (None, EMAIL, EMAIL):
        status, answer = visitor.sign_in(email)

        assert status == 200, answer
        claims = claims_of(answer["access_token"])
        assert claims["email"] == EMAIL
        assert claims["amr"] == ["hwk", "user", "mfa"]


@pytest.mark.long
def test_an_authenticator_with_a_passkey_of_the_account_creates_no_second_one(visitor: Visitor) -> None:
    token = visitor.log_in()
    visitor.register(token)

    with pytest.raises(Exception, match="InvalidStateError"):
        visitor.register(token)


@pytest.mark.long
def test_a_security_key_without_user_verification_counts_as_one_factor(visitor: Visitor) -> None:
    visitor.plug_in(is_user_verified=False, transport="usb")
    # Without a PIN it stores no resident key, and the browser refuses before it calls the server; so none is requested.
    token = visitor.log_in()
    status, started = visitor.post(f"{PATH}/register/start", {}, token=token)
    assert status == 200
    started["options"]["authenticatorSelection"]["residentKey"] = "discouraged"
    started["options"]["authenticatorSelection"]["requireResidentKey"] = False
    credential = visitor.page.evaluate(CREATE, started["options"])
    body = {"challenge_id": started["challenge_id"], "credential": credential}
    status, passkey = visitor.post(f"{PATH}/register/finish", body, token=token)
    assert status == 200, passkey

    status, answer = visitor.sign_in(EMAIL)

    assert status == 200, answer
    assert claims_of(answer["access_token"])["amr"] == ["hwk", "user"]


@pytest.mark.long
def test_a_signed_challenge_works_once(visitor: Visitor) -> None:
    visitor.register(visitor.log_in())
    _, started = visitor.post(f"{PATH}/authenticate/start", {})
    credential = visitor.page.evaluate(GET, started["options"])
    body = {"challenge_id": started["challenge_id"], "credential": credential}

    statuses = [visitor.post(f"{PATH}/authenticate/finish", body)[0] for _ in range(2)]

    assert statuses == [200, 401]


@pytest.mark.long
def test_an_authenticator_without_a_passkey_of_the_account_cannot_sign_in(visitor: Visitor) -> None:
    visitor.register(visitor.log_in())
    visitor.plug_in()

    with pytest.raises(Exception, match="NotAllowedError"):
        visitor.sign_in(EMAIL)
