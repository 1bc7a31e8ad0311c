"""The platform's providers and connections on the way to a service that is not open to everyone."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.application import Answer
from tests.shown_text import shows
from tests.upstream_provider import Account
from tests.world.authorization import address_of, led_back
from tests.world.builder import EMAIL
from tests.world.closed_service import TEXT, ClosedService, insert_closed_service
from tests.world.openid_acme import Acme
from tests.world.relying_party import PKCE, REDIRECT_URI, RelyingParty, insert_service_of
from tests.world.signing_in import claims_of
from tests.world.upstream import Upstream
from tests.world.visitor import Visitor
from tests.world.world import World

ADA = "ada@acme.example"
DENIED = {"error": "access_denied", "error_description": "This person may not use this application."}
CLOSED = pytest.mark.parametrize("access", ["members", "assigned"])
PROVIDERS = pytest.mark.parametrize("name", ["codehost", "websuite"])


@pytest.fixture
def closed(world: World) -> ClosedService:
    return insert_closed_service(world)


@pytest.fixture
async def portal(acme: Acme) -> RelyingParty:
    """A service of the organization that has the connection, at which Ada has an account."""
    acme.provider.claims = {"sub": "ada", "email": ADA, "email_verified": True}
    return insert_service_of(acme.world, acme.organization_id, slug="acme", service_slug="portal")


def path_of(start: str, service: str, **others: str) -> str:
    """Return the path with which a service begins a sign-in elsewhere."""
    query = {"org": "acme", "service": service, "redirect_uri": REDIRECT_URI, "state": "s-1", **PKCE, **others}
    return f"{start}?{urlencode(query)}"


async def assert_kept_out(world: World, visitor: Visitor, page: Answer) -> None:
    """Assert that a page refuses its reader, leads back without a code, and that nothing was left behind."""
    back = led_back(await visitor.submit(page, "/auth/authorize/deny"))
    tiles = await visitor.open("/app/account/my-applications")

    assert page.status == 403
    assert shows(page.text, TEXT)
    assert {name: value for name, value in back.items() if name.startswith("error")} == DENIED
    assert "code" not in back
    assert world.rows("SELECT FROM service_users") == []
    assert world.rows("SELECT FROM sessions WHERE service_id IS NOT NULL") == []
    assert world.rows("SELECT FROM authorization_codes") == []
    assert not shows(tiles.text, "Shop")
    assert not shows(tiles.text, "Portal")


class TestProviders:
    @CLOSED
    @PROVIDERS
    async def test_a_stranger_who_is_new_has_an_account_and_nothing_at_the_service(
        self, closed: ClosedService, upstream: Upstream, access: str, name: str
    ) -> None:
        await closed.close(access, "everyone")

        page = await upstream.sign_in(path_of(f"/auth/{name}", "shop"))

        await assert_kept_out(closed.world, upstream.visitor, page)
        # An account alone opens nothing there.
        assert closed.world.user_id(EMAIL)

    @CLOSED
    async def test_a_stranger_who_is_known_is_refused(
        self, closed: ClosedService, upstream: Upstream, access: str
    ) -> None:
        await upstream.sign_in()
        upstream.visitor.cookies.clear()
        await closed.close(access, "everyone")

        page = await upstream.sign_in(path_of("/auth/codehost", "shop"))

        await assert_kept_out(closed.world, upstream.visitor, page)

    async def test_a_way_that_was_begun_before_is_judged_at_its_end(
        self, closed: ClosedService, upstream: Upstream
    ) -> None:
        address = await upstream.depart(path_of("/auth/codehost", "shop"))
        await closed.close("members")

        page = await upstream.visitor.open(upstream.stand_in.sign_in(address, Account()))

        await assert_kept_out(closed.world, upstream.visitor, page)

    @CLOSED
    async def test_a_member_comes_in(self, closed: ClosedService, upstream: Upstream, access: str) -> None:
        await upstream.sign_in()
        upstream.visitor.cookies.clear()
        closed.world.member(closed.party.organization_id, closed.world.user_id(EMAIL))
        await closed.close(access, "role:member")

        back = led_back(await upstream.sign_in(path_of("/auth/codehost", "shop")))

        assert (await closed.party.redeem(back["code"])).status == 200


class TestConnections:
    """A connection of the organization itself, which makes members or does not."""

    async def by_connection(self, acme: Acme) -> Answer:
        """Begin at the service, sign in at the connection, and return the page that follows."""
        begun = await acme.visitor.send("GET", path_of("/auth/upstream", "portal", connection_id=acme.connection_id))
        assert begun.status == 303, begun.text
        return await acme.visitor.open(acme.provider.sign_in(begun.headers["Location"]))

    async def close(self, acme: Acme, access: str, *subjects: str) -> None:
        """Set who may sign in to the service."""
        assigned = [{"subject": subject, "roles": []} for subject in subjects]
        body = {"access": access, "assignments": assigned}
        answer = await acme.owner.patch("/api/organizations/acme/services/portal", body)
        assert answer.status == 200, answer.text

    async def test_whom_the_connection_makes_a_member_is_in(self, acme: Acme, portal: RelyingParty) -> None:
        await acme.change(joins_as="member")
        await self.close(acme, "members")

        back = led_back(await self.by_connection(acme))
        tokens = await portal.redeem(back["code"])

        assert tokens.status == 200, tokens.text
        assert claims_of(tokens.json["access_token"])["email"] == ADA

    async def test_whom_the_connection_makes_no_member_is_a_stranger(self, acme: Acme, portal: RelyingParty) -> None:
        await self.close(acme, "members")

        page = await self.by_connection(acme)

        await assert_kept_out(acme.world, acme.visitor, page)
        assert acme.world.role_of(acme.organization_id, ADA) is None
        # The session of the connection that remains opens the service on no other way either.
        again = await acme.visitor.open(address_of(portal))
        assert again.status == 403

    async def test_a_new_member_to_whom_nothing_is_assigned_is_refused(self, acme: Acme, portal: RelyingParty) -> None:
        await acme.change(joins_as="member")
        await self.close(acme, "assigned", "role:admin")

        page = await self.by_connection(acme)

        await assert_kept_out(acme.world, acme.visitor, page)
        assert acme.world.role_of(acme.organization_id, ADA) == "member"

    async def test_a_new_member_to_whom_the_role_is_assigned_is_in(self, acme: Acme, portal: RelyingParty) -> None:
        await acme.change(joins_as="member")
        await self.close(acme, "assigned", "role:member")

        back = led_back(await self.by_connection(acme))

        assert (await portal.redeem(back["code"])).status == 200
