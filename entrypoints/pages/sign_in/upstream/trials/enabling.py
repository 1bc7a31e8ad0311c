"""Switching a connection on, after a test sign-in, and off: what ends or begins with that."""

from typing import Final
from uuid import UUID

from core.errors import BadRequest, Conflict, Forbidden, Refusal
from core.organizations.access import Operation
from core.sign_in.upstream import configuring
from core.sign_in.upstream.connections import connections
from core.sign_in.upstream.connections.connections import ConnectionChangedSince, ConnectionUnknown
from core.sign_in.upstream.trials import enabling
from core.sign_in.upstream.trials.enabling import ConnectionUntested
from entrypoints.pages.console.frame import Program, after, console_page, opened
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.sign_in.upstream.connections.connection_fields import seen_at
from entrypoints.pages.sign_in.upstream.connections.connection_steps import page_of_connection
from entrypoints.pages.sign_in.upstream.connections.connections import CONNECTION, SeenForm
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()
ENABLING: Final = f"{CONNECTION}/enabling"


class EnablingForm(SeenForm, kw_only=True):
    """Whether a connection is to sign in from now on: `yes` or `no`."""

    enabled: str = ""


@routes.get(ENABLING, refuses=(ConnectionUnknown,))
@in_console(Operation.CONNECTION_CONFIGURE)
async def ask_to_switch(call: Call, org_slug: str, connection_id: UUID, *, refusal: Refusal | None = None) -> Page:
    """Show what switching a connection on or off does, in numbers."""
    standing, found = await opened(call, org_slug, Operation.CONNECTION_CONFIGURE, configuring.show, connection_id)
    ends = await call.read(connections.show_ends, org_slug, connection_id)
    connection = found.state.connection
    return console_page(
        call,
        "sign_in/upstream/trials/enabling.html",
        standing,
        program=Program(
            "upstream_connections_change_upstream_provider",
            org_slug,
            connection_id,
            body={"enabled": not connection.enabled},
        ),
        refusal=refusal,
        found=found,
        connection=connection,
        ends=ends,
        seen=connection.updated_at.isoformat(),
        page=page_of_connection(org_slug, connection_id),
    )


@routes.post(ENABLING, refuses=(BadRequest, ConnectionUnknown, Conflict, Forbidden))
@in_console(Operation.CONNECTION_CONFIGURE)
@shows_again(ask_to_switch, BadRequest, ConnectionChangedSince, ConnectionUntested)
async def switch_connection(call: Call, org_slug: str, connection_id: UUID, form: EnablingForm) -> PageOrRedirect:
    """Switch a connection on or off; programs use `PATCH …/upstream-providers/:id`."""
    await call.read(connections.require_may_change, org_slug)
    await call.read(connections.show, org_slug, connection_id)
    if form.enabled not in {"yes", "no"}:
        raise BadRequest.of_field("enabled", "This must be yes or no.")
    is_on = form.enabled == "yes"
    await call.transact(
        enabling.switch,
        org_slug,
        connection_id,
        is_on=is_on,
        allowed=call.installation.settings.outbound_allowed,
        seen=seen_at(form.seen),
    )
    return after(page_of_connection(org_slug, connection_id), "connection-on" if is_on else "connection-off")
