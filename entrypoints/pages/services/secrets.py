"""The page that replaces the client secret of a service, and says what ends with the old one."""

from typing import Final

from core.errors import BadRequest, Refusal
from core.organizations.access import Operation
from core.services import client_secrets, management
from core.services.client_secrets import ServiceHasKeysAlone, ServiceNotConfidential
from core.services.management import ServiceChanged
from core.services.services import ServiceUnknown
from core.sessions.shown_secrets import ToShow
from entrypoints.pages.console.frame import Program
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.standing import opened_service, page_of_service, service_page
from entrypoints.pages.sessions.shown_secrets import leading_to
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent_for_form
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

SECRET: Final = "/app/organizations/:org_slug/services/:service_slug/secret"  # noqa: S105 - a path


# For how many hours the old secret is taken.
KEPT: Final = (
    ("0", marked("At once")),
    ("24", marked("After one day")),
    ("168", marked("After seven days")),
)


class RotationForm(ProtectedForm, kw_only=True):
    """The version of the service that the page has shown, and for how many hours the old secret is taken."""

    seen_version: str = ""
    keep: str = "0"


async def _page(call: Call, org_slug: str, service_slug: str, *, refusal: Refusal | None = None) -> Page:
    at, _ = await opened_service(call, org_slug, service_slug, Operation.SERVICE_SECRET_ROTATE, management.read)
    return service_page(
        call,
        "services/secrets.html",
        at,
        program=Program("services_rotate_secret", org_slug, service_slug),
        refusal=refusal,
        kept=KEPT,
        problems=problems_of(refusal),
    )


@routes.get(SECRET, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.SERVICE_SECRET_ROTATE)
async def ask_to_rotate(call: Call, org_slug: str, service_slug: str) -> Page:
    """Show what happens to the old secret, and ask whether it is to be replaced."""
    shown = await _page(call, org_slug, service_slug)
    await recent_for_form(call)
    return shown


@routes.post(
    SECRET, makes_secret=True, refuses=(ServiceUnknown, ServiceChanged, ServiceNotConfidential, ServiceHasKeysAlone)
)
@on_service_in_console(Operation.SERVICE_SECRET_ROTATE)
@shows_again(_page, BadRequest, ServiceChanged, ServiceNotConfidential, ServiceHasKeysAlone)
async def rotate_secret_of_service(call: Call, org_slug: str, service_slug: str, form: RotationForm) -> PageOrRedirect:
    """Replace the secret, and lead to where it is shown; programs use `POST …/services/:service_slug/secret/rotate`."""
    if form.keep not in dict(KEPT):
        raise BadRequest.of_field("keep", "Choose one of these.")
    hours = int(form.keep)
    return await leading_to(
        call,
        lambda uow: client_secrets.rotate_secret(
            uow, org_slug, service_slug, keep_previous_hours=hours, seen=form.seen_version
        ),
        lambda rotated: ToShow(page=page_of_service(org_slug, service_slug), secrets=(rotated.client_secret,)),
        query={"done": "secret-rotated"},
    )
