"""For Django: URLs that sign people in, and decorators that require a person, a role or a token.

    GATEHOUSE = {"issuer": "https://id.example.com", "client_id": "…", "client_secret": "…",    # in the settings
                 "redirect_uri": "https://shop.example/session/callback"}

    urlpatterns = [*gatehouse_client.django.urls(), ...]

    @feature("exports")
    def exports(request): return HttpResponse(f"Exports of {request.caller.email}")

The caller is `request.caller`, or `caller_of(request)` for type checkers. The check of an async view runs in a thread.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from inspect import iscoroutinefunction
from typing import Any, Final, cast

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.cache import BaseCache, caches
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from gatehouse_client import web
from gatehouse_client.callers import Caller
from gatehouse_client.sessions import Session
from gatehouse_client.sign_in import SignIn
from gatehouse_client.sign_in_steps import SESSION_SECONDS
from gatehouse_client.steps import BlockingIO, Steps, run
from gatehouse_client.tokens import TokenVerifier
from gatehouse_client.web import Condition, WebAnswer, WebRequest

PREFIX: Final = "gatehouse-client"
# What `GATEHOUSE` may have beside what `SignIn` takes.
_OF_TOKENS: Final = ("audience", "scopes_of_api", "resource_address", "cache")
View = Callable[..., Any]


class CacheSessions:
    """Sessions in a cache of Django, which has to be shared by all processes and to have room for them.

    A cache has no list of the sessions of a person, and may forget what it likes. So a session counts while two marks
    beside it are there, of its `sid` and of the person: what is ended or forgotten signs out, and never in.
    """

    def __init__(self, cache_: BaseCache) -> None:
        self._cache = cache_

    def get(self, session_id: str) -> Session | None:
        """Return a session; None when there is none, or it has ended."""
        kept = self._cache.get(f"{PREFIX}:session:{session_id}")
        if kept is None:
            return None
        session, marks = Session.from_json(kept["session"]), kept["marks"]
        return session if self._cache.get_many(list(marks)) == marks else None

    def put(self, session: Session) -> None:
        """Keep a session, in place of the one with its id."""
        names = (_mark_of("sid", session.sid), _mark_of("sub", session.sub))
        marks = {name: self._cache.get_or_set(name, lambda: secrets.token_hex(8), SESSION_SECONDS) for name in names}
        for name in names:
            self._cache.touch(name, SESSION_SECONDS)
        kept = {"session": session.to_json(), "marks": marks}
        self._cache.set(f"{PREFIX}:session:{session.id}", kept, SESSION_SECONDS)

    def delete(self, session_id: str) -> None:
        """Remove a session, if there is one."""
        self._cache.delete(f"{PREFIX}:session:{session_id}")

    def delete_by(self, *, sid: str | None, sub: str | None) -> None:
        """End the session with that `sid`; without one, all sessions of the person `sub` that have begun."""
        self._cache.delete(_mark_of("sid", sid) if sid is not None else _mark_of("sub", str(sub)))


@dataclass(frozen=True, slots=True)
class _Application:
    """The protection of this project, as its settings say."""

    rules: web.Protection
    sign_in: BlockingIO
    verifier: BlockingIO


def urls() -> list[URLPattern]:
    """Return the URLs of the sign-in, beside the path of `redirect_uri`, and of the document of the API (RFC 9728)."""
    rules = _application().rules
    views: list[tuple[str, str, Callable[[HttpRequest], HttpResponse]]] = [
        ("sign-in", "GET", lambda request: _answered(rules.begin(_web_request(request)))),
        ("callback", "GET", lambda request: _answered(rules.finish(_web_request(request)))),
        ("logout", "POST", lambda request: _answered(rules.logout(_web_request(request)))),
        ("backchannel-logout", "POST", lambda request: _answered(rules.backchannel_logout(request.POST.dict()))),
    ]
    # A form of another site sends no cookie of ours (SameSite), and Gatehouse has no token of Django.
    found = [
        path(rules.paths[name].lstrip("/"), csrf_exempt(require_http_methods([method])(view)))
        for name, method, view in views
    ]

    def metadata(_request: HttpRequest) -> HttpResponse:
        return _response(rules.metadata())

    return [*found, path(rules.resource.metadata_path.lstrip("/"), metadata)]


def signed_in(view: View) -> View:
    """Require a signed-in person; a browser is led to sign in and comes back, other requests get 401."""
    return _requiring(None)(view)


def role(*names: str) -> Callable[[View], View]:
    """Require a signed-in person with one of these roles in your own organization; others get 403.

    A person who came for a customer has none, whatever they are there.
    """
    return _requiring(web.has_role(*names))


def customer_role(*names: str) -> Callable[[View], View]:
    """Require a signed-in person who came for a customer and has one of these roles there; others get 403."""
    return _requiring(web.has_customer_role(*names))


def service_role(*names: str) -> Callable[[View], View]:
    """Require a signed-in person with one of these roles of the product; others get 403."""
    return _requiring(web.has_service_role(*names))


def feature(name: str) -> Callable[[View], View]:
    """Require a signed-in person whose plan has this feature; others get 403."""
    return _requiring(web.has_feature(name))


def bearer(*scopes: str) -> Callable[[View], View]:
    """Require an access token with these scopes; others get 401 or 403."""

    def check(request: HttpRequest) -> Caller:
        application = _application()
        return run(application.rules.bearer(_web_request(request), scopes), application.verifier)

    # A program that sends a token sends no token of Django's forms.
    return lambda view: csrf_exempt(_guarded(check)(view))


def caller_of(request: HttpRequest) -> Caller:
    """Return the caller that the decorator of the view has required."""
    return cast("Any", request).caller


def session(request: HttpRequest) -> Session | None:
    """Return the session of the browser, with a live access token; None when no user is signed in."""
    application = _application()
    return run(application.rules.session(_web_request(request)), application.sign_in)


@cache
def _application() -> _Application:
    given = cast("dict[str, Any]", settings.GATEHOUSE)
    own = {name: value for name, value in given.items() if name not in _OF_TOKENS}
    own.setdefault("cookie_secret", settings.SECRET_KEY)
    own.setdefault("sessions", CacheSessions(caches[given.get("cache", "default")]))
    sign_in = SignIn(own.pop("issuer"), **own)
    clock: Callable[[], float] = given.get("clock", time.time)
    verifier = TokenVerifier(given["issuer"], audience=given.get("audience", given["client_id"]), clock=clock)
    rules = web.Protection(
        sign_in=sign_in.steps,
        verification=verifier.steps,
        resource=given.get("resource_address"),
        scopes=cast("Sequence[str]", given.get("scopes_of_api", ())),
    )
    return _Application(rules, sign_in.io, verifier.io)


def forget_settings() -> None:
    """Read `GATEHOUSE` anew when it is needed next, and close the connections: for tests that change it."""
    if _application.cache_info().currsize:
        _application().sign_in.close()
        _application().verifier.close()
    _application.cache_clear()


def _requiring(condition: Condition | None) -> Callable[[View], View]:
    def check(request: HttpRequest) -> Caller:
        application = _application()
        return run(application.rules.signed_in(_web_request(request), condition), application.sign_in)

    return _guarded(check)


def _guarded(check: Callable[[HttpRequest], Caller]) -> Callable[[View], View]:
    def decorate(view: View) -> View:
        if iscoroutinefunction(view):

            @wraps(view)
            async def guarded_async(request: HttpRequest, *arguments: Any, **keywords: Any) -> Any:
                try:
                    cast("Any", request).caller = await sync_to_async(check)(request)
                except web.Refusal as refusal:
                    return _response(refusal.answer)
                return await view(request, *arguments, **keywords)

            return guarded_async

        @wraps(view)
        def guarded(request: HttpRequest, *arguments: Any, **keywords: Any) -> Any:
            try:
                cast("Any", request).caller = check(request)
            except web.Refusal as refusal:
                return _response(refusal.answer)
            return view(request, *arguments, **keywords)

        return guarded

    return decorate


def _answered(steps: Steps[WebAnswer]) -> HttpResponse:
    return _response(run(steps, _application().sign_in))


def _web_request(request: HttpRequest) -> WebRequest:
    return WebRequest(
        method=request.method or "",
        target=request.get_full_path(),
        headers={name.lower(): value for name, value in request.headers.items()},
        cookies=request.COOKIES,
        query=request.GET.dict(),
    )


def _response(answer: WebAnswer) -> HttpResponse:
    response = HttpResponse(answer.text, status=answer.status, content_type=answer.media_type)
    for name, value in answer.headers.items():
        response[name] = value
    for cookie in answer.cookies:
        response.cookies.load(cookie.header)
    return response


def _mark_of(kind: str, value: str) -> str:
    # A cache takes no key of any characters.
    return f"{PREFIX}:mark:{kind}:{hashlib.sha256(value.encode()).hexdigest()}"
