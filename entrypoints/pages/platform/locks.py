"""The page that locks the account of a user, or unlocks it, for platform owners and support."""

from typing import Final
from uuid import UUID

from core.accounts.users import UserUnknown
from core.platform import locks
from entrypoints.pages.console.frame import Program, after, console_page, opened_for_platform
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages
from entrypoints.pages.platform.users import USER, USERS
from entrypoints.web.serving.admission.credentials import platform_support_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

LOCK: Final = f"{USER}/lock"


@routes.get(LOCK, refuses=(UserUnknown,))
@platform_support_in_console
async def ask_to_lock(call: Call, user_id: UUID) -> Page:
    """Say what locking the account does, or unlocking one that is locked."""
    standing, (user, is_blocked) = await opened_for_platform(call, locks.show, user_id)
    # Platform owners alone open one that was imported as blocked.
    opens_blocked = is_blocked and standing.is_owner
    is_shut = opens_blocked or user.locked_at is not None
    name = "platform_users_unlock_user" if is_shut else "platform_users_lock_user"
    return console_page(
        call,
        "platform/locks.html",
        standing,
        program=Program(name, user_id),
        user=user,
        opens_blocked=opens_blocked,
        is_shut=is_shut,
        page=f"{USERS}/{user_id}",
    )


@routes.post(LOCK, refuses=(UserUnknown,))
@platform_support_in_console
async def lock_user(call: Call, user_id: UUID) -> PageOrRedirect:
    """Lock the account of a user; programs use `POST /api/platform/users/:user_id/lock`."""
    await call.transact(locks.lock, user_id)
    return after(f"{USERS}/{user_id}", "account-locked")


@routes.post(f"{USER}/unlock", refuses=(UserUnknown,))
@platform_support_in_console
async def unlock_user(call: Call, user_id: UUID) -> PageOrRedirect:
    """Unlock the account of a user; programs use `POST /api/platform/users/:user_id/unlock`."""
    was_blocked = await call.transact(locks.unlock, user_id)
    return after(f"{USERS}/{user_id}", "account-opened" if was_blocked else "account-unlocked")
