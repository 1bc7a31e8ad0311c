"""The page that explains to a vendor the sign-ins by what it has made for a customer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tests.shown_text import shows
from tests.world import internal
from tests.world.customer_setups import make_customer_setup
from tests.world.trade import Trade
from tests.world.visitor import Visitor

WHY = "/app/organizations/acme/why?email=ada@globex.example&service=shop"


async def test_the_page_says_what_counts_of_what_is_made(
    trade: Trade, browser_of: Callable[[str], Awaitable[Visitor]]
) -> None:
    setup = await make_customer_setup(trade)
    owner = await browser_of("owner")
    asked = f"{WHY}&customer={setup.customer_id}"
    nothing = await owner.open(asked)
    connection = await setup.connect()
    internal.add_mail_domain(trade.world, connection["id"], setup.internal_id, "globex.example")
    trade.world.connection.execute(
        """
        INSERT INTO upstream_failures (organization_id, connection_id, problem, first_at, last_at, occurrences,
                                       last_request_id)
        VALUES (%s, %s, 'wrong_secret', %s, %s, 1, 'abc')
        """,
        (setup.internal_id, connection["id"], trade.world.clock(), trade.world.clock()),
    )
    unknown = await owner.open(asked)
    internal.admit(trade.world, setup.internal_id, trade.world.user("ada@globex.example"))
    known = await owner.open(asked)

    assert "You have made no connection for this customer." in nothing.text
    assert "is not known to you there" in unknown.text
    for text in (unknown.text, known.text):
        assert shows(text, "Addresses in globex.example lead to the connection Globex.")
        assert shows(text, "The connection Globex fails. What failed is below.")
        assert shows(text, "Problems of connections")
        assert shows(text, "takes a code that is mailed to the address, once.")
    assert "The directory that you have connected for it lets the person in." in known.text
    assert "lets the person in" not in unknown.text
