"""The plan `oidcc-frontchannel-rp-initiated-logout-certification-test-plan` (OpenID Connect Front-Channel Logout)."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.world.authorization import ISSUER, led_back
from tests.world.conformance import ConformanceClient, modules_of

PLAN = (
    "oidcc-frontchannel-logout-discovery-endpoint-verification",
    "oidcc-frontchannel-rp-initiated-logout",
)

GOODBYE = "https://shop.example/bye"
PAGE = "https://shop.example/out"


def test_every_module_of_the_plan_has_its_test() -> None:
    assert modules_of(globals()) == list(PLAN)


async def test_discovery_says_that_it_is_supported(suite: ConformanceClient) -> None:
    """oidcc-frontchannel-logout-discovery-endpoint-verification: with `sid`, and `end_session_endpoint`."""
    document = await suite.document()

    assert document["frontchannel_logout_supported"] is True
    assert document["frontchannel_logout_session_supported"] is True
    assert document["end_session_endpoint"].startswith("http://localhost:8000/")


async def test_the_browser_loads_the_page_of_the_client_and_the_user_is_led_back(suite: ConformanceClient) -> None:
    """oidcc-frontchannel-rp-initiated-logout: the page gets the issuer and the session, and may be framed."""
    suite.shop.set(post_logout_redirect_uris=[GOODBYE], frontchannel_logout_uri=PAGE)
    tokens = await suite.tokens()
    query = {"id_token_hint": tokens.id_token, "post_logout_redirect_uri": GOODBYE, "state": "s-2"}

    answer = await suite.arrive(f"/auth/logout?{urlencode(query)}")

    [source] = re.findall(r'<iframe[^>]* src="([^"]+)"', answer.text)
    address = urlsplit(html.unescape(source))
    assert f"{address.scheme}://{address.netloc}{address.path}" == PAGE
    assert parse_qs(address.query) == {"iss": [ISSUER], "sid": [tokens.claims["sid"]]}
    assert "frame-src https://shop.example" in answer.headers["Content-Security-Policy"]
    assert led_back(answer, GOODBYE) == {"state": "s-2"}
    assert (await suite.refused(prompt="none"))["error"] == "login_required"
