"""The pages of a setup link that a vendor made for a customer."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import pytest

from tests.world.customer_setups import CustomerSetup, make_customer_setup
from tests.world.trade import insert_trade
from tests.world.visitor import Visitor
from tests.world.world import World

BASE_URL = "http://localhost:8000"


@pytest.fixture
async def setup(world: World) -> CustomerSetup:
    """Return a made customer, and a key that sets it up."""
    return await make_customer_setup(insert_trade(world))


async def begin(visitor: Visitor, link: dict[str, Any]) -> Any:
    """Open a link, and press its button."""
    path = link["url"].removeprefix(BASE_URL)
    return await visitor.submit(await visitor.open(path), path)


async def test_the_link_names_vendor_customer_and_service_and_shows_its_parts(
    setup: CustomerSetup, visitor: Visitor
) -> None:
    link = await setup.link("upstream", "mail_domain", "scim", "groups")

    opened = await visitor.open(link["url"].removeprefix(BASE_URL))
    page = await begin(visitor, link)

    assert "Acme" in opened.text
    assert "Globex" in opened.text
    assert "Shop" in opened.text
    assert page.status == 200
    assert "Set up Globex" in page.text
    for part in ("upstream", "mail-domains", "scim", "service-roles"):
        shown = await visitor.open(f"/app/setup/parts/{part}")
        assert shown.status == 200, shown.text


async def test_a_link_opens_its_parts_alone(setup: CustomerSetup, visitor: Visitor) -> None:
    connection = await setup.connect()
    await begin(visitor, await setup.link("scim"))

    for part in (
        "upstream",
        f"upstream/{connection['id']}",
        "mail-domains",
        "service-roles",
        "groups",
        "domain",
        "siem",
        "saml",
    ):
        assert (await visitor.open(f"/app/setup/parts/{part}")).status == 404, part
    assert (await visitor.open("/app/setup/parts/scim")).status == 200


@pytest.mark.parametrize(("named", "other"), [("mail_domain", "upstream"), ("upstream", "mail-domains")])
async def test_a_part_that_reads_what_another_one_shows_does_not_open_it(
    setup: CustomerSetup, visitor: Visitor, named: str, other: str
) -> None:
    await begin(visitor, await setup.link(named))

    assert (await visitor.open(f"/app/setup/parts/{other}")).status == 404


async def test_no_link_of_a_customer_makes_rules_for_roles_of_an_organization(
    setup: CustomerSetup, visitor: Visitor
) -> None:
    await begin(visitor, await setup.link("groups"))

    assert (await visitor.open("/app/setup/parts/groups")).status == 404


async def test_the_connection_has_no_mail_domains_without_their_part(setup: CustomerSetup, visitor: Visitor) -> None:
    connection = await setup.connect(enabled=False)
    page_of = f"/app/setup/parts/upstream/{connection['id']}"
    await begin(visitor, await setup.link("upstream"))

    page = await visitor.open(page_of)
    assert page.status == 200, page.text
    assert "Prove your mail domain" not in page.text
    sent = await visitor.submit(page, f"{page_of}/test", {"domain": "globex.com"})
    assert sent.status == 200


async def test_a_mail_domain_is_claimed_for_a_connection(setup: CustomerSetup, visitor: Visitor) -> None:
    connection = await setup.connect()
    await begin(visitor, await setup.link("mail_domain"))
    path = "/app/setup/parts/mail-domains"

    page = await visitor.open(path)
    claimed = await visitor.submit(page, path, {"domain": "globex.com", "provider_id": connection["id"]})

    assert "globex.com" in claimed.text
    assert "_gatehouse.globex.com" in claimed.text
    [listed] = (await setup.by_key("GET", "/mail-domains")).json["mail_domains"]
    assert listed["provider_id"] == connection["id"]
    missing = await visitor.submit(claimed, f"{path}/{listed['id']}/verify")
    assert missing.status == 400
    removed = await visitor.submit(await visitor.open(path), f"{path}/{listed['id']}/delete")
    assert "_gatehouse.globex.com" not in removed.text


async def test_a_rule_gives_roles_of_the_service(setup: CustomerSetup, visitor: Visitor) -> None:
    connection = await setup.connect()
    await begin(visitor, await setup.link("groups"))
    path = "/app/setup/parts/service-roles"

    page = await visitor.open(path)
    saved = await visitor.submit(
        page, path, {"source": connection["id"], "group": "Editors", "service_roles": "editor"}
    )

    assert "Editors gives editor" in saved.text
    [rule] = (await setup.by_key("GET", "/group-rules")).json["group_rules"]
    assert rule["service_roles"] == ["editor"]
    removed = await visitor.submit(saved, f"{path}/{rule['id']}/remove")
    assert "Editors gives editor" not in removed.text


async def test_a_token_of_a_link_manages_groups_of_its_own(setup: CustomerSetup, visitor: Visitor) -> None:
    await begin(visitor, await setup.link("scim"))
    path = "/app/setup/parts/scim"

    made = await visitor.submit(await visitor.open(path), path)

    assert made.status == 200, made.text
    assert setup.trade.world.rows("SELECT groups, organization_id FROM scim_tokens") == [
        ("directory", setup.internal_id)
    ]


@pytest.mark.parametrize("ended", ["customer", "paused", "claimed", "expired key"])
async def test_a_link_ends_with_what_it_hangs_on(setup: CustomerSetup, visitor: Visitor, ended: str) -> None:
    await begin(visitor, await setup.link("scim"))
    assert (await visitor.open("/app/setup/parts/scim")).status == 200

    if ended == "customer":
        assert (await setup.trade.at_vendor("DELETE", f"/{setup.customer_id}")).status == 204
    elif ended == "paused":
        await setup.trade.at_vendor("PATCH", f"/{setup.customer_id}", body={"paused": True})
    elif ended == "claimed":
        setup.claim("upstream")
    else:
        setup.trade.world.connection.execute("UPDATE api_keys SET expires_at = '2020-01-01'")

    assert (await visitor.open("/app/setup/parts/scim")).status == 404


async def test_a_link_of_a_member_ends_with_the_right_to_manage_the_service(
    setup: CustomerSetup, visitor: Visitor
) -> None:
    made = await setup.by_member("POST", "/setup-links", by="admin", body={"parts": ["scim"]})
    await begin(visitor, made.json)
    assert (await visitor.open("/app/setup/parts/scim")).status == 200

    setup.trade.world.connection.execute(
        "UPDATE memberships SET role = 'member' WHERE user_id = %s", (setup.trade.vendor.ids["admin"],)
    )

    assert (await visitor.open("/app/setup/parts/scim")).status == 404


async def test_the_pages_lead_back_to_the_vendor_with_path_and_query(setup: CustomerSetup, visitor: Visitor) -> None:
    setup.trade.world.connection.execute(
        "UPDATE services SET redirect_uris = %s WHERE id = %s",
        (["https://shop.example.com/callback"], setup.trade.service.id),
    )
    await setup.connect()
    back = "https://shop.example.com/setup/7?account=7&step=2"

    begun = await begin(visitor, await setup.link("upstream", "mail_domain", "scim", "groups", return_url=back))

    assert f'href="{escape(back)}"' in begun.text
    for path in ("upstream", "mail-domains", "scim", "service-roles"):
        shown = await visitor.open(f"/app/setup/parts/{path}")
        assert f'href="{escape(back)}"' in shown.text, path
        assert shown.headers.get("Location") is None, path


async def test_without_a_return_url_no_page_leads_back(setup: CustomerSetup, visitor: Visitor) -> None:
    page = await begin(visitor, await setup.link("scim"))

    assert "shop.example.com" not in page.text
    assert "shop.example.com" not in (await visitor.open("/app/setup/parts/scim")).text


async def test_the_pages_wear_the_brand_of_the_vendor(setup: CustomerSetup, visitor: Visitor) -> None:
    trade = setup.trade
    setup.claim("scim")
    changed = await trade.vendor.request("owner", "PATCH", "/branding", body={"primary_color": "#123456"})
    assert changed.status == 200, changed.text
    link = await setup.link("scim")

    opened = await visitor.open(link["url"].removeprefix(BASE_URL))
    begun = await begin(visitor, link)

    for page in (opened, begun, await visitor.open("/app/setup/parts/scim")):
        assert page.status == 200
        [sheet] = [one for one in re.findall(r'<link rel="stylesheet" href="([^"]+)"', page.text) if "brand" in one]
        assert "#123456" in (await visitor.open(sheet)).text


async def test_a_link_of_an_ended_relation_opens_no_part_and_cannot_be_begun(
    setup: CustomerSetup, visitor: Visitor
) -> None:
    connection = await setup.connect()
    link = await setup.link("upstream", "mail_domain", "scim", "groups")
    await begin(visitor, link)
    setup.claim("upstream", "mail_domain", "scim", "groups")

    assert (await setup.trade.at_vendor("DELETE", f"/{setup.customer_id}")).status == 204

    for path in ("upstream", f"upstream/{connection['id']}", "mail-domains", "scim", "service-roles"):
        assert (await visitor.open(f"/app/setup/parts/{path}")).status == 404, path
    assert (await visitor.open(link["url"].removeprefix(BASE_URL))).status == 404
    assert setup.trade.world.value("SELECT count(*) FROM setup_links") == 0
