"""The pages of the connections that a vendor makes for a customer: the list, a new one, and one with its settings.

The steps at each provider are the same as for an organization's own connections (`sign_in/upstream/connections/`).
"""

from typing import Any, Final
from uuid import UUID

from core.customers import connections
from core.customers.connections import CustomerConnectionInDetail, CustomerConnectionState
from core.errors import BadRequest, Refusal
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations.access import Operation
from core.sign_in.upstream.connections.connection_fields import ConnectionFields
from core.sign_in.upstream.connections.connections import ConnectionUnknown, TooManyConnections
from core.sign_in.upstream.saml import SamlDescription
from entrypoints.pages.console.frame import Program, after
from entrypoints.pages.console.setup_steps import kind_of
from entrypoints.pages.customers.customers import page_of_customer
from entrypoints.pages.customers.setup_callers import (
    CONNECTIONS,
    REFUSES,
    SetupPlace,
    opened_setup,
    path_of,
    require_change,
    setup_page,
)
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.organizations.setup import KindQuery
from entrypoints.pages.sign_in.upstream.connections import provider_kinds
from entrypoints.pages.sign_in.upstream.connections.connection_fields import (
    NotUsable,
    copies_of,
    described_change,
    redirect_uri,
    required,
    stored,
)
from entrypoints.pages.sign_in.upstream.connections.connections import ConnectionForm, ConnectionQuery
from entrypoints.pages.sign_in.upstream.provider_problems import TO_MEMBERS
from entrypoints.shared.sign_in.upstream.upstream_providers import found_by_check
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

CONNECTION: Final = f"{CONNECTIONS}/:provider_id"
STATES: Final = {
    CustomerConnectionState.CONFIGURED: ("info", marked("Not tested yet")),
    CustomerConnectionState.TESTED: ("good", marked("Tested")),
    CustomerConnectionState.IN_USE: ("good", marked("In use")),
    CustomerConnectionState.FAILING: ("bad", marked("Failing")),
}


class ConnectionSwitchForm(ProtectedForm, kw_only=True):
    """Whether people sign in by a connection from now on."""

    enabled: str = ""


@routes.get(CONNECTIONS, refuses=REFUSES)
@on_service_in_console(Operation.CUSTOMER_SETUP_READ)
async def show_customer_connections(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, query: DoneQuery
) -> Page:
    """Show the connections that a vendor has made for a customer, each with how far it is and what fails."""
    place, found = await opened_setup(
        call, path_of(org_slug, service_slug, customer_id), "connections", connections.list_all
    )
    return setup_page(
        call,
        "customers/connections.html",
        place,
        program=Program("connections_of_customers_list_customer_connections", org_slug, service_slug, customer_id),
        done=query.done,
        connections=found,
        states=STATES,
        sentences=TO_MEMBERS,
        begin=f"{place.page}/new",
    )


