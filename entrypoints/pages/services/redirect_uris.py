"""The forms for the redirect URIs of a service, and the page that adds one that was refused."""

from typing import Final

from core.errors import BadRequest, Refusal
from core.organizations.access import Operation
from core.services import redirect_changes
from core.services.management import ServiceChanged
from core.services.redirect_changes import NoRefusedRedirect, RedirectUriGone
from core.services.services import ServiceUnknown
from entrypoints.pages.console.frame import Program, after
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.connecting import connect_page
from entrypoints.pages.services.standing import opened_service, page_of_service, service_page
from entrypoints.shared.services.outside import outside
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

REDIRECT_URIS: Final = "/app/organizations/:org_slug/services/:service_slug/redirect-uris"
REFUSED: Final = f"{REDIRECT_URIS}/refused"


class RedirectUriForm(ProtectedForm, kw_only=True):
    """A redirect URI, and the version of the service that the page has shown."""

    redirect_uri: str = ""
    seen_version: str = ""


class RefusedRedirectQuery(Query, kw_only=True):
    """The refused redirect URI that the page is about."""

    redirect_uri: str = ""


class RefusedRedirectForm(ProtectedForm, kw_only=True):
    """The refused redirect URI that the page has shown."""

    seen_redirect_uri: str = ""


async def _page(
    call: Call, org_slug: str, service_slug: str, *, form: RedirectUriForm | None = None, refusal: Refusal | None = None
) -> Page:
    typed = form.redirect_uri if form is not None else ""
    return await connect_page(call, org_slug, service_slug, refusal=refusal, typed=typed)


async def _kept_page(call: Call, org_slug: str, service_slug: str, *, refusal: Refusal | None = None) -> Page:
    return await connect_page(call, org_slug, service_slug, refusal=refusal)


@routes.get(REFUSED, refuses=(ServiceUnknown, NoRefusedRedirect))
@on_service_in_console(Operation.SERVICE_UPDATE)
async def ask_about_refused_redirect(call: Call, org_slug: str, service_slug: str, query: RefusedRedirectQuery) -> Page:
    """Show a redirect URI that was refused, the last one if none is named, and ask whether it is to be added."""
    at, refused = await opened_service(
        call,
        *(org_slug, service_slug, Operation.SERVICE_UPDATE),
        redirect_changes.show_refused,
        query.redirect_uri or None,
    )
    wanted = [*at.service.redirect_uris, refused.redirect_uri]
    return service_page(
        call,
        "services/redirect_uris.html",
        at,
        program=Program("services_change_service", org_slug, service_slug, body={"redirect_uris": wanted}),
        refused=refused,
    )


@routes.post(REDIRECT_URIS, refuses=(ServiceUnknown, ServiceChanged, BadRequest))
@on_service_in_console(Operation.SERVICE_UPDATE)
@shows_again(_page, BadRequest, ServiceChanged)
async def add_redirect_uri(call: Call, org_slug: str, service_slug: str, form: RedirectUriForm) -> PageOrRedirect:
    """Add a redirect URI to a service; programs use `PATCH /api/organizations/:slug/services/:service_slug`."""
    await call.transact(
        redirect_changes.add,
        *(org_slug, service_slug, form.redirect_uri),
        seen=form.seen_version,
        outside=outside(call),
    )
    return after(page_of_service(org_slug, service_slug), "redirect-added")


@routes.post(f"{REDIRECT_URIS}/remove", refuses=(ServiceUnknown, ServiceChanged, RedirectUriGone))
@on_service_in_console(Operation.SERVICE_UPDATE)
@shows_again(_kept_page, BadRequest, ServiceChanged, RedirectUriGone)
async def remove_redirect_uri(call: Call, org_slug: str, service_slug: str, form: RedirectUriForm) -> PageOrRedirect:
    """Remove a redirect URI of a service; programs use `PATCH /api/organizations/:slug/services/:service_slug`."""
    await call.transact(
        redirect_changes.remove,
        *(org_slug, service_slug, form.redirect_uri),
        seen=form.seen_version,
        outside=outside(call),
    )
    return after(page_of_service(org_slug, service_slug), "redirect-removed")


@routes.post(REFUSED, refuses=(ServiceUnknown, RedirectUriGone, NoRefusedRedirect, BadRequest))
@on_service_in_console(Operation.SERVICE_UPDATE)
@shows_again(_kept_page, BadRequest, RedirectUriGone, ServiceChanged)
async def add_refused_redirect(
    call: Call, org_slug: str, service_slug: str, form: RefusedRedirectForm
) -> PageOrRedirect:
    """Add a redirect URI that was refused; programs use `PATCH /api/organizations/:slug/services/:slug`."""
    await call.transact(
        redirect_changes.add_refused, org_slug, service_slug, form.seen_redirect_uri, outside=outside(call)
    )
    return after(page_of_service(org_slug, service_slug), "redirect-added")


@routes.post(f"{REFUSED}/forget", refuses=(ServiceUnknown, RedirectUriGone))
@on_service_in_console(Operation.SERVICE_UPDATE)
@shows_again(_kept_page, RedirectUriGone)
async def forget_refused_redirect(
    call: Call, org_slug: str, service_slug: str, form: RefusedRedirectForm
) -> PageOrRedirect:
    """Forget a redirect URI that was refused."""
    await call.transact(redirect_changes.forget, org_slug, service_slug, form.seen_redirect_uri)
    return after(page_of_service(org_slug, service_slug), "redirect-forgotten")
