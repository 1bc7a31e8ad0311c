"""The page of the SCIM tokens that a vendor makes for a customer: the address to enter, and when each called last."""

from datetime import timedelta
from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.customers import scim_tokens
from core.customers.setup_callers import CustomerPath
from core.errors import BadRequest, Refusal
from core.organizations.access import Operation
from core.scim.tokens import ScimTokenUnknown, TooManyTokens
from core.sessions.shown_secrets import ToShow
from entrypoints.pages.console.frame import Program, after
from entrypoints.pages.customers.setup_callers import (
    REFUSES,
    SCIM_TOKENS,
    opened_setup,
    path_of,
    require_change,
    setup_page,
)
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.scim.tokens import LIFETIMES, copies_of
from entrypoints.pages.sessions.shown_secrets import leading_to, shown_once
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

TOKEN: Final = f"{SCIM_TOKENS}/:token_id"


class CustomerTokenForm(ProtectedForm, kw_only=True):
    """A new token, and in how many days it ends."""

    name: str = ""
    days: str = ""


class CustomerTokensQuery(DoneQuery, kw_only=True):
    """What the form held before its sender was asked to sign in again, and what was just done."""

    name: Annotated[str, msgspec.Meta(description="The name of a new token.", max_length=100)] = ""
    days: Annotated[str, msgspec.Meta(description="In how many days a new token ends.")] = ""


@routes.get(SCIM_TOKENS, refuses=REFUSES)
@on_service_in_console(Operation.CUSTOMER_SETUP_READ)
async def show_customer_tokens(
    call: Call,
    org_slug: str,
    service_slug: str,
    customer_id: UUID,
    *,
    query: CustomerTokensQuery | None = None,
    form: CustomerTokenForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the SCIM tokens of a customer, each with the last call of the directory."""
    query = query or CustomerTokensQuery()
    form = form or CustomerTokenForm(name=query.name, days=query.days)
    return await _page(call, path_of(org_slug, service_slug, customer_id), done=query.done, form=form, refusal=refusal)


@routes.post(SCIM_TOKENS, makes_secret=True, refuses=(*REFUSES, BadRequest, TooManyTokens))
@on_service_in_console(Operation.CUSTOMER_SETUP)
@shows_again(show_customer_tokens, BadRequest)
async def create_customer_token_here(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, form: CustomerTokenForm
) -> PageOrRedirect:
    """Create a token and lead to it; programs use `POST …/customers/:customer_id/scim-tokens`."""
    if form.days not in {days for days, _ in LIFETIMES}:
        raise BadRequest.of_field("days", "Choose one of these times.")
    ends_at = call.installation.clock() + timedelta(days=int(form.days)) if form.days else None
    page, path = call.request.path, path_of(org_slug, service_slug, customer_id)
    return await leading_to(
        call,
        lambda uow: scim_tokens.create(uow, path, name=form.name, expires_at=ends_at),
        lambda made: ToShow(page=page, secrets=(made[1],)),
    )


@routes.get(f"{SCIM_TOKENS}/shown/:shown_id", shows_secret=True, refuses=REFUSES)
@on_service_in_console(Operation.CUSTOMER_SETUP)
async def show_new_customer_token(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, shown_id: UUID
) -> Page:
    """Show the same with a new token, once and in the browser that made it."""
    await require_change(call, org_slug, service_slug, customer_id)
    return await _page(call, path_of(org_slug, service_slug, customer_id), shown_id=shown_id)


@routes.get(f"{TOKEN}/revoke", refuses=(*REFUSES, ScimTokenUnknown))
@on_service_in_console(Operation.CUSTOMER_SETUP)
async def ask_to_revoke_customer_token(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, token_id: UUID
) -> Page:
    """Show what ends with a token, and ask whether it is to be revoked."""
    await require_change(call, org_slug, service_slug, customer_id)
    place, found = await opened_setup(
        call, path_of(org_slug, service_slug, customer_id), "scim-tokens", scim_tokens.show, token_id
    )
    return setup_page(
        call,
        "customers/scim_tokens_revocation.html",
        place,
        program=Program(
            "SCIM_tokens_of_customers_revoke_customer_token", org_slug, service_slug, customer_id, token_id
        ),
        one=found,
    )


@routes.post(f"{TOKEN}/revoke", refuses=(*REFUSES, ScimTokenUnknown))
@on_service_in_console(Operation.CUSTOMER_SETUP)
async def revoke_customer_token_here(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, token_id: UUID
) -> PageOrRedirect:
    """Revoke a token; programs use `DELETE …/customers/:customer_id/scim-tokens/:token_id`."""
    await call.transact(scim_tokens.revoke, path_of(org_slug, service_slug, customer_id), token_id)
    return after(call.request.path.rsplit("/", 2)[0], "token-revoked")


async def _page(
    call: Call,
    path: CustomerPath,
    *,
    done: str = "",
    form: CustomerTokenForm | None = None,
    shown_id: UUID | None = None,
    refusal: Refusal | None = None,
) -> Page:
    place, found = await opened_setup(call, path, "scim-tokens", scim_tokens.list_all)
    token = "" if shown_id is None else "".join(await shown_once(call, shown_id))
    return setup_page(
        call,
        "customers/scim_tokens.html",
        place,
        program=Program(
            "SCIM_tokens_of_customers_create_customer_token",
            place.at.reader.organization.slug,
            place.at.service.slug,
            place.customer.id,
            body={"name": "Okta"},
        ),
        done=done,
        refusal=refusal,
        tokens=found,
        at_time=call.installation.clock(),
        token=token,
        was_shown=shown_id is not None and not token,
        typed=form or CustomerTokenForm(),
        lifetimes=LIFETIMES,
        copies=copies_of(f"{call.installation.settings.base_url}/scim/v2"),
    )
