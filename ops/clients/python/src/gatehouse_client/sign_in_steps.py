"""How a person is signed in, as steps that both drivers take: the rules of `sign_in.py`.

The browser keeps two cookies: one for ten minutes, signed, with state, nonce and the verifier of PKCE, and one with the
random id of the session. Tokens never reach it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast
from urllib.parse import quote, urlencode, urlsplit

import httpx

from gatehouse_client import claims
from gatehouse_client.claims import Rules
from gatehouse_client.cookies import Cookie, CookieSigner
from gatehouse_client.errors import SignInRefused, TokenRefused, Unreachable
from gatehouse_client.id_tokens import ID_TOKEN_KINDS, LOGOUT_TOKEN_KINDS, read_logout_token, require_id_token
from gatehouse_client.provider import authenticated, object_of
from gatehouse_client.seen import MemorySeen, SeenOnce
from gatehouse_client.sessions import MemorySessions, Session, SessionStore
from gatehouse_client.signatures import encoded
from gatehouse_client.steps import Steps, invoke, locked, now, send
from gatehouse_client.tokens import ACCESS_TOKEN, Verification

SCOPES: Final = ("openid", "profile", "email")
SIGN_IN_SECONDS: Final = 600
# No session of Gatehouse lasts longer.
SESSION_SECONDS: Final = 90 * 24 * 3600
REFRESH_BEFORE_SECONDS: Final = 60.0
# After a refresh without an answer, the next one comes so much later.
AWAY_SECONDS: Final = 5.0
RETURN_CHARACTERS_MAX: Final = 1500
RESERVED: Final = frozenset(
    {"client_id", "redirect_uri", "response_type", "scope", "state", "nonce", "code_challenge", "code_challenge_method"}
)
_OVER: Final = frozenset({"invalid_grant", "no_refresh_token"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInBegun:
    """Where the browser goes to sign in, and the cookie to set with that redirect."""

    url: str = field(repr=False)
    cookie: Cookie


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """A new session, the cookies to set, and the path of this site to which the browser is redirected."""

    session: Session
    cookies: tuple[Cookie, ...]
    return_to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedOut:
    """Where the browser goes to sign out at Gatehouse, and the cookie to set with that redirect."""

    url: str = field(repr=False)
    cookie: Cookie


class SignInSteps:
    """The rules of signing in to one web application."""

    def __init__(
        self,
        issuer: str,
        *,
        client_id: str,
        client_secret: str | None,
        redirect_uri: str,
        cookie_secret: str,
        sessions: SessionStore | None = None,
        scopes: Sequence[str] = SCOPES,
        resource: str | None = None,
        post_logout_redirect_uri: str | None = None,
        used: SeenOnce | None = None,
    ) -> None:
        self._tokens = Verification(issuer, audience=resource or client_id)
        self._own = Rules(issuer=self._tokens.provider.issuer, audiences=(client_id,))
        self._client_id = client_id
        self._client_secret = client_secret
        self.redirect_uri = redirect_uri
        self._post_logout_redirect_uri = post_logout_redirect_uri
        self._scope = " ".join(dict.fromkeys(("openid", *scopes)))
        self._resource = resource
        self._sessions = sessions or MemorySessions()
        # Anyone can begin sign-ins, which must not keep others from theirs; Gatehouse takes a code once anyway.
        self._used = used or MemorySeen(forgets_oldest=True)
        self._signer = CookieSigner(cookie_secret, "sign-in")
        self._session_id_of = CookieSigner(cookie_secret, f"session {issuer} {client_id}").mark
        self._away_at: float | None = None
        self._is_secure = urlsplit(redirect_uri).scheme == "https"
        # The prefix keeps other hosts of the domain from setting the cookie; browsers take it only with https.
        prefix = "__Host-" if self._is_secure else ""
        self.session_cookie = f"{prefix}app_session"
        self.sign_in_cookie = f"{prefix}app_sign_in"

    @property
    def issuer(self) -> str:
        """The issuer at which people sign in."""
        return self._own.issuer

    def start(self, return_to: str, customer: str | None, parameters: Mapping[str, str]) -> Steps[SignInBegun]:
        """Return where the browser goes to sign in."""
        if RESERVED & set(parameters):
            raise TypeError(f"{', '.join(sorted(RESERVED & set(parameters)))} cannot be given here")
        endpoint = yield from self._tokens.provider.endpoint("authorization_endpoint")
        at = yield from now()
        values = {name: secrets.token_urlsafe(32) for name in ("state", "nonce", "verifier")}
        request = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": self.redirect_uri,
            "scope": self._scope,
            "state": values["state"],
            "nonce": values["nonce"],
            "code_challenge": encoded(hashlib.sha256(values["verifier"].encode()).digest()),
            "code_challenge_method": "S256",
        }
        request |= {"resource": self._resource} if self._resource is not None else {}
        request |= {"customer": customer} if customer is not None else {}
        signed = self._signer.sign(values | {"return_to": own_path(return_to)}, until=at + SIGN_IN_SECONDS)
        cookie = self._cookie(self.sign_in_cookie, signed, SIGN_IN_SECONDS)
        return SignInBegun(url=f"{endpoint}?{urlencode(request | dict(parameters))}", cookie=cookie)

    def finish(self, query: Mapping[str, str], cookie: str | None) -> Steps[SignedIn]:
        """Return the new session."""
        at = yield from now()
        values = self._signer.read(cookie, at=at)
        if values is None:
            raise SignInRefused("no_sign_in", "this browser began no sign-in here in the last ten minutes")
        if not hmac.compare_digest(query.get("state", "").encode(), values["state"].encode()):
            raise SignInRefused("wrong_state", "the answer is of another sign-in")
        # RFC 9207: the issuer shows when the answer comes from another server, to which the browser was led.
        if query.get("iss") != self._own.issuer:
            raise SignInRefused("wrong_issuer", "the answer is of another issuer")
        yield from self._use(f"state {values['state']}", until=at + SIGN_IN_SECONDS, at=at)
        if "error" in query:
            raise SignInRefused(query["error"], query.get("error_description", ""))
        grant = {
            "grant_type": "authorization_code",
            "code": query.get("code", ""),
            "redirect_uri": self.redirect_uri,
            "code_verifier": values["verifier"],
        }
        answer = yield from self._ask(grant)
        secret = secrets.token_urlsafe(32)
        try:
            session = yield from self._session_of(self._session_id_of(secret), answer, nonce=values["nonce"])
        except TokenRefused as refusal:
            raise SignInRefused("wrong_token", refusal.reason) from refusal
        yield from invoke(self._sessions.put, session)
        cookies = (self._cookie(self.session_cookie, secret, SESSION_SECONDS), self._removed(self.sign_in_cookie))
        return SignedIn(session=session, cookies=cookies, return_to=values["return_to"])

    def session(self, cookie: str | None) -> Steps[Session | None]:
        """Return the session of a cookie, with a live access token; None when there is none."""
        if not cookie:
            return None
        session_id = self._session_id_of(cookie)
        session: Session | None = yield from invoke(self._sessions.get, session_id)
        at = yield from now()
        if session is None or _is_fresh(session, at):
            return session
        return (yield from locked(f"session {session_id}", self._refreshed(session_id)))

    def logout(self, cookie: str | None) -> Steps[SignedOut]:
        """End the session of a cookie, here and, by the redirect, at Gatehouse."""
        session: Session | None = None
        if cookie:
            session_id = self._session_id_of(cookie)
            # Not while another request refreshes it and would keep it again.
            session = yield from locked(f"session {session_id}", self._taken(session_id))
        parameters = {"client_id": self._client_id}
        parameters |= {"id_token_hint": session.id_token} if session is not None else {}
        if self._post_logout_redirect_uri is not None:
            parameters["post_logout_redirect_uri"] = self._post_logout_redirect_uri
        endpoint = yield from self._tokens.provider.endpoint("end_session_endpoint")
        return SignedOut(url=f"{endpoint}?{urlencode(parameters)}", cookie=self._removed(self.session_cookie))

    def backchannel_logout(self, form: Mapping[str, str]) -> Steps[None]:
        """End the sessions that a logout token names."""
        parsed = yield from self._tokens.signed(form.get("logout_token", ""), kinds=LOGOUT_TOKEN_KINDS)
        at = yield from now()
        logout = read_logout_token(parsed.claims, self._own, at=at)
        try:
            yield from self._use(f"logout {logout.token_id}", until=logout.expires_at, at=at)
        except SignInRefused as refusal:
            raise TokenRefused("the logout token was used before") from refusal

        def end() -> Any:
            return self._sessions.delete_by(sid=logout.sid, sub=logout.sub)

        yield from invoke(end)

    def _taken(self, session_id: str) -> Steps[Session | None]:
        session: Session | None = yield from invoke(self._sessions.get, session_id)
        yield from invoke(self._sessions.delete, session_id)
        return session

    def _refreshed(self, session_id: str) -> Steps[Session | None]:
        """Return the session with another access token; of many callers the first refreshes it for all."""
        session: Session | None = yield from invoke(self._sessions.get, session_id)
        at = yield from now()
        if session is None or _is_fresh(session, at):
            return session
        is_away = self._away_at is not None and 0 <= at - self._away_at < AWAY_SECONDS
        try:
            if is_away:
                raise Unreachable("Gatehouse did not answer a moment ago")
            renewed = yield from self._renewed(session)
        except (Unreachable, SignInRefused, TokenRefused) as problem:
            if _is_over(problem):
                yield from invoke(self._sessions.delete, session_id)
                return None
            # Waiting for an answer in vain takes longer than a failure counts.
            at = yield from now()
            self._away_at = self._away_at if is_away else at
            if session.expires_at <= at:
                # The refusal is about this application, such as its secret; the person cannot mend it.
                raise problem if isinstance(problem, Unreachable) else Unreachable(str(problem)) from problem
            return session
        # A logout that came meanwhile has removed the session; it must not come back.
        if (yield from invoke(self._sessions.get, session_id)) is None:
            return None
        yield from invoke(self._sessions.put, renewed)
        return renewed

    def _renewed(self, session: Session) -> Steps[Session]:
        if session.refresh_token is None:
            raise SignInRefused("no_refresh_token", "the session cannot be refreshed")
        answer = yield from self._ask({"grant_type": "refresh_token", "refresh_token": session.refresh_token})
        renewed = yield from self._session_of(session.id, {"id_token": session.id_token, **answer}, nonce=None)
        if renewed.sub != session.sub:
            raise TokenRefused("the refreshed token is that of another person")
        return replace(renewed, refresh_token=renewed.refresh_token or session.refresh_token)

    def _session_of(self, session_id: str, answer: Mapping[str, Any], *, nonce: str | None) -> Steps[Session]:
        """Return the session of an answer with tokens; raise `TokenRefused` when they are not for this sign-in."""
        access_token, id_token = answer.get("access_token"), answer.get("id_token")
        if not isinstance(access_token, str) or not isinstance(id_token, str):
            raise TokenRefused("the answer has no tokens")
        access = yield from self._tokens.signed(access_token, kinds=(ACCESS_TOKEN,))
        at = yield from now()
        claims.require(access.claims, self._tokens.rules, at=at)
        identity = yield from self._tokens.signed(id_token, kinds=ID_TOKEN_KINDS)
        # A refresh may leave the ID token as it was, of an earlier access token.
        if nonce is not None:
            require_id_token(identity.claims, self._own, access_token=access_token, nonce=nonce, at=at)
        if identity.claims.get("sub") != access.claims["sub"]:
            raise TokenRefused("the ID token is that of another person")
        refresh_token = answer.get("refresh_token")
        return Session(
            id=session_id,
            sid=str(access.claims.get("sid", "")),
            sub=access.claims["sub"],
            access_token=access_token,
            refresh_token=refresh_token if isinstance(refresh_token, str) else None,
            id_token=id_token,
            expires_at=claims.seconds(access.claims, "exp"),
            claims=access.claims,
            identity=identity.claims,
        )

    def _ask(self, grant: Mapping[str, str]) -> Steps[Mapping[str, Any]]:
        """Return the answer of the token endpoint; raise `SignInRefused`, or `Unreachable` when there is none."""
        endpoint = yield from self._tokens.provider.endpoint("token_endpoint")
        if self._client_secret is None:
            request = httpx.Request("POST", endpoint, data={**grant, "client_id": self._client_id})
        else:
            request = authenticated(
                httpx.Request("POST", endpoint, data=dict(grant)), self._client_id, self._client_secret
            )
        response = yield from send(request)
        if response.is_client_error and response.status_code != httpx.codes.TOO_MANY_REQUESTS.value:
            raise refusal_of(response)
        return object_of(response, endpoint)

    def _use(self, identifier: str, *, until: float, at: float) -> Steps[None]:
        def add() -> Any:
            return self._used.add(identifier, until=until, at=at)

        if not (yield from invoke(add)):
            raise SignInRefused("used", "this answer was used before")

    def _cookie(self, name: str, value: str, seconds: int) -> Cookie:
        return Cookie(name=name, value=value, max_age_seconds=seconds, is_secure=self._is_secure)

    def _removed(self, name: str) -> Cookie:
        return self._cookie(name, "", 0)


def own_path(text: str) -> str:
    """Return a path of this site with its query, in ASCII; `/` for anything that could lead a browser elsewhere."""
    is_plain = text.isprintable() and "\\" not in text
    if not is_plain or not text.startswith("/") or text.startswith("//"):
        return "/"
    quoted = quote(text, safe="/%:@!$&'()*+,;=?#[]~")
    # A browser keeps no longer cookie, and no one could sign in.
    return quoted if len(quoted) <= RETURN_CHARACTERS_MAX else "/"


def refusal_of(response: httpx.Response) -> SignInRefused:
    """Return the error for an answer of the token endpoint that is a refusal (RFC 6749, 5.2)."""
    try:
        body: Any = response.json()
    except ValueError:
        body = None
    fields = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    return SignInRefused(str(fields.get("error", response.status_code)), str(fields.get("error_description", "")))


def _is_over(problem: Exception) -> bool:
    """Return whether a refresh was refused because the session is over, and not for the settings of this program."""
    return isinstance(problem, TokenRefused) or (isinstance(problem, SignInRefused) and problem.error in _OVER)


def _is_fresh(session: Session, at: float) -> bool:
    """Return whether the access token lives for a while: a minute, or a quarter of a short life."""
    issued_at = session.claims.get("iat", session.expires_at)
    margin = min(REFRESH_BEFORE_SECONDS, (session.expires_at - issued_at) / 4)
    return session.expires_at - at > margin
