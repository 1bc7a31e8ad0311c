"""The page that drops or undoes an email change: a button, because mail scanners open every link."""

from core.accounts import email_change_undo, email_changes
from core.accounts.email_change_undo import AddressGone, GovernsSince
from core.accounts.links import LinkUnusable
from entrypoints.pages.frame.forms import LinkForm, MailedLink
from entrypoints.pages.frame.refusals import refusal_page
from entrypoints.pages.frame.rendering import Page, page
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("profile", "Your own account.", refusal_page)


@routes.get("/auth/undo-email-change", refuses=(LinkUnusable,))
@public
async def show_undo(call: Call, query: MailedLink) -> Page:
    """Show the button that drops or undoes an email change; opening the page changes nothing."""
    if await call.read(email_change_undo.is_undo, query.token):
        change = await call.read(email_change_undo.inspect, query.token)
        return page(call, "accounts/email_change_undo.html", token=query.token, changed_at=change.made_at)
    await call.read(email_changes.inspect_drop, query.token)
    return page(call, "accounts/email_change_undo_drop.html", token=query.token)


@routes.post("/auth/undo-email-change", refuses=(LinkUnusable, AddressGone, GovernsSince))
@public
async def undo(call: Call, form: LinkForm) -> Page:
    """Drop an email change that is not verified yet, or restore the old email address of an account.

    Restoring it ends the sessions of the account, and leads to choosing a new password.
    """
    if await call.read(email_change_undo.is_undo, form.token):
        token = await call.transact(email_change_undo.undo, form.token)
        return page(call, "accounts/email_change_undo_done.html", token=token.reveal())
    await call.transact(email_changes.drop, form.token)
    return page(call, "accounts/email_change_undo_dropped.html")
