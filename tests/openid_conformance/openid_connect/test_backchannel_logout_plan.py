"""The plan `oidcc-backchannel-rp-initiated-logout-certification-test-plan` (OpenID Connect Back-Channel Logout)."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode

from core.openid.logout import EVENT
from tests.logout_notices import send_notices
from tests.receiver import open_receiver
from tests.world.authorization import led_back
from tests.world.conformance import ConformanceClient, modules_of

PLAN = (
    "oidcc-backchannel-logout-discovery-endpoint-verification",
    "oidcc-backchannel-rp-initiated-logout",
)

GOODBYE = "https://shop.example/bye"


def test_every_module_of_the_plan_has_its_test() -> None:
    assert modules_of(globals()) == list(PLAN)


async def test_discovery_says_that_it_is_supported(suite: ConformanceClient) -> None:
    """oidcc-backchannel-logout-discovery-endpoint-verification: with `sid`, and `end_session_endpoint`."""
    document = await suite.document()

    assert document["backchannel_logout_supported"] is True
    assert document["backchannel_logout_session_supported"] is True
    assert document["end_session_endpoint"].startswith("http://localhost:8000/")


async def test_the_client_gets_a_logout_token_and_the_user_is_led_back(suite: ConformanceClient) -> None:
    """oidcc-backchannel-rp-initiated-logout: the token is signed, is for the client and names the session."""
    async with open_receiver() as receiver:
        suite.shop.set(post_logout_redirect_uris=[GOODBYE], backchannel_logout_uri=receiver.url)
        tokens = await suite.tokens()
        query = {"id_token_hint": tokens.id_token, "post_logout_redirect_uri": GOODBYE, "state": "s-2"}

        answer = await suite.arrive(f"/auth/logout?{urlencode(query)}")
        await send_notices(suite.world.installation)

        assert led_back(answer, GOODBYE) == {"state": "s-2"}
        assert (await suite.refused(prompt="none"))["error"] == "login_required"
        [received] = receiver.received
        fields = parse_qs(received.body.decode())
        assert received.headers["content-type"] == "application/x-www-form-urlencoded"
        assert fields.keys() == {"logout_token"}
        claims = await suite.verified(fields["logout_token"][0], typ="logout+jwt")
        assert {name: claims[name] for name in ("sub", "sid")} == {n: tokens.claims[n] for n in ("sub", "sid")}
        assert claims["events"] == {EVENT: {}}
        assert claims["jti"]
        assert claims["iat"] <= int(suite.world.clock().timestamp()) < claims["exp"]
        assert "nonce" not in claims
