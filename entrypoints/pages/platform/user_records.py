"""The tabs of the record of a user beyond the first, each an address of its own that reads no more than it shows.

What support opens is recorded with the part. The first tab is in `users.py`.
"""

from typing import Any
from uuid import UUID

from quart import Response

from core.accounts.users import UserUnknown
from core.platform import user_records
from core.platform.console import PlatformStanding
from core.platform.user_records import RecordedAccount
from entrypoints.pages.console.frame import Program, console_page, opened_for_platform
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import platform_pages
from entrypoints.pages.mail.mail import KINDS, STATES
from entrypoints.pages.platform.users import USER, USERS, shown_sign_in, user_tabs
from entrypoints.web.serving.admission.credentials import platform_support_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()


@routes.get(f"{USER}/sign-ins", refuses=(UserUnknown,))
@platform_support_in_console
async def show_user_sign_ins(call: Call, user_id: UUID) -> Page:
    """Show the newest sign-ins of a user, with reasons."""
    standing, (user, found) = await opened_for_platform(call, user_records.show_sign_ins, user_id)
    return _tab(
        call,
        "sign_ins",
        "/sign-ins",
        standing,
        user,
        program=Program("sign_ins_list_platform_sign_ins", user_id),
        sign_ins=[shown_sign_in(one) for one in found.sign_ins],
        total=found.total,
    )


@routes.get(f"{USER}/sessions", refuses=(UserUnknown,))
@platform_support_in_console
async def show_user_sessions(call: Call, user_id: UUID, query: DoneQuery) -> Page:
    """Show where a user is signed in, and from which devices."""
    standing, (user, uses) = await opened_for_platform(call, user_records.show_uses, user_id)
    return _tab(call, "sessions", "/sessions", standing, user, done=query.done, uses=uses)


@routes.get(f"{USER}/ways", refuses=(UserUnknown,))
@platform_support_in_console
async def show_user_ways(call: Call, user_id: UUID, query: DoneQuery) -> Page:
    """Show how a user signs in."""
    standing, (user, ways) = await opened_for_platform(call, user_records.show_ways, user_id)
    return _tab(call, "ways", "/ways", standing, user, done=query.done, ways=ways)


@routes.get(f"{USER}/organizations", refuses=(UserUnknown,))
@platform_support_in_console
async def show_user_organizations(call: Call, user_id: UUID) -> Page:
    """Show the organizations of a user, with roles."""
    standing, (user, found) = await opened_for_platform(call, user_records.show_organizations, user_id)
    return _tab(call, "organizations", "/organizations", standing, user, organizations=found)


@routes.get(f"{USER}/mails", refuses=(UserUnknown,))
@platform_support_in_console
async def show_user_mails(call: Call, user_id: UUID) -> Page:
    """Show the newest mails to the address of a user, with their states."""
    standing, (user, found) = await opened_for_platform(call, user_records.show_mails, user_id)
    return _tab(
        call, "mails", "/mails", standing, user, mails=found.mails, total=found.total, kinds=KINDS, states=STATES
    )


def _tab(
    call: Call,
    name: str,
    path: str,
    standing: PlatformStanding,
    user: RecordedAccount,
    *,
    program: Program | None = None,
    done: str = "",
    **values: Any,
) -> Response:
    page = f"{USERS}/{user.id}"
    return console_page(
        call,
        f"platform/users_{name}.html",
        standing,
        program=program or Program("platform_users_show_user", user.id),
        done=done,
        user=user,
        tabs=user_tabs(user.id),
        page=page,
        here=page + path,
        **values,
    )
