"""For Flask: an extension whose routes sign people in, and decorators that require a person, a role or a token.

    gatehouse = Protection(app, sign_in=SignIn(...), verifier=TokenVerifier(...))

    @app.get("/exports")
    @gatehouse.feature("exports")
    def exports(): return f"Exports of {g.caller.email}"

The caller is `g.caller`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import ParamSpec, TypeVar
from urllib.parse import parse_qsl, quote

from flask import Flask, Response, g, make_response, request
from flask.typing import ResponseReturnValue

from gatehouse_client import web
from gatehouse_client.callers import Caller
from gatehouse_client.sessions import Session
from gatehouse_client.sign_in import SignIn
from gatehouse_client.steps import BlockingIO, Steps, run
from gatehouse_client.tokens import TokenVerifier
from gatehouse_client.web import Condition, WebAnswer, WebRequest

P = ParamSpec("P")
R = TypeVar("R", bound=ResponseReturnValue)
View = Callable[P, ResponseReturnValue]


class Protection:
    """Protects the views of one application.

    `resource` is the public address of its API, by default the application's; `scopes` are the ones that it knows.
    """

    def __init__(
        self,
        app: Flask | None = None,
        *,
        sign_in: SignIn | None = None,
        verifier: TokenVerifier | None = None,
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
        if app is not None:
            self.init_app(app)

    def init_app(self, app: Flask) -> None:
        """Add the routes of the sign-in, beside the path of `redirect_uri`, and the document of the API (RFC 9728)."""
        views: list[tuple[str, str, Callable[[], Response]]] = [
            ("sign-in", "GET", lambda: self._answered(self._rules.begin(_web_request()))),
            ("callback", "GET", lambda: self._answered(self._rules.finish(_web_request()))),
            ("logout", "POST", lambda: self._answered(self._rules.logout(_web_request()))),
            ("backchannel-logout", "POST", self._backchannel_logout),
        ]
        for name, method, view in views:
            if name in self._rules.paths:
                app.add_url_rule(self._rules.paths[name], f"gatehouse {name}", view, methods=[method])
        path = self._rules.resource.metadata_path
        app.add_url_rule(path, "gatehouse metadata", lambda: _response(self._rules.metadata()), methods=["GET"])

    def signed_in(self, view: Callable[P, R]) -> View[P]:
        """Require a signed-in person; a browser is led to sign in and comes back, other requests get 401."""
        return self._requiring(None)(view)

    def role(self, *names: str) -> Callable[[Callable[P, R]], View[P]]:
        """Require a signed-in person with one of these roles in your own organization; others get 403.

        A person who came for a customer has none, whatever they are there.
        """
        return self._requiring(web.has_role(*names))

    def customer_role(self, *names: str) -> Callable[[Callable[P, R]], View[P]]:
        """Require a signed-in person who came for a customer and has one of these roles there; others get 403."""
        return self._requiring(web.has_customer_role(*names))

    def service_role(self, *names: str) -> Callable[[Callable[P, R]], View[P]]:
        """Require a signed-in person with one of these roles of the product; others get 403."""
        return self._requiring(web.has_service_role(*names))

    def feature(self, name: str) -> Callable[[Callable[P, R]], View[P]]:
        """Require a signed-in person whose plan has this feature; others get 403."""
        return self._requiring(web.has_feature(name))

    def bearer(self, *scopes: str) -> Callable[[Callable[P, R]], View[P]]:
        """Require an access token with these scopes; others get 401 or 403."""
        return self._guarded(lambda: self._rules.bearer(_web_request(), scopes), self._verifier_io)

    def session(self) -> Session | None:
        """Return the session of the browser, with a live access token; None when no user is signed in."""
        return run(self._rules.session(_web_request()), self._io)

    @property
    def _io(self) -> BlockingIO:
        if self._sign_in_io is None:
            raise TypeError("this application was given no sign_in")
        return self._sign_in_io

    def _requiring(self, condition: Condition | None) -> Callable[[Callable[P, R]], View[P]]:
        return self._guarded(lambda: self._rules.signed_in(_web_request(), condition), self._sign_in_io)

    def _guarded(
        self, steps: Callable[[], Steps[Caller]], io: BlockingIO | None
    ) -> Callable[[Callable[P, R]], View[P]]:
        if io is None:
            raise TypeError("this application was given no sign_in, or no verifier")

        def decorate(view: Callable[P, R]) -> View[P]:
            @wraps(view)
            def guarded(*arguments: P.args, **keywords: P.kwargs) -> ResponseReturnValue:
                try:
                    g.caller = run(steps(), io)
                except web.Refusal as refusal:
                    return _response(refusal.answer)
                return view(*arguments, **keywords)

            return guarded

        return decorate

    def _backchannel_logout(self) -> Response:
        return self._answered(self._rules.backchannel_logout(request.form.to_dict()))

    def _answered(self, steps: Steps[WebAnswer]) -> Response:
        return _response(run(steps, self._io))


def _web_request() -> WebRequest:
    query = request.query_string.decode(errors="replace")
    return WebRequest(
        method=request.method,
        # Flask has decoded the path; a decoded question mark would begin a query.
        target=quote(request.path, safe="/:@!$&'()*+,;=~") + (f"?{query}" if query else ""),
        headers={name.lower(): value for name, value in request.headers},
        cookies=request.cookies,
        query=dict(parse_qsl(query, keep_blank_values=True)),
    )


def _response(answer: WebAnswer) -> Response:
    response = make_response(answer.text, answer.status, dict(answer.headers))
    response.headers["Content-Type"] = answer.media_type
    for cookie in answer.cookies:
        response.headers.add("Set-Cookie", cookie.header)
    return response
