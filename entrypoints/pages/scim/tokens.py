"""The pages of provisioning by SCIM, in the console and of a setup link: tokens, steps at the directory, its calls."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec

from core.errors import BadRequest, Refusal
from core.organizations import link_callers
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.organizations.link_callers import Part, SetupLinkDead
from core.organizations.organizations import MEMBER
from core.scim import log, tokens
from core.scim.log import AskedCalls, ProvisioningLogEntry
from core.scim.tokens import NAME_BY_LINK, FoundGroups, ScimTokenUnknown, TooManyTokens
from core.sessions.shown_secrets import ToShow, holder_of_setup
from entrypoints.pages.console.csv_files import CsvFile
from entrypoints.pages.console.frame import (
    ROWS_SHOWN,
    PagedQuery,
    Program,
    after,
    console_page,
    opened,
    page_of,
)
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.console.setup_steps import kind_of
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, setup_pages, shows_again, shows_itself_again
from entrypoints.pages.organizations.setup import (
    LIMITS,
    PartQuery,
    part_page,
    require_own_form,
    sent,
    steps_of_page,
)
from entrypoints.pages.organizations.setup import opened as opened_by_link
from entrypoints.pages.scim import directory_kinds
from entrypoints.pages.sessions.shown_secrets import leading_to, shown_once
from entrypoints.web.serving.admission.browsers import FormRefused, ProtectedForm, setup_cookie
from entrypoints.web.serving.admission.credentials import holding_setup_link, in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()
setup_routes: Routes = setup_pages()

PROVISIONING: Final = "/app/organizations/:org_slug/provisioning"
LIFETIMES: Final = (
    ("", marked("Never")),
    ("90", marked("In 90 days")),
    ("365", marked("In one year")),
)


class ProvisioningQuery(DoneQuery, kw_only=True):
    """Which directory is connected, what was just done, and what was typed before its sender signed in again."""

    provider: Annotated[str, msgspec.Meta(description="The kind of directory whose steps are shown.")] = ""
    name: Annotated[str, msgspec.Meta(description="The name of a new token.", max_length=100)] = ""
    days: Annotated[str, msgspec.Meta(description="After how many days a new token ends.", max_length=10)] = ""
    groups: Annotated[str, msgspec.Meta(description="Which groups its directory finds.", max_length=20)] = ""


class CallsQuery(PagedQuery, kw_only=True):
    """Which calls of the directory to show."""

    state: Annotated[str, msgspec.Meta(description="`failed` shows only what was refused.", max_length=50)] = ""
    since: Annotated[str, msgspec.Meta(description="The first day or time, in UTC.", max_length=40)] = ""
    until: Annotated[str, msgspec.Meta(description="The time before which it ends, in UTC.", max_length=40)] = ""

    @property
    def filters(self) -> Mapping[str, Any]:
        """The filters, as the use case takes them by name."""
        return {"asked": AskedCalls(only_failed=self.state == "failed", since=self.since, until=self.until)}


CALLS: Final = ConsoleList[ProvisioningLogEntry](
    path=f"{PROVISIONING}/calls",
    listed=log.listed,
    file="calls",
    name="provisioning",
    columns={
        "time": lambda one: one.created_at,
        "token": lambda one: one.token_name,
        "method": lambda one: one.method,
        "path": lambda one: one.path,
        "user_name": lambda one: one.user_name,
        "status": lambda one: one.status,
        "scim_type": lambda one: one.scim_type,
        "detail": lambda one: one.detail,
    },
)


# What a directory finds under /Groups, in the words of the page.
FOUND_GROUPS: Final = [
    (FoundGroups.ORGANIZATION.value, marked("None of its own: the organization is one group")),
    (FoundGroups.DIRECTORY.value, marked("Its groups, to which rules can give roles")),
]


class ScimTokenForm(ProtectedForm, kw_only=True):
    """A new token, in how many days it ends, what its directory finds, and the kind of directory whose steps go on."""

    name: str = ""
    days: str = ""
    groups: str = FoundGroups.ORGANIZATION
    provider: str = ""


@routes.get(PROVISIONING)
@in_console(Operation.SCIM_TOKENS_READ)
async def show_provisioning(
    call: Call,
    org_slug: str,
    *,
    query: ProvisioningQuery | None = None,
    form: ScimTokenForm | None = None,
    shown_id: UUID | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the tokens of the directory, when it called last, and how it is connected; of one kind, its steps."""
    standing, known = await opened(call, org_slug, Operation.SCIM_TOKENS_READ, tokens.list_all)
    query = query or ProvisioningQuery()
    typed = form or ScimTokenForm(
        name=query.name,
        days=query.days,
        groups=query.groups or FoundGroups.ORGANIZATION,
        provider=query.provider,
    )
    token = "" if shown_id is None else "".join(await shown_once(call, shown_id))
    url = f"{call.installation.settings.base_url}/scim/v2"
    used = [one.last_used_at for one in known if one.last_used_at is not None]
    return console_page(
        call,
        "scim/tokens.html",
        standing,
        program=Program("SCIM_tokens_create_scim_token", org_slug, body={"name": "Okta"}),
        done=query.done,
        refusal=refusal,
        problems=problems_of(refusal),
        tokens=known,
        own_name=NAME_BY_LINK,
        at=call.installation.clock(),
        last_called_at=max(used, default=None),
        token=token,
        was_shown=shown_id is not None and not token,
        typed=typed,
        lifetimes=LIFETIMES,
        found_groups=FOUND_GROUPS,
        lacks_creation=standing.lacks(Operation.SCIM_TOKEN_CREATE),
        kinds=directory_kinds.KINDS,
        kind=kind_of(directory_kinds.KINDS, typed.provider),
        copies=copies_of(url),
        page=f"{page_of(org_slug)}/provisioning",
        directory=f"{page_of(org_slug)}/people/directory",
    )


