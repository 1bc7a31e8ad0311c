"""`since` and `until` of a log compare with the time that it shows: `since` includes that time, `until` does not."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

import msgspec
import pytest

from adapters.postgres.database import PostgresDatabase
from core.events.actions import AuditAction
from core.events.events import EventType
from core.ids import first_id_at
from entrypoints import capabilities
from entrypoints.web.serving.routes import Route
from tests.pages.audit.written import rows as rows_of
from tests.pages.crawl.rows import Rows
from tests.pages.crawl.values import URL
from tests.world.visitor import Visitor
from tests.world.world import World

ORGANIZATION: Final = "/app/organizations/acme"
# Of each log of which a person or a program names times.
JSON_LOGS: Final = ("/api/organizations/acme/audit-log", "/api/platform/audit-log")
PAGES: Final = (f"{ORGANIZATION}/audit", "/app/platform/audit", f"{ORGANIZATION}/provisioning/calls")
DELIVERIES: Final = f"{ORGANIZATION}/webhooks/:webhook_id/deliveries"
# Here a person chooses days, the first one and the last one.
OF_DAYS: Final = {
    "/app/organizations/:org_slug/analytics/sign-ins",
    "/app/organizations/:org_slug/services/:service_slug/sign-ins",
    "/app/organizations/:org_slug/billing/sold-changes",
    "/app/platform/sign-ins",
}
MICROSECOND: Final = timedelta(microseconds=1)


def takes_times(route: Route) -> bool:
    """Return whether the query of a route names both times."""
    names = {field.name for field in msgspec.structs.fields(route.query)} if route.query is not None else set[str]()
    return {"since", "until"} <= names


def test_every_log_that_takes_times_is_tested_here() -> None:
    routes = {route.path for route in capabilities.routes(is_development=True) if takes_times(route)}
    # The parts of a page: what follows it live, and its file.
    logs = {path for path in routes if "." not in path and not path.endswith("/feed")}

    tested = {path.replace("/acme", "/:org_slug") for path in (*JSON_LOGS, *PAGES, DELIVERIES)}
    assert logs == tested | OF_DAYS


@pytest.mark.parametrize(
    "made_after",
    [timedelta(), timedelta(milliseconds=32), timedelta(seconds=50), timedelta(minutes=-50)],
    ids=["at once", "some milliseconds later", "by a clock that is ahead", "long before"],
)
async def test_a_row_is_of_the_time_that_is_shown_whatever_its_id_says(
    world: World, visitor: Visitor, made_after: timedelta
) -> None:
    root = await world.signed_in_platform_owner()
    organization_id = world.organization("acme")
    world.member(organization_id, root.id, "owner")
    at = world.clock() - timedelta(hours=2)
    webhook_id = insert_row_of_each_log(world, organization_id, at, first_id_at(at + made_after))
    await visitor.sign_in(root.email)
    pages = (*PAGES, DELIVERIES.replace(":webhook_id", str(webhook_id)))

    for since, until, is_found in (
        (at, None, True),
        (at + MICROSECOND, None, False),
        (None, at, False),
        (None, at + MICROSECOND, True),
        (at, at + MICROSECOND, True),
        (at - timedelta(days=1), at, False),
        (at + MICROSECOND, at + timedelta(hours=1), False),
        (at - timedelta(days=1), at + timedelta(hours=1, minutes=55), True),
    ):
        times = {"since": since, "until": until}
        query = urlencode({name: time.isoformat() for name, time in times.items() if time is not None})
        action = AuditAction.USER_EXPORTED.value
        for log in JSON_LOGS:
            answer = await world.client.get(f"{log}?action={action}&{query}", token=root.token)
            assert len(answer.json["logs"]) == is_found, (log, query)
            assert answer.json["pagination"]["total"] == is_found, (log, query)
        for page in pages:
            answer = await visitor.open(f"{page}?{query}" + (f"&action={action}" if "audit" in page else ""))
            assert len(rows_of(answer)) == is_found, (page, query)


def insert_row_of_each_log(world: World, organization_id: UUID, at: datetime, row_id: UUID) -> UUID:
    """Insert a row of this time and with this id into each log; return the webhook of the delivery."""
    database = world.installation.database
    assert isinstance(database, PostgresDatabase)
    rows = Rows(world.connection, world.clock, database.tools.vault).of(organization_id=organization_id)
    written: dict[str, Any] = {"id": row_id, "created_at": at}
    action = AuditAction.USER_EXPORTED
    for log in ("audit_entries", "platform_audit_entries"):
        rows.add(log, action=action.value, target_type=action.target_type, target_id=str(organization_id), **written)
    rows.add("scim_log_entries", status=200, **written)
    webhook_id = rows.add("webhooks", url=URL, is_active=True, events=[EventType.USER_INVITED.value])
    event_id = rows.add("events", type=EventType.USER_INVITED.value, position=1_000)
    rows.add(
        "webhook_deliveries",
        webhook_id=webhook_id,
        event_id=event_id,
        event_type=EventType.USER_INVITED.value,
        delivered=True,
        **written,
    )
    return webhook_id
