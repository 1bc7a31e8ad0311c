"""Every way in to a service with customers, for a person of an organization that enforces its connection or not.

Each way ends signed in, at a question, or at a refusal whose next step succeeds: no refusals lead to each other. Acme
is a customer of the service or not, and Ada is a member of it. What Acme enforces holds where she comes for Acme, and
nowhere else at the service.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import product
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

import pytest

from core.openid import device as device_codes
from core.sign_in.customer_choices import AS_INDIVIDUAL
from tests.application import Answer
from tests.authenticators import Authenticator
from tests.service_provider import posted_form
from tests.upstream_provider import Account, StandIn
from tests.world.authorization import address_of, led_back
from tests.world.builder import PASSWORD, Service
from tests.world.openid_acme import Acme
from tests.world.passkeys import Keyring
from tests.world.relying_party import PKCE, REDIRECT_URI, RelyingParty, insert_relying_party
from tests.world.saml import SamlService, SamlWorld
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor, forms_of

ADA: Final = "ada@acme.example"
AT_SHOP: Final = {"org_slug": "vendor", "service_slug": "shop"}
STEPS_MAX: Final = 16
BOTH: Final = (False, True)


@dataclass
class Walk:
    """Ada, with a password, a passkey, an account at a provider of the platform, and one at Acme's provider."""

    acme: Acme
    shop: RelyingParty
    saml_shop: SamlService
    stand_in: StandIn
    keyring: Keyring
    authenticator: Authenticator

    @property
    def client_of_shop(self) -> Service:
        """The service as the builder knows it."""
        return Service(id=self.shop.service_id, client_id=self.shop.client_id)

    def browser(self) -> Visitor:
        """Return a browser without any session."""
        return Visitor(self.acme.world.client)

    def path(self, start: str, **named: str) -> str:
        """Return the address at which the service begins a sign-in by a provider or a connection."""
        given = {"org": "vendor", "service": "shop", "redirect_uri": REDIRECT_URI, **PKCE, **named}
        return f"{start}?{urlencode(given)}"

    async def go(self, browser: Visitor, answer: Answer, by: Step | None = None) -> Answer:
        """Go where answers lead, agree to what is asked, and sign in by a way; return what leads back to the service.

        Where that is refused, take the step that the page names. The connection may ask for the account once, to link
        the two, and the service once more where the session by it does not go on there.
        """
        ways = iter((by or by_password, by_password, by_password))
        for _ in range(STEPS_MAX):
            location = answer.headers.get("Location") or answer.headers.get("Refresh", "").partition("; url=")[2]
            if location.startswith(REDIRECT_URI):
                return answer
            if location:
                answer = await browser.send("GET", self.through_provider(location))
                continue
            actions = [form.action for form in forms_of(answer)]
            if "SAMLResponse" in answer.text:
                return answer
            if "/auth/authorize/allow" in actions:
                answer = await browser.submit(answer, "/auth/authorize/allow", is_followed=False)
            elif f"{self.saml_shop.path}/authenticate/customer" in actions:
                action = f"{self.saml_shop.path}/authenticate/customer"
                answer = await browser.submit(answer, action, is_followed=False)
            elif "/auth/device/approve" in actions or "/auth/device/approve" in answer.text:
                return answer
            elif answer.status == 403:
                answer = await self.next_step(browser, answer)
            elif "/app/sign-in" in actions:
                way = next(ways, None)
                assert way is not None, "the sign-in page came again and again"
                answer = await way(self, browser, answer)
            else:
                raise AssertionError((answer.status, answer.text))
        raise AssertionError("the browser was led in a circle")

    async def next_step(self, browser: Visitor, refused: Answer) -> Answer:
        """Take the step that the page of a refusal names: the connection on it, or the sign-in page that offers it."""
        if "/auth/upstream?" not in refused.text:
            page = await browser.follow(refused, "/app/sign-in")
            refused = await browser.submit(page, "/app/sign-in", email=ADA)
        return await browser.send("GET", _connection_on(refused))

    def through_provider(self, location: str) -> str:
        """Return the address that follows a redirect: back from a provider, where Ada signs in."""
        if location.startswith(self.acme.provider.url):
            self.acme.provider.claims = {"sub": "ada", "email": ADA, "email_verified": True}
            location = self.acme.provider.sign_in(location)
        elif not location.startswith(("/", "http://localhost:8000")):
            location = self.stand_in.sign_in(location, Account(email=ADA))
        return location.removeprefix("http://localhost:8000")

    async def claims(self, led: Answer) -> dict[str, Any]:
        """Return the claims of the tokens for the code that an answer takes to the service."""
        back = led_back(led)
        assert "code" in back, back
        return claims_of((await self.shop.redeem(back["code"])).json["access_token"])

    async def post(self, path: str, body: Any) -> Answer:
        """Send a request of a program."""
        world = self.acme.world
        return await world.client.post(path, body=body, address=next(world.addresses))

    async def settled(self, answer: Answer, named: str | None) -> dict[str, Any]:
        """Choose the customer where JSON asks, and go by the connection where it is required; return the claims."""
        connection_id: str | None = None
        if answer.status == 409:
            assert answer.json["error_code"] == "CUSTOMER_REQUIRED", answer.text
            [offered] = answer.json["customers"]
            connection_id = offered["connection_id"]
            body = {"customer_token": answer.json["customer_token"], "customer": offered["id"]}
            answer = await self.post("/api/auth/customer", body)
        if answer.status == 200:
            return claims_of(answer.json["access_token"])
        assert (answer.status, answer.json["error_code"]) == (403, "SSO_REQUIRED"), answer.text
        found = (await self.post("/api/auth/lookup-email", {"email": ADA, **AT_SHOP})).json
        assert found["sso_required"]
        assert connection_id in {None, found["connection_id"]}
        query = {"connection_id": found["connection_id"]} | ({} if named is None else {"customer": named})
        browser = self.browser()
        return await self.claims(
            await self.go(browser, await browser.send("GET", self.path("/auth/upstream", **query)))
        )


