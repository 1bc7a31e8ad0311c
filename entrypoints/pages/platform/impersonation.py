"""Acting as a user in the browser of a platform owner: the page that begins it, and the button that stops it."""

from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.accounts.users import UserUnknown
from core.errors import BadRequest, Forbidden, NotFound, OrganizationNotActive, Refusal
from core.ids import id_or_none
from core.limits import IMPERSONATION_LIFETIME_MAX
from core.organizations.choices import Choice, Choices
from core.platform import impersonation
from core.platform.impersonation import ImpersonatedUserChanged, ImpersonationTarget, TargetIsPlatformOwner
from core.platform.user_records import UserRecord
from core.platform.users import ORGANIZATIONS_SHOWN_MAX
from core.rate_limits import RateLimit
from entrypoints.pages.console.frame import Program, after, console_page, opened_for_platform, route_of
from entrypoints.pages.console.frame import page_of as page_of_organization
from entrypoints.pages.console.pickers import picker
from entrypoints.pages.frame.home import HOME
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages, shows_again
from entrypoints.pages.platform.users import USER, USERS, can_be_impersonated
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission import impersonating
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import in_own_browser, platform_owner_in_console
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

IMPERSONATION: Final = f"{USER}/impersonation"


class ImpersonationForm(ProtectedForm, kw_only=True):
    """Why to act as the user, where, and the address that the page has shown."""

    reason: str = ""
    org_slug: str = ""
    seen_email: str = ""


class ImpersonationQuery(Query, kw_only=True):
    """Where the form is to begin."""

    org_slug: Annotated[
        str, msgspec.Meta(description="The slug of the organization that is filled in.", max_length=50)
    ] = ""


class StopForm(ProtectedForm, kw_only=True):
    """As which user the page of the button was shown; empty where that is over."""

    user_id: str = ""


async def _page(
    call: Call, user_id: UUID, *, form: ImpersonationForm | None = None, refusal: Refusal | None = None
) -> Page:
    standing, record = await opened_for_platform(call, impersonation.show_target, user_id)
    form = form or ImpersonationForm()
    operation, reason = "impersonation_impersonate", form.reason or "Invoices are missing (ticket 4711)"
    # A browser signs in to no application while it acts as a user, so that a program does this.
    at_application = Program(
        operation,
        user_id,
        body={"reason": reason, "org_slug": "acme", "service_slug": "shop", "customer": "globex"},
    )
    return console_page(
        call,
        "platform/impersonation.html",
        standing,
        program=Program(operation, user_id, body={"reason": reason}),
        at_application=at_application.curl(route_of(call, operation), call.installation.settings.base_url),
        # A refused field has its problem beside it, and needs no notice.
        refusal=refusal,
        record=record,
        is_possible=can_be_impersonated(record.user),
        minutes=IMPERSONATION_LIFETIME_MAX.seconds // 60,
        organizations=len(record.organizations),
        organization=picker("org_slug", ("", _organizations(record)), chosen=form.org_slug.strip(), keeps=True),
        form=form,
        problems=problems_of(refusal),
        page=f"{USERS}/{user_id}",
    )


def _organizations(record: UserRecord) -> Choices | None:
    """Return the organizations of the account; None where the record may not have all of them."""
    if len(record.organizations) >= ORGANIZATIONS_SHOWN_MAX:
        return None
    found = [Choice(value=one.slug, name=one.name, about=one.slug) for one in record.organizations]
    return Choices(found=found, is_whole=True)


@routes.get(IMPERSONATION, refuses=(UserUnknown,))
@platform_owner_in_console
async def ask_to_impersonate(call: Call, user_id: UUID, query: ImpersonationQuery) -> Page:
    """Show what it means to act as a user, and ask for the reason."""
    await recent_for_form(call)
    return await _page(call, user_id, form=ImpersonationForm(org_slug=query.org_slug))


@routes.post(
    IMPERSONATION,
    limits=(RateLimit.IMPERSONATION,),
    refuses=(
        *(BadRequest, Forbidden, ImpersonatedUserChanged, NotFound, OrganizationNotActive),
        *(TargetIsPlatformOwner, UserUnknown),
    ),
)
@platform_owner_in_console
@shows_again(_page, BadRequest, ImpersonatedUserChanged, NotFound, OrganizationNotActive, but_not=(UserUnknown,))
async def impersonate(call: Call, user_id: UUID, form: ImpersonationForm) -> PageOrRedirect:
    """Act as a user in this browser; programs use `POST /api/platform/impersonate/:user_id`."""
    await recent(call, page=f"{USERS}/{user_id}/impersonation")
    wanted = ImpersonationTarget(reason=form.reason, organization_slug=form.org_slug.strip() or None)
    cookie = await call.transact(
        impersonation.start_in_browser, user_id, wanted, call.in_browser, seen_email=form.seen_email
    )
    impersonating.begin(call, cookie)
    # The console of the organization, or else the start page, as the user sees it.
    return see_other(page_of_organization(wanted.organization_slug) if wanted.organization_slug else HOME)


@routes.post(impersonating.STOP)
@in_own_browser
async def stop_impersonating(call: Call, form: StopForm) -> PageOrRedirect:
    """Stop acting as another user, and go on as the platform owner; nothing happens when it has ended already."""
    # The answer takes the cookie away whatever becomes of the rest, so that no one is kept from their own pages.
    impersonating.end(call)
    await call.transact(impersonation.stop)
    user_id = id_or_none(form.user_id)
    return see_other(HOME) if user_id is None else after(f"{USERS}/{user_id}", "impersonation-stopped")
