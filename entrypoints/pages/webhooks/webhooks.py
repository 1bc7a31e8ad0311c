"""The pages of the webhooks of an organization: the list, creating one, how it is doing, changing and deleting it."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

import msgspec

from core.errors import BadRequest, Conflict, Refusal
from core.events.events import EventType
from core.organizations.access import Operation
from core.sessions.shown_secrets import ToShow
from core.webhooks import deliveries, delivery_log, health, webhooks
from core.webhooks.health import HourOfDeliveries
from core.webhooks.webhooks import WebhookChanged, WebhookChanges, WebhookNameTaken, WebhookUnknown
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of, with_query
from entrypoints.pages.console.plots import Plot, Point, bars
from entrypoints.pages.events.events import ALL, CHOICES, EVENTS, GROUPS, SETS, by_group, chosen
from entrypoints.pages.frame.forms import DoneQuery, SeenAtForm, moment_seen
from entrypoints.pages.frame.languages import language_of, marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.sessions.shown_secrets import leading_to, shown_once
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent_for_form
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

RECEIVER: Final = """\
import base64, hashlib, hmac, http.server, os, time
KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        sent_at = self.headers.get("webhook-timestamp", "0")
        body = self.rfile.read(int(self.headers["content-length"]))
        signed = f"{self.headers['webhook-id']}.{sent_at}.".encode() + body
        mac = b"v1," + base64.b64encode(hmac.digest(KEY, signed, hashlib.sha256))
        given = self.headers.get("webhook-signature", "").encode().split()
        is_ours = abs(time.time() - int(sent_at)) < 300 and any(hmac.compare_digest(mac, one) for one in given)
        self.send_response(204 if is_ours else 401)
        self.end_headers()
        if is_ours:
            print(self.headers["webhook-id"], body.decode(), flush=True)
