"""Signing in by connections that vendors have made for customers, whose providers say whatever they want."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.identity_provider import SSO_URL
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET
from tests.tenants import market_judging, vendors
from tests.tenants.making import MAKING, other
from tests.tenants.market_judging import BEYOND, OUTLIVED, nothing_outside_changes
from tests.tenants.model import Violation
from tests.tenants.neighbourhood import A, Neighbourhood
from tests.tenants.staff import staff_of
from tests.tenants.taking import step
from tests.tenants.vendors import MadeCustomer, Vendor
from tests.world.authorization import address_of
from tests.world.relying_party import REDIRECT_URI, RelyingParty
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor, forms_of, without_tokens

if TYPE_CHECKING:
    from tests.application import Answer
    from tests.tenants.model import Person
    from tests.tenants.vendors import Visit

CODE_PAGE: Final = "/app/sign-in/address-code"
ALLOW: Final = "/auth/authorize/allow"
BASE: Final = "http://localhost:8000"
HOPS_MAX: Final = 12
EDITORS: Final = "Editors"
# The ids of what goes on, which each page has of its own.
_DRAWN: Final = re.compile(r"[\w-]{43}")


@step(MAKING)
async def vendor_connects(hood: Neighbourhood, of: str, pick: int, whole: bool) -> None:
    """A vendor connects the provider of the attacker or that of work for a customer, in place of one before."""
    customer = await vendors.customer_of(hood, of, pick)
    async with nothing_outside_changes(hood, f"{of} has connected a provider"):
        await _connect(hood, customer, is_at_work=whole)


@step(MAKING)
async def vendor_switches_connection(hood: Neighbourhood, of: str, pick: int, whole: bool) -> None:
    """A vendor switches the connection of a customer off, which then leads to no provider, and on again or not."""
    customer, vendor = await vendors.customer_of(hood, of, pick), await vendors.vendor_of(hood, of)
    if customer.connection_id is None or not customer.is_open_to("upstream") or vendor.is_suspended:
        return
    for is_on in (False, True) if whole or customer.is_off else (False,):
        async with nothing_outside_changes(hood, f"{of} has switched a connection {'on' if is_on else 'off'}"):
            path = f"/connections/{customer.connection_id}"
            changed = await vendors.at(hood, customer, "PATCH", path, {"enabled": is_on})
        if changed.status != 200 or changed.json["enabled"] is not is_on:
            raise Violation("denied", f"{of} cannot switch the connection of {customer.id}: {changed.text}")
        customer.is_off = not is_on
        if not is_on:
            # What it has named of groups is forgotten, so it gives no role once it is on again.
            customer.asserted.clear()
            (await vendors.opened(hood)).end_visits_by_connection(customer, "its connection was switched off")
        if await _leads_to_provider(hood, vendor, customer) is not is_on:
            kind = "denied" if is_on else OUTLIVED
            raise Violation(kind, f"the connection of {customer.id} is {'on' if is_on else 'off'}")
        await market_judging.recheck(hood)


async def _leads_to_provider(hood: Neighbourhood, vendor: Vendor, customer: MadeCustomer) -> bool:
    visitor = Visitor(hood.world.client, address=vendors.NETWORK)
    place = {"org": vendor.party.slug, "service": vendor.party.service_slug}
    begun = await visitor.send("GET", f"/auth/upstream?{urlencode({'connection_id': customer.connection_id, **place})}")
    return begun.headers.get("Location", "").startswith((hood.work.url, hood.evil.url))


@step(MAKING)
async def made_connection_is_led_elsewhere(hood: Neighbourhood, of: str) -> None:
    """A browser names the connection of a customer on the way to anything but the service of its vendor."""
    customer = await vendors.customer_of(hood, of)
    if await _is_connected(hood, customer):
        await judge_led_elsewhere(hood, customer)


async def judge_led_elsewhere(hood: Neighbourhood, customer: MadeCustomer) -> None:
    """Raise `Violation` when the connection of a customer leads to its provider from anything but the service."""
    market = await vendors.opened(hood)
    vendor, strange = market.vendors[customer.of], market.vendors[other(customer.of)]
    places = [{}, {"org": vendor.party.slug}, {"org": f"internal:{customer.id}"}]
    parties = (vendor.other, strange.party, *(one.party for one in hood.organizations.values()))
    places += [{"org": one.slug, "service": one.service_slug} for one in parties]
    for place in places:
        visitor = Visitor(hood.world.client, address=vendors.NETWORK)
        query = urlencode({"connection_id": customer.connection_id, **place})
        begun = await visitor.send("GET", f"/auth/upstream?{query}")
        if begun.headers.get("Location", "").startswith((hood.work.url, hood.evil.url, SSO_URL)):
            raise Violation(BEYOND, f"the connection of {customer.id} leads to {place or 'the platform'}")


@step(MAKING)
async def provider_asserts_anybody(hood: Neighbourhood, of: str, address: str, pick: int) -> None:
    """The attacker's provider asserts a person: by an address, an owner, or a person of the platform.

    She does not read the mailbox, so she guesses the code.
    """
    customer = await vendors.customer_of(hood, of)
    vendor = await vendors.vendor_of(hood, of)
    if not await _is_connected(hood, customer):
        return
    wanted = await _wanted(hood, address, pick)
    if hood.model.owner_of(wanted) is hood.eve or _is_linked(hood, customer, wanted):
        # Who has typed the code once is the provider's to sign in there.
        return
    how = f"the connection of {customer.id} has asserted {wanted}"
    async with nothing_outside_changes(hood, how):
        page, visitor = await _arrive(hood, vendor, customer, _claims(wanted))
        nobody, _ = await _arrive(hood, vendor, customer, _claims("nobody@nowhere.example"))
        if _shape(page, wanted) != _shape(nobody, "nobody@nowhere.example"):
            raise Violation("told", f"{how}, and the page tells whether there is an account")
        await _guess(hood, vendor, customer, visitor, page, wanted)


async def _guess(
    hood: Neighbourhood, vendor: Vendor, customer: MadeCustomer, visitor: Visitor, page: Answer, address: str
) -> None:
    """Type wrong codes as often as that is allowed, and then the right one."""
    mails = await hood.mails(address, "address_code")
    if mails and any(form.action == CODE_PAGE for form in forms_of(page)):
        right = mails[-1].values["code"]
        for number in range(vendors.GUESSES_MAX):
            wrong = f"{(int(right) + 1 + number) % 10**6:06}"
            page = await _typed(hood, vendor, visitor, page, wrong, _claims(address))
            if _is_back(page):
                break
        else:
            page = await _typed(hood, vendor, visitor, page, right, _claims(address))
    await _hold(hood, hood.eve, vendor, customer, visitor, page)


@step(MAKING)
async def comes_by_made_connection(hood: Neighbourhood, of: str, address: str, pick: int, whole: bool) -> None:
    """The provider of a customer asserts a person who has gone there, and names a group; they type the mailed code."""
    customer = await vendors.customer_of(hood, of)
    person = hood.model.owner_of(address)
    assert person is not None
    vendor = await vendors.vendor_of(hood, of)
    if not await _is_connected(hood, customer):
        return
    claims = _claims(address) | {"groups": [EDITORS] if whole else ["Others"]}
    had_account = hood.user_id(address)
    proves = {had_account} if had_account is not None else set[str]()
    async with nothing_outside_changes(hood, f"{address} came by the connection of {customer.id}", proves=proves):
        visit = await _comes(hood, person, vendor, customer, claims)
    if visit is None:
        return
    customer.asserted[visit.user_id] = whole
    await market_judging.judge_confined(hood, visit)
    if pick == 0:
        await strays(hood, visit)


async def _comes(
    hood: Neighbourhood, person: Person, vendor: Vendor, customer: MadeCustomer, claims: dict[str, Any]
) -> Visit | None:
    before = len(await hood.mails(claims["email"], "address_code"))
    page, visitor = await _arrive(hood, vendor, customer, claims, network=person.network)
    return await conclude(hood, person, customer, claims, visitor, page, before)


async def conclude(
    hood: Neighbourhood,
    person: Person,
    customer: MadeCustomer,
    claims: dict[str, Any],
    visitor: Visitor,
    page: Answer,
    before: int,
) -> Visit | None:
    """Go on behind the provider of a customer, with the code that is mailed after the mails `before`."""
    vendor, address = await vendors.vendor_of(hood, customer.of), claims["email"]
    mails = (await hood.mails(address, "address_code"))[before:]
    user_id = hood.user_id(address)
    if mails and any(form.action == CODE_PAGE for form in forms_of(page)):
        if user_id is not None and customer.admitted.get(user_id) is False:
            # The code links the identity; it does not let in whom the directory has deactivated.
            page = await _typed(hood, vendor, visitor, page, mails[-1].values["code"], claims)
        else:
            page = await _typed(hood, vendor, visitor, page, mails[-1].values["code"], claims)
            if _is_back(page) and (user_id := hood.user_id(address)) is not None:
                customer.admitted[user_id] = True
    elif _is_back(page) and user_id is not None and user_id not in customer.admitted:
        # An identity that was linked before: the connection admits its person anew.
        customer.admitted[user_id] = True
    return await _hold(hood, person, vendor, customer, visitor, page)


@step(MAKING)
async def vendor_makes_asserted_rule(hood: Neighbourhood, of: str, pick: int, whole: bool) -> None:
    """A vendor says which roles the group gives that the connection of a customer asserts, or deletes that."""
    customer = await vendors.customer_of(hood, of)
    if customer.connection_id is None or not customer.is_open_to("groups"):
        return
    await _delete_rules(hood, customer, customer.connection_id)
    customer.asserted_rule = ()
    if whole:
        roles = vendors.ROLES[: 1 + pick % 2]
        body = {"source": customer.connection_id, "group": EDITORS, "service_roles": roles}
        made = await vendors.at(hood, customer, "POST", "/group-rules", body)
        customer.asserted_rule = tuple(roles) if made.status == 200 else ()
    await market_judging.recheck(hood)


async def _delete_rules(hood: Neighbourhood, customer: MadeCustomer, source: str) -> None:
    listed = await vendors.at(hood, customer, "GET", "/group-rules")
    for rule in listed.json.get("group_rules", []):
        if rule["source"] == source:
            await vendors.at(hood, customer, "DELETE", f"/group-rules/{rule['id']}")


@step(MAKING)
async def vendor_names_things_of_others(hood: Neighbourhood, of: str) -> None:
    """A vendor names connections and groups of others in the rules and mail domains of its own customer."""
    mine, theirs = await vendors.customer_of(hood, of), await vendors.customer_of(hood, other(of))
    things = {"connection": theirs.connection_id, "group": theirs.group_id, "connection of A": _of_a(hood)}
    tried: list[tuple[str, dict[str, Any]]] = [
        ("/group-rules", {"source": source, "group": EDITORS, "service_roles": ["editor"]})
        for source in (things["connection"], things["connection of A"])
        if source is not None
    ]
    if things["group"] is not None:
        tried.append(("/group-rules", {"source": "scim", "group": things["group"], "service_roles": ["editor"]}))
    if mine.connection_id is not None:
        unknown = {"source": mine.connection_id, "group": "Owners", "service_roles": ["owner"]}
        tried.append(("/group-rules", unknown))
    tried += [
        ("/mail-domains", {"domain": hood.organizations[A].domain, "provider_id": source})
        for source in (things["connection"], things["connection of A"])
        if source is not None
    ]
    for path, body in tried:
        if (await vendors.at(hood, mine, "POST", path, body)).status == 200:
            raise Violation("another vendor", f"{of} names what is not its own in {path}: {body}")


def _of_a(hood: Neighbourhood) -> str:
    return hood.organizations[A].connection_id


async def _connect(hood: Neighbourhood, customer: MadeCustomer, *, is_at_work: bool) -> None:
    if not customer.is_open_to("upstream") or (await vendors.vendor_of(hood, customer.of)).is_suspended:
        return
    await disconnect(hood, customer)
    body = {
        "type": "oidc",
        "name": "Globex",
        "issuer": (hood.work if is_at_work else hood.evil).url,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "attribute_mapping": {"groups": "groups"},
        "enabled": True,
    }
    made = await vendors.at(hood, customer, "POST", "/connections", body)
    assert made.status == 200, made.text
    customer.connection_id, customer.is_at_work = made.json["id"], is_at_work
    for flag in ("trust_mfa", "joins_as", "accepts_agents"):
        taken = await vendors.at(hood, customer, "PATCH", f"/connections/{made.json['id']}", {flag: True})
        if taken.status == 200 and taken.json.get(flag):
            raise Violation(BEYOND, f"the connection of {customer.id} has {flag}")


async def disconnect(hood: Neighbourhood, customer: MadeCustomer) -> None:
    """Let the vendor delete the connection of a customer, if there is one."""
    if customer.connection_id is None:
        return
    await vendors.at(hood, customer, "DELETE", f"/connections/{customer.connection_id}")
    customer.lose_connection()
    (await vendors.opened(hood)).end_visits_by_connection(customer, "its connection was deleted")
    await market_judging.recheck(hood)


async def _is_connected(hood: Neighbourhood, customer: MadeCustomer) -> bool:
    """Return whether a customer has a connection that is open; one is made where the vendor may do that."""
    vendor = await vendors.vendor_of(hood, customer.of)
    if customer.connection_id is None:
        await _connect(hood, customer, is_at_work=False)
    return customer.connection_id is not None and not (customer.is_off or customer.is_paused or vendor.is_suspended)


async def _wanted(hood: Neighbourhood, address: str, pick: int) -> str:
    """Return whom the provider asserts: the person of an address, an owner, or a person of the platform."""
    if pick == 1:
        return hood.organizations[A].owner
    if pick == 2:
        await staff_of(hood)
        # The newest of the platform's people, who are of this history.
        query = "SELECT email FROM users WHERE is_platform_owner AND created_at >= %s ORDER BY created_at LIMIT 1"
        return str(hood.world.value(query, hood.began))
    return address


async def _arrive(
    hood: Neighbourhood,
    vendor: Vendor,
    customer: MadeCustomer,
    claims: dict[str, Any],
    *,
    network: str = vendors.NETWORK,
) -> tuple[Answer, Visitor]:
    """Come to the service for a customer in a new browser, and back from its provider; return what follows."""
    visitor = Visitor(hood.world.client, address=network)
    begun = await visitor.send("GET", address_of(vendor.party, customer=customer.id))
    return await follow(hood, vendor, visitor, begun, claims), visitor


async def follow(
    hood: Neighbourhood, vendor: Vendor, visitor: Visitor, answer: Answer, claims: dict[str, Any]
) -> Answer:
    """Follow where a browser is led, through providers of OpenID Connect, as far as the service or one by SAML."""
    del vendor
    for _ in range(HOPS_MAX):
        if any(form.action == ALLOW for form in forms_of(answer)):
            answer = await visitor.submit(answer, ALLOW, is_followed=False)
        location = leads_to(answer)
        if not location or location.startswith((REDIRECT_URI, SSO_URL)):
            return answer
        for provider in (hood.work, hood.evil):
            if location.startswith(provider.url):
                provider.claims = {**claims, "email_verified": True}
                location = provider.sign_in(location)
        answer = await visitor.send("GET", location.removeprefix(BASE))
        assert answer.status < 500, answer.text
    raise AssertionError("the browser was led in a circle")


async def _typed(
    hood: Neighbourhood, vendor: Vendor, visitor: Visitor, page: Answer, code: str, claims: dict[str, Any]
) -> Answer:
    if not any(form.action == CODE_PAGE for form in forms_of(page)):
        return page
    answer = await visitor.submit(page, CODE_PAGE, code=code, is_followed=False)
    return await follow(hood, vendor, visitor, answer, claims)


async def _hold(
    hood: Neighbourhood, person: Person, vendor: Vendor, customer: MadeCustomer, visitor: Visitor, page: Answer
) -> Visit | None:
    """Redeem the code with which a browser was led back, if it was."""
    if not _is_back(page):
        if visitor.has_session:
            await _judge_browser(hood, visitor)
        return None
    code = _code_of(page)
    if code is None:
        return None
    answer = await vendor.party.redeem(code)
    visit = market_judging.came(hood, person, customer, answer, is_by_connection=True, is_by_code=True)
    if visit is not None:
        visit.visitor = visitor
        await _judge_browser(hood, visitor)
    return visit


async def _judge_browser(hood: Neighbourhood, visitor: Visitor) -> None:
    """Raise `Violation` when a browser that came by a made connection opens pages of organizations."""
    for one in hood.organizations.values():
        page = await visitor.send("GET", f"/app/organizations/{one.slug}")
        if page.status == 200:
            raise Violation(BEYOND, f"a browser by a made connection opens the pages of {one.slug}")


async def strays(hood: Neighbourhood, visit: Visit) -> None:
    """Go on in the browser of a session: to other services, and to other customers of both vendors."""
    visitor, market = visit.visitor, await vendors.opened(hood)
    assert visitor is not None
    elsewhere = [(one.party, "") for one in hood.organizations.values()]
    elsewhere += [(vendor.other, "") for vendor in market.vendors.values()]
    elsewhere += [(vendor.party, "") for vendor in market.vendors.values()]
    elsewhere += [
        (market.vendors[one.of].party, one.id)
        for one in market.customers
        if one is not visit.customer and not one.is_ended
    ]
    for party, customer_id in elsewhere:
        page = await visitor.send("GET", address_of(party, **({"customer": customer_id} if customer_id else {})))
        page = await _without_provider(visitor, page)
        if _is_back(page):
            await _judge_strayed(party, page, visit, customer_id)


async def _without_provider(visitor: Visitor, answer: Answer) -> Answer:
    """Follow an answer as far as it leads within the platform."""
    for _ in range(HOPS_MAX):
        if any(form.action == ALLOW for form in forms_of(answer)):
            answer = await visitor.submit(answer, ALLOW, is_followed=False)
        location = answer.headers.get("Location", "")
        if not location or _is_back(answer) or not location.removeprefix(BASE).startswith("/"):
            return answer
        if location.removeprefix(BASE).startswith("/auth/upstream"):
            return answer
        answer = await visitor.send("GET", location.removeprefix(BASE))
    return answer


async def _judge_strayed(party: RelyingParty, page: Answer, visit: Visit, customer_id: str) -> None:
    code = _code_of(page)
    if code is None:
        return
    answer = await party.redeem(code)
    if answer.status != 200:
        return
    claims = claims_of(answer.json["access_token"])
    # Without a customer the session goes on where it is.
    if claims.get("customer_id") != visit.customer.id:
        raise Violation(BEYOND, f"the connection of {visit.customer.id} opens {party.slug} for {customer_id or 'none'}")


def _claims(address: str) -> dict[str, Any]:
    return {"sub": f"made-{address}", "email": address}


def leads_to(page: Answer) -> str:
    """Return where a page leads; empty for nowhere."""
    return page.headers.get("Location") or page.headers.get("Refresh", "").partition("; url=")[2]


def _is_back(page: Answer) -> bool:
    return leads_to(page).startswith(REDIRECT_URI)


def _code_of(page: Answer) -> str | None:
    """Return the code with which a browser is led back; None for a refusal."""
    return parse_qs(urlsplit(leads_to(page)).query).get("code", [None])[0]


def _shape(page: Answer, address: str) -> tuple[int, str]:
    """Return what a page tells beside the address and what is drawn for it."""
    text = _DRAWN.sub("", without_tokens(page.text).replace(address, ""))
    return page.status, text


def _is_linked(hood: Neighbourhood, customer: MadeCustomer, address: str) -> bool:
    query = "SELECT FROM identities WHERE connection_id = %s AND subject = %s"
    return bool(hood.world.rows(query, customer.connection_id, _claims(address)["sub"]))
