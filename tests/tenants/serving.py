"""What a vendor and its customers do: beginning, pausing and ending, who is let in, and with which roles."""

from __future__ import annotations

from tests.tenants import desk_rows, giving, grouping, judging, living, standing
from tests.tenants.acting import reset, sign_in
from tests.tenants.customers import Assignment, Customer, V
from tests.tenants.desk import Desk
from tests.tenants.giving import picked
from tests.tenants.model import Held, Person, Violation
from tests.tenants.neighbourhood import TECHNICIAN, A, Neighbourhood
from tests.tenants.taking import Story, step

SERVING, SELLING = Story.SERVING, Story.SELLING
SIDES = ("vendor", "customer")


@step(SERVING, SELLING)
async def vendor_makes_role_anew(hood: Neighbourhood, pick: int) -> None:
    """The vendor deletes a role and makes one of the same name, which nobody has then."""
    desk_rows.make_role_anew(await desk_rows.opened(hood), desk_rows.ROLES[pick % len(desk_rows.ROLES)])


@step(SERVING, SELLING, Story.READING)
async def customer_takes_away(hood: Neighbourhood, pick: int, whole: bool) -> None:
    """A customer suspends a person who has come for it, and lets them back, or removes them."""
    desk = await desk_rows.opened(hood)
    held: Held | None = picked([one for one in desk.sessions if one.customer_id and not one.is_dead], pick)
    if held is None:
        return
    of = next(one.of for one in desk.customers if one.id == held.customer_id)
    if whole:
        await giving.switch(hood, of, held.user_id, active=False)
        await standing.recheck(hood)
        await giving.switch(hood, of, held.user_id, active=True)
    else:
        answer = await hood.by_owner(of, "POST", f"/members/{held.user_id}")
        await giving.removed(hood, of, held.user_id, answer, "a customer removed the member")


@step(SERVING)
async def vendor_adds_member(hood: Neighbourhood, address: str, whole: bool) -> None:
    """The vendor makes a person its admin or a member, which they confirm as they work there."""
    desk, person = await desk_rows.opened(hood), hood.model.owner_of(address)
    assert person is not None
    held = await sign_in(hood, person, address)
    if held is None or (desk.slug, held.user_id) in hood.model.gifts:
        return
    organization_id, role = desk.party.organization_id, "admin" if whole else "member"
    rows = hood.world.rows("SELECT id FROM users WHERE id = %s", held.user_id)
    hood.world.member(organization_id, rows[0][0], role, is_confirmed=False)
    path = f"/api/organizations/{desk.slug}/select"
    answer = await hood.send("POST", path, {}, token=held.access_token, by=person)
    if answer.status != 200:
        hood.world.connection.execute(
            "DELETE FROM memberships WHERE organization_id = %s AND user_id = %s", (organization_id, held.user_id)
        )
        return
    hood.model.give_membership(desk.slug, held.user_id, address, role)
    living.confirmed(hood, desk.slug, address)
    held.access_token, held.refresh_token = answer.json["access_token"], answer.json["refresh_token"]
    await judging.judge(hood, held)


@step(SERVING, SELLING, Story.READING)
async def begins_as_customer(hood: Neighbourhood, of: str, whole: bool) -> None:
    """An organization becomes a customer; one that is ends it, and begins anew or not."""
    desk = await desk_rows.opened(hood)
    present = desk.present(of)
    if present is not None:
        desk_rows.end(hood, present)
        await standing.recheck(hood)
    if present is None or whole:
        desk_rows.begin(hood, desk, of)


@step(SERVING, SELLING, Story.SWITCHING, Story.READING)
async def joins_customers(hood: Neighbourhood, address: str, pick: int) -> None:
    """Both organizations add a person, who works in one of them, in both, or in none, which confirms it."""
    person = hood.model.owner_of(address)
    assert person is not None
    for number, of in enumerate(hood.organizations):
        await giving.scim_creates(hood, of, address, True)
        if pick in {0, 1 + number}:
            await _works(hood, person, of, address)


async def _works(hood: Neighbourhood, person: Person, of: str, address: str) -> None:
    held = await sign_in(hood, person, address)
    if held is None and await reset(hood, person, address):
        held = await sign_in(hood, person, address)
    if held is not None:
        await judging.select(hood, held, hood.organizations[of])
        living.confirmed(hood, hood.organizations[of].slug, address)


@step(SERVING, SELLING, Story.READING)
async def pauses(hood: Neighbourhood, of: str, pick: int, whole: bool) -> None:
    """One side pauses a customer, or all go on; or the platform suspends the organization for a while."""
    customer = await _customer(hood, of)
    is_paused = bool(customer.pauses)
    for side in sorted(customer.pauses):
        desk_rows.pause(hood, customer, side, is_paused=False)
    if pick == len(SIDES):
        desk_rows.suspend(hood, customer, is_suspended=True)
        await standing.recheck(hood)
        desk_rows.suspend(hood, customer, is_suspended=False)
    elif not is_paused:
        desk_rows.pause(hood, customer, SIDES[pick], is_paused=True)
        await standing.recheck(hood)
        desk_rows.pause(hood, customer, SIDES[pick], is_paused=whole)