http.server.HTTPServer(("", int(os.environ.get("PORT", "9000"))), Receiver).serve_forever()
"""
routes: Routes = console_pages()
WEBHOOKS: Final = "/app/organizations/:org_slug/webhooks"
WEBHOOK: Final = f"{WEBHOOKS}/:webhook_id"
# The axis of a day has a label every this many hours.
_NAMED_HOURS: Final = 6
SERIES: Final = (marked("Arrived"), marked("Failed"), marked("Waiting"))
_EXAMPLE: Final = {"name": "crm", "url": "https://crm.example.com/hook", "events": ["user.joined"]}


class WebhookForm(ProtectedForm, kw_only=True):
    """The fields of a webhook, and when the one that the page has shown was changed."""

    name: str = ""
    url: str = ""
    events: list[str] = msgspec.field(default_factory=list[str])
    sets: list[str] = msgspec.field(default_factory=list[str])
    seen_at: str = ""


class TestForm(ProtectedForm, kw_only=True):
    """As an event of which type a test is sent."""

    event_type: str = EventType.WEBHOOK_TEST.value


def page_of_webhook(slug: str, webhook_id: UUID) -> str:
    """Return the path of a webhook in the console."""
    return f"{page_of(slug)}/webhooks/{webhook_id}"


def tabs_of(slug: str, webhook_id: UUID) -> list[tuple[str, str, None]]:
    """Return the parts of a webhook: the addresses and the names of their pages."""
    page = page_of_webhook(slug, webhook_id)
    return [
        (page, marked("Overview"), None),
        (f"{page}/deliveries", marked("Deliveries"), None),
        (f"{page}/change", marked("Settings"), None),
    ]


@routes.get(WEBHOOKS)
@in_console(Operation.WEBHOOKS_READ)
async def show_webhooks(call: Call, org_slug: str, query: DoneQuery) -> Page:
    """Show the webhooks of an organization, and how the deliveries of the last day went."""
    standing, found = await opened(call, org_slug, Operation.WEBHOOKS_READ, health.list_all)
    return console_page(
        call,
        "webhooks/webhooks.html",
        standing,
        program=Program("webhooks_list_webhooks", org_slug),
        besides=[Program("webhooks_create_webhook", org_slug, body=_EXAMPLE)],
        done=query.done,
        found=found,
        counted_max=health.LISTED_MAX,
        receiver=RECEIVER,
        page=f"{page_of(org_slug)}/webhooks",
    )


async def _new(call: Call, org_slug: str, *, form: WebhookForm | None = None, refusal: Refusal | None = None) -> Page:
    standing, _ = await opened(call, org_slug, Operation.WEBHOOK_CONFIGURE, webhooks.list_all)
    return console_page(
        call,
        "webhooks/webhooks_new.html",
        standing,
        program=Program("webhooks_create_webhook", org_slug, body=_EXAMPLE),
        refusal=refusal,
        **_fields(form or WebhookForm(), refusal),
        page=f"{page_of(org_slug)}/webhooks",
    )


@routes.get(f"{WEBHOOKS}/new")
@in_console(Operation.WEBHOOK_CONFIGURE)
async def ask_for_webhook(call: Call, org_slug: str) -> Page:
    """Ask where events are to be sent, and which."""
    page = await _new(call, org_slug)
    await recent_for_form(call)
    return page


@routes.post(f"{WEBHOOKS}/new", makes_secret=True, refuses=(BadRequest,))
@in_console(Operation.WEBHOOK_CONFIGURE)
@shows_again(_new, BadRequest)
async def create_webhook_here(call: Call, org_slug: str, form: WebhookForm) -> PageOrRedirect:
    """Create a webhook, and lead to its secret; programs use `POST /api/organizations/:org_slug/webhooks`."""
    return await leading_to(
        call,
        lambda uow: webhooks.create(
            uow,
            org_slug,
            name=form.name,
            url=form.url.strip(),
            events=chosen(form.events, form.sets),
            allowed=call.installation.settings.outbound_allowed,
        ),
        lambda created: ToShow(page=page_of_webhook(org_slug, created.webhook.id), secrets=(created.secret,)),
    )


@routes.get(f"{WEBHOOK}/shown/:shown_id", shows_secret=True, refuses=(WebhookUnknown,))
@in_console(Operation.WEBHOOK_CONFIGURE)
async def show_new_webhook_secret(call: Call, org_slug: str, webhook_id: UUID, shown_id: UUID) -> Page:
    """Show the new secret of a webhook and a receiver that uses it, once and in the browser that made it."""
    standing, shown = await opened(call, org_slug, Operation.WEBHOOK_CONFIGURE, health.show, webhook_id)
    secret = "".join(await shown_once(call, shown_id))
    return console_page(
        call,
        "webhooks/webhooks_secret.html",
        standing,
        program=Program("webhooks_rotate_secret", org_slug, webhook_id),
        webhook=shown.webhook,
        secret=secret,
        previous_until=shown.previous_until,
        receiver=RECEIVER,
        page=page_of_webhook(org_slug, webhook_id),
    )


@routes.get(WEBHOOK, refuses=(WebhookUnknown,))
@in_console(Operation.WEBHOOKS_READ)
async def show_webhook_here(
    call: Call,
    org_slug: str,
    webhook_id: UUID,
    *,
    query: DoneQuery | None = None,
    form: TestForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show how a webhook is doing: its deliveries of the last 24 hours by hour, and how long its attempts took."""
    standing, shown = await opened(call, org_slug, Operation.WEBHOOKS_READ, health.show, webhook_id)
    page = page_of_webhook(org_slug, webhook_id)
    return console_page(
        call,
        "webhooks/webhooks_one.html",
        standing,
        program=Program("webhooks_show_webhook", org_slug, webhook_id),
        besides=[Program("webhooks_test_webhook", org_slug, webhook_id)],
        done=query.done if query is not None else "",
        refusal=refusal,
        webhook=shown.webhook,
        shown=shown,
        plot=_plot(call, shown.hours, page),
        tested=form.event_type if form is not None else EventType.WEBHOOK_TEST.value,
        choices=CHOICES,
        words=EVENTS,
        groups=by_group(shown.webhook.events),
        receiver=RECEIVER,
        tabs=tabs_of(org_slug, webhook_id),
        page=page,
    )


