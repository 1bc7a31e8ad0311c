"""With the response mode `form_post` the browser posts the answer to the service, codes and errors alike."""

from __future__ import annotations

from tests.shown_text import shows
from tests.world.authorization import ISSUER, address_of, led_back, posted_back, push
from tests.world.builder import EMAIL
from tests.world.relying_party import RelyingParty
from tests.world.visitor import Visitor
from tests.world.world import World


async def test_a_code_is_posted_after_a_form_and_at_once(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    world.member(shop.organization_id, world.user_id(EMAIL))
    address = address_of(shop, response_mode="form_post")

    for page in (await visitor.sign_in(path=address), await visitor.send("GET", address)):
        fields = posted_back(page)
        policy = page.headers["Content-Security-Policy"]

        assert (fields.keys(), fields["state"], fields["iss"]) == ({"code", "state", "iss"}, "s-1", ISSUER)
        assert (await shop.redeem(fields["code"])).status == 200
        assert "data-submits-itself" in page.text
        assert "script-src 'self'" in policy
        # Browsers would apply it to the redirects that follow at the service as well.
        assert not shows(policy, "form-action")
        assert (page.headers["Cache-Control"], page.headers["Referrer-Policy"]) == ("no-store", "strict-origin")
        assert "Location" not in page.headers
        assert "Refresh" not in page.headers


async def test_errors_are_posted_too(shop: RelyingParty, visitor: Visitor) -> None:
    for parameters, error in (
        ({"prompt": "none"}, "login_required"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"request_uri": "https://evil.example/"}, "request_uri_not_supported"),
        ({"state": '"><script>alert(1)</script>', "prompt": "none"}, "login_required"),
    ):
        page = await visitor.send("GET", address_of(shop, response_mode="form_post", **parameters))

        assert posted_back(page)["error"] == error
        assert "<script>alert" not in page.text


async def test_a_request_that_has_no_state_gets_none(shop: RelyingParty, visitor: Visitor) -> None:
    page = await visitor.send("GET", address_of(shop, response_mode="form_post", prompt="none", state=""))

    assert posted_back(page).keys() == {"error", "error_description", "iss"}


async def test_an_app_on_the_device_gets_no_form(app: RelyingParty, visitor: Visitor) -> None:
    app.set(redirect_uris=["com.example.app:/callback"])

    answer = await visitor.send(
        "GET", address_of(app, response_mode="form_post", redirect_uri="com.example.app:/callback")
    )

    assert led_back(answer, "com.example.app:/callback")["error"] == "invalid_request"


async def test_a_pushed_request_may_want_it(shop: RelyingParty, visitor: Visitor) -> None:
    address = await push(shop, response_mode="form_post", prompt="none")

    assert posted_back(await visitor.send("GET", address))["error"] == "login_required"
