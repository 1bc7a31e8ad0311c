"""With a setup link: a connection is off until its holder has tested it by a real sign-in, and then switches it on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from html import unescape
from typing import Any

import pytest

from tests.application import Answer
from tests.clock import SettableClock
from tests.identity_provider import IdentityProvider, asked
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET, OpenIdProvider
from tests.shown_text import shows
from tests.world.openid_acme import Acme
from tests.world.openid_connection import CONNECTIONS
from tests.world.saml_connection import saml_acme
from tests.world.signing_in import SignedInUser
from tests.world.visitor import Visitor
from tests.world.world import World

UPSTREAM = "/app/setup/parts/upstream"
IS_ON = "SELECT enabled FROM upstream_connections WHERE id::text = %s"


@dataclass
class Holder:
    """A browser of a person without an account, who has begun with a setup link, and a connection."""

    world: World
    visitor: Visitor
    connection_id: str = ""

    @property
    def page(self) -> str:
        """The page of the connection."""
        return f"{UPSTREAM}/{self.connection_id}"

    @property
    def is_on(self) -> bool:
        """Whether the connection signs people in."""
        return self.world.value(IS_ON, self.connection_id)

    async def connect(self, issuer: str) -> Answer:
        """Make a connection by OpenID Connect, and return its page."""
        before = self.world.rows("SELECT id FROM upstream_connections")
        made = await self.visitor.submit(
            await self.visitor.open(f"{UPSTREAM}?provider=oidc"),
            UPSTREAM,
            name="Acme",
            issuer=issuer,
            client_id=CLIENT_ID,
            client_secret=CLIENT_SECRET,
        )
        [(made_id,)] = set(self.world.rows("SELECT id FROM upstream_connections")) - set(before)
        self.connection_id = str(made_id)
        return made

    async def press(self, what: str, page: Answer | None = None) -> Answer:
        """Press the button of a form of the page of the connection."""
        return await self.visitor.submit(page or await self.visitor.open(self.page), f"{self.page}/{what}")

    async def begin(self) -> str:
        """Press "Test it"; return the address at the provider to which the page leads on."""
        page = await self.visitor.open(self.page)
        answer = await self.visitor.submit(page, f"{self.page}/trial", is_followed=False)
        assert answer.status == 200, answer.text
        return unescape(answer.headers["Refresh"].partition("url=")[2])

    async def test(self, provider: OpenIdProvider, **answer: str) -> Answer:
        """Test the connection, and return the page that follows."""
        return await self.visitor.open(provider.sign_in(await self.begin(), **answer))


async def holder_of(world: World, owner: SignedInUser, client: Any) -> Holder:
    """Return the holder of a new setup link."""
    visitor = Visitor(client)
    answer = await owner.post("/api/organizations/acme/setup-links", {"parts": ["upstream"]})
    path = answer.json["url"].removeprefix("http://localhost:8000")
    await visitor.submit(await visitor.open(path), path)
    return Holder(world, visitor)


@pytest.fixture
async def holder(acme: Acme) -> Holder:
    """A person with a setup link of Acme, which has a connection and a proved mail domain."""
    return await holder_of(acme.world, acme.owner, acme.visitor.client)


async def test_a_connection_is_off_until_the_holder_has_tested_it(
    acme: Acme, holder: Holder, provider: OpenIdProvider
) -> None:
    acme.world.connection.execute("UPDATE upstream_connections SET enabled = false")
    made = await holder.connect(provider.url)
    early = await holder.press("enabling", made)
    failed = await holder.test(provider, error="access_denied", code="")
    still = await holder.press("enabling", failed)
    other = Visitor(holder.visitor.client)
    back = provider.sign_in(await holder.begin())
    stolen = await other.open(back)
    tested = await holder.visitor.open(back)
    again = await holder.visitor.open(back)
    assert not holder.is_on

    on = await holder.press("enabling", tested)
    twice = await holder.press("enabling", tested)

    assert "It can be switched on after a test sign-in that has succeeded." in made.text
    assert (early.status, still.status, stolen.status, again.status) == (409, 409, 400, 400)
    assert "Test it by a real sign-in first" in early.text
    assert "sent people back without signing them in" in failed.text
    assert "The test sign-in succeeded." in tested.text
    assert "ada@acme.example" in tested.text
    assert "All that a sign-in takes has arrived" in tested.text
    assert "Tested with a setup link" in tested.text
    assert (on.status, twice.status, holder.is_on) == (200, 200, True)
    assert "The connection is switched on." in on.text
    assert acme.identities == acme.live_sessions == 0
    switched = [details for _, actor, _, details in _entries(acme.world) if actor is None and details.get("enabled")]
    assert [set(one) >= {"setup_link_id", "provider_id"} for one in switched] == [True]
    listed = (await acme.owner.get(f"{CONNECTIONS}/{holder.connection_id}")).json
    assert listed["enabled"] is True


def _entries(world: World) -> list[Any]:
    return world.audit_entries("upstream_connection.updated")


@pytest.mark.parametrize(
    ("claims", "told", "untold"),
    [
        ({"email": None}, "the provider gave no email address", ""),
        ({"email": "ada"}, "what the provider gave as the email address is none", "gave no email address"),
        ({"email": "ada@other.example"}, "is not a verified mail domain of yours", "added, but not proved yet"),
        ({"email": "ada@pending.example"}, "added, but not proved yet", "is not a verified mail domain of yours"),
        ({"email": "owner@acme.example"}, "All that a sign-in takes has arrived", "as the member who has this address"),
        ({"sub": 7}, "The provider sent no stable id of the account.", "The test sign-in succeeded."),
        ({"groups": None}, "No groups have arrived.", "which is named for the groups"),
    ],
    ids=["no address", "not an address", "foreign domain", "pending domain", "member", "no id", "no groups"],
)
async def test_the_holder_learns_what_is_missing_and_nothing_of_persons(
    acme: Acme, holder: Holder, provider: OpenIdProvider, claims: dict[str, Any], told: str, untold: str
) -> None:
    await acme.owner.post(
        "/api/organizations/acme/domain-routes", {"domain": "pending.example", "provider_id": acme.connection_id}
    )
    holder.connection_id = acme.connection_id
    provider.claims, provider.user = claims, {"sub": "employee-1"}

    shown = await holder.test(provider)

    assert told in shown.text
    assert not untold or untold not in shown.text
    assert "owner@acme.example" not in shown.text.replace("<dd>owner@acme.example</dd>", "")


async def test_the_holder_sees_of_the_test_of_a_member_only_that_it_succeeded(
    acme: Acme, holder: Holder, provider: OpenIdProvider
) -> None:
    await holder.connect(provider.url)
    page = f"/app/organizations/acme/sign-in/connections/{holder.connection_id}"
    member = Visitor(holder.visitor.client)
    await member.sign_in("owner@acme.example", path=page)
    left = await member.submit(await member.open(page), f"{page}/trial", is_followed=False)
    tested = await member.open(provider.sign_in(unescape(left.headers["Refresh"].partition("url=")[2])))

    shown = await holder.visitor.open(holder.page)
    on = await holder.press("enabling", shown)

    assert "Tested by owner@acme.example" in tested.text
    assert "ada@acme.example" in tested.text
    assert "The test sign-in succeeded." in shown.text
    assert "Tested by a member of the organization" in shown.text
    assert not [one for one in ("owner@acme.example", "ada@acme.example", "employee-1") if one in shown.text]
    assert (on.status, holder.is_on) == (200, True)


async def test_a_claim_for_groups_that_is_not_sent_or_too_long_is_named(
    acme: Acme, holder: Holder, provider: OpenIdProvider
) -> None:
    await acme.change(attribute_mapping={"groups": "teams"})
    holder.connection_id = acme.connection_id
    missing = await holder.test(provider)
    provider.claims = {"teams": ["staff"]}
    sent = await holder.test(provider)
    provider.claims = {"hasgroups": True}
    too_many = await holder.test(provider)

    assert "The provider sent no claim or attribute teams" in missing.text
    assert not shows(sent.text.partition("How it is understood")[2].partition("What the provider sent")[0], "teams")
    assert "The groups are too many for the provider to send." in too_many.text


async def test_a_connection_that_was_on_or_stands_beside_one_in_use_is_for_a_member_to_switch_on(
    acme: Acme, holder: Holder, provider: OpenIdProvider
) -> None:
    holder.connection_id = acme.connection_id
    await holder.test(provider)
    page = await holder.visitor.open(holder.page)
    token = page.text.partition('name="form_token" value="')[2].partition('"')[0]
    await acme.change(enabled=False)
    shown = await holder.visitor.open(holder.page)
    was_on = await holder.visitor.post(f"{holder.page}/enabling", {"form_token": token})
    await acme.change(enabled=True)
    other = Holder(holder.world, holder.visitor)
    await other.connect(provider.url)
    tested = await other.test(provider)
    await acme.sign_in()
    beside = await other.press("enabling", tested)
    told = await other.visitor.open(other.page)

    assert "The connection was on before, and was switched off." in shown.text
    assert f'action="{holder.page}/enabling"' not in shown.text
    assert (was_on.status, "a member of the organization has switched it off" in was_on.text) == (409, True)
    assert (beside.status, other.is_on) == (409, False)
    assert "People sign in by a connection of this organization already" in told.text
    assert "A member of the organization switches it on." in told.text
    await acme.owner.patch(f"{CONNECTIONS}/{other.connection_id}", {"trust_mfa": True})
    in_force = await other.press("enabling", tested)
    assert (in_force.status, "This connection is in use" in in_force.text) == (409, True)


async def test_a_change_of_where_it_leads_takes_another_test_and_a_revoked_link_tests_nothing(
    acme: Acme, holder: Holder, provider: OpenIdProvider, clock: SettableClock
) -> None:
    await holder.connect(provider.url)
    tested = await holder.test(provider)
    clock.advance(timedelta(seconds=1))
    provider.client_id = "another"
    changed = await holder.visitor.submit(tested, holder.page, client_id="another", client_secret=CLIENT_SECRET)
    refused = await holder.press("enabling", changed)
    back = provider.sign_in(await holder.begin())
    acme.world.connection.execute("DELETE FROM setup_links")
    over = await holder.visitor.open(back)

    assert "The connection has changed since this test." in changed.text
    assert (refused.status, over.status) == (409, 404)
    assert "The connection has changed since the test. Test it again." in changed.text
    assert not holder.is_on


async def test_a_provider_that_cannot_be_asked_is_told_without_leaving(
    acme: Acme, holder: Holder, provider: OpenIdProvider
) -> None:
    await holder.connect(provider.url)
    page = await holder.visitor.open(holder.page)
    provider.document = {"issuer": "https://other.example"}

    unreadable = await holder.press("trial", page)

    assert "names itself differently" in unreadable.text
    assert "The last test failed." in unreadable.text


async def test_the_holder_tests_by_saml_also_in_a_browser_that_is_signed_in(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    acme = await saml_acme(world, visitor, IdentityProvider(now=clock))
    holder = await holder_of(world, acme.owner, visitor.client)
    nameless = await holder.visitor.submit(
        await holder.visitor.open(f"{UPSTREAM}?provider=saml"), UPSTREAM, type="saml", name="Globex"
    )
    holder.connection_id = nameless.text.partition("/auth/upstream/")[2].partition("/")[0]
    token = nameless.text.partition('name="form_token" value="')[2].partition('"')[0]
    empty = [await holder.visitor.post(f"{holder.page}/{one}", {"form_token": token}) for one in ("trial", "enabling")]
    saved = await holder.visitor.submit(
        nameless, holder.page, metadata_xml=acme.idp.metadata(), metadata_url="", name="Globex"
    )
    await holder.visitor.sign_in("owner@acme.example", path="/app/account")
    acs = f"/auth/upstream/{holder.connection_id}/acs"
    request = asked(await holder.begin())
    answered = await acme.post(acme.idp.answer(request), request.relay_state, acs=acs)
    tested = await holder.visitor.open(answered.headers["Location"])
    on = await holder.press("enabling", tested)

    assert [one.status for one in empty] == [400, 400]
    assert all("Save the metadata of the identity provider first." in one.text for one in empty)
    assert "It can be switched on after a test sign-in that has succeeded." in saved.text
    assert "The test sign-in succeeded." in tested.text
    assert (on.status, holder.is_on) == (200, True)

    unsigned = asked(await holder.begin())
    posted = await acme.post(
        replace(acme.idp, entity_id="https://other.example").answer(unsigned), unsigned.relay_state, acs=acs
    )
    refused = await holder.visitor.open(posted.headers["Location"])
    assert "The answer names another issuer than the connection." in refused.text