def copies_of(url: str) -> dict[str, tuple[str, str]]:
    """Return what is copied into the console of a directory, each with its label; `url` is the base URL of SCIM."""
    return {
        "scim_url": (marked("Address (base URL)"), url),
        "entra_url": (marked("Address (base URL)"), f"{url}?aadOptscim062020"),
        "identifier": (marked("Unique identifier"), "userName"),
    }


@routes.post(PROVISIONING, makes_secret=True, refuses=(BadRequest, TooManyTokens))
@in_console(Operation.SCIM_TOKEN_CREATE)
@shows_again(show_provisioning, BadRequest)
async def create_token_here(call: Call, org_slug: str, form: ScimTokenForm) -> PageOrRedirect:
    """Create a token and lead to it; programs use `POST /api/organizations/:org_slug/scim-tokens`."""
    if form.days not in {days for days, _ in LIFETIMES}:
        raise BadRequest.of_field("days", "Choose one of these times.")
    ends_at = call.installation.clock() + timedelta(days=int(form.days)) if form.days else None
    kind = kind_of(directory_kinds.KINDS, form.provider)
    return await leading_to(
        call,
        lambda uow: tokens.create(uow, org_slug, name=form.name, expires_at=ends_at, groups=form.groups),
        lambda made: ToShow(page=f"{page_of(org_slug)}/provisioning", secrets=(made[1],)),
        query={"provider": kind.word if kind is not None else ""},
    )


@routes.get(f"{PROVISIONING}/shown/:shown_id", shows_secret=True)
@in_console(Operation.SCIM_TOKEN_CREATE)
async def show_new_token(call: Call, org_slug: str, shown_id: UUID, query: ProvisioningQuery) -> Page:
    """Show the same with a new token, once and in the browser that made it."""
    await call.read(authorize, org_slug, Operation.SCIM_TOKEN_CREATE)
    return await show_provisioning(call, org_slug, query=query, shown_id=shown_id)


@routes.get(f"{PROVISIONING}/:token_id/revoke", refuses=(ScimTokenUnknown,))
@in_console(Operation.SCIM_TOKENS_CHANGE)
async def ask_to_revoke_token_here(call: Call, org_slug: str, token_id: UUID) -> Page:
    """Show what ends with a token, and ask whether it is to be revoked."""
    standing, ends = await opened(call, org_slug, Operation.SCIM_TOKENS_CHANGE, tokens.show_ends, token_id)
    return console_page(
        call,
        "scim/tokens_revocation.html",
        standing,
        program=Program("SCIM_tokens_revoke_scim_token", org_slug, token_id),
        ends=ends,
        own_name=NAME_BY_LINK,
        page=f"{page_of(org_slug)}/provisioning",
    )


@routes.post(f"{PROVISIONING}/:token_id/revoke", refuses=(ScimTokenUnknown,))
@in_console(Operation.SCIM_TOKENS_CHANGE)
async def revoke_token_here(call: Call, org_slug: str, token_id: UUID) -> PageOrRedirect:
    """Revoke a token; programs use `DELETE /api/organizations/:org_slug/scim-tokens/:token_id`."""
    await call.transact(tokens.revoke, org_slug, token_id)
    return after(f"{page_of(org_slug)}/provisioning", "token-revoked")


@routes.get(f"{PROVISIONING}/calls", refuses=(BadRequest,))
@in_console(Operation.SCIM_LOG_READ)
@shows_itself_again(BadRequest)
async def show_calls(call: Call, org_slug: str, *, query: CallsQuery, refusal: Refusal | None = None) -> Page:
    """Show what the directory did and failed to do, the newest first, each with what was answered."""
    # A filter that was refused finds nothing, and stays as it was typed.
    filters = query.filters if refusal is None else CallsQuery().filters
    standing, found = await opened(
        call,
        org_slug,
        Operation.SCIM_LOG_READ,
        log.search,
        **filters,
        after=query.position,
        limit=ROWS_SHOWN,
    )
    return console_page(
        call,
        "scim/tokens_calls.html",
        standing,
        program=Program("provisioning_log_read_log", org_slug),
        refusal=refusal,
        problems=problems_of(refusal),
        **CALLS.values(query, found if refusal is None else None, org_slug),
        states=(("", marked("Every call")), ("failed", marked("Refused"))),
        retention_days=call.installation.settings.provisioning_log_retention.days,
    )


