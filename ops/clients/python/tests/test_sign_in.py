"""A browser is signed in by the code flow; an answer that it did not ask for, or for another one, signs no one in."""

from __future__ import annotations

import base64
import hashlib
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from drivers import Driver
from issuer import CLIENT_ID, SECRET, Clock, Issuer, Key, serving

from gatehouse_client import MemorySessions, Session, SignInRefused, TokenRefused, Unreachable
from gatehouse_client.sign_in_steps import own_path

CALLBACK = "https://shop.example/auth/callback"
COOKIE_SECRET = "a secret of the product, thirty-two characters or more"
TOKEN = "/auth/token"
Changes = dict[str, Any]


class AsyncSessions:
    """A store as a product writes one over an asynchronous database."""

    def __init__(self, sessions: MemorySessions) -> None:
        self._sessions = sessions

    async def get(self, session_id: str) -> Session | None:
        return self._sessions.get(session_id)

    async def put(self, session: Session) -> None:
        self._sessions.put(session)

    async def delete(self, session_id: str) -> None:
        self._sessions.delete(session_id)

    async def delete_by(self, *, sid: str | None, sub: str | None) -> None:
        self._sessions.delete_by(sid=sid, sub=sub)


class Application:
    """A web application that signs in at the issuer, and the answers of the token endpoint."""

    def __init__(self, driver: Driver, issuer: Issuer, **options: Any) -> None:
        self.driver, self.issuer = driver, issuer
        self.sessions = MemorySessions()
        settings = {
            "client_id": CLIENT_ID,
            "client_secret": SECRET,
            "redirect_uri": CALLBACK,
            "cookie_secret": COOKIE_SECRET,
            "sessions": AsyncSessions(self.sessions) if driver.is_async else self.sessions,
            "clock": issuer.clock,
        }
        self.sign_in = driver.make("SignIn", issuer.url, **(settings | options))

    def start(self, *arguments: Any, **options: Any) -> Any:
        return self.driver.call(self.sign_in.start, *arguments, **options)

    def answer_tokens(self, nonce: str | None, access: Changes | None = None, identity: Changes | None = None) -> None:
        """Let the token endpoint answer tokens, in which claims are changed."""

        def answer() -> tuple[int, Any, dict[str, str]]:
            token = self.issuer.token(**(access or {}))
            id_token = self.issuer.id_token(token, **({"nonce": nonce, "name": "Ann"} | (identity or {})))
            return 200, {"access_token": token, "id_token": id_token, "refresh_token": f"r{len(self.issuer.forms)}"}, {}

        self.issuer.answers[TOKEN] = answer

    def finish(self, begun: Any, access: Changes | None = None, identity: Changes | None = None, **query: Any) -> Any:
        """Let the browser come back."""
        sent = dict(parse_qsl(urlsplit(begun.url).query))
        self.answer_tokens(sent["nonce"], access, identity)
        answer = {"code": "the code", "state": sent["state"], "iss": self.issuer.url} | query
        return self.driver.call(self.sign_in.finish, answer, begun.cookie.value)

    def signed_in(self) -> str:
        """Sign a browser in, and return its cookie."""
        return self.finish(self.start()).cookies[0].value

    def session(self, cookie: str) -> Session | None:
        return self.driver.call(self.sign_in.session, cookie)


def logout_token(issuer: Issuer, *, key: Key | None = None, typ: str = "logout+jwt", **changes: Any) -> dict[str, str]:
    """Return the form of a back-channel logout."""
    events = {"http://schemas.openid.net/event/backchannel-logout": {}}
    kept = {"email": None, "auth_time": None, "amr": None, "scope": None, "client_id": None, "events": events}
    token = (key or issuer.keys[0]).sign(issuer.claims(**(kept | changes)), typ=typ)
    return {"logout_token": token}


def test_a_browser_signs_in_and_returns_to_its_page(driver: Driver, issuer: Issuer) -> None:
    application = Application(driver, issuer)

    begun = application.start("/orders?page=2", customer="globex", login_hint="ann@example.com")
    done = application.finish(begun)

    sent = {name: value for name, [value] in parse_qs(urlsplit(begun.url).query).items()}
    assert begun.url.startswith(f"{issuer.url}/auth/authorize?")
    assert (sent["customer"], sent["login_hint"], sent["scope"]) == (
        "globex",
        "ann@example.com",
        "openid profile email",
    )
    assert begun.cookie.header.endswith("; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure")
    assert begun.cookie.name.startswith("__Host-")
    grant = issuer.forms[0]
    digest = hashlib.sha256(grant["code_verifier"].encode()).digest()
    assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == sent["code_challenge"]
    assert (grant["code"], grant["redirect_uri"], sent["code_challenge_method"]) == ("the code", CALLBACK, "S256")
    assert issuer.headers[issuer.requests.index(TOKEN)]["Authorization"].startswith("Basic ")
    assert done.return_to == "/orders?page=2"
    assert [cookie.max_age_seconds > 0 for cookie in done.cookies] == [True, False]
    session = application.session(done.cookies[0].value)
    assert session is not None
    assert (session.caller.email, session.identity["name"]) == ("ann@example.com", "Ann")
    assert session.id != done.cookies[0].value
    for secret in (session.access_token, session.refresh_token, session.id_token, done.cookies[0].value, SECRET):
        assert str(secret) not in repr((session, done, begun, application.sign_in))
    assert Session.from_json(session.to_json()) == session


