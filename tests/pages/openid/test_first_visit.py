"""A sign-in counts as the answer of a first visit only in the browser whose pages have named the service."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from psycopg.types.json import Jsonb

from core.openid import authorization_endpoint
from core.openid.answers import SignInNeeded
from core.openid.answers import Visitor as Visited
from tests.shown_text import shows
from tests.world.authorization import ISSUER, address_of, led_back
from tests.world.relying_party import RelyingParty
from tests.world.visitor import Visitor
from tests.world.world import World


async def test_a_request_that_began_in_another_browser_asks(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    """The service begins the request itself, and sends a browser to it that signs in to Gatehouse just then."""
    parameters = {name: values[0] for name, values in parse_qs(urlsplit(address_of(shop)).query).items()}
    begun = await world.installation.database.transact(
        authorization_endpoint.begin, shop.client_id, parameters, Visited(browser=None), issuer=ISSUER
    )
    assert isinstance(begun, SignInNeeded)
    await visitor.sign_in()

    asked = await visitor.open(f"/auth/authorize/resume?request_id={begun.request_id.reveal()}")

    assert "code" in led_back(await visitor.submit(asked, "/auth/authorize/allow"))


async def test_the_question_quotes_the_sentences_of_what_is_asked_for(shop: RelyingParty, visitor: Visitor) -> None:
    read, write = "See your <b>orders</b>.", "Change your orders."
    shop.set(scopes=Jsonb([{"name": "read", "description": read}, {"name": "write", "description": write}]))
    await visitor.sign_in()

    asked = await visitor.open(address_of(shop, scope="openid read other"))

    assert shows(asked.text, "See your &lt;b&gt;orders&lt;/b&gt;.")
    assert not shows(asked.text, write)
    tokens = await shop.redeem(led_back(await visitor.submit(asked, "/auth/authorize/allow"))["code"])
    assert tokens.json["scope"] == "openid read"
    # A later request for more asks nothing.
    assert "code" in led_back(await visitor.send("GET", address_of(shop, scope="openid read write")))