Step = Callable[[Walk, Visitor, Answer], Awaitable[Answer]]
Way = Callable[[Walk, str | None], Awaitable[dict[str, Any]]]


def _connection_on(page: Answer) -> str:
    links = [part.split('"')[0].replace("&amp;", "&") for part in page.text.split('href="')]
    return next(link for link in links if link.startswith("/auth/upstream?"))


def _named(named: str | None) -> dict[str, str]:
    return {} if named is None else {"customer": named}


async def by_password(walk: Walk, browser: Visitor, page: Answer) -> Answer:
    """Type the address and the password."""
    methods = await browser.submit(page, "/app/sign-in", email=ADA)
    return await browser.submit(methods, "/app/sign-in/password", {"password": PASSWORD}, is_followed=False)


async def by_passkey(walk: Walk, browser: Visitor, page: Answer) -> Answer:
    """Type the address, and use the passkey."""
    methods = await browser.submit(page, "/app/sign-in", email=ADA)
    challenge = await walk.keyring.started(ADA)
    signed = {
        "challenge_id": challenge["challenge_id"],
        "credential": json.dumps(walk.authenticator.get(challenge["options"])),
    }
    return await browser.submit(methods, "/app/sign-in/passkey", signed, is_followed=False)


async def by_link(walk: Walk, browser: Visitor, page: Answer) -> Answer:
    """Have a link mailed, and open it in this browser."""
    world = walk.acme.world
    await world.mails()
    await browser.submit(await browser.submit(page, "/app/sign-in", email=ADA), "/app/sign-in/link")
    shown = await browser.open(f"/auth/magic-link?token={(await world.mail()).values['token']}")
    return await browser.submit(shown, "/auth/magic-link", is_followed=False)


