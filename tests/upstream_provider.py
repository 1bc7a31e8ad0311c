"""A stand-in for the external providers: it plays each with its habits, over HTTP on this machine.

It checks what a provider checks (the client, the redirect URI, PKCE, one use of a code), and misbehaves as a test says.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from core.secrets import Secret
from tests.secret_watch import WATCH

CLIENT_ID = "gatehouse-at-the-provider"
CLIENT_SECRET = "the secret of the provider"
FORM = "application/x-www-form-urlencoded"
# 2026-06-01 in the clock of the tests is before this.
FAR_FUTURE = 4_000_000_000


@dataclass
class Account:
    """An account at a provider, with what the provider says of it."""

    id: Any = 4711
    email: str | None = "ada@example.com"
    is_verified: bool = True
    tenant: str = "9f2d0d4e-tenant"
    # Further claims of the ID token, which replace the provider's.
    claims: dict[str, Any] = field(default_factory=dict[str, Any])
    shows_emails: bool = True


@dataclass
class _Code:
    provider: str
    account: Account
    parameters: dict[str, str]


@dataclass
class Request:
    """A request as the provider received it."""

    path: str
    form: dict[str, str]
    headers: dict[str, str]
    query: str = ""


@dataclass
class StandIn:
    """The providers, the requests that they received, and how they misbehave."""

    url: str = ""
    requests: list[Request] = field(default_factory=list[Request])
    codes: dict[str, _Code] = field(default_factory=dict[str, _Code])
    tokens: dict[str, tuple[str, Account]] = field(default_factory=dict[str, tuple[str, Account]])
    refresh_tokens: dict[str, tuple[str, Account]] = field(default_factory=dict[str, tuple[str, Account]])
    lifetime_seconds: int | None = 3600
    issues_refresh_tokens: bool = True
    # Answers by path instead of the right ones: status, content type and body; the status 0 closes the connection.
    wrong: dict[str, tuple[int, str, bytes]] = field(default_factory=dict[str, tuple[int, str, bytes]])
    # Requests to these paths wait until the event is set.
    waiting: dict[str, threading.Event] = field(default_factory=dict[str, threading.Event])
    clients: dict[str, str] = field(default_factory=lambda: {CLIENT_ID: CLIENT_SECRET})
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def settings(self, *providers: str) -> dict[str, Any]:
        """Return the settings of these providers, each with credentials."""
        names: dict[str, Any] = {}
        for provider in providers or ("codehost", "websuite", "officesuite"):
            names |= {
                f"{provider}_client_id": CLIENT_ID,
                f"{provider}_client_secret": Secret(CLIENT_SECRET),
                f"{provider}_authorize_url": f"{self.url}/{provider}/authorize",
                f"{provider}_token_url": f"{self.url}/{provider}/token",
                f"{provider}_userinfo_url": f"{self.url}/{provider}/user",
            }
        return names

    def sign_in(self, address: str, account: Account) -> str:
        """Sign an account in at the address of a provider; return the path and query to which it sends the browser."""
        parts = urlsplit(address)
        provider, parameters = parts.path.split("/")[1], dict(parse_qsl(parts.query))
        assert address.startswith(self.url), address
        assert parameters["response_type"] == "code"
        code = f"code-{len(self.codes)}-of-{provider}"
        WATCH.add(code)
        self.codes[code] = _Code(provider, account, parameters)
        back = urlsplit(parameters["redirect_uri"])
        return f"{back.path}?{urlencode({'code': code, 'state': parameters['state']})}"

    def answer(self, request: Request, path: str, authorization: str) -> tuple[int, str, bytes]:
        """Return status, content type and body of an answer."""
        if path in self.waiting:
            self.waiting[path].wait(60)
        with self._lock:
            self.requests.append(request)
            if path in self.wrong:
                return self.wrong[path]
            provider, _, rest = path.removeprefix("/").partition("/")
            if rest == "token":
                return self._token(provider, request.form)
            found = self.tokens.get(authorization.removeprefix("Bearer "))
            if found is None or found[0] != provider:
                return _json({"message": "Bad credentials"}, 401)
            return self._user(provider, rest, found[1])

    def _token(self, provider: str, form: dict[str, str]) -> tuple[int, str, bytes]:
        if self.clients.get(form.get("client_id", "")) != form.get("client_secret"):
            return self._error(provider, "invalid_client")
        if form.get("grant_type") == "refresh_token":
            known = self.refresh_tokens.pop(form["refresh_token"], None)
            return self._issue(provider, known[1]) if known is not None else self._error(provider, "invalid_grant")
        code = self.codes.pop(form.get("code", ""), None)
        if code is None or code.provider != provider or not _is_verified(code, form):
            return self._error(provider, "bad_verification_code" if provider == "codehost" else "invalid_grant")
        return self._issue(provider, code.account, code)

    def _error(self, provider: str, error: str) -> tuple[int, str, bytes]:
        # codehost reports its errors with 200.
        status = 200 if provider == "codehost" else 400
        return _json({"error": error, "error_description": "The text of the provider."}, status)

    def _issue(self, provider: str, account: Account, code: _Code | None = None) -> tuple[int, str, bytes]:
        token, refresh = f"at-{provider}-{len(self.tokens)}", f"rt-{provider}-{len(self.tokens)}"
        WATCH.add(token, refresh)
        self.tokens[token] = (provider, account)
        answer: dict[str, Any] = {"access_token": token, "token_type": "bearer"}
        if self.lifetime_seconds is not None and provider != "codehost":
            answer["expires_in"] = self.lifetime_seconds
        if self.issues_refresh_tokens and provider != "codehost":
            answer["refresh_token"] = refresh
            self.refresh_tokens[refresh] = (provider, account)
        if provider == "codehost":
            return 200, FORM, urlencode({**answer, "scope": "read:user,user:email"}).encode()
        answer["scope"] = "openid email profile"
        if code is not None:
            answer["id_token"] = _unsigned({**_claims(provider, account, code.parameters), **account.claims})
        return _json(answer)

    def _user(self, provider: str, rest: str, account: Account) -> tuple[int, str, bytes]:
        if provider == "codehost" and rest == "user/emails":
            if not account.shows_emails:
                return _json({"message": "Not Found"}, 404)
            other = {"email": "second@example.com", "primary": False, "verified": account.is_verified}
            own = {"email": account.email, "primary": True, "verified": account.is_verified}
            return _json([other, own] if account.email else [])
        if provider == "codehost":
            return _json({"id": account.id, "login": "ada", "email": None})
        claims = _claims(provider, account, {})
        return _json({name: claims[name] for name in ("sub", "email", "email_verified") if name in claims})


def _claims(provider: str, account: Account, parameters: dict[str, str]) -> dict[str, Any]:
    claims: dict[str, Any] = {
        "iss": "https://provider.example",
        "aud": parameters.get("client_id"),
        "sub": str(account.id),
        "exp": FAR_FUTURE,
        "nonce": parameters.get("nonce"),
    }
    if account.email is not None:
        claims["email"] = account.email
    if provider == "websuite":
        claims["email_verified"] = account.is_verified
    else:
        claims |= {"tid": account.tenant, "oid": str(account.id), "xms_edov": account.is_verified}
    return claims


def _is_verified(code: _Code, form: dict[str, str]) -> bool:
    challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
    expected = code.parameters
    return (
        challenge == expected["code_challenge"]
        and form["redirect_uri"] == expected["redirect_uri"]
        and form["client_id"] == expected["client_id"]
    )


def _unsigned(claims: dict[str, Any]) -> str:
    parts = [json.dumps(part).encode() for part in ({"alg": "RS256"}, claims)]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (*parts, b"signature"))


def _json(body: Any, status: int = 200) -> tuple[int, str, bytes]:
    return status, "application/json", json.dumps(body).encode()


@contextmanager
def serving(answer: Callable[[Request, str, str], tuple[int, str, bytes]]) -> Generator[str]:
    """Serve on a free port of this machine; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def log_request(self, code: object = "-", size: object = "-") -> None:
            """Log nothing."""

        def _serve(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            form = dict(parse_qsl(data.decode(), keep_blank_values=True))
            path, query = urlsplit(self.path).path, urlsplit(self.path).query
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, media_type, content = answer(
                Request(path, form, headers, query), path, headers.get("authorization", "")
            )
            if not status:
                return
            with suppress(ConnectionError):
                self.send_response(status)
                self.send_header("Content-Type", media_type)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def running_stand_in() -> Generator[StandIn]:
    """Run the stand-in on a free port."""
    stand_in = StandIn()
    with serving(stand_in.answer) as url:
        stand_in.url = url
        try:
            yield stand_in
        finally:
            for event in stand_in.waiting.values():
                event.set()