def test_a_public_service_sends_its_id_and_the_verifier_alone(blocking: Driver, issuer: Issuer) -> None:
    redirect_uri = "http://localhost:9000/callback"
    application = Application(blocking, issuer, client_secret=None, redirect_uri=redirect_uri)

    begun = application.start()
    application.finish(begun)

    assert issuer.forms[0]["client_id"] == CLIENT_ID
    assert "Authorization" not in issuer.headers[-1]
    assert "Secure" not in begun.cookie.header
    assert not begun.cookie.name.startswith("__Host-")


@pytest.mark.parametrize(
    "target",
    [
        *("https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)"),
        *(
            "/\t/evil.example",
            "/\n/evil.example",
            "/\x00",
            " //evil.example",
            "evil.example",
            "",
            "/" + "x" * 2000,
            "/" + "é" * 500,
        ),
    ],
)
def test_the_browser_returns_to_a_path_of_this_site_alone(target: str) -> None:
    assert own_path(target) == "/"
    assert own_path("/orders?page=2#top") == "/orders?page=2#top"
    assert own_path("/größe/a%20b") == "/gr%C3%B6%C3%9Fe/a%20b"


def test_an_answer_that_this_browser_has_not_asked_for_is_refused(driver: Driver, issuer: Issuer, clock: Clock) -> None:
    application = Application(driver, issuer)
    begun, other = application.start(), application.start()

    def refused(query: dict[str, str], cookie: str | None, error: str) -> None:
        with pytest.raises(SignInRefused) as caught:
            driver.call(application.sign_in.finish, query, cookie)
        assert caught.value.error == error

    state = dict(parse_qsl(urlsplit(begun.url).query))["state"]
    good = {"code": "c", "state": state, "iss": issuer.url}
    refused(good, None, "no_sign_in")
    refused(good, begun.cookie.value[:-2], "no_sign_in")
    refused(good, begun.cookie.value.replace(".", "x.", 1), "no_sign_in")
    refused(good, other.cookie.value, "wrong_state")
    refused({"code": "c", "iss": issuer.url}, begun.cookie.value, "wrong_state")
    refused({"code": "c", "state": state}, begun.cookie.value, "wrong_issuer")
    refused(good | {"iss": "https://id.example.org"}, begun.cookie.value, "wrong_issuer")
    assert issuer.count(TOKEN) == 0
    clock.advance(600)
    refused(good, begun.cookie.value, "no_sign_in")


def test_an_answer_signs_in_once_and_a_refusal_is_passed_on(driver: Driver, issuer: Issuer) -> None:
    application = Application(driver, issuer)
    begun, cancelled, refused = application.start(), application.start(), application.start()
    application.finish(begun)

    with pytest.raises(SignInRefused, match="used before"):
        application.finish(begun)
    with pytest.raises(SignInRefused, match="access_denied: cancelled"):
        application.finish(cancelled, error="access_denied", error_description="cancelled")
    assert issuer.count(TOKEN) == 1
    sent = dict(parse_qsl(urlsplit(refused.url).query))
    issuer.answers[TOKEN] = lambda: (400, {"error": "invalid_grant", "error_description": "used"}, {})
    answer = {"code": "c", "state": sent["state"], "iss": issuer.url}
    with pytest.raises(SignInRefused, match="invalid_grant"):
        driver.call(application.sign_in.finish, answer, refused.cookie.value)


