"""The pages of what vendors have made for an organization, which its owner adopts and removes."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from tests.world.adoptions import DOMAIN, Adoption, make_adoption
from tests.world.internal import add_mail_domain
from tests.world.trade import Trade
from tests.world.visitor import Visitor

PAGE = "/app/organizations/beta/made-for-us"


@pytest.fixture
async def adoption(trade: Trade) -> Adoption:
    """Return a customer that its vendor sets up, and whose owner adopts what it makes."""
    return await make_adoption(trade)


@pytest.fixture
async def head(browser_of: Callable[[str], Awaitable[Visitor]]) -> Visitor:
    """The browser of the owner of the customer."""
    return await browser_of("head")


async def test_the_owner_finds_what_was_made_from_the_products(adoption: Adoption, head: Visitor) -> None:
    await adoption.setup.connect()
    await adoption.setup.link("scim")

    products = await head.open("/app/organizations/beta/products")
    product = await head.open(f"/app/organizations/beta/products/{adoption.trade.service.client_id}")
    page = await head.open(PAGE)

    assert f'href="{PAGE}"' in products.text
    assert f'href="{PAGE}"' in product.text
    assert page.status == 200
    for text in ("Globex", "Acme (acme) · Shop", "By the program of the vendor", "Connection", "Setup link"):
        assert text in page.text
    # A setup link is only removed.
    assert len(re.findall(rf'href="{PAGE}/[0-9a-f-]+/adopt"', page.text)) == 1
    assert len(re.findall(rf'href="{PAGE}/[0-9a-f-]+/remove"', page.text)) == 2


async def test_without_anything_the_page_says_so(adoption: Adoption, head: Visitor) -> None:
    assert "No vendor has made anything for your organization." in (await head.open(PAGE)).text


async def test_nobody_but_the_owner_opens_it(
    adoption: Adoption, browser_of: Callable[[str], Awaitable[Visitor]]
) -> None:
    made = await adoption.make("/scim-tokens", name="Okta")

    for name in ("chief", "worker"):
        visitor = await browser_of(name)
        for path in (PAGE, f"{PAGE}/{made['id']}/adopt", f"{PAGE}/{made['id']}/remove"):
            assert (await visitor.open(path)).status == 403, (name, path)
        assert f'href="{PAGE}"' not in (await visitor.open("/app/organizations/beta/products")).text, name


async def test_the_secret_of_an_adopted_token_is_shown_once(adoption: Adoption, head: Visitor) -> None:
    made = await adoption.make("/scim-tokens", name="Okta")
    path = f"{PAGE}/{made['id']}/adopt"
    asking = await head.open(path)
    assert "The token gets another secret" in asking.text

    adopted = await head.submit(asking, path, is_followed=False)

    assert adopted.status == 303, adopted.text
    shown = await head.open(adopted.headers["Location"])
    [token] = set(re.findall(r"scim_live_\w+", shown.text))
    called = await adoption.world.client.request("GET", "/scim/v2/Users", headers={"Authorization": f"Bearer {token}"})
    assert called.status == 200
    again = await head.open(adopted.headers["Location"])
    assert token not in again.text
    assert "The token was shown already." in again.text


async def test_a_connection_is_adopted_after_its_domain_is_proved(adoption: Adoption, head: Visitor) -> None:
    made = await adoption.setup.connect()
    add_mail_domain(adoption.world, made["id"], adoption.setup.internal_id, DOMAIN)
    path = f"{PAGE}/{made['id']}/adopt"
    asking = await head.open(path)
    assert "Not proved by you" in asking.text
    assert "https://login.globex.com" in asking.text

    refused = await head.submit(asking, path)

    assert refused.status == 409
    assert f"Prove the mail domain {DOMAIN} for your organization first" in refused.text
    await adoption.prove()
    asking = await head.open(path)
    assert "Proved by you" in asking.text
    adopted = await head.submit(asking, path)
    assert adopted.status == 200, adopted.text
    assert "The connection is your organization" in adopted.text
    assert adoption.world.value("SELECT enabled FROM upstream_connections WHERE id = %s", made["id"]) is False
    assert "No vendor has made anything" in (await head.open(PAGE)).text


async def test_each_kind_has_its_page_and_is_removed(adoption: Adoption, head: Visitor) -> None:
    connection = await adoption.setup.connect()
    rule = {"source": connection["id"], "group": "Editors", "service_roles": ["editor"]}
    made = [
        (await adoption.setup.link("scim"))["id"],
        (await adoption.make("/group-rules", **rule))["id"],
        (await adoption.make("/scim-tokens", name="Okta"))["id"],
        (await adoption.make("/mail-domains", domain=DOMAIN, provider_id=connection["id"]))["id"],
        connection["id"],
    ]

    for thing_id in made:
        assert (await head.open(f"{PAGE}/{thing_id}/adopt")).status == 200
        path = f"{PAGE}/{thing_id}/remove"
        removed = await head.submit(await head.open(path), path)
        assert removed.status == 200, removed.text
        assert "It is removed. The vendor gets an event." in removed.text
        assert (await head.open(path)).status == 404

    assert await adoption.things() == []


async def test_the_rules_that_end_with_a_connection_are_named(adoption: Adoption, head: Visitor) -> None:
    connection = await adoption.setup.connect()
    await adoption.make("/group-rules", source=connection["id"], group="Night shift", service_roles=["editor"])

    page = await head.open(f"{PAGE}/{connection['id']}/adopt")

    assert "Night shift" in page.text


async def test_an_old_sign_in_is_asked_to_sign_in_again(adoption: Adoption, head: Visitor) -> None:
    made = await adoption.make("/scim-tokens", name="Okta")
    path = f"{PAGE}/{made['id']}/remove"
    asking = await head.open(path)
    adoption.world.clock.advance(timedelta(minutes=11))

    answer = await head.submit(asking, path)

    assert 'type="password"' in answer.text
    assert len(await adoption.things()) == 1


async def test_things_of_others_are_unknown(adoption: Adoption, head: Visitor) -> None:
    own = await adoption.own("POST", "/scim-tokens", body={"name": "Own"})

    for word in ("adopt", "remove"):
        assert (await head.open(f"{PAGE}/{own.json['id']}/{word}")).status == 404


async def test_the_texts_are_german_too(adoption: Adoption, head: Visitor) -> None:
    made = await adoption.make("/scim-tokens", name="Okta")
    head.headers["Accept-Language"] = "de"

    assert "Für Ihre Organisation eingerichtet" in (await head.open(PAGE)).text
    assert "Okta übernehmen?" in (await head.open(f"{PAGE}/{made['id']}/adopt")).text
