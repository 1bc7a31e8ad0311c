"""What vendors make for customers, by their programs: customers, setup links, keys; and what strangers try there."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from tests.tenants import market_judging, vendors
from tests.tenants.market_judging import BEYOND, OUTLIVED, nothing_outside_changes
from tests.tenants.model import Violation
from tests.tenants.neighbourhood import A, B, Neighbourhood
from tests.tenants.taking import Story, step
from tests.tenants.vendors import LISTS, PARTS, MadeCustomer, OpenedLink, Vendor
from tests.world.relying_party import REDIRECT_URI
from tests.world.visitor import Visitor

MAKING: Final = Story.MAKING
LINKED: Final = "a setup link of a vendor was used"
ENDED: Final = "a customer ended that its vendor has made"
# The page of each part, and the part of each list that is made for a customer.
PAGES: Final = {
    "upstream": "/app/setup/parts/upstream",
    "mail_domain": "/app/setup/parts/mail-domains",
    "scim": "/app/setup/parts/scim",
    "groups": "/app/setup/parts/service-roles",
}
LIST_OF_PART: Final = dict(zip(("upstream", "mail_domain", "scim", "groups"), LISTS, strict=False))
# What another one than the vendor tries to make, below a customer.
TRIED: Final[dict[str, dict[str, Any]]] = {
    "scim-tokens": {"name": "Directory"},
    "setup-links": {"parts": ["scim"]},
    "owner": {"email": "friend@evil.example"},
}


def other(of: str) -> str:
    """Return the name of the other vendor."""
    return B if of == A else A


@step(MAKING)
async def vendor_makes_customer(hood: Neighbourhood, of: str, whole: bool) -> None:
    """A vendor makes a customer, which no person owns, under the name that the other vendor gives one as well."""
    vendor = await vendors.vendor_of(hood, of)
    if len(vendor.present) >= vendors.CUSTOMERS_MAX or vendor.is_suspended:
        return
    async with nothing_outside_changes(hood, f"{of} made a customer"):
        customer = await vendors.make(hood, vendor, by_member=whole)
    record = await vendors.at(hood, customer, "GET", "")
    if not record.json["unclaimed"]:
        raise Violation("claimed", f"the new customer {customer.id} has an owner")
    mine = await hood.send("GET", "/api/organizations", token=vendor.owner_token)
    if len(mine.json) != 1:
        raise Violation(BEYOND, f"{of} has made an organization that is its own: {mine.text}")
    await market_judging.judge_apart(hood)


@step(MAKING)
async def strangers_set_up(hood: Neighbourhood, of: str, pick: int) -> None:
    """Keys that may not set a customer up try it, and members of other organizations, and read what is there."""
    customer = await vendors.customer_of(hood, of, pick)
    market = await vendors.opened(hood)
    vendor = market.vendors[of]
    keys = [
        vendor.weak_key,
        vendor.other_key,
        market.vendors[other(of)].key,
        *(one.key for one in _organizations(hood)),
    ]
    async with nothing_outside_changes(hood, f"strangers set up a customer of {of}"):
        for key in keys:
            for path in (*LISTS, *TRIED):
                await _refuse(hood, customer, path, headers={"X-Api-Key": key})
        for token in (market.vendors[other(of)].owner_token, *(one.owner_token for one in _organizations(hood))):
            for path in (*LISTS, *TRIED):
                await _refuse(hood, customer, path, token=token)


async def _refuse(hood: Neighbourhood, customer: MadeCustomer, path: str, **sent: Any) -> None:
    vendor = await vendors.vendor_of(hood, customer.of)
    root = vendor.path if "token" in sent else "/api/service/customers"
    if path != "owner":
        read = await hood.send("GET", f"{root}/{customer.id}/{path}", **sent)
        if read.status == 200:
            raise Violation("stranger", f"a stranger reads {path} of {customer.id}")
    if path in TRIED:
        made = await hood.send("POST", f"{root}/{customer.id}/{path}", TRIED[path], **sent)
        if made.status == 200:
            raise Violation("stranger", f"a stranger makes {path} for {customer.id}")


def _organizations(hood: Neighbourhood) -> list[Any]:
    return list(hood.organizations.values())


@step(MAKING)
async def vendor_sends_link(hood: Neighbourhood, of: str, pick: int, whole: bool) -> None:
    """The program makes a setup link to one part, or a member one to two, which is opened in a browser."""
    customer = await vendors.customer_of(hood, of)
    vendor = await vendors.vendor_of(hood, of)
    parts = PARTS[pick : pick + 1 + whole]
    root = f"{vendor.path}/{customer.id}" if whole else f"/api/service/customers/{customer.id}"
    sent: dict[str, Any] = {"token": vendor.owner_token} if whole else {"headers": {"X-Api-Key": vendor.key}}
    lured = {"parts": parts, "return_url": "https://evil.example/next"}
    if (await hood.send("POST", f"{root}/setup-links", lured, **sent)).status == 200:
        raise Violation(BEYOND, f"a setup link of {of} leads back to another site")
    body = {"parts": parts, "return_url": REDIRECT_URI}
    made = await hood.send("POST", f"{root}/setup-links", body, **sent)
    is_open = all(customer.is_open_to(part) for part in parts) and not vendor.is_suspended
    if (made.status == 200) is not is_open:
        raise Violation(BEYOND if made.status == 200 else "denied", f"{of} makes a link for {customer.id}: {made.text}")
    if made.status != 200:
        return
    path = urlsplit(made.json["url"]).path
    visitor = Visitor(hood.world.client, address=vendors.NETWORK)
    await visitor.submit(await visitor.open(path), path)
    customer.links.append(OpenedLink(visitor, tuple(parts), None if whole else vendor.key_id))
    await judge_links(hood)


@step(MAKING)
async def links_are_used(hood: Neighbourhood) -> None:
    """The holders of all setup links of vendors open every part."""
    await judge_links(hood)


@step(MAKING)
async def link_expires(hood: Neighbourhood, of: str, pick: int) -> None:
    """The time of the setup links of a customer passes."""
    customer = await vendors.customer_of(hood, of, pick)
    hood.world.connection.execute(
        "UPDATE setup_links SET expires_at = %s WHERE organization_id = (SELECT id FROM organizations"
        " WHERE internal_of = %s)",
        (hood.world.clock(), customer.id),
    )
    end_links(customer, "its time has passed")
    await judge_links(hood)


@step(MAKING)
async def vendor_replaces_key(hood: Neighbourhood, of: str) -> None:
    """A vendor makes another key for its program, and deletes the one before."""
    vendor = await vendors.vendor_of(hood, of)
    if vendor.is_suspended:
        return
    before_id, before = vendor.key_id, vendor.key
    vendor.key_id, vendor.key = vendors.add_key(hood, vendor.party, vendor.owner, *vendors.PROGRAM)
    path = f"/api/organizations/{vendor.party.slug}/services/{vendor.party.service_slug}/api-keys/{before_id}"
    deleted = await hood.send("DELETE", path, token=vendor.owner_token)
    if deleted.status != 204:
        raise Violation("denied", f"{of} cannot delete a key: {deleted.text}")
    for customer in vendor.customers:
        end_links(customer, "its key was deleted", by_key=before_id)
        if (await vendors.by_key(hood, before, "GET", f"/{customer.id}/connections")).status == 200:
            raise Violation(OUTLIVED, f"a deleted key of {of} reads connections")
    await judge_links(hood)
    await judge_kept(hood, vendor)


@step(MAKING)
async def vendor_pauses_made(hood: Neighbourhood, of: str, pick: int, whole: bool) -> None:
    """A vendor pauses a customer that it has made, and lets it go on or not."""
    customer = await vendors.customer_of(hood, of, pick)
    for is_paused in (True, False) if whole or customer.is_paused else (True,):
        answer = await vendors.at(hood, customer, "PATCH", "", {"paused": is_paused})
        if answer.status != 200:
            return
        customer.is_paused = is_paused
        await _judge_closed(hood, customer)
        await market_judging.recheck(hood)
        await judge_links(hood)


@step(MAKING)
async def vendor_ends_made(hood: Neighbourhood, of: str, pick: int, whole: bool) -> None:
    """A vendor ends a customer that it has made, and restores it where no person owns it, or not."""
    vendor = await vendors.vendor_of(hood, of)
    customer = await vendors.customer_of(hood, of, pick)
    if vendor.is_suspended:
        return
    async with nothing_outside_changes(hood, f"{of} ended a customer"):
        ended = await vendors.at(hood, customer, "DELETE", "")
    if ended.status != 204:
        raise Violation("denied", f"{of} cannot end {customer.id}: {ended.text}")
    # The link to its owner ends with it, and does not come back where it is restored.
    customer.is_ended, customer.is_claimable = True, False
    was_active = customer.active
    await _judge_closed(hood, customer)
    await market_judging.recheck(hood)
    await judge_links(hood)
    restored = await _restore(hood, vendor, customer) if whole else None
    if restored is not None and (restored == 200) is not customer.is_unclaimed:
        raise Violation(OUTLIVED, f"restoring {customer.id} was answered {restored}")
    if restored == 200:
        customer.is_ended, customer.active = False, was_active
        await judge_kept(hood, vendor)
    hood.explained.add(ENDED)


async def _restore(hood: Neighbourhood, vendor: Vendor, customer: MadeCustomer) -> int:
    """Let the other vendor try to restore a customer, and the other service of its own, and then its service."""
    strange = (await vendors.opened(hood)).vendors[other(vendor.name)]
    elsewhere = vendor.path.replace(f"/{vendor.party.service_slug}/", f"/{vendor.other.service_slug}/")
    tried = ((strange.path, strange), (vendor.path, strange), (elsewhere, vendor))
    for path, by in tried:
        answer = await hood.send("POST", f"{path}/{customer.id}/restore", token=by.owner_token)
        if answer.status == 200:
            raise Violation("restored", f"the owner of {by.name} has restored {customer.id} by {path}")
    return (await hood.send("POST", f"{vendor.path}/{customer.id}/restore", token=vendor.owner_token)).status


@step(MAKING)
async def platform_suspends_vendor(hood: Neighbourhood, of: str, whole: bool) -> None:
    """The platform suspends a vendor, and lets it go on or not."""
    vendor = await vendors.vendor_of(hood, of)
    for is_suspended in (True, False) if whole or vendor.is_suspended else (True,):
        hood.world.set_organization_status(vendor.party.organization_id, "suspended" if is_suspended else "active")
        vendor.is_suspended = is_suspended
        for customer in vendor.customers:
            await _judge_closed(hood, customer)
        await market_judging.recheck(hood)
        await judge_links(hood)


@step(MAKING)
async def vendor_is_deleted(hood: Neighbourhood, of: str) -> None:
    """The owner deletes the vendor's service for customers, which is refused, and then its organization."""
    vendor = await vendors.vendor_of(hood, of)
    if vendor.is_suspended:
        return
    await vendors.customer_of(hood, of)
    path = f"/api/organizations/{vendor.party.slug}"
    refused = await hood.send("DELETE", f"{path}/services/{vendor.party.service_slug}", token=vendor.owner_token)
    if refused.status == 204:
        raise Violation("taken away", f"{of} has deleted a service that customers use")
    answer = await hood.send("DELETE", path, token=vendor.owner_token)
    if answer.status not in {200, 202, 204}:
        raise Violation("denied", f"the owner of {of} cannot delete it: {answer.text}")
    vendor.is_suspended = True
    for customer in vendor.customers:
        await _judge_closed(hood, customer)
    await market_judging.recheck(hood)
    await judge_links(hood)
    await vendors.begin_anew(hood, of)