def test_tokens_that_are_not_for_this_sign_in_sign_nobody_in(blocking: Driver, issuer: Issuer, clock: Clock) -> None:
    application = Application(blocking, issuer)
    past = int(clock()) - 100
    wrong: list[tuple[Changes, Changes]] = [
        ({}, {"nonce": "another"}),
        ({}, {"nonce": None}),
        ({}, {"aud": "another"}),
        ({}, {"aud": [CLIENT_ID, "another"]}),
        ({}, {"azp": "another"}),
        ({}, {"iss": "https://id.example.org"}),
        ({}, {"exp": past}),
        ({}, {"at_hash": "another"}),
        ({}, {"at_hash": None}),
        ({}, {"sub": "eve"}),
        ({"aud": "another"}, {}),
        ({"exp": past}, {}),
    ]

    for access, identity in wrong:
        with pytest.raises(SignInRefused) as caught:
            application.finish(application.start(), access, identity)
        assert caught.value.error == "wrong_token", (access, identity)
    assert application.finish(application.start(), {}, {"aud": [CLIENT_ID, "b"], "azp": CLIENT_ID}).session.sub == "ann"
    # An access token in place of the ID token, and the other way round.
    begun = application.start()
    nonce = dict(parse_qsl(urlsplit(begun.url).query))["nonce"]
    for access_token, id_token in (
        (issuer.token(), issuer.token(nonce=nonce)),
        (issuer.id_token("x", nonce=nonce), issuer.id_token("x", nonce=nonce)),
    ):
        begun = application.start()
        sent = dict(parse_qsl(urlsplit(begun.url).query))
        tokens = {"access_token": access_token, "id_token": id_token}
        issuer.answers[TOKEN] = lambda tokens=tokens: (200, tokens, {})
        answer = {"code": "c", "state": sent["state"], "iss": issuer.url}
        with pytest.raises(SignInRefused, match="another kind"):
            application.sign_in.finish(answer, begun.cookie.value)


def test_one_of_many_requests_refreshes_the_session_for_all(driver: Driver, issuer: Issuer, clock: Clock) -> None:
    application = Application(driver, issuer)
    cookie = application.signed_in()
    application.answer_tokens(None)

    clock.advance(839)
    assert application.session(cookie) is not None
    assert issuer.count(TOKEN) == 1
    clock.advance(2)
    with issuer.gate:
        waiting = driver.at_once(12, application.sign_in.session, cookie)
        issuer.wait_for(TOKEN, 2)
    sessions = [future.result() for future in waiting]

    assert issuer.count(TOKEN) == 2
    assert issuer.forms[-1] == {"grant_type": "refresh_token", "refresh_token": "r1"}
    assert {session.refresh_token for session in sessions} == {"r2"}
    assert {session.expires_at for session in sessions} == {clock() + 900}


def test_a_refused_refresh_ends_the_session_and_a_wrong_setting_does_not(
    driver: Driver, issuer: Issuer, clock: Clock
) -> None:
    application = Application(driver, issuer)
    cookie = application.signed_in()
    clock.advance(850)

    issuer.answers[TOKEN] = lambda: (401, {"error": "invalid_client"}, {})
    assert application.session(cookie) is not None
    clock.advance(5)
    issuer.answers[TOKEN] = lambda: (400, {"error": "invalid_grant"}, {})
    assert application.session(cookie) is None
    assert application.session(cookie) is None
    assert issuer.count(TOKEN) == 3


def test_a_wrong_setting_is_an_outage_once_the_token_has_expired(
    blocking: Driver, issuer: Issuer, clock: Clock
) -> None:
    application = Application(blocking, issuer)
    cookie = application.signed_in()
    clock.advance(901)

    issuer.answers[TOKEN] = lambda: (401, {"error": "invalid_client"}, {})

    with pytest.raises(Unreachable):
        application.session(cookie)


def test_waiting_in_vain_holds_one_request_up_and_not_each(blocking: Driver, issuer: Issuer, clock: Clock) -> None:
    application = Application(blocking, issuer)
    cookie = application.signed_in()
    clock.advance(850)

    def answered_late() -> tuple[int, Any, dict[str, str]]:
        clock.advance(6)
        return 503, {}, {}

    issuer.answers[TOKEN] = answered_late

    assert application.session(cookie) is not None
    assert application.session(cookie) is not None
    assert issuer.count(TOKEN) == 2


def test_a_session_of_another_product_in_the_same_store_is_none(driver: Driver, issuer: Issuer) -> None:
    shop = Application(driver, issuer)
    store = AsyncSessions(shop.sessions) if driver.is_async else shop.sessions
    other = Application(driver, issuer, client_id="other", sessions=store)

    cookie = shop.signed_in()

    assert shop.session(cookie) is not None
    assert other.session(cookie) is None


def test_a_session_goes_on_while_gatehouse_is_away_until_its_token_expires(
    driver: Driver, issuer: Issuer, clock: Clock
) -> None:
    application = Application(driver, issuer)
    cookie = application.signed_in()
    issuer.is_away = True
    clock.advance(850)

    assert application.session(cookie) is not None
    assert application.session(cookie) is not None
    assert issuer.count(TOKEN) == 2
    clock.advance(50)
    with pytest.raises(Unreachable):
        application.session(cookie)
    issuer.is_away = False
    application.answer_tokens(None)
    clock.advance(5)
    assert application.session(cookie) is not None


