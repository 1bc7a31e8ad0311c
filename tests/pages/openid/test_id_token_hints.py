"""A service that names its user by an ID token gets that user or none (OpenID Connect Core, 3.1.2.1)."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode, urlsplit

from tests.world.authorization import address_of, led_back, sign_in
from tests.world.relying_party import RelyingParty
from tests.world.visitor import Visitor
from tests.world.world import World

OTHER = "grace@example.com"


async def hint_of(shop: RelyingParty, visitor: Visitor, **parameters: str) -> str:
    """Return an ID token for the user."""
    token: str = (await shop.redeem((await sign_in(visitor, shop, **parameters))["code"])).json["id_token"]
    return token


async def sign_out(visitor: Visitor) -> None:
    """Sign out of Gatehouse in the browser."""
    await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out")


async def test_the_user_of_the_hint_is_answered(shop: RelyingParty, visitor: Visitor) -> None:
    hint = await hint_of(shop, visitor)

    back = led_back(await visitor.send("GET", address_of(shop, id_token_hint=hint, prompt="none")))

    assert "code" in back


async def test_another_user_than_that_of_the_hint_is_not_signed_in(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    world.user(OTHER)
    hint = await hint_of(shop, visitor)
    await sign_out(visitor)
    on_the_way = await sign_in(visitor, shop, email=OTHER, id_token_hint=hint)

    silent = led_back(await visitor.send("GET", address_of(shop, id_token_hint=hint, prompt="none")))
    asked = led_back(await visitor.send("GET", address_of(shop, id_token_hint=hint)))

    assert [back["error"] for back in (on_the_way, silent, asked)] == ["login_required"] * 3
    assert "code" not in on_the_way


async def test_a_hint_counts_in_a_pushed_request_and_in_a_form_too(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    world.user(OTHER)
    hint = await hint_of(shop, visitor)
    await sign_out(visitor)
    await sign_in(visitor, shop, email=OTHER)
    query = urlsplit(address_of(shop, id_token_hint=hint)).query

    posted = await visitor.client.post(
        "/auth/authorize", data=query.encode(), headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    pushed = await shop.post("/auth/par", {name: values[0] for name, values in parse_qs(query).items()})
    named = urlencode({"client_id": str(shop.client_id), "request_uri": pushed.json["request_uri"]})

    assert hint not in posted.headers["Location"]
    assert led_back(await visitor.send("GET", posted.headers["Location"]))["error"] == "login_required"
    assert led_back(await visitor.send("GET", f"/auth/authorize?{named}"))["error"] == "login_required"


async def test_a_token_of_another_service_is_no_hint(
    shop: RelyingParty, app: RelyingParty, visitor: Visitor, world: World
) -> None:
    world.user(OTHER)
    await sign_in(visitor, shop, email=OTHER)
    foreign = (await app.redeem(await app.code())).json["id_token"]

    for hint in (foreign, "nonsense"):
        assert "code" in led_back(await visitor.send("GET", address_of(shop, id_token_hint=hint, prompt="none")))