async def by_reset(walk: Walk, browser: Visitor, page: Answer) -> Answer:
    """Choose a new password by a mailed link, and go on to the sign-in from there."""
    world = walk.acme.world
    await world.mails()
    form = await browser.follow(page, "/app/forgot-password") if "/app/forgot-password" in page.text else None
    if form is None:
        methods = await browser.submit(page, "/app/sign-in", email=ADA)
        form = await browser.follow(methods, "/app/forgot-password")
    await browser.submit(form, "/app/forgot-password", email=ADA)
    reset = await browser.open(f"/auth/reset-password?token={(await world.mail()).values['token']}")
    done = await browser.submit(reset, "/auth/reset-password", new_password=PASSWORD, repeated=PASSWORD)
    if done.status == 403:
        return done
    return await by_password(walk, browser, await browser.follow(done, "/app/sign-in"))


def _on_the_page(step: Step) -> Way:
    async def way(walk: Walk, named: str | None) -> dict[str, Any]:
        browser = walk.browser()
        answer = await browser.send("GET", address_of(walk.shop) + _query(named))
        return await walk.claims(await walk.go(browser, answer, step))

    return way


def _query(named: str | None) -> str:
    return f"&{urlencode(_named(named))}" if named is not None else ""


async def at_platform_provider(walk: Walk, named: str | None) -> dict[str, Any]:
    """Sign in with an account at a provider of the platform."""
    browser = walk.browser()
    answer = await browser.send("GET", walk.path("/auth/codehost", **_named(named)))
    return await walk.claims(await walk.go(browser, answer, by_password))


async def at_connection(walk: Walk, named: str | None) -> dict[str, Any]:
    """Sign in by the connection of Acme."""
    browser = walk.browser()
    answer = await browser.send(
        "GET", walk.path("/auth/upstream", connection_id=walk.acme.connection_id, **_named(named))
    )
    return await walk.claims(await walk.go(browser, answer, by_password))


async def by_saml(walk: Walk, named: str | None) -> dict[str, Any]:
    """Bring a request of the SAML service provider, and sign in by password."""
    shop, browser = walk.saml_shop, walk.browser()
    address = f"{shop.path}/sso?{urlencode(_named(named))}&{shop.sp.query(shop.sp.authn_request())}"
    form = posted_form((await walk.go(browser, await browser.send("GET", address))).text)
    assert form.statuses == ["Success"]
    path = "//saml:Attribute[@Name='tenant']/saml:AttributeValue/text()"
    return {"customer_id": next(iter(form.texts(path)), None)}


async def on_a_device(walk: Walk, named: str | None) -> dict[str, Any]:
    """Approve a device of the service in a browser."""
    device = (await walk.shop.post("/auth/device/code", {"scope": "openid", **_named(named)})).json
    browser = walk.browser()
    answer = await browser.send("GET", device["verification_uri_complete"].removeprefix("http://localhost:8000"))
    for _ in range(3):
        asked = await walk.go(browser, answer, by_password)
        answer = await browser.submit(asked, "/auth/device/approve", is_followed=False)
        if answer.status == 200 and "The device is signed in" in answer.text:
            break
    tokens = await walk.shop.token(device_codes.GRANT_TYPE, device_code=device["device_code"])
    return claims_of(tokens.json["access_token"])


async def by_login(walk: Walk, named: str | None) -> dict[str, Any]:
    """Send the password as a program."""
    body = {"email": ADA, "password": PASSWORD, **AT_SHOP, **_named(named)}
    return await walk.settled(await walk.post("/api/auth/login", body), named)


async def by_mailed_token(walk: Walk, named: str | None) -> dict[str, Any]:
    """Send the token of a mailed link as a program."""
    world = walk.acme.world
    await world.mails()
    await walk.post("/api/auth/magic-link/request", {"email": ADA, **AT_SHOP, **_named(named)})
    body = {"token": (await world.mail()).values["token"], **AT_SHOP, **_named(named)}
    return await walk.settled(await walk.post("/api/auth/magic-link/verify", body), named)


