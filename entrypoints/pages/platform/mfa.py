"""The page that turns off the second factor of a user who has lost it, for platform owners."""

from uuid import UUID

from core.accounts.users import UserUnknown
from core.errors import BadRequest, Refusal
from core.platform import mfa
from core.platform.mfa import UserMfaChanged
from entrypoints.pages.console.frame import Program, after, console_page, opened_for_platform
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages, shows_again
from entrypoints.pages.platform.users import USER, USERS
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import platform_owner_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()


class FactorForm(ProtectedForm, kw_only=True):
    """Why the second factor is turned off, and since when the page has shown it to be on."""

    reason: str = ""
    seen_enabled_at: str = ""


async def _page(call: Call, user_id: UUID, *, form: FactorForm | None = None, refusal: Refusal | None = None) -> Page:
    standing, factor = await opened_for_platform(call, mfa.status_to_disable, user_id)
    reason = form.reason if form is not None else ""
    return console_page(
        call,
        "platform/mfa.html",
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
    return await _page(call, user_id)


@routes.post(f"{USER}/mfa", refuses=(UserUnknown, BadRequest, UserMfaChanged))
@platform_owner_in_console
@shows_again(_page, BadRequest, UserMfaChanged)
async def turn_off(call: Call, user_id: UUID, form: FactorForm) -> PageOrRedirect:
    """Turn off the second factor of a user; programs use `DELETE /api/platform/users/:user_id/mfa`."""
    await recent(call, page=f"{USERS}/{user_id}/mfa")
    await call.transact(mfa.force_disable, user_id, form.reason, seen=form.seen_enabled_at)
    return after(f"{USERS}/{user_id}/ways", "factor-off")
