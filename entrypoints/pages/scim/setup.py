"""The pages of a setup link for SCIM: the address, tokens for the directory, and what the directory failed to do."""

from typing import Final
from uuid import UUID

from core.organizations.memberships import MEMBER
from core.organizations.setup_links import SetupLinkDead
from core.scim import setup
from core.scim.tokens import ScimTokenUnknown, TooManyTokens
from core.sessions.shown_secrets import ToShow, holder_of_setup
from entrypoints.pages.console.setup_steps import kind_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import setup_pages
from entrypoints.pages.organizations.setup import (
    LIMITS,
    KindQuery,
    SetupForm,
    part_page,
    protected_cookie,
    setup_cookie,
)
from entrypoints.pages.scim import directory_kinds
from entrypoints.pages.scim.tokens import copies_of
from entrypoints.pages.sessions.shown_secrets import leading_to, shown_once
from entrypoints.web.serving.browsers import FormRefused
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public

routes = setup_pages()

SCIM: Final = "/app/setup/parts/scim"


class ScimSetupForm(SetupForm, kw_only=True):
    """A wish for a token, and the kind of directory whose steps go on."""

    provider: str = ""


@routes.get(SCIM, refuses=(SetupLinkDead,))
@public
async def show_scim(call: Call, *, query: KindQuery, shown_id: UUID | None = None) -> Page:
    """Show how the directory is connected, when it last called, and what failed; of one kind, its steps."""
    cookie = setup_cookie(call)
    shown = await call.read(setup.show, cookie)
    secrets = () if shown_id is None else await shown_once(call, shown_id, holder=holder_of_setup(cookie))
    url = f"{call.installation.settings.base_url}/scim/v2"
    return await part_page(
        call,
        "scim/setup.html",
        shown.setup,
        shown=shown,
        own_name=setup.TOKEN_NAME,
        changed_roles=list(dict.fromkeys((MEMBER, *shown.setup.roles))),
        at=call.installation.clock(),
        token="".join(secrets),
        was_shown=shown_id is not None and not secrets,
        kinds=directory_kinds.KINDS,
        kind=kind_of(directory_kinds.KINDS, query.provider),
        copies=copies_of(url),
    )


@routes.post(SCIM, makes_secret=True, limits=LIMITS, refuses=(SetupLinkDead, FormRefused, TooManyTokens))
@public
async def create_token(call: Call, form: ScimSetupForm) -> PageOrRedirect:
    """Create a token and lead to it; members use `POST /api/organizations/:org_slug/scim-tokens`."""
    cookie, kind = protected_cookie(call, form), kind_of(directory_kinds.KINDS, form.provider)
    return await leading_to(
        call,
        lambda uow: setup.create_token(uow, cookie),
        lambda token: ToShow(page=SCIM, secrets=(token,)),
        holder=holder_of_setup(cookie),
        query={"provider": kind.word if kind is not None else ""},
    )


@routes.get(f"{SCIM}/shown/:shown_id", shows_secret=True, refuses=(SetupLinkDead,))
@public
async def show_token(call: Call, shown_id: UUID, query: KindQuery) -> Page:
    """Show the same with a new token, once and in the browser that made it."""
    return await show_scim(call, query=query, shown_id=shown_id)


@routes.get(f"{SCIM}/:token_id/revoke", refuses=(SetupLinkDead, ScimTokenUnknown))
@public
async def ask_to_revoke_token(call: Call, token_id: UUID) -> Page:
    """Show what ends with a token, and ask whether it is to be revoked."""
    shown, ends = await call.read(setup.show_ends, setup_cookie(call), token_id)
    return await part_page(call, "scim/setup_revocation.html", shown, ends=ends, own_name=setup.TOKEN_NAME)


@routes.post(
    f"{SCIM}/:token_id/revoke", limits=LIMITS, status=303, refuses=(SetupLinkDead, FormRefused, ScimTokenUnknown)
)
@public
async def revoke_token(call: Call, token_id: UUID, form: SetupForm) -> None:
    """Revoke a token; members use `DELETE /api/organizations/:org_slug/scim-tokens/:token_id`."""
    await call.transact(setup.revoke_token, protected_cookie(call, form), token_id)
    call.headers["Location"] = SCIM
