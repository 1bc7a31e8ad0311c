"""The page that undoes an email change: a button, because mail scanners open every link."""

from core.accounts import email_changes
from core.accounts.email_changes import AddressGone
from core.accounts.links import LinkUnusable
from entrypoints.pages.forms import MailedLink, MailedLinkForm
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page, page
from entrypoints.web.calls import Call
from entrypoints.web.credentials import public
from entrypoints.web.routes import Routes

routes = Routes("profile", "Your own account.", refusal_page)


@routes.get("/auth/undo-email-change", refuses=(LinkUnusable,))
@public
async def show_undo(call: Call, query: MailedLink) -> Page:
    """Show the button that undoes an email change; opening the page changes nothing."""
    changed_at = await call.read(email_changes.inspect_undo, query.token)
    return page(call, "undo_email_change.html", token=query.token, changed_at=changed_at)


@routes.post("/auth/undo-email-change", refuses=(LinkUnusable, AddressGone))
@public
async def undo(call: Call, form: MailedLinkForm) -> Page:
    """Restore the old email address of an account, end its sessions, and lead to choosing a new password."""
    token = await call.transact(email_changes.undo, form.token)
    return page(call, "email_change_undone.html", token=token.reveal())
