"""Requests that the authorization endpoint refuses: on a page, or to the service where its address is known."""

from __future__ import annotations

import re

import pytest

from tests.world.authorization import ISSUER, address_of, led_back, sign_in
from tests.world.relying_party import PKCE, REDIRECT_URI, RelyingParty
from tests.world.visitor import Visitor
from tests.world.world import World


async def test_only_the_registered_address_is_followed(
    shop: RelyingParty, visitor: Visitor, subtests: pytest.Subtests
) -> None:
    await sign_in(visitor, shop)

    for redirect_uri in (
        "https://evil.example/",
        "https://shop.example/callback/",
        "https://shop.example/callback?x=1",
        "https://shop.example/callback#x",
        "https://shop.example/call%62ack",
        "https://shop.example/x/../callback",
        "https://shop.example:443/callback",
        "https://shop.example:8443/callback",
        "https://user@shop.example/callback",
        "https://shop.example@evil.example/callback",
        "https://shop.example.evil.example/callback",
        "https://SHOP.example/callback",
        "https://sh\u043ep.example/callback",
        "http://shop.example/callback",
        "//shop.example/callback",
        "javascript:alert(1)",
        "",
    ):
        with subtests.test(redirect_uri=redirect_uri):
            answer = await visitor.send("GET", address_of(shop, redirect_uri=redirect_uri))

            assert answer.status == 400
            assert "Location" not in answer.headers
            # It is shown, and nothing leads there; the language switch comes back to the address of the page.
            before_switch = answer.text.partition('<footer class="languages">')[0]
            without_shown = re.sub(r"<pre class=\"code\".*?</pre>", "", before_switch, flags=re.DOTALL)
            assert "evil.example" not in without_shown


async def test_a_desktop_service_may_use_any_port_of_loopback(
    app: RelyingParty, shop: RelyingParty, visitor: Visitor, subtests: pytest.Subtests
) -> None:
    for registered, given, is_followed in (
        ("http://127.0.0.1/callback", "http://127.0.0.1:51234/callback", True),
        ("http://[::1]:1/callback", "http://[::1]:51234/callback", True),
        ("http://localhost/callback", "http://localhost:51234/callback", True),
        ("http://127.0.0.1/callback", "http://127.0.0.1:51234/other", False),
        ("http://127.0.0.1/callback", "http://localhost:51234/callback", False),
        ("http://127.0.0.1/callback", "http://127.0.0.1:51234@evil.example/callback", False),
        ("http://127.0.0.1/callback", "https://127.0.0.1:51234/callback", False),
        ("https://shop.example/callback", "https://shop.example:8443/callback", False),
    ):
        with subtests.test(registered=registered, given=given, is_followed=is_followed):
            app.set(service_type="desktop", redirect_uris=[registered])

            answer = await visitor.send("GET", address_of(app, redirect_uri=given, prompt="none"))
            app.set(service_type="mobile")
            as_mobile = await visitor.send("GET", address_of(app, redirect_uri=given, prompt="none"))

            assert (answer.status == 303) is is_followed
            assert as_mobile.status == 400


async def test_every_other_problem_goes_back_to_the_service(
    app: RelyingParty, shop: RelyingParty, visitor: Visitor, subtests: pytest.Subtests
) -> None:
    for parameters, error in (
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"response_type": ""}, "invalid_request"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": ""}, "invalid_request"),
        ({"request": "eyJhbGciOiJub25lIn0.e30."}, "request_not_supported"),
        ({"prompt": "none login"}, "invalid_request"),
        ({"max_age": "x"}, "invalid_request"),
        ({"resource": "https://api.evil.example"}, "invalid_target"),
    ):
        with subtests.test(parameters=parameters, error=error):
            back = led_back(await visitor.send("GET", address_of(app, **parameters)))

            assert (back["error"], back["state"], back["iss"]) == (error, "s-1", ISSUER)


async def test_an_unknown_client_is_refused_on_a_page(
    shop: RelyingParty, visitor: Visitor, subtests: pytest.Subtests
) -> None:
    for client_id in ("", "x", "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"):
        with subtests.test(client_id=client_id):
            answer = await visitor.send("GET", address_of(shop, client_id=client_id))

            assert (answer.status, answer.headers.get("Location")) == (400, None)


async def test_an_unknown_client_is_refused_whoever_is_signed_in(shop: RelyingParty, visitor: Visitor) -> None:
    shop.world.user("ada@anybody.example")
    await visitor.sign_in("ada@anybody.example")

    answer = await visitor.send("GET", address_of(shop, client_id="0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"))

    assert (answer.status, answer.headers.get("Location")) == (400, None)
    assert "is not known, or is not active" in answer.text


async def test_a_parameter_that_is_sent_twice_is_refused(shop: RelyingParty, visitor: Visitor) -> None:
    answer = await visitor.send("GET", f"{address_of(shop)}&redirect_uri=https://evil.example/")

    assert (answer.status, answer.headers.get("Location")) == (400, None)


async def test_a_client_of_an_inactive_organization_is_refused(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    world.set_organization_status(shop.organization_id, "suspended")

    assert (await visitor.send("GET", address_of(shop))).status == 400


async def test_a_request_uri_elsewhere_is_not_fetched_and_refused_to_the_service(
    shop: RelyingParty, visitor: Visitor
) -> None:
    elsewhere = "https://evil.example/request"

    back = led_back(await visitor.send("GET", address_of(shop, request_uri=elsewhere)))
    pages = [
        await visitor.send("GET", address_of(shop, request_uri=elsewhere, redirect_uri="")),
        await visitor.send("GET", address_of(shop, request_uri=elsewhere, redirect_uri="https://evil.example/")),
        await visitor.send("GET", address_of(shop, request_uri=elsewhere, client_id="x")),
    ]

    assert (back["error"], back["state"], back["iss"]) == ("request_uri_not_supported", "s-1", ISSUER)
    assert [(page.status, page.headers.get("Location")) for page in pages] == [(400, None)] * 3


async def test_a_reference_that_is_no_pushed_request_of_the_service_is_refused_to_it(
    shop: RelyingParty, app: RelyingParty, visitor: Visitor
) -> None:
    parameters = {"response_type": "code", "redirect_uri": REDIRECT_URI, **PKCE}
    foreign = (await shop.post("/auth/par", parameters)).json["request_uri"]

    for request_uri in (foreign, "urn:ietf:params:oauth:request_uri:x"):
        back = led_back(await visitor.send("GET", address_of(app, request_uri=request_uri)))
        page = await visitor.send("GET", address_of(app, request_uri=request_uri, redirect_uri=""))

        assert (back["error"], back["state"], back["iss"]) == ("invalid_request_uri", "s-1", ISSUER)
        assert (page.status, page.headers.get("Location")) == (400, None)
