"""What ends or shuts something of a user, each with a page that says first what it does.

Platform owners and support end all sessions, lock an account and unlock it. Platform owners alone turn off a second
factor, and export or anonymize personal data.
"""

from typing import Annotated, Final
from uuid import UUID

from core.accounts.users import UserUnknown
from core.errors import BadRequest, Forbidden, Refusal
from core.platform import locks, mfa, personal_data, sessions
from core.platform.mfa import UserMfaChanged
from core.sessions.sessions import SessionsChanged
from entrypoints.pages.console.csv_files import JsonFile, json_file
from entrypoints.pages.console.frame import Program, after, console_page, opened_for_platform
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages, shows_again
from entrypoints.pages.platform.users import USER, USERS
from entrypoints.web.input.decoding import number_of
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import platform_owner_in_console, platform_support_in_console
from entrypoints.web.serving.answering.answers import AnswerStatus
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

LOCK: Final = f"{USER}/lock"


class EndForm(ProtectedForm, kw_only=True):
    """Why the sessions end, and how many the page has shown."""

    reason: str = ""
    seen_sessions: str = ""


@routes.get(f"{USER}/end-sessions", refuses=(UserUnknown,))
@platform_support_in_console
async def ask_to_end_sessions(
    call: Call, user_id: UUID, *, form: EndForm | None = None, refusal: Refusal | None = None
) -> Page:
    """Show what ends with all sessions of a user, in numbers."""
    standing, ending = await opened_for_platform(call, sessions.show_all, user_id)
    return console_page(
        call,
        "platform/user_help_sessions.html",
        standing,
        program=Program("platform_users_end_sessions_of_user", user_id),
        refusal=refusal,
        ending=ending,
        reason=form.reason if form is not None else "",
        page=f"{USERS}/{user_id}",
    )


@routes.post(f"{USER}/end-sessions", refuses=(UserUnknown, BadRequest, SessionsChanged))
@platform_support_in_console
@shows_again(ask_to_end_sessions, BadRequest, SessionsChanged)
async def end_sessions(call: Call, user_id: UUID, form: EndForm) -> PageOrRedirect:
    """End all sessions of a user; programs use `DELETE /api/platform/users/:user_id/sessions`."""
    await call.transact(sessions.end_all_shown, user_id, reason=form.reason, seen=number_of(form.seen_sessions))
    return after(f"{USERS}/{user_id}/sessions", "sessions-ended")


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
        "platform/user_help_lock.html",
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


class FactorForm(ProtectedForm, kw_only=True):
    """Why the second factor is turned off, and since when the page has shown it to be on."""

    reason: str = ""
    seen_enabled_at: str = ""


async def _second_factor_page(
    call: Call, user_id: UUID, *, form: FactorForm | None = None, refusal: Refusal | None = None
) -> Page:
    standing, factor = await opened_for_platform(call, mfa.status_to_disable, user_id)
    reason = form.reason if form is not None else ""
    return console_page(
        call,
        "platform/user_help_second_factor.html",
        standing,
        program=Program(
            "platform_multi_factor_authentication_force_disable",
            user_id,
            body={"reason": reason or "Phone lost (ticket 4711)"},
        ),
        refusal=refusal,
        factor=factor,
        reason=reason,
        page=f"{USERS}/{user_id}",
    )


@routes.get(f"{USER}/mfa", refuses=(UserUnknown,))
@platform_owner_in_console
async def ask_to_turn_off(call: Call, user_id: UUID) -> Page:
    """Show what it means to turn off the second factor of a user."""
    await recent_for_form(call)
    return await _second_factor_page(call, user_id)


@routes.post(f"{USER}/mfa", refuses=(UserUnknown, BadRequest, UserMfaChanged))
@platform_owner_in_console
@shows_again(_second_factor_page, BadRequest, UserMfaChanged)
async def turn_off(call: Call, user_id: UUID, form: FactorForm) -> PageOrRedirect:
    """Turn off the second factor of a user; programs use `DELETE /api/platform/users/:user_id/mfa`."""
    await recent(call, page=f"{USERS}/{user_id}/mfa")
    await call.transact(mfa.force_disable, user_id, form.reason, seen=form.seen_enabled_at)
    return after(f"{USERS}/{user_id}/ways", "factor-off")


class AnonymizationForm(ProtectedForm, kw_only=True):
    """The address of the account to anonymize, typed."""

    email: str = ""


async def _personal_data_page(
    call: Call, user_id: UUID, *, form: AnonymizationForm | None = None, refusal: Refusal | None = None
) -> Page:
    standing, person = await opened_for_platform(call, personal_data.show, user_id)
    return console_page(
        call,
        "platform/user_help_personal_data.html",
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
    return await _personal_data_page(call, user_id)


@routes.post(f"{USER}/data/download", refuses=(UserUnknown,))
@platform_owner_in_console
async def export_personal_data(call: Call, user_id: UUID) -> JsonFile | Annotated[None, AnswerStatus(303)]:
    """Download the data of a user as a JSON file; programs use `GET /api/privacy/export/:user_id`."""
    await recent(call, page=f"{USERS}/{user_id}/data")
    package = await call.transact(personal_data.export, user_id)
    return json_file(f"user-{user_id}.json", package)


@routes.post(f"{USER}/data/anonymize", refuses=(UserUnknown, BadRequest, Forbidden))
@platform_owner_in_console
@shows_again(_personal_data_page, BadRequest)
async def anonymize_user(call: Call, user_id: UUID, form: AnonymizationForm) -> PageOrRedirect:
    """Anonymize a user for good; programs use `DELETE /api/privacy/forget/:user_id`."""
    await recent(call, page=f"{USERS}/{user_id}/data")
    await call.transact(personal_data.anonymize, user_id, typed=form.email)
    return after(f"{USERS}/{user_id}", "anonymized")
