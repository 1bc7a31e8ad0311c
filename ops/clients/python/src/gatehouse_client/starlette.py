"""For Starlette and FastAPI: routes that sign people in, and dependencies that require a person, a role or a token.

    gatehouse = Protection(sign_in=AsyncSignIn(...), verifier=AsyncTokenVerifier(...))
    app.router.routes.extend(gatehouse.routes)

    @app.get("/exports")
    async def exports(caller: Annotated[Caller, Depends(gatehouse.feature("exports"))]): ...

Without FastAPI, a handler awaits the same: `caller = await gatehouse.signed_in(request)`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gatehouse_client import web
from gatehouse_client.callers import Caller
from gatehouse_client.sessions import Session
from gatehouse_client.sign_in import AsyncSignIn
from gatehouse_client.steps import AsyncIO, Steps, run_async
from gatehouse_client.tokens import AsyncTokenVerifier
from gatehouse_client.web import Condition, WebAnswer, WebRequest

# A logout token has one or two thousand.
LOGOUT_BYTES_MAX: Final = 65_536
Dependency = Callable[[Request], Awaitable[Caller]]


class Protection:
    """Protects the handlers of one application.

    `resource` is the public address of its API, by default the application's; `scopes` are the ones that it knows.
    """

    def __init__(
        self,
        *,
        sign_in: AsyncSignIn | None = None,
        verifier: AsyncTokenVerifier | None = None,
        resource: str | None = None,
        scopes: Sequence[str] = (),
    ) -> None:
        self._rules = web.Protection(
            sign_in=sign_in.steps if sign_in is not None else None,
            verification=verifier.steps if verifier is not None else None,
            resource=resource,
            scopes=scopes,
        )
        self._sign_in_io = sign_in.io if sign_in is not None else None
        self._verifier_io = verifier.io if verifier is not None else None

    @property
    def routes(self) -> list[Route]:
        """The routes of the sign-in, beside the path of `redirect_uri`, and the document of the API (RFC 9728)."""
        paths = self._rules.paths
        handlers: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
            ("sign-in", "GET", self._begin),
            ("callback", "GET", self._finish),
            ("logout", "POST", self._logout),
            ("backchannel-logout", "POST", self._backchannel_logout),
        ]
        found = [Route(paths[name], handler, methods=[method]) for name, method, handler in handlers if name in paths]
        return [*found, Route(self._rules.resource.metadata_path, self._metadata, methods=["GET"])]

    async def signed_in(self, request: Request) -> Caller:
        """Return who is signed in; a browser is led to sign in and comes back, other requests get 401."""
        return await self._signed_in(request, None)

    def role(self, *names: str) -> Dependency:
        """Return a dependency that is the signed-in person, with one of these roles in your own organization.

        Others get 403. A person who came for a customer has none, whatever they are there.
        """
        return self._requiring(web.has_role(*names))

    def customer_role(self, *names: str) -> Dependency:
        """Return a dependency that is the signed-in person, who came for a customer and has one of these roles there.

        Others get 403.
        """
        return self._requiring(web.has_customer_role(*names))

    def service_role(self, *names: str) -> Dependency:
        """Return a dependency that is the signed-in person, with one of these roles of the product; others get 403."""
        return self._requiring(web.has_service_role(*names))

    def feature(self, name: str) -> Dependency:
        """Return a dependency that is the signed-in person, whose plan has this feature; others get 403."""
        return self._requiring(web.has_feature(name))

    def bearer(self, *scopes: str) -> Dependency:
        """Return a dependency that is the caller of an access token with these scopes; others get 401 or 403."""

        async def dependency(request: Request) -> Caller:
            steps = self._rules.bearer(_web_request(request), scopes)
            return await self._caller(steps, self._verifier_io or self._sign_in_io)

        return dependency

    async def session(self, request: Request) -> Session | None:
        """Return the session of the browser, with a live access token; None when no user is signed in."""
        return await run_async(self._rules.session(_web_request(request)), self._io)

    @property
    def _io(self) -> AsyncIO:
        if self._sign_in_io is None:
            raise TypeError("this application was given no sign_in")
        return self._sign_in_io

    def _requiring(self, condition: Condition) -> Dependency:
        async def dependency(request: Request) -> Caller:
            return await self._signed_in(request, condition)

        return dependency

    async def _signed_in(self, request: Request, condition: Condition | None) -> Caller:
        return await self._caller(self._rules.signed_in(_web_request(request), condition), self._io)

    async def _caller(self, steps: Steps[Caller], io: AsyncIO | None) -> Caller:
        assert io is not None, "there is a sign-in or a verifier"
        try:
            return await run_async(steps, io)
        except web.Refusal as refusal:
            answer = refusal.answer
            # A refusal sets one cookie at most, for a sign-in that begins.
            headers = dict(answer.headers) | ({"Set-Cookie": answer.cookies[0].header} if answer.cookies else {})
            raise HTTPException(answer.status, answer.message or None, headers) from refusal

    async def _begin(self, request: Request) -> Response:
        return await self._answered(self._rules.begin(_web_request(request)))

    async def _finish(self, request: Request) -> Response:
        return await self._answered(self._rules.finish(_web_request(request)))

    async def _logout(self, request: Request) -> Response:
        return await self._answered(self._rules.logout(_web_request(request)))

    async def _backchannel_logout(self, request: Request) -> Response:
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > LOGOUT_BYTES_MAX:
                return Response(status_code=413)
        form = dict(parse_qsl(body.decode(errors="replace")))
        return await self._answered(self._rules.backchannel_logout(form))

    async def _metadata(self, _request: Request) -> Response:
        return _response(self._rules.metadata())

    async def _answered(self, steps: Steps[WebAnswer]) -> Response:
        return _response(await run_async(steps, self._io))


def _web_request(request: Request) -> WebRequest:
    # Not by the header Host, which has a part in `request.url`.
    path = quote(request.scope["path"], safe="/:@!$&'()*+,;=~")
    query = request.scope["query_string"].decode(errors="replace")
    return WebRequest(
        method=request.method,
        target=path + (f"?{query}" if query else ""),
        headers=dict(request.headers),
        cookies=request.cookies,
        query=dict[str, Any](request.query_params),
    )


def _response(answer: WebAnswer) -> Response:
    response = Response(answer.text, answer.status, dict(answer.headers), answer.media_type)
    for cookie in answer.cookies:
        response.headers.append("Set-Cookie", cookie.header)
    return response
