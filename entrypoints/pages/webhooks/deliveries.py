"""The pages of the deliveries of a webhook: finding them, one with its attempts, and sending them again."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec

from core.errors import BadRequest, Conflict, Refusal
from core.log_times import time_of
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.webhooks import deliveries, delivery_log, webhooks
from core.webhooks.deliveries import REDELIVERED_MAX, DeliveryChanged, DeliveryUnknown
from core.webhooks.delivery_log import AskedDeliveries, DeliveryState, ListedDelivery
from core.webhooks.webhooks import WebhookUnknown
from entrypoints.pages.console.csv_files import CsvFile
from entrypoints.pages.console.frame import (
    ROWS_SHOWN,
    PagedQuery,
    Program,
    after,
    console_page,
    opened,
    with_query,
)
from entrypoints.pages.console.lists import ConsoleList, attempted, each_once
from entrypoints.pages.events.events import CHOICES, EVENTS
from entrypoints.pages.frame.forms import DoneQuery, SeenAtForm, moment_seen
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again, shows_itself_again
from entrypoints.pages.webhooks.webhooks import WEBHOOK, page_of_webhook, tabs_of
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

DELIVERIES: Final = f"{WEBHOOK}/deliveries"
DELIVERY: Final = f"{DELIVERIES}/:delivery_id"
STATES: Final = {
    DeliveryState.DELIVERED: ("good", marked("Arrived")),
    DeliveryState.WAITING: ("warning", marked("Waiting")),
    DeliveryState.FAILED: ("bad", marked("Failed")),
}
BODY_CHARACTERS_MAX: Final = 8_000


class DeliveriesPageQuery(PagedQuery, kw_only=True):
    """Which deliveries to show."""

    state: Annotated[str, msgspec.Meta(description="Only deliveries in this state.", max_length=50)] = ""
    event: Annotated[str, msgspec.Meta(description="Only deliveries of events of this type.", max_length=100)] = ""
    since: Annotated[str, msgspec.Meta(description="The first day or time, in UTC.", max_length=40)] = ""
    until: Annotated[str, msgspec.Meta(description="The time before which it ends, in UTC.", max_length=40)] = ""
    choose: Annotated[str, msgspec.Meta(description="`all` ticks the boxes of the page.", max_length=10)] = ""

    @property
    def filters(self) -> Mapping[str, Any]:
        """The filters, as the use case takes them by name."""
        asked = AskedDeliveries(state=self.state, event_type=self.event, since=self.since, until=self.until)
        return {"asked": asked}


LISTED: Final = ConsoleList[ListedDelivery](
    path=DELIVERIES,
    listed=delivery_log.listed,
    file="deliveries",
    columns={
        "id": lambda one: one.id,
        "event": lambda one: one.event_type,
        "created": lambda one: one.created_at,
        "state": lambda one: one.state.value,
        "attempts": lambda one: one.attempt_count,
        "status": lambda one: one.response_status_code,
        "error": lambda one: one.delivery_error,
        "next_attempt": lambda one: one.next_retry_at,
    },
)


class DeliveriesForm(ProtectedForm, kw_only=True):
    """The deliveries to send again."""

    rows: Annotated[
        list[str], msgspec.Meta(description="For each delivery the id, a blank, and when it was changed last.")
    ] = msgspec.field(default_factory=list[str])

    def chosen(self) -> list[tuple[UUID, datetime | None]]:
        """Return the ids with the times that were shown; raise `BadRequest` for none, too many and damaged ones."""
        rows = each_once(
            self.rows,
            "rows",
            none=marked("Choose at least one delivery."),
            too_many=marked("Choose at most 100 deliveries at once."),
        )
        try:
            return [(UUID(one), moment_seen(seen_at)) for one, _, seen_at in (row.partition(" ") for row in rows)]
        except ValueError:
            raise BadRequest.of_field(
                "rows", "This form is damaged. Load the list again, and choose once more."
            ) from None


class SinceQuery(Query, kw_only=True):
    """Since when failed deliveries are sent again."""

    since: Annotated[str, msgspec.Meta(description="The first day or time, in UTC.", max_length=40)] = ""


class SinceForm(ProtectedForm, kw_only=True):
    """Since when failed deliveries are sent again."""

    since: str = ""


@routes.get(DELIVERIES, refuses=(WebhookUnknown, BadRequest))
@in_console(Operation.WEBHOOKS_READ)
@shows_itself_again(BadRequest)
async def show_deliveries(
    call: Call,
    org_slug: str,
    webhook_id: UUID,
    *,
    query: DeliveriesPageQuery,
    form: DeliveriesForm | None = None,
    results: Sequence[tuple[str, str]] = (),
    refusal: Refusal | None = None,
) -> Page:
    """Show the deliveries of a webhook, the newest first, by state, type of event and time."""
    found = None
    # A filter that was refused finds nothing, and stays as it was typed.
    if refusal is not None and form is None:
        standing, webhook = await opened(call, org_slug, Operation.WEBHOOKS_READ, webhooks.show, webhook_id)
    else:
        standing, (webhook, found) = await opened(
            call,
            org_slug,
            Operation.WEBHOOKS_READ,
            delivery_log.search,
            webhook_id,
            **query.filters,
            after=query.position,
            limit=ROWS_SHOWN,
        )
    page = LISTED.page(org_slug, webhook_id)
    delivered = {"delivered": "true", "failed": "false"}.get(query.state, "")
    return console_page(
        call,
        "webhooks/deliveries.html",
        standing,
        program=Program(
            "webhooks_list_deliveries", org_slug, webhook_id, query={"event_type": query.event, "delivered": delivered}
        ),
        done=query.done,
        refusal=refusal,
        problems=problems_of(refusal),
        webhook=webhook,
        **LISTED.values(query, found, org_slug, webhook_id),
        results=results,
        chosen=form.rows if form is not None else [],
        states=STATES,
        state_choices=[("", marked("Every state")), *((state.value, text) for state, (_, text) in STATES.items())],
        event_choices=[("", marked("Every event")), *CHOICES],
        words=EVENTS,
        tabs=tabs_of(org_slug, webhook_id),
        action=with_query(page, **query.kept, after=query.after),
        choose_all=with_query(page, **query.kept, after=query.after, choose="all"),
    )


@routes.post(DELIVERIES, refuses=(WebhookUnknown, BadRequest))
@in_console(Operation.WEBHOOKS_CHANGE)
@shows_again(show_deliveries, BadRequest)
async def redeliver_chosen(
    call: Call, org_slug: str, webhook_id: UUID, query: DeliveriesPageQuery, form: DeliveriesForm
) -> PageOrRedirect:
    """Send the chosen deliveries again; programs use `POST …/deliveries/:delivery_id/redeliver` for each."""
    # Each delivery is a transaction of its own: a refusal concerns that delivery alone.
    await call.read(authorize, org_slug, Operation.WEBHOOKS_CHANGE)
    chosen = form.chosen()
    results: list[tuple[str, str]] = []
    for delivery_id, seen_at in chosen:
        change = call.transact(deliveries.redeliver, org_slug, webhook_id, delivery_id, seen_at=seen_at)
        _, problem = await attempted(change)
        results.append((str(delivery_id), problem))
    if not any(problem for _, problem in results):
        page = f"{page_of_webhook(org_slug, webhook_id)}/deliveries"
        return after(page, "deliveries-again", **query.kept)
    return await show_deliveries(
        call, org_slug=org_slug, webhook_id=webhook_id, query=query, form=DeliveriesForm(), results=results
    )


@routes.get(f"{DELIVERIES}/deliveries.csv", refuses=(WebhookUnknown, BadRequest))
@in_console(Operation.WEBHOOKS_READ)
async def download_deliveries(call: Call, org_slug: str, webhook_id: UUID, query: DeliveriesPageQuery) -> CsvFile:
    """Download the deliveries that a search finds, at most 100,000, for a spreadsheet."""
    return await LISTED.csv(call, org_slug, webhook_id, query=query)


@routes.get(f"{DELIVERIES}/failed", refuses=(WebhookUnknown, BadRequest))
@in_console(Operation.WEBHOOKS_CHANGE)
@shows_itself_again(BadRequest)
async def ask_to_redeliver_failed(
    call: Call,
    org_slug: str,
    webhook_id: UUID,
    *,
    query: SinceQuery | None = None,
    form: SinceForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show how many deliveries have failed since a moment, and ask whether they are to be sent again."""
    since = form.since if form is not None else query.since if query is not None else ""
    standing, (webhook, failed) = await opened(
        call,
        org_slug,
        Operation.WEBHOOKS_CHANGE,
        delivery_log.show_failed,
        webhook_id,
        since if refusal is None else "",
    )
    return console_page(
        call,
        "webhooks/deliveries_failed.html",
        standing,
        program=Program("webhooks_redeliver_failed", org_slug, webhook_id, body={"since": "2026-02-03T04:05:00Z"}),
        refusal=refusal,
        problems=problems_of(refusal),
        webhook=webhook,
        failed=failed if refusal is None else None,
        since=since,
        redelivered_max=REDELIVERED_MAX,
        page=page_of_webhook(org_slug, webhook_id),
    )


