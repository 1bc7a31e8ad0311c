"""The small application of the demo: a relying party that signs people in with Gatehouse, and a receiver of webhooks.

It does what an application of yours would do: the code flow with PKCE, `state` and `nonce`, an ID token whose signature
and claims are checked, and deliveries whose signatures are (Standard Webhooks). Organizations use it as customers, and
the claims say for which of them a person comes. It keeps everything in memory.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections import OrderedDict, deque
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlencode

import httpx
import jwt
from markupsafe import Markup
from quart import Response, redirect, request
from quart_trio import QuartTrio

from core.lazy_dataclasses import dataclass
from entrypoints.demo.frame import page

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as AnyResponse

    from entrypoints.demo.filling import DemoService

COOKIE: Final = "demo_shop"
BROWSERS_MAX: Final = 1_000
DELIVERIES_MAX: Final = 100
BODY_BYTES_MAX: Final = 2**18
SECONDS_MAX: Final = 10.0
# An older delivery may be a repetition by an attacker who has read it.
AGE_SECONDS_MAX: Final = 300
TIME_DIGITS_MAX: Final = 12
KEYS_AT: Final = "/.well-known/jwks.json"
PEOPLE_MAX: Final = 1_000
# What the page shows as one sentence, beside the claims as they are.
ROLES: Final = "service_roles"
# What it sells, if it sold anything.
GOODS: Final = Markup(
    '<ul class="goods"><li>Hammer<b>$24</b><li>Saw<b>$31</b><li>Wrench<b>$18</b><li>Tool box<b>$79</b></ul>'
)
LINKS: Final = Markup('<nav aria-label="Shop"><a href="/">Shop</a> <a href="/webhooks">Webhooks</a></nav>')


@dataclass
class ShopBrowser:
    """A browser: the state of its sign-in, and the claims of the user who has signed in."""

    state: str = ""
    nonce: str = ""
    verifier: str = ""
    id_token: str = ""
    claims: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedDelivery:
    """A delivery whose signature was right."""

    received_at: str
    message_id: str
    event: str
    data: str


class SignInFailed(Exception):
    """The sign-in cannot be completed; the message is for the person."""


class DemoShop:
    """The application; `app` is what a server serves."""

    def __init__(self, service: DemoService, *, gatehouse_url: str, own_url: str, client: httpx.AsyncClient) -> None:
        self._service = service
        self._gatehouse_url = gatehouse_url
        self._own_url = own_url
        self._client = client
        self._browsers: OrderedDict[str, ShopBrowser] = OrderedDict()
        # The names of the customers for which a person has come, by their ids, which never change.
        self._customers_of: OrderedDict[str, dict[str, str]] = OrderedDict()
        self.received: deque[ReceivedDelivery] = deque(maxlen=DELIVERIES_MAX)
        self.app = QuartTrio("demo_shop", static_folder=None)
        self.app.config["MAX_CONTENT_LENGTH"] = BODY_BYTES_MAX
        for path, view, methods in (
            ("/", self._home, ["GET"]),
            ("/sign-in", self._sign_in, ["GET"]),
            ("/callback", self._callback, ["GET"]),
            ("/sign-out", self._sign_out, ["GET"]),
            ("/webhooks", self._show_deliveries, ["GET"]),
            ("/webhooks", self._receive, ["POST"]),
        ):
            self.app.add_url_rule(path, f"{methods[0]} {path}", view, methods=methods)

    async def _home(self) -> Response:
        browser = self._browsers.get(request.cookies.get(COOKIE, ""))
        if browser is None or not browser.claims:
            return page("Acme Shop", self._entrances(), links=LINKS)
        rows = Markup("").join(
            Markup("<tr><th>{}</th><td><code>{}</code></td></tr>").format(name, json.dumps(value))
            for name, value in browser.claims.items()
        )
        text = Markup(
            '<section><p class="welcome">Welcome, {}</p><p>Signed in as <strong>{}</strong>.'
            ' <a href="/sign-out">Sign out</a></p>{}</section>{}'
            "<section><h2>What the ID token says</h2><table>{}</table></section>"
        )
        known = browser.claims.get("email", browser.claims["sub"])
        name = browser.claims.get("name", known)
        return page("Acme Shop", text.format(name, known, self._context(browser.claims), GOODS, rows), links=LINKS)

    def _entrances(self) -> Markup:
        """Return the ways to sign in; a product would have an address for each customer, such as bolt.example.com."""
        ways = Markup("").join(
            Markup('<li><a class="button quiet" href="/sign-in?customer={}">Sign in for {}</a>').format(
                customer_id, name
            )
            for name, customer_id in self._service.customers.items()
        )
        text = Markup(
            "<section><p>Tools that last. Sign in to order them.</p>"
            '<p><a class="button" href="/sign-in">Sign in with Gatehouse</a></p>'
            "<p>Or from the page that the shop has for a customer. It goes straight to how the people of this customer"
            " sign in: at Bolt Logistics its identity provider, at Cord Media a password.</p>"
            '<ul class="ways">{}</ul></section>{}'
        )
        return text.format(ways, GOODS)

    def _context(self, claims: dict[str, Any]) -> Markup:
        """Return the customer that a person is here for, their roles, and the links by which they switch."""
        if "customer_id" not in claims:
            return Markup("<p>You are here for yourself.</p>")
        others = Markup("").join(
            Markup('<li><a href="/sign-in?customer={}">Switch to {}</a>').format(customer_id, name)
            for customer_id, name in self._customers_of.get(claims["sub"], {}).items()
            if customer_id != claims["customer_id"]
        )
        text = Markup(
            "<p>You are here for <strong>{}</strong>, where you are {}. Your roles in the shop: {}.</p>"
            '<ul>{}<li><a href="/sign-in?choose=yes">Choose who you are here for</a></ul>'
        )
        roles = ", ".join(claims[ROLES]) or "none"
        return text.format(claims["customer_name"], claims["customer_role"], roles, others)

    async def _sign_in(self) -> AnyResponse:
        key, browser = (
            secrets.token_urlsafe(32),
            ShopBrowser(
                state=secrets.token_urlsafe(32), nonce=secrets.token_urlsafe(32), verifier=secrets.token_urlsafe(48)
            ),
        )
        self._keep(key, browser)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(browser.verifier.encode()).digest()).rstrip(b"=")
        wanted = {
            "client_id": self._service.client_id,
            "response_type": "code",
            "redirect_uri": f"{self._own_url}/callback",
            "scope": "openid email profile",
            "state": browser.state,
            "nonce": browser.nonce,
            "code_challenge": challenge.decode(),
            "code_challenge_method": "S256",
        }
        # Also what Gatehouse sends when a sign-in begins there: `initiate_login_uri` of the service is this page.
        wanted |= {name: request.args[name] for name in ("customer", "login_hint") if name in request.args}
        if "choose" in request.args:
            wanted["prompt"] = "select_account"
        answer = redirect(f"{self._gatehouse_url}/auth/authorize?{urlencode(wanted)}")
        answer.set_cookie(COOKIE, key, httponly=True, samesite="Lax")
        return answer

    async def _callback(self) -> AnyResponse | Response:
        browser = self._browsers.pop(request.cookies.get(COOKIE, ""), None)
        try:
            state = request.args.get("state", "").encode()
            if browser is None or not hmac.compare_digest(state, browser.state.encode()):
                raise SignInFailed("This sign-in did not begin in this browser.")
            if request.args.get("iss") != self._gatehouse_url:
                raise SignInFailed("This answer is not from Gatehouse.")
            if "error" in request.args:
                raise SignInFailed(request.args.get("error_description", request.args["error"]))
            browser.id_token = await self._id_token(request.args.get("code", ""), browser.verifier)
            browser.claims = await self._claims(browser.id_token, browser.nonce)
        except SignInFailed as failed:
            text = Markup('<p>{}</p><p><a href="/">Back</a></p>').format(failed)
            return page("Not signed in", text, links=LINKS, status=400)
        self._remember_customer(browser.claims)
        # A new id: an attacker may have set the one before in this browser.
        key = secrets.token_urlsafe(32)
        self._keep(key, browser)
        answer = redirect("/")
        answer.set_cookie(COOKIE, key, httponly=True, samesite="Lax")
        return answer

    async def _sign_out(self) -> AnyResponse:
        browser = self._browsers.pop(request.cookies.get(COOKIE, ""), ShopBrowser())
        hint = {"id_token_hint": browser.id_token, "post_logout_redirect_uri": f"{self._own_url}/"}
        return redirect(f"{self._gatehouse_url}/auth/logout?{urlencode(hint)}" if browser.id_token else "/")

    async def _id_token(self, code: str, verifier: str) -> str:
        """Exchange a code for an ID token; raise `SignInFailed`."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": f"{self._own_url}/callback",
            "code_verifier": verifier,
        }
        credentials = (self._service.client_id, self._service.client_secret)
        try:
            answer = await self._client.post(f"{self._gatehouse_url}/auth/token", data=form, auth=credentials)
            return str(answer.json()["id_token"])
        except (httpx.HTTPError, KeyError, TypeError, ValueError):
            raise SignInFailed("Gatehouse did not take the code. Sign in again.") from None

    async def _claims(self, id_token: str, nonce: str) -> dict[str, Any]:
        """Return the claims of an ID token for this application and this sign-in; raise `SignInFailed`."""
        try:
            keys = jwt.PyJWKSet.from_dict((await self._client.get(f"{self._gatehouse_url}{KEYS_AT}")).json())
            claims: dict[str, Any] = jwt.decode(
                id_token,
                keys[jwt.get_unverified_header(id_token)["kid"]],
                algorithms=["RS256"],
                audience=self._service.client_id,
                issuer=self._gatehouse_url,
                options={"require": ["exp", "iat", "sub", "nonce"]},
            )
        except (httpx.HTTPError, jwt.PyJWTError, KeyError, ValueError):
            raise SignInFailed("The ID token is not valid. Sign in again.") from None
        if not hmac.compare_digest(str(claims["nonce"]).encode(), nonce.encode()):
            raise SignInFailed("The ID token belongs to another sign-in. Sign in again.")
        return claims

    async def _show_deliveries(self) -> Response:
        if not self.received:
            nothing = Markup("<section><p>No event since the start. A sign-in to the shop sends one.</p></section>")
            return page("Webhooks", nothing, links=LINKS)
        rows = Markup("").join(
            Markup("<tr><td>{}</td><td>{}</td><td><code>{}</code></td></tr>").format(
                one.received_at, one.event, one.data
            )
            for one in reversed(self.received)
        )
        head = Markup("<tr><th>Received</th><th>Event</th><th>Data</th></tr>")
        text = Markup(
            "<section><p>What came with the right signature, the newest first.</p><table>{}{}</table></section>"
        )
        return page("Webhooks", text.format(head, rows), links=LINKS)

    async def _receive(self) -> Response:
        body = cast("bytes", await request.get_data(as_text=False))
        message_id, sent_at = request.headers.get("webhook-id", ""), request.headers.get("webhook-timestamp", "")
        if not self._is_signed(message_id, sent_at, body, request.headers.get("webhook-signature", "")):
            return Response(b"The signature is wrong.", status=400, content_type="text/plain")
        event = json.loads(body)
        # A delivery may come again: its id is the same then.
        if all(one.message_id != message_id for one in self.received):
            data = json.dumps(event.get("data", event), ensure_ascii=False)
            now = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
            self.received.append(
                ReceivedDelivery(received_at=now, message_id=message_id, event=str(event.get("event")), data=data)
            )
        return Response(b"ok", content_type="text/plain")

    def _is_signed(self, message_id: str, sent_at: str, body: bytes, signatures: str) -> bool:
        if (
            not sent_at.isdecimal()
            or len(sent_at) > TIME_DIGITS_MAX
            or abs(time.time() - int(sent_at)) > AGE_SECONDS_MAX
        ):
            return False
        key = base64.b64decode(self._service.webhook_secret.removeprefix("whsec_"))
        signed = hmac.digest(key, f"{message_id}.{sent_at}.".encode() + body, "sha256")
        expected = b"v1," + base64.b64encode(signed)
        return any(hmac.compare_digest(one.encode(), expected) for one in signatures.split(" "))

    def _remember_customer(self, claims: dict[str, Any]) -> None:
        if "customer_id" in claims:
            self._customers_of.setdefault(claims["sub"], {})[claims["customer_id"]] = claims["customer_name"]
        while len(self._customers_of) > PEOPLE_MAX:
            self._customers_of.popitem(last=False)

    def _keep(self, key: str, browser: ShopBrowser) -> None:
        self._browsers[key] = browser
        while len(self._browsers) > BROWSERS_MAX:
            self._browsers.popitem(last=False)


def client() -> httpx.AsyncClient:
    """Return the client with which the application calls Gatehouse."""
    return httpx.AsyncClient(timeout=SECONDS_MAX, trust_env=False)
