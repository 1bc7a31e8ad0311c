"""The pages of the services of an organization: the list, creating one of a kind, and how an application connects."""

from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.errors import BadRequest, Refusal
from core.organizations.access import Operation
from core.services import found_services, management
from core.services.found_services import ListedService
from core.services.management import AudienceTaken, ServiceLimitExceeded, ServiceSlugTaken
from core.services.services import Admission, ServiceFields, ServiceType, ServiceUnknown
from core.sessions.shown_secrets import ToShow
from core.text import slug_of_name
from entrypoints.pages.console.frame import (
    PagedQuery,
    Program,
    console_page,
    opened,
    page_of,
)
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.admission import chosen_admission
from entrypoints.pages.services.connecting import CREATED_FOR_CHOSEN, KINDS, TYPES, ConnectQuery, connect_page, kind_by
from entrypoints.pages.services.snippets import local_redirect_uri
from entrypoints.pages.services.standing import opened_service, page_of_service
from entrypoints.pages.sessions.shown_secrets import leading_to, shown_once
from entrypoints.shared.services.outside import outside
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent_for_form
from entrypoints.web.serving.admission.credentials import in_console, on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

SERVICES: Final = "/app/organizations/:org_slug/services"
NEW: Final = f"{SERVICES}/new"
SERVICE: Final = f"{SERVICES}/:service_slug"
# What is proposed for the call of the interface before anything is typed.
_EXAMPLE: Final = {"slug": "shop", "name": "Shop", "access": Admission.MEMBERS.value}


class ServiceSearchQuery(PagedQuery, kw_only=True):
    """Which services to show."""

    search: Annotated[str, msgspec.Meta(description="A part of the name or the slug.", max_length=100)] = ""


FOUND: Final = ConsoleList[ListedService](path=SERVICES)


class ServiceKindQuery(Query, kw_only=True):
    """The kind of application whose fields the page shows."""

    kind: Annotated[str, msgspec.Meta(description="The kind of application; the page offers the kinds.")] = ""


class NewServiceForm(ProtectedForm, kw_only=True):
    """The service to create, of a kind; `service_type` is chosen where the kind has several."""

    kind: str = ""
    name: str = ""
    slug: str = ""
    service_type: str = ""
    access: str = ""
    redirect_uri: str = ""


@routes.get(SERVICES)
@in_console(Operation.SERVICES_LIST)
async def show_services(call: Call, org_slug: str, query: ServiceSearchQuery) -> Page:
    """Show the services of an organization, by a part of their name or slug."""
    standing, found = await opened(call, org_slug, Operation.SERVICES_LIST, found_services.search, **query.rows)
    return console_page(
        call,
        "services/services.html",
        standing,
        program=Program("services_list_services", org_slug),
        done=query.done,
        **FOUND.values(query, found.rows, org_slug),
        usage=found.usage,
        users_max=found_services.USERS_COUNTED_MAX,
        kinds=KINDS,
        types=TYPES,
        lacks_creation=standing.lacks(Operation.SERVICE_CREATE),
    )


async def _new(
    call: Call,
    org_slug: str,
    *,
    query: ServiceKindQuery | None = None,
    form: NewServiceForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    standing, usage = await opened(call, org_slug, Operation.SERVICE_CREATE, found_services.usage)
    kind = kind_by(form.kind if form is not None else query.kind if query is not None else "")
    service_type = kind.types[0] if kind is not None else ServiceType.WEB
    return console_page(
        call,
        "services/services_new.html",
        standing,
        program=Program(
            "services_create_service",
            org_slug,
            body={**_EXAMPLE, "service_type": service_type.value},
        ),
        refusal=refusal,
        usage=usage,
        is_full=usage.max_services is not None and usage.current_services >= usage.max_services,
        kinds=KINDS,
        kind=kind,
        local_example=local_redirect_uri(),
        types=[(one.value, TYPES[one]) for one in kind.types] if kind is not None else [],
        form=form or NewServiceForm(),
        page=f"{page_of(org_slug)}/services",
    )


@routes.get(NEW)
@in_console(Operation.SERVICE_CREATE)
async def choose_kind(call: Call, org_slug: str, query: ServiceKindQuery) -> Page:
    """Show the kinds of applications, and of one the fields that it needs."""
    shown = await _new(call, org_slug, query=query)
    if query.kind:
        await recent_for_form(call)
    return shown


@routes.post(NEW, makes_secret=True, refuses=(BadRequest, ServiceLimitExceeded, ServiceSlugTaken, AudienceTaken))
@in_console(Operation.SERVICE_CREATE)
@shows_again(_new, BadRequest, ServiceLimitExceeded, ServiceSlugTaken)
async def create_service_of_kind(call: Call, org_slug: str, form: NewServiceForm) -> PageOrRedirect:
    """Create a service, and lead to how to connect to it with its secret; `POST /api/organizations/:slug/services`."""
    kind = kind_by(form.kind)
    if kind is None:
        raise BadRequest("Choose a kind of application first.")
    chosen = {one.value: one for one in kind.types}.get(form.service_type, kind.types[0])
    redirect_uri = form.redirect_uri.strip()
    # No person signs in to a program without a user.
    access = chosen_admission(form.access) if kind.has_users else Admission.EVERYONE
    given = ServiceFields(
        slug=form.slug.strip() or slug_of_name(form.name),
        name=form.name.strip(),
        service_type=chosen,
        access=access,
        redirect_uris=[redirect_uri] if redirect_uri else [],
    )
    others = outside(call)
    return await leading_to(
        call,
        lambda uow: management.create(uow, org_slug, given, outside=others),
        lambda created: ToShow(
            page=page_of_service(org_slug, created.service.slug),
            secrets=() if created.client_secret is None else (created.client_secret,),
        ),
        query={"done": CREATED_FOR_CHOSEN if access is Admission.ASSIGNED else "service-created"},
    )


@routes.get(SERVICE, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.SERVICE_READ)
async def show_connection(call: Call, org_slug: str, service_slug: str, query: ConnectQuery) -> Page:
    """Show how an application connects to a service: client id, endpoints, redirect URIs, recipes, programs to copy."""
    return await connect_page(call, org_slug, service_slug, query=query)


@routes.get(f"{SERVICE}/shown/:shown_id", shows_secret=True, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.SERVICE_READ)
async def show_new_secret(call: Call, org_slug: str, service_slug: str, shown_id: UUID, query: ConnectQuery) -> Page:
    """Show the same with the new secret of the service, once and in the browser that made it."""
    await opened_service(call, org_slug, service_slug, Operation.SERVICE_READ, management.read)
    shown = await shown_once(call, shown_id)
    return await connect_page(call, org_slug, service_slug, query=query, shown=shown)
