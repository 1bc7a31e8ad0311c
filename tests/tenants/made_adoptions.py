"""Owners of claimed customers take what vendors have made for them: they adopt it, or remove it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.sign_in.upstream.trials import trials
from tests.tenants import market_judging, vendors
from tests.tenants.made_connections import EDITORS
from tests.tenants.making import MAKING, end_links, judge_links
from tests.tenants.market_judging import BEYOND, OUTLIVED
from tests.tenants.model import Violation
from tests.tenants.neighbourhood import Neighbourhood
from tests.tenants.taking import step
from tests.tenants.vendors import MadeCustomer
from tests.world.builder import new_id
from tests.world.directory import GROUP
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork
    from tests.application import Answer
    from tests.tenants.model import Person

ADOPTED: Final = "an owner has adopted what a vendor had made"
KINDS: Final = ("scim_token", "connection", "setup_link")


@step(MAKING)
async def owner_takes(hood: Neighbourhood, of: str, pick: int, whole: bool) -> None:
    """The owner of a customer adopts or removes all that is of a kind; others try it before."""
    for customer in (await vendors.vendor_of(hood, of)).present:
        if customer.owner:
            await _take(hood, customer, KINDS[pick], adopts=whole)
            await judge_adopted(hood)
            await judge_links(hood)
            await market_judging.recheck(hood)


@step(MAKING)
async def owner_adopts_connection(hood: Neighbourhood, of: str, whole: bool) -> None:
    """The owner of a customer adopts its connection: without a mail domain that it has proved itself, and with one.

    With `whole` the owner then tests it, and switches it on and off.
    """
    for customer in (await vendors.vendor_of(hood, of)).present:
        owner = await _owner(hood, customer)
        connection_id = customer.connection_id
        if owner is None or connection_id is None:
            continue
        await _refuse_strangers(hood, customer, connection_id)
        if not await _adopts_connection(owner, connection_id):
            await _prove_domain(owner)
            if not await _adopts_connection(owner, connection_id):
                continue
        await _taken(hood, customer, "connection", None)
        customer.adopted_connections.append(connection_id)
        await _judge_untested(owner, connection_id)
        if whole:
            await _test(owner, connection_id)
            await _switch_on_and_off(owner, connection_id)
        await judge_adopted(hood)
        await judge_links(hood)
        await market_judging.recheck(hood)


@step(MAKING)
async def owner_takes_rules(hood: Neighbourhood, of: str, whole: bool) -> None:
    """The owner of a customer adopts the rules for groups, once its own directory has the group, or removes them."""
    for customer in (await vendors.vendor_of(hood, of)).present:
        owner = await _owner(hood, customer)
        if owner is None:
            continue
        for thing in await _things(owner, "group_rule"):
            await _refuse_strangers(hood, customer, thing["id"])
            await _take_rule(owner, thing["id"], adopts=whole)
        await market_judging.recheck(hood)


@dataclass(frozen=True)
class _Owner:
    """The owner of a customer, who has just signed in."""

    hood: Neighbourhood
    customer: MadeCustomer
    person: Person
    token: str

    async def send(self, method: str, path: str, body: Any = None) -> Answer:
        """Send a request below the organization."""
        path = f"/api/organizations/{self.customer.slug}{path}"
        return await self.hood.send(method, path, body, token=self.token, by=self.person)


async def _owner(hood: Neighbourhood, customer: MadeCustomer) -> _Owner | None:
    """Return the owner of a customer, whose organization the platform has approved; None where no person owns it."""
    person = hood.model.owner_of(customer.owner) if customer.owner else None
    if person is None:
        return None
    body = {"email": customer.owner, "password": person.password}
    signed_in = await hood.send("POST", "/api/auth/login", body, by=person)
    if signed_in.status != 200:
        return None
    hood.world.connection.execute("UPDATE organizations SET status = 'active' WHERE slug = %s", (customer.slug,))
    return _Owner(hood, customer, person, signed_in.json["access_token"])


async def _things(owner: _Owner, kind: str) -> list[dict[str, Any]]:
    """Return what was made for a customer of a kind, as its owner reads it."""
    listed = await owner.send("GET", "/made-for-us?limit=100")
    if listed.status != 200:
        raise Violation("denied", f"the owner of {owner.customer.slug} cannot read what was made for it: {listed.text}")
    return [one for one in listed.json["things"] if one["kind"] == kind]


async def _take(hood: Neighbourhood, customer: MadeCustomer, kind: str, *, adopts: bool) -> None:
    owner = await _owner(hood, customer)
    if owner is None:
        return
    for thing in await _things(owner, kind):
        await _refuse_strangers(hood, customer, thing["id"])
        if adopts:
            taken = await owner.send("POST", f"/made-for-us/{thing['id']}/adopt")
        else:
            taken = await owner.send("DELETE", f"/made-for-us/{thing['id']}")
        if taken.status not in {200, 204}:
            continue
        await _taken(hood, customer, kind, taken.json["token"] if taken.status == 200 else None)
        if kind == "connection" and taken.status == 200:
            customer.adopted_connections.append(thing["id"])


async def _adopts_connection(owner: _Owner, connection_id: str) -> bool:
    """Return whether a connection is adopted: where the organization has proved the mail domains that lead to it."""
    customer = owner.customer
    adopted = await owner.send("POST", f"/made-for-us/{connection_id}/adopt")
    # What leads to it is a mail domain of A or B, which no other organization proves.
    is_right = customer.has_own_domain and not customer.domains
    if (adopted.status == 200) is not is_right:
        kind = BEYOND if adopted.status == 200 else "denied"
        raise Violation(kind, f"{customer.slug} adopts a connection to {sorted(customer.domains)}: {adopted.text}")
    return is_right


async def _prove_domain(owner: _Owner) -> None:
    """Prove a mail domain of the organization, by a connection without metadata."""
    if owner.customer.has_own_domain:
        return
    connection = await owner.send("POST", "/upstream-providers", {"type": "saml", "name": "Placeholder"})
    assert connection.status == 200, connection.text
    body = {"domain": f"{owner.customer.slug}.example", "provider_id": connection.json["id"]}
    made = await owner.send("POST", "/domain-routes", body)
    assert made.status == 200, made.text
    owner.hood.names.publish(made.json["txt_name"], made.json["txt_value"])
    proved = await owner.send("POST", f"/domain-routes/{made.json['id']}/verify")
    assert proved.status == 200, proved.text
    owner.customer.has_own_domain = True


async def _judge_untested(owner: _Owner, connection_id: str) -> None:
    """Raise `Violation` when an adopted connection is on before it was tested, or is still the vendor's."""
    own = await owner.send("GET", f"/upstream-providers/{connection_id}")
    if own.status != 200:
        raise Violation("denied", f"{owner.customer.slug} does not have what it has adopted: {own.text}")
    switched = await owner.send("PATCH", f"/upstream-providers/{connection_id}", {"enabled": True})
    if own.json["enabled"] or switched.status == 200:
        raise Violation("untested", f"{owner.customer.slug} has a connection that is on without a test")
    for method, body in (("GET", None), ("PATCH", {"name": "Ours"}), ("DELETE", None)):
        answer = await vendors.at(owner.hood, owner.customer, method, f"/connections/{connection_id}", body)
        if answer.status in {200, 204}:
            raise Violation(BEYOND, f"{owner.customer.of} has a connection that {owner.customer.slug} has adopted")


