"""The page of the personal data of a user, for platform owners: the export, and anonymizing for good."""

from typing import Annotated
from uuid import UUID

from core.accounts.users import UserUnknown
from core.errors import BadRequest, Forbidden, Refusal
from core.platform import personal_data
from entrypoints.pages.console.csv_files import JsonFile, json_file
from entrypoints.pages.console.frame import Program, after, console_page, opened_for_platform
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages, shows_again
from entrypoints.pages.platform.users import USER, USERS
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import platform_owner_in_console
from entrypoints.web.serving.answering.answers import AnswerStatus
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()


class AnonymizationForm(ProtectedForm, kw_only=True):
    """The address of the account to anonymize, typed."""

    email: str = ""


async def _page(
    call: Call, user_id: UUID, *, form: AnonymizationForm | None = None, refusal: Refusal | None = None
) -> Page:
    standing, person = await opened_for_platform(call, personal_data.show, user_id)
    return console_page(
        call,
        "platform/personal_data.html",
        standing,
        program=Program("privacy_forget", user_id),
        refusal=refusal,
        person=person,
        email=form.email if form is not None else "",
        page=f"{USERS}/{user_id}",
    )


@routes.get(f"{USER}/data", refuses=(UserUnknown,))
@platform_owner_in_console
async def show_personal_data(call: Call, user_id: UUID) -> Page:
    """Show what can be done with the personal data of a user, and what ends with it."""
    await recent_for_form(call)
    return await _page(call, user_id)


@routes.post(f"{USER}/data/download", refuses=(UserUnknown,))
@platform_owner_in_console
async def export_personal_data(call: Call, user_id: UUID) -> JsonFile | Annotated[None, AnswerStatus(303)]:
    """Download the data of a user as a JSON file; programs use `GET /api/privacy/export/:user_id`."""
    await recent(call, page=f"{USERS}/{user_id}/data")
    package = await call.transact(personal_data.export, user_id)
    return json_file(f"user-{user_id}.json", package)


@routes.post(f"{USER}/data/anonymize", refuses=(UserUnknown, BadRequest, Forbidden))
@platform_owner_in_console
@shows_again(_page, BadRequest)
async def anonymize_user(call: Call, user_id: UUID, form: AnonymizationForm) -> PageOrRedirect:
    """Anonymize a user for good; programs use `DELETE /api/privacy/forget/:user_id`."""
    await recent(call, page=f"{USERS}/{user_id}/data")
    await call.transact(personal_data.anonymize, user_id, typed=form.email)
    return after(f"{USERS}/{user_id}", "anonymized")
