"""The sign-in of an organization in the console: rules, connections, mail domains, and credentials at providers."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.application import Answer
from tests.clock import SettableClock
from tests.identity_provider import IdentityProvider
from tests.multipart import CONTENT_TYPE, form_data
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET, OpenIdProvider
from tests.pages.copied import copied
from tests.shown_text import shows
from tests.world.builder import PASSWORD
from tests.world.openid_acme import Acme
from tests.world.openid_connection import CONNECTIONS, ROUTES
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

SIGN_IN = "/app/organizations/acme/sign-in"
NEW = f"{SIGN_IN}/connections/new"
DOMAINS = f"{SIGN_IN}/mail-domains"


@pytest.fixture
async def ann(acme: Acme) -> Visitor:
    """The browser of the owner of Acme, whose connection is in use."""
    browser = Visitor(acme.visitor.client)
    await browser.sign_in("owner@acme.example", path=SIGN_IN)
    return browser


async def test_rules_are_changed_unless_another_admin_has_changed_them(world: World, ann: Visitor) -> None:
    page = await ann.open(SIGN_IN)
    saved = await ann.submit(page, SIGN_IN, device_trust_days="7")
    late = await ann.submit(page, SIGN_IN, device_trust_days="9")
    odd = await ann.submit(await ann.open(SIGN_IN), SIGN_IN, device_trust_days="366")
    text = await ann.submit(await ann.open(SIGN_IN), SIGN_IN, device_trust_days="\u0663")

    assert "The rules are saved." in saved.text
    assert "after 7 days" in saved.text
    assert (late.status, odd.status, text.status) == (409, 400, 400)
    assert 'value="9"' in late.text
    assert "Enter a whole number from 0 to 365." in odd.text
    assert world.value("SELECT device_trust_days FROM organizations WHERE slug = 'acme'") == 7


async def test_a_mistake_is_told_before_a_connection_is_saved(
    ann: Visitor, provider: OpenIdProvider, acme: Acme
) -> None:
    page = await ann.open(f"{NEW}?provider=okta")
    wrong = await ann.submit(page, NEW, issuer=provider.url, client_id=CLIENT_ID, client_secret="mistyped", name="Two")
    empty = await ann.submit(await ann.open(f"{NEW}?provider=oidc"), NEW)

    assert "Which provider do you use?" in (await ann.open(NEW)).text
    assert "does not accept the client secret" in wrong.text
    assert not shows(wrong.text, "mistyped")
    assert f'value="{provider.url}"' in wrong.text
    assert "Okta" in wrong.text
    assert empty.status == 400
    assert (await acme.owner.get(CONNECTIONS)).json["total"] == 1


async def send_file(visitor: Visitor, page: str, file: bytes, **fields: str) -> Answer:
    """Send the form of the provider with a file in place of the metadata."""
    form = next(one for one in forms_of(await visitor.open(page)) if one.action == page)
    sent = {name: value for name, value in form.fields.items() if name != "metadata_file"} | fields
    data = form_data(sent, {"metadata_file": file})
    return await visitor.send("POST", page, data=data, headers={"Content-Type": CONTENT_TYPE})


async def test_a_connection_by_saml_stays_switched_off_when_it_gets_its_metadata(
    ann: Visitor, acme: Acme, clock: SettableClock
) -> None:
    made = await ann.submit(await ann.open(f"{NEW}?provider=saml"), NEW, name="By SAML")
    listed = (await acme.owner.get(CONNECTIONS)).json["upstream_providers"][1]
    page = f"{SIGN_IN}/connections/{listed['id']}"
    refused = await ann.post(
        f"{page}/trial", {"form_token": made.text.split('name="form_token" value="')[1].partition('"')[0]}
    )
    clock.advance(timedelta(seconds=1))
    saved = await ann.submit(await ann.open(page), page, metadata_xml=IdentityProvider(now=clock).metadata())
    unread = await ann.submit(await ann.open(page), page, metadata_xml="<nonsense")
    files = (IdentityProvider(now=clock).metadata().encode("utf-16"), b"\xff\x00<nonsense")
    of_files = [await send_file(ann, page, file, metadata_url="https://gone.example") for file in files]
    rotated = await ann.submit(await ann.open(page), f"{page}/rotate-key-pair")
    asked = await ann.submit(await ann.open(page), f"{page}/ask")

    assert "The metadata of your identity provider are missing." in made.text
    assert refused.status == 400
    assert "The changes to the connection are saved." in saved.text
    assert (await acme.owner.get(f"{CONNECTIONS}/{listed['id']}")).json["enabled"] is False
    assert unread.status == 400
    assert [one.status for one in of_files] == [303, 400]
    assert 'id="metadata_xml-problem"' in of_files[1].text
    assert "The certificate is valid until" in rotated.text
    assert "The provider was asked again." in asked.text


async def test_a_file_with_metadata_that_comes_too_late_is_sent_after_the_sign_in(
    ann: Visitor, acme: Acme, clock: SettableClock
) -> None:
    await ann.submit(await ann.open(f"{NEW}?provider=saml"), NEW, name="By SAML")
    page = f"{SIGN_IN}/connections/{(await acme.owner.get(CONNECTIONS)).json['upstream_providers'][1]['id']}"
    fields = next(one for one in forms_of(await ann.open(page)) if one.action == page).fields
    clock.advance(timedelta(minutes=11))
    file = IdentityProvider(now=clock).metadata().encode()

    data = form_data(
        {name: value for name, value in fields.items() if name != "metadata_file"}, {"metadata_file": file}
    )
    asked = await ann.send("POST", page, data=data, headers={"Content-Type": CONTENT_TYPE})
    saved = await ann.submit(await ann.submit(await ann.led_on(asked), password=PASSWORD))

    assert "The changes to the connection are saved." in saved.text
    assert "The metadata of your identity provider are missing." not in saved.text


async def test_the_provider_and_the_options_of_a_connection_are_changed(
    ann: Visitor, acme: Acme, provider: OpenIdProvider, clock: SettableClock
) -> None:
    page = f"{SIGN_IN}/connections/{acme.connection_id}"
    shown = await ann.open(page)
    clock.advance(timedelta(seconds=1))
    saved = await ann.submit(shown, f"{page}/change", joins_as="member", trust_mfa="on", claim_of_email="upn")
    late = await ann.submit(shown, f"{page}/change", joins_as="", scopes="openid kept")
    unknown = await ann.submit(await ann.open(page), f"{page}/change", joins_as="nobody")
    wrong = await ann.submit(await ann.open(page), page, client_secret="mistyped")
    late_provider = await ann.submit(shown, page, client_secret=CLIENT_SECRET)
    right = await ann.submit(await ann.open(page), page, client_secret=CLIENT_SECRET)
    stored = (await acme.owner.get(f"{CONNECTIONS}/{acme.connection_id}")).json

    assert "The changes to the connection are saved." in saved.text
    assert (stored["joins_as"], stored["trust_mfa"]) == ("member", True)
    assert stored["attribute_mapping"] == {"email": "upn"}
    assert (late.status, late_provider.status) == (409, 409)
    assert 'value="openid kept"' in late.text
    assert (unknown.status, wrong.status) == (400, 400)
    assert "The changes to the connection are saved." in right.text
    odd = await ann.submit(await ann.open(page), f"{page}/change", seen="yesterday")
    assert odd.status == 400


async def test_switching_off_and_deleting_say_first_what_ends(
    world: World, ann: Visitor, acme: Acme, clock: SettableClock
) -> None:
    await acme.sign_in()
    page = f"{SIGN_IN}/connections/{acme.connection_id}"
    asked = await ann.open(f"{page}/enabling")
    deletion = await ann.open(f"{page}/delete")
    clock.advance(timedelta(seconds=1))
    off = await ann.submit(asked, f"{page}/enabling")
    late = await ann.submit(deletion, f"{page}/delete", note="A typed reason")
    untested = await ann.open(f"{page}/enabling")
    token = untested.text.partition('name="form_token" value="')[2].partition('"')[0]
    odd = await ann.post(f"{page}/enabling", {"form_token": token, "enabled": "perhaps"})
    gone = await ann.submit(await ann.open(f"{page}/delete"), f"{page}/delete", note="We have left it")

    assert "One session that began by it ends." in asked.text
    assert "One of these accounts has no password" in deletion.text
    assert "The connection is switched off." in off.text
    assert (late.status, odd.status) == (409, 400)
    assert 'value="A typed reason"' in late.text
    assert "The connection is deleted." in gone.text
    assert acme.live_sessions == 0
    assert world.value("SELECT details->>'note' FROM audit_entries WHERE details ? 'note'") == "We have left it"
    assert (await ann.open(page)).status == 404


async def test_a_mail_domain_is_claimed_enforced_and_removed(ann: Visitor, acme: Acme) -> None:
    claimed = await ann.submit(await ann.open(DOMAINS), DOMAINS, domain="two.example", provider_id=acme.connection_id)
    again = await ann.submit(await ann.open(DOMAINS), DOMAINS, domain="two.example", provider_id=acme.connection_id)
    without = await ann.submit(await ann.open(DOMAINS), DOMAINS, domain="three.example")
    routes = (await acme.owner.get(ROUTES)).json["domain_routes"]
    [route] = [one for one in routes if one["domain"] == "two.example"]
    page = f"{DOMAINS}/{route['id']}"
    first, removal = await ann.open(page), await ann.open(f"{page}/remove")
    unproved = await ann.submit(first, f"{page}/check")
    enforced = await ann.submit(first, page, provider_id=acme.connection_id, enforced="on")
    late = await ann.submit(first, page, provider_id=acme.connection_id)
    late_removal = await ann.submit(removal, f"{page}/remove")
    found = await ann.open(f"{DOMAINS}?search=TWO")
    removed = await ann.submit(await ann.open(f"{page}/remove"), f"{page}/remove")

    assert "Publish the TXT record, then check it." in claimed.text
    assert "_gatehouse.two.example" in claimed.text
    assert "claimed here already" in again.text
    assert "Choose a connection." in without.text
    assert unproved.status == 400
    assert "Enforced" in enforced.text
    assert (late.status, late_removal.status) == (409, 409)
    assert "1 found" in found.text or "One found" in found.text
    assert "The mail domain is removed." in removed.text
    assert (await ann.open(page)).status == 404
    gone = await ann.submit(first, page, provider_id=acme.connection_id)
    assert gone.status == 404


async def test_many_mail_domains_and_connections_are_shown_in_parts(world: World, ann: Visitor, acme: Acme) -> None:
    for number in range(60):
        await acme.owner.post(ROUTES, {"domain": f"{'d' * 50}{number:02}.example", "provider_id": acme.connection_id})
    world.connection.execute(
        """
        INSERT INTO upstream_connections (id, organization_id, type, name, scopes, attribute_mapping, trust_mfa,
                                          enabled, created_at, updated_at)
        SELECT gen_random_uuid(), organization_id, 'saml', repeat('<', 100), '{}', '{}', false, false,
               created_at + n * interval '1 second', updated_at
        FROM   upstream_connections, generate_series(1, 49) n
        """
    )

    first, second = await ann.open(DOMAINS), await ann.open(f"{DOMAINS}?after={'d' * 50}23.example")
    overview = await ann.open(SIGN_IN)

    assert not shows(first.text, "After")
    assert f"{'d' * 50}10.example" in first.text
    assert f"{'d' * 50}24.example" in second.text
    assert max(len(one.text.encode()) for one in (first, second, overview)) < 40 * 1024


async def test_credentials_at_a_provider_are_set_shown_without_the_secret_and_deleted(ann: Visitor) -> None:
    page = f"{SIGN_IN}/oauth-credentials/codehost"
    empty = await ann.submit(await ann.open(page), page)
    saved = await ann.submit(await ann.open(page), page, client_id="our-client", client_secret="our-secret")
    shown = await ann.open(page)
    deleted = await ann.submit(shown, f"{page}/delete")

    assert empty.status == 400
    assert "The credentials are saved." in saved.text
    assert "our-client" in shown.text
    assert not shows(shown.text + saved.text, "our-secret")
    assert "/auth/codehost/callback" in shown.text
    assert "The credentials are deleted." in deleted.text
    assert (await ann.open(f"{SIGN_IN}/oauth-credentials/upstream")).status == 404


async def test_the_page_of_a_connection_says_how_its_provider_ends_sessions(acme: Acme, ann: Visitor) -> None:
    by_openid = await ann.open(f"{SIGN_IN}/connections/{acme.connection_id}")
    made = await acme.owner.post(CONNECTIONS, {"type": "saml", "name": "By SAML"})
    path = f"{SIGN_IN}/connections/{made.json['id']}"

    wrong = await ann.submit(await ann.open(path), f"{path}/token-issuer", token_issuer="http://idp.example")
    acme.world.clock.advance(timedelta(minutes=1))
    saved = await ann.submit(wrong, f"{path}/token-issuer", token_issuer="https://acme.okta.com")
    stale = await ann.submit(wrong, f"{path}/token-issuer", token_issuer="")

    address = f"http://localhost:8000/auth/upstream/{acme.connection_id}/global-token-revocation"
    assert copied(by_openid, "revocation_address") == address
    assert not shows(by_openid.text, "token_issuer")
    assert "Universal Logout" in by_openid.text
    assert (wrong.status, stale.status) == (400, 409)
    assert "This must be an https address." in wrong.text
    assert 'value="https://acme.okta.com"' in saved.text
    shown = await acme.owner.get(f"{CONNECTIONS}/{made.json['id']}")
    assert shown.json["token_issuer"] == "https://acme.okta.com"
