"""Claiming customers that vendors have made: by the right person and others, and what is left to the vendor then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urlsplit

from tests.openid_provider import CLIENT_ID, CLIENT_SECRET
from tests.seeds import Numbers
from tests.tenants import market_judging, vendors
from tests.tenants.made_directories import give_account
from tests.tenants.making import LIST_OF_PART, MAKING, end_links, judge_links
from tests.tenants.market_judging import BEYOND, OUTLIVED, nothing_outside_changes
from tests.tenants.model import Violation
from tests.tenants.neighbourhood import Neighbourhood
from tests.tenants.taking import step
from tests.tenants.vendors import PARTS, MadeCustomer, Vendor
from tests.world.builder import PASSWORD
from tests.world.visitor import Visitor

if TYPE_CHECKING:
    from tests.application import Answer
    from tests.tenants.model import Person

OWN: Final = "/app/claims/own"
CLAIMED: Final = "a customer was claimed"
GIVEN_BACK: Final = "an undone takeover left a claimed customer to nobody"
# What an intruder makes for a customer: the path below it, and the body.
INTRUDED: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("setup-links", {"parts": ["scim"]}),
    ("scim-tokens", {"name": "Directory"}),
    ("connections", {"type": "oidc", "name": "Evil", "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}),
)
numbers = Numbers()


@step(MAKING)
async def vendor_names_owner(hood: Neighbourhood, of: str, address: str, pick: int) -> None:
    """A vendor mails the link to a customer to a person, which replaces one before; its time passes, or not."""
    customer = await vendors.customer_of(hood, of)
    before = len(await hood.mails(address, "customer_claim"))
    async with nothing_outside_changes(hood, f"{of} has named {address} the owner of {customer.id}"):
        answer = await vendors.at(hood, customer, "POST", "/owner", {"email": address})
    if answer.status != 200:
        if customer.is_unclaimed and _is_in_domain(customer, address) and answer.status not in {403, 429}:
            raise Violation("denied", f"{of} cannot name {address} the owner of {customer.id}: {answer.text}")
        return
    if not _is_in_domain(customer, address):
        raise Violation("claimed", f"{of} has named {address}, which is in no mail domain of {customer.id}")
    mailed = (await hood.mails(address, "customer_claim"))[before:]
    if not mailed:
        # The address gets no more mails for an hour: the link before is replaced, and the new one reaches no person.
        customer.is_claimable = False
        return
    [mail] = mailed
    if mail.values["token"] in answer.text:
        raise Violation("claimed", f"{of} was shown the link of {customer.id}")
    customer.claim_links.append((address, mail.values["token"]))
    customer.is_claimable = pick != 1
    if pick == 1:
        hood.world.connection.execute(
            "UPDATE customer_claims SET expires_at = %s WHERE customer_id = %s", (hood.world.clock(), customer.id)
        )


@step(MAKING)
async def reads_claim_link(hood: Neighbourhood, of: str, address: str, pick: int, whole: bool) -> None:
    """The owner of an address has every link to a customer, forwarded or not, and presses "Claim" for each.

    With `whole` the owner then lets the vendor set one part up.
    """
    customer, person = await vendors.customer_of(hood, of), hood.model.owner_of(address)
    assert person is not None
    if not customer.claim_links:
        return
    give_account(hood, address)
    visitor = Visitor(hood.world.client, address=person.network)
    await visitor.sign_in(address, password=person.password)
    for number, (named, token) in enumerate(reversed(customer.claim_links)):
        is_right = await _may_claim(hood, customer, named, address, is_last=number == 0)
        slug = f"claimed-{next(numbers):05}"
        answer = await _claim(visitor, token, slug)
        has_claimed = hood.world.rows("SELECT FROM organizations WHERE slug = %s", slug) != []
        if has_claimed and not is_right:
            raise Violation("claimed", f"{address} has claimed {customer.id} by a link for {named}")
        if is_right and not has_claimed:
            raise Violation("denied", f"{address} cannot claim {customer.id}: {answer.text[:2000]}")
        if has_claimed:
            await _claimed(hood, customer, person, address, slug, parts={PARTS[pick]} if whole else set())
            return


@step(MAKING)
async def reads_link_of_ended(hood: Neighbourhood, of: str, address: str) -> None:
    """The owner of an address has the links to those customers of a vendor that have ended, and presses "Claim"."""
    person, market = hood.model.owner_of(address), await vendors.opened(hood)
    assert person is not None
    ended = [one for one in market.customers if one.of == of and one.is_ended and one.claim_links]
    if not ended:
        return
    give_account(hood, address)
    visitor = Visitor(hood.world.client, address=person.network)
    await visitor.sign_in(address, password=person.password)
    for customer in ended:
        for _, token in customer.claim_links:
            slug = f"claimed-{next(numbers):05}"
            await _claim(visitor, token, slug)
            if hood.world.rows("SELECT FROM organizations WHERE slug = %s", slug):
                raise Violation("claimed", f"{address} has claimed {customer.id}, which has ended")


@step(MAKING)
async def provider_claims(hood: Neighbourhood, of: str) -> None:
    """Browsers that came by a made connection open the links to customers of a vendor: their provider has them."""
    for visit in (await vendors.opened(hood)).visits:
        if visit.visitor is None or visit.is_dead or visit.ended:
            continue
        for customer in (await vendors.vendor_of(hood, of)).present:
            for _, token in customer.claim_links:
                slug = f"claimed-{next(numbers):05}"
                await _claim(visit.visitor, token, slug)
                if hood.world.rows("SELECT FROM organizations WHERE slug = %s", slug):
                    raise Violation("claimed", f"a provider has claimed {customer.id}")


async def _claim(visitor: Visitor, token: str, slug: str) -> Answer:
    page = await visitor.open(f"{OWN}?token={token}")
    assert page.status < 500, page.text
    if page.status != 200 or f'action="{OWN}"' not in page.text:
        return page
    answer = await visitor.submit(page, OWN, name="Globex", slug=slug)
    assert answer.status < 500, answer.text
    return answer


async def _may_claim(hood: Neighbourhood, customer: MadeCustomer, named: str, address: str, *, is_last: bool) -> bool:
    vendor = await vendors.vendor_of(hood, customer.of)
    is_open = is_last and customer.is_claimable and customer.is_unclaimed and not customer.is_ended
    return is_open and not vendor.is_suspended and named == address and _is_in_domain(customer, address)


async def _claimed(
    hood: Neighbourhood, customer: MadeCustomer, person: Person, address: str, slug: str, *, parts: set[str]
) -> None:
    customer.slug, customer.owner, customer.is_claimable = slug, address, False
    hood.model.give_membership(slug, hood.user_id(address) or "", address, "owner")
    hood.explained.add(CLAIMED)
    end_links(customer, "the customer was claimed")
    members = hood.world.rows(
        "SELECT m.user_id::text FROM memberships m JOIN organizations o ON o.id = m.organization_id WHERE o.slug = %s",
        slug,
    )
    if members != [(hood.user_id(address),)]:
        raise Violation("claimed", f"{slug} has the members {members} after the claim")
    if parts:
        await _let_vendor(hood, customer, person, parts)
    await _judge_beyond(hood, customer)
    await judge_links(hood)
    await market_judging.recheck(hood)


@step(MAKING)
async def owner_lets_vendor(hood: Neighbourhood, of: str, pick: int, whole: bool) -> None:
    """The owner of a claimed customer says which parts the vendor may set up: one of them, or none."""
    for customer in (await vendors.vendor_of(hood, of)).present:
        person = hood.model.owner_of(customer.owner) if customer.owner else None
        if person is not None:
            await _let_vendor(hood, customer, person, {PARTS[pick]} if whole else set())
            await _judge_beyond(hood, customer)
            await judge_links(hood)


async def _let_vendor(hood: Neighbourhood, customer: MadeCustomer, person: Person, parts: set[str]) -> None:
    vendor = await vendors.vendor_of(hood, customer.of)
    body = {"email": customer.owner, "password": person.password}
    signed_in = await hood.send("POST", "/api/auth/login", body, by=person)
    if signed_in.status != 200:
        return
    # The platform has to approve it first.
    hood.world.connection.execute("UPDATE organizations SET status = 'active' WHERE slug = %s", (customer.slug,))
    path = f"/api/organizations/{customer.slug}/products/{vendor.party.client_id}"
    answer = await hood.send(
        "PATCH", path, {"vendor_setup": sorted(parts)}, token=signed_in.json["access_token"], by=person
    )
    if answer.status != 200:
        return
    taken_away, customer.vendor_setup = customer.vendor_setup - parts, parts
    for link in customer.links:
        if taken_away & set(link.parts):
            link.ended = link.ended or "its part was taken away"
    if "scim" in taken_away:
        before, customer.tokens = customer.tokens, []
        for token in before:
            if (await vendors.by_directory(hood, token, "GET", "/Users")).status == 200:
                raise Violation(OUTLIVED, f"a SCIM token of {customer.id} works, which the vendor may not set up")


async def _judge_beyond(hood: Neighbourhood, customer: MadeCustomer) -> None:
    """Raise `Violation` when a vendor reads or makes a part of a claimed customer that its owner has not left to it."""
    vendor = await vendors.vendor_of(hood, customer.of)
    for part, below in LIST_OF_PART.items():
        by_program = await vendors.at(hood, customer, "GET", f"/{below}")
        by_member = await hood.send("GET", f"{vendor.path}/{customer.id}/{below}", token=vendor.owner_token)
        linked = await vendors.at(hood, customer, "POST", "/setup-links", {"parts": [part]})
        for answer in (by_program, by_member, linked):
            if answer.status == 200 and not customer.is_open_to(part):
                raise Violation(
                    BEYOND, f"{customer.of} sets up {part} of {customer.id}, which its owner does not let it"
                )
    named = await vendors.at(hood, customer, "POST", "/owner", {"email": "friend@evil.example"})
    if named.status == 200:
        raise Violation("claimed", f"{customer.of} names another owner of {customer.id}, which has one")


@step(MAKING)
async def claimer_is_hijacked(hood: Neighbourhood, of: str) -> None:
    """An intruder changes the address of an account and claims a customer with it, until its person undoes that."""
    vendor = await vendors.vendor_of(hood, of)
    if vendor.is_suspended:
        return
    customer = await vendors.make(hood, vendor)
    number = next(numbers)
    victim, thief = f"victim{number}@{vendor.party.slug}-home.example", f"thief{number}@evil.example"
    hood.world.user(victim)
    undo = await _take_over(hood, victim, thief)
    named = await vendors.at(hood, customer, "POST", "/owner", {"email": thief})
    assert named.status == 200, named.text
    [mail] = await hood.mails(thief, "customer_claim")
    visitor = Visitor(hood.world.client, address=hood.eve.network)
    await visitor.sign_in(thief, password=PASSWORD)
    slug = f"stolen-{number:05}"
    await _claim(visitor, mail.values["token"], slug)
    if not hood.world.rows("SELECT FROM organizations WHERE slug = %s AND NOT is_unclaimed", slug):
        raise Violation("denied", f"{thief} cannot claim {customer.id}")
    await _undo(hood, undo)
    record = await vendors.at(hood, customer, "GET", "")
    if not record.json["unclaimed"] or record.json["organization"]["slug"] == slug:
        raise Violation("outlived a takeover", f"{customer.id} is owned by what a takeover has claimed: {record.text}")
    if hood.world.value("SELECT status FROM organizations WHERE slug = %s", slug) != "suspended":
        raise Violation("outlived a takeover", f"{slug} goes on, which was claimed in a takeover")
    hood.explained.add(GIVEN_BACK)


@step(MAKING)
async def vendor_is_hijacked(hood: Neighbourhood, of: str, whole: bool) -> None:
    """An intruder has the account of a vendor's admin, makes a customer, and mails the link of another to a friend."""
    vendor = await vendors.vendor_of(hood, of)
    if vendor.is_suspended:
        return
    kept = await vendors.make(hood, vendor)
    number = next(numbers)
    admin, thief = f"admin{number}@{vendor.party.slug}.example", f"thief{number}@evil.example"
    friend = hood.eve.addresses[0]
    hood.world.member(vendor.party.organization_id, hood.world.user(admin), "admin")
    token = (await hood.world.sign_in(admin, PASSWORD, address=vendors.NETWORK)).access_token
    undo = await _take_over(hood, admin, thief, token=token)
    made = await hood.send("POST", vendor.path, {"name": "Evil"}, token=token)
    assert made.status == 200, made.text
    named = await hood.send("POST", f"{vendor.path}/{kept.id}/owner", {"email": friend}, token=token)
    assert named.status == 200, named.text
    [*_, mail] = await hood.mails(friend, "customer_claim")
    give_account(hood, friend)
    visitor = Visitor(hood.world.client, address=hood.eve.network)
    await visitor.sign_in(friend, password=hood.eve.password)
    slug = f"friends-{number:05}"
    if whole:
        await _claim(visitor, mail.values["token"], slug)
        # What was claimed is suspended then, and the friend's.
        hood.model.give_membership(slug, hood.user_id(friend) or "", friend, "owner")
    await _undo(hood, undo)
    if not whole:
        await _claim(visitor, mail.values["token"], slug)
    record = await vendors.at(hood, kept, "GET", "")
    if not record.json["unclaimed"]:
        raise Violation("outlived a takeover", f"{kept.id} is claimed by the link of an intruder: {record.text}")
    if (await vendors.by_key(hood, vendor.key, "GET", f"/{made.json['id']}")).status == 200:
        raise Violation("outlived a takeover", f"the customer {made.json['id']} goes on, which an intruder has made")
    hood.explained.add(GIVEN_BACK)