@routes.post(f"{DELIVERIES}/failed", refuses=(WebhookUnknown, BadRequest))
@in_console(Operation.WEBHOOKS_CHANGE)
@shows_again(ask_to_redeliver_failed, BadRequest)
async def redeliver_failed_here(call: Call, org_slug: str, webhook_id: UUID, form: SinceForm) -> PageOrRedirect:
    """Send again what has failed since a moment; programs use `POST …/webhooks/:webhook_id/redeliver-failed`."""
    since = time_of("since", form.since)
    await call.transact(deliveries.redeliver_failed, org_slug, webhook_id, since)
    page = f"{page_of_webhook(org_slug, webhook_id)}/deliveries"
    return after(page, "deliveries-again", state=DeliveryState.WAITING.value)


@routes.get(DELIVERY, refuses=(DeliveryUnknown,))
@in_console(Operation.WEBHOOKS_READ)
async def show_delivery(
    call: Call,
    org_slug: str,
    webhook_id: UUID,
    delivery_id: UUID,
    *,
    query: DoneQuery | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show a delivery: what is sent, what each attempt got, and when the next one is made."""
    standing, shown = await opened(call, org_slug, Operation.WEBHOOKS_READ, delivery_log.show, webhook_id, delivery_id)
    page = page_of_webhook(org_slug, webhook_id)
    return console_page(
        call,
        "webhooks/deliveries_one.html",
        standing,
        program=Program("webhooks_redeliver", org_slug, webhook_id, delivery_id),
        done=query.done if query is not None else "",
        refusal=refusal,
        webhook=shown.webhook,
        delivery=shown.delivery,
        attempts=shown.attempts,
        state=STATES[shown.state],
        is_waiting=shown.state is DeliveryState.WAITING,
        words=EVENTS,
        body=_body(shown.delivery.payload),
        page=page,
    )


@routes.post(f"{DELIVERY}/redeliver", refuses=(DeliveryUnknown, DeliveryChanged))
@in_console(Operation.WEBHOOKS_CHANGE)
@shows_again(show_delivery, Conflict)
async def redeliver_here(
    call: Call, org_slug: str, webhook_id: UUID, delivery_id: UUID, form: SeenAtForm
) -> PageOrRedirect:
    """Send a delivery again; programs use `POST …/deliveries/:delivery_id/redeliver`."""
    seen_at = moment_seen(form.seen_at)
    await call.transact(deliveries.redeliver, org_slug, webhook_id, delivery_id, seen_at=seen_at)
    return after(f"{page_of_webhook(org_slug, webhook_id)}/deliveries/{delivery_id}", "delivery-again")


def _body(payload: dict[str, Any]) -> str:
    """Return the body of a delivery with line breaks, cut where it is very long."""
    text = json.dumps(payload, ensure_ascii=False, indent=2)
    return text if len(text) <= BODY_CHARACTERS_MAX else f"{text[:BODY_CHARACTERS_MAX]}\n…"
