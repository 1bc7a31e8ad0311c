"""The pages of the link in the mail about a membership that another person made: two buttons, and what comes next."""

from uuid import UUID

from core.accounts.links import LinkUnusable
from core.invitations import confirmation
from core.rate_limits import RateLimit
from entrypoints.pages.frame.brands import brand_of
from entrypoints.pages.frame.forms import MailedLink
from entrypoints.pages.frame.languages import translated
from entrypoints.pages.frame.rendering import Page, page
from entrypoints.pages.frame.routes import invitation_pages
from entrypoints.pages.invitations.invitations import joined_page, message_page
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call

routes = invitation_pages()


class ConfirmationForm(SecretBody, kw_only=True):
    """The form of the two buttons."""

    token: UUID


@routes.get("/app/invitations/confirmation", refuses=(LinkUnusable,))
@public
async def show_membership(call: Call, query: MailedLink) -> Page:
    """Show a membership that another person made, with a button to confirm it and one to leave."""
    found = await call.read(confirmation.inspect, query.token)
    brand = await brand_of(call, found.organization.id)
    return page(call, "invitations/confirmation.html", token=query.token, found=found, brand=brand)


@routes.post("/app/invitations/confirmation", limits=(RateLimit.INVITATION_ANSWER,), refuses=(LinkUnusable,))
@public
async def press_confirm(call: Call, form: ConfirmationForm) -> Page:
    """Confirm a membership that another person made."""
    return await joined_page(call, await call.transact(confirmation.confirm, str(form.token)))


@routes.post("/app/invitations/confirmation/leave", limits=(RateLimit.INVITATION_ANSWER,), refuses=(LinkUnusable,))
@public
async def press_leave(call: Call, form: ConfirmationForm) -> Page:
    """Leave an organization that another person made you a member of."""
    left = await call.transact(confirmation.leave, str(form.token))
    return await message_page(
        call,
        left.id,
        translated(call, "You left “%(name)s”", name=left.name),
        translated(
            call,
            "You are no longer a member, and its managers see that you left. If this was a mistake, ask for an"
            " invitation.",
        ),
    )
