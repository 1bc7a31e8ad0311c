"""The pages of an organization's mail domains: the list, and one with its TXT record, connection and enforcement."""

from typing import Final
from uuid import UUID

from core.errors import BadRequest, Conflict, Refusal
from core.organizations.access import Operation
from core.organizations.settings.domain import DomainUnanswered, DomainUnproved, DomainVerifiedElsewhere
from core.sign_in.upstream import configuring
from core.sign_in.upstream.configuring import RouteChangedSince, SeenRoute, SignInSetup
from core.sign_in.upstream.domains import domain_routes
from core.sign_in.upstream.domains.domain_routes import DomainRoute, DomainRoutedAlready, RouteUnknown
from core.sign_in.upstream.revocation import moves
from entrypoints.pages.console.frame import (
    ConsoleListQuery,
    Program,
    after,
    console_page,
    opened,
    page_of,
)
from entrypoints.pages.console.lists import ways
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()
DOMAINS: Final = "/app/organizations/:org_slug/sign-in/mail-domains"
DOMAIN: Final = f"{DOMAINS}/:route_id"
# Fewer than elsewhere, because the page also lists all connections to choose from.
DOMAINS_SHOWN: Final = 20


class MailDomainClaimForm(ProtectedForm, kw_only=True):
    """The mail domain to claim, and the connection by which its addresses sign in."""

    domain: str = ""
    provider_id: str = ""


class SeenRouteForm(ProtectedForm, kw_only=True):
    """What is done to a mail domain, and what the page has shown."""

    seen_provider_id: str = ""
    seen_enforced: str = ""

    @property
    def seen(self) -> SeenRoute:
        """What the page has shown."""
        return SeenRoute(connection_id=self.seen_provider_id, enforced=self.seen_enforced == "yes")


class RoutingForm(SeenRouteForm, kw_only=True):
    """By which connection addresses sign in, and whether in no other way."""

    provider_id: str = ""
    enforced: str = ""