@routes.post(f"{WEBHOOK}/test", refuses=(WebhookUnknown, BadRequest))
@in_console(Operation.WEBHOOKS_CHANGE)
@shows_again(show_webhook_here, BadRequest)
async def send_test(call: Call, org_slug: str, webhook_id: UUID, form: TestForm) -> PageOrRedirect:
    """Send a test as an event of a type; programs use `POST /api/organizations/:org_slug/webhooks/:webhook_id/test`."""
    try:
        event_type = EventType(form.event_type)
    except ValueError:
        raise BadRequest.of_field("event_type", "Choose one of the event types.") from None
    delivery_id = await call.transact(deliveries.test, org_slug, webhook_id, event_type)
    return after(f"{page_of_webhook(org_slug, webhook_id)}/deliveries/{delivery_id}", "test-sent")


@routes.get(f"{WEBHOOK}/change", refuses=(WebhookUnknown,))
@in_console(Operation.WEBHOOK_CONFIGURE)
async def ask_to_change_webhook(
    call: Call,
    org_slug: str,
    webhook_id: UUID,
    *,
    query: DoneQuery | None = None,
    form: WebhookForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the settings of a webhook."""
    standing, shown = await opened(call, org_slug, Operation.WEBHOOK_CONFIGURE, health.show, webhook_id)
    webhook = shown.webhook
    # What was typed stays, also when another person has changed the webhook meanwhile.
    typed = form or WebhookForm(name=webhook.name, url=webhook.url, events=webhook.events)
    return console_page(
        call,
        "webhooks/webhooks_settings.html",
        standing,
        # The address may have a secret in its query, which does not belong into a command line.
        program=Program(
            "webhooks_change_webhook", org_slug, webhook_id, body={"name": webhook.name, "events": webhook.events}
        ),
        besides=[
            Program("webhooks_rotate_secret", org_slug, webhook_id),
            Program("webhooks_delete_webhook", org_slug, webhook_id),
        ],
        done=query.done if query is not None else "",
        refusal=refusal,
        webhook=webhook,
        is_failing=shown.counts.is_failing,
        off_reason=shown.off_reason,
        off_at=shown.off_at,
        previous_until=shown.previous_until,
        **_fields(typed, refusal),
        tabs=tabs_of(org_slug, webhook_id),
        page=page_of_webhook(org_slug, webhook_id),
    )


@routes.post(f"{WEBHOOK}/change", refuses=(WebhookUnknown, WebhookNameTaken, WebhookChanged))
@in_console(Operation.WEBHOOK_CONFIGURE)
@shows_again(ask_to_change_webhook, BadRequest, Conflict)
async def change_webhook_here(call: Call, org_slug: str, webhook_id: UUID, form: WebhookForm) -> PageOrRedirect:
    """Change a webhook; programs use `PATCH /api/organizations/:org_slug/webhooks/:webhook_id`."""
    wanted = WebhookChanges(name=form.name, url=form.url.strip(), events=chosen(form.events, form.sets))
    await _change(call, org_slug, webhook_id, wanted, form.seen_at)
    return after(f"{page_of_webhook(org_slug, webhook_id)}/change", "webhook-changed")


async def _change(call: Call, org_slug: str, webhook_id: UUID, wanted: WebhookChanges, seen_at: str) -> None:
    await call.transact(
        webhooks.change,
        org_slug,
        webhook_id,
        wanted,
        allowed=call.installation.settings.outbound_allowed,
        seen_at=moment_seen(seen_at),
    )


async def _after_refusal(call: Call, org_slug: str, webhook_id: UUID, *, refusal: Refusal) -> Page:
    return await ask_to_change_webhook(call, org_slug, webhook_id, refusal=refusal)


@routes.post(f"{WEBHOOK}/pause", refuses=(WebhookUnknown, WebhookChanged))
@in_console(Operation.WEBHOOK_CONFIGURE)
@shows_again(_after_refusal, Conflict)
async def pause_webhook(call: Call, org_slug: str, webhook_id: UUID, form: SeenAtForm) -> PageOrRedirect:
    """Pause a webhook; programs use `PATCH /api/organizations/:org_slug/webhooks/:webhook_id`."""
    await _change(call, org_slug, webhook_id, WebhookChanges(is_active=False), form.seen_at)
    return after(f"{page_of_webhook(org_slug, webhook_id)}/change", "webhook-paused")


@routes.post(f"{WEBHOOK}/activate", refuses=(WebhookUnknown, WebhookChanged))
@in_console(Operation.WEBHOOK_CONFIGURE)
@shows_again(_after_refusal, Conflict)
async def activate_webhook(call: Call, org_slug: str, webhook_id: UUID, form: SeenAtForm) -> PageOrRedirect:
    """Activate a webhook; programs use `PATCH /api/organizations/:org_slug/webhooks/:webhook_id`."""
    await _change(call, org_slug, webhook_id, WebhookChanges(is_active=True), form.seen_at)
    return after(f"{page_of_webhook(org_slug, webhook_id)}/change", "webhook-active")


@routes.get(f"{WEBHOOK}/delete", refuses=(WebhookUnknown,))
@in_console(Operation.WEBHOOKS_CHANGE)
async def ask_to_delete_webhook(call: Call, org_slug: str, webhook_id: UUID, *, refusal: Refusal | None = None) -> Page:
    """Show what ends with a webhook, in numbers."""
    standing, (webhook, kept, waiting) = await opened(
        call, org_slug, Operation.WEBHOOKS_CHANGE, delivery_log.show_history, webhook_id
    )
    return console_page(
        call,
        "webhooks/webhooks_deletion.html",
        standing,
        program=Program("webhooks_delete_webhook", org_slug, webhook_id),
        refusal=refusal,
        webhook=webhook,
        kept=kept,
        waiting=waiting,
        page=page_of_webhook(org_slug, webhook_id),
    )


@routes.post(f"{WEBHOOK}/delete", refuses=(WebhookUnknown, WebhookChanged))
@in_console(Operation.WEBHOOKS_CHANGE)
@shows_again(ask_to_delete_webhook, Conflict)
async def delete_webhook_here(call: Call, org_slug: str, webhook_id: UUID, form: SeenAtForm) -> PageOrRedirect:
    """Delete a webhook; programs use `DELETE /api/organizations/:org_slug/webhooks/:webhook_id`."""
    await call.transact(webhooks.delete, org_slug, webhook_id, seen_at=moment_seen(form.seen_at))
    return after(f"{page_of(org_slug)}/webhooks", "webhook-deleted")


def _fields(form: WebhookForm, refusal: Refusal | None) -> dict[str, Any]:
    """Return the values of the fields of a webhook."""
    return {"typed": form, "problems": problems_of(refusal), "groups": GROUPS, "sets": SETS, "all": ALL}


def _plot(call: Call, hours: Sequence[HourOfDeliveries], page: str) -> Plot:
    """Return the deliveries by hour; each part of a bar leads to the deliveries that it counts."""
    language = language_of(call)
    state_of = delivery_log.DeliveryState
    states = [state.value for state in (state_of.DELIVERED, state_of.FAILED, state_of.WAITING)]
    points = [
        Point(
            label=f"{hour.since:%Y-%m-%d %H:%M}",
            counts=(hour.delivered, hour.failed, hour.waiting),
            hrefs=tuple(
                with_query(
                    f"{page}/deliveries",
                    state=state,
                    since=f"{hour.since:%Y-%m-%d %H:%M}",
                    until=f"{hour.until:%Y-%m-%d %H:%M}",
                )
                for state in states
            ),
            name=f"{hour.since:%H:%M}" if hour.since.hour % _NAMED_HOURS == 0 else "",
        )
        for hour in hours
    ]
    series = [language.known(text) for text in SERIES]
    return bars(language, series, points, unit=language.text(marked("Deliveries")))