def test_a_logout_during_a_refresh_is_not_undone_by_it(driver: Driver, issuer: Issuer, clock: Clock) -> None:
    application = Application(driver, issuer)
    cookie = application.signed_in()
    application.answer_tokens(None)
    clock.advance(850)

    with issuer.gate:
        [waiting] = driver.at_once(1, application.sign_in.session, cookie)
        issuer.wait_for(TOKEN, 2)
        application.sessions.delete_by(sid="the session", sub=None)

    assert waiting.result() is None
    assert application.session(cookie) is None


def test_a_refresh_to_another_person_ends_the_session(blocking: Driver, issuer: Issuer, clock: Clock) -> None:
    application = Application(blocking, issuer)
    cookie = application.signed_in()
    application.answer_tokens(None, {"sub": "eve"}, {"sub": "eve"})
    clock.advance(850)

    assert application.session(cookie) is None


def test_signing_out_ends_the_session_here_and_leads_to_gatehouse(driver: Driver, issuer: Issuer) -> None:
    application = Application(driver, issuer, post_logout_redirect_uri="https://shop.example/bye")
    cookie = application.signed_in()
    session = application.session(cookie)
    assert session is not None

    done = driver.call(application.sign_in.logout, cookie)

    assert urlsplit(done.url).path == "/auth/logout"
    assert dict(parse_qsl(urlsplit(done.url).query)) == {
        "client_id": CLIENT_ID,
        "id_token_hint": session.id_token,
        "post_logout_redirect_uri": "https://shop.example/bye",
    }
    assert done.cookie.max_age_seconds == 0
    assert application.session(cookie) is None
    assert "id_token_hint" not in driver.call(application.sign_in.logout, None).url


def test_a_back_channel_logout_ends_the_sessions_that_it_names_once(driver: Driver, issuer: Issuer) -> None:
    application = Application(driver, issuer)
    first = application.signed_in()

    def end(form: dict[str, str]) -> None:
        driver.call(application.sign_in.backchannel_logout, form)

    end(logout_token(issuer, sid="another session"))
    assert application.session(first) is not None
    form = logout_token(issuer)
    end(form)
    assert application.session(first) is None
    with pytest.raises(TokenRefused, match="used before"):
        end(form)
    second, third = application.signed_in(), application.signed_in()
    end(logout_token(issuer, sid=None))
    assert (application.session(second), application.session(third)) == (None, None)
    fourth = application.signed_in()
    end(logout_token(issuer, sub=None))
    assert application.session(fourth) is None


def test_any_other_token_ends_no_session(blocking: Driver, issuer: Issuer, clock: Clock) -> None:
    application = Application(blocking, issuer)
    cookie = application.signed_in()
    session = application.session(cookie)
    assert session is not None
    at = int(clock())

    with serving(clock) as other:
        other.keys = [Key(number=1)]
        forms = [
            logout_token(other, iss=issuer.url),
            logout_token(issuer, key=Key(number=1, id=issuer.keys[0].id)),
            logout_token(issuer, aud="another service"),
            logout_token(issuer, iss="https://id.example.org"),
            logout_token(issuer, typ="JWT"),
            logout_token(issuer, typ="at+jwt"),
            logout_token(issuer, nonce="n"),
            logout_token(issuer, events=None),
            logout_token(issuer, events={"another event": {}}),
            logout_token(issuer, events=["http://schemas.openid.net/event/backchannel-logout"]),
            logout_token(issuer, exp=at - 10),
            logout_token(issuer, iat=at + 11),
            logout_token(issuer, jti=None),
            logout_token(issuer, sid=None, sub=None),
            {"logout_token": session.id_token},
            {"logout_token": ""},
            {},
        ]
    for form in forms:
        with pytest.raises(TokenRefused):
            application.sign_in.backchannel_logout(form)
    assert application.session(cookie) is not None


def test_a_weak_cookie_secret_and_reserved_parameters_are_refused(blocking: Driver, issuer: Issuer) -> None:
    with pytest.raises(ValueError, match="32"):
        Application(blocking, issuer, cookie_secret="short")
    with pytest.raises(TypeError, match="nonce"):
        Application(blocking, issuer).start(nonce="mine")


def test_sessions_in_memory_are_bounded(blocking: Driver, issuer: Issuer) -> None:
    application = Application(blocking, issuer, sessions=(sessions := MemorySessions(sessions_max=2)))
    cookies = [application.signed_in() for _ in range(3)]

    assert [application.session(cookie) is None for cookie in cookies] == [True, False, False]
    assert application.session("another cookie") is None
    assert application.sign_in.session(None) is None
    assert sessions.get("nothing") is None