@step(SERVING, SELLING)
async def assigns(hood: Neighbourhood, of: str, address: str, pick: int, whole: bool) -> None:
    """A customer assigns roles to everybody, a role, a group, or a person, and lets in those alone or all members."""
    customer = await _customer(hood, of)
    desk = await desk_rows.opened(hood)
    if pick == 1 and of == A and hood.groups.group_id is None:
        await grouping.owner_sets_rules(hood, pick)
    roles = desk_rows.ROLES[: 1 + (pick + whole) % 2] if whole else desk_rows.ROLES[pick:]
    desk_rows.assign(hood, desk, customer, _subjects(hood, of, address, pick), *roles)
    desk_rows.set_access(hood, customer, "assigned" if whole else "members")


async def judge_vendor(hood: Neighbourhood, desk: Desk) -> None:
    """Raise `Violation` when the vendor is told of a customer's people who have not come, of its groups, or its id."""
    strange = _unknown_to_vendor(hood, desk)
    root = f"/api/organizations/{desk.slug}"
    for path in ("", "/members", "/users", "/services", "/services/desk", "/audit-log", "/events?page=1"):
        answer = await hood.send("GET", root + path, token=desk.owner_token)
        _judge_told(answer.text, strange, path)
    for path in ("/users", "/info", "/analytics", "/customers"):
        answer = await hood.send("GET", f"/api/service{path}", headers={"X-Api-Key": desk.key})
        _judge_told(answer.text, strange, path)


def judge_events(hood: Neighbourhood, desk: Desk) -> None:
    """Raise `Violation` when a sign-in to the desk is told to another one than the vendor and that customer."""
    ids = {one.party.organization_id: name for name, one in hood.organizations.items()}
    ids[desk.party.organization_id] = V
    customers = {one.id: one.of for one in desk.customers}
    rows = hood.world.rows(
        """
        SELECT organization_id, data ->> 'customer_id', count(*)
        FROM   events
        WHERE  type = 'user.login.success' AND data ->> 'service_id' = %s
        GROUP  BY 1, 2
        """,
        str(desk.party.service_id),
    )
    counts = dict[str | None, dict[str | None, int]]()
    for organization_id, customer_id, number in rows:
        counts.setdefault(customer_id, {})[ids.get(organization_id)] = number
    for customer_id, told in counts.items():
        expected = {V} if customer_id is None else {V, customers[customer_id]}
        if set(told) != expected or len(set(told.values())) != 1:
            raise Violation("told", f"sign-ins to the desk for {customer_id} were told to {told}")
    for organization_id, customer_id, through_id in hood.world.rows(
        """
        SELECT DISTINCT organization_id, customer_id::text, through_organization_id
        FROM   login_events
        WHERE  service_id = %s AND success
        """,
        desk.party.service_id,
    ):
        expected = (V, customers[customer_id] if customer_id is not None else None)
        if (ids.get(organization_id), ids.get(through_id)) != expected:
            raise Violation("told", f"a sign-in to the desk for {customer_id} is in the log of {ids.get(through_id)}")


def _unknown_to_vendor(hood: Neighbourhood, desk: Desk) -> list[str]:
    """Return the texts that no answer to the vendor has: ids of customers' organizations, of groups, and strangers."""
    rows = hood.world.rows(
        """
        SELECT email
        FROM   users u
        WHERE  email = ANY (%s)
          AND  NOT EXISTS (SELECT FROM memberships m WHERE m.user_id = u.id AND m.organization_id = %s)
          AND  NOT EXISTS (SELECT FROM service_users l WHERE l.user_id = u.id AND l.organization_id = %s)
        """,
        list(hood.addresses),
        desk.party.organization_id,
        desk.party.organization_id,
    )
    came = desk.attempted | desk.shown | {hood.address_of(held.user_id) for held in desk.sessions}
    # Of its own people of before too, whose addresses its events name also once they belong to other accounts.
    came |= {address for organization_id, address in hood.model.known if organization_id == desk.party.organization_id}
    groups = [one for one in (hood.groups.group_id, hood.groups.group_of_b) if one is not None]
    ids = [str(one.party.organization_id) for one in hood.organizations.values()]
    return [*ids, *groups, *(email for (email,) in rows if email not in came)]


def _judge_told(text: str, strange: list[str], path: str) -> None:
    for one in strange:
        if one in text:
            raise Violation("told", f"the vendor was told {one} by {path or 'its organization'}")


async def _customer(hood: Neighbourhood, of: str) -> Customer:
    """Return the customer that an organization is, which it becomes if it is none."""
    desk = await desk_rows.opened(hood)
    return desk.present(of) or desk_rows.begin(hood, desk, of)


def _subjects(hood: Neighbourhood, of: str, address: str, pick: int) -> list[tuple[str, Assignment]]:
    """Return whom a customer assigns, as the interface and as the rules write it; the interface takes members alone."""
    group_id = hood.groups.group_id
    if pick == 0:
        user_id = hood.user_id(address)
        rows = hood.world.rows(
            "SELECT id::text FROM memberships WHERE organization_id = %s AND user_id = %s",
            hood.organizations[of].party.organization_id,
            user_id,
        )
        return [(f"user:{user_id}", Assignment(f"membership:{rows[0][0]}", frozenset()))] if rows else []
    if pick == 1 and of == A and group_id is not None:
        return [(f"group:{group_id}", Assignment(f"group:{group_id}", frozenset()))]
    subject = f"role:{TECHNICIAN if of == 'a' else 'member'}" if pick == 1 else "everyone"
    return [(subject, Assignment(subject, frozenset()))]
