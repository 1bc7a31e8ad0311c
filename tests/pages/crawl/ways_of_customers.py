"""Pages of customers that a vendor has made: their setup, by the vendor and by a link, their owners, and adopting."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from core.mail.mail import MailTemplate
from core.sign_in.identities import IdentityContext, ProvenIdentity, Provider
from core.sign_in.upstream import address_codes
from core.sign_in.upstream.flows import ReturnAddress, UpstreamSignIn
from ports.unit_of_work import UnitOfWork
from tests.pages.crawl.ground import WRONG, Ground
from tests.pages.crawl.made_customers import CLAIMED, CLOSED, FRESH, OWNER, OWNERS_LINK, PAUSED, SETUP_LINK, WITH_IT_ALL
from tests.pages.crawl.organizations import FULL
from tests.pages.crawl.services import SERVICE
from tests.pages.crawl.spider import Spider
from tests.pages.crawl.values import HOST, NAME, RIGHT_TO_LEFT, UNBROKEN

CUSTOMERS: Final = f"/app/organizations/{FULL}/services/{SERVICE}/customers"
CODE: Final = "/app/sign-in/address-code"
PARTS: Final = ("connections", "mail-domains", "scim-tokens", "group-rules", "setup-links")


def customer_page(ground: Ground, slug: str) -> str:
    """Return the page of a customer of the full organization."""
    customer_id = ground.world.value(
        """
        SELECT c.id
        FROM   service_customers c
        JOIN   organizations o ON o.id = c.organization_id
        WHERE  o.slug = %s
        """,
        slug,
    )
    return f"{CUSTOMERS}/{customer_id}"


async def setups_of_customers(ground: Ground) -> None:
    """A vendor and a person of a customer look at its setup; then each presses what there is, the vendor last."""
    vendor, holder = await _look_as_vendor(ground), await _look_as_holder(ground)
    await holder.press()
    await vendor.press()


async def _look_as_vendor(ground: Ground) -> Spider:
    """The vendor sets customers up: one with everything in each state, others with little, and some that are closed."""
    owner = ground.hostile.owner.visitor
    for state in ("unclaimed", "setting_up", "failing", "paused", "ended"):
        await owner.open(f"{CUSTOMERS}?state={state}")
    [(ended_id,)] = ground.world.rows("SELECT id FROM service_customers WHERE ended_at IS NOT NULL")
    await owner.open(f"{CUSTOMERS}/{ended_id}")
    for called in (CLAIMED, CLOSED, PAUSED, FRESH, "test", "off", "rejected", "suspended", "used"):
        page = customer_page(ground, f"c-{called}")
        for part in PARTS:
            await owner.open(f"{page}/{part}")
        await owner.open(page)
    known = customer_page(ground, "customer-0")
    await Spider("the vendor of a known customer", owner, ground.recorder, within=known).crawl(known)
    email = ground.world.value("SELECT email FROM users WHERE id = %s", ground.hostile.states["unproved"])
    why = urlencode({"email": email, "service": SERVICE, "customer": known.rpartition("/")[2]})
    await owner.open(f"/app/organizations/{FULL}/why?{why}")
    page = customer_page(ground, f"c-{WITH_IT_ALL}")
    spider = Spider("the vendor of a customer", owner, ground.recorder, times_max=9, within=page)
    await spider.crawl(page)
    roles, links, domains = (f"{page}/{part}" for part in ("group-rules", "setup-links", "mail-domains"))
    await owner.submit(await owner.open(links), links, parts="upstream", actor=NAME)
    await owner.submit(await owner.open(roles), roles, source="scim", group=NAME, service_roles="editor")
    await owner.submit(await owner.open(domains), domains, domain=f"more.{HOST}")
    return spider


async def _look_as_holder(ground: Ground) -> Spider:
    """A person of a customer opens the setup link of a vendor, for every part."""
    visitor = ground.visitor()
    await visitor.open("/app/setup/another")
    await visitor.submit(await visitor.open(f"/app/setup/{SETUP_LINK}".replace(" ", "%20")))
    domains, roles, tokens = (f"/app/setup/parts/{part}" for part in ("mail-domains", "service-roles", "scim"))
    await visitor.submit(await visitor.open(tokens), tokens, name=RIGHT_TO_LEFT)
    await visitor.submit(await visitor.open(domains), domains, domain=f"another.{HOST}")
    await visitor.submit(await visitor.open(roles), roles, source="scim", group=NAME, service_roles="editor")
    await visitor.submit(await visitor.open(roles), roles, source="scim", group=UNBROKEN, service_roles="editor")
    spider = Spider("the holder of a vendor's link", visitor, ground.recorder, times_max=4, within="/app/setup")
    await spider.crawl("/app/setup")
    return spider


async def owners_links(ground: Ground) -> None:
    """A person is asked to own a customer: in a browser without a session, as another person, and as themselves."""
    ground.world.user(OWNER)
    token = OWNERS_LINK.replace(" ", "%20")
    link, own = f"/app/claims?token={token}", f"/app/claims/own?token={token}"
    await ground.visitor().open("/app/claims?token=another")
    await ground.visitor().open("/app/claims?token=expired")
    await ground.hostile.owner.visitor.open(own)
    visitor = ground.visitor()
    await visitor.open(link)
    await visitor.sign_in(OWNER)
    asked = await visitor.open(own)
    await visitor.submit(asked, "/app/claims/own", name="", slug="<b>")
    await visitor.submit(asked, "/app/claims/own", name=NAME, slug=FULL)
    await visitor.submit(asked, "/app/claims/own", name=RIGHT_TO_LEFT, slug="one-that-is-claimed", vendor_setup="scim")
    await visitor.open(own)


async def codes_for_addresses(ground: Ground) -> None:
    """A browser has come back from the provider of a customer, and waits for a mailed code."""
    [(internal_id, connection_id)] = ground.world.rows(
        """
        SELECT u.organization_id, u.id
        FROM   upstream_connections u
        JOIN   organizations i     ON i.id = u.organization_id
        JOIN   service_customers c ON c.id = i.internal_of
        JOIN   organizations o     ON o.id = c.organization_id AND o.slug = %s
        """,
        "c-test",
    )
    browser, email = "the browser of a person of a customer", ground.email("asserted-by-vendor")
    sign_in = UpstreamSignIn(
        id=ground.rows.clock_id(),
        provider=Provider.UPSTREAM,
        context=IdentityContext(organization_id=internal_id, connection_id=connection_id),
        client_id=None,
        user_id=None,
        way=ReturnAddress(return_to="/app/account"),
        expires_at=ground.rows.ago(minutes=-10),
    )
    proven = ProvenIdentity(provider=Provider.UPSTREAM, subject=NAME, email=email)

    def ask(uow: UnitOfWork) -> str:
        place = uow.organizations.internal_place(internal_id)
        assert place is not None, "no customer has the connection"
        return address_codes.ask(uow, sign_in, proven, place, email, browser=browser).continue_id.reveal()

    continue_id = await ground.world.installation.database.transact(ask)
    visitor = ground.visitor()
    visitor.cookies["gatehouse_upstream"] = browser
    page = await visitor.open(f"{CODE}?id={continue_id}")
    await visitor.submit(page, CODE, code="wrong")
    await visitor.submit(page, CODE, code=WRONG)
    right = [one.values["code"] for one in await ground.world.mails() if one.template == MailTemplate.ADDRESS_CODE][-1]
    await visitor.submit(page, CODE, code=right)
    await visitor.submit(page, CODE, code=right)


async def adoptions(ground: Ground) -> None:
    """The owner adopts a token that a vendor has made, and sees it once."""
    owner, page = ground.hostile.owner.visitor, f"/app/organizations/{FULL}/made-for-us"
    token_id = ground.world.value(
        """
        SELECT t.id
        FROM   scim_tokens t
        JOIN   organizations i     ON i.id = t.organization_id
        JOIN   service_customers c ON c.id = i.internal_of
        WHERE  c.organization_id = %s
        """,
        ground.full.id,
    )
    adopt = f"{page}/{token_id}/adopt"
    await owner.submit(await owner.open(adopt), adopt)
