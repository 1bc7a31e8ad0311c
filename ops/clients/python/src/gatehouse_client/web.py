"""What the modules for frameworks share: a request and an answer as values, and what becomes of each request, as steps.

A framework turns its request into a `WebRequest`, takes the steps, and turns the answer into its own.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar
from urllib.parse import urlsplit

from gatehouse_client.callers import Caller
from gatehouse_client.cookies import Cookie
from gatehouse_client.dpop import Proof
from gatehouse_client.errors import (
    GatehouseError,
    ScopeMissing,
    SignInRefused,
    TokenRefused,
    Unreachable,
)
from gatehouse_client.resource import ProtectedResource
from gatehouse_client.sessions import Session
from gatehouse_client.sign_in_steps import SignInSteps
from gatehouse_client.steps import Steps
from gatehouse_client.tokens import Verification

T = TypeVar("T")

RETRY_SECONDS: Final = 5
# The answer is of another sign-in, or of one that is over: a second window, or the "back" of the browser.
_STALE: Final = frozenset({"no_sign_in", "wrong_state", "used"})
_PASSED_ON: Final = ("customer", "login_hint", "prompt", "ui_locales")


@dataclass(frozen=True, slots=True, kw_only=True)
class WebRequest:
    """A request: names of headers are in lower case, `target` is the path with the query."""

    method: str
    target: str
    headers: Mapping[str, str] = field(repr=False)
    cookies: Mapping[str, str] = field(repr=False)
    query: Mapping[str, str] = field(repr=False)

    @property
    def is_navigation(self) -> bool:
        """Whether a browser opens a page, which a redirect may lead elsewhere; no request that changes something is."""
        if self.method not in {"GET", "HEAD"}:
            return False
        mode = self.headers.get("sec-fetch-mode")
        return mode == "navigate" if mode is not None else "text/html" in self.headers.get("accept", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAnswer:
    """An answer in place of the application's; `message` says in words what went wrong."""

    status: int
    message: str = ""
    text: str = ""
    media_type: str = "text/plain; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cookies: Sequence[Cookie] = ()


class Refusal(Exception):
    """What a framework answers instead of going on with the request."""

    def __init__(self, answer: WebAnswer) -> None:
        super().__init__(answer.message)
        self.answer = answer


Condition = Callable[[Caller], bool]


