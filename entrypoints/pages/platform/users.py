"""The pages of the users of the platform: finding them, the record of one, and help that needs no page of its own.

Each tab of a record has an address of its own, and reads no more than it shows; what support opens is recorded with the
part. What ends or shuts something of a user is in `user_help.py`, and acting as a user in `impersonation.py`.
"""

from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from quart import Response

from core.accounts.users import UserUnknown
from core.email_addresses import is_found_at_beginning
from core.errors import Conflict, Refusal
from core.platform import limits, mails, user_records, users
from core.platform.console import PlatformStanding
from core.platform.mails import NothingToVerify
from core.platform.user_records import RecordedAccount
from core.platform.users import ListedUser, position_of
from core.sign_in.sign_ins import SignIn, SignInOutcome
from entrypoints.pages.console.frame import (
    PLATFORM,
    ROWS_SHOWN,
    Program,
    after,
    console_page,
    opened_for_platform,
)
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.console.sign_in_lists import OUTCOMES
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages, shows_again
from entrypoints.pages.mail.mail import KINDS, STATES
from entrypoints.pages.sign_in.reasons import RISKS
from entrypoints.web.serving.admission.credentials import platform_support_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()
USERS: Final = f"{PLATFORM}/users"
USER: Final = f"{USERS}/:user_id"


class UsersQuery(DoneQuery, kw_only=True):
    """Which users to show, from where on, and what was just done."""

    search: Annotated[str, msgspec.Meta(description="A part of the address, or the whole id.", max_length=254)] = ""
    after: Annotated[str, msgspec.Meta(description="The position after which the page begins.", max_length=300)] = ""

    @property
    def kept(self) -> dict[str, str]:
        """The filters, as the fields of an address."""
        return {"search": self.search}


FOUND: Final = ConsoleList[ListedUser](path=USERS)


class VerificationHeld(Conflict):
    """The limit of mails to the address held the mail back."""

    default_message = (
        "No mail was sent, because this address has had as many of them as it may within an hour. Lift the limits, then"
        " send it again."
    )


@routes.get(USERS)
@platform_support_in_console
async def show_users(call: Call, query: UsersQuery) -> Page:
    """Show the users of the platform, by a part of their address; the newest without one."""
    standing, found = await opened_for_platform(
        call, users.browse, search=query.search, after=position_of(query.after), limit=ROWS_SHOWN
    )
    return console_page(
        call,
        "platform/users.html",
        standing,
        program=Program("platform_users_search", query={"email": query.search or "ann@"}),
        done=query.done,
        is_short=is_found_at_beginning(query.search.strip()),
        **FOUND.values(query, found),
    )


@routes.get(USER, refuses=(UserUnknown,))
@platform_support_in_console
async def show_user(
    call: Call, user_id: UUID, *, query: DoneQuery | None = None, refusal: Refusal | None = None
) -> Page:
    """Show what helps first of the record of a user; what support opens is recorded in the platform's audit log."""
    standing, found = await opened_for_platform(call, user_records.show_summary, user_id)
    page = f"{USERS}/{user_id}"
    return console_page(
        call,
        "platform/users_one.html",
        standing,
        program=Program("platform_users_show_user", user_id),
        done=query.done if query is not None else "",
        refusal=refusal,
        found=found,
        user=found.user,
        sign_ins=[shown_sign_in(one) for one in found.sign_ins],
        page=page,
        here=page,
        tabs=user_tabs(user_id),
        can_be_impersonated=can_be_impersonated(found.user),
    )


@routes.post(f"{USER}/verify", refuses=(UserUnknown, NothingToVerify, VerificationHeld))
@platform_support_in_console
@shows_again(show_user, NothingToVerify, VerificationHeld)
async def resend_verification(call: Call, user_id: UUID) -> PageOrRedirect:
    """Mail the link that verifies the address again.

    Programs use `POST /api/platform/users/:user_id/resend-verification`.
    """
    if not await call.transact(mails.resend_verification, user_id):
        # The attempt is recorded, so it is not rolled back.
        raise VerificationHeld
    return after(f"{USERS}/{user_id}", "verification-sent")


@routes.post(f"{USER}/lift-limits", refuses=(UserUnknown,))
@platform_support_in_console
async def lift_limits(call: Call, user_id: UUID) -> PageOrRedirect:
    """Lift the limits of the address; programs use `DELETE /api/platform/users/:user_id/limits`."""
    await call.transact(limits.lift, user_id)
    return after(f"{USERS}/{user_id}", "limits-lifted")


def user_tabs(user_id: UUID) -> list[tuple[str, str, None]]:
    """Return the tabs of the record of a user: address, text, and what the reader lacks, which is nothing."""
    page = f"{USERS}/{user_id}"
    return [
        (page, marked("Account"), None),
        (f"{page}/sign-ins", marked("Sign-ins"), None),
        (f"{page}/sessions", marked("Sessions and devices"), None),
        (f"{page}/ways", marked("Ways to sign in"), None),
        (f"{page}/organizations", marked("Organizations"), None),
        (f"{page}/mails", marked("Mails"), None),
    ]


def can_be_impersonated(user: RecordedAccount) -> bool:
    """Whether a platform owner can act as a user."""
    is_open = user.deactivated_at is None and user.closed_at is None and user.locked_at is None
    return is_open and not user.is_platform_owner


def shown_sign_in(one: SignIn) -> tuple[SignIn, tuple[str, str], list[str]]:
    """Return a sign-in with what its badge says, and what was unusual."""
    kind, text = OUTCOMES[one.outcome]
    is_success = one.outcome is SignInOutcome.SUCCESS
    risks = [RISKS[risk] for risk in dict.fromkeys(one.risk_factors) if risk in RISKS] if is_success else []
    return one, (kind, text), risks


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
