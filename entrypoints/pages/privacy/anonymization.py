"""The pages of the personal data of one person in an organization: downloading them, and removing them for good."""

from typing import Annotated, Final
from uuid import UUID

from core.accounts.users import UserUnknown
from core.errors import BadRequest, Forbidden, Refusal
from core.organizations.access import Operation
from core.privacy import anonymization
from core.privacy import export as privacy_export
from entrypoints.pages.console.csv_files import JsonFile, json_file
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.answering.answers import AnswerStatus
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

PERSONAL_DATA: Final = "/app/organizations/:org_slug/people/personal-data/:user_id"


class DataRemovalForm(ProtectedForm, kw_only=True):
    """The address of the person, typed, and what the audit log is to keep about the removal."""

    email: str = ""
    note: str = ""


@routes.get(PERSONAL_DATA, refuses=(UserUnknown, Forbidden))
@in_console(Operation.PERSONAL_DATA_EXPORT)
async def show_personal_data(call: Call, org_slug: str, user_id: UUID) -> Page:
    """Show what can be done with the data of a person."""
    standing, person = await opened(
        call, org_slug, Operation.PERSONAL_DATA_EXPORT, privacy_export.show_exported, user_id
    )
    return console_page(
        call,
        "privacy/anonymization.html",
        standing,
        program=Program("privacy_export", user_id),
        person=person,
        page=_page_of(org_slug, user_id),
        back=f"{page_of(org_slug)}/people/{'' if person.is_member else 'end-users/'}{user_id}",
    )


@routes.post(f"{PERSONAL_DATA}/download", refuses=(UserUnknown, Forbidden))
@in_console(Operation.PERSONAL_DATA_EXPORT)
async def download_personal_data(
    call: Call, org_slug: str, user_id: UUID
) -> JsonFile | Annotated[None, AnswerStatus(303)]:
    """Download what belongs to the organization's context; programs use `GET /api/privacy/export/:user_id`."""
    await recent(call, page=_page_of(org_slug, user_id))
    package = await call.transact(privacy_export.export_of_organization, org_slug, user_id)
    return json_file("personal-data.json", package)


async def _removal(
    call: Call,
    org_slug: str,
    user_id: UUID,
    *,
    form: DataRemovalForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    standing, removal = await opened(
        call, org_slug, Operation.PERSONAL_DATA_REMOVE, anonymization.show_removal, user_id
    )
    page = _page_of(org_slug, user_id)
    return console_page(
        call,
        "privacy/anonymization_removal.html",
        standing,
        program=Program("privacy_forget", user_id),
        refusal=refusal,
        removal=removal,
        form=form or DataRemovalForm(),
        page=f"{page}/remove",
        back=page,
    )


@routes.get(f"{PERSONAL_DATA}/remove", refuses=(UserUnknown, Forbidden))
@in_console(Operation.PERSONAL_DATA_REMOVE)
async def ask_to_remove_personal_data(call: Call, org_slug: str, user_id: UUID) -> PageOrRedirect:
    """Show what ends when the personal data of a person are removed, in numbers."""
    await recent_for_form(call)
    return await _removal(call, org_slug, user_id)


@routes.post(f"{PERSONAL_DATA}/remove", refuses=(UserUnknown, Forbidden, BadRequest))
@in_console(Operation.PERSONAL_DATA_REMOVE)
@shows_again(_removal, BadRequest)
async def remove_personal_data(call: Call, org_slug: str, user_id: UUID, form: DataRemovalForm) -> PageOrRedirect:
    """Remove the personal data of a person; programs use `DELETE /api/privacy/forget/:user_id`."""
    await recent(call, page=f"{_page_of(org_slug, user_id)}/remove")
    await call.transact(
        anonymization.anonymize_in_organization, org_slug, user_id, typed_email=form.email, note=form.note
    )
    return after(f"{page_of(org_slug)}/people", "anonymized")


def _page_of(slug: str, user_id: UUID) -> str:
    return f"{page_of(slug)}/people/personal-data/{user_id}"