@step(MAKING)
async def vendors_read_usage(hood: Neighbourhood) -> None:
    """Both vendors read how many people came, and what there is of each other."""
    await market_judging.judge_apart(hood)
    await market_judging.judge_usage(hood)


def end_links(customer: MadeCustomer, how: str, *, by_key: str | None = None) -> None:
    """Record that the setup links of a customer have ended, those of a key or all of them."""
    for link in customer.links:
        if by_key in {None, link.by_key}:
            link.ended = link.ended or how


async def judge_links(hood: Neighbourhood) -> None:
    """Raise `Violation` when a setup link opens a part that it should not, or does not open one that it should."""
    market = await vendors.opened(hood)
    for customer in market.customers:
        vendor = market.vendors[customer.of]
        for link in customer.links:
            is_valid = not (link.ended or vendor.is_suspended or customer.is_paused or customer.is_ended)
            for part, page in PAGES.items():
                shown = await link.visitor.open(page)
                assert shown.status < 500, f"{page}: {shown.text}"
                is_open = is_valid and part in link.parts and customer.is_open_to(part)
                if shown.status == 200 and not is_open:
                    kind = BEYOND if is_valid else OUTLIVED
                    raise Violation(kind, f"a setup link to {link.parts} of {customer.id} opens {part}; {link.ended}")
                if shown.status != 200 and is_open and all(customer.is_open_to(one) for one in link.parts):
                    raise Violation("denied", f"a setup link to {link.parts} of {customer.id} does not open {part}")
                if is_open:
                    hood.explained.add(LINKED)