async def _new_page(
    call: Call,
    org_slug: str,
    service_slug: str,
    customer_id: UUID,
    *,
    word: str = "",
    form: ConnectionForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Return the page of a new connection; without a kind, the choice of one."""
    place, _ = await opened_setup(
        call, path_of(org_slug, service_slug, customer_id), "connections", connections.require_may_make
    )
    kind = kind_of(provider_kinds.ALL, form.provider if form is not None else word)
    if kind is None and form is not None:
        kind = provider_kinds.SAML if form.type == "saml" else provider_kinds.OPENID
    is_saml = kind is not None and provider_kinds.is_saml(kind)
    name = place.customer.name or place.customer.slug
    issuer = provider_kinds.ISSUERS.get(kind.word, "") if kind is not None else ""
    example = {"type": "saml" if is_saml else "oidc", "name": name}
    if not is_saml:
        example |= {"issuer": issuer or "https://idp.example.com", "client_id": "…", "client_secret": "…"}
    return setup_page(
        call,
        "customers/connections_new.html",
        place,
        program=Program(
            "connections_of_customers_create_customer_connection", org_slug, service_slug, customer_id, body=example
        ),
        refusal=refusal,
        kinds=provider_kinds.KINDS,
        kind=kind,
        is_saml=is_saml,
        typed=form or ConnectionForm(name=name, issuer=issuer),
        right_issuer=refusal.finding.right_issuer if isinstance(refusal, NotUsable) else None,
        copies=redirect_uri(call),
        begin=f"{place.page}/new",
    )


@routes.get(f"{CONNECTIONS}/new", refuses=REFUSES)
@on_service_in_console(Operation.CUSTOMER_SETUP)
async def begin_customer_connection(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, query: KindQuery
) -> Page:
    """Show the kinds of identity providers; of one kind, its steps and a form."""
    await require_change(call, org_slug, service_slug, customer_id)
    page = await _new_page(call, org_slug, service_slug, customer_id, word=query.provider)
    await recent_for_form(call)
    return page


@routes.post(f"{CONNECTIONS}/new", refuses=(*REFUSES, BadRequest, TooManyConnections))
@on_service_in_console(Operation.CUSTOMER_SETUP)
@shows_again(_new_page, BadRequest)
async def save_customer_connection(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, form: ConnectionForm
) -> PageOrRedirect:
    """Ask the provider, and save a connection; programs use `POST …/customers/:customer_id/connections`."""
    await require_change(call, org_slug, service_slug, customer_id)
    path = path_of(org_slug, service_slug, customer_id)
    given, allowed = form.given, call.installation.settings.outbound_allowed
    kind = "saml" if form.type == "saml" else "oidc"
    # Before anything is asked for them.
    await call.read(connections.require_may_make, path)
    if kind != "saml":
        required(
            await found_by_check(call, await call.read(connections.prepare_new, path, kind, given, allowed=allowed))
        )
    made = await call.transact(connections.create, path, kind, given, described=None, allowed=allowed)
    page = f"{_page_of(org_slug, service_slug, customer_id, made.connection.id)}"
    return after(page, "customer-connection-made", provider=_word(form.provider))


async def _page(
    call: Call,
    org_slug: str,
    service_slug: str,
    customer_id: UUID,
    provider_id: UUID,
    *,
    form: ConnectionForm | ConnectionQuery | None = None,
    refusal: Refusal | None = None,
) -> Page:
    place, found = await _opened(call, org_slug, service_slug, customer_id, provider_id)
    connection = found.shown.connection
    word = form.provider if form is not None else ""
    return setup_page(
        call,
        "customers/connections_one.html",
        place,
        program=Program(
            "connections_of_customers_change_customer_connection",
            org_slug,
            service_slug,
            customer_id,
            provider_id,
            body={"name": connection.name},
        ),
        done=form.done if isinstance(form, ConnectionQuery) else "",
        refusal=refusal,
        right_issuer=refusal.finding.right_issuer if isinstance(refusal, NotUsable) else None,
        found=found.configured,
        shown=found.shown,
        connection=connection,
        state=STATES[found.shown.state],
        kind=provider_kinds.kind_of_connection(connection, word),
        typed=form if isinstance(form, ConnectionForm) else ConnectionForm(**stored(connection)),
        copies=copies_of(call, connection.id),
        sentences=TO_MEMBERS,
        connection_page=_page_of(org_slug, service_slug, customer_id, provider_id),
    )


@routes.get(CONNECTION, refuses=(*REFUSES, ConnectionUnknown))
@on_service_in_console(Operation.CUSTOMER_SETUP_READ)
async def show_customer_connection_page(
    call: Call,
    org_slug: str,
    service_slug: str,
    customer_id: UUID,
    provider_id: UUID,
    query: ConnectionQuery,
) -> Page:
    """Show a connection of a customer: how far it is, what fails, and the steps at its provider."""
    page = await _page(call, org_slug, service_slug, customer_id, provider_id, form=query)
    await recent_for_form(call, if_acting=False)
    return page


@routes.post(CONNECTION, body_bytes_max=LARGE_BODY_BYTES_MAX, refuses=(*REFUSES, BadRequest, ConnectionUnknown))
@on_service_in_console(Operation.CUSTOMER_SETUP)
@shows_again(_page, BadRequest)
async def change_connection_of_customer(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, provider_id: UUID, form: ConnectionForm
) -> PageOrRedirect:
    """Ask the provider, and change a connection; programs use `PATCH …/connections/:provider_id`."""
    await require_change(call, org_slug, service_slug, customer_id)
    path = path_of(org_slug, service_slug, customer_id)
    given, allowed = form.given, call.installation.settings.outbound_allowed
    before = (await call.read(connections.show, path, provider_id)).connection
    described: SamlDescription | None = None
    if not before.is_saml:
        required(
            await found_by_check(
                call, await call.read(connections.prepare_change, path, provider_id, given, allowed=allowed)
            )
        )
    elif given.metadata_url is not None or given.metadata_xml is not None:
        vendor_id = await call.read(connections.find_vendor, path)
        described = (await described_change(call, vendor_id, given)).described
    await call.transact(connections.change, path, provider_id, given, described=described, allowed=allowed)
    page = _page_of(org_slug, service_slug, customer_id, provider_id)
    return after(page, "connection-saved", provider=_word(form.provider))


@routes.post(f"{CONNECTION}/switch", refuses=(*REFUSES, BadRequest, ConnectionUnknown))
@on_service_in_console(Operation.CUSTOMER_SETUP)
@shows_again(_page, BadRequest)
async def switch_connection_of_customer(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, provider_id: UUID, form: ConnectionSwitchForm
) -> PageOrRedirect:
    """Switch a connection on or off; programs use `PATCH …/connections/:provider_id`."""
    is_on = form.enabled == "on"
    await call.transact(
        connections.change,
        path_of(org_slug, service_slug, customer_id),
        provider_id,
        ConnectionFields(enabled=is_on),
        described=None,
        allowed=call.installation.settings.outbound_allowed,
    )
    page = _page_of(org_slug, service_slug, customer_id, provider_id)
    return after(page, "connection-on" if is_on else "connection-off")


@routes.get(f"{CONNECTION}/remove", refuses=(*REFUSES, ConnectionUnknown))
@on_service_in_console(Operation.CUSTOMER_SETUP)
async def ask_to_remove_connection_of_customer(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, provider_id: UUID
) -> Page:
    """Show what ends with a connection of a customer."""
    await require_change(call, org_slug, service_slug, customer_id)
    place, found = await _opened(call, org_slug, service_slug, customer_id, provider_id)
    page = setup_page(
        call,
        "customers/connections_removal.html",
        place,
        program=Program(
            "connections_of_customers_delete_customer_connection", org_slug, service_slug, customer_id, provider_id
        ),
        found=found.configured,
        connection=found.shown.connection,
        connection_page=_page_of(org_slug, service_slug, customer_id, provider_id),
    )
    await recent_for_form(call)
    return page


@routes.post(f"{CONNECTION}/remove", refuses=(*REFUSES, ConnectionUnknown))
@on_service_in_console(Operation.CUSTOMER_SETUP)
async def remove_connection_of_customer(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, provider_id: UUID
) -> PageOrRedirect:
    """Delete a connection of a customer; programs use `DELETE …/connections/:provider_id`."""
    await require_change(call, org_slug, service_slug, customer_id)
    path = path_of(org_slug, service_slug, customer_id)
    await call.read(connections.show, path, provider_id)
    await recent(call, page=f"{_page_of(org_slug, service_slug, customer_id, provider_id)}/remove")
    await call.transact(connections.delete, path, provider_id)
    return after(_page_of(org_slug, service_slug, customer_id, provider_id).rpartition("/")[0], "connection-deleted")


async def _opened(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, provider_id: UUID
) -> tuple[SetupPlace, CustomerConnectionInDetail]:
    return await opened_setup(
        call, path_of(org_slug, service_slug, customer_id), "connections", connections.show_in_detail, provider_id
    )


def _page_of(org_slug: str, service_slug: str, customer_id: UUID, provider_id: UUID) -> str:
    return f"{page_of_customer(org_slug, service_slug, customer_id)}/connections/{provider_id}"


def _word(typed: str) -> str:
    known: Any = kind_of(provider_kinds.ALL, typed)
    return known.word if known is not None else ""
