"""Claiming a customer that a vendor has made: the pages of the mailed link, and who becomes the owner by them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from core.organizations.management import PENDING_MAX
from tests.application import Answer
from tests.concurrency import at_once
from tests.shown_text import shows
from tests.world.builder import PASSWORD
from tests.world.claims import ANN, CLAIMS, OWN, Claims
from tests.world.customer_setups import make_customer_setup
from tests.world.trade import Trade
from tests.world.visitor import Visitor, forms_of

EVE = "eve@elsewhere.example"


@pytest.fixture
def claims(trade: Trade) -> Claims:
    """A vendor that makes customers."""
    return Claims(trade)


def owner_of(claims: Claims, customer_id: str) -> str | None:
    found = claims.trade.world.rows(
        """
        SELECT u.email
        FROM   memberships m
        JOIN   users u ON u.id = m.user_id
        WHERE  m.organization_id = %s AND m.role = 'owner'
        """,
        claims.organization_of(customer_id),
    )
    return found[0][0] if found else None


async def test_a_mail_scanner_that_opens_the_link_changes_nothing(claims: Claims) -> None:
    customer_id = await claims.make()
    token = await claims.token(customer_id)
    before = claims.trade.world.rows("SELECT * FROM customer_claims, organizations ORDER BY id")

    pages = [await claims.trade.world.client.get(f"{path}?token={token}") for path in (CLAIMS, OWN, CLAIMS)]

    assert [page.status for page in pages] == [200, 303, 200]
    assert shows(pages[0].text, "Acme")
    assert shows(pages[0].text, "Globex")
    assert not forms_of(pages[0])
    assert claims.trade.world.rows("SELECT * FROM customer_claims, organizations ORDER BY id") == before
    assert owner_of(claims, customer_id) is None


async def test_a_person_who_signs_in_claims_it_under_a_name_and_slug_of_their_own(claims: Claims) -> None:
    customer_id = await claims.make()
    token = await claims.token(customer_id)
    claims.trade.world.user(ANN)
    browser = Visitor(claims.trade.world.client)
    first = await browser.open(f"{CLAIMS}?token={token}")

    asked = await browser.follow(first, OWN)
    methods = await browser.submit(asked, "/app/sign-in", email=ANN)
    page = await browser.submit(methods, "/app/sign-in/password", password=PASSWORD)
    done = await browser.submit(page, OWN, name="Globex Corporation", slug="globex-corp", vendor_setup="scim")

    assert (page.status, done.status) == (200, 200)
    for text in ("Acme", "Shop", "Connections to an identity provider"):
        assert shows(page.text, text)
    assert shows(done.text, "Globex Corporation")
    record = await claims.record(customer_id)
    assert record["organization"] == {"slug": "globex-corp", "name": "Globex Corporation"}
    assert (record["unclaimed"], record["vendor_setup"], record["state"]) == (False, ["scim"], "active")
    assert owner_of(claims, customer_id) == ANN


async def test_a_part_that_there_is_not_is_refused(claims: Claims) -> None:
    customer_id = await claims.make()

    refused = await claims.claim(await claims.browser(), await claims.token(customer_id), vendor_setup="siem")

    assert refused.status == 400
    assert owner_of(claims, customer_id) is None


async def test_the_page_counts_what_was_made_and_says_what_the_vendor_may_do(claims: Claims) -> None:
    setup = await make_customer_setup(claims.trade)
    connection = await setup.connect()
    rule = {"source": connection["id"], "group": "Editors", "service_roles": ["editor"]}
    assert (await setup.by_key("POST", "/group-rules", body=rule)).status == 200
    await setup.link("scim")

    page = await (await claims.browser()).open(f"{OWN}?token={await claims.token(setup.customer_id)}")

    numbers = dict(re.findall(r"<dt>([^<]+)</dt><dd>(\d+)</dd>", page.text))
    assert numbers == {
        "Connections to an identity provider": "1",
        "Mail domains": "0",
        "SCIM tokens": "0",
        "Rules by which groups give roles": "1",
        "Open setup links": "1",
    }
    assert shows(page.text, "What Acme may do in any case")
    assert shows(page.text, "Pause or end the use of Shop")


async def test_a_person_without_an_account_registers_on_the_way(claims: Claims) -> None:
    customer_id = await claims.make()
    token = await claims.token(customer_id)
    browser = Visitor(claims.trade.world.client)
    asked = await browser.follow(await browser.open(f"{CLAIMS}?token={token}"), OWN)
    register = await browser.follow(asked, "/app/register")
    await browser.submit(register, "/app/register", email=ANN, password=PASSWORD)
    link = (await claims.trade.world.mail()).values["token"]

    verified = await browser.submit(await browser.open(f"/auth/verify-email?token={link}"))
    page = verified if f'action="{OWN}"' in verified.text else await browser.open(f"{OWN}?token={token}")
    done = await browser.submit(page, OWN, name="Globex", slug="globex")

    assert done.status == 200, done.text
    assert owner_of(claims, customer_id) == ANN


async def test_both_sides_log_it_and_the_vendor_is_not_told_who_it_was(claims: Claims) -> None:
    customer_id = await claims.claimed(vendor_setup="upstream")
    organization_id = claims.organization_of(customer_id)

    [[_, actor, details]] = claims.trade.log_of(claims.trade.vendor, "customer.claimed")
    assert actor is None
    assert (details["by"], details["organization_slug"], details["vendor_setup"]) == (
        "customer",
        "globex",
        ["upstream"],
    )
    assert ANN not in str(details)
    [[own_actor, own]] = claims.trade.world.rows(
        """
        SELECT actor_user_id, details FROM audit_entries
        WHERE  organization_id = %s AND action = 'organization.claimed'
        """,
        organization_id,
    )
    assert own_actor == claims.trade.world.value("SELECT id FROM users WHERE email = %s", ANN)
    assert (own["customer_id"], own["vendor_slug"], own["slug"]) == (customer_id, "acme", "globex")


async def test_nobody_else_claims_it(claims: Claims) -> None:
    customer_id = await claims.make()
    token = await claims.token(customer_id)
    anns = await (await claims.browser()).open(f"{OWN}?token={token}")
    form = forms_of(anns)[0].fields
    eve = await claims.browser(EVE)

    opened = await eve.open(f"{OWN}?token={token}")
    own = forms_of(await eve.open("/app/account/organizations"))[0].fields["form_token"]
    pressed = await eve.post(OWN, {**form, "form_token": own, "name": "Globex", "slug": "globex"})

    assert (opened.status, pressed.status) == (403, 403)
    assert not shows(opened.text, "SCIM tokens")
    assert owner_of(claims, customer_id) is None


async def test_an_address_that_is_not_proved_claims_nothing(claims: Claims) -> None:
    token = await claims.token(await claims.make())
    browser = await claims.browser()
    claims.trade.world.connection.execute("UPDATE users SET email_verified_at = NULL WHERE email = %s", (ANN,))

    page = await browser.open(f"{OWN}?token={token}")

    assert page.status == 403


async def test_the_slug_of_another_organization_is_refused_on_the_page(claims: Claims) -> None:
    customer_id = await claims.make()
    token, browser = await claims.token(customer_id), await claims.browser()

    taken = await claims.claim(browser, token, slug="beta")
    reserved = await claims.claim(browser, token, slug="admin", name="x")

    assert taken.status == 409
    assert shows(taken.text, "Another organization has this slug already")
    assert reserved.status == 400
    assert owner_of(claims, customer_id) is None
    assert (await claims.claim(browser, token)).status == 200


async def test_a_slug_that_a_customer_had_is_taken_and_the_random_one_is_free_afterwards(claims: Claims) -> None:
    claims.trade.world.connection.execute("INSERT INTO customer_slugs (slug) VALUES ('former')")
    customer_id = await claims.make()
    before = str((await claims.record(customer_id))["organization"]["slug"])  # type: ignore[index]
    token, browser = await claims.token(customer_id), await claims.browser()

    assert (await claims.claim(browser, token, slug="former")).status == 409
    assert (await claims.claim(browser, token)).status == 200

    kept = {slug for (slug,) in claims.trade.world.rows("SELECT slug FROM customer_slugs")}
    assert "globex" in kept
    assert before not in kept


async def test_it_counts_among_the_organizations_that_wait_for_approval(claims: Claims) -> None:
    customer_id = await claims.make()
    token, browser = await claims.token(customer_id), await claims.browser()
    tokens = await claims.trade.world.sign_in(ANN)
    for number in range(PENDING_MAX):
        body = {"slug": f"own-{number}", "name": "Own"}
        answer = await claims.trade.world.client.post("/api/organizations", body=body, token=tokens.access_token)
        assert answer.status == 200, answer.text

    refused = await claims.claim(browser, token)

    assert refused.status == 400
    assert owner_of(claims, customer_id) is None
    claims.trade.world.connection.execute("UPDATE organizations SET status = 'active' WHERE is_unclaimed")
    assert (await claims.claim(browser, token)).status == 200


async def test_a_mail_domain_that_was_proved_since_excludes_other_addresses(claims: Claims) -> None:
    customer_id = await claims.make()
    token, browser = await claims.token(customer_id, EVE), await claims.browser(EVE)
    claims.trade.world.mail_domain(await claims.internal(customer_id), "globex.example")

    refused = await claims.claim(browser, token)

    assert refused.status == 400
    assert owner_of(claims, customer_id) is None


async def test_who_presses_twice_is_led_to_their_organization(claims: Claims) -> None:
    customer_id = await claims.make()
    token, browser = await claims.token(customer_id), await claims.browser()
    page = await browser.open(f"{OWN}?token={token}")

    answers = await at_once(*[lambda: browser.submit(page, OWN, name="Globex", slug="globex", is_followed=False)] * 2)

    assert [answer.headers.get("Location") for answer in answers] == ["/app/organizations/globex"] * 2
    assert (
        claims.trade.world.value(
            "SELECT count(*) FROM memberships WHERE organization_id = %s", claims.organization_of(customer_id)
        )
        == 1
    )
    again = await browser.open(f"{OWN}?token={token}")
    assert again.status == 200
    assert shows(again.text, "Globex")


async def test_a_link_by_which_it_was_claimed_says_nothing_to_others(claims: Claims) -> None:
    customer_id = await claims.make()
    token, browser = await claims.token(customer_id), await claims.browser()
    await claims.claim(browser, token)
    claims.trade.world.connection.execute(
        "UPDATE memberships SET user_id = %s WHERE organization_id = %s",
        (claims.trade.world.user(EVE), claims.organization_of(customer_id)),
    )

    assert (await browser.open(f"{OWN}?token={token}")).status == 400


async def test_a_claim_while_the_vendor_ends_it_is_one_or_the_other(claims: Claims) -> None:
    await claims.trade.vendor.token("owner")
    for number in range(3):
        customer_id = await claims.make()
        token, browser = await claims.token(customer_id), await claims.browser()
        page = await browser.open(f"{OWN}?token={token}")

        answers = await at_once(
            lambda page=page, number=number, browser=browser: browser.submit(
                page, OWN, name="Globex", slug=f"globex-{number}", is_followed=False
            ),
            lambda customer_id=customer_id: claims.trade.at_vendor("DELETE", f"/{customer_id}"),
        )

        # The later of the two ends a customer that was claimed, or finds that the link is dead.
        statuses = sorted(answer.status for answer in answers)
        assert statuses in ([204, 303], [204, 400])
        is_claimed = 303 in statuses
        assert (owner_of_slug(claims, f"globex-{number}") == ANN) is is_claimed


def owner_of_slug(claims: Claims, slug: str) -> str | None:
    found = claims.trade.world.rows(
        """
        SELECT u.email
        FROM   organizations o
        JOIN   memberships m ON m.organization_id = o.id AND m.role = 'owner'
        JOIN   users u       ON u.id = m.user_id
        WHERE  o.slug = %s
        """,
        slug,
    )
    return found[0][0] if found else None


async def test_claiming_ends_open_setup_links_and_nothing_else(claims: Claims) -> None:
    customer_id = await claims.make()
    internal = await claims.internal(customer_id)
    world = claims.trade.world
    world.mail_domain(internal, "globex.example")
    world.connection.execute(
        """
        INSERT INTO setup_links (id, organization_id, parts, created_by, created_at, expires_at, secret_hash)
        SELECT gen_random_uuid(), %s, '{scim}', user_id, %s, %s, '\\x01'
        FROM   memberships WHERE organization_id = %s AND role = 'owner'
        """,
        (internal, world.clock(), world.clock() + timedelta(days=1), claims.trade.vendor.organization_id),
    )
    token, browser = await claims.token(customer_id), await claims.browser()
    page = await browser.open(f"{OWN}?token={token}")
    assert shows(page.text, "Open setup links")

    await claims.claim(browser, token)

    assert world.value("SELECT count(*) FROM setup_links WHERE organization_id = %s", internal) == 0
    assert world.value("SELECT count(*) FROM domain_routes WHERE organization_id = %s", internal) == 1
    assert world.value("SELECT status FROM organizations WHERE id = %s", internal) == "active"


async def test_a_session_that_is_not_recent_signs_in_again_first(claims: Claims) -> None:
    customer_id = await claims.make()
    token, browser = await claims.token(customer_id), await claims.browser()
    page = await browser.open(f"{OWN}?token={token}")
    claims.trade.world.clock.advance(timedelta(minutes=11))

    asked = await browser.submit(page, OWN, name="Globex", slug="globex")

    assert owner_of(claims, customer_id) is None
    assert 'action="/app/sign-in-again' in asked.text


async def test_the_pages_lead_with_the_vendor_and_quote_the_name_whatever_it_claims_to_be(claims: Claims) -> None:
    world = claims.trade.world
    world.connection.execute("UPDATE organizations SET name = '<i>Acme</i>' WHERE slug = 'acme'")
    customer_id = await claims.make("Microsoft <b>Support</b>")
    token = await claims.token(customer_id)

    first = await world.client.get(f"{CLAIMS}?token={token}")
    second = await (await claims.browser()).open(f"{OWN}?token={token}")

    heading = first.text.partition("<h1")[2].partition("</h1>")[0]
    assert "&lt;i&gt;Acme&lt;/i&gt; asks you to own “Microsoft &lt;b&gt;Support&lt;/b&gt;”" in heading
    for page in (first, second):
        assert "<i>Acme" not in page.text
        assert "<b>Support" not in page.text
    assert "&lt;i&gt;Acme&lt;/i&gt; chose the name" in first.text


async def test_a_new_owner_is_named_while_the_one_before_claims(claims: Claims) -> None:
    customer_id = await claims.make()
    token, browser = await claims.token(customer_id), await claims.browser()
    page = await browser.open(f"{OWN}?token={token}")
    path = f"{claims.trade.vendor.path}/services/shop/customers/{customer_id}/owner"
    vendor = await claims.trade.vendor.token("owner")

    answers: dict[str, Answer] = {}

    async def keep(name: str, send: Callable[[], Awaitable[Answer]]) -> Answer:
        answers[name] = await send()
        return answers[name]

    await at_once(
        lambda: keep("named", lambda: claims.trade.world.client.post(path, body={"email": EVE}, token=vendor)),
        lambda: keep("claimed", lambda: browser.submit(page, OWN, name="Globex", slug="globex")),
    )
    named, claimed = answers["named"], answers["claimed"]

    assert (named.status, claimed.status) in {(200, 400), (409, 200)}
    assert owner_of(claims, customer_id) == (ANN if claimed.status == 200 else None)
    open_links = claims.trade.world.rows("SELECT email, claimed_at IS NULL FROM customer_claims")
    assert open_links == [(ANN, False) if claimed.status == 200 else (EVE, True)]