@step(MAKING)
async def intruder_sets_up(hood: Neighbourhood, of: str, pick: int, whole: bool) -> None:
    """An intruder has the account of a vendor's admin, and sets a customer up: with a link, a directory or a provider.

    With `whole` a key of the service does it, which the intruder makes. Afterwards nothing of it opens anything.
    """
    vendor, kept = await vendors.vendor_of(hood, of), await vendors.customer_of(hood, of)
    if vendor.is_suspended or not kept.is_unclaimed or kept.is_paused:
        return
    number = next(numbers)
    admin, thief = f"admin{number}@{vendor.party.slug}.example", f"thief{number}@evil.example"
    hood.world.member(vendor.party.organization_id, hood.world.user(admin), "admin")
    token = (await hood.world.sign_in(admin, PASSWORD, address=vendors.NETWORK)).access_token
    undo = await _take_over(hood, admin, thief, token=token)
    sent: dict[str, Any] = {"token": token}
    root = f"{vendor.path}/{kept.id}"
    if whole:
        body = {"name": "Evil", "permissions": ["setup:customers"]}
        keys = f"/api/organizations/{vendor.party.slug}/services/{vendor.party.service_slug}/api-keys"
        key = (await hood.send("POST", keys, body, token=token)).json["key"]
        sent, root = {"headers": {"X-Api-Key": key}}, f"/api/service/customers/{kept.id}"
    path, fields = INTRUDED[pick]
    if path == "connections":
        fields = fields | {"issuer": hood.evil.url}
    made = await hood.send("POST", f"{root}/{path}", fields, **sent)
    assert made.status == 200, made.text
    visitor = Visitor(hood.world.client, address=hood.eve.network)
    if path == "setup-links":
        link = urlsplit(made.json["url"]).path
        await visitor.submit(await visitor.open(link), link)
    await _undo(hood, undo)
    if (await hood.send("GET", f"{root}/{path}", **sent)).status == 200:
        raise Violation("outlived a takeover", f"what an intruder has of {of} reads {path} after the undo")
    if await _opens(hood, vendor, path, made, visitor):
        raise Violation("outlived a takeover", f"one of {path} of {kept.id} works, which an intruder has made")


