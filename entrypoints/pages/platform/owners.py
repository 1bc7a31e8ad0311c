"""The pages of the platform's owners and its support: who they are, appointing them by address, and demoting them."""

from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.accounts.users import UserUnknown
from core.errors import BadRequest, Conflict, Forbidden, Refusal
from core.limits import EMAIL_CHARACTERS_MAX
from core.platform import owners, support
from core.platform.owners import CannotDemoteYourself, NotAPlatformOwner
from core.platform.support import NotPlatformSupport
from entrypoints.pages.console.frame import PLATFORM, Program, after, console_page, opened_for_platform, with_query
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.refusals import problem_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages, shows_again
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import platform_owner_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

OWNERS: Final = f"{PLATFORM}/owners"
SUPPORT: Final = f"{OWNERS}/support"


class OwnersQuery(DoneQuery, kw_only=True):
    """What was just done, or the addresses that were typed before the reader had to sign in again."""

    owner: Annotated[
        str, msgspec.Meta(description="The address to appoint as an owner.", max_length=EMAIL_CHARACTERS_MAX)
    ] = ""
    support: Annotated[
        str, msgspec.Meta(description="The address to appoint to the support.", max_length=EMAIL_CHARACTERS_MAX)
    ] = ""


class OwnerForm(ProtectedForm, kw_only=True):
    """The address of the person to appoint as a platform owner."""

    owner: str = ""


class SupportForm(ProtectedForm, kw_only=True):
    """The address of the person to appoint to the platform's support."""

    support: str = ""


class DemotionForm(ProtectedForm, kw_only=True):
    """Why a person is demoted."""

    reason: str = ""


@routes.get(OWNERS)
@platform_owner_in_console
async def show_owners(
    call: Call,
    *,
    query: OwnersQuery | None = None,
    form: OwnerForm | SupportForm | DemotionForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the platform owners and the people of the platform's support, and what protects their accounts."""
    query = query or OwnersQuery()
    standing, (present, people) = await opened_for_platform(call, support.list_staff)
    problem = problem_of(refusal)
    return console_page(
        call,
        "platform/owners.html",
        standing,
        program=Program("platform_owners_list_owners"),
        done=query.done,
        refusal=refusal,
        owners=present,
        support=people,
        typed_owner=form.owner if isinstance(form, OwnerForm) else query.owner,
        typed_support=form.support if isinstance(form, SupportForm) else query.support,
        is_filled_in=bool(query.owner or query.support),
        owner_problem=problem if isinstance(form, OwnerForm) else "",
        support_problem=problem if isinstance(form, SupportForm) else "",
    )


@routes.post(OWNERS, refuses=(UserUnknown, Conflict))
@platform_owner_in_console
@shows_again(show_owners, BadRequest, UserUnknown, Conflict)
async def appoint_owner(call: Call, form: OwnerForm) -> PageOrRedirect:
    """Appoint a platform owner by their address; programs use `POST /api/platform/owners`."""
    await recent(call, page=with_query(OWNERS, owner=form.owner[:EMAIL_CHARACTERS_MAX]))
    await call.transact(owners.promote_by_address, form.owner)
    return after(OWNERS, "owner-appointed")


@routes.post(SUPPORT, refuses=(UserUnknown, Conflict))
@platform_owner_in_console
@shows_again(show_owners, BadRequest, UserUnknown, Conflict)
async def appoint_supporter(call: Call, form: SupportForm) -> PageOrRedirect:
    """Appoint a person to the platform's support by their address; programs use `POST /api/platform/support`."""
    await recent(call, page=with_query(OWNERS, support=form.support[:EMAIL_CHARACTERS_MAX]))
    await call.transact(support.appoint, form.support)
    return after(OWNERS, "support-appointed")


async def _owner_demotion(
    call: Call, user_id: UUID, *, form: DemotionForm | None = None, refusal: Refusal | None = None
) -> Page:
    standing, demotion = await opened_for_platform(call, owners.show_demotion, user_id)
    return console_page(
        call,
        "platform/owners_demotion.html",
        standing,
        program=Program("platform_owners_demote", user_id),
        refusal=refusal,
        person=demotion.owner,
        remaining=demotion.remaining,
        reason=form.reason if form is not None else "",
        page=f"{OWNERS}/{user_id}/demote",
    )


@routes.get(f"{OWNERS}/:user_id/demote", refuses=(CannotDemoteYourself, NotAPlatformOwner))
@platform_owner_in_console
@shows_again(show_owners, CannotDemoteYourself, NotAPlatformOwner)
async def ask_to_demote_owner(call: Call, user_id: UUID) -> Page:
    """Show what it means to demote a platform owner."""
    await recent_for_form(call)
    return await _owner_demotion(call, user_id)


@routes.post(f"{OWNERS}/:user_id/demote", refuses=(CannotDemoteYourself, NotAPlatformOwner, Forbidden))
@platform_owner_in_console
@shows_again(show_owners, CannotDemoteYourself, NotAPlatformOwner)
@shows_again(_owner_demotion, BadRequest, but_not=(CannotDemoteYourself,))
async def demote_owner(call: Call, user_id: UUID, form: DemotionForm) -> PageOrRedirect:
    """Demote a platform owner; programs use `DELETE /api/platform/owners/:user_id`."""
    await recent(call, page=f"{OWNERS}/{user_id}/demote")
    await call.transact(owners.demote, user_id, form.reason)
    return after(OWNERS, "owner-demoted")


async def _support_demotion(
    call: Call, user_id: UUID, *, form: DemotionForm | None = None, refusal: Refusal | None = None
) -> Page:
    standing, person = await opened_for_platform(call, support.find, user_id)
    return console_page(
        call,
        "platform/owners_demotion.html",
        standing,
        program=Program("platform_support_demote_support", user_id),
        refusal=refusal,
        person=person,
        remaining=None,
        reason=form.reason if form is not None else "",
        page=f"{SUPPORT}/{user_id}/demote",
    )


@routes.get(f"{SUPPORT}/:user_id/demote", refuses=(NotPlatformSupport,))
@platform_owner_in_console
@shows_again(show_owners, NotPlatformSupport)
async def ask_to_demote_supporter(call: Call, user_id: UUID) -> Page:
    """Show what it means to end an appointment to the platform's support."""
    await recent_for_form(call)
    return await _support_demotion(call, user_id)


@routes.post(f"{SUPPORT}/:user_id/demote", refuses=(NotPlatformSupport, Forbidden))
@platform_owner_in_console
@shows_again(show_owners, NotPlatformSupport)
@shows_again(_support_demotion, BadRequest)
async def demote_supporter(call: Call, user_id: UUID, form: DemotionForm) -> PageOrRedirect:
    """End an appointment to the platform's support; programs use `DELETE /api/platform/support/:user_id`."""
    await recent(call, page=f"{SUPPORT}/{user_id}/demote")
    await call.transact(support.demote, user_id, form.reason)
    return after(OWNERS, "support-demoted")