@routes.get(f"{PROVISIONING}/calls/calls.csv", refuses=(BadRequest,))
@in_console(Operation.SCIM_LOG_READ)
async def download_calls(call: Call, org_slug: str, query: CallsQuery) -> CsvFile:
    """Download the calls that a search finds, at most 100,000, for a spreadsheet."""
    return await CALLS.csv(call, org_slug, query=query)


SCIM: Final = "/app/setup/parts/scim"


class NewTokenForm(ProtectedForm, kw_only=True):
    """A request for a token, and the kind of directory whose steps follow."""

    provider: str = ""


@setup_routes.get(SCIM, refuses=(SetupLinkDead,))
@holding_setup_link
async def show_scim(call: Call, *, query: PartQuery, shown_id: UUID | None = None) -> Page:
    """Show how the directory is connected, when it last called, and what failed; of one kind, its steps."""
    setup, (known, failures) = await opened_by_link(call, Operation.SCIM_TOKENS_READ, log.list_failures)
    holder = holder_of_setup(setup_cookie(call))
    secrets = () if shown_id is None else await shown_once(call, shown_id, holder=holder)
    url = f"{call.installation.settings.base_url}/scim/v2"
    kind = kind_of(directory_kinds.KINDS, query.provider)
    used = [one.last_used_at for one in known if one.last_used_at is not None]
    steps = {"tokens": bool(known), "steps": bool(used), "test": bool(used)}
    if kind is None:
        # The choice of a directory comes first, before the steps there.
        steps = {"steps": bool(used), "tokens": bool(known), "test": bool(used)}
    return await part_page(
        call,
        "scim/tokens.html",
        setup,
        Part.SCIM,
        query=query,
        tokens=known,
        failures=failures,
        own_name=NAME_BY_LINK,
        changed_roles=list(dict.fromkeys((MEMBER, *setup.holder.roles))),
        at=call.installation.clock(),
        last_called_at=max(used, default=None),
        token="".join(secrets),
        was_shown=shown_id is not None and not secrets,
        lacks_creation=None,
        kinds=directory_kinds.KINDS,
        kind=kind,
        copies=copies_of(url),
        **steps_of_page(steps, query.step),
    )


@setup_routes.post(SCIM, makes_secret=True, limits=LIMITS, refuses=(SetupLinkDead, FormRefused, TooManyTokens))
@holding_setup_link
async def create_token(call: Call, form: NewTokenForm) -> PageOrRedirect:
    """Create a token and lead to it; members use `POST /api/organizations/:org_slug/scim-tokens`."""
    require_own_form(call, form)
    kind = kind_of(directory_kinds.KINDS, form.provider)
    return await leading_to(
        call,
        lambda uow: link_callers.serve(uow, tokens.create, name=NAME_BY_LINK, expires_at=None),
        lambda made: ToShow(page=SCIM, secrets=(made[1],)),
        holder=holder_of_setup(setup_cookie(call)),
        query={"provider": kind.word if kind is not None else ""},
    )


@setup_routes.get(f"{SCIM}/shown/:shown_id", shows_secret=True, refuses=(SetupLinkDead,))
@holding_setup_link
async def show_token(call: Call, shown_id: UUID, query: PartQuery) -> Page:
    """Show the same with a new token, once and in the browser that made it."""
    return await show_scim(call, query=query, shown_id=shown_id)


@setup_routes.get(f"{SCIM}/:token_id/revoke", refuses=(SetupLinkDead, ScimTokenUnknown))
@holding_setup_link
async def ask_to_revoke_token(call: Call, token_id: UUID) -> Page:
    """Show what ends with a token, and ask whether it is to be revoked."""
    setup, ends = await opened_by_link(call, Operation.SCIM_TOKENS_CHANGE, tokens.show_ends, token_id)
    return await part_page(call, "scim/tokens_revocation.html", setup, Part.SCIM, ends=ends, own_name=NAME_BY_LINK)


@setup_routes.post(
    f"{SCIM}/:token_id/revoke", limits=LIMITS, status=303, refuses=(SetupLinkDead, FormRefused, ScimTokenUnknown)
)
@holding_setup_link
async def revoke_token(call: Call, token_id: UUID, form: ProtectedForm) -> None:
    """Revoke a token; members use `DELETE /api/organizations/:org_slug/scim-tokens/:token_id`."""
    await sent(call, form, tokens.revoke, token_id)
    call.headers["Location"] = f"{SCIM}?done=token-revoked"