async def _test(owner: _Owner, connection_id: str) -> None:
    """Store a trial sign-in of the owner that has succeeded with a connection as it is."""
    world = owner.hood.world
    [(organization_id,)] = world.rows("SELECT id FROM organizations WHERE slug = %s", owner.customer.slug)

    def tested_as(uow: UnitOfWork) -> bytes:
        found = uow.upstream_connections.find(organization_id, UUID(connection_id))
        assert found is not None, "an adopted connection is gone"
        return trials.fingerprint(found)

    claims, now = claims_of(owner.token), world.clock()
    world.connection.execute(
        """
        INSERT INTO trial_sign_ins (organization_id, id, connection_id, user_id, session_id, state_hash, tested_as,
                                    expires_at, concluded_at)
        VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
        """,
        (
            *(organization_id, new_id(), connection_id, claims["sub"], claims["sid"], new_id().bytes),
            *(await world.installation.database.transact(tested_as), now, now),
        ),
    )


async def _switch_on_and_off(owner: _Owner, connection_id: str) -> None:
    """Switch an adopted connection on, which then leads to its provider for its organization, and off."""
    hood, path = owner.hood, f"/upstream-providers/{connection_id}"
    switched = await owner.send("PATCH", path, {"enabled": True})
    if switched.status != 200:
        raise Violation("denied", f"{owner.customer.slug} cannot switch on what it has tested: {switched.text}")
    visitor = Visitor(hood.world.client, address=owner.person.network)
    begun = await visitor.send("GET", f"/auth/upstream?connection_id={connection_id}")
    if not begun.headers.get("Location", "").startswith((hood.work.url, hood.evil.url)):
        raise Violation("denied", f"what {owner.customer.slug} has adopted leads nowhere: {begun.text[:500]}")
    assert (await owner.send("PATCH", path, {"enabled": False})).status == 200