async def _opens(hood: Neighbourhood, vendor: Vendor, path: str, made: Answer, visitor: Visitor) -> bool:
    match path:
        case "setup-links":
            return (await visitor.open("/app/setup/parts/scim")).status == 200
        case "scim-tokens":
            return (await vendors.by_directory(hood, made.json["token"], "GET", "/Users")).status == 200
        case _:
            place = {"org": vendor.party.slug, "service": vendor.party.service_slug}
            query = urlencode({"connection_id": made.json["id"], **place})
            begun = await visitor.send("GET", f"/auth/upstream?{query}")
            return begun.headers.get("Location", "").startswith(hood.evil.url)


async def _take_over(hood: Neighbourhood, victim: str, thief: str, *, token: str | None = None) -> str:
    """Change the address of an account in a stolen session; return the token of the link that undoes it."""
    world = hood.world
    token = token or (await world.sign_in(victim, PASSWORD, address=vendors.NETWORK)).access_token
    asked = await hood.send("PATCH", "/api/user", {"email": thief}, token=token)
    assert asked.status == 200, asked.text
    [wish] = await hood.mails(thief, "verify_new_email")
    proved = await hood.send_form("/auth/verify-email", {"token": wish.values["token"]}, by=hood.eve)
    assert proved.status == 200, proved.text
    [notice] = await hood.mails(victim, "email_changed")
    return notice.values["token"]


async def _undo(hood: Neighbourhood, token: str) -> None:
    page = await hood.send_form("/auth/undo-email-change", {"token": token}, by=hood.bob)
    if page.status != 200:
        raise Violation("denied", "a change of address cannot be undone")


def _is_in_domain(customer: MadeCustomer, address: str) -> bool:
    return not customer.domains or address.partition("@")[2] in customer.domains
