"""The language switch of every page: it keeps the choice in a cookie, and with the account that is signed in."""

from typing import Annotated, Final

import msgspec

from core.accounts import languages as accounts
from core.sign_in.browser_returns import safe_target
from entrypoints.pages.frame.home import HOME
from entrypoints.pages.frame.routes import account_pages
from entrypoints.web.input import languages
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.browsers import FormRefused
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.calls import Call

routes = account_pages()

LANGUAGE: Final = "/app/language"


class LanguageForm(SecretBody, kw_only=True):
    """A language, and the page to show in it."""

    language: Annotated[str, msgspec.Meta(description="The tag of a language that is offered.", examples=["de"])] = ""
    return_to: str = ""


@routes.post(LANGUAGE, status=303, refuses=(FormRefused,))
@on_custom_hosts
@public
async def choose_language(call: Call, form: LanguageForm) -> None:
    """Show pages in this language from now on, in this browser and where the account is signed in.

    The form is on every page, also on pages without a token; a browser sends no cookies with a form of another site. A
    session that is confined to an organization changes nothing of the account.
    """
    browsers.require_own_site(call)
    call.headers["Location"] = safe_target(form.return_to) or HOME
    if form.language not in languages.TAGS:
        return
    call.set_cookie(languages.LANGUAGE_COOKIE, form.language, lifetime=languages.LANGUAGE_COOKIE_LIFETIME)
    await browsers.find_session(call)
    if call.browser is not None and call.browser.confined_to is None:
        call.limit_person()
        await call.transact(accounts.choose, call.browser.user_id, form.language)
