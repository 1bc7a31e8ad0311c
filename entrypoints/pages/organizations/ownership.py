"""The page that transfers the ownership of an organization: it finds the new owner, and shows what changes."""

from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.errors import BadRequest, Refusal
from core.organizations import ownership
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.organizations.members import MemberUnknown
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

OWNERSHIP: Final = "/app/organizations/:org_slug/settings/ownership"
# How many members a search shows; a longer part of the address finds fewer.
CANDIDATES_SHOWN: Final = 10


class CandidateQuery(Query, kw_only=True):
    """Who is searched, and who was chosen."""

    search: Annotated[str, msgspec.Meta(description="A part of the address.", max_length=254)] = ""
    to: Annotated[UUID | None, msgspec.Meta(description="The member who is to become the owner.")] = None


class TransferForm(ProtectedForm, kw_only=True):
    """The member who becomes the owner."""

    new_owner_user_id: str = ""

    def new_owner(self) -> UUID:
        """Return the id of the member; raise `BadRequest` for a damaged one."""
        try:
            return UUID(self.new_owner_user_id)
        except ValueError:
            raise BadRequest.of_field("new_owner_user_id", "Choose a member that the search has found.") from None


async def _page(
    call: Call, org_slug: str, *, query: CandidateQuery | None = None, refusal: Refusal | None = None
) -> Page:
    query = query or CandidateQuery()
    operation = Operation.OWNERSHIP_TRANSFER
    standing, found = await opened(
        call, org_slug, operation, ownership.candidates, search=query.search, limit=CANDIDATES_SHOWN
    )
    chosen = await call.read(ownership.show_candidate, org_slug, query.to) if query.to is not None else None
    return console_page(
        call,
        "organizations/ownership.html",
        standing,
        program=Program(
            "ownership_transfer_ownership",
            org_slug,
            body={"new_owner_user_id": str(query.to) if query.to is not None else "$ID"},
        ),
        refusal=refusal,
        query=query,
        found=found,
        chosen=chosen,
        page=f"{page_of(org_slug)}/settings/ownership",
        back=f"{page_of(org_slug)}/settings",
        people=f"{page_of(org_slug)}/people/invited",
    )


@routes.get(OWNERSHIP, refuses=(MemberUnknown,))
@in_console(Operation.OWNERSHIP_TRANSFER)
async def ask_to_transfer_ownership(call: Call, org_slug: str, query: CandidateQuery) -> PageOrRedirect:
    """Show who could become the owner, and of the chosen one what changes."""
    shown = await _page(call, org_slug, query=query)
    await recent_for_form(call)
    return shown


@routes.post(OWNERSHIP, refuses=(BadRequest,))
@in_console(Operation.OWNERSHIP_TRANSFER)
@shows_again(_page, BadRequest)
async def transfer_ownership_for_good(call: Call, org_slug: str, form: TransferForm) -> PageOrRedirect:
    """Make another member the owner; programs use `POST /api/organizations/:slug/transfer-ownership`."""
    await call.read(authorize, org_slug, Operation.OWNERSHIP_TRANSFER)
    await recent(call)
    await call.transact(ownership.transfer, org_slug, form.new_owner())
    return after(f"{page_of(org_slug)}/settings", "ownership-transferred")
