"""Which second factors an organization accepts: who would be asked for a passkey, and the change after a question."""

from typing import Final

from core.errors import BadRequest, Refusal
from core.organizations.access import Operation
from core.organizations.session_strength import NoFactorOfOwn, SecondFactorRequired
from core.sessions.mfa_methods import MfaMethods
from core.sign_in import sign_in_rules
from core.sign_in.sign_in_rules import MethodsSeenOtherwise
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.sign_in.upstream.configuring import SIGN_IN
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

METHODS: Final = f"{SIGN_IN}/second-factors"


class MethodsForm(ProtectedForm, kw_only=True):
    """Which second factors count from now on, and which ones the page has shown to count."""

    mfa_methods: str = ""
    seen: str = ""


@routes.get(METHODS)
@in_console(Operation.SIGN_IN_RULES_READ)
async def show_methods(call: Call, org_slug: str, *, refusal: Refusal | None = None) -> Page:
    """Show which second factors count, and who would be asked for a passkey."""
    standing, found = await opened(call, org_slug, Operation.SIGN_IN_RULES_READ, sign_in_rules.show_to_change)
    wanted = (
        MfaMethods.ANY if found.rules.mfa_methods is MfaMethods.PHISHING_RESISTANT else MfaMethods.PHISHING_RESISTANT
    )
    return console_page(
        call,
        "sign_in/sign_in_rules.html",
        standing,
        program=Program("sign_in_rules_change_sign_in_rules", org_slug, body={"mfa_methods": wanted.value}),
        refusal=refusal,
        is_strict=found.rules.mfa_methods is MfaMethods.PHISHING_RESISTANT,
        wanted=wanted.value,
        seen=found.rules.mfa_methods.value,
        asked=found.asked,
        has_own=found.has_own,
        lacks_change=standing.lacks(Operation.SIGN_IN_RULES_CHANGE),
        page=f"{page_of(org_slug)}/sign-in",
    )


@routes.post(METHODS, refuses=(BadRequest, NoFactorOfOwn, MethodsSeenOtherwise, SecondFactorRequired))
@in_console(Operation.SIGN_IN_RULES_CHANGE)
@shows_again(show_methods, BadRequest, MethodsSeenOtherwise)
async def change_methods(call: Call, org_slug: str, form: MethodsForm) -> PageOrRedirect:
    """Change which second factors count; programs use `PATCH …/sign-in-rules`."""
    await call.transact(
        sign_in_rules.change, org_slug, mfa_methods=_methods(form.mfa_methods), seen=_methods(form.seen)
    )
    return after(f"{page_of(org_slug)}/sign-in", "rules-saved")


def _methods(typed: str) -> MfaMethods:
    try:
        return MfaMethods(typed)
    except ValueError:
        raise BadRequest.of_field("mfa_methods", "This must be any or phishing_resistant.") from None
