"""The page that gives a webhook a new secret."""

from typing import Final
from uuid import UUID

from core.errors import Conflict, Refusal
from core.organizations.access import Operation
from core.sessions.shown_secrets import ToShow
from core.webhooks import health, webhooks
from core.webhooks.webhooks import ROTATION_OVERLAP, WebhookChanged, WebhookUnknown
from entrypoints.pages.console.frame import Program, console_page, opened
from entrypoints.pages.frame.forms import SeenAtForm, moment_seen
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.sessions.shown_secrets import leading_to
from entrypoints.pages.webhooks.webhooks import WEBHOOK, page_of_webhook
from entrypoints.web.serving.admission.browsers import recent_for_form
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

SECRET: Final = f"{WEBHOOK}/secret"


async def _page(call: Call, org_slug: str, webhook_id: UUID, *, refusal: Refusal | None = None) -> Page:
    standing, shown = await opened(call, org_slug, Operation.WEBHOOK_CONFIGURE, health.show, webhook_id)
    return console_page(
        call,
        "webhooks/secrets.html",
        standing,
        program=_program(org_slug, webhook_id),
        refusal=refusal,
        webhook=shown.webhook,
        previous_until=shown.previous_until,
        overlap_hours=round(ROTATION_OVERLAP.total_seconds() / 3600),
        page=page_of_webhook(org_slug, webhook_id),
    )


@routes.get(SECRET, refuses=(WebhookUnknown,))
@in_console(Operation.WEBHOOK_CONFIGURE)
async def ask_to_rotate_secret(call: Call, org_slug: str, webhook_id: UUID) -> Page:
    """Show what a new secret means, and ask whether there is to be one."""
    page = await _page(call, org_slug, webhook_id)
    await recent_for_form(call)
    return page


@routes.post(SECRET, makes_secret=True, refuses=(WebhookUnknown, WebhookChanged))
@in_console(Operation.WEBHOOK_CONFIGURE)
@shows_again(_page, Conflict)
async def rotate_secret_here(call: Call, org_slug: str, webhook_id: UUID, form: SeenAtForm) -> PageOrRedirect:
    """Give a webhook a new secret, and lead to it; programs use `POST …/webhooks/:webhook_id/rotate-secret`."""
    return await leading_to(
        call,
        lambda uow: webhooks.rotate_secret(uow, org_slug, webhook_id, seen_at=moment_seen(form.seen_at)),
        lambda rotated: ToShow(page=page_of_webhook(org_slug, webhook_id), secrets=(rotated.secret,)),
    )


def _program(slug: str, webhook_id: UUID) -> Program:
    return Program("webhooks_rotate_secret", slug, webhook_id)
