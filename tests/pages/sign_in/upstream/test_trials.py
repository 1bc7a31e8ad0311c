"""Trial sign-ins test a connection by a real sign-in that begins no session."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.clock import SettableClock
from tests.identity_provider import IdentityProvider, asked
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET, OpenIdProvider
from tests.shown_text import shows
from tests.world.openid_acme import Acme
from tests.world.openid_connection import CONNECTIONS
from tests.world.saml_connection import saml_acme
from tests.world.visitor import Visitor
from tests.world.world import World

SIGN_IN = "/app/organizations/acme/sign-in"
HOSTILE = "<b onclick=alert(1)>Bolt</b>\u202e\x00"


@dataclass
class Console:
    """The browser of the owner of Acme, on the page of a connection."""

    world: World
    visitor: Visitor
    connection_id: str

    @property
    def page(self) -> str:
        """The page of the connection."""
        return f"{SIGN_IN}/connections/{self.connection_id}"

    @property
    def trial(self) -> str:
        """The page of its trial."""
        return f"{self.page}/trial"

    async def begin(self) -> str:
        """Press "Test it"; return the address at the provider to which the page leads on."""
        answer = await self.visitor.submit(await self.visitor.open(self.page), self.trial, is_followed=False)
        assert answer.status == 200, answer.text
        return unescape(answer.headers["Refresh"].partition("url=")[2])


def everything(world: World) -> list[Any]:
    """Return what a sign-in would change."""
    return [
        world.rows("SELECT * FROM identities ORDER BY id"),
        world.rows("SELECT id FROM sessions ORDER BY id"),
        world.rows("SELECT id, email FROM users ORDER BY id"),
        world.rows("SELECT * FROM memberships ORDER BY id"),
        world.rows("SELECT * FROM login_events ORDER BY id"),
        world.rows("SELECT * FROM upstream_sign_ins ORDER BY id"),
        world.rows("SELECT * FROM upstream_failures"),
        world.rows("SELECT id FROM events ORDER BY id"),
    ]


@pytest.fixture
async def console(acme: Acme) -> Console:
    """The owner of Acme, whose connection is switched off."""
    await acme.change(enabled=False)
    browser = Visitor(acme.visitor.client)
    await browser.sign_in("owner@acme.example", path=SIGN_IN)
    return Console(acme.world, browser, acme.connection_id)


async def test_a_trial_by_openid_shows_the_claims_and_changes_nothing(
    console: Console, provider: OpenIdProvider
) -> None:
    provider.claims = {"name": HOSTILE, "groups": ["a", {"b": 1}], **{f"claim-{n}": "x" * 600 for n in range(45)}}
    address = await console.begin()
    before = everything(console.world)

    shown = await console.visitor.open(provider.sign_in(address))

    assert shown.status == 200, shown.text
    assert "The test sign-in succeeded." in shown.text
    assert "&lt;b onclick=alert(1)&gt;Bolt&lt;/b&gt;\ufffd\ufffd" in shown.text
    assert HOSTILE not in shown.text
    assert "ada@acme.example" in shown.text
    assert "employee-1" in shown.text
    assert "would not become a member" in shown.text
    assert not shows(shown.text, "nonce")
    assert len(shown.text.encode()) < 40 * 1024
    assert everything(console.world) == before
    assert console.visitor.has_session


async def test_a_state_is_good_once_in_the_session_that_began_and_until_it_expires(
    console: Console, provider: OpenIdProvider, clock: SettableClock, acme: Acme
) -> None:
    other = Visitor(console.visitor.client)
    await other.sign_in("owner@acme.example", path=SIGN_IN)
    nobody = Visitor(console.visitor.client)
    first = provider.sign_in(await console.begin())
    foreign = [(await browser.open(first)).status for browser in (other, nobody)]
    right = await console.visitor.open(first)
    again = await console.visitor.open(first)
    late = provider.sign_in(await console.begin())
    clock.advance(timedelta(minutes=16))
    expired = await console.visitor.open(late)

    assert foreign == [400, 400]
    assert right.status == 200
    assert "The test sign-in succeeded." in right.text
    assert (again.status, expired.status) == (400, 400)
    assert "This sign-in is over" in expired.text
    assert console.world.value("SELECT count(*) FROM trial_sign_ins WHERE concluded_at IS NOT NULL") == 1


async def test_the_state_of_a_sign_in_and_that_of_a_trial_do_not_stand_in_for_each_other(
    console: Console, provider: OpenIdProvider, acme: Acme
) -> None:
    await acme.change(enabled=True)
    begun = await console.visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")
    [state] = parse_qs(urlsplit(begun.headers["Location"]).query)["state"]
    for forged in (f"trial~{state}", "trial~", "trial~" + "x" * 3000, "trial~%00"):
        answer = await console.visitor.send("GET", f"/auth/upstream/callback?code=x&state={forged}")
        assert answer.status == 400, answer.text

    trial = await console.begin()
    [state] = parse_qs(urlsplit(trial).query)["state"]
    answer = await console.visitor.send("GET", f"/auth/upstream/callback?code=x&state={state.removeprefix('trial~')}")
    assert answer.status == 400
    posted = await console.visitor.post(f"/auth/upstream/{acme.connection_id}/acs", {"RelayState": state})
    assert posted.status == 400
    continued = await console.visitor.open(f"/auth/upstream/{acme.connection_id}/acs?id={state}")
    assert continued.status == 400
    assert acme.identities == 0


async def test_a_member_who_lost_the_right_meanwhile_concludes_nothing(
    console: Console, provider: OpenIdProvider
) -> None:
    back = provider.sign_in(await console.begin())
    console.world.connection.execute("UPDATE memberships SET role = 'member'")

    answer = await console.visitor.open(back)

    assert answer.status == 403
    assert console.world.value("SELECT count(*) FROM trial_sign_ins WHERE used_at IS NOT NULL") == 0


async def test_a_connection_that_changed_meanwhile_ends_the_trial(
    console: Console, provider: OpenIdProvider, acme: Acme
) -> None:
    back = provider.sign_in(await console.begin())
    await acme.change(scopes=["openid", "email", "groups"])

    assert (await console.visitor.open(back)).status == 400
    assert "Never tested" in (await console.visitor.open(console.page)).text


async def test_a_stopped_provider_and_a_forged_token_are_told_and_kept_with_the_connection(
    console: Console, provider: OpenIdProvider
) -> None:
    provider.forged = "ey.ey.ey"
    forged = await console.visitor.open(provider.sign_in(await console.begin()))
    provider.forged = None
    provider.claims = {"nonce": "another", "name": HOSTILE}
    replayed = await console.visitor.open(provider.sign_in(await console.begin()))
    provider.claims = {}
    declined = await console.visitor.open(provider.sign_in(await console.begin(), error="access_denied", code=""))
    odd = await console.visitor.open(provider.sign_in(await console.begin(), error="<script>", code=""))
    provider.document = {"issuer": "https://other.example"}
    page = await console.visitor.open(console.page)
    unreadable = await console.visitor.submit(page, console.trial)

    assert "was not signed with its key" in forged.text
    assert "wrong_nonce" in replayed.text
    assert "&lt;b onclick" in replayed.text
    assert "sent people back without signing them in" in declined.text
    assert "&lt;script&gt;" in odd.text
    assert "names itself differently" in unreadable.text
    assert "names itself differently" in (await console.visitor.open(console.page)).text
    assert console.world.value("SELECT count(*) FROM trial_sign_ins") == 1
    assert console.world.value("SELECT count(*) FROM upstream_failures") == 0


async def test_the_page_says_what_would_become_of_the_person(console: Console, provider: OpenIdProvider) -> None:
    cases: list[tuple[dict[str, Any], bytes, str]] = [
        ({"email": None}, b"", "the provider gave no email address"),
        ({"email": "ada"}, b"", "what the provider gave as the email address is none"),
        ({"email": "ada@other.example"}, b"", "is not a verified mail domain of yours"),
        ({"email": "owner@acme.example"}, b"", "as the member who has this address"),
        ({}, b"UPDATE upstream_connections SET joins_as = 'member'", "and become a member"),
        ({}, b"UPDATE organizations SET max_users = 1", "has as many members as it may have"),
    ]
    for claims, setting, told in cases:
        if setting:
            console.world.connection.execute(setting)
        provider.claims, provider.user = claims, {"sub": "employee-1"}

        shown = await console.visitor.open(provider.sign_in(await console.begin()))

        assert told in shown.text, told
        assert [one for _, _, one in cases if one in shown.text] == [told]


async def test_a_linked_account_is_told_with_its_role(console: Console, provider: OpenIdProvider, acme: Acme) -> None:
    await acme.change(enabled=True, joins_as="member")
    await acme.sign_in()

    linked = await console.visitor.open(provider.sign_in(await console.begin()))
    console.world.connection.execute("DELETE FROM memberships WHERE role = 'member'")
    console.world.connection.execute("DELETE FROM domain_routes")
    left = await console.visitor.open(console.trial)

    assert "The account is linked to this connection already." in linked.text
    assert "<dd>Member</dd>" in linked.text or "<dd>member</dd>" in linked.text
    assert "does not belong to your organization any more" in left.text


async def test_a_trial_by_saml_shows_the_attributes_and_changes_nothing(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    acme = await saml_acme(world, visitor, IdentityProvider(now=clock))
    await acme.change(enabled=False)
    browser, thief = Visitor(visitor.client), Visitor(visitor.client)
    for one in (browser, thief):
        await one.sign_in("owner@acme.example", path=SIGN_IN)
    console = Console(world, browser, acme.connection_id)
    request = asked(await console.begin())
    before = everything(world)

    answered = await acme.post(acme.idp.answer(request), request.relay_state)
    replayed = await acme.post(acme.idp.answer(request), request.relay_state)
    stolen = await thief.open(answered.headers["Location"])
    shown = await browser.open(answered.headers["Location"])
    again = await browser.open(answered.headers["Location"])

    assert (answered.status, replayed.status, stolen.status, again.status) == (303, 400, 400, 400)
    assert "The test sign-in succeeded." in shown.text
    assert "ada@acme.example" in shown.text
    assert "NameID" in shown.text
    assert everything(world) == before

    other = asked(await console.begin())
    returned = await browser.open(f"/auth/upstream/callback?code=x&state={other.relay_state}")
    garbage = await acme.post("bm9uc2Vuc2U=", other.relay_state)
    unread = await browser.open(garbage.headers["Location"])
    assert returned.status == 400
    assert "Nothing that could be read." in unread.text

    request = asked(await console.begin())
    elsewhere = replace(acme.idp, entity_id="https://other.example")
    wrong = await acme.post(elsewhere.answer(request), request.relay_state)
    refused = await browser.open(wrong.headers["Location"])
    assert "The test sign-in failed." in refused.text
    assert acme.owner is not None


async def test_a_new_connection_begins_switched_off_and_is_switched_on_by_the_page_of_its_trial(
    console: Console, provider: OpenIdProvider, acme: Acme, clock: SettableClock
) -> None:
    await acme.owner.delete(f"{CONNECTIONS}/{acme.connection_id}")
    page = await console.visitor.open(f"{SIGN_IN}/connections/new?provider=oidc")
    made = await console.visitor.submit(
        page,
        f"{SIGN_IN}/connections/new",
        issuer=provider.url,
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        name=HOSTILE.rstrip("\x00\u202e"),
    )
    [listed] = (await acme.owner.get(CONNECTIONS)).json["upstream_providers"]
    console.connection_id = listed["id"]
    assert "The connection is saved, and switched off." in made.text
    assert "&lt;b onclick" in made.text
    assert listed["enabled"] is False

    warned = await console.visitor.open(f"{console.page}/enabling")
    token = warned.text.partition('name="form_token" value="')[2].partition('"')[0]
    early = await console.visitor.post(f"{console.page}/enabling", {"form_token": token, "enabled": "yes"})
    shown = await console.visitor.open(provider.sign_in(await console.begin()))
    clock.advance(timedelta(seconds=1))
    on = await console.visitor.submit(shown, f"{console.page}/enabling")

    assert "No test sign-in has succeeded" in warned.text
    assert 'name="enabled"' not in warned.text
    assert early.status == 409
    assert "Test it by a real sign-in first" in early.text
    assert "The connection is switched on." in on.text
    assert (await acme.owner.get(f"{CONNECTIONS}/{listed['id']}")).json["enabled"] is True
    # Two at once: the other page had seen it switched off.
    late = await console.visitor.submit(shown, f"{console.page}/enabling")
    assert late.status == 409
    assert "Another person has changed this connection meanwhile." in late.text
    assert re.search('name="enabled" value="no"', late.text)
