"""The pages on which a vendor sets a customer up: connections, mail domains, SCIM tokens, group rules, setup links."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import pytest

from tests.shown_text import shows
from tests.world.builder import NO_ID
from tests.world.customer_setups import CustomerSetup, make_customer_setup
from tests.world.trade import Trade
from tests.world.visitor import Visitor

PARTS = ("connections", "mail-domains", "scim-tokens", "group-rules", "setup-links")


@pytest.fixture
async def owner(browser_of: Callable[[str], Awaitable[Visitor]]) -> Visitor:
    """The browser of the owner of the vendor."""
    return await browser_of("owner")


@pytest.fixture
async def setup(trade: Trade) -> CustomerSetup:
    """A customer that the vendor has made."""
    return await make_customer_setup(trade)


def page_of(setup: CustomerSetup) -> str:
    """Return the path of the customer in the console."""
    return f"/app/organizations/acme/services/shop/customers/{setup.customer_id}"


class TestReading:
    async def test_each_part_has_a_page_that_leads_to_the_others(self, setup: CustomerSetup, owner: Visitor) -> None:
        here = page_of(setup)

        for part in PARTS:
            page = await owner.open(f"{here}/{part}")
            assert page.status == 200, part
            assert shows(page.text, "Globex"), part
            assert all(f'href="{here}/{other}"' in page.text for other in PARTS), part
        overview = await owner.open(here)
        assert all(f'href="{here}/{part}"' in overview.text for part in PARTS)

    async def test_a_claimed_customer_opens_what_its_owner_lets_the_vendor_set_up(
        self, setup: CustomerSetup, owner: Visitor
    ) -> None:
        here = page_of(setup)
        setup.claim("upstream", "scim")

        links = await owner.open(f"{here}/setup-links")

        for part, status in zip(PARTS, (200, 403, 200, 403, 200), strict=True):
            assert (await owner.open(f"{here}/{part}")).status == status, part
        assert f'href="{here}/mail-domains"' not in links.text
        assert 'value="mail_domain"' not in links.text
        setup.claim()
        for part in PARTS:
            refused = await owner.open(f"{here}/{part}")
            assert refused.status == 403, part
            assert shows(refused.text, "Its owner can allow it."), part

    async def test_a_paused_customer_is_not_set_up_meanwhile(self, setup: CustomerSetup, owner: Visitor) -> None:
        here = page_of(setup)
        await setup.by_key("GET", "/connections")
        await setup.connect()
        await setup.trade.at_vendor("PATCH", f"/{setup.customer_id}", body={"paused": True})

        page = await owner.open(here)
        refused = await owner.open(f"{here}/connections")

        assert "While the customer is paused, nothing is set up for it." in page.text
        assert f'href="{here}/connections"' not in page.text
        assert refused.status == 403
        assert shows(refused.text, "Nothing is set up for it meanwhile.")

    async def test_members_who_manage_no_services_and_other_vendors_see_nothing(
        self, setup: CustomerSetup, browser_of: Callable[[str], Awaitable[Visitor]]
    ) -> None:
        for name in ("member", "head"):
            browser = await browser_of(name)
            for part in PARTS:
                assert (await browser.open(f"{page_of(setup)}/{part}")).status == 403, (name, part)


class TestConnections:
    async def test_one_that_was_made_is_listed_shown_switched_and_removed(
        self, setup: CustomerSetup, owner: Visitor
    ) -> None:
        made = await setup.connect()
        listed = f"{page_of(setup)}/connections"
        here = f"{listed}/{made['id']}"

        lists = await owner.open(listed)
        page = await owner.follow(lists, here)
        off = await owner.submit(page, f"{here}/switch")
        asked = await owner.follow(off, f"{here}/remove")
        removed = await owner.submit(asked, f"{here}/remove")

        assert shows(lists.text, "Not tested yet")
        assert 'value="https://login.globex.com"' in page.text
        assert not shows(page.text, "very-secret")
        assert "The connection is switched off." in off.text
        assert shows(asked.text, "The people who sign in by it are unlinked, and their sessions by it end.")
        assert "The connection is deleted." in removed.text
        assert (await setup.by_key("GET", "/connections")).json["total"] == 0

    async def test_the_provider_is_asked_before_one_is_changed(self, setup: CustomerSetup, owner: Visitor) -> None:
        made = await setup.connect()
        here = f"{page_of(setup)}/connections/{made['id']}"

        refused = await owner.submit(await owner.open(here), here, name="Globex Inc.")

        assert refused.status == 400
        assert 'value="Globex Inc."' in refused.text
        assert (await setup.by_key("GET", f"/connections/{made['id']}")).json["name"] == "Globex"

    async def test_the_form_of_a_provider_stays_with_what_was_typed(self, setup: CustomerSetup, owner: Visitor) -> None:
        new = f"{page_of(setup)}/connections/new"

        kinds = await owner.open(new)
        form = await owner.open(f"{new}?provider=oidc")
        refused = await owner.submit(
            form, new, name="Globex", issuer="http://login.globex.com", client_id="x", client_secret="y"
        )

        assert shows(kinds.text, "Which provider does the customer use?")
        assert refused.status == 400
        assert shows(refused.text, "Nothing was saved.")
        assert 'value="http://login.globex.com"' in refused.text

    async def test_one_by_saml_gets_its_name_first(self, setup: CustomerSetup, owner: Visitor) -> None:
        new = f"{page_of(setup)}/connections/new"

        made = await owner.submit(await owner.open(f"{new}?provider=saml"), new, name="Globex")

        assert "The connection is saved." in made.text
        assert shows(made.text, "The metadata of the identity provider are missing.")
        [connection] = (await setup.by_key("GET", "/connections")).json["connections"]
        assert (connection["type"], connection["enabled"]) == ("saml", False)


class TestMailDomains:
    async def test_a_domain_is_claimed_checked_and_removed(self, setup: CustomerSetup, owner: Visitor) -> None:
        here = f"{page_of(setup)}/mail-domains"
        assert shows((await owner.open(here)).text, "There is no connection yet.")
        connection = await setup.connect()

        wrong = await owner.submit(await owner.open(here), here, domain="globex", provider_id=connection["id"])
        claimed = await owner.submit(wrong, here, domain="globex.example", provider_id=connection["id"])
        [domain] = (await setup.by_key("GET", "/mail-domains")).json["mail_domains"]
        unproved = await owner.submit(claimed, f"{here}/{domain['id']}/verify")
        removed = await owner.submit(await owner.open(here), f"{here}/{domain['id']}/remove")

        assert wrong.status == 400
        assert 'value="globex"' in wrong.text
        assert domain["txt_value"] in claimed.text
        assert unproved.status == 400
        assert "The mail domain is removed." in removed.text


class TestTokens:
    async def test_no_page_asks_for_one_that_was_never_made(self, setup: CustomerSetup, owner: Visitor) -> None:
        assert (await owner.open(f"{page_of(setup)}/scim-tokens/{NO_ID}/revoke")).status == 404

    async def test_a_token_is_shown_once_and_revoked(self, setup: CustomerSetup, owner: Visitor) -> None:
        here = f"{page_of(setup)}/scim-tokens"

        wrong = await owner.submit(await owner.open(here), here, name="", days="")
        made = await owner.submit(wrong, here, name="Okta", days="90")
        [token] = (await setup.by_key("GET", "/scim-tokens")).json["tokens"]
        again = await owner.open(here)
        asked = await owner.follow(again, f"{here}/{token['id']}/revoke")
        revoked = await owner.submit(asked, f"{here}/{token['id']}/revoke")

        assert wrong.status == 400
        assert "Copy the token now. It is shown only once." in made.text
        assert token["prefix"] in made.text
        assert "Copy the token now." not in again.text
        assert shows(asked.text, "Revoke the token Okta?")
        assert "The token is revoked." in revoked.text


class TestRules:
    async def test_a_rule_is_added_and_removed(self, setup: CustomerSetup, owner: Visitor) -> None:
        here = f"{page_of(setup)}/group-rules"
        connection = await setup.connect()
        page = await owner.open(here)

        fields = {"source": connection["id"], "group": "staff", "service_roles": "editor"}
        wrong = await owner.submit(page, here, fields, group="")
        added = await owner.submit(page, here, fields)
        twice = await owner.submit(page, here, fields)
        [rule] = (await setup.by_key("GET", "/group-rules")).json["group_rules"]
        removed = await owner.submit(added, f"{here}/{rule['id']}/remove")

        assert (wrong.status, twice.status) == (400, 409)
        assert shows(added.text, "staff gives editor")
        assert shows(removed.text, "There is no rule yet: roles are given by hand.")


class TestLinks:
    async def test_a_link_is_shown_once_with_a_text_for_the_mail(self, setup: CustomerSetup, owner: Visitor) -> None:
        here = f"{page_of(setup)}/setup-links"
        setup.trade.world.connection.execute("UPDATE services SET redirect_uris = '{https://shop.example/callback}'")
        page = await owner.open(here)

        fields = {"parts": "upstream", "minutes": "1440", "actor": "Ann"}
        wrong = await owner.submit(page, here, fields, return_url="https://elsewhere.example/")
        made = await owner.submit(page, here, fields, return_url="https://shop.example/settings?tab=sso")
        [link] = (await setup.by_key("GET", "/setup-links")).json["setup_links"]
        again = await owner.open(here)
        revoked = await owner.submit(again, f"{here}/{link['id']}/revoke")

        assert wrong.status == 400
        assert 'value="https://elsewhere.example/"' in wrong.text
        assert re.search(r"/app/setup/\w+", made.text)
        assert (link["return_url"], link["actor"]) == ("https://shop.example/settings?tab=sso", "Ann")
        assert "/app/setup/" not in again.text
        assert shows(again.text, "Not opened yet")
        assert "The setup link is revoked" in revoked.text
