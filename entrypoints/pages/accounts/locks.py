"""The pages that lock an account: by the link of a warning mail, which mail scanners open, and by its person."""

from typing import Final
from uuid import UUID

from core.accounts import locks
from core.accounts.email_change_undo import AddressGone, GovernsSince
from core.accounts.links import LinkUnusable
from core.accounts.locks import NotOwnAccount, PersonUnknown
from core.errors import Forbidden
from core.organizations.access import Operation
from entrypoints.pages.console.account import ACCOUNT, account_page
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of
from entrypoints.pages.frame.forms import LinkForm, MailedLink
from entrypoints.pages.frame.refusals import refusal_page
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, page
from entrypoints.pages.frame.routes import account_pages, console_pages
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.credentials import in_browser_in_person, in_console, public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

mailed_routes = Routes("profile", "Your own account.", refusal_page)
routes = account_pages()

of_organizations: Routes = console_pages()

LOCK: Final = f"{ACCOUNT}/lock"
OF_PERSON: Final = "/app/organizations/:org_slug/people/lock/:user_id"


@mailed_routes.get("/auth/lock-account", refuses=(LinkUnusable,))
@public
async def show_mailed_lock(call: Call, query: MailedLink) -> Page:
    """Show the button that locks an account; opening the page changes nothing."""
    await call.read(locks.inspect, query.token)
    return page(call, "accounts/locks.html", token=query.token)


@mailed_routes.post("/auth/lock-account", refuses=(LinkUnusable,))
@public
async def lock_by_mail(call: Call, form: LinkForm) -> Page:
    """Lock the account of a link; programs that are signed in use `POST /api/user/lock`.

    Where the account has left the mailbox of the link since, the change of the address is undone first. If that is
    refused, the account is locked all the same.
    """
    refused = None
    try:
        await call.transact(locks.undo_first, form.token)
    except (AddressGone, GovernsSince) as refusal:
        refused = refusal.message
    await call.transact(locks.lock_by_link, form.token)
    return page(call, "accounts/locks_done.html", refused=refused)


@routes.get(LOCK)
@in_browser_in_person
async def show_lock(call: Call) -> Page:
    """Say what locking your account does, and how you open it again."""
    return account_page(call, "accounts/locks_own.html")


@routes.post(LOCK, refuses=(Forbidden,))
@in_browser_in_person
async def lock_account(call: Call) -> PageOrRedirect:
    """Lock your account and sign this browser out; programs use `POST /api/user/lock`."""
    await call.transact(locks.lock_mine)
    browsers.end_session(call)
    return page(call, "accounts/locks_done.html", refused=None)


@of_organizations.get(OF_PERSON, refuses=(PersonUnknown, NotOwnAccount))
@in_console(Operation.ACCOUNT_LOCK)
async def ask_to_lock_person(call: Call, org_slug: str, user_id: UUID) -> Page:
    """Say what locking an account of the organization's own does, and how its person opens it again."""
    standing, user = await opened(call, org_slug, Operation.ACCOUNT_LOCK, locks.show_own, user_id)
    people = f"{page_of(org_slug)}/people"
    return console_page(
        call,
        "accounts/locks_organization.html",
        standing,
        program=Program("profile_lock_account_of_organization", org_slug, user_id),
        user=user,
        page=f"{people}/lock/{user_id}",
        back=people,
    )


@of_organizations.post(OF_PERSON, refuses=(PersonUnknown, NotOwnAccount))
@in_console(Operation.ACCOUNT_LOCK)
async def lock_person(call: Call, org_slug: str, user_id: UUID) -> PageOrRedirect:
    """Lock an account of the organization's own; programs use `POST /api/organizations/:slug/users/:user_id/lock`."""
    await call.transact(locks.lock_own, org_slug, user_id)
    return after(f"{page_of(org_slug)}/people", "account-locked")
