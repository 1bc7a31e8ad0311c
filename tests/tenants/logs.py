"""The pages of audit logs: each names those alone whom its organization knows, and opens to its own readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tests.tenants import judging, people, receiving
from tests.tenants.model import Violation
from tests.tenants.staff import browser_of, staff_of
from tests.tenants.taking import Story, step

if TYPE_CHECKING:
    from uuid import UUID

    from tests.tenants.neighbourhood import Neighbourhood

NAMED: Final = "an audit log named a person"
PLATFORM: Final = "/app/platform/audit"


@step(Story.READING)
async def owners_read_logs(hood: Neighbourhood) -> None:
    """The owners of all organizations read their audit logs, and so do others who may not."""
    if hood.desk is not None:
        await people.judge_news(hood, hood.desk)
    for organization_id, slug, token in receiving.owners_of(hood):
        await _judge(hood, organization_id, slug, token)
    staff = await staff_of(hood)
    at_work = next((one.access_token for one in judging.live(hood, hood.eve) if not one.service), None)
    owners = [one.owner_token for one in hood.organizations.values()]
    own = f"/app/organizations/{hood.organizations['a'].slug}/audit"
    tried = [(PLATFORM, staff.support_token), *((PLATFORM, one) for one in owners), (own, owners[1]), (own, at_work)]
    for path, token in tried:
        if token is not None and (await browser_of(hood, token).send("GET", path)).status == 200:
            raise Violation("told an address", f"the log {path} was shown to another one than its reader")
    shown = await browser_of(hood, staff.owner_token).send("GET", PLATFORM)
    assert shown.status == 200, shown.text


async def _judge(hood: Neighbourhood, organization_id: UUID, slug: str, token: str) -> None:
    page = await browser_of(hood, token).send("GET", f"/app/organizations/{slug}/audit")
    assert page.status == 200, page.text
    entries = hood.world.rows(
        """
        SELECT e.details::text, u.email, t.email
        FROM   audit_entries e
        LEFT   JOIN users u ON u.id = e.actor_user_id
        LEFT   JOIN users t ON t.id::text = e.target_id
        WHERE  e.organization_id = %s
        """,
        organization_id,
    )
    written = " ".join(str(one) for row in entries for one in row[:2]).lower()
    targets = {target for *_, target in entries}
    text = page.text.lower()
    seen = _seen(hood, organization_id)
    for address in hood.addresses:
        is_known = (organization_id, address) in hood.model.known or address in seen
        if address in text and not is_known and address not in written:
            raise Violation("told an address", f"the audit log of {slug} names {address}")
        if address in text and address in targets:
            hood.explained.add(NAMED)
    for other in _strange_names(hood, slug):
        if other in text and other not in written:
            raise Violation("told an address", f"the audit log of {slug} names {other}")


def _seen(hood: Neighbourhood, organization_id: Any) -> set[str]:
    """Return the addresses of the people of customers whom a vendor may see."""
    desk = hood.desk
    if desk is None or desk.party.organization_id != organization_id:
        return set()
    present = [one for one in desk.customers if not one.is_ended]
    return {person.email for one in present for person in people.seen_of(hood, desk, one).values()}


def _strange_names(hood: Neighbourhood, slug: str) -> list[str]:
    """Return the slugs of other organizations, which are their names too, without those of a vendor's customers."""
    desk = hood.desk
    if desk is not None and desk.slug == slug:
        return [one.slug for name, one in hood.organizations.items() if desk.present(name) is None]
    return [one.slug for one in hood.organizations.values() if one.slug != slug]