@routes.get(DOMAINS)
@in_console(Operation.DOMAIN_ROUTES_READ)
async def show_mail_domains(
    call: Call,
    org_slug: str,
    *,
    query: ConsoleListQuery | None = None,
    form: MailDomainClaimForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the mail domains of an organization by a part of their name, and the form that claims one."""
    standing, found = await opened(call, org_slug, Operation.DOMAIN_ROUTES_READ, configuring.overview)
    query = query or ConsoleListQuery()
    page = f"{page_of(org_slug)}/sign-in/mail-domains"
    part = query.search.strip().lower()
    matching = sorted((one for one in found.domains if part in one.domain), key=lambda one: one.domain)
    rest = [one for one in matching if one.domain > query.after]
    shown = rest[:DOMAINS_SHOWN]
    return console_page(
        call,
        "sign_in/upstream/domains/domain_routes.html",
        standing,
        program=Program("domain_routes_list_domain_routes", org_slug),
        lacks_change=standing.lacks(Operation.DOMAIN_ROUTES_CHANGE),
        done=query.done,
        refusal=refusal,
        problems=problems_of(refusal),
        query=query,
        shown=shown,
        total=len(matching),
        names=_names(found),
        connections=_choices(found),
        typed=form or MailDomainClaimForm(),
        page=page,
        overview=f"{page_of(org_slug)}/sign-in",
        **ways(page, query.kept, after=query.after, following=shown[-1].domain if len(rest) > DOMAINS_SHOWN else None),
    )


@routes.post(DOMAINS, refuses=(BadRequest, Conflict))
@in_console(Operation.DOMAIN_ROUTES_CHANGE)
@shows_again(show_mail_domains, BadRequest, Conflict)
async def claim_mail_domain(call: Call, org_slug: str, form: MailDomainClaimForm) -> PageOrRedirect:
    """Claim a mail domain; programs use `POST /api/organizations/:slug/domain-routes`."""
    await call.read(configuring.overview, org_slug, Operation.DOMAIN_ROUTES_CHANGE)
    connection_id = _connection_id(form.provider_id)
    try:
        made = await call.transact(domain_routes.create, org_slug, form.domain, connection_id, enforced=False)
    except DomainRoutedAlready:
        raise BadRequest.of_field("domain", "This mail domain is claimed here already. Search for it above.") from None
    return after(_page_of(org_slug, made.id), "mail-domain-claimed")


async def _page(
    call: Call,
    org_slug: str,
    route_id: UUID,
    *,
    query: DoneQuery | None = None,
    form: ProtectedForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    standing, found = await opened(call, org_slug, Operation.DOMAIN_ROUTES_READ, configuring.overview)
    route = _found(found, route_id)
    sent = form if isinstance(form, RoutingForm) else None
    effects = await call.read(moves.of_route, org_slug, route_id)
    state = next((one for one in found.connections if one.connection.id == route.provider_id), None)
    return console_page(
        call,
        "sign_in/upstream/domains/domain_routes_one.html",
        standing,
        program=Program("domain_routes_change_domain_route", org_slug, route_id, body={"enforced": route.enforced}),
        lacks_change=standing.lacks(Operation.DOMAIN_ROUTES_CHANGE),
        done=query.done if query is not None else "",
        refusal=refusal,
        route=route,
        state=state,
        effects=effects,
        connections=_choices(found),
        chosen=sent.provider_id if sent is not None else str(route.provider_id),
        enforced=sent.enforced == "on" if sent is not None else route.enforced,
        page=_page_of(org_slug, route_id),
        list_page=f"{page_of(org_slug)}/sign-in/mail-domains",
    )


@routes.get(DOMAIN, refuses=(RouteUnknown,))
@in_console(Operation.DOMAIN_ROUTES_READ)
async def show_mail_domain(call: Call, org_slug: str, route_id: UUID, query: DoneQuery) -> Page:
    """Show a mail domain with its TXT record, and by which connection its addresses sign in."""
    page = await _page(call, org_slug, route_id, query=query)
    await recent_for_form(call, if_acting=False)
    return page


@routes.post(DOMAIN, refuses=(BadRequest, RouteUnknown, RouteChangedSince))
@in_console(Operation.DOMAIN_ROUTES_CHANGE)
@shows_again(_page, BadRequest, RouteChangedSince)
async def change_mail_domain(call: Call, org_slug: str, route_id: UUID, form: RoutingForm) -> PageOrRedirect:
    """Change the connection of a mail domain, and whether it is enforced; programs use `PATCH …/domain-routes/:id`."""
    _found(await call.read(configuring.overview, org_slug, Operation.DOMAIN_ROUTES_CHANGE), route_id)
    await recent(call, page=_page_of(org_slug, route_id))
    await call.transact(
        configuring.change_route,
        org_slug,
        route_id,
        connection_id=_connection_id(form.provider_id),
        enforced=form.enforced == "on",
        seen=form.seen,
    )
    return after(_page_of(org_slug, route_id), "mail-domain-saved")


@routes.post(
    f"{DOMAIN}/check", refuses=(RouteUnknown, DomainUnproved, DomainUnanswered, DomainVerifiedElsewhere, BadRequest)
)
@in_console(Operation.DOMAIN_ROUTES_CHANGE)
@shows_again(_page, BadRequest, DomainUnproved, DomainUnanswered, DomainVerifiedElsewhere)
async def check_mail_domain(call: Call, org_slug: str, route_id: UUID) -> PageOrRedirect:
    """Ask the name servers of a mail domain for its TXT record; programs use `POST …/domain-routes/:id/verify`."""
    claim = await call.read(domain_routes.find_to_verify, org_slug, route_id)
    records = await call.installation.resolver.txt_records(claim.proof.record_name)
    await call.transact(domain_routes.verify, org_slug, route_id, records)
    return after(_page_of(org_slug, route_id), "mail-domain-verified")


async def _removal_page(call: Call, org_slug: str, route_id: UUID, *, refusal: Refusal | None = None) -> Page:
    standing, found = await opened(call, org_slug, Operation.DOMAIN_ROUTES_CHANGE, configuring.overview)
    route = _found(found, route_id)
    return console_page(
        call,
        "sign_in/upstream/domains/domain_routes_removal.html",
        standing,
        program=Program("domain_routes_delete_domain_route", org_slug, route_id),
        refusal=refusal,
        route=route,
        name=_names(found).get(route.provider_id, ""),
        page=_page_of(org_slug, route_id),
    )


@routes.get(f"{DOMAIN}/remove", refuses=(RouteUnknown,))
@in_console(Operation.DOMAIN_ROUTES_CHANGE)
async def ask_to_remove_mail_domain(call: Call, org_slug: str, route_id: UUID) -> Page:
    """Show what ends when a mail domain is given up."""
    page = await _removal_page(call, org_slug, route_id)
    await recent_for_form(call)
    return page


@routes.post(f"{DOMAIN}/remove", refuses=(RouteUnknown, RouteChangedSince))
@in_console(Operation.DOMAIN_ROUTES_CHANGE)
@shows_again(_removal_page, RouteChangedSince)
async def remove_mail_domain(call: Call, org_slug: str, route_id: UUID, form: SeenRouteForm) -> PageOrRedirect:
    """Give a mail domain up; programs use `DELETE /api/organizations/:slug/domain-routes/:route_id`."""
    _found(await call.read(configuring.overview, org_slug, Operation.DOMAIN_ROUTES_CHANGE), route_id)
    await recent(call, page=f"{_page_of(org_slug, route_id)}/remove")
    await call.transact(configuring.remove_route, org_slug, route_id, seen=form.seen)
    return after(f"{page_of(org_slug)}/sign-in/mail-domains", "mail-domain-removed")


def _found(setup: SignInSetup, route_id: UUID) -> DomainRoute:
    found = next((one for one in setup.domains if one.id == route_id), None)
    if found is None:
        raise RouteUnknown
    return found


def _names(setup: SignInSetup) -> dict[UUID, str]:
    return {one.connection.id: one.connection.name for one in setup.connections}


def _choices(setup: SignInSetup) -> list[tuple[str, str]]:
    return [(str(one.connection.id), one.connection.name) for one in setup.connections]


def _connection_id(typed: str) -> UUID:
    """Return the connection that was chosen; raise `BadRequest` without one."""
    try:
        return UUID(typed)
    except ValueError:
        raise BadRequest.of_field(
            "provider_id", "Choose a connection. Without one, connect a provider first."
        ) from None


def _page_of(slug: str, route_id: UUID) -> str:
    return f"{page_of(slug)}/sign-in/mail-domains/{route_id}"