class Protection:
    """The rules of one application: with `sign_in` people sign in there, with `verification` it takes access tokens."""

    def __init__(
        self,
        *,
        sign_in: SignInSteps | None,
        verification: Verification | None,
        resource: str | None,
        scopes: Sequence[str],
    ) -> None:
        self._sign_in = sign_in
        self._verification = verification
        rules = sign_in or verification
        if rules is None:
            raise TypeError("give sign_in, verifier, or both")
        address = resource if resource is not None else self._own_address(sign_in)
        self.resource = ProtectedResource(resource=address, issuer=rules.issuer, scopes=scopes)

    @staticmethod
    def _own_address(sign_in: SignInSteps | None) -> str:
        if sign_in is None:
            raise TypeError("give the public address of the API as resource")
        parts = urlsplit(sign_in.redirect_uri)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def sign_in(self) -> SignInSteps:
        """The sign-in of the application; raise `TypeError` when it has none."""
        if self._sign_in is None:
            raise TypeError("this application was given no sign_in")
        return self._sign_in

    @property
    def paths(self) -> Mapping[str, str]:
        """The paths of the sign-in by their purpose, all beside the path of `redirect_uri`; none without a sign-in."""
        if self._sign_in is None:
            return {}
        callback = urlsplit(self._sign_in.redirect_uri).path or "/"
        folder = callback.rpartition("/")[0]
        names = ("sign-in", "logout", "backchannel-logout")
        return {"callback": callback, **{name: f"{folder}/{name}" for name in names}}

    def session(self, request: WebRequest) -> Steps[Session | None]:
        """Return the session of a request; None when no user is signed in."""
        return self.sign_in.session(request.cookies.get(self.sign_in.session_cookie))

    def signed_in(self, request: WebRequest, condition: Condition | None = None) -> Steps[Caller]:
        """Return who is signed in; raise `Refusal`: to sign in first, or because the condition does not hold."""
        try:
            session = yield from self.session(request)
            if session is None:
                raise Refusal((yield from self._unauthenticated(request)))
        except Unreachable as problem:
            raise Refusal(_away()) from problem
        caller = session.caller
        if condition is not None and not condition(caller):
            raise Refusal(_problem(request, 403, "FORBIDDEN", "You may not do this."))
        return caller

    def bearer(self, request: WebRequest, scopes: Sequence[str]) -> Steps[Caller]:
        """Return who calls with an access token; raise `Refusal` with a challenge."""
        if self._verification is None:
            raise TypeError("this application was given no verifier")
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() not in {"bearer", "dpop"}:
            raise Refusal(self._challenged(request, None))
        header = request.headers.get("dpop", "")
        url = f"{self.resource.origin}{request.target}"
        proof = Proof(header=header, method=request.method, url=url) if scheme.lower() == "dpop" else None
        try:
            return (yield from self._verification.verify(token.strip(" "), scopes, proof))
        except (TokenRefused, ScopeMissing) as refusal:
            raise Refusal(self._challenged(request, refusal)) from refusal
        except Unreachable as problem:
            raise Refusal(_away()) from problem

    def begin(self, request: WebRequest) -> Steps[WebAnswer]:
        """Lead a browser to sign in; also where a tile of Gatehouse leads (`initiate_login_uri`)."""
        if request.query.get("iss", self.sign_in.issuer) != self.sign_in.issuer:
            return _problem(request, 400, "BAD_REQUEST", "This application signs in elsewhere.")
        parameters = {name: request.query[name] for name in _PASSED_ON if name in request.query}
        customer = parameters.pop("customer", None)
        return (yield from self._led_to_sign_in(request.query.get("return_to", "/"), customer, parameters))

    def finish(self, request: WebRequest) -> Steps[WebAnswer]:
        """Sign the browser in that came back, and lead it on."""
        cookie = request.cookies.get(self.sign_in.sign_in_cookie)
        try:
            done = yield from self.sign_in.finish(request.query, cookie)
        except SignInRefused as refusal:
            return (yield from self._refused(request, refusal))
        except Unreachable:
            return _away()
        return _redirect(done.return_to, *done.cookies)

    def _refused(self, request: WebRequest, refusal: SignInRefused) -> Steps[WebAnswer]:
        """Say why the sign-in failed; a browser that is signed in all the same is redirected."""
        try:
            is_signed_in = refusal.error in _STALE and (yield from self.session(request)) is not None
        except Unreachable:
            is_signed_in = False
        return _redirect("/") if is_signed_in else self._not_signed_in(refusal)

    def logout(self, request: WebRequest) -> Steps[WebAnswer]:
        """Sign a browser out, here and at Gatehouse; a form of another site sends no cookie, and changes nothing."""
        cookie = request.cookies.get(self.sign_in.session_cookie)
        if not cookie:
            return _redirect("/")
        try:
            done = yield from self.sign_in.logout(cookie)
        except Unreachable:
            return _away()
        return _redirect(done.url, done.cookie)

    def backchannel_logout(self, form: Mapping[str, str]) -> Steps[WebAnswer]:
        """End the sessions that Gatehouse says have ended."""
        headers = {"Cache-Control": "no-store"}
        try:
            yield from self.sign_in.backchannel_logout(form)
        except TokenRefused:
            text = json.dumps({"error": "invalid_request"})
            return WebAnswer(status=400, text=text, media_type="application/json", headers=headers)
        except Unreachable:
            return _away()
        return WebAnswer(status=200, headers=headers)

    def metadata(self) -> WebAnswer:
        """Return the document of the API as a protected resource."""
        text = json.dumps(self.resource.metadata())
        headers = {"Cache-Control": "public, max-age=300", "Access-Control-Allow-Origin": "*"}
        return WebAnswer(status=200, text=text, media_type="application/json", headers=headers)

    def _unauthenticated(self, request: WebRequest) -> Steps[WebAnswer]:
        if not request.is_navigation:
            return self._challenged(request, None)
        return (yield from self._led_to_sign_in(request.target, None, {}))

    def _led_to_sign_in(self, return_to: str, customer: str | None, parameters: Mapping[str, str]) -> Steps[WebAnswer]:
        try:
            begun = yield from self.sign_in.start(return_to, customer, parameters)
        except Unreachable:
            return _away()
        return _redirect(begun.url, begun.cookie)

    def _challenged(self, request: WebRequest, refusal: GatehouseError | None) -> WebAnswer:
        headers = {"WWW-Authenticate": self.resource.challenge(refusal), "Cache-Control": "no-store"}
        if isinstance(refusal, ScopeMissing):
            return _problem(request, 403, "FORBIDDEN", f"The token lacks {' '.join(refusal.missing)}.", headers)
        return _problem(request, 401, "UNAUTHORIZED", "Sign in first, or send an access token.", headers)

    def _not_signed_in(self, refusal: SignInRefused) -> WebAnswer:
        reason = html.escape(refusal.description or refusal.error)
        text = (
            '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>Not signed in</title><h1>You are not signed in</h1><p>{reason}</p>"
            f'<p><a href="{html.escape(self.paths["sign-in"])}">Sign in again</a></p>'
        )
        headers = {"Cache-Control": "no-store"}
        return WebAnswer(status=400, text=text, media_type="text/html; charset=utf-8", headers=headers)


def has_role(*names: str) -> Condition:
    """Return the condition that a caller has one of these roles in the vendor's own organization."""
    return lambda caller: caller.role is not None and caller.role in names


def has_customer_role(*names: str) -> Condition:
    """Return the condition that a caller has one of these roles in the organization of the customer."""
    return lambda caller: caller.customer_role is not None and caller.customer_role in names


def has_service_role(*names: str) -> Condition:
    """Return the condition that a caller has one of these roles of the product."""
    return lambda caller: not set(names).isdisjoint(caller.service_roles)


def has_feature(name: str) -> Condition:
    """Return the condition that the plan of a caller has a feature."""
    return lambda caller: name in caller.features


def _redirect(url: str, *cookies: Cookie) -> WebAnswer:
    return WebAnswer(status=303, headers={"Location": url, "Cache-Control": "no-store"}, cookies=cookies)


def _away() -> WebAnswer:
    text = "Signing in does not work at the moment. Try again in a few seconds."
    headers = {"Retry-After": str(RETRY_SECONDS), "Cache-Control": "no-store"}
    return WebAnswer(status=503, message=text, text=text, headers=headers)


def _problem(
    request: WebRequest, status: int, error_code: str, message: str, headers: Mapping[str, str] | None = None
) -> WebAnswer:
    if request.is_navigation:
        return WebAnswer(status=status, message=message, text=message, headers=headers or {})
    text = json.dumps({"error": message, "error_code": error_code})
    return WebAnswer(status=status, message=message, text=text, media_type="application/json", headers=headers or {})