async def _take_rule(owner: _Owner, rule_id: str, *, adopts: bool) -> None:
    hood, customer = owner.hood, owner.customer
    [(is_of_directory,)] = hood.world.rows(
        "SELECT connection_id IS NULL FROM customer_group_rules WHERE id = %s", rule_id
    )
    if adopts:
        taken = await owner.send("POST", f"/made-for-us/{rule_id}/adopt")
        if is_of_directory and not customer.has_own_group and taken.status != 200:
            await _make_group(owner)
            taken = await owner.send("POST", f"/made-for-us/{rule_id}/adopt")
        is_right = is_of_directory and customer.has_own_group
    else:
        taken, is_right = await owner.send("DELETE", f"/made-for-us/{rule_id}"), True
    if (taken.status in {200, 204}) is not is_right:
        raise Violation("denied" if is_right else BEYOND, f"{customer.slug} takes a rule for a group: {taken.text}")
    # Its own directory has the group without people, so an adopted rule gives no person a role.
    if is_right and is_of_directory:
        customer.group_rule = ()
    elif is_right:
        customer.asserted_rule = ()


async def _make_group(owner: _Owner) -> None:
    """Let the organization's own directory have the group, without members."""
    made = await owner.send("POST", "/scim-tokens", {"name": "Own", "groups": "directory"})
    assert made.status == 200, made.text
    body = {"schemas": [GROUP], "displayName": EDITORS}
    group = await vendors.by_directory(owner.hood, made.json["token"], "POST", "/Groups", body)
    assert group.status == 201, group.text
    owner.customer.has_own_group = True


async def _taken(hood: Neighbourhood, customer: MadeCustomer, kind: str, secret: str | None) -> None:
    match kind:
        case "scim_token":
            before, customer.tokens = customer.tokens, []
            for one in before:
                if (await vendors.by_directory(hood, one, "GET", "/Users")).status == 200:
                    raise Violation(OUTLIVED, f"a SCIM token of {customer.id} works that its owner has taken")
            customer.adopted += [secret] if secret is not None else []
            hood.explained.add(ADOPTED)
        case "connection":
            customer.lose_connection()
            (await vendors.opened(hood)).end_visits_by_connection(customer, "the owner has taken its connection")
        case _:
            end_links(customer, "the owner has removed it")


async def _refuse_strangers(hood: Neighbourhood, customer: MadeCustomer, thing_id: str) -> None:
    """The vendor and the owners of A and B try to take a thing, in the customer's organization and in their own."""
    vendor = await vendors.vendor_of(hood, customer.of)
    strangers = [(vendor.party.slug, vendor.owner_token)]
    strangers += [(one.slug, one.owner_token) for one in hood.organizations.values()]
    for slug, token in strangers:
        for at in (slug, customer.slug):
            path = f"/api/organizations/{at}/made-for-us"
            listed = await hood.send("GET", path, token=token)
            adopted = await hood.send("POST", f"{path}/{thing_id}/adopt", token=token)
            removed = await hood.send("DELETE", f"{path}/{thing_id}", token=token)
            is_told = listed.status == 200 and thing_id in listed.text
            if is_told or adopted.status == 200 or removed.status == 204:
                raise Violation("stranger", f"{slug} takes what was made for {customer.slug}")


async def judge_adopted(hood: Neighbourhood) -> None:
    """Raise `Violation` when what an owner has adopted ends, or is told to the vendor."""
    for customer in (await vendors.opened(hood)).customers:
        for token in customer.adopted:
            if (await vendors.by_directory(hood, token, "GET", "/Users")).status != 200:
                raise Violation("denied", f"what the owner of {customer.slug} has adopted does not work")
        for connection_id in customer.adopted_connections:
            query = """
                SELECT FROM upstream_connections c
                JOIN   organizations o ON o.id = c.organization_id
                WHERE  c.id = %s AND o.slug = %s
            """
            if not hood.world.rows(query, connection_id, customer.slug):
                raise Violation("denied", f"the owner of {customer.slug} has lost a connection that it has adopted")
