"""The tab of a service with its people: who looks after it by a grant, and the way to its end users."""

from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.errors import BadRequest, Refusal
from core.organizations.access import Operation
from core.organizations.members import MemberUnknown
from core.organizations.relations import ServiceRelation
from core.services import grants
from core.services.grants import GrantChanged, GrantUnknown, ServiceGrant
from core.services.services import ServiceUnknown
from core.services.standing import ServiceStanding
from entrypoints.pages.console.frame import ROWS_SHOWN, ConsoleListQuery, Program, after, opened, page_of, with_query
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.standing import page_of_service, service_page
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

GRANTS: Final = "/app/organizations/:org_slug/services/:service_slug/grants"
GRANT: Final = f"{GRANTS}/:user_id"
TAB: Final = "/grants"
# What each grant allows, in the words of the page.
RELATIONS: Final = (
    (ServiceRelation.VIEWER.value, marked("Sees the service")),
    (ServiceRelation.MANAGER.value, marked("Manages the service")),
)


class GrantsQuery(ConsoleListQuery, kw_only=True):
    """Which grants to show, and the member to grant access to."""

    find: Annotated[str, msgspec.Meta(description="A part of the address of the members to find.", max_length=254)] = ""

    @property
    def kept(self) -> dict[str, str]:
        """The filters of the grants, as the fields of an address."""
        return {"search": self.search}


GIVEN: Final = ConsoleList[ServiceGrant](path=GRANTS, called="grants")


class GrantForm(ProtectedForm, kw_only=True):
    """What a member may do with the service, and what the page has shown."""

    relation: str = ServiceRelation.VIEWER.value
    seen_relation: str = ""


class GrantRevocationForm(ProtectedForm, kw_only=True):
    """The access that the page has shown."""

    seen_relation: str = ""


@routes.get(GRANTS, refuses=(ServiceUnknown,))
@in_console(Operation.SERVICE_GRANTS_CHANGE)
async def show_grants(
    call: Call, org_slug: str, service_slug: str, *, query: GrantsQuery | None = None, refusal: Refusal | None = None
) -> Page:
    """Show who looks after a service by a grant, and how many people use it."""
    query = query or GrantsQuery()
    # A grant on the service does not open this, so the reader has the standing of their role.
    reader, found = await opened(
        call,
        org_slug,
        Operation.SERVICE_GRANTS_CHANGE,
        grants.show_people,
        service_slug,
        search=query.search,
        find=query.find,
        after=query.position,
        limit=ROWS_SHOWN,
    )
    return service_page(
        call,
        "services/grants.html",
        ServiceStanding(reader=reader, service=found.service, granted=frozenset()),
        program=Program("service_grants_list_grants", org_slug, service_slug),
        done=query.done,
        refusal=refusal,
        **GIVEN.values(query, found.grants, org_slug, service_slug),
        people=found,
        relation_names=dict(RELATIONS),
        lacks_giving=reader.lacks_lasting(Operation.SERVICE_GRANTS_CHANGE),
        lacks_members=reader.lacks(Operation.MEMBERS_LIST),
        lacks_end_users=reader.lacks(Operation.END_USERS_READ),
        end_users=with_query(f"{page_of(org_slug)}/people/end-users", service=service_slug),
    )


@routes.get(GRANT, refuses=(ServiceUnknown, MemberUnknown))
@in_console(Operation.SERVICE_GRANTS_CHANGE)
async def show_access(
    call: Call,
    org_slug: str,
    service_slug: str,
    user_id: UUID,
    *,
    form: GrantForm | GrantRevocationForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show what a member may do with a service by a grant."""
    reader, found = await opened(
        call, org_slug, Operation.SERVICE_GRANTS_CHANGE, grants.show_access, service_slug, user_id
    )
    relation = found.relation.value if found.relation is not None else ""
    return service_page(
        call,
        "services/grants_one.html",
        ServiceStanding(reader=reader, service=found.service, granted=frozenset()),
        program=Program(
            "service_grants_grant",
            org_slug,
            service_slug,
            user_id,
            body={"relation": relation or ServiceRelation.VIEWER.value},
        ),
        refusal=refusal,
        lacks_giving=reader.lacks_lasting(Operation.SERVICE_GRANTS_CHANGE),
        access=found,
        present=relation,
        chosen=form.relation if isinstance(form, GrantForm) else relation,
        relations=RELATIONS,
        relation_names=dict(RELATIONS),
        grants=page_of_service(org_slug, service_slug) + TAB,
    )


@routes.post(GRANT, refuses=(ServiceUnknown, MemberUnknown, GrantChanged))
@in_console(Operation.SERVICE_GRANTS_CHANGE)
@shows_again(show_grants, MemberUnknown)
@shows_again(show_access, GrantChanged, BadRequest)
async def grant_access(call: Call, org_slug: str, service_slug: str, user_id: UUID, form: GrantForm) -> PageOrRedirect:
    """Grant a member access to a service, or change it; programs use `PUT …/:service_slug/grants/:user_id`."""
    if form.relation not in set(ServiceRelation):
        raise BadRequest.of_field("relation", "Choose one of these.")
    await call.transact(
        grants.grant,
        org_slug,
        service_slug,
        user_id,
        ServiceRelation(form.relation),
        seen_relation=form.seen_relation,
    )
    return after(page_of_service(org_slug, service_slug) + TAB, "access-granted")


@routes.post(f"{GRANT}/revoke", refuses=(ServiceUnknown, GrantUnknown, GrantChanged))
@in_console(Operation.SERVICE_GRANTS_CHANGE)
@shows_again(show_grants, GrantUnknown)
@shows_again(show_access, GrantChanged)
async def revoke_access(
    call: Call, org_slug: str, service_slug: str, user_id: UUID, form: GrantRevocationForm
) -> PageOrRedirect:
    """Take the access of a member to a service away; programs use `DELETE …/:service_slug/grants/:user_id`."""
    await call.transact(grants.revoke, org_slug, service_slug, user_id, seen_relation=form.seen_relation)
    return after(page_of_service(org_slug, service_slug) + TAB, "access-revoked")