async def judge_kept(hood: Neighbourhood, vendor: Vendor) -> None:
    """Raise `Violation` when what was made for the customers of a vendor is gone."""
    for customer in vendor.present:
        if customer.connection_id is None or not customer.is_open_to("upstream"):
            continue
        listed = await vendors.at(hood, customer, "GET", "/connections")
        if customer.connection_id not in listed.text:
            raise Violation("taken away", f"the connection of {customer.id} is gone")


async def _judge_closed(hood: Neighbourhood, customer: MadeCustomer) -> None:
    """Raise `Violation` when what was made for a customer that is closed opens something."""
    vendor = await vendors.vendor_of(hood, customer.of)
    if not (vendor.is_suspended or customer.is_paused or customer.is_ended):
        return
    for part, below in LIST_OF_PART.items():
        read = await vendors.at(hood, customer, "GET", f"/{below}")
        if read.status == 200:
            raise Violation(OUTLIVED, f"{customer.of} reads {part} of {customer.id}, which is closed")
    for token in customer.tokens:
        if (await vendors.by_directory(hood, token, "GET", "/Users")).status == 200:
            raise Violation(OUTLIVED, f"a SCIM token of {customer.id} works, which is closed")
    if customer.connection_id is not None:
        visitor = Visitor(hood.world.client, address=vendors.NETWORK)
        query = f"connection_id={customer.connection_id}&org={vendor.party.slug}&service={vendor.party.service_slug}"
        begun = await visitor.send("GET", f"/auth/upstream?{query}")
        if begun.headers.get("Location", "").startswith((hood.work.url, hood.evil.url)):
            raise Violation(OUTLIVED, f"the connection of {customer.id} leads to its provider, which is closed")
