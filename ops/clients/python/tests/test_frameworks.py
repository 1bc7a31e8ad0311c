"""Starlette, FastAPI, Flask and Django lead browsers to sign in, and answer programs with a challenge."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from applications import APPLICATIONS, HOME, Answer, Application
from django.core.cache.backends.locmem import LocMemCache
from issuer import Issuer
from test_sign_in import TOKEN, logout_token

from gatehouse_client import Session
from gatehouse_client.django import CacheSessions

METADATA = f"{HOME}/.well-known/oauth-protected-resource"
NAVIGATION = {"Accept": "text/html,*/*;q=0.8"}
JSON = {"Accept": "application/json"}
FOR_CUSTOMER = {"customer_id": "c", "customer": "globex", "customer_name": "Globex"}


@dataclass
class Browser:
    """A browser at an application, with its cookies."""

    application: Application
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, target: str, headers: Mapping[str, str] = NAVIGATION, body: bytes = b"") -> Answer:
        """Send a request, and keep the cookies of the answer, which this package sets."""
        sent = dict(headers)
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if body:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        answer = self.application.send(method, target, sent, body)
        for line in answer.cookies:
            for name, morsel in SimpleCookie(line).items():
                assert (morsel["httponly"], morsel["samesite"], morsel["secure"]) == (True, "Lax", True), line
                self.cookies[name] = morsel.value
        return answer


@pytest.fixture(params=APPLICATIONS)
def browser(request: pytest.FixtureRequest, issuer: Issuer) -> Generator[Browser]:
    """A browser at an application of each framework."""
    application = APPLICATIONS[request.param](issuer)
    yield Browser(application)
    application.close()


def sign_in(browser: Browser, issuer: Issuer, target: str = "/me?page=2", **claims: Any) -> Answer:
    """Follow the redirect of a page to Gatehouse and back, and return the answer there."""
    redirect = browser.ask("GET", target)
    assert redirect.status == 303, redirect.text
    sent = dict(parse_qsl(urlsplit(redirect.headers["location"]).query))

    def tokens() -> tuple[int, Any, dict[str, str]]:
        token = issuer.token(**claims)
        id_token = issuer.id_token(token, nonce=sent["nonce"])
        return 200, {"access_token": token, "id_token": id_token, "refresh_token": "r"}, {}

    issuer.answers[TOKEN] = tokens
    back = {"code": "c", "state": sent["state"], "iss": issuer.url}
    return browser.ask("GET", f"/auth/callback?{urlencode(back)}")


def test_a_browser_signs_in_returns_to_its_page_and_signs_out(browser: Browser, issuer: Issuer) -> None:
    done = sign_in(browser, issuer)

    assert (done.status, done.headers["location"]) == (303, "/me?page=2")
    page = browser.ask("GET", "/me?page=2")
    assert (page.status, page.text) == (200, "ann@example.com")
    # A second answer of the same sign-in, as by the "back" of the browser, leads on.
    assert browser.ask("GET", f"/auth/callback?state=x&iss={issuer.url}").headers["location"] == "/"
    assert browser.ask("GET", "/auth/logout").status == 405
    left = browser.ask("POST", "/auth/logout")
    assert left.status == 303
    assert left.headers["location"].startswith(f"{issuer.url}/auth/logout?")
    assert browser.ask("GET", "/me").status == 303


def test_a_program_gets_401_and_nothing_that_changes_is_led_away(browser: Browser, issuer: Issuer) -> None:
    for method, headers in (
        ("GET", JSON),
        ("POST", NAVIGATION),
        ("GET", NAVIGATION | {"Sec-Fetch-Mode": "cors"}),
        ("GET", {"Accept": "image/*"}),
    ):
        answer = browser.ask(method, "/me", headers)

        assert answer.status == 401, (method, headers)
        assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{METADATA}"'
        assert answer.cookies == []
    # A form of another site comes without the cookie.
    assert browser.ask("POST", "/auth/logout").headers["location"] == "/"
    document = json.loads(browser.ask("GET", "/.well-known/oauth-protected-resource").text)
    assert document == {
        "resource": HOME,
        "authorization_servers": [issuer.url],
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["read:things"],
    }


def test_each_kind_of_role_opens_its_own_pages(browser: Browser, issuer: Issuer) -> None:
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({"role": "owner"}, ["/admin"]),
        ({"role": "member"}, []),
        # The founder of a stranger's organization, who came as a customer.
        ({**FOR_CUSTOMER, "customer_role": "owner"}, ["/team"]),
        ({**FOR_CUSTOMER, "customer_role": "member", "service_roles": ["editor"]}, ["/reports"]),
        # A product may give its roles any names.
        ({**FOR_CUSTOMER, "customer_role": "member", "service_roles": ["owner", "admin"]}, []),
        ({"role": "member", "service_roles": ["owner", "editor"]}, ["/reports"]),
        # Gatehouse makes no such tokens. Where one names a customer, the role of the vendor opens nothing.
        ({**FOR_CUSTOMER, "role": "owner"}, []),
        ({"customer": "globex", "role": "owner"}, []),
        ({"customer_id": 7, "role": "owner"}, []),
        ({"customer_role": "owner", "role": "admin"}, []),
        ({"role": ["owner", "admin"], "service_roles": "editor"}, []),
        ({}, []),
    ]
    for claims, opened in cases:
        browser.cookies.clear()
        sign_in(browser, issuer, org="bolt", **claims)

        for path in ("/admin", "/team", "/reports"):
            expected = 200 if path in opened else 403
            assert [browser.ask("GET", path, headers).status for headers in (NAVIGATION, JSON)] == [expected] * 2, (
                path,
                claims,
            )


def test_a_feature_is_required(browser: Browser, issuer: Issuer) -> None:
    sign_in(browser, issuer, org="bolt", features=["reports"])
    assert [browser.ask("GET", path).status for path in ("/me", "/exports")] == [200, 403]

    browser.cookies.clear()
    sign_in(browser, issuer, org="bolt", features=["exports"])
    assert [browser.ask("GET", path).status for path in ("/me", "/exports")] == [200, 200]


def test_an_access_token_opens_what_its_scopes_do(browser: Browser, issuer: Issuer) -> None:
    def ask(path: str, authorization: str) -> Answer:
        return browser.ask("GET", path, {"Authorization": authorization})

    assert ask("/things", f"Bearer {issuer.token()}").text == "ann@example.com"
    missing = ask("/write", f"Bearer {issuer.token()}")
    assert missing.status == 403
    assert 'error="insufficient_scope", scope="read:things write:things"' in missing.headers["www-authenticate"]
    expired = ask("/things", f"Bearer {issuer.token(exp=int(issuer.clock()) - 60)}")
    assert expired.status == 401
    assert expired.headers["www-authenticate"] == f'Bearer error="invalid_token", resource_metadata="{METADATA}"'
    bound = ask("/things", f"Bearer {issuer.token(cnf={'jkt': 'x'})}")
    assert bound.headers["www-authenticate"].startswith('DPoP error="invalid_dpop_proof"')
    assert ask("/things", "Basic YTpi").status == browser.ask("GET", "/things", JSON).status == 401


def test_a_refused_sign_in_is_shown_and_gatehouse_may_be_away(browser: Browser, issuer: Issuer) -> None:
    redirect = browser.ask("GET", "/auth/sign-in?return_to=//evil.example&customer=globex&login_hint=ann")
    sent = dict(parse_qsl(urlsplit(redirect.headers["location"]).query))
    assert (sent["customer"], sent["login_hint"]) == ("globex", "ann")
    back = {"error": "access_denied", "error_description": "<b>", "state": sent["state"], "iss": issuer.url}

    refused = browser.ask("GET", f"/auth/callback?{urlencode(back)}")

    assert refused.status == 400
    assert "&lt;b&gt;" in refused.text
    assert 'href="/auth/sign-in"' in refused.text
    assert browser.ask("GET", "/auth/sign-in?iss=https://id.example.org").status == 400
    issuer.is_away = True
    issuer.clock.advance(7200)
    issuer.metadata = {"token_endpoint": None}
    away = browser.ask("GET", "/things", {"Authorization": f"Bearer {issuer.token()}"})
    assert (away.status, away.headers["retry-after"]) == (503, "5")


def test_a_back_channel_logout_signs_the_browser_out(browser: Browser, issuer: Issuer) -> None:
    sign_in(browser, issuer)
    assert browser.ask("GET", "/me").status == 200

    program = Browser(browser.application)
    forged = program.ask("POST", "/auth/backchannel-logout", {}, urlencode(logout_token(issuer, aud="x")).encode())
    assert (forged.status, browser.ask("GET", "/me").status) == (400, 200)
    done = program.ask("POST", "/auth/backchannel-logout", {}, urlencode(logout_token(issuer)).encode())
    assert (done.status, browser.ask("GET", "/me").status) == (200, 303)


def test_a_cache_that_forgets_ends_sessions_and_brings_none_back(issuer: Issuer) -> None:
    application = APPLICATIONS["django"](issuer)
    cache = LocMemCache("forgetful", {})
    sessions = CacheSessions(cache)
    session = Session(
        id="a",
        sid="the session",
        sub="ann",
        access_token="at",
        refresh_token=None,
        id_token="it",
        expires_at=2e9,
        claims={"iat": 1},
    )
    sessions.put(session)
    assert sessions.get("a") == session

    sessions.delete_by(sid="the session", sub=None)
    assert sessions.get("a") is None
    sessions.put(replace(session, id="b", sid="another"))
    assert sessions.get("a") is None
    sessions.delete_by(sid=None, sub="ann")
    assert sessions.get("b") is None
    application.close()
