"""One application in each framework: pages for people, for each kind of role and a feature, and an API with scopes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Annotated, Any

import django
import httpx
from django.conf import settings
from django.core.cache import cache
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, HttpResponse
from django.test.utils import override_settings
from django.urls import path
from fastapi import Depends, FastAPI
from fastapi.responses import PlainTextResponse
from flask import Flask, g
from issuer import CLIENT_ID, SECRET, Issuer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from test_sign_in import CALLBACK, COOKIE_SECRET

import gatehouse_client.django as for_django
import gatehouse_client.flask as for_flask
import gatehouse_client.starlette as for_starlette
from gatehouse_client import AsyncSignIn, AsyncTokenVerifier, Caller, SignIn, TokenVerifier

HOME = "https://shop.example"
SCOPES = ["read:things"]


@dataclass
class Answer:
    """What an application answered."""

    status: int
    headers: Mapping[str, str]
    text: str
    cookies: list[str]


@dataclass
class Application:
    """How a request reaches an application: method, target, headers and body."""

    send: Callable[[str, str, dict[str, str], bytes], Answer]
    close: Callable[[], object]


def requirements(gatehouse: Any) -> dict[str, Any]:
    """Return what each path requires, in the form of the framework."""
    return {
        "/me": gatehouse.signed_in,
        "/admin": gatehouse.role("owner", "admin"),
        "/team": gatehouse.customer_role("owner", "admin"),
        "/reports": gatehouse.service_role("editor"),
        "/exports": gatehouse.feature("exports"),
        "/things": gatehouse.bearer("read:things"),
        "/write": gatehouse.bearer("read:things", "write:things"),
    }


def options(issuer: Issuer) -> dict[str, Any]:
    """Return the options of a sign-in."""
    return {
        "client_id": CLIENT_ID,
        "client_secret": SECRET,
        "redirect_uri": CALLBACK,
        "cookie_secret": COOKIE_SECRET,
        "clock": issuer.clock,
    }


def in_starlette(issuer: Issuer) -> Application:
    """Return an application of Starlette, whose handlers await what they require."""

    def page(require: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def handler(request: Request) -> Response:
            return PlainTextResponse((await require(request)).email)

        return handler

    def make(gatehouse: for_starlette.Protection) -> Any:
        pages = [
            Route(one, page(required), methods=["GET", "POST"]) for one, required in requirements(gatehouse).items()
        ]
        return Starlette(routes=[*gatehouse.routes, *pages])

    return by_asgi(issuer, make)


def in_fastapi(issuer: Issuer) -> Application:
    """Return an application of FastAPI, whose handlers depend on what they require."""

    def page(require: Callable[[Request], Any]) -> Callable[..., Any]:
        async def handler(caller: Annotated[Caller, Depends(require)]) -> str:
            return caller.email or ""

        # The annotation names a local variable, so it is put in its place here.
        handler.__annotations__["caller"] = Annotated[Caller, Depends(require)]
        return handler

    def make(gatehouse: for_starlette.Protection) -> Any:
        app = FastAPI()
        app.router.routes.extend(gatehouse.routes)
        for one, required in requirements(gatehouse).items():
            app.add_api_route(one, page(required), methods=["GET", "POST"], response_class=PlainTextResponse)
        return app

    return by_asgi(issuer, make)


def by_asgi(issuer: Issuer, make: Callable[[for_starlette.Protection], Any]) -> Application:
    """Return an application of ASGI, on an event loop of its own."""
    loop = asyncio.new_event_loop()
    sign_in = AsyncSignIn(issuer.url, **options(issuer))
    verifier = AsyncTokenVerifier(issuer.url, audience=CLIENT_ID, clock=issuer.clock)
    app = make(for_starlette.Protection(sign_in=sign_in, verifier=verifier, scopes=SCOPES))
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=HOME)

    def send(method: str, target: str, headers: dict[str, str], body: bytes) -> Answer:
        client.cookies.clear()
        return answer_of(loop.run_until_complete(client.request(method, target, headers=headers, content=body)))

    def close() -> None:
        for one in (client, sign_in, verifier):
            loop.run_until_complete(one.aclose())
        loop.close()

    return Application(send, close)


def in_flask(issuer: Issuer) -> Application:
    """Return an application of Flask."""
    app = Flask("shop")
    sign_in = SignIn(issuer.url, **options(issuer))
    verifier = TokenVerifier(issuer.url, audience=CLIENT_ID, clock=issuer.clock)
    gatehouse = for_flask.Protection(app, sign_in=sign_in, verifier=verifier, scopes=SCOPES)
    for one, decorate in requirements(gatehouse).items():
        app.add_url_rule(one, one, decorate(lambda: g.caller.email), methods=["GET", "POST"])

    def close() -> None:
        sign_in.close()
        verifier.close()

    return by_wsgi(app, close)


def in_django(issuer: Issuer) -> Application:
    """Return a project of Django, with the settings of this issuer until it is closed."""
    if not settings.configured:
        settings.configure(SECRET_KEY=COOKIE_SECRET, ALLOWED_HOSTS=["*"])
        django.setup()
    given = {"issuer": issuer.url, "scopes_of_api": SCOPES, **options(issuer)}
    # Without one, the secret of the project signs.
    del given["cookie_secret"]
    for_django.forget_settings()
    override = override_settings(GATEHOUSE=given)
    override.enable()

    def page(decorate: Any) -> Any:
        @decorate
        def view(request: HttpRequest) -> HttpResponse:
            return HttpResponse(for_django.caller_of(request).email)

        return view

    pages = [path(one.lstrip("/"), page(required)) for one, required in requirements(for_django).items()]
    module = ModuleType("urls_of_the_test")
    vars(module)["urlpatterns"] = [*for_django.urls(), *pages]
    urls = override_settings(ROOT_URLCONF=module)
    urls.enable()

    def close() -> None:
        for_django.forget_settings()
        urls.disable()
        override.disable()
        cache.clear()

    return by_wsgi(WSGIHandler(), close)


def by_wsgi(app: Any, close: Callable[[], object]) -> Application:
    """Return an application of WSGI."""
    client = httpx.Client(transport=httpx.WSGITransport(app=app), base_url=HOME)

    def send(method: str, target: str, headers: dict[str, str], body: bytes) -> Answer:
        client.cookies.clear()
        return answer_of(client.request(method, target, headers=headers, content=body))

    return Application(send, close)


def answer_of(response: httpx.Response) -> Answer:
    """Return an answer of httpx."""
    return Answer(response.status_code, response.headers, response.text, response.headers.get_list("set-cookie"))


APPLICATIONS = {"starlette": in_starlette, "fastapi": in_fastapi, "flask": in_flask, "django": in_django}