async def by_passkey_as_a_program(walk: Walk, named: str | None) -> dict[str, Any]:
    """Send what the authenticator has signed as a program."""
    return await walk.settled(await walk.keyring.sign_in(walk.authenticator, ADA, **AT_SHOP, **_named(named)), named)


WAYS: Final[dict[str, Way]] = {
    "page, password": _on_the_page(by_password),
    "page, passkey": _on_the_page(by_passkey),
    "page, mailed link": _on_the_page(by_link),
    "page, reset": _on_the_page(by_reset),
    "platform provider": at_platform_provider,
    "connection": at_connection,
    "SAML": by_saml,
    "device": on_a_device,
    "JSON, password": by_login,
    "JSON, mailed link": by_mailed_token,
    "JSON, passkey": by_passkey_as_a_program,
}


@pytest.fixture
async def walk(acme: Acme, stand_in: StandIn, keyring: Keyring, saml: SamlWorld) -> Walk:
    """Ada, a member of Acme and of Globex, and the service of a vendor, which has Globex as a customer."""
    world = acme.world
    await keyring.sign_up(ADA)
    world.member(acme.organization_id, world.user_id(ADA))
    shop = insert_relying_party(world, "mobile", slug="vendor")
    mapping = {"email": "email", "customer.id": "tenant"}
    saml_shop = await saml.configured(
        shop.organization_id, shop.service_id, "vendor", attribute_mapping=mapping, members_only=False
    )
    found = Walk(acme, shop, saml_shop, stand_in, keyring, await keyring.registered())
    world.serve_customers(found.client_of_shop, "editor", individuals="others")
    return found


async def _link(walk: Walk) -> None:
    """Sign in by the connection and to the account once, so that the two are linked."""
    browser = walk.browser()
    asked = await browser.open(walk.through_provider(await walk.acme.depart(browser)))
    methods = await browser.submit(asked, "/app/sign-in", email=ADA)
    await browser.submit(methods, "/app/sign-in/password", password=PASSWORD)
    assert walk.acme.identities == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("is_enforced", "is_customer", "is_linked"), [*((*pair, True) for pair in product(BOTH, BOTH)), (True, True, False)]
)
async def test_each_way_in_ends_signed_in(
    walk: Walk, way: str, *, is_enforced: bool, is_customer: bool, is_linked: bool
) -> None:
    world, acme = walk.acme.world, walk.acme
    if is_linked:
        await _link(walk)
    customer_id = world.customer(walk.client_of_shop, acme.organization_id) if is_customer else None
    if is_enforced:
        await acme.enforce()

    first = await WAYS[way](walk, None)
    again = await WAYS[way](walk, str(customer_id) if customer_id is not None else AS_INDIVIDUAL)

    expected = str(customer_id) if customer_id is not None else None
    assert [claims.get("customer_id") for claims in (first, again)] == [expected, expected]
    if is_customer and is_enforced:
        assert world.rows("SELECT DISTINCT connection_id FROM sessions WHERE customer_id IS NOT NULL") == [
            (UUID(acme.connection_id),)
        ]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_enforced", BOTH)
async def test_each_way_in_for_another_customer_ends_signed_in(walk: Walk, way: str, *, is_enforced: bool) -> None:
    world = walk.acme.world
    await _link(walk)
    globex = world.organization("globex")
    world.member(globex, world.user_id(ADA))
    globex_id: UUID = world.customer(walk.client_of_shop, globex)
    world.customer(walk.client_of_shop, walk.acme.organization_id)
    if is_enforced:
        await walk.acme.enforce()

    for named in ("globex", str(globex_id)):
        claims = await WAYS[way](walk, named)
        assert claims["customer_id"] == str(globex_id), named
