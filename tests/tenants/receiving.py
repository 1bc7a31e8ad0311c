"""What receivers of events are told of people: beside an id the address that their organization knows, and no other.

An organization knows the addresses that an account had while it was a member or an end user. That is read after every
step, and knows nothing of times and removals, by which the product decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from core.events.events import EventType
from core.webhooks import deliveries, sequencing
from tests.tenants import desk_rows
from tests.tenants.model import Violation
from tests.tenants.taking import Story, step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.tenants.neighbourhood import Neighbourhood

TOLD: Final = "a receiver was told an address"
TOLD_FORMER: Final = "a receiver was told the address of a former member"
EVENTS_MAX: Final = 1000
WEBHOOKS_MAX: Final = 100
EVENTS: Final = tuple(one.value for one in EventType if one is not EventType.WEBHOOK_TEST)


def notice(hood: Neighbourhood) -> None:
    """Record which addresses each organization knows now."""
    ids = [organization_id for organization_id, _, _ in owners_of(hood)]
    hood.model.known |= set(
        hood.world.rows(
            """
            SELECT m.organization_id, u.email FROM memberships m JOIN users u ON u.id = m.user_id
            WHERE  m.organization_id = ANY (%s)
            UNION
            SELECT l.organization_id, u.email FROM service_users l JOIN users u ON u.id = l.user_id
            WHERE  l.organization_id = ANY (%s)
            """,
            ids,
            ids,
        )
    )


def owners_of(hood: Neighbourhood) -> list[tuple[Any, str, str]]:
    """Return the ids, the slugs and the tokens of the owners of all organizations, the vendor among them."""
    found = [(one.party.organization_id, one.slug, one.owner_token) for one in hood.organizations.values()]
    if hood.desk is not None:
        found.append((hood.desk.party.organization_id, hood.desk.slug, hood.desk.owner_token))
    return found


@step(Story.READING)
async def owners_make_webhooks(hood: Neighbourhood) -> None:
    """The owners of all organizations subscribe to every event."""
    await desk_rows.opened(hood)
    for _, slug, token in owners_of(hood):
        if slug not in hood.webhooks:
            body = {"name": "Everything", "url": "https://hooks.example/in", "events": EVENTS}
            made = await hood.send("POST", f"/api/organizations/{slug}/webhooks", body, token=token)
            assert made.status == 200, made.text
            hood.webhooks[slug] = made.json["id"]


@step(Story.READING)
async def receivers_read(hood: Neighbourhood, whole: bool) -> None:
    """The receivers of all organizations get their events, by webhooks or from the log of deliveries and the feed."""
    if not whole:
        await judge_feeds(hood)
        return
    await _hand_on(hood)
    database = hood.world.installation.database
    leased = await database.transact(deliveries.lease, WEBHOOKS_MAX, EVENTS_MAX)
    ids = {organization_id for organization_id, _, _ in owners_of(hood)}
    for webhook in leased:
        if webhook.organization_id in ids:
            _judge(hood, webhook.organization_id, [one.payload for one in webhook.deliveries])
        await database.transact(deliveries.release, webhook)
    for organization_id, slug, token in owners_of(hood):
        if slug in hood.webhooks:
            path = f"/api/organizations/{slug}/webhooks/{hood.webhooks[slug]}/deliveries?limit=100"
            answer = await hood.send("GET", path, token=token)
            _judge(hood, organization_id, [one["payload"] for one in answer.json["deliveries"]])


async def judge_feeds(hood: Neighbourhood) -> None:
    """Raise `Violation` when a feed has an address that its organization does not know, or lacks that of a member."""
    await _hand_on(hood)
    for organization_id, slug, token in owners_of(hood):
        answer = await hood.send("GET", f"/api/organizations/{slug}/events?limit={EVENTS_MAX}", token=token)
        assert answer.status == 200, answer.text
        _judge(hood, organization_id, answer.json["events"])


async def _hand_on(hood: Neighbourhood) -> None:
    while (await hood.world.installation.database.transact(sequencing.assign_positions, EVENTS_MAX)).has_more:
        pass


def _judge(hood: Neighbourhood, organization_id: Any, payloads: list[dict[str, Any]]) -> None:
    stored = dict(
        hood.world.rows(
            "SELECT id::text, data FROM events WHERE organization_id = %s AND id::text = ANY (%s)",
            organization_id,
            [one["id"] for one in payloads],
        )
    )
    people = hood.world.rows(
        """
        SELECT u.id::text, u.email FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.organization_id = %s
        """,
        organization_id,
    )
    members = dict(people)
    for payload in payloads:
        kind, data = payload["event"], payload["data"]
        for address in _added(data, stored[payload["id"]]):
            if (organization_id, address) not in hood.model.known:
                raise Violation("told an address", f"a receiver was told {address} by {kind}: {data}")
            hood.explained |= {TOLD} if address in members.values() else {TOLD, TOLD_FORMER}
        user_id = data.get("user_id")
        if user_id in members and "user_email" in data and data["user_email"] != members[user_id]:
            raise Violation("untold", f"a receiver was not told {members[user_id]} by {kind}: {data}")


def _added(told: Any, stored: Any) -> Iterator[str]:
    """Return the addresses in what is told, without what is stored with the event."""
    if isinstance(told, dict):
        for key, value in cast("dict[str, Any]", told).items():
            yield from _added(value, cast("dict[str, Any]", stored).get(key) if stored is not None else None)
    elif isinstance(told, list):
        parts = cast("list[Any]", stored) if stored is not None else [None] * len(cast("list[Any]", told))
        for one, part in zip(cast("list[Any]", told), parts, strict=True):
            yield from _added(one, part)
    elif isinstance(told, str) and "@" in told and told != stored:
        yield told
